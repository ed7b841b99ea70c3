"""Boards that are played on, and games that are watched, against the engine."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from nets.random_play import actions_of_games
from stratkit.engine import Batch, Game, expand_planes, observation_dtype
from stratkit.engine.observation import MOVES, ONLY_ATTACKS
from stratkit.engine.stratego import PIECE, TYPE, UNKNOWN, variant
from stratkit.players.side_board import CELLS, OTHER, OWN, SideBoard
from stratkit.players.side_history import SideHistory
from stratkit.players.testtime import value_bounds as bounds
from stratkit.players.testtime.tracking import GameTrack, Tracker

GAMES = [("mini", 6), ("barrage", 2), ("classic", 1)]


def turns(name: str, games: int) -> Iterator[tuple[Game, int, int, bytes, np.ndarray]]:
    """(game, number, side, packed, true cells) of every turn of play of random games."""
    game = Game(name)
    actions, _ = actions_of_games(game, games, seed=5, longest=700)
    placed = 2 * variant(name).pieces
    for number, some in enumerate(actions):
        batch = Batch(game, 1)
        batch.reset()
        for at, action in enumerate(some):
            if at >= placed and (at - placed) % 2 == 0:
                side = int(batch.actors()[0])
                cells = np.frombuffer(batch.save(0), np.uint8, variant(name).squares)
                yield game, number, side, batch.observe()[0].tobytes(), cells
            batch.apply(np.array([action], np.int32))


@pytest.mark.parametrize(("name", "games"), GAMES)
def test_two_plies_give_the_engines_next_observation(name: str, games: int) -> None:
    """Played on with the true types, a board is what the side sees two plies later, and so is the
    packed state of the look-ahead."""
    width, height = variant(name).width, variant(name).height
    dtype = observation_dtype(width * height)
    compared = attacks = 0
    for _, group in itertools.groupby(turns(name, games), key=lambda turn: turn[1]):
        seen = list(group)
        for now, then in zip(seen, seen[2:], strict=False):
            _, _, side, packed, cells = now
            after = np.frombuffer(then[3], dtype)[0]
            plies = [tuple(int(x) for x in after["moves"][i]) for i in (1, 0)]
            framed = cells if side == 0 else cells[::-1]
            (start, end, first), (origin, target, second) = plies
            board = SideBoard.of(width, height, packed)
            between = board.play(start, end, defender=int(framed[end]) & 15)
            truth = between.cells[origin] & 15
            kind = second if second != 255 else 0
            last = between.play(origin, target, attacker=kind if truth == 15 else truth)
            assert bytes(last.cells) == then[3][CELLS:]
            assert list(last.unrevealed[OWN]) == list(after["own_unrevealed"])
            assert list(last.unrevealed[OTHER]) == list(after["enemy_unrevealed"])
            root = bounds.BoundsRoot(packed, board, None, 0)
            quiet = int(after["no_attack"])
            ply = bytes((origin, target, second, start, end, first))
            found, wanted = bounds._state(root, last, quiet, ply).packed, then[3]
            assert found[:ONLY_ATTACKS] == wanted[:ONLY_ATTACKS]
            assert found[MOVES:] == wanted[MOVES:]
            compared += 1
            attacks += first != 255
    assert compared > 100 and attacks > 5


@pytest.mark.parametrize(("name", "games"), GAMES)
def test_possible_types_are_those_of_the_exact_marginals(name: str, games: int) -> None:
    width, height = variant(name).width, variant(name).height
    for game, _, _, packed, _ in itertools.islice(turns(name, games), 0, None, 7):
        planes = expand_planes(game, np.frombuffer(packed, np.uint8)[None])[0]
        planes = planes.reshape(len(planes), -1)
        board = SideBoard.of(width, height, packed)
        for side, first in ((OTHER, 13), (OWN, 25)):
            for square in board.pieces(side):
                types = np.flatnonzero(planes[first : first + 12, square]).tolist()
                assert sorted(board.possible(square)) == types


@pytest.mark.parametrize(("name", "games"), GAMES)
def test_a_watch_follows_every_ply(name: str, games: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """From turn to turn it finds the position between, and pieces keep their numbers."""
    width, height = variant(name).width, variant(name).height
    tracker, followed = Tracker(width, height), []
    real = GameTrack._ply

    def check(self: GameTrack, before: SideBoard, start: int, end: int, after: SideBoard) -> None:
        truth = self.truth if before.side(start) == OWN else None  # type: ignore[attr-defined]
        if truth is not None:
            assert bytes(after.cells) == truth
        real(self, before, start, end, after)
        followed.append(start)

    monkeypatch.setattr(GameTrack, "_ply", check)
    for number, group in itertools.groupby(turns(name, games), key=lambda turn: turn[1]):
        seen = list(group)
        for side in (0, 1):
            tracker.begin(number, side)
        for before, now in zip([None, *seen], seen, strict=False):
            packed = now[3]
            side = now[2]
            track = tracker._games[number, side]
            if before is not None and track is not None:
                cells = before[4] if now[2] == 0 else before[4][::-1]
                flip = 0x40 if now[2] == 1 else 0
                some = [c ^ flip if c & 0x80 else c for c in cells.tolist()]
                some = [c | 15 if c & 0xE0 == 0xC0 else c for c in some]
                track.truth = bytes(some)  # type: ignore[attr-defined]
            track = tracker.look(number, side, packed)
            assert bytes(track.board.cells) == packed[CELLS:]
            assert tracker.look(number, side, packed) is track
            standing = [p for p in track.pieces if p >= 0]
            there = [*track.board.pieces(OWN), *track.board.pieces(OTHER)]
            assert all(track.pieces[square] >= 0 for square in there)
            assert len(set(standing)) == len(standing)
    assert len(followed) > 100


@pytest.mark.parametrize(("name", "games"), [("mini", 20), ("barrage", 6), GAMES[2]])
def test_a_history_tells_each_ply_as_it_was(name: str, games: int) -> None:
    """The next observation tells both plies since a turn: who moved, and who was attacked."""
    width, height = variant(name).width, variant(name).height
    attacks = hidden = 0
    for _, group in itertools.groupby(turns(name, games), key=lambda turn: turn[1]):
        seen = list(group)
        for now, between, then in zip(seen, seen[1:], seen[2:], strict=False):
            history = SideHistory(0, SideBoard.of(width, height, now[3]))
            plies = history.follow(then[3])
            assert history.board.cells == then[3][CELLS:] and [p.side for p in plies] == [
                OWN,
                OTHER,
            ]
            for ply, turn in zip(plies, (now, between), strict=True):
                cells = turn[4] if now[2] == 0 else turn[4][::-1]
                piece, enemy = int(cells[ply.start]), int(cells[ply.end])
                assert ply.enemy == (enemy & TYPE if enemy & PIECE else None)
                assert ply.piece in (piece & TYPE, UNKNOWN)
                assert ply.piece == piece & TYPE or (ply.side == OTHER and ply.enemy is None)
                attacks += ply.enemy is not None
                hidden += ply.enemy is not None and bool(ply.before.hidden(ply.end))
    assert attacks > 20 and hidden > 5


def test_games_that_are_over_are_forgotten() -> None:
    packed = next(turns("mini", 1))[3]
    tracker = Tracker(6, 6)
    tracker.begin(1, 0)
    track = tracker.look(1, 0, packed)
    assert tracker.look(1, 0, packed) is track
    assert tracker.look(2, 0, packed) is not tracker.look(2, 0, packed)  # has not begun
    tracker.end(1, 0)
    assert not tracker._games
