"""Simultaneous turns of more than two players."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from running import run
from stratkit.arrays import Bytes, Float64s, Int64s
from stratkit.engine import Batch, Game, sample
from stratkit.engine.diplomacy import POWER, between_moves, map_of, shares_of, views_of
from stratkit.games.diplomacy.games import actions_of
from stratkit.games.diplomacy.heuristic import GreedyBlueprint
from stratkit.games.heuristic import UniformBlueprint
from stratkit.nets import build
from stratkit.nets.evaluator import Evaluator
from stratkit.players.factory import open_player
from stratkit.players.player import Floats, PolicyPlayer, Views
from stratkit.players.registry import parse_player
from stratkit.search.blueprint import Blueprint, Sharpened
from stratkit.search.equilibrium import Candidates, Cells, candidates
from stratkit.search.joint import LOSERS_FROM, JointCells, solve_joint, values_of_all
from stratkit.search.rollouts import play_to_moves

TINY, PURE, FVA = (Game(f"diplomacy:{name}") for name in ("tiny", "pure", "fva"))

# A row of five centres, with a power at both ends and one in the middle.
THREE = """
year 1901
win 5
years 1
inland AAA * army DDD EEE
inland DDD * army AAA BBB
inland EEE * army AAA CCC
inland BBB * army DDD
inland CCC * army EEE
power A home AAA units A AAA
power B home BBB units A BBB
power C home CCC units A CCC
"""


def test_pairs_are_worth_what_the_table_of_two_players_says() -> None:
    blueprint = GreedyBlueprint(TINY)
    root = Batch(TINY, 1)
    some = candidates(root, blueprint, samples=64, max_candidates=5, seed=1)
    assert [each.player for each in some] == [0, 1] and min(map(len, some)) > 2
    joint = np.indices([len(each) for each in some]).reshape(2, -1).T
    found = JointCells(blueprint, rollouts=1, depth=0).values(root, some, joint, seed=1)
    table = Cells(blueprint, 1, 0).table(root, some[0].actions, some[1].actions, 1)
    np.testing.assert_allclose(found[:, 0], table.ravel(), atol=1e-6)
    np.testing.assert_allclose(found[:, 1], -found[:, 0], atol=1e-6)
    assert np.ptp(found[:, 0]) > 0.1  # turns that differ


def test_rollouts_to_the_end_have_the_games_returns() -> None:
    blueprint = UniformBlueprint()
    root = Batch(TINY, 1)
    some = candidates(root, blueprint, samples=64, max_candidates=64, seed=2)
    cells = JointCells(blueprint, rollouts=8, depth=99)
    a, b = (len(each) - 1 for each in some)  # the first ones stand and support, the last ones move
    joint = np.array([[0, 0], [a, b], [0, 0], [a, 0], [0, b]])
    found = cells.values(root, some, joint, seed=3)
    np.testing.assert_allclose(found.sum(1), 0, atol=1e-6)
    assert (found[0] == found[2]).all() and found[1, 0] != found[0, 0]
    np.testing.assert_allclose(
        values_of_all(Batch(PURE, 1), GreedyBlueprint(PURE)), 1 / 7, atol=1e-6
    )


def some_candidates(sizes: tuple[int, ...]) -> list[Candidates]:
    """The first of each player three times as probable under the blueprint as the others."""
    return [
        Candidates(
            np.arange(n, dtype=np.int32)[:, None], np.log(np.array([3.0] + [1.0] * (n - 1))), i
        )
        for i, n in enumerate(sizes)
    ]


@pytest.mark.parametrize(("worth", "held"), [(0.01, True), (0.03, False)])
def test_who_has_lost_plays_the_blueprint(worth: float, held: bool) -> None:
    """The second player's last action is the only one worth anything, and hardly that."""

    def utilities(joint: Int64s) -> list[Float64s]:
        return [np.array([0.0, 1.0]), np.array([0.0, 0.0, worth]), np.array([1.0, 0.0])]

    some = some_candidates((2, 3, 2))
    policies, worths = solve_joint(utilities, some, 4 * LOSERS_FROM, seed=1)
    assert policies[0][1] > 0.95 and policies[2][0] > 0.95
    assert worths[1] == pytest.approx([0, 0, worth])
    if held:
        assert policies[1] == pytest.approx([0.6, 0.2, 0.2])
    else:
        assert policies[1][2] > 0.95
    early, _ = solve_joint(utilities, some, LOSERS_FROM, seed=1)
    assert early[1][2] > 0.9  # nobody is held before


def test_three_powers_search(tmp_path: pathlib.Path) -> None:
    """They find the centres beside them, which a blueprint that draws by chance often leaves."""
    board, games = tmp_path / "three.map", tmp_path / "games.jsonl"
    board.write_text(THREE)
    rm = "name=rm,search=rm,candidates=4,samples=64,iterations=64,depth=1,games=4,random"
    match = ("match", rm, "random", "--game", f"diplomacy:{board}", "--seats", "1v6", "-n", 3)
    refused = run(*match, "-o", games)
    assert refused.status == 2
    done = run(*match[:6], "1v2", "-n", 9, "--seed", 1, "-o", games)
    assert done.status == 0, done.err
    rated = json.loads(run("rate", "--score", "squares", "--json", games).out)
    means = {cell["one"]: cell["mean"] for cell in rated["cells"]}
    # Equal is a third; of 16 seeds the lowest were 0.438 and the highest 0.253.
    assert means["rm"] > 0.4 and means["random"] < 0.28


# ---- Everybody who lives is worth something ----

STANDARD = Game("diplomacy:standard")
STANDARD_POWERS = map_of(STANDARD).powers


def after(*phases: dict[str, object]) -> Batch:
    """The position behind these phases."""
    batch = Batch(STANDARD, 1)
    for action in actions_of(STANDARD, {"phases": [*phases]}):
        batch.apply(np.array([action], np.int32))
    return batch


SPRING = {"name": "S1901M", "orders": {"ITALY": ["A VEN - TYR", "A ROM - VEN"]}}
DISLODGING = {
    "name": "F1901M",
    "orders": {"ITALY": ["A VEN - TRI", "A TYR S A VEN - TRI"], "AUSTRIA": ["F TRI H"]},
}


def test_who_dislodges_a_unit_is_worth_more_than_nothing() -> None:
    """Behind the moves only Austria acts: all others were worth 0."""
    retreats = after(SPRING, DISLODGING)
    blueprint = GreedyBlueprint(STANDARD)
    assert set(retreats.actors()) == {0}
    found = values_of_all(retreats, blueprint)[0]
    assert (found > 0).all() and found.sum() == pytest.approx(1, abs=0.2)
    moves = Batch.gathered([(retreats, [0])])
    play_to_moves(moves, blueprint, 0, 1, np.zeros(1, np.int64))
    assert moves.plies()[0] > retreats.plies()[0]
    found = values_of_all(moves, blueprint)[0]
    assert (found > 0).all() and found.sum() == pytest.approx(1)
    root = after(SPRING)
    some = candidates(root, blueprint, samples=16, max_candidates=2, seed=1)
    joint = np.indices([len(each) for each in some]).reshape(len(some), -1).T
    worth = JointCells(blueprint, rollouts=1, depth=0).values(root, some, joint, seed=1)
    np.testing.assert_allclose(worth.sum(1), 1, atol=1e-5)
    assert (worth > 0).all()


class Hopeful(UniformBlueprint):
    """Whoever is asked expects a half."""

    def values(self, observations: Bytes) -> Floats:
        return np.full(len(observations), 0.5, np.float32)


def test_whoever_lives_has_its_share_after_every_phase() -> None:
    """In games of drawn orders: who is asked, who has a centre, and none who are out."""
    game = Game("diplomacy:pure", {"max_quiet": 0})
    batch, keys, number = Batch(game, 64), np.arange(64), 0
    seen = {"asked": 0, "held": 0, "out": 0}
    while (batch.actors() >= 0).any():
        begun = Batch.gathered([(batch, keys)])
        begun.rewind()
        running = (batch.actors() >= 0) & (begun.observe() == batch.observe()).all(1)
        if running.any():
            view = views_of(game, batch.observe()[running])
            unit = view["position"]["unit"]
            held = shares_of(game, batch.observe()[running])
            found = values_of_all(batch, Hopeful())[running]
            np.testing.assert_allclose(found.sum(1), 1, atol=1e-6)
            # Who is asked has the half, and who is not its squares: then both are divided by all.
            ask = found / found.max(1, keepdims=True) * 0.5
            units = np.stack([((unit > 0) & (unit & POWER == p)).any(1) for p in range(7)], axis=1)
            moves = ~between_moves(game, batch.observe()[running])
            asked = np.isclose(ask, 0.5)
            assert asked[moves][units[moves]].all()
            others = ~asked & (held < 0.5)
            np.testing.assert_allclose(ask[others], held[others], atol=1e-6)
            seen["asked"] += int(asked.sum())
            seen["held"] += int((found[others] > 0).sum())
            seen["out"] += int((found == 0).sum())
        chosen = sample(None, batch.legal(), 1, keys, np.full(64, number, np.int32))[0]
        batch.apply(np.where(batch.actors() >= 0, chosen, -1).astype(np.int32))
        number += 1
    assert all(seen.values()), seen


# Three neighbours, and a province behind the third one.
CORNER = """
year 1901
win {win}
years 3
inland AAA * army BBB CCC
inland BBB * army AAA CCC
inland CCC * army AAA BBB DDD
inland DDD army CCC
power A home AAA units A AAA
power B home BBB units A BBB
power C home CCC units A CCC
"""
LEAVES = {"A": ["A AAA - CCC"], "B": ["A BBB H"], "C": ["A CCC - DDD"]}
HOLDS = {"A": ["A CCC H"], "B": ["A BBB H"], "C": ["A DDD H"]}
ATTACKED = {"A": ["A AAA - CCC"], "B": ["A BBB S A AAA - CCC"], "C": ["A CCC H"]}
TAKES = [{"name": "S1901M", "orders": LEAVES}, {"name": "F1901M", "orders": HOLDS}]
DISLODGES = [{"name": "S1901M", "orders": ATTACKED}]


def made(game: Game, name: str) -> Blueprint:
    """A blueprint that is asked for each power, and one that tells of all at once."""
    if name == "greedy":
        return GreedyBlueprint(game)
    net = "graph:8x1+shares"
    return Evaluator(net, build(net, game, 1), 16)


FOUR_FIFTHS = [0.8, 0.2, 0.0]


@pytest.mark.parametrize(
    ("blueprint", "phases", "win", "expected"),
    [
        ("greedy", DISLODGES, 4, FOUR_FIFTHS),  # it counts a centre for who stands there
        ("shares", DISLODGES, 4, [1 / 3] * 3),  # and this one for who owns it, before it learns
        ("greedy", TAKES, 4, FOUR_FIFTHS),  # a power is eliminated
        ("shares", TAKES, 4, FOUR_FIFTHS),
        ("shares", TAKES, 2, [1.0, 0.0, 0.0]),  # a power wins
    ],
)
def test_who_dislodges_is_dislodged_wins_or_is_out_has_its_worth(
    tmp_path: pathlib.Path,
    blueprint: str,
    phases: list[dict[str, object]],
    win: int,
    expected: list[float],
) -> None:
    board = tmp_path / "corner.map"
    board.write_text(CORNER.format(win=win))
    game = Game(f"diplomacy:{board}")
    batch = Batch(game, 1)
    for action in actions_of(game, {"phases": phases}):
        batch.apply(np.array([action], np.int32))
    telling = made(game, blueprint)
    found = values_of_all(batch, telling)[0]  # where only some powers are asked
    assert found.sum() == pytest.approx(1, abs=1e-6) and found[0] > 0.3 and found[1] <= 0.5
    assert batch.actors()[0] == (-2 if win == 2 else 2 if phases is DISLODGES else 0)
    play_to_moves(batch, telling, 0, 1, np.zeros(1, np.int64))
    np.testing.assert_allclose(values_of_all(batch, telling)[0], expected, atol=1e-6)


@pytest.mark.parametrize("game", [STANDARD, FVA], ids=["seven", "two"])
def test_depth_counts_phases_of_moves(game: Game) -> None:
    """Whatever retreats and adjustments come between: after n of them, n have been played."""
    batch, keys = Batch(game, 4), np.arange(4)
    for phases, reached in ((0, [0]), (2, [0]), (1, [2])):  # spring; fall and winter; spring
        play_to_moves(batch, GreedyBlueprint(game), phases, 1, keys)
        view = views_of(game, batch.observe())["position"]
        assert not between_moves(game, batch.observe()).any()
        assert set(view["phase"].tolist()) <= {*reached}, (phases, view["phase"])
    assert set(views_of(game, batch.observe())["position"]["year"].tolist()) == {1}


class Noting(GreedyBlueprint):
    """Notes where it is asked for values."""

    def values(self, observations: Bytes) -> Floats:
        view = views_of(self.game, observations)["position"]
        self.asked = set(zip(view["year"].tolist(), view["phase"].tolist(), strict=True))
        return super().values(observations)


def test_depth_between_two_powers_counts_phases_of_moves() -> None:
    """Behind the first fall centres change hands, so that winter asks for builds."""
    root, blueprint = Batch(FVA, 1), Noting(FVA)
    play_to_moves(root, blueprint, 1, 1, np.zeros(1, np.int64))
    some = candidates(root, blueprint, samples=16, max_candidates=2, seed=1)
    pair = some[0].actions, some[1].actions
    for depth, asked in ((0, (0, 4)), (1, (1, 2)), (2, (2, 0))):
        table = Cells(blueprint, 2, depth).table(root, *pair, seed=1)
        assert blueprint.asked == {asked} and np.isfinite(table).all()


def test_candidates_by_units_and_rollouts_of_the_likely() -> None:
    root = Batch(STANDARD, 1)
    blueprint = UniformBlueprint()
    some = candidates(root, blueprint, 64, max_candidates=12, seed=1, per_unit=3.5)
    sizes = dict(zip(STANDARD_POWERS, map(len, some), strict=True))
    assert sizes.pop("RUSSIA") == 12  # four units: 14, and no more than 12
    assert set(sizes.values()) == {11}  # three
    sharp = Sharpened(GreedyBlueprint(STANDARD), 0.75, 0.95)
    policy = GreedyBlueprint(STANDARD).policy(root.observe(), root.legal())[0]
    found = sharp.evaluate_distinct(root.observe(), root.legal())[0][0]
    warm = policy ** (1 / 0.75) / (policy ** (1 / 0.75)).sum()
    kept = found > 0
    assert warm[kept].sum() >= 0.95 and warm[kept].sum() - warm[kept].min() < 0.95
    np.testing.assert_allclose(found[kept], warm[kept] / warm[kept].sum(), rtol=1e-4)
    assert kept.sum() < (policy > 0).sum()
    assert sharp.values(root.observe())[0] == pytest.approx(9 / 70)


@pytest.mark.parametrize("name", ["tiny", "pure"])
def test_the_papers_preset_plays_a_phase_of_moves(name: str) -> None:
    """Two powers, and seven: each chooses among the legal orders, and the phase is adjudicated."""
    game, played = Game(f"diplomacy:{name}"), set()
    player = open_player(parse_player("preset=searchbot,heuristic"), game, 1, 8).player
    assert isinstance(player, PolicyPlayer)
    batch, number = Batch(game, 1), 0
    while batch.turns()[0] == 0:
        legal, mover = batch.legal()[0], int(batch.actors()[0])
        policy = player.policy(Views.of_one(batch, 0, number))[0]
        assert policy.sum() == pytest.approx(1) and not policy[legal == 0].any()
        batch.apply(np.array([policy.argmax()], np.int32))
        played, number = played | {mover}, number + 1
    assert played == set(range(game.players)) and batch.plies()[0] == 1
