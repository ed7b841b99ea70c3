"""Pointless threats: what is one, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from players.positions import Scene
from players.sharp import post_processed, sharp_player
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.tracking import GameTrack, Tracker

# A general threatens a miner, which evades; scouts to waste moves with.
PIECES = "M:A1 k:B3 D:F1 Y:A6 q:C4 P:F6"
TO_AND_FRO = ("B3B4", "C4C3", "B4B3", "C3C4", "B3B4", "C4C3")


def tracked() -> Tracker:
    """A tracker in the middle of game 0, on both sides."""
    tracker = Tracker(6, 6)
    for side in (0, 1):
        tracker.begin(0, side)
    return tracker


def watched(scene: Scene, *moves: str) -> GameTrack:
    """Red's track after some plies."""
    tracker = tracked()
    track = tracker.look(0, scene.side, scene.packed())
    for first, second in zip(moves[::2], moves[1::2], strict=True):
        scene.play(first, second)
        track = tracker.look(0, scene.side, scene.packed())
    return track


def pointless(*moves: str, then: str, pieces: str = PIECES) -> bool:
    scene = Scene(pieces, two_squares=5)
    track = watched(scene, *moves)
    start, end = scene.move(then)
    return track.threats.pointless(track.board, track.pieces, start, end)


def test_three_threats_and_no_fourth() -> None:
    assert not pointless(then="B3B4")
    assert not pointless(*TO_AND_FRO[:2], then="B4B3")
    assert not pointless(*TO_AND_FRO[:4], then="B3B4")
    assert pointless(*TO_AND_FRO, then="B4B3")
    assert pointless(*TO_AND_FRO, then="B4C4")  # round about in the same region


def test_afterwards_single_threats_only() -> None:
    pause = (*TO_AND_FRO, "F1F2", "F6F5")
    assert not pointless(*pause, then="B4B3")
    assert pointless(*pause, "B4B3", "C3C4", then="B3B4")
    assert not pointless(*pause, "B4B3", "C3C4", "F2F1", "F5F6", then="B3B4")


@pytest.mark.parametrize(
    ("moves", "then", "pieces"),
    [
        (TO_AND_FRO, "B4A4", PIECES),  # away from it
        (TO_AND_FRO, "B4B5", PIECES),
        (TO_AND_FRO, "F1F2", PIECES),  # another piece
        (TO_AND_FRO, "B4B3", f"{PIECES} r:B2"),  # something else is threatened too
        ((*TO_AND_FRO[:5], "C4C5"), "B4B5", PIECES),  # in another region
    ],
)
def test_what_is_not_pointless(moves: tuple[str, ...], then: str, pieces: str) -> None:
    assert not pointless(*moves, then=then, pieces=pieces)


def test_an_attack_is_no_threat() -> None:
    assert not pointless(*TO_AND_FRO[:4], "B3B4", "F6F5", then="B4C4")


def test_only_the_own_threats_are_restricted() -> None:
    """Blue, who looks second, has threatened nothing."""
    scene, tracker = Scene(PIECES, two_squares=5), tracked()
    for text in TO_AND_FRO:
        track = tracker.look(0, scene.side, scene.packed())
        scene.play(text)
    assert scene.side == 0 and not track.threats._made
    assert track.plies == 5


def test_the_policy_is_without_them_unless_nothing_is_left() -> None:
    scene = Scene(PIECES, two_squares=5)
    player = post_processed(sharp_player(scene.game), PostProcessing(repeat_threats=False))
    free = post_processed(sharp_player(scene.game), PostProcessing(threshold=1e-9))
    for first, second in zip(TO_AND_FRO[::2], TO_AND_FRO[1::2], strict=True):
        np.testing.assert_allclose(
            player.policy(scene.views()), free.policy(scene.views()), atol=1e-6
        )
        scene.play(first, second)
    before, after = free.policy(scene.views())[0], player.policy(scene.views())[0]
    start, end = scene.move("B4B3")
    assert after.sum() == pytest.approx(1) and after[start] < before[start]
    assert end not in player.turns.plans[0, 0].destinations[start][0]
    assert end in free.turns.plans[0, 0].destinations[start][0]

    alone = Scene("M:A1 k:B3 B:A4 B:B5 B:A3 B:B2 Y:A6 q:C4 P:F6", two_squares=5, more_squares=0)
    player = post_processed(sharp_player(alone.game), PostProcessing(repeat_threats=False))
    for first, second in zip(TO_AND_FRO[::2], TO_AND_FRO[1::2], strict=True):
        player.policy(alone.views())
        alone.play(first, second)
    moves = alone.views().state(0).moves()
    assert set(moves) == {alone.move("B4B3"), alone.move("B4C4")}
    free = post_processed(sharp_player(alone.game), PostProcessing(threshold=1e-9))
    before, after = free.policy(alone.views()), player.policy(alone.views())
    np.testing.assert_allclose(after, before, atol=1e-6)
    assert len(player.turns.plans[0, 0].destinations[alone.seen("B4")][0]) == 2
