"""What the streams of a source hold, episodes or examples, and how batches are made of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, BinaryIO, Protocol, Self

import numpy as np

from stratkit.arrays import Float32s
from stratkit.engine import Game, PublicTree
from stratkit.errors import InputError
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.data import StepBatch, make_batch
from stratkit.learn.replayed import EpisodeChunk, check_sampled, check_slices
from stratkit.learn.window import Window
from stratkit.storage.episodes import EpisodeReader, Episodes, Header, SeenGames
from stratkit.storage.examples import ExampleHeader, ExampleReader, Values

MAX_CHECKED = 1_000_000  # nodes of a public tree that is opened to check examples: 2 s, .5 GB


@dataclass(frozen=True)
class Plan:
    """How batches are made.

    size     episodes a batch; 0: each frame of a stream is one
    spec     what they hold
    window   the old episodes that come with the new ones, if any
    sampled  the algorithm, by name, that needs actions which were sampled with a known
             probability; "": it takes games of anybody
    """

    size: int
    spec: BatchSpec = field(default_factory=BatchSpec)
    window: Window | None = None
    sampled: str = ""


AnyHeader = Header | ExampleHeader


class Chunk(Protocol):
    """Some episodes or examples of one `file`."""

    @property
    def file(self) -> str:
        """Where they were read."""

    @property
    def origin(self) -> str:
        """Who wrote them, as the header of the stream says."""

    def __len__(self) -> int: ...
    def __getitem__(self, part: slice) -> Self: ...


class Streams(ABC):
    """Streams of one kind.

    unit    what is counted in them, for messages
    ending  of the names of such files in a folder
    """

    unit: str
    ending: str

    @abstractmethod
    def reader(self, stream: BinaryIO, name: str) -> Any:
        """An `EpisodeReader`, or the like, of a stream that is called `name` in messages."""

    @abstractmethod
    def chunk(self, frame: Any, header: Any, name: str, before: int) -> Chunk:
        """What a frame has, `before` which the stream has had so many."""

    @abstractmethod
    def check(self, header: Any, game: Game, plan: Plan) -> None:
        """`InputError`: nothing that can be learned from."""

    @abstractmethod
    def batch(self, game: Game, chunks: Sequence[Any], plan: Plan) -> Any:
        """A batch of these chunks. `InputError`: something in them is wrong."""


class EpisodeStreams(Streams):
    """Episodes, of which a game counts once; a batch has their steps, replayed."""

    unit, ending = "episode", ".eps"

    def __init__(self, pin: bool = False) -> None:
        self.pin = pin  # batches are for a GPU
        self._seen = SeenGames()

    def reader(self, stream: BinaryIO, name: str) -> EpisodeReader:
        return EpisodeReader(stream, name, self._seen, whole=False)

    def chunk(self, frame: Episodes, header: Header, name: str, before: int) -> EpisodeChunk:
        against, played = header.opponent is not None, not header.sampled
        return EpisodeChunk(frame, header.endings, name, against, played, header.origin)

    def check(self, header: Header, game: Game, plan: Plan) -> None:
        whole = "of which this algorithm needs whole ones (mmd, ppo and nashpg take both)"
        check_slices(header, plan.spec.slices, whole)
        only = plan.spec.deployment_only
        check_slices(header, not only, "where --learn deployment needs whole ones")
        check_sampled(header, plan.sampled)

    def batch(self, game: Game, chunks: Sequence[EpisodeChunk], plan: Plan) -> StepBatch:
        old = plan.window.meet(chunks) if plan.window else []
        batch = make_batch(game, [*chunks, *old], plan.spec)
        return batch.pinned() if self.pin else batch


@dataclass(frozen=True)
class ExampleChunk:
    """Examples of `file`, in which so many are `before` them, by the writer of an `origin`."""

    values: Values
    file: str
    before: int
    origin: str

    def __len__(self) -> int:
        return len(self.values.rows)

    def __getitem__(self, part: slice) -> ExampleChunk:
        values = Values(self.values.rows[part], self.values.values[part])
        return replace(self, values=values, before=self.before + (part.start or 0))


class ExampleStreams(Streams):
    """Examples of values; a batch has those of a frame, as they come."""

    unit, ending = "example", ".pbs"
    _game: Game

    def reader(self, stream: BinaryIO, name: str) -> ExampleReader:
        return ExampleReader(stream, name)

    def chunk(self, frame: Values, header: ExampleHeader, name: str, before: int) -> ExampleChunk:
        return ExampleChunk(frame, name, before, header.origin)

    def check(self, header: ExampleHeader, game: Game, plan: Plan) -> None:
        if (header.inputs, header.hands) != (game.pbs_inputs, game.hands):
            raise InputError(f"examples of other widths than {game.name} has")
        if header.actions not in (0, game.actions):
            raise InputError(f"examples of other policies than {game.name} has")

    def batch(self, game: Game, chunks: Sequence[ExampleChunk], plan: Plan) -> Values:
        self._game = game
        for chunk in chunks:
            rows, values = chunk.values.rows, chunk.values.values[:, : game.hands]
            fault = self._row_check.fault(rows, values) if self._row_check else None
            if fault:
                where = f"example {chunk.before + fault[0] + 1}"
                raise InputError(fault[1], file=chunk.file, where=where)
        parts = zip(*(chunk.values for chunk in chunks), strict=True)
        return Values(*map(np.concatenate, parts))

    @cached_property
    def _row_check(self) -> RowCheck | None:
        """None: the game's public states are too many to be enumerated beside learning."""
        try:
            game = self._game
            return RowCheck(PublicTree(game, MAX_CHECKED, merged=game.recombines))
        except InputError:
            return None


class RowCheck:
    """Which rows a value network of a game can be shown: public states with the hands that they
    have. A belief in a hand that the public cards exclude teaches what no search will ask.

    Knows the looks of `tree`'s states, and which hands the player that acts and the other may
    have there. Of states that look alike a hand counts if one of them has it."""

    def __init__(self, tree: PublicTree) -> None:
        self._looks = {seen.tobytes(): look for look, seen in enumerate(tree.seen)}
        self._exists = np.zeros((len(tree.seen), 2, tree.game.hands), bool)
        for player in (0, 1):
            node = np.repeat(np.arange(len(tree)), np.diff(tree.hand[:, player]))
            acts = tree.actors[node] >= 0
            other = (tree.actors[node] != player).astype(np.int64)
            hands = tree.look[node], other, tree.number[player]
            self._exists[tuple(part[acts] for part in hands)] = True

    def fault(self, rows: Float32s, values: Float32s) -> tuple[int, str] | None:
        """The first of some examples that is of no state of the game, and what is wrong with it.
        float32 [n, pbs_inputs] and [n, game's hands], NaN of hands that have no value."""
        hands = values.shape[1]
        acts, public = rows[:, 0], rows[:, 1 : -2 * hands]
        seen = public.clip(0, 255).astype(np.uint8)
        look = np.array([self._looks.get(one.tobytes(), -1) for one in seen])
        known = (look >= 0) & (seen == public).all(1) & ((acts == 0) | (acts == 1))
        own = self._exists[look, (acts == 0).astype(np.int64)]
        other = self._exists[look, (acts != 0).astype(np.int64)]
        possible = np.hstack([own, other])
        believed = ((rows[:, -2 * hands :] != 0) & ~possible).any(1)
        valued = (~np.isnan(values) & ~own).any(1)
        wrong = np.flatnonzero(~known | believed | valued)
        if not len(wrong):
            return None
        at = int(wrong[0])
        if not known[at]:
            return at, "a public state that the game does not have"
        what = "a belief in" if believed[at] else "a value of"
        return at, f"{what} a hand that the public state excludes"
