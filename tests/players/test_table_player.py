"""Policies from tables at the board."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from running import run
from stratkit.engine import Batch, Game
from stratkit.engine.batch import CHANCE, OVER
from stratkit.errors import StratkitError
from stratkit.players.factory import open_player
from stratkit.players.player import Views, take_seat
from stratkit.players.registry import parse_player
from stratkit.storage.sets import NO_SET, information_sets


def save(path: pathlib.Path, game: str, policy: np.ndarray, **more: Any) -> None:
    says = {"version": 1, "kind": "table", "game": game, **more}
    save_file({"policy": policy}, path, {"stratkit": json.dumps(says)})


def drawn(name: str, seed: int) -> np.ndarray:
    """A policy of the game's choices, none like another."""
    first = information_sets(Game(name)).first
    x = np.random.default_rng(seed).random(first[-1]) ** 2 + 1e-3
    return np.asarray(x / np.repeat(np.add.reduceat(x, first[:-1]), np.diff(first)))


def by_memory(game: Game, policy: np.ndarray) -> dict[Any, np.ndarray]:
    """The probabilities of actions by who acts and all that it saw and did, by a walk."""
    known: dict[Any, np.ndarray] = {}

    def walk(batch: Batch, memory: tuple[Any, Any], at: int) -> int:
        actor = int(batch.actors()[0])
        if actor == OVER:
            return at
        actions = np.flatnonzero(batch.legal()[0])
        key = (memory[actor], batch.observe()[0].tobytes()) if actor != CHANCE else None
        if key is not None and (actor, key) not in known:
            known[actor, key] = np.zeros(game.actions)
            known[actor, key][actions] = policy[at : at + len(actions)]
            at += len(actions)
        for action in actions:
            own = tuple((key, int(action)) if side == actor else memory[side] for side in (0, 1))
            below = Batch(game, 1)
            below.copy_row(0, batch, 0)
            below.apply(np.array([action], np.int32))
            at = walk(below, (own[0], own[1]), at)
        return at

    assert walk(Batch(game, 1), ((), ()), 0) == len(policy)
    return known


def by_sight(game: Game, policy: np.ndarray) -> dict[Any, np.ndarray]:
    """The same by what is seen alone, in the page's order."""
    seen, legal = information_sets(game).views(0, 10**6)
    probabilities = np.zeros(legal.shape)
    probabilities[legal.astype(bool)] = policy
    return {row.tobytes(): p for row, p in zip(seen, probabilities, strict=True)}


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars_dice:1x3", "dark_hex:2"])
def test_it_draws_by_the_tables_probabilities(name: str, tmp_path: pathlib.Path) -> None:
    """mu is that of the information set, with both seats and several games at a time."""
    game, policy = Game(name), drawn(name, 3)
    save(tmp_path / "t", name, policy)
    remembers = name in ("kuhn", "leduc")
    known = (by_memory if remembers else by_sight)(game, policy)
    player: Any = open_player(parse_player(f"table:{tmp_path / 't'}"), game, 5, 64).player
    random, chosen = np.random.default_rng(1), set()
    for number in range(40):
        batch, memory, moves = Batch(game, 1), [(), ()], 0
        seats = [take_seat(player, number, side) for side in (0, 1)]
        while (actor := int(batch.actors()[0])) != OVER:
            if actor == CHANCE:
                action = int(random.choice(np.flatnonzero(batch.legal()[0])))
            else:
                decision = player.act(Views.of_one(batch, number, moves))
                action, seen = int(decision.actions[0]), batch.observe()[0].tobytes()
                key: Any = (actor, (memory[actor], seen)) if remembers else seen
                assert decision.mu[0] == pytest.approx(known[key][action], rel=1e-5)
                memory[actor] = ((memory[actor], seen), action)
                chosen.add((key, action))
            batch.apply(np.array([action], np.int32))
            moves += 1
        for seat in seats:
            player.end(*seat)
    assert len(chosen) > 10


@pytest.mark.parametrize(
    "name", ["kuhn", "leduc", "liars_dice:1x3", "liars_dice:2x2", "dark_hex:2"]
)
def test_sets_are_found_by_what_is_seen(name: str) -> None:
    sets = information_sets(Game(name))
    seen, legal = sets.views(0, len(sets))
    np.testing.assert_array_equal(np.diff(sets.first), legal.sum(1))
    players, before = seen[:, 1].astype(np.int64), np.full(len(sets), -1)
    if name in ("kuhn", "leduc"):
        tree: Any = sets
        before = tree.tree.before.astype(np.int64) - 1
    np.testing.assert_array_equal(sets.find(players, before, seen), np.arange(len(sets)))
    odd = seen.copy()
    odd[:, 2:] = 2
    assert (sets.find(players, before, odd) == NO_SET).all()


def test_a_table_meets_others_and_learners(tmp_path: pathlib.Path) -> None:
    """One that always folds loses each ante; keys and mixtures take it, as any PLAYER."""
    table, games = tmp_path / "folds", tmp_path / "g.jsonl"
    save(table, "kuhn", np.tile([1.0, 0.0], 12))
    options = ("--game", "kuhn", "-n", 20, "--seed", 1, "-o", games)
    done = run("match", f"name=meek,table:{table}", "random", *options)
    assert done.status == 0 and done.err.startswith("meek - random:")
    lines = [json.loads(line) for line in games.read_text().splitlines()[1:]]
    assert all(abs(value) == 1 for line in lines for value in line["returns"])
    (tmp_path / "m.mix").write_text(f"1 table:{table}\n")
    done = run("exploit", "--json", "kuhn", f"table:{table}", f"mix={tmp_path / 'm.mix'}")
    one, other = (policy["nash_conv"] for policy in json.loads(done.out)["policies"])
    assert one == pytest.approx(other, abs=1e-12) and one > 1
    done = run("selfplay", "--game", "kuhn", "-n", 4, "--opponent", f"table:{table}", "-o", "-")
    assert done.status == 0, done.err


@pytest.mark.parametrize(
    ("game", "policy", "said"),
    [
        ("leduc", np.full(24, 0.5), "a table of leduc, not of kuhn"),
        ("kuhn", np.array([np.nan, *[0.5] * 23]), "information set 0, which sees 1 0 1 0 0 "),
        ("kuhn", np.array([0.4, *[0.5] * 23]), "the probabilities sum to 0.9, not to 1"),
        ("kuhn", np.full(22, 0.5), "it has 22 choices, and kuhn has 24"),
    ],
)
def test_one_line_says_what_is_wrong(
    game: str, policy: np.ndarray, said: str, tmp_path: pathlib.Path
) -> None:
    save(tmp_path / "t", game, policy)
    done = run("match", f"table:{tmp_path / 't'}", "random", "--game", "kuhn", "-n", 2, "-o", "-")
    assert done.status == 1 and said in done.error_line
    assert done.error_line.startswith(f"match: {tmp_path / 't'}: ")


def test_other_rules_and_later_beginnings_are_refused(tmp_path: pathlib.Path) -> None:
    save(tmp_path / "t", "kuhn", np.full(24, 0.5))
    kuhn, text = Game("kuhn"), f"table:{tmp_path / 't'}"
    done = run("match", text, "random", "--game", "barrage", "-n", 2, "-o", "-")
    assert done.error_line == f"match: {tmp_path / 't'}: a table of kuhn, not of barrage"
    player = open_player(parse_player(text), kuhn, 1, 64).player
    batch = Batch(kuhn, 1)
    for action in (0, 1, 0, 1):  # cards, a pass, a bet: the first player acts a second time
        batch.apply(np.array([action], np.int32))
    with pytest.raises(StratkitError, match="from their beginning"):
        player.act(Views.of_one(batch, 0, 4))
