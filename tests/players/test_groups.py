"""Tables that take turns: the same games, and the engine plays while a network thinks."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from stratkit.engine import Game
from stratkit.nets import build
from stratkit.nets.evaluator import Evaluator
from stratkit.play.groups import Groups
from stratkit.play.table import Finished, Seating, Table, in_order
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Decision, Views
from stratkit.players.random import RandomPlayer


def tables(game: Game, player: object, games: int, slots: int, number: int) -> list[Table]:
    seatings = iter(Seating(k, (0, 0)) for k in range(games))
    return [Table(game, [player], seatings, slots, seed=3) for _ in range(number)]  # type: ignore[list-item]


def played(rounds: Iterator[Finished | None], games: int) -> list[tuple[object, ...]]:
    ready = [some for some in in_order(rounds, iter(range(games))) if some is not None]
    return [
        (e.number, e.actions.tolist(), e.mu.tobytes(), e.returns.tolist())
        for some in ready
        for e, _, _ in some
    ]


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize(("name", "net"), [("nano", "plain"), ("kuhn", "mlp:16")])
def test_the_same_games_at_several_tables(name: str, net: str, number: int) -> None:
    game, games = Game(name), 40
    player = NetworkPlayer(Evaluator(net, build(net, game.shape, 1, game.actions), 7), game, 5)
    (alone,) = tables(game, player, games, 7, 1)
    together = Groups(tables(game, player, games, 7, number))
    assert played(together.rounds(), games) == played(alone.rounds(), games)
    assert not together.waiting


class Watched(RandomPlayer):
    """Waits in its first decision until the caller has gone on to another table."""

    def __init__(self) -> None:
        super().__init__(1)
        self.caller = threading.current_thread()
        self.another = threading.Event()
        self.waited: list[bool] = []

    def act(self, views: Views) -> Decision:
        assert threading.current_thread() is not self.caller
        self.waited.append(self.another.wait(timeout=60))
        return super().act(views)


def test_one_table_is_played_at_while_the_player_thinks_about_another() -> None:
    player = Watched()
    first, second = tables(Game("mini"), player, 8, 4, 2)
    begin = second.begin

    def and_tell() -> bool:
        player.another.set()
        return begin()

    second.begin = and_tell  # type: ignore[method-assign]
    assert len(played(Groups([first, second]).rounds(), 8)) == 8
    assert all(player.waited)


def test_they_wait_when_all_of_them_wait() -> None:
    game, seatings = Game("mini"), [Seating(0, (0, 0)), None, None, Seating(1, (0, 0))]
    schedule = iter(seatings)
    groups = Groups([Table(game, [RandomPlayer(1)], schedule, 2) for _ in range(2)])
    groups.policy_step = 7
    waited, finished = 0, []
    for some in groups.rounds():
        waited += groups.waiting
        finished += [] if some is None else list(some.episodes)
    assert waited == 0  # one of them always had a game
    assert [(e.number, e.step) for e in sorted(finished, key=lambda e: e.number)] == [
        (0, 7),
        (1, 7),
    ]
    groups = Groups([Table(game, [RandomPlayer(1)], iter([None]), 2) for _ in range(2)])
    rounds = groups.rounds()
    assert next(rounds) is None and groups.waiting


def test_what_nobody_waits_for_is_not_thought_about() -> None:
    thinking, gone, acts = threading.Event(), threading.Event(), []

    class Slow(RandomPlayer):
        def act(self, views: Views) -> Decision:
            thinking.set()
            acts.append(gone.wait(timeout=60))
            return super().act(views)

    first, second, third = tables(Game("mini"), Slow(1), 12, 4, 3)

    def fail() -> bool:
        assert thinking.wait(timeout=60)
        threading.Timer(0.2, gone.set).start()
        raise KeyboardInterrupt

    third.begin = fail  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        list(Groups([first, second, third]).rounds())
    assert acts == [True]  # the second table's question was dropped


def test_a_player_that_fails_fails_the_rounds() -> None:
    class Failing(RandomPlayer):
        def act(self, views: Views) -> Decision:
            raise RuntimeError("as a GPU does that has no memory left")

    with pytest.raises(RuntimeError, match="no memory left"):
        list(Groups(tables(Game("mini"), Failing(1), 8, 4, 2)).rounds())


def test_new_weights_while_it_thinks() -> None:
    """What is decided at once is by the old weights or by the new ones, by no mixture of them."""
    game, n = Game("kuhn"), 64
    nets = [build("mlp:64x64", game.shape, seed, game.actions) for seed in (1, 2)]
    weights = [{k: t.numpy().copy() for k, t in net.state_dict().items()} for net in nets]
    views = Views(
        np.arange(n, dtype=np.int64),
        np.zeros(n, np.int8),
        np.zeros(n, np.int32),
        np.ones((n, game.actions), np.uint8),
        np.random.default_rng(1).integers(0, 2, (n, game.observation_bytes)).astype(np.uint8),
    )
    player = NetworkPlayer(Evaluator("mlp:64x64", nets[0], n), game, seed=1)
    wanted = []
    for net in weights:
        player.load(net, (0.0, 0))
        wanted.append(player.act(views).mu.tobytes())
    assert wanted[0] != wanted[1]
    done = threading.Event()

    def think() -> set[bytes]:
        found = set()
        while not done.is_set():
            found.add(player.act(views).mu.tobytes())
        return found

    with ThreadPoolExecutor(1, "thinker", torch.set_num_threads, (1,)) as pool:
        thinker = pool.submit(think)
        for k in range(300):
            player.load(weights[k % 2], (0.0, 0))
        done.set()
        found = thinker.result()
    assert found and found <= set(wanted)
