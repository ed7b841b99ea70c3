"""All public functions of the engine and of what `import stratkit` promises, with a right call of
each. `wrong_arguments.py` calls them wrongly.
"""

from __future__ import annotations

import functools
import importlib
import pathlib
import pkgutil
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

import stratkit.engine
from solve.small_games import dense
from stratkit.engine import Batch, Game, PublicTree, Subgames, Tree
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.best_response import BestResponse
from stratkit.engine.dice import DiceResponses, DiceSets, DiceUpdate
from stratkit.engine.diplomacy import DiplomacyMap, map_text
from stratkit.engine.fromto import WholeFromTo, fromto_floats
from stratkit.engine.graph import WholeGraph, graph_floats
from stratkit.engine.heads import HeadViews
from stratkit.engine.history import Walk
from stratkit.engine.library import lib
from stratkit.engine.mcts import SearchTrees
from stratkit.engine.mlp import MLPLayers
from stratkit.engine.phantom import PhantomResponses, PhantomViews
from stratkit.engine.stratego import VARIANTS, Position
from stratkit.notation.board import Board

MODULES = [
    *(f"stratkit.engine.{m.name}" for m in pkgutil.iter_modules(stratkit.engine.__path__)),
    *("stratkit.notation.board", "stratkit.models.trained_network", "stratkit.convert.arrays"),
    "stratkit.adapters.pettingzoo",
]
# Nobody else may import them.
NO_DOORS = {f"stratkit.engine.{name}" for name in ("library", "_engine", "python_game")}
Call = tuple[Callable[..., Any], dict[str, Any]]

MINI, NANO = VARIANTS["mini"], VARIANTS["nano"]


def zeros(dtype: str, *shape: int) -> np.ndarray:
    return np.zeros(shape, dtype)


def diplomacy_views() -> dict[str, Any]:
    views = Batch(game_of("diplomacy:tiny"), 2)
    return {"game": game_of("diplomacy:tiny"), "observations": views.observe()}


def game_of(name: str = "mini") -> Game:
    return Game(name)


def batch(name: str = "mini", rows: int = 3) -> Batch:
    """In play, if it is a board."""
    out = Batch(Game(name), rows)
    for _ in range(2 * MINI.pieces if name == "mini" else 0):
        out.apply(out.legal().argmax(1).astype(np.int32))
    return out


tree = functools.cache(lambda: Tree(Game("kuhn")))
public_tree = functools.cache(lambda: PublicTree(Game("kuhn")))
dice_sets = functools.cache(lambda: DiceSets(Game("liars_dice:1x2")))
phantom_views = functools.cache(lambda: PhantomViews(Game("dark_hex:2")))
tiny = functools.cache(lambda: DiplomacyMap(map_text("tiny") or ""))


@functools.cache
def subgames() -> Subgames:
    return Subgames(public_tree(), np.array([public_tree().opening], np.int32), 1)


def hands(player: int = 0) -> np.ndarray:
    return np.full(subgames().hands[player], 0.5)


def choices() -> np.ndarray:
    return subgames().uniform()


def trees(asked: bool = False) -> SearchTrees:
    out = SearchTrees(Batch(Game("hex:3"), 2), 1, 20)
    if asked:
        out.begin(0, [[0], [4]], np.full((2, 2), 0.5, np.float32))
        out.ask()
    return out


def orders(n: int = 1) -> np.ndarray:
    out = np.full((n, tiny().provinces, 3), 255, np.uint8)
    out[:, :, 0] = 0
    return out


def placed() -> np.ndarray:
    """The actions of a game of nano up to the second ply."""
    one, actions = Batch(Game("nano"), 1), []
    for _ in range(2 * NANO.pieces + 4):
        actions.append(one.legal().argmax(1).astype(np.int32))
        one.apply(actions[-1])
    return np.concatenate(actions)


def setup(kind: Any = NANO) -> np.ndarray:
    from stratkit.engine.stratego import setup_of

    one, actions = Batch(Game(kind.name), 1), []
    for _ in range(kind.pieces):
        actions.append(one.legal().argmax(1).astype(np.int32))
        one.apply(actions[-1])
    return setup_of(kind, np.concatenate(actions))


def position() -> Position:
    return Position.of_setups(NANO, setup(), setup())


def board() -> Board:
    return Board("nano", setups=("MCL", "MCL"))


def bits(n: int = 3) -> dict[str, Any]:
    return {"games": zeros("int64", n), "numbers": zeros("int32", n)}


@functools.cache
def network() -> Any:
    return stratkit.load("barrage-easy", rows=2)


@functools.cache
def files() -> tuple[str, str]:
    """An episode file and a record, of one game each."""
    from running import run

    folder = pathlib.Path(tempfile.mkdtemp())
    run("selfplay", "--game", "nano", "-n", 1, "-o", folder / "x.eps")
    run("match", "random", "heuristic", "--game", "nano", "-n", 2, "-o", folder / "x.jsonl")
    return str(folder / "x.eps"), str(folder / "x.jsonl")


def views() -> dict[str, Any]:
    start = Batch(Game("barrage"), 2)
    return {"observations": start.observe(), "legal": start.legal()}


def env() -> Any:
    from stratkit.adapters.pettingzoo import GameEnv

    out = GameEnv("leduc")
    out.reset(seed=1)
    return out


def sequences() -> np.ndarray:
    return np.zeros(1 + len(tree().actions))


def packed(rows: int = 2) -> np.ndarray:
    return batch(rows=rows).observe()


def whole_arguments() -> dict[str, Any]:
    shape = game_of().shape
    weights = zeros("float32", fromto_floats(shape, 8, 1))
    return {"shape": shape, "channels": 8, "blocks": 1, "weights": weights, "mirrors": False}


def graph_arguments() -> dict[str, Any]:
    size: dict[str, Any] = {"game": game_of("diplomacy:tiny"), "channels": 16, "blocks": 1}
    weights = zeros("float32", graph_floats(**size, shares=True))
    return {**size, "weights": weights, "shares": True, "lanes": 1}


def head_views() -> HeadViews:
    """Three views of two boards of 20 squares and 8 channels."""
    numbers = (zeros("int64", 3) for _ in range(4))
    boards, counts = zeros("float32", 2, 20, 8), zeros("float32", 2, 51)
    return HeadViews(boards, counts, *numbers, zeros("float32", 3, 20, 3), zeros("uint8", 3, 20))


def head_weights() -> np.ndarray:
    return zeros("float32", lib.sk_heads_floats(20, 8))


def layer() -> tuple[np.ndarray, np.ndarray]:
    return zeros("float32", 3, 8), zeros("float32", 3)


EDGES, SETS = (lambda: tree().uniform()), (lambda: np.zeros(len(tree())))
KEEP, BOTH = (1.0, 1.0, 1.0), (lambda: (hands(0), hands(1)))

# A right call of each, made anew, because functions change what they get.
CALLS: dict[str, Callable[[], Any]] = {
    "Batch.__init__": lambda: (Batch, {"game": game_of(), "size": 2, "threads": 1}),
    "Batch.reset": lambda: (batch().reset, {"rows": np.array([0, 2])}),
    "Batch.start": lambda: (batch("nano").start, {"row": 0, "start": position().to_bytes()}),
    "Batch.save": lambda: (batch().save, {"row": 1}),
    "Batch.copy_row": lambda: copying(),
    "Batch.gathered": lambda: (Batch.gathered, {"parts": [(batch(), [0, 2])], "threads": 1}),
    "Batch.legal": lambda: (batch().legal, {"out": batch().legal()}),
    "Batch.observe": lambda: (batch().observe, {"out": batch().observe()}),
    "Batch.view": lambda: (
        batch().view,
        {"actors": zeros("int8", 3), "legal": batch().legal(), "packed": packed(3)},
    ),
    "Batch.apply": lambda: (batch().apply, {"actions": zeros("int32", 3) - 1}),
    "Batch.draw_chance": lambda: (
        batch("leduc").draw_chance,
        {"seed": 1, **bits(), "chosen": zeros("int32", 3)},
    ),
    "Batch.numbers": lambda: (
        batch("dark_hex:2:classical").numbers,
        {"rows": np.arange(3), "played": zeros("int32", 3)},
    ),
    "Batch.moves": lambda: (batch().moves, {"row": 0, "side": 0}),
    "Game.stored": lambda: (Game.stored, {"name": "mini", "rules": {"max_plies": 8}}),
    "Game.__init__": lambda: (Game, {"name": "mini", "rules": {"max_plies": 8}}),
    "recurrence": lambda: (
        stratkit.engine.recurrence,
        {"a": np.ones((2, 3)), "b": np.ones((2, 3)), "last": np.zeros(3)},
    ),
    "uniform": lambda: (stratkit.engine.uniform, {"seed": 1, **bits(), "stream": 0}),
    "uniform_rows": lambda: (
        stratkit.engine.uniform_rows,
        {"seed": 1, **bits(), "width": 2, "stream": 0, "stride": 3},
    ),
    "sample": lambda: (
        stratkit.engine.sample,
        {
            "probabilities": np.ones((3, 16), np.float32),
            "legal": np.ones((3, 16), np.uint8),
            "seed": 1,
            **bits(),
            "stream": 0,
        },
    ),
    "dirichlet": lambda: {"seed": 1, "game": 0, "number": 0, "shape": 0.5, "rows": 2, "n": 3},
    "Walk.of": lambda: (Walk.of, {"kind": NANO, "actions": placed(), "open_types": 0}),
    "Walk.setups": lambda: (
        Walk.of(MINI, np.empty(0, np.int32)).setups,
        {"worlds": batch(), "side": 0},
    ),
    "placing_actions": lambda: {"kind": NANO, "setups": setup()[None]},
    "past_actions": lambda: {"game": game_of("nano"), "actions": placed()},
    "known_actions": lambda: {"game": game_of("nano"), "actions": placed(), "player": 0},
    "observation_dtype": lambda: {"squares": 12},
    "number": lambda: {"packed": packed()[0].tobytes(), "at": 0},
    "expand_planes": lambda: {"game": game_of(), "packed": packed()},
    "board_planes": lambda: {"packed": packed(), "shape": game_of().shape},
    "board_features": lambda: {"packed": packed(), "shape": game_of().shape},
    "attack_outcomes": lambda: {"packed": packed(), "shape": game_of().shape},
    "move_outcomes": lambda: {
        "packed": packed(),
        "shape": game_of().shape,
        "moves": zeros("int32", 2, 3),
    },
    "residual_lanes": lambda: {"channels": 8},
    "residual_weights": lambda: {"filters": zeros("float32", 2, 8, 8, 3, 3)},
    "residual": lambda: {
        "boards": zeros("float32", 2, 4, 5, 8),
        "weights": zeros("float32", 2, 16, 8, 8),
        "biases": zeros("float32", 2, 8),
        "lanes": 1,
    },
    "residual_keep": lambda: {
        "boards": zeros("float32", 2, 4, 4, 8),
        "weights": zeros("float32", 2, 16, 8, 8),
        "biases": zeros("float32", 2, 8),
        "lanes": 1,
    },
    "residual_gradient": lambda: {
        "kept": zeros("float32", 3, 2, 4, 4, 8),
        "filters": zeros("float32", 2, 8, 8, 3, 3),
        "gradients": zeros("float32", 2, 4, 4, 8),
        "lanes": 1,
    },
    "fitting_lanes": lambda: {"channels": 8, "lanes": 1},
    "entry": lambda: {
        "features": zeros("float32", 2, 4, 5, 48),
        "counts": zeros("float32", 2, 51),
        "weights": zeros("float32", 48 + 51 + 20, 8),
        "lanes": 1,
    },
    "entry_gradient": lambda: {
        "features": zeros("float32", 2, 4, 5, 48),
        "counts": zeros("float32", 2, 51),
        "boards": zeros("float32", 2, 4, 5, 8),
        "gradients": zeros("float32", 2, 4, 5, 8),
        "lanes": 1,
    },
    "heads": lambda: {"views": head_views(), "weights": head_weights(), "lanes": 1},
    "heads_gradient": lambda: {
        "views": head_views(),
        "weights": head_weights(),
        "read": zeros("float32", 2, 3, 8),
        "of_logits": zeros("float32", 3, 20),
        "of_values": zeros("float32", 3),
        "lanes": 1,
    },
    "fromto_floats": lambda: {"shape": game_of().shape, "channels": 8, "blocks": 1},
    "WholeFromTo.__init__": lambda: (WholeFromTo, whole_arguments()),
    "WholeFromTo.evaluate": lambda: (
        WholeFromTo(**whole_arguments()).evaluate,
        {"packed": packed(), "legal": batch(rows=2).legal(), "values": True},
    ),
    "graph_floats": lambda: {
        "game": game_of("diplomacy:tiny"),
        "channels": 16,
        "blocks": 1,
        "shares": True,
    },
    "has_map": lambda: {"game": game_of()},
    "WholeGraph.__init__": lambda: (WholeGraph, graph_arguments()),
    "WholeGraph.evaluate": lambda: (
        WholeGraph(**graph_arguments()).evaluate,
        {
            "packed": diplomacy_views()["observations"],
            "legal": batch("diplomacy:tiny", rows=2).legal(),
            "values": True,
            "shares": True,
        },
    ),
    "MLPLayers.__init__": lambda: (MLPLayers, {"layers": [layer()]}),
    "MLPLayers.evaluate": lambda: (MLPLayers([layer()]).evaluate, {"packed": packed()}),
    "legal_softmax": lambda: {
        "logits": zeros("float32", 2, game_of().actions),
        "legal": batch(rows=2).legal(),
    },
    "distinct_views": lambda: {"observations": packed(), "legal": batch(rows=2).legal()},
    "has_worlds": lambda: {"game": game_of()},
    "hidden_types": lambda: {"batch": batch()},
    "begins_unsure": lambda: {
        "observations": batch().observe(),
        "types": stratkit.engine.hidden_types(batch()),
    },
    "assign_types": lambda: {
        "worlds": batch(),
        "types": stratkit.engine.hidden_types(batch()),
        "own": False,
    },
    "worlds": lambda: {
        "batch": batch(),
        "row": 0,
        "n": 2,
        "seed": 1,
        "game": 0,
        "number": 0,
        "threads": 1,
    },
    "Tree.__init__": lambda: (
        Tree,
        {
            "game": game_of("kuhn"),
            "most_histories": 10**6,
            "most_bytes": 10**8,
            "sets_only": True,
        },
    ),
    "histories_up_to": lambda: {"game": game_of("kuhn"), "most": 100},
    "certainly_exceeds": lambda: {"game": game_of("kuhn"), "histories": 100},
    "Tree.flat": lambda: (tree().flat, {"dense": dense(tree(), EDGES())}),
    "Tree.sums": lambda: (tree().sums, {"x": EDGES()}),
    "Tree.reach": lambda: (tree().reach, {"policy": EDGES()}),
    "Tree.payoffs": lambda: (tree().payoffs, {"player": 0, "reach": sequences()}),
    "Tree.weights": lambda: (tree().weights, {"reach": sequences()}),
    "Tree.add_penalties": lambda: (
        tree().add_penalties,
        {"player": 0, "reach": sequences(), "penalties": SETS(), "values": sequences()},
    ),
    "Tree.backup": lambda: (
        tree().backup,
        {"player": 0, "policy": EDGES(), "values": sequences(), "penalties": SETS()},
    ),
    "Tree.best_response": lambda: (
        tree().best_response,
        {"player": 0, "values": sequences(), "policy": EDGES()},
    ),
    "Tree.cfr": lambda: (
        tree().cfr,
        {
            "player": 0,
            "keep": KEEP,
            "regrets": EDGES(),
            "average": EDGES(),
            "policy": EDGES(),
            "reach": sequences(),
            "scratch": sequences(),
        },
    ),
    "BestResponse.__init__": lambda: (
        BestResponse,
        {
            "game": tree().game,
            "player": 0,
            "tree": tree(),
            "policy": EDGES(),
            "most_bytes": 10**8,
            "choices": np.zeros(len(tree()), np.uint8),
        },
    ),
    "BestResponse.step": lambda: (BestResponse(tree().game, 0).step, {"histories": 10}),
    "DiceUpdate.__init__": lambda: (
        DiceUpdate,
        {
            "sets": dice_sets(),
            "player": 0,
            "keep": KEEP,
            "regrets": np.zeros(dice_sets().choices),
            "average": np.zeros(dice_sets().choices),
        },
    ),
    "DiceUpdate.step": lambda: (
        DiceUpdate(dice_sets(), 0, KEEP, *np.zeros((2, dice_sets().choices))).step,
        {"pieces": 1},
    ),
    "dice_bids": lambda: {"game": game_of("liars_dice:1x2")},
    "DiceSets.__init__": lambda: (DiceSets, {"game": game_of("liars_dice:1x2")}),
    "DiceSets.views": lambda: (dice_sets().views, {"begin": 0, "end": 5}),
    "DiceSets.find": lambda: (
        dice_sets().find,
        {
            "players": np.zeros(2, np.int64),
            "before": np.full(2, -1),
            "observations": dice_sets().views(0, 2)[0],
        },
    ),
    "DiceSets.views_of": lambda: (dice_sets().views_of, {"numbers": np.arange(3)}),
    "DiceResponses.__init__": lambda: (
        DiceResponses,
        {
            "sets": dice_sets(),
            "policy": dice_sets().uniform(),
            "threads": 1,
            "choices": np.zeros(len(dice_sets()), np.uint8),
        },
    ),
    "BothResponses.step": lambda: (
        DiceResponses(dice_sets(), dice_sets().uniform(), 1).step,
        {"pieces": 1},
    ),
    "PhantomViews.observations": lambda: (phantom_views().observations, {"player": 0}),
    "PhantomViews.numbers_of": lambda: (
        phantom_views().numbers_of,
        {"observations": phantom_views().observations(0)},
    ),
    "PhantomViews.__init__": lambda: (PhantomViews, {"game": game_of("dark_hex:2")}),
    "joins_borders": lambda: {"game": game_of("dark_hex:2")},
    "view_numbers": lambda: {"game": game_of("dark_hex:2")},
    "PhantomResponses.__init__": lambda: (
        PhantomResponses,
        {
            "game": game_of("dark_hex:2"),
            "policies": (phantom_views().uniform(), phantom_views().uniform()),
            "threads": 1,
        },
    ),
    "SearchTrees.__init__": lambda: (
        SearchTrees,
        {
            "roots": batch(),
            "actions": 2,
            "nodes": 5,
            "cpuct": 2.5,
            "unit": 1.0,
            "largest_return": 1.0,
            "threads": 1,
            "face_up": False,
            "whole": False,
        },
    ),
    "SearchTrees.begin": lambda: (
        trees().begin,
        {"tree": 0, "moves": [[0], [4]], "priors": np.full((2, 2), 0.5, np.float32)},
    ),
    "SearchTrees.tell": lambda: (
        trees(asked=True).tell,
        {"policy": np.ones((2, 9), np.float32), "values": zeros("float32", 2)},
    ),
    "SearchTrees.root": lambda: (trees(asked=True).root, {"tree": 0}),
    "PublicTree.__init__": lambda: (
        PublicTree,
        {"game": game_of("kuhn"), "most_nodes": 10**6, "most_bytes": 10**8, "merged": False},
    ),
    "PublicTree.path": lambda: (public_tree().path, {"actions": np.arange(2, dtype=np.int32)}),
    "PublicTree.prior": lambda: (
        public_tree().prior,
        {"node": public_tree().opening, "player": 0},
    ),
    "PublicTree.normalised": lambda: (
        public_tree().normalised,
        {"sums": np.ones(len(public_tree().choices))},
    ),
    "PublicTree.infosets": lambda: (public_tree().infosets, {"tree": tree()}),
    "Subgames.__init__": lambda: (
        Subgames,
        {"tree": public_tree(), "roots": np.array([public_tree().opening], np.int32), "depth": 1},
    ),
    "Subgames.choices_of": lambda: (subgames().choices_of, {"which": zeros("int64", 1)}),
    "Subgames.normalised": lambda: (subgames().normalised, {"sums": choices()}),
    "Subgames.beliefs": lambda: (
        subgames().beliefs,
        {"player": 0, "reach": hands(), "parts": zeros("int32", 1)},
    ),
    "Subgames.roots_of": lambda: (subgames().roots_of, {"player": 0}),
    "Subgames.leaves_of": lambda: (subgames().leaves_of, {"player": 0}),
    "Subgames.begin": lambda: (
        subgames().begin,
        {"player": 0, "beliefs": public_tree().prior(public_tree().opening, 0)[None]},
    ),
    "Subgames.inputs": lambda: (
        subgames().inputs,
        {
            "player": 0,
            "reach": BOTH(),
            "out": zeros("float32", subgames().leaves, game_of("kuhn").pbs_inputs),
        },
    ),
    "Subgames.reach": lambda: (
        subgames().reach,
        {"player": 0, "policy": choices(), "reach": hands()},
    ),
    "Subgames.compatible": lambda: (
        subgames().compatible,
        {"player": 0, "other_reach": hands(1)},
    ),
    "Subgames.ends": lambda: (
        subgames().ends,
        {
            "player": 0,
            "other_reach": hands(1),
            "leaves": zeros("float32", subgames().leaves, game_of("kuhn").hands),
            "values": hands(),
        },
    ),
    "Subgames.backup": lambda: (
        subgames().backup,
        {"player": 0, "policy": choices(), "values": hands(), "q": choices()},
    ),
    "Subgames.best_response": lambda: (
        subgames().best_response,
        {"player": 0, "policy": choices(), "values": hands(), "q": choices()},
    ),
    "Subgames.cfr": lambda: (
        subgames().cfr,
        {
            "player": 0,
            "keep": KEEP,
            "reach": hands(),
            "values": hands(),
            **{name: choices() for name in ("q", "regrets", "average", "policy")},
        },
    ),
    "Subgames.walk": lambda: (
        subgames().walk,
        {
            "policy": choices(),
            "reach": BOTH(),
            "explore": 0.5,
            "seed": 1,
            "which": zeros("int64", 3),
            "games": zeros("int64", 3),
            "number": 0,
        },
    ),
    "replay_many": lambda: {"game": game_of("nano"), "episodes": [(b"", placed())]},
    "replay_columns": lambda: {
        "game": game_of("nano"),
        "actions": placed(),
        "lengths": np.array([len(placed())]),
        "starts": b"",
        "start_lengths": zeros("int64", 1),
        "seen": np.ones(len(placed()), bool),
    },
    "replay": lambda: {"game": game_of("nano"), "actions": placed(), "start": b""},
    "legal_prefix": lambda: {"game": game_of("nano"), "actions": placed(), "start": b""},
    "positions": lambda: (
        lambda **given: list(function("positions")(**given)),
        {
            "game": game_of("nano"),
            "actions": placed()[2 * NANO.pieces :],
            "start": position().to_bytes(),
        },
    ),
    "flip_cells": lambda: {"cells": position().cells},
    "variant": lambda: {"name": "mini"},
    "differ_by_lakes": lambda: {"one": "barrage", "other": "barrage-blocked"},
    "with_lakes": lambda: {"variant": NANO, "lakes": (4, 7)},
    "open_types": lambda: {"rules": {"open": 3}},
    "placements": lambda: {"variant": NANO, "setup": setup()},
    "setup_of": lambda: {"variant": NANO, "actions": placed()},
    "free_game": lambda: {"name": "mini"},
    "Position.of_setups": lambda: (
        Position.of_setups,
        {"variant": NANO, "red": setup(), "blue": setup()},
    ),
    "Position.setup": lambda: (position().setup, {"side": 0}),
    "Position.from_bytes": lambda: (
        Position.from_bytes,
        {"variant": NANO, "start": position().to_bytes()},
    ),
    "legal_moves": lambda: {"batch": batch(), "row": 0},
    "perft": lambda: {"batch": batch(), "row": 0, "depth": 1},
    "why_illegal": lambda: {"position": position(), "from_": 0, "to": 3},
    "map_text": lambda: {"name": "tiny"},
    "map_of": lambda: {"game": game_of("diplomacy:tiny")},
    "graph_of": lambda: {"game": game_of("diplomacy:tiny")},
    "views_of": lambda: diplomacy_views(),
    "between_moves": lambda: diplomacy_views(),
    "own_units": lambda: diplomacy_views(),
    "shares_of": lambda: diplomacy_views(),
    "DiplomacyMap.__init__": lambda: (DiplomacyMap, {"source": map_text("tiny")}),
    "DiplomacyMap.location": lambda: (tiny().location, {"province": 0, "unit": 0x80}),
    "DiplomacyMap.check": lambda: (tiny().check, {"position": tiny().start()}),
    "DiplomacyMap.legal": lambda: (
        tiny().legal,
        {"position": tiny().start(), "province": 0},
    ),
    "DiplomacyMap.legal_of_each": lambda: (
        tiny().legal_of_each,
        {"positions": tiny().start(), "provinces": zeros("uint8", 1)},
    ),
    "DiplomacyMap.is_legal": lambda: (
        tiny().is_legal,
        {"position": tiny().start(), "province": 0, "order": (0, 255, 255)},
    ),
    "DiplomacyMap.adjustment": lambda: (
        tiny().adjustment,
        {"position": tiny().start(), "power": 0},
    ),
    "DiplomacyMap.adjudicate": lambda: (
        tiny().adjudicate,
        {"positions": tiny().start(), "orders": orders()},
    ),
    "DiplomacyMap.resolve": lambda: (
        tiny().resolve,
        {"positions": tiny().start(), "orders": orders()},
    ),
    "DiplomacyMap.random": lambda: (tiny().random, {"seed": 1, "phases": 3, "years": 2}),
    "Arbiter.__init__": lambda: (Arbiter, {"game": game_of("nano"), "start": position()}),
    "Arbiter.act": lambda: (Arbiter(game_of("nano")).act, {"action": 0}),
    "Arbiter.deploy": lambda: (Arbiter(game_of("nano")).deploy, {"setup": setup()}),
    **{
        f"Arbiter.{name}": lambda name=name: (
            getattr(Arbiter(game_of("nano"), position()), name),
            dict(zip(("from_", "to"), position().legal()[0], strict=True)),
        )
        for name in ("move", "why_illegal", "broken_rule")
    },
    "Board.__init__": lambda: (
        Board,
        {"variant": "nano", "setups": ("MCL", "MCL"), "rules": {"max_plies": 9}, "start": None},
    ),
    "Board.from_fenfs": lambda: (Board.from_fenfs, {"text": board().fenfs(), "rules": {}}),
    "Board.place": lambda: (Board("nano").place, {"setup": "MCL"}),
    "Board.push": lambda: (board().push, {"move": "C1C2"}),
    "Board.piece_at": lambda: (board().piece_at, {"square": "A1"}),
    "Board.fenfs": lambda: (board().fenfs, {"view": 0, "extended": True}),
    "load": lambda: (stratkit.load, {"player": "barrage-easy", "net": None, "rows": 2}),
    "TrainedNetwork.policy": lambda: (network().policy, views()),
    "TrainedNetwork.values": lambda: (
        network().values,
        {"observations": views()["observations"]},
    ),
    "read_episodes": lambda: (lambda path: stratkit.read_episodes(path), {"path": files()[0]}),
    "read_games": lambda: (lambda path: stratkit.read_games(path), {"path": files()[1]}),
    "EpisodeArrays.replay": lambda: (
        stratkit.read_episodes(files()[0]).replay,
        {"games": slice(0, 1)},
    ),
    "GameEnv.__init__": lambda: (
        function("GameEnv"),
        {"name": "nano", "rules": {"max_plies": 5}},
    ),
    "GameEnv.observation_space": lambda: (env().observation_space, {"agent": "player_0"}),
    "GameEnv.action_space": lambda: (env().action_space, {"agent": "player_0"}),
    "GameEnv.reset": lambda: (env().reset, {"seed": 1, "options": None}),
    "GameEnv.observe": lambda: (env().observe, {"agent": "player_0"}),
    "GameEnv.step": lambda: stepping(),
}


def copying() -> Call:
    one = batch()
    return one.copy_row, {"row": 0, "source": one, "source_row": 1}


def stepping() -> Call:
    one = env()
    return one.step, {"action": int(one.observe(one.agent_selection)["action_mask"].argmax())}


@functools.cache
def function(name: str) -> Any:
    for module in MODULES:
        if module not in NO_DOORS and name in vars(importlib.import_module(module)):
            return vars(importlib.import_module(module))[name]
    raise KeyError(name)


def right_call(name: str) -> Call:
    found = CALLS[name]()
    return found if isinstance(found, tuple) else (function(name), found)
