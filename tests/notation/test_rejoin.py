"""Games from their positions: what was played, told again."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gravon_games import MadeUp
from stratkit.errors import InputError
from stratkit.notation.fenfs import Fenfs, fenfs_of, parse_fenfs
from stratkit.notation.gravon import parse_log
from stratkit.notation.play import play_out
from stratkit.notation.rejoin import game_of


def positions(game: MadeUp, view: int | None = None) -> list[tuple[int, Fenfs]]:
    found = [parse_fenfs(str(fenfs_of(position, view))) for position in game.positions]
    return [(line, fenfs) for line, fenfs in enumerate(found, 1)]


@settings(max_examples=25)
@given(
    st.sampled_from(["classic", "barrage", "duell", "ultimate lightning", "classicfree"]),
    st.integers(0, 10**6),
    st.integers(0, 120),
)
def test_positions_of_a_game_are_the_game(kind: str, seed: int, plies: int) -> None:
    game = MadeUp(kind, seed, plies)
    told, log = parse_log(game.gsn(), "log"), game_of(positions(game))
    (played,) = play_out([("positions", log)], boards=True)
    assert played.faults == [] and log.plies == len(game.moves)
    assert [a.tolist() for a in log.setups or ()] == [a.tolist() for a in told.setups or ()]
    again = [str(fenfs_of(played.position(ply))) for ply in range(log.plies + 1)]
    assert again == [str(fenfs) for _, fenfs in positions(game)]
    if told.played_out:
        assert (log.reason, log.winner) == (told.reason, told.winner)
    else:
        assert (log.reason, log.winner) == ("cut", None)
    # Where the moves differ, a piece was lost to a known one that others could have met.
    for ply in range(log.plies):
        if log.move_text(ply) != told.move_text(ply):
            to = log.moves[2 * ply + 1]
            board = game.positions[ply + 1].cells
            assert board[to] & 0x20, (ply, log.move_text(ply), told.move_text(ply))


def test_a_position_that_does_not_follow_breaks_the_game_off() -> None:
    numbered = positions(MadeUp("barrage", 3, 20))
    jump = [*numbered[:8], (9, dataclasses.replace(numbered[12][1], ply=8)), *numbered[9:]]
    log = game_of(jump)
    assert log.plies == 7 and log.reason == "cut"
    assert log.broken is not None and log.broken.where == "line 9"
    same = [*numbered[:4], (5, dataclasses.replace(numbered[3][1], ply=4, side=0))]
    assert game_of(same).plies == 3


@pytest.mark.parametrize("view", [0, 1])
def test_players_views_do_not_tell_a_game(view: int) -> None:
    with pytest.raises(InputError, match="line 1: only the observer's positions"):
        game_of(positions(MadeUp("barrage", 1, 5), view))


def test_the_start_is_needed() -> None:
    with pytest.raises(InputError, match="line 4: positions from ply 3 on are no game"):
        game_of(positions(MadeUp("barrage", 1, 5))[3:])
    with pytest.raises(InputError, match="line 1: no start of a game: blue is to move"):
        game_of([(1, parse_fenfs(f"ML{'a' * 32}XY b 0"))])
