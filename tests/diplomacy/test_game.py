"""Diplomacy as a game behind the same table as all others."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from diplomacy.test_adjudication import POWERS, SMALL, board
from running import run
from stratkit.engine import Batch, Game, Tree, sample
from stratkit.engine.diplomacy import (
    CONVOY,
    DISBAND,
    HOLD,
    NONE,
    POSITION,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    VERBS,
    DiplomacyMap,
    map_text,
)
from stratkit.errors import InputError
from stratkit.games.diplomacy.orders import orders_array
from stratkit.games.heuristic import UniformBlueprint
from stratkit.search.equilibrium import Cells, candidates, solve
from stratkit.search.regret_matching import exploitability
from stratkit.solve.exploitability import evaluate
from stratkit.solve.solver import open_solver

FIRST = len(VERBS)  # the action of location 0


def seen_position(batch: Batch) -> np.ndarray:
    first = batch.game.shape[0]
    return batch.observe()[0, first : first + POSITION.itemsize].copy().view(POSITION)


def random_action(batch: Batch, seed: int, number: int) -> int:
    zero, numbers = np.zeros(1, np.int64), np.array([number], np.int32)
    return int(sample(None, batch.legal(), seed, zero, numbers)[0][0])


def split(actions: list[int]) -> list[tuple[int, int, int]]:
    """Orders from actions."""
    orders, rest = [], list(actions)
    while rest:
        verb, whom, whither = rest.pop(0), NONE, NONE
        if verb in (SUPPORT_HOLD, SUPPORT_MOVE, CONVOY):
            whom = rest.pop(0) - FIRST
        if verb not in (HOLD, DISBAND, SUPPORT_HOLD):
            whither = rest.pop(0) - FIRST
        orders.append((verb, whom, whither))
    return orders


def ordered(map_: DiplomacyMap, position: np.ndarray, power: int) -> list[int]:
    """The provinces that a power orders, as the game asks for them."""
    found = []
    for p in range(map_.provinces):
        legal = map_.legal(position, p)
        unit = int(position["unit" if position["phase"][0] in (0, 2) else "dislodged"][0, p])
        if position["phase"][0] == 4:
            unit = int(position["unit"][0, p]) or 0x80 | int(map_.home[p])
        useful = len(legal) > (position["phase"][0] in (1, 3))  # a lone disband is not asked
        if useful and unit & 7 == power:
            found.append(p)
    return found


@pytest.mark.parametrize(("name", "turns"), [("standard", 30), ("fva", 40), ("tiny", 5)])
def test_a_game_goes_as_its_orders_are_carried_out(name: str, turns: int) -> None:
    game, map_ = Game(f"diplomacy:{name}", {"years": 9}), board(name)
    batch, position, number = Batch(game, 1), map_.start(), 0
    assert game.players == len(map_.powers) and game.actions == FIRST + len(map_.locations)
    for turn in range(turns):
        if batch.actors()[0] < 0:
            break
        assert batch.turns()[0] == batch.plies()[0] and seen_position(batch) == position
        now, given = batch.turns()[0], {}
        while batch.actors()[0] >= 0 and batch.turns()[0] == now:
            power, actions = int(batch.actors()[0]), []
            while batch.actors()[0] == power and batch.turns()[0] == now:
                actions.append(random_action(batch, turn, number))
                batch.apply(np.array(actions[-1:], np.int32))
                number += 1
            orders = split(actions)
            places = ordered(map_, position, power)
            assert len(orders) <= len(places)
            assert len(orders) == len(places) or position["phase"][0] == 4
            given.update(zip(places, orders, strict=False))
        before = position
        position = map_.resolve(position, orders_array(map_, given.items()))
        while position["phase"][0] in (0, 2) and not (position["unit"] > 0).any():
            position = map_.resolve(position, orders_array(map_, []))
        assert before["year"][0] < 9 and number <= (game.max_length or 0)
    assert turn > 3


def test_orders_of_a_turn_are_unseen() -> None:
    game = Game("diplomacy:fva")
    seen = []
    for seed in range(4):
        batch, number = Batch(game, 1), 0
        while batch.actors()[0] == 0:
            batch.apply(np.array([random_action(batch, seed, number)], np.int32))
            number += 1
        seen.append((batch.observe()[0].tobytes(), batch.legal()[0].tobytes()))
    assert len(set(seen)) == 1


@pytest.mark.parametrize("name", ["pure", "fva"])
def test_returns(name: str) -> None:
    game, n = Game(f"diplomacy:{name}", {"years": 3, "max_quiet": 0}), 20
    batch, games = Batch(game, n), np.arange(n, dtype=np.int64)
    for number in range(game.max_length or 0):
        if (batch.actors() < 0).all():
            break
        assert not batch.returns()[batch.actors() >= 0].any()
        chosen, _ = sample(None, batch.legal(), 7, games, np.full(n, number, np.int32))
        batch.apply(chosen)
    returns = batch.returns()
    endings = {game.endings[code] for code in batch.endings()}
    assert endings <= {"solo", "max_years"} and "max_years" in endings
    total = 0 if game.players == 2 else 1
    assert returns.sum(1) == pytest.approx([total] * n) and len(np.unique(returns)) > 2
    solo = batch.endings() == game.endings.index("solo")
    assert (returns[solo].max(1) == 1).all() and (np.abs(returns[~solo]) < 1).all()


def test_a_solo_takes_all(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "x.map"
    file.write_text(SMALL + POWERS.replace("A AA", "A AA F SS"))
    game = Game(f"diplomacy:{file}", {"max_quiet": 2})
    batch = Batch(game, 1)
    aa, bb, ss = (FIRST + i for i in range(3))
    move, support = 1, SUPPORT_MOVE
    for action in (move, bb, support, aa, bb, HOLD):  # AA - BB, SS supports it; BB holds
        batch.apply(np.array([action], np.int32))
    assert game.endings[batch.endings()[0]] == ""
    number = 0
    while batch.actors()[0] >= 0:
        legal = np.flatnonzero(batch.legal()[0])
        batch.apply(np.array([legal[0]], np.int32))  # holds, or the first there is
        number += 1
    assert game.endings[batch.endings()[0]] == "solo" and number < 20
    assert batch.returns()[0].tolist() == [1, -1]
    assert ss


def test_the_tiny_map_opens_as_a_tree() -> None:
    tree = Tree(Game("diplomacy:tiny"))
    assert 1000 < tree.histories < 5_000_000
    uniform = evaluate(tree, tree.uniform())
    solver = open_solver("cfr+", tree)
    for _ in range(8):
        solver.step()
    solved = evaluate(tree, solver.solution())
    assert solved.exploitability < 0.6 * uniform.exploitability


def test_the_first_turn_is_searched_as_the_simultaneous_one_it_is() -> None:
    """Whole orders of both powers by sampling; what pairs of them come to; mixtures of them."""
    game, map_ = Game("diplomacy:tiny"), board("tiny")
    root, blueprint = Batch(game, 1), UniformBlueprint()
    blue, red = candidates(root, blueprint, samples=400, max_candidates=6, seed=1)
    for power, some in enumerate((blue, red)):
        assert len(some) == 6 and (np.diff(some.logprobs) <= 0).all()
        for actions in some.actions:
            orders = split(actions[actions >= 0].tolist())
            places = ordered(map_, map_.start(), power)
            assert all(
                map_.is_legal(map_.start(), p, o) for p, o in zip(places, orders, strict=True)
            )
    table = Cells(blueprint, 4).table(root, blue.actions, red.actions, seed=1)
    mixtures = solve(table, 2000, seed=1)
    assert table.std() > 0 and exploitability(table, *mixtures) < 0.05


def test_features_are_finite_and_differ() -> None:
    game = Game("diplomacy:standard")
    batch = Batch(game, 1)
    from stratkit.engine import expand_planes

    rows = []
    for number in range(60):
        rows.append(expand_planes(game, batch.observe())[0])
        batch.apply(np.array([random_action(batch, 2, number)], np.int32))
    features = np.stack(rows)
    assert features.shape == (60, game.shape[0]) and np.isfinite(features).all()
    assert len(np.unique(features, axis=0)) == 60 and features.max() <= 22


def test_commands_play_and_learn_it(tmp_path: pathlib.Path) -> None:
    episodes, out = tmp_path / "x.eps", tmp_path / "run"
    played = run("selfplay", "--game", "diplomacy:tiny", "-n", 8, "--seed", 1, "-o", episodes)
    assert played.status == 0
    learned = run(
        *("train", episodes, "--out", out, "--steps", 2, "--batch", 4, "--net", "mlp:16"),
        *("--seed", 1),
    )
    assert learned.status == 0, learned.err


@pytest.mark.parametrize(
    ("name", "rules", "wrong"),
    [
        ("diplomacy:nothing", {}, "game diplomacy:nothing: No such file or directory"),
        ("diplomacy:fva", {"years": 0}, "rule years: a number from 1 to 250 is needed"),
        ("diplomacy:fva", {"plies": 3}, "unknown rule 'plies'"),
        ("diplomacy:/dev/zero", {}, "game diplomacy:/dev/zero: not a regular file"),
    ],
)
def test_what_is_no_game(name: str, rules: dict[str, int], wrong: str) -> None:
    with pytest.raises(InputError) as error:
        Game(name, rules)
    assert wrong in str(error.value)
    assert map_text("nothing") is None
