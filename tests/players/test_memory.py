"""The memory heuristic on positions: from what a piece did not do follows what it is not."""

from __future__ import annotations

import numpy as np
import pytest

from players.positions import Scene
from players.sharp import post_processed, sharp_player
from stratkit.engine.stratego import MARSHAL, SPY
from stratkit.players.testtime.memory import COLONEL, GENERAL, TYPES
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.players.testtime.tracking import Tracker

# Both flags, and a scout of each side that can waste a move: F1F2, F6F5.
BASE = "M:A1 D:F1 Y:A6 P:F6"


def excluded(scene: Scene, *moves: str, at: str) -> set[int]:
    """What red excludes of the piece on a square after some plies."""
    tracker = Tracker(6, 6)
    tracker.begin(0, scene.side)
    tracker.look(0, scene.side, scene.packed())
    for first, second in zip(moves[::2], moves[1::2], strict=True):
        scene.play(first, second)
        track = tracker.look(0, scene.side, scene.packed())
    bits = track.excluded[scene.seen(at)]
    return {t for t in range(TYPES) if bits >> t & 1}


WASTE = ("F1F2", "F6F5")


@pytest.mark.parametrize(
    ("pieces", "found"),
    [
        ("l:C3 Q:C4", {SPY}),  # beside a known marshal
        ("L:C3 Q:C4", set()),  # beside a hidden one
        ("l:C3 Q:D4", set()),  # not beside it
        ("l:C3 q:C4", set()),  # itself known
        ("k:C3 Q:C4", {MARSHAL}),  # beside a general that nobody protects
        ("k:C3 E:B3 Q:C4", {MARSHAL}),  # or one that cannot recapture
        ("k:C3 E:B3 C:A2 Q:C4", set()),  # red's hidden pieces may be a spy
        ("k:C3 l:B3 Q:C4", set()),  # a marshal falls together with a marshal
        ("k:C3 E:E3 C:D1 Q:C4", {MARSHAL}),  # nobody stands beside the general
        ("j:C3 Q:C4", {MARSHAL, GENERAL}),
        ("j:C3 E:B3 C:A2 Q:C4", {GENERAL}),  # a spy takes no general
        ("j:C3 l:B3 Q:C4", set()),
        ("j:C3 k:B3 Q:C4", {MARSHAL}),  # a general falls together with a general
        ("i:C3 Q:C4", set()),  # nobody is expected to attack a major
    ],
)
def test_what_the_enemy_did_not_do(pieces: str, found: set[int]) -> None:
    assert excluded(Scene(f"{BASE} {pieces}"), *WASTE, at="C4") == found


@pytest.mark.parametrize(
    ("pieces", "found"),
    [("x:C3 E:C2", {SPY}), ("w:C3 E:C2", {MARSHAL}), ("w:C3 O:D3 E:C2", set())],
)
def test_what_red_did_not_do_and_blue_knows(pieces: str, found: set[int]) -> None:
    assert excluded(Scene(f"{BASE} {pieces}"), *WASTE, at="C2") == found


def test_after_an_attack_nothing_is_known() -> None:
    scene = Scene(f"{BASE} l:C3 Q:C4 e:E2 r:E3")
    assert excluded(scene, "F1F2", "E3E2", at="C4") == set()


def test_it_goes_with_the_piece_until_that_is_known() -> None:
    moves = ("F1F2", "C4D4", "F2F1", "D4D5")
    assert excluded(Scene(f"{BASE} l:C3 Q:C4"), *moves[:2], at="D4") == {SPY}
    assert excluded(Scene(f"{BASE} l:C3 Q:C4"), *moves, at="D5") == {SPY}
    assert excluded(Scene(f"{BASE} l:C3 Q:C4"), *moves, at="C4") == set()
    scene = Scene(f"{BASE} l:C3 P:C4")  # a scout that shows itself
    assert excluded(scene, "F1F2", "C4C6", at="C6") == set()


def test_the_entries_of_both_public_tensors() -> None:
    """Set to 0 as in the paper, or what is left made a distribution."""
    scene = Scene(f"{BASE} l:C3 Q:C4 O:B5 x:D2 C:E2 E:B2")
    planes = {}
    watched = {mode: chain(scene, mode) for mode in ("on", "renormalised")}
    for player in watched.values():
        player.policy(scene.views())
    scene.play(*WASTE)
    for mode, player in watched.items():
        seen = player.turns.show(scene.views(), np.ones(1, bool))
        assert seen.pub is not None
        planes[mode] = seen.pub[0].reshape(2, TYPES, -1)
    enemy, own = scene.seen("C4"), scene.seen("E2")
    exact = planes["on"][0, :, enemy]
    assert planes["on"][0, SPY, enemy] == 0 and planes["on"][1, SPY, own] == 0
    assert 0 < exact.sum() < 1
    assert planes["on"][0, SPY, scene.seen("B5")] > 0  # had no chance
    np.testing.assert_allclose(planes["renormalised"][0, :, enemy].sum(), 1, rtol=1e-6)
    ratio = planes["renormalised"][0, :, enemy] / np.maximum(exact, 1e-9)
    assert len(np.unique(ratio[ratio > 0].round(4))) == 1
    assert COLONEL not in np.flatnonzero(exact)


def chain(scene: Scene, mode: str) -> PostprocessedPlayer:
    return post_processed(sharp_player(scene.game), PostProcessing(memory=mode))


def test_the_network_is_shown_what_is_left() -> None:
    scene = Scene(f"{BASE} l:C3 Q:C4 O:B5 E:B2")
    raw, player = sharp_player(scene.game), chain(scene, "on")
    np.testing.assert_array_equal(player.policy(scene.views()), raw.policy(scene.views()))
    scene.play(*WASTE)
    assert not np.allclose(player.policy(scene.views()), raw.policy(scene.views()), atol=1e-6)
