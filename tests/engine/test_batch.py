"""Batches, replay and start positions: the engine's plain interface."""

from __future__ import annotations

import itertools
import pathlib
import sys
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stratkit.engine import Batch, Game, IllegalAction, replay, replay_columns, replay_many, sample
from stratkit.engine.arbiter import Arbiter, IllegalMove
from stratkit.engine.batch import OVER
from stratkit.engine.observation import observation_dtype
from stratkit.engine.replay import legal_prefix, positions
from stratkit.engine.stratego import (
    LAKE,
    PIECE,
    VARIANTS,
    Position,
    placements,
    setup_of,
)
from stratkit.errors import InputError

RPS = pathlib.Path(__file__).parents[2] / "formats/samples/modified_rps.matrix"
# One of each kind of game that the engine knows.
GAMES = (*VARIANTS, "kuhn", "leduc", "liars_dice:2x3", "hex:4", "dark_hex:3", f"matrix:{RPS}")
GAMES += ("phantom_ttt", "phantom_ttt:classical")


def test_games_describe_their_moves_returns_and_boards() -> None:
    boards = {"hex:4": (4, 4), "dark_hex:3": (3, 3), "moves:nano": (4, 3)}
    boards |= dict.fromkeys(("phantom_ttt", "phantom_ttt:classical"), (3, 3))
    units = {"leduc": 13.0, "leduc:6x2": 20.0}
    for game in map(Game, (*GAMES, "moves:nano", "leduc:6x2", "diplomacy:tiny")):
        found = game.actions_per_ply, game.unit, game.largest_return, game.board
        if game.name in VARIANTS:
            variant = VARIANTS[game.name]
            assert found == (2, 1.0, 1.0, (variant.height, variant.width))
        else:
            expected = units.get(game.name, 1.0), np.inf, boards.get(game.name)
            assert found == (1, *expected)


def random_games(
    name: str, n: int, seed: int, threads: int = 1
) -> tuple[Batch, list[np.ndarray], list[tuple[np.ndarray, ...]]]:
    """Plays n random games; returns the batch, each game's actions, and every view on the way."""
    game = Game(name)
    batch = Batch(game, n, threads)
    games, numbers = np.arange(n), np.zeros(n, np.int32)
    played: list[list[int]] = [[] for _ in range(n)]
    views = []
    while ((actors := batch.actors()) != OVER).any():
        legal, packed = batch.legal(), batch.observe()
        views.append((actors, legal, packed))
        actions, _ = sample(None, legal, seed, games, numbers)
        batch.apply(actions)
        numbers += 1
        for row in np.flatnonzero(actions >= 0):
            played[row].append(int(actions[row]))
    return batch, [np.array(p, np.int32) for p in played], views


@pytest.mark.parametrize("name", GAMES)
def test_replay_makes_the_same_views_again(name: str) -> None:
    batch, actions, views = random_games(name, 40, seed=3)
    out = replay_many(batch.game, [(b"", a) for a in actions])
    np.testing.assert_array_equal(out.returns, batch.returns())
    np.testing.assert_array_equal(out.endings, batch.endings())
    for row, length in enumerate(np.diff(out.offsets)):
        at = slice(out.offsets[row], out.offsets[row + 1])
        for mine, seen in zip(
            (out.actors[at], out.legal[at], out.observations[at]),
            zip(*views[:length], strict=True),
            strict=True,
        ):
            np.testing.assert_array_equal(mine, np.stack([step[row] for step in seen]))


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_some_views_are_those_among_all(
    name: str, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where several calls replay one after the other."""
    batch, actions, _ = random_games(name, 7, seed=5)
    all_ = replay_many(batch.game, [(b"", a) for a in actions])
    seen = np.random.default_rng(6).random(len(all_.actors)) < share
    monkeypatch.setattr(sys.modules["stratkit.engine.replay"], "ACTIONS_A_CALL", 1)
    none = np.zeros(7, np.int64)
    some = replay_columns(
        batch.game, np.concatenate(actions), np.diff(all_.offsets), b"", none, seen
    )
    np.testing.assert_array_equal(some.legal, all_.legal[seen])
    np.testing.assert_array_equal(some.observations, all_.observations[seen])
    for mine, wanted in zip(
        (some.actors, some.given, some.returns, some.endings),
        (all_.actors, all_.given, all_.returns, all_.endings),
        strict=True,
    ):
        np.testing.assert_array_equal(mine, wanted)


@pytest.mark.parametrize("name", GAMES)
def test_a_deployment_may_be_given_and_nothing_else(name: str) -> None:
    batch, actions, _ = random_games(name, 5, seed=4)
    out = replay_many(batch.game, [(b"", a) for a in actions])
    pieces = 2 * VARIANTS[name].pieces if name in VARIANTS else 0
    for begin, end in itertools.pairwise(out.offsets):
        assert out.given[begin:end].tolist() == [t < pieces for t in range(end - begin)]


def test_threads_change_nothing() -> None:
    one = random_games("mini", 200, seed=9)
    two = random_games("mini", 200, seed=9, threads=2)
    assert all(np.array_equal(a, b) for a, b in zip(one[1], two[1], strict=True))


def test_illegal_actions_leave_their_row_alone() -> None:
    batch = Batch(Game("mini"), 3)
    with pytest.raises(IllegalAction, match="action 30 in row 1"):
        batch.apply(np.array([0, 30, 5], np.int32))
    assert batch.legal().sum(1).tolist() == [11, 12, 11]
    with pytest.raises(IllegalAction):
        batch.apply(np.array([-7, 36, 2**31 - 1], np.int32))
    assert batch.legal().sum(1).tolist() == [11, 12, 11]


def test_an_episode_with_an_illegal_action_is_refused_by_place() -> None:
    batch, actions, _ = random_games("mini", 3, seed=1)
    episodes = [(b"", a) for a in actions]
    worse = actions[1].copy()
    worse[20] = 99
    with pytest.raises(IllegalAction) as caught:
        replay_many(batch.game, [episodes[0], (b"", worse), episodes[2]])
    assert (caught.value.row, caught.value.index, caught.value.action) == (1, 20, 99)
    longer = np.append(actions[2], np.int32(0))
    with pytest.raises(IllegalAction) as caught:
        replay(batch.game, longer)
    assert caught.value.index == len(actions[2])
    with pytest.raises(IllegalAction) as caught:
        replay(batch.game, actions[0], start=b"rubbish")
    assert caught.value.action is None


@settings(max_examples=30)
@given(st.sampled_from(GAMES), st.lists(st.integers(-(2**31), 2**31 - 1), max_size=50))
def test_any_stream_of_actions_is_replayed_or_refused(name: str, stream: list[int]) -> None:
    try:
        out = replay(Game(name), np.array(stream, np.int32))
    except IllegalAction as wrong:
        assert 0 <= (wrong.index or 0) < len(stream)
    else:
        assert len(out.actors) == len(stream)


@pytest.mark.parametrize("name", sorted(VARIANTS))
def test_play_continues_from_a_saved_position(name: str) -> None:
    rules = {"two_squares": 0}
    game = Game(name, rules)
    source, copy = Batch(game, 1), Batch(game, 1)
    games, numbers = np.zeros(1, np.int64), np.zeros(1, np.int32)
    for n in range(2 * VARIANTS[name].pieces + 6):
        numbers[0] = n
        source.apply(sample(None, source.legal(), 4, games, numbers)[0])
    copy.start(0, source.save(0))
    dtype = observation_dtype(VARIANTS[name].squares)
    while source.actors()[0] >= 0:
        numbers += 1
        assert np.array_equal(source.legal(), copy.legal())
        a, b = (batch.observe().view(dtype)[0, 0] for batch in (source, copy))
        for field in dtype.names or ():
            if field != "moves":  # the history is lost
                assert np.array_equal(a[field], b[field]), field
        actions = sample(None, source.legal(), 4, games, numbers)[0]
        source.apply(actions)
        copy.apply(actions)
    assert np.array_equal(source.returns(), copy.returns())
    assert source.endings() == copy.endings()


def test_a_ply_number_that_start_bytes_cannot_hold_stays_at_the_highest() -> None:
    game = Game("mini", {"max_plies": 0, "two_squares": 0})
    cells = np.zeros(36, np.uint8)
    cells[[0, 35]] = [PIECE | 2, PIECE | 0x40 | 2]
    batch = Batch(game, 1)
    batch.start(0, Position(VARIANTS["mini"], cells, 0, plies=65535).to_bytes())
    for action in (0, 1):
        batch.apply(np.array([action], np.int32))
    assert batch.plies() == [65536]
    assert Position.from_bytes(VARIANTS["mini"], batch.save(0)).plies == 65535
    assert batch.observe().view(observation_dtype(36))["plies"] == 65535


def test_a_copied_row_goes_its_own_way() -> None:
    game = Game("mini")
    batch = Batch(game, 2)
    batch.apply(np.array([3, -1], np.int32))
    batch.copy_row(1, batch, 0)
    assert np.array_equal(*batch.legal())
    batch.apply(np.array([-1, 4], np.int32))
    assert batch.legal().sum(1).tolist() == [11, 10]
    assert np.array_equal(np.flatnonzero(batch.legal()[0]), [0, 1, 2, *range(4, 12)])


@given(st.binary(min_size=41, max_size=41))
def test_start_bytes_are_refused_or_playable(start: bytes) -> None:
    batch = Batch(Game("mini"), 1)
    try:
        batch.start(0, start)
    except InputError:
        assert batch.legal()[0].sum() == 12  # the start of the game
    else:
        assert batch.save(0) == start


def test_start_positions_without_their_lakes_are_refused() -> None:
    variant = VARIANTS["classic"]
    cells = np.zeros(100, np.uint8)
    with pytest.raises(InputError, match="lake"):
        Batch(Game("classic"), 1).start(0, Position(variant, cells, 0).to_bytes())
    cells[list(variant.lakes)] = LAKE
    cells[[0, 99]] = [PIECE | 2, PIECE | 0x40 | 0]  # a red scout and the blue flag
    start = Position(variant, cells, 0, plies=7)
    assert Position.from_bytes(variant, start.to_bytes()).legal() == [
        *((0, file) for file in range(1, 10)),
        *((0, 10 * rank) for rank in range(1, 10)),
    ]


@given(st.sampled_from(sorted(VARIANTS)), st.randoms())
def test_setups_and_placements_are_inverse(name: str, random: object) -> None:
    variant = VARIANTS[name]
    types = [t for t, n in enumerate(variant.counts) for _ in range(n)]
    pieces = np.array(types + [255] * (variant.places.sum() - len(types)), np.uint8)
    random.shuffle(pieces)  # type: ignore[attr-defined]
    setup = np.full(variant.zone, 255, np.uint8)
    setup[variant.places] = pieces
    assert np.array_equal(setup_of(variant, placements(variant, setup)), setup)


def test_setups_with_wrong_counts_are_refused() -> None:
    variant = VARIANTS["mini"]
    with pytest.raises(InputError, match="1 of type flag, not 0"):
        placements(variant, np.full(12, 255, np.uint8))
    with pytest.raises(InputError, match="12 squares, not 3"):
        placements(variant, np.zeros(3, np.uint8))


def test_an_arbiter_follows_a_game_by_squares() -> None:
    variant = VARIANTS["nano"]
    setup = np.array([0, 1, 10], np.uint8)  # flag, spy, marshal
    arbiter = Arbiter(Game("nano"))
    for _ in range(2):
        assert arbiter.deploying and not arbiter.legal()
        arbiter.deploy(setup)
    assert arbiter.position().to_bytes() == Position.of_setups(variant, setup, setup).to_bytes()
    assert arbiter.pieces() == {
        0: (0, 0),
        1: (0, 1),
        2: (0, 10),
        9: (1, 10),
        10: (1, 1),
        11: (1, 0),
    }
    arbiter.move(2, 5)
    for from_, to in ((11, 8), (10, 6), (2, 5)):  # a flag, a leap, a piece that has left
        with pytest.raises(IllegalMove, match=r"cannot move|no piece"):
            arbiter.move(from_, to)
    for from_, to in ((9, 6), (5, 8), (6, 3), (8, 11)):
        arbiter.move(from_, to)
    assert (arbiter.ending, arbiter.winner, arbiter.plies) == ("flag_captured", 0, 5)


@given(st.sampled_from(GAMES), st.integers(0, 10**6), st.integers(0, 30))
@settings(max_examples=40)
def test_a_prefix_is_as_long_as_the_actions_are_legal(name: str, seed: int, cut: int) -> None:
    game = Game(name)
    actions, endings, returns = _random_game(game, seed)
    whole = legal_prefix(game, actions)
    assert (whole.legal, whole.ending) == (len(actions), endings)
    assert whole.returns.tolist() == returns.tolist()
    longer = legal_prefix(game, np.append(actions, actions[-1:]).astype(np.int32))
    assert (longer.legal, longer.ending) == (len(actions), endings)
    cut = min(cut, len(actions) - 1)
    wrong = actions.copy()
    wrong[cut] = game.actions
    broken = legal_prefix(game, wrong)
    assert (broken.legal, broken.ending) == (cut, "")


def _random_game(game: Game, seed: int) -> tuple[npt.NDArray[np.int32], str, npt.NDArray[Any]]:
    """The actions of a random game, its ending and its returns."""
    batch, played = Batch(game, 1), []
    chosen = np.empty(1, np.int32)
    while (actor := batch.actors()[0]) != OVER:
        numbers = np.array([len(played)], np.int32)
        chosen = sample(None, batch.legal(), seed, np.zeros(1, np.int64), numbers)[0]
        if actor < 0:
            batch.draw_chance(seed, np.zeros(1, np.int64), numbers, chosen)
        batch.apply(chosen)
        played.append(int(chosen[0]))
    return (
        np.array(played, np.int32),
        game.endings[batch.endings()[0]],
        batch.returns()[0],
    )


def test_positions_are_those_between_the_plies() -> None:
    game = Game("nano")
    setup = np.array([0, 1, 10], np.uint8)
    arbiter = Arbiter(game, Position.of_setups(VARIANTS["nano"], setup, setup))
    seen = [arbiter.position().to_bytes()]
    for move in ((2, 5), (9, 6), (5, 8), (6, 3), (8, 11)):
        arbiter.move(*move)
        seen.append(arbiter.position().to_bytes())
    assert list(positions(game, np.array(arbiter.actions, np.int32), seen[0])) == seen
    with pytest.raises(IllegalAction, match="action -1 in episode 0, action number 0"):
        list(positions(game, np.array([-1, -1], np.int32), seen[0]))


def test_unknown_games_and_rules() -> None:
    with pytest.raises(InputError, match="did you mean 'barrage'"):
        Game("barage")
    with pytest.raises(InputError, match="unknown rule 'more'"):
        Game("mini", {"more": 1})
    for key in ("é" * 150, "\ud800", "two_squares=1 max_plies", "\x1b[2J", ""):
        with pytest.raises(InputError, match="unknown rule '") as caught:
            Game("mini", {key: 1})
        assert str(caught.value).isprintable() and len(str(caught.value)) < 100
    with pytest.raises(InputError, match="0 to 65535"):
        Game("mini", {"max_plies": 70_000})
    assert Game("mini", {"max_plies": 10}).max_length == 36
