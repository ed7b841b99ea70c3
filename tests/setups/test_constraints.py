"""Constraints on setups, and setups drawn uniformly from all that meet them."""

from __future__ import annotations

import collections
import math

import numpy as np
import pytest
from hypothesis import given, settings

from setups.small_boards import constrained, every_setup, small
from stratkit.engine.stratego import NO_PIECE, VARIANTS
from stratkit.errors import InputError, UsageError
from stratkit.notation.setups import parse_setup, setup_text
from stratkit.setups.constraints import Constraints, constraints_of
from stratkit.setups.numbering import how_many
from stratkit.setups.uniform import UniformSetups

CLASSIC, BARRAGE, MINI = (VARIANTS[name] for name in ("classic", "barrage", "mini"))


def uniform(constraints: Constraints, seed: int = 1) -> UniformSetups:
    return UniformSetups(constraints, seed)


@settings(max_examples=80)
@given(constrained())
def test_setups_are_counted_exactly(constraints: Constraints) -> None:
    """Against all setups written down; what cannot be met is refused."""
    all_ = every_setup(constraints.variant)
    number = int(constraints.met(all_).sum())
    if not number:
        with pytest.raises(InputError, match="no setup meets all of --fix and --forbid"):
            uniform(constraints)
        return
    source = uniform(constraints)
    assert source.size == number
    assert constraints.met(source.draw(0, 50)).all()
    assert source.logprobs(all_[:1])[0] == pytest.approx(-math.log(number))


@settings(max_examples=60)
@given(constrained())
def test_what_can_be_completed(constraints: Constraints) -> None:
    """Any single placement, against all setups written down."""
    parts, all_ = constraints.division, every_setup(constraints.variant)
    met = all_[constraints.met(all_)]
    if not len(met):
        return
    found = parts.completable(np.array([parts.needs]), np.array([parts.sizes]))[0]
    rows = np.where(met == NO_PIECE, 12, met)
    for square, class_ in enumerate(parts.class_):
        for row in np.flatnonzero(parts.group >= 0):
            assert found[parts.group[row], class_] == (rows[:, square] == row).any()


def chi_square(setups: np.ndarray, among: int) -> float:
    """Of so many equally probable setups."""
    counts = collections.Counter(setup_text(setup) for setup in setups)
    wanted = len(setups) / among
    squares = sum((n - wanted) ** 2 / wanted for n in counts.values())
    return squares + (among - len(counts)) * wanted


def bound(freedom: int) -> float:
    """The 99.99 % point of chi-square, by Wilson and Hilferty."""
    part = 2 / (9 * freedom)
    return freedom * (1 - part + 3.72 * math.sqrt(part)) ** 3


@pytest.mark.parametrize(
    "constraints",
    [
        constraints_of(VARIANTS["nano"]),
        constraints_of(small(1, 1, 1, 1)),
        constraints_of(small(1, 2, 3), ["M=A1..C1"], ["C=A1", "D=B2"]),
        constraints_of(small(1, 1, 1, 1), ["A=A1..C1", "M=B1..C2"], ["E=C2"]),
        constraints_of(MINI, ["M=A1", "L=F1,E1", "B=B1..C2", "E=D2"], ["D=F2", "A=B1..C1"]),
    ],
)
def test_uniform_is_uniform_over_all_that_meet(constraints: Constraints) -> None:
    """Chi-square over every setup; a table of counts is often not the only one that is possible."""
    source = uniform(constraints, seed=5)
    setups = source.draw(0, 30 * source.size)
    assert constraints.met(setups).all()
    assert chi_square(setups, source.size) < bound(source.size - 1)
    again = np.concatenate([source.draw(0, 7), source.draw(7, 20)])
    assert np.array_equal(again, setups[:27])


def test_uniform_on_the_boards_of_duel_and_classic() -> None:
    """Each type on each square as often as its number of pieces says: 99.99 % of each."""
    for name in ("duel", "classic"):
        variant = VARIANTS[name]
        setups = uniform(constraints_of(variant), seed=3).draw(0, 4000)
        for type_, count in enumerate(variant.counts):
            share = count / variant.zone
            found = (setups == type_).mean(axis=0)
            spread = math.sqrt(share * (1 - share) / len(setups))
            assert (abs(found - share) < 5 * spread + 1e-12).all()
            assert ((setups == type_).sum(axis=1) == count).all()


def test_what_is_rare_is_drawn_at_once() -> None:
    """One setup in 10^28: nobody waits for it to come by chance."""
    text = "HKEBBMHGDHDEGIDBFDHEEEDBBIIGDBFCDFLJFGJD"
    fixed = [f"{letter}={'ABCDEFGHIK'[i % 10]}{i // 10 + 1}" for i, letter in enumerate(text[:36])]
    source = uniform(constraints_of(CLASSIC, fixed))
    assert how_many(CLASSIC) // source.size > 10**30
    for setup in source.draw(0, 20):
        assert setup_text(setup)[:36] == text[:36]


def met(constraints: Constraints, *texts: str) -> list[bool]:
    return constraints.met(
        np.stack([parse_setup(text, constraints.variant) for text in texts])
    ).tolist()


def test_what_is_asked_for() -> None:
    """A fixed piece stands on all the squares, or on none but these if there are more."""
    mini = ["MLKBDEDAAAAC", "BMLKDDAAEAAC"]
    assert met(constraints_of(MINI, ["M=A1"]), *mini) == [True, False]
    assert met(constraints_of(MINI, ["M=A1..B1"]), *mini) == [True, True]
    assert met(constraints_of(MINI, ["M=B1..F1"]), *mini) == [False, True]
    assert met(constraints_of(MINI, ["D=E1"]), *mini) == [True, True]
    assert met(constraints_of(MINI, ["D=E1..F1"]), *mini) == [False, True]
    assert met(constraints_of(MINI, [], ["D=F1", "B=B1..C2"]), *mini) == [True, False]
    setups = uniform(constraints_of(CLASSIC, ["B=A1,B2..C2", "M=B1..A2"], ["J=K4"])).draw(0, 200)
    for text in map(setup_text, setups):
        assert text[0] == text[11] == text[12] == "B"
        assert "M" in (text[1], text[10]) and text[39] != "J"
    setups = uniform(constraints_of(CLASSIC, ["B=A1..K1"])).draw(0, 100)
    assert all(setup_text(setup)[:10].count("B") == 6 for setup in setups)
    setups = uniform(constraints_of(BARRAGE, ["A=A4..K4"], ["A=K1"])).draw(0, 100)
    for text in map(setup_text, setups):
        assert text[30:] == "A" * 10 and text[9] != "A"
    turned = constraints_of(CLASSIC, ["M=A1"], ["B=I4..K4"]).mirrored
    wanted = constraints_of(CLASSIC, ["M=K1"], ["B=A4..B4"])
    assert np.array_equal(turned.allowed, wanted.allowed)
    assert constraints_of(CLASSIC).free and not turned.free


@pytest.mark.parametrize(
    ("fixed", "said"),
    [
        ("M", "a piece from A to M, = and squares are needed"),
        ("M=", "a piece from A to M"),
        ("X=A1", "a piece from A to M"),
        ("BM=A1", "a piece from A to M"),
        ("M=J1", "setups of classic have the squares A1 to K4 (files ABCDEFGHIK): 'M=J1'"),
        ("M=A5", "setups of classic have the squares A1 to K4: 'M=A5'"),
        ("M=A1..", "the squares A1 to K4"),
        ("M=A1,,B1", "the squares A1 to K4"),
        ("M=A1..B1..C1", "the squares A1 to K4"),
        ("A=A1", "classic has no empty squares"),
    ],
)
def test_what_cannot_be_read(fixed: str, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        constraints_of(CLASSIC, [fixed])
    assert said in str(caught.value) and str(caught.value).startswith("--fix: ")


def test_a_piece_that_the_game_does_not_have() -> None:
    with pytest.raises(UsageError, match=r"--forbid: nano has no piece B \(bomb\): 'B=A1'"):
        constraints_of(VARIANTS["nano"], (), ["B=A1"])


@pytest.mark.parametrize(
    ("fixed", "forbidden"),
    [
        (["M=A1", "M=B1"], []),
        (["M=A1", "B=A1"], []),
        (["M=A1"], ["M=A1..K1"]),
        (["B=A1..C2"], ["B=C2"]),
        ([], ["D=A1..K3", "D=A4..C4"]),
        (["D=A1..H1"], [f"{letter}=A2..K2" for letter in "BCEFGHIJKLM"]),
        ([], [f"{letter}=A1..K4" for letter in "BM"]),
    ],
)
def test_what_nothing_meets(fixed: list[str], forbidden: list[str]) -> None:
    with pytest.raises(InputError, match="no setup meets all of --fix and --forbid"):
        uniform(constraints_of(CLASSIC, fixed, forbidden))


def test_too_many_kinds_to_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every piece with squares of its own kind: refused at a bound, not tried for hours."""
    monkeypatch.setattr("stratkit.setups.uniform.MAX_STATES", 5000)
    places = zip("BCDEFGHIJKLM", "ABCDEFGHIABC", [1, 2, 3, 4] * 3, strict=True)
    forbidden = [f"{letter}={file}{rank}..K{rank}" for letter, file, rank in places]
    with pytest.raises(InputError, match="too many kinds to count"):
        uniform(constraints_of(CLASSIC, (), forbidden))
