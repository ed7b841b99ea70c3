"""Every game that begins for a player ends for it, and it is asked about no other one."""

from __future__ import annotations

import contextlib
import threading
from collections import Counter

import numpy as np
import pytest

from stratkit.engine import Game
from stratkit.engine.stratego import variant
from stratkit.errors import InputError
from stratkit.match.adjudicate import Limit, ValueAdjudicator
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.player import Decision, Games, Sides, Views
from stratkit.setups.constraints import constraints_of
from stratkit.setups.deployed import PlayerPlacer
from stratkit.setups.placing import PlacedSetups
from stratkit.ucc.agent import Agent
from stratkit.ucc.engine_pool import ProgramGames


class Recorder(RandomPlayer):
    """Plays at random; checks that it plays only what has begun, and counts what has ended.

    In game `resigns` it gives up at once; in game `fails` it raises an error. It expects to lose
    for certain in game `loses`. Before game `stops` begins somebody interrupts.
    """

    def __init__(
        self,
        seed: int = 1,
        resigns: int = -1,
        fails: int = -1,
        loses: int = -1,
        stops: int = -1,
    ) -> None:
        super().__init__(seed)
        self.resigns, self.fails, self.loses, self.stops = resigns, fails, loses, stops
        self.playing: set[tuple[int, int]] = set()
        self.asked: set[tuple[int, int]] = set()
        self.ended: Counter[tuple[int, int]] = Counter()
        self.lock = threading.Lock()

    def begin(self, games: Games, sides: Sides) -> None:
        assert (games.dtype, sides.dtype) == (np.int64, np.int8)
        if self.stops in games:
            raise KeyboardInterrupt
        with self.lock:
            for seat in zip(games.tolist(), sides.tolist(), strict=True):
                assert seat not in self.playing and seat not in self.ended
                self.playing.add(seat)

    def act(self, views: Views) -> Decision:
        assert (views.games.dtype, views.sides.dtype) == (np.int64, np.int8)
        seats = set(zip(views.games.tolist(), views.sides.tolist(), strict=True))
        with self.lock:
            assert seats <= self.playing
            self.asked |= seats
        if self.fails in views.games:
            raise RuntimeError("it fails")
        decision = super().act(views)
        values = np.where(views.games == self.loses, -1.0, 1.0).astype(np.float32)
        return Decision(*_of(decision), values, views.games == self.resigns)

    def end(self, games: Games, sides: Sides) -> None:
        with self.lock:
            for seat in zip(games.tolist(), sides.tolist(), strict=True):
                self.playing.remove(seat)
                self.ended[seat] += 1


def _of(decision: Decision) -> tuple[np.ndarray, np.ndarray]:
    return decision.actions, decision.mu


def seatings(games: int, seats: tuple[int, int] = (0, 0)) -> Seatings:
    return Seatings(Seating(number, seats) for number in range(games))


def both_sides(games: int) -> Counter[tuple[int, int]]:
    return Counter((game, side) for game in range(games) for side in range(2))


@pytest.mark.parametrize("name", ["mini", "kuhn"])
@pytest.mark.parametrize("max_actions", [None, 2])
def test_games_played_out_and_cut(name: str, max_actions: int | None) -> None:
    player = Recorder()
    list(Table(Game(name), [player], seatings(9), 4, max_actions=max_actions).rounds())
    assert player.ended == both_sides(9) and not player.playing


def test_each_player_of_a_table_has_its_own_side() -> None:
    first, second = Recorder(1), Recorder(2)
    list(Table(Game("mini"), [first, None, second], seatings(5, (2, 0)), 2).rounds())
    assert first.ended == Counter((game, 1) for game in range(5)) and first.asked == {*first.ended}
    assert second.ended == Counter((game, 0) for game in range(5))


def test_games_that_are_resigned_or_adjudicated() -> None:
    player = Recorder(resigns=1, loses=3)
    table = Table(
        Game("mini"),
        [player],
        seatings(5),
        2,
        adjudicator=ValueAdjudicator(2, 2, Limit(0.9, 1), None),
    )
    finished = [f for f in table.rounds() if f]
    notes = {number: note.reason for f in finished for number, note in f.notes.items()}
    assert notes == {1: "resigned", 3: "resigned"}
    assert player.ended == both_sides(5) and not player.playing


def test_games_that_nobody_plays_on() -> None:
    """A match that is decided, and one that is interrupted, leave games behind."""
    player = Recorder()
    rounds = Table(Game("mini"), [player], seatings(9), 4).rounds()
    next(rounds)
    assert player.playing == {(game, side) for game in range(4) for side in range(2)}
    rounds.close()  # type: ignore[attr-defined]
    assert player.ended == both_sides(4) and not player.playing
    failing = Recorder(fails=2)
    with pytest.raises(RuntimeError, match="it fails"):
        list(Table(Game("mini"), [failing], seatings(9), 4).rounds())
    assert failing.ended == both_sides(4) and not failing.playing
    stopped = Recorder(stops=4)
    with pytest.raises(KeyboardInterrupt):
        list(Table(Game("mini"), [stopped], seatings(9), 4).rounds())
    assert stopped.ended == both_sides(4) and not stopped.playing


def test_games_as_a_program_meets_them() -> None:
    first, second = Recorder(1), Recorder(2)
    games = ProgramGames(Game("mini"), [first, second], ["a", "b"], 2, print)
    list(games.rounds(Seating(number, (1, 0)) for number in range(4)))
    assert second.ended == Counter((game, 0) for game in range(4))
    assert first.ended == Counter((game, 1) for game in range(4)) and not first.playing


@pytest.mark.parametrize("fault", [[], ["START"]])
def test_a_game_under_another_manager(fault: list[str]) -> None:
    """The manager goes away, or says what is not of the protocol: a board is missing."""
    player, lines = Recorder(), iter(["BLUE x 6 6", *fault])
    agent = Agent(Game("mini"), player, lambda: next(lines, None), lambda line: None)
    with pytest.raises(InputError) if fault else contextlib.nullcontext():
        agent.run()
    assert player.asked == {(0, 1)} == {*player.ended} and not player.playing


def test_setups() -> None:
    player = Recorder()
    PlacedSetups(PlayerPlacer(Game("mini"), player), constraints_of(variant("mini"), (), ())).draw(
        7, 3
    )
    assert player.asked == {(7, 0), (8, 0), (9, 0)} == {*player.ended} and not player.playing
