"""The model of a file of setups: what it makes is like setups that it has not seen."""

from __future__ import annotations

import gzip
import math
import pathlib
from dataclasses import replace

import numpy as np
import pytest

from setups.small_boards import every_setup, small
from stratkit.engine.stratego import NO_PIECE, VARIANTS, Variant
from stratkit.errors import UsageError
from stratkit.notation.setups import all_setups
from stratkit.notation.statistics import SetupFigures
from stratkit.setups.conditioned import ConditionedSetups
from stratkit.setups.constraints import constraints_of
from stratkit.setups.model import ModelPlacer, SetupModel, _slopes, fit
from stratkit.setups.numbering import how_many
from stratkit.setups.placing import PlacedSetups
from stratkit.setups.uniform import UniformSetups


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small boards are learned sooner."""
    monkeypatch.setattr("stratkit.setups.model.STEPS", 200)


def source_of(variant: Variant, setups: np.ndarray, *constraints: str) -> ConditionedSetups:
    return ConditionedSetups(
        ModelPlacer(fit(variant, setups), 1), constraints_of(variant, constraints), 1
    )


def drawn(source: ConditionedSetups, n: int) -> np.ndarray:
    return np.concatenate([source.draw(first, 250) for first in range(0, n, 250)])


def figures(variant: Variant, setups: np.ndarray) -> SetupFigures:
    found = SetupFigures(variant)
    found.add(setups)
    return found


def guarded(variant: Variant, n: int, seed: int) -> np.ndarray:
    """Setups of mini by a rule: the flag is on the back rank, more often to the left; the bomb is
    beside it in most of them, and the spy beside the general."""
    source, random = (
        UniformSetups(constraints_of(variant, ["M=A1..F1"]), seed),
        np.random.default_rng(seed),
    )
    setups = np.concatenate([source.draw(first, 2000) for first in range(0, 36 * n, 2000)])
    ranks, files = np.divmod([np.argmax(setups == t, axis=1) for t in (0, 11, 1, 9)], 6)
    apart = abs(np.diff(ranks, axis=0)) + abs(
        np.diff(files, axis=0)
    )  # [0] flag, bomb; [2] spy, general
    chance = np.where(apart[0] == 1, 1, 0.06) * np.where(apart[2] == 1, 1, 0.1) / (1 + files[0])
    return setups[random.random(len(setups)) < chance][:n]


def test_a_rule_is_learned(short: None) -> None:
    """From 1,500 setups by a rule; against 1,500 others by the same rule: heat maps within 5
    standard errors and 2 points, the flag's neighbourhood within 4 points."""
    variant = VARIANTS["mini"]
    setups = guarded(variant, 3000, 4)
    assert len(setups) == 3000
    seen, held_out = setups[::2], setups[1::2]
    source = source_of(variant, seen)
    made = drawn(source, 1500)
    mine, theirs = figures(variant, made), figures(variant, held_out)
    for type_ in range(12):
        share = theirs.maps[type_] / theirs.count
        error = np.sqrt(share * (1 - share) * 2 / theirs.count)
        assert (abs(mine.maps[type_] / mine.count - share) < 5 * error + 0.02).all()
    found, wanted = mine.figures(), theirs.figures()
    even = figures(variant, UniformSetups(constraints_of(variant), 1).draw(0, 1500)).figures()
    for name, least in (
        ("bombs beside the flag, mean", 0.3),
        ("no bomb beside the flag", 0.3),
        ("distance of spy and general, mean", 0.8),
    ):
        assert abs(wanted[name] - even[name]) > least  # there is something to be learned
        assert abs(found[name] - wanted[name]) < 0.12 * abs(wanted[name] - even[name]) + 0.02, name
    # It is nearer to what it has not seen than uniform is, by far; and it makes new setups.
    logprobs = source.logprobs(held_out[:200])
    assert logprobs.mean() > -math.log(9979200) + 1.5
    known = {setup.tobytes() for setup in seen}
    assert sum(setup.tobytes() not in known for setup in made) > 500


def test_probabilities_add_up_to_one(short: None) -> None:
    """Over all setups of a small zone, equal pieces and all; draws are as probable as is said."""
    variant = small(1, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    every = every_setup(variant)
    some = every[every[:, 0] == 0]
    source = source_of(variant, some[:7])
    p = np.exp(source.logprobs(every))
    assert p.sum() == pytest.approx(1, abs=1e-4) and p.max() > 10 / len(every)
    made = drawn(source, 5000)
    counts = (made[:, None] == every[None]).all(2).sum(0)
    assert (abs(counts - 5000 * p) < 5 * np.sqrt(5000 * p * (1 - p)) + 1).all()


def test_lakes_are_no_constraint() -> None:
    """Of all setups around a lake: a model knows their probabilities, draws by them, and learns
    nothing from the lake; barrage-blocked has lakes, too."""
    variant = replace(small(1, 1, 2), lakes=(1,))
    every = [setup for setup in every_setup(variant) if setup[1] == NO_PIECE]
    model = wild(variant)
    source = ConditionedSetups(ModelPlacer(model, 1), constraints_of(variant), 1)
    p = np.exp(source.logprobs(np.array(every)))
    assert p.sum() == pytest.approx(1, abs=1e-4) and p.max() > 3 * p.min()
    counts = (drawn(source, 2000)[:, None] == every).all(2).sum(0)
    assert counts.sum() == 2000
    assert (abs(counts - 2000 * p) < 5 * np.sqrt(2000 * p * (1 - p)) + 1).all()
    own = _slopes(model, np.array(every), np.random.default_rng(1))[0]
    assert not own[:, :, 1].any() and own[:, :, 0].any()
    constraints = constraints_of(
        variant, ["D=A1,C1"]
    )  # lakes are none of the policy's mass that is cut off
    met = constraints.met(np.array(every))
    given = drawn(ConditionedSetups(source.placer, constraints, 1), 500)
    counts = (given[:, None] == every).all(2).sum(0)
    p = p * met / p[met].sum()
    assert (abs(counts - 500 * p) < 5 * np.sqrt(500 * p * (1 - p)) + 1).all()
    blocked = VARIANTS["barrage-blocked"]
    source = ConditionedSetups(ModelPlacer(SetupModel(blocked), 1), constraints_of(blocked), 1)
    assert source.logprobs(source.draw(0, 3)) == pytest.approx(-math.log(how_many(blocked)), 1e-5)


def wild(variant: Variant) -> SetupModel:
    """Without a file to learn from."""
    model, random = SetupModel(variant), np.random.default_rng(3)
    for part in model.weights():
        part += random.normal(size=part.shape).astype(np.float32) / 2
    return model


def test_slopes_are_slopes() -> None:
    """The gradient against differences of -log p, where no pieces are equal."""
    variant = small(1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1)
    setups = every_setup(variant)[[3, 40, 41, 200]]
    model, random = wild(variant), np.random.default_rng(3)

    def loss() -> float:
        return -float(
            PlacedSetups(ModelPlacer(model, 1), constraints_of(variant)).logprobs(setups).mean()
        )

    for part, slope in zip(model.weights(), _slopes(model, setups, random), strict=True):
        for index in np.argsort(-abs(slope.reshape(-1)))[[0, 3, 10]]:
            flat = part.reshape(-1)
            before = flat[index]
            flat[index] = before + 0.02
            above = loss()
            flat[index] = before - 0.02
            assert (above - loss()) / 0.04 == pytest.approx(slope.reshape(-1)[index], abs=2e-3)
            flat[index] = before


def test_constraints_are_conditions(short: None) -> None:
    """The same as throwing away what does not meet them, though what is asked for is placed last
    and unlikely; plain placing is not the same."""
    variant = VARIANTS["mini"]
    seen = guarded(variant, 800, 5)
    constraints = ["C=A2..F2", "K=A1,B1"]
    source = source_of(variant, seen, *constraints)
    free = PlacedSetups(source.placer, constraints_of(variant))
    thrown = np.concatenate([free.draw(first, 2000) for first in range(0, 12000, 2000)])
    wanted = thrown[source.constraints.met(thrown)]
    assert 200 < len(wanted) < 6000
    made = drawn(source, 1000)
    assert source.constraints.met(made).all()
    plain = PlacedSetups(source.placer, source.constraints).draw(0, 3000)

    def distance(setups: np.ndarray) -> float:
        """Between heat maps: the greatest difference of shares."""
        maps = [figures(variant, some).maps / len(some) for some in (setups, wanted)]
        return float(abs(maps[0] - maps[1]).max())

    error = 4 * math.sqrt(0.25 / len(wanted) + 0.25 / 1000)
    assert distance(made) < error
    assert distance(plain) > distance(made)
    with pytest.raises(UsageError, match="not known under --fix and --forbid"):
        source.logprobs(made)


@pytest.mark.parametrize("name", ["nano", "duel"])
def test_one_setup_is_enough_for_a_model(name: str, short: None) -> None:
    variant = VARIANTS[name]
    seen = UniformSetups(constraints_of(variant), 1).draw(0, 1)
    made = source_of(variant, seen).draw(0, 5)
    assert all((np.sort(setup) == np.sort(seen[0])).all() for setup in made)


def test_setups_of_people(shared: pathlib.Path) -> None:
    """Barrage: fitted to 3,100 setups of Gravon's players, compared with the other 546 (whose own
    standard error is up to 2.1 points): heat maps within 5 points, and the figures of section 3.3.1
    far nearer to people's than uniform's are."""
    variant = VARIANTS["barrage"]
    with gzip.open(shared / "data" / "human_barrage.setups.gz") as stream:
        people = np.stack(all_setups(stream, "people", variant))
    people = people[np.random.default_rng(1).permutation(len(people))]
    seen, held_out = people[:3100], people[3100:]
    source = source_of(variant, seen)
    mine, theirs = figures(variant, drawn(source, 4000)), figures(variant, held_out)
    assert abs(mine.maps / mine.count - theirs.maps / theirs.count).max() < 0.05
    found, wanted = mine.figures(), theirs.figures()
    for name in (
        "flag on the back rank",
        "no bomb beside the flag",
        "bombs on the front rank, of all",
        "marshal and general on different wings",
        "spy within 2 of a general or colonel",
        "miners on the back rank, of all",
    ):
        assert abs(found[name] - wanted[name]) < 0.065, name
    for name in ("distance of spy and marshal, mean", "distance of spy and general, mean"):
        assert abs(found[name] - wanted[name]) < 0.3, name
    logprobs = source.logprobs(held_out)
    assert -22 < logprobs.mean() < -20  # uniform: -28.1
