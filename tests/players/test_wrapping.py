"""Who plays through others hands on all that they say."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from stratkit.engine import Game, observation_dtype
from stratkit.engine.stratego import variant
from stratkit.notation.setups import parse_setup
from stratkit.players.mixture import mixed
from stratkit.players.player import Decision, Player, Views
from stratkit.setups.told import ToldSetup
from stratkit.storage.columns import PolicyTargets

MINI = Game("mini")
N = 40


class Saying(Player):
    """Says something of every field, other things in every game."""

    def act(self, views: Views) -> Decision:
        games = views.games
        rest = games % 5
        return Decision(
            games.astype(np.int32),
            (1 / (games + 1)).astype(np.float32),
            values=games.astype(np.float32),
            resigned=rest == 0,
            targets=PolicyTargets.of(
                [([0, g + 1], [0.5, 0.5]) if g % 5 == 1 else None for g in games.tolist()]
            ),
            root_value=np.where(rest == 1, games, np.nan).astype(np.float32),
            agreed=rest == 2,
            out_of_time=rest == 3,
        )

    def act_with_values(self, views: Views) -> Decision:
        return self.act(views)


class Silent(Player):
    """Says nothing but actions."""

    def act(self, views: Views) -> Decision:
        return Decision(np.full(len(views), 7, np.int32), np.ones(len(views), np.float32))


def views_of(phases: np.ndarray) -> Views:
    n = len(phases)
    observations = np.zeros((n, MINI.observation_bytes), np.uint8)
    dtype = observation_dtype(variant("mini").squares)
    observations.view(dtype)["phase"].reshape(-1)[:] = phases
    legal = np.ones((n, MINI.actions), np.uint8)
    return Views(np.arange(n), np.zeros(n, np.int8), np.arange(n, dtype=np.int32), legal,
                 observations)  # fmt: skip


def said(decision: Decision, row: int) -> dict[str, object]:
    """All fields of a view."""
    found = {field.name: getattr(decision, field.name) for field in fields(decision)}
    targets = found.pop("targets").take(slice(row, row + 1))
    of_targets = [getattr(targets, field.name).tolist() for field in fields(targets)]
    return {**{name: str(value[row]) for name, value in found.items()}, "targets": str(of_targets)}


@pytest.mark.parametrize("values", [False, True])
def test_a_mixture_hands_on_what_its_members_say(values: bool) -> None:
    views = views_of(np.zeros(N))
    player, alone = mixed([Saying(), Saying()], [0.5, 0.5], seed=3), Saying().act(views)
    assert len(set(player.drawn(views.games, views.sides).tolist())) == 2
    whole = player.act_with_values(views) if values else player.act(views)  # type: ignore[attr-defined]
    for row in range(N):
        assert said(whole, row) == said(alone, row)


def test_what_only_one_member_says() -> None:
    """Nobody else has agreed, searched or resigned; values are of all or of nobody."""
    views = views_of(np.zeros(N))
    player, alone = mixed([Silent(), Saying()], [0.5, 0.5], seed=3), Saying().act(views)
    whole, speaks = player.act(views), player.drawn(views.games, views.sides) == 1
    assert whole.values is None and 0 < speaks.sum() < N
    for name in ("resigned", "agreed", "out_of_time"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(alone, name) & speaks)
    assert whole.targets is not None and whole.root_value is not None and alone.targets is not None
    np.testing.assert_array_equal(whole.targets.count, alone.targets.count * speaks)
    np.testing.assert_array_equal(np.isfinite(whole.root_value), (views.games % 5 == 1) & speaks)


@pytest.mark.parametrize("values", [False, True])
def test_who_was_told_its_setup_hands_on_what_it_says(values: bool) -> None:
    """In games that are in play, while others deploy."""
    deploys = np.arange(N) % 2 == 0
    views = views_of(deploys)
    setup = parse_setup("MBECDKLAAADA", variant("mini"))
    player, alone = ToldSetup(Saying(), "mini", setup), Saying().act(views)
    whole = player.act_with_values(views) if values else player.act(views)
    for row in np.flatnonzero(~deploys).tolist():
        assert said(whole, row) == said(alone, row)
    for name in ("resigned", "agreed", "out_of_time"):
        assert not getattr(whole, name)[deploys].any()
    assert whole.targets is not None and whole.root_value is not None
    assert not whole.targets.count[deploys].any() and np.isnan(whole.root_value[deploys]).all()
