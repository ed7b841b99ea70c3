"""The player by rules of thumb in Diplomacy: what it does where that is plain, and that it wins."""

from __future__ import annotations

import numpy as np
import pytest

from running import run
from stratkit.engine import Batch, Game, sample
from stratkit.engine.diplomacy import (
    ASK_WHITHER,
    DISBAND,
    HOLD,
    MOVE,
    POWER,
    SUPPORT_MOVE,
    VIEW,
    map_of,
)
from stratkit.errors import InputError
from stratkit.games.diplomacy.dumbbot import DumbBot
from stratkit.games.diplomacy.heuristic import GreedyBlueprint
from stratkit.games.diplomacy.orders import parse_order
from stratkit.games.diplomacy.scored_orders import ScoredOrders

GAME = Game("diplomacy:fva")
BLUEPRINT = GreedyBlueprint(GAME)
LOCATION = 10  # the action of location 0


def play(orders: list[str]) -> Batch:
    """The position after these orders of both powers."""
    batch, map_ = Batch(GAME, 1), map_of(GAME)
    for _ in orders:
        view = seen(batch)
        position, at = np.ascontiguousarray(view["position"]), int(view["at"][0])
        place = map_.locations[at]
        (text,) = (order for order in orders if order.split()[1] == place)
        verb, whom, whither = parse_order(map_, position, int(view["power"][0]), text)[1]
        for action in (verb, *(LOCATION + x for x in (whom, whither) if x != 255)):
            batch.apply(np.array([action], np.int32))
    return batch


def seen(batch: Batch) -> np.ndarray:
    return np.ascontiguousarray(batch.observe()[:, GAME.shape[0] :]).view(VIEW)[:, 0]


def likely(batch: Batch, rules: ScoredOrders = BLUEPRINT) -> list[str]:
    """The most probable order of each unit of the power that acts, until another one acts."""
    map_, found, power = map_of(GAME), [], batch.actors()[0]
    words: list[int] = []
    while batch.actors()[0] == power:
        at = int(seen(batch)["at"][0])
        policy = rules.evaluate(batch.observe(), batch.legal())[0][0]
        assert policy.sum() == pytest.approx(1) and not policy[batch.legal()[0] == 0].any()
        words.append(int(policy.argmax()))
        batch.apply(np.array([words[-1]], np.int32))
        if batch.actors()[0] != power or seen(batch)["at"][0] != at:
            names = [map_.locations[word - LOCATION] for word in words[1:]]
            found.append(" ".join([map_.locations[at], str(words[0]), *names]))
            words = []
    return found


def test_it_takes_the_centres_that_are_near_each_once() -> None:
    spring = likely(play([]))
    goes = [order.split()[-1] for order in spring]
    assert len(set(goes)) == 3 and "TRI" not in goes  # nobody follows another one
    hold = ["A BUD - RUM", "F TRI - VEN", "A VIE - TYR"]
    france = ["F BRE - MAO", "A MAR - SPA", "A PAR - PIC"]
    batch = play([*hold, *france])
    fall = likely(batch)
    assert "RUM 0" in fall  # it stays, and so takes the centre
    assert "TYR 1 MUN" in fall
    fall = likely(batch)
    assert "SPA 0" in fall and "PIC 1 BEL" in fall and "MAO 1 POR" in fall


def beside_munich(burgundy: list[int]) -> Batch:
    """Ruhr is asked for, next to an Austrian army in Munich; Burgundy has ordered this."""
    austria = ["A BUD - GAL", "F TRI - ALB", "A VIE - TYR", "A GAL - RUM", "F ALB - GRE"]
    france = ["F BRE - MAO", "A MAR - GAS", "A PAR - BUR", "A BUR - RUH", "A GAS - BUR"]
    batch, map_ = play([*austria, "A TYR - MUN", *france, "F MAO - POR"]), map_of(GAME)
    while (place := map_.locations[seen(batch)["at"][0]]) != "RUH":
        for action in burgundy if place == "BUR" else [HOLD]:
            batch.apply(np.array([action], np.int32))
    return batch


ORDERS = [HOLD], [MOVE, LOCATION + map_of(GAME).number["MUN"]]


def test_it_supports_an_own_attack() -> None:
    policies = [BLUEPRINT.policy(b.observe(), b.legal())[0] for b in map(beside_munich, ORDERS)]
    assert policies[0][SUPPORT_MOVE] < 1e-6 and policies[1][SUPPORT_MOVE] > 0.05
    batch = beside_munich(ORDERS[1])
    batch.apply(np.array([SUPPORT_MOVE], np.int32))
    assert likely(batch)[0] == f"RUH {LOCATION + map_of(GAME).number['BUR']} MUN"


@pytest.mark.parametrize("rules", [GreedyBlueprint, DumbBot])
@pytest.mark.parametrize("name", ["fva", "standard"])
def test_a_row_has_the_same_policy_alone_and_among_others(
    name: str, rules: type[ScoredOrders]
) -> None:
    """Rows of games that go by chance and by the rules in turn, of all stages."""
    game, rng = Game(f"diplomacy:{name}"), np.random.default_rng(1)
    blueprint, batch = rules(game), Batch(game, 16)
    kept: list[tuple[np.ndarray, np.ndarray]] = []
    for number in range(240):
        observations, legal = batch.observe(), batch.legal()
        policy = blueprint.evaluate(observations, legal)[0] if number % 2 else None
        numbers, games = np.full(16, number, np.int32), np.arange(16)
        batch.apply(sample(policy, legal, 3, games, numbers)[0])
        rare = np.flatnonzero(legal[:, DISBAND])  # after few phases
        kept += [(observations[i], legal[i]) for i in (*rng.integers(16, size=2), *rare)]
    observations, legal = (np.stack(part) for part in zip(*kept, strict=True))
    views = observations[:, game.shape[0] :].copy().view(VIEW)[:, 0]
    assert set(views["stage"]) == {0, 1, 2} and {0, 2, 4} <= set(views["position"]["phase"])
    together = blueprint.evaluate(observations, legal)[0]
    for i, row in enumerate(together):
        (alone,) = blueprint.evaluate(observations[i : i + 1], legal[i : i + 1])[0]
        np.testing.assert_allclose(row, alone, atol=1e-6)
    np.testing.assert_array_equal(together > 0, legal > 0)
    (helping,) = np.nonzero((views["verb"] == SUPPORT_MOVE) & (views["stage"] == ASK_WHITHER))
    helped = views["position"]["unit"][helping, views["whom"][helping]]
    for i in helping[helped & POWER != views["power"][helping]]:  # others, all for the same nothing
        np.testing.assert_allclose(together[i], legal[i] / legal[i].sum(), atol=1e-6)


def test_values_are_shares_of_squares() -> None:
    assert BLUEPRINT.values(Batch(GAME, 1).observe()).tolist() == [0.0]
    batch = play(["A BUD - RUM", "F TRI - ALB", "A VIE - TYR", "F BRE H", "A MAR H", "A PAR H"])
    (austria,) = BLUEPRINT.values(batch.observe())
    assert austria == pytest.approx((16 - 9) / (16 + 9))
    for _ in range(3):
        batch.apply(np.zeros(1, np.int32))
    assert BLUEPRINT.values(batch.observe())[0] == pytest.approx(-(16 - 9) / (16 + 9))
    with pytest.raises(InputError, match="kuhn is no game of Diplomacy"):
        map_of(Game("kuhn"))


def test_it_beats_chance_and_can_search() -> None:
    match = ("match", "heuristic", "random", "--game", "diplomacy:fva", "--seed", 1, "-o", "-")
    done = run(*match, "-n", 4)
    assert done.status == 0 and "heuristic - random: +4 =0 -0" in done.err
    rm = "name=rm,search=rm,candidates=6,samples=24,iterations=64,depth=0,heuristic"
    tiny = ("--game", "diplomacy:tiny", "-n", 2, "--seed", 1, "-o", "-")
    done = run("match", rm, "heuristic", *tiny)
    assert done.status == 0 and "depth=0" in done.out


def test_dumbbot_takes_centres_and_builds() -> None:
    dumbbot = DumbBot(GAME)
    batch = play(
        ["A BUD - RUM", "F TRI - VEN", "A VIE - TYR", "F BRE - MAO", "A MAR - SPA", "A PAR - PIC"]
    )
    austria, france = likely(batch, dumbbot), likely(batch, dumbbot)
    assert {"TYR 1 MUN", "VEN 0"} <= set(austria)
    assert {"MAO 1 POR", "PIC 1 BEL", "SPA 0"} <= set(france)
    assert sorted(order.split()[1] for order in likely(batch, dumbbot)) == ["8", "8", "8"]  # armies
    homes = [order.split()[-1] for order in likely(batch, dumbbot)]
    assert sorted(homes) == ["BRE", "MAR", "PAR"]
    assert len(likely(batch, dumbbot)) == len(likely(batch, dumbbot)) == 6


def test_dumbbot_beats_chance_and_refuses_other_games() -> None:
    match = ("match", "dumbbot", "random", "--seed", 1, "-o", "-")
    done = run(*match, "--game", "diplomacy:fva", "-n", 4)
    assert done.status == 0 and "dumbbot - random: +4 =0 -0" in done.err
    done = run(*match, "--game", "mini", "-n", 2)
    assert done.status == 1 and "dumbbot does not play mini" in done.err


def test_dumbbot_supports_an_own_unit_where_an_enemy_may_be_as_strong() -> None:
    dumbbot, chances = DumbBot(GAME), []
    for batch in map(beside_munich, ORDERS):
        policy = dumbbot.policy(batch.observe(), batch.legal())[0]
        chances.append(policy[SUPPORT_MOVE] / policy[HOLD])
    assert chances[0] < 1e-6 and chances[1] > 1  # of the same place, Munich against Ruhr
