"""Tables that take turns: while a network thinks about one, the engine plays at the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from stratkit.play.table import Finished, Table


class Groups:
    """Several tables as one, to those who want its rounds.

    The tables share a schedule and a player. All thinking is done in one other thread, one table's
    after another; everything else, what is done with the games that ended included, in the
    caller's. A game's actions do not depend on the table that it is played at, but for the
    rounding of a network that is asked about fewer games at a time.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        self.tables = tables
        self.waiting = False

    @property
    def policy_step(self) -> int:
        """Of the policy, noted in the games that begin now."""
        return self.tables[0].policy_step

    @policy_step.setter
    def policy_step(self, step: int) -> None:
        for table in self.tables:
            table.policy_step = step

    def rounds(self) -> Iterator[Finished | None]:
        """The rounds of one table and another; `waiting` when all of them are."""
        left = list(self.tables)
        thinking: dict[Table, Future[None]] = {}
        player = ThreadPoolExecutor(1, "player", torch.set_num_threads, (1,))
        try:
            while left:
                for table in list(left):
                    if table in thinking:
                        thinking.pop(table).result()
                        yield table.end()
                    if table.begin():
                        thinking[table] = player.submit(table.think)
                    elif table.over:
                        left.remove(table)
                self.waiting = bool(left) and not thinking
                if self.waiting:
                    yield None
        finally:  # what was not begun is not wanted any more
            player.shutdown(cancel_futures=True)
