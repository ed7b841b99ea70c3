"""A player that searches: whole moves, equal seeds, and what it says of its moves."""

from __future__ import annotations

import functools
import json
import pathlib
import threading
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from players.positions import Scene
from players.sharp import sharp_player
from running import run
from stratkit.declared import read_options
from stratkit.engine import Batch, Game, sample, worlds
from stratkit.engine.observation import NO_ATTACK, PHASE, PLIES, number
from stratkit.engine.stratego import TYPE, variant
from stratkit.errors import InputError, UsageError
from stratkit.games.heuristic import UniformBlueprint
from stratkit.games.stratego.heuristic import StrategoHeuristic
from stratkit.nets.evaluator import Evaluator
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import HeuristicPlayer
from stratkit.players.factory import open_player
from stratkit.players.player import Explanation, Player, PolicyPlayer, Views
from stratkit.players.presets import ALPHAZE
from stratkit.players.registry import parse_player
from stratkit.players.searching import stage
from stratkit.players.searching.options import SearchOptions
from stratkit.players.searching.stage import SearchStage
from stratkit.players.testtime.explain import text
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.search.decision import worlds_without
from stratkit.search.side_state import SideState
from stratkit.storage.columns import Episode
from stratkit.threads import use_threads

PIECES = "M:A1 k:C3 E:B2 Y:F6 x:D4 P:E3 O:F2"


class Counting(Evaluator):
    """Counts the calls of a network, and spreads its values over those of games and beyond."""

    policies = values_asked = 0

    def evaluate_distinct(self, *arguments, **more):  # type: ignore[no-untyped-def]
        self.policies += 1
        return super().evaluate_distinct(*arguments, **more)

    def values(self, *arguments, **more):  # type: ignore[no-untyped-def]
        self.values_asked += 1
        return 80 * (super().values(*arguments, **more) + 8)


def searching(game: Game, net: str = "plain", log: object = None, **keys: str):  # type: ignore
    """A player whose untrained network searches, its evaluator of rollouts, and the network."""
    raw = sharp_player(game, net)
    rollouts = Counting(net, raw.evaluator.network, 16)
    asked = read_options(SearchOptions, {"search": "mmd", **keys})
    search = SearchStage(game, rollouts, asked, raw.seed)
    post = PostProcessing(threshold=0.01) if log else PostProcessing()
    return PostprocessedPlayer(raw.evaluator, game, 1, post, log, search), rollouts, raw  # type: ignore[arg-type]


def play(
    game: Game, player: Player, games: int = 3, slots: int = 3, most: int = 60
) -> list[Episode]:
    seatings: Iterator[Seating] = (Seating(number, (0, 0)) for number in range(games))
    table = Table(game, [player], Seatings(seatings), slots, max_actions=most)
    finished = [episode for ended in table.rounds() if ended for episode, _, _ in ended]
    return sorted(finished, key=lambda episode: episode.number)


FEW = {"rollouts": "24", "depth": "1", "eta": "9"}
TREES = {"search": "pc-pimc", "worlds": "3", "nodes": "12", "pick": "drawn", "noise": ".2"}


@functools.cache
def searched(belief: str, slots: int) -> list[Episode]:
    game = Game("mini")
    return play(game, searching(game, **FEW, belief=belief)[0], slots=slots)


@pytest.mark.parametrize("slots", [1, 2])
@pytest.mark.parametrize("belief", ["uniform", "policy", "setups"])
def test_games_do_not_depend_on_their_company(slots: int, belief: str) -> None:
    game, same = Game("mini"), searched(belief, 3)
    games = searched(belief, slots)
    for one, other in zip(games, same, strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.mu, other.mu)
    raw = play(game, sharp_player(game), slots=3)
    assert any((a.actions != b.actions).any() for a, b in zip(raw, same, strict=True)
               if len(a.actions) == len(b.actions))  # fmt: skip


@pytest.mark.parametrize(
    ("keys", "plies"),
    [
        ({"rollouts": "300", "depth": "1", "belief": "setups"}, 12),
        ({**TREES, "worlds": "40"}, 12),
        ({"search": "endgame", "hands": "10000"}, 70),
    ],
)
def test_threads_change_no_byte_of_a_search(keys: dict[str, str], plies: int) -> None:
    """Whose network evaluates many blocks, in threads of its own; at a fixed budget."""
    batch = Batch(Game("mini"), 1)
    zero = np.zeros(1, np.int64)
    for number_ in range(16 + 2 * plies):
        numbers = np.full(1, number_, np.int32)
        batch.apply(sample(None, batch.legal(), 3, zero, numbers)[0])
    view = Views.of_one(batch, 0, 16 + 2 * plies)
    told: list[Explanation] = []
    for threads in (1, 2, 4):
        player, rollouts, _ = searching(batch.game, log=told.append, **keys)
        network, in_main = rollouts.network, set[bool]()
        embed = network.embed

        def noted(inputs: object, embed=embed, in_main=in_main) -> object:  # type: ignore[no-untyped-def]
            in_main.add(threading.current_thread() is threading.main_thread())
            return embed(inputs)

        network.embed = noted  # type: ignore[method-assign]
        use_threads(threads)
        player.policy(view)
        assert (False in in_main) == (threads > 1)
    searches = [one.search for one in told]
    found = {one.policy.tobytes() + one.q.tobytes() for one in searches if one is not None}
    assert len(searches) == 3 and None not in searches and len(found) == 1


def test_a_move_is_played_with_the_probability_that_the_search_gave_it() -> None:
    game, seen = Game("mini"), []
    player, *_ = searching(game, log=seen.append, **FEW)
    pieces = variant("mini").pieces
    finished = play(game, player)
    plies = [number(one.packed.tobytes(), PLIES) for one in seen]
    decided = {
        (one.game, 2 * (pieces + ply)): one
        for one, ply in zip(seen, plies, strict=True)
        if one.packed[PHASE] == 0
    }
    compared = 0
    for episode in finished:
        for at in range(2 * pieces, len(episode.actions) - 1, 2):
            one = decided[episode.number, at]
            assert [name for name, _ in one.stages] == ["network", "search", "threshold"]
            move = tuple(int(a) for a in episode.actions[at : at + 2])
            policy = one.stages[-1][1][one.moves.index(move)]
            assert episode.mu[at] * episode.mu[at + 1] == pytest.approx(policy, rel=1e-4)
            if one.search is None:
                assert len(one.moves) == 1
            else:
                np.testing.assert_allclose(one.stages[1][1], one.search.policy, atol=1e-6)
                compared += abs(one.stages[1][1] - one.stages[0][1]).max() > 0.02
    assert compared > 3
    deploying = [one for one in seen if one.moves[0][0] == one.moves[0][1]]
    assert len(deploying) == 3 * 2 * pieces and not any(one.search for one in deploying)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_one_call_a_ply_serves_all_games(depth: int) -> None:
    """Two for the two actions of a ply, whatever the number of games, and one for the values."""
    game = Game("mini")
    player, rollouts, _ = searching(game, rollouts="24", depth=str(depth))
    batch = Batch.gathered([(Scene(PIECES).batch, [0, 0, 0])])
    seen = batch.actors(), batch.legal(), batch.observe()
    views = Views.of_batch(batch, np.arange(3), np.arange(3), np.zeros(3, np.int32), seen)
    player.policy(views)
    assert rollouts.policies == 2 * depth and rollouts.values_asked == 1


def test_at_depth_0_q_is_the_mean_of_the_values_after_the_move() -> None:
    scene, told = Scene(PIECES, moved="D4"), []
    player, rollouts, _ = searching(scene.game, log=told.append, rollouts="60", depth="0")
    player.policy(scene.views())
    (one,) = told
    assert one.search is not None and one.search.worlds == 60 // len(one.moves) > 2
    drawn, clipped = worlds(scene.batch, 0, one.search.worlds, 1, 0, 0), 0
    for at, (start, end) in enumerate(one.moves):
        after = Batch.gathered([(drawn, range(drawn.size))])
        for action in (start, end):
            after.apply(np.full(after.size, action, np.int32))
        values = -np.clip(rollouts.values(after.observe()), -1, 1)
        clipped += int((abs(values) == 1).sum())
        values = np.where(after.actors() < 0, after.returns()[:, 0], values)
        assert one.search.q[at] == pytest.approx(values.mean(), abs=1e-5)
        error = values.std(ddof=1) / np.sqrt(len(values))
        assert one.search.error[at] == pytest.approx(error, abs=1e-5)
    assert np.ptp(one.search.q) > 0.003 and clipped


def test_what_is_quiet_for_long_enough_is_searched_and_nothing_else() -> None:
    game, told = Game("mini"), []
    play(game, searching(game, log=told.append, **FEW, quiet="9")[0], most=160)
    counts = [number(one.packed.tobytes(), NO_ATTACK) for one in told]
    choice = [one.packed[PHASE] == 0 and len(one.moves) > 1 for one in told]
    for one, count, asked in zip(told, counts, choice, strict=True):
        assert (one.search is not None) == (asked and count >= 9)
        columns = text(one, game, board=False).splitlines()[1].split()
        assert ("search" in columns) == (asked and count >= 9)
    assert {count < 9 for count in counts} == {True, False} and any(one.search for one in told)


def test_no_step_leaves_the_policy() -> None:
    scene = Scene(PIECES)
    player, _, raw = searching(scene.game, rollouts="24", depth="1", eta="0", magnet="0")
    np.testing.assert_allclose(player.policy(scene.views()), raw.policy(scene.views()), atol=1e-5)


def test_all_of_the_policy_can_be_uniform_before_the_step() -> None:
    scene, told = Scene(PIECES), []
    keys = {"rollouts": "24", "depth": "0", "eta": "0", "magnet": "0", "explore": "1"}
    player, *_ = searching(scene.game, log=told.append, **keys)
    player.policy(scene.views())
    (one,) = told
    assert one.search is not None and np.ptp(one.stages[0][1]) > 0.01
    np.testing.assert_allclose(one.search.policy, 1 / len(one.moves))


def test_games_of_trees_do_not_depend_on_their_company() -> None:
    game = Game("mini")
    alone = play(game, searching(game, **TREES)[0], games=2, slots=1, most=30)
    same = play(game, searching(game, **TREES)[0], games=2, slots=2, most=30)
    for one, other in zip(alone, same, strict=True):
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.mu, other.mu)


@pytest.mark.parametrize(
    ("keys", "worlds", "visits"),
    [
        ({"worlds": "4", "nodes": "40"}, 4, 40),
        ({"worlds": "4", "nodes": "40", "split": "on"}, 4, 10),
        ({"worlds": "4", "nodes": "3", "split": "on"}, 4, 1),
        (ALPHAZE, 3, 800),
    ],
)
def test_each_world_has_its_nodes_or_a_share_of_them(
    keys: Mapping[str, str], worlds: int, visits: int
) -> None:
    scene, told = Scene(PIECES), []
    player, *_ = searching(scene.game, log=told.append, **{"search": "pc-pimc", **keys})
    player.policy(scene.views())
    (one,) = told
    assert one.search is not None and one.search.visits is not None
    assert one.search.worlds == worlds and one.search.visits.sum() == visits
    assert one.search.policy.max() == 1


def test_the_preset_of_the_paper_plays(tmp_path: pathlib.Path) -> None:
    """Its three worlds, with fewer nodes than its 800."""
    told, player = tmp_path / "told", "nodes=9,preset=alphaze,barrage-easy"
    done = run("match", player, "random", "--game", "barrage", "-n", 2, "--max-plies", 4,
               "--seed", 1, "--explain", told, "-o", tmp_path / "games")  # fmt: skip
    assert done.status == 0, done.err
    assert told.read_text().count("search in 3 worlds") == 4


def test_trees_explain_a_winning_move_by_its_visits() -> None:
    scene, told = Scene("M:A1 E:C3 D:F1 y:C4 X:F6", moved="F6"), []
    player, *_ = searching(scene.game, log=told.append, **{**TREES, "noise": "0", "nodes": "60"})
    assert player.policy(scene.views())[0, scene.seen("C3")] > 0.9
    (one,) = told
    assert one.search is not None and one.search.visits is not None
    best = int(one.search.policy.argmax())
    assert one.search.q[best] == 1
    said = text(one, scene.game)
    assert f"visits {one.search.visits[best]:.1f}" in said and "search in 3 worlds" in said


def test_a_winning_move_is_found() -> None:
    """The enemy's flag is known."""
    scene = Scene("M:A1 E:C3 D:F1 y:C4 X:F6", moved="F6")
    for eta, least, most in ((0, 0.0, 0.55), (50, 0.97, 1.0)):
        spec = parse_player(f"search=mmd,rollouts=60,depth=0,eta={eta},random")
        player = open_player(spec, scene.game, 1, 8).player
        assert isinstance(player, PolicyPlayer)
        assert least <= player.policy(scene.views())[0, scene.seen("C3")] <= most


@pytest.mark.parametrize("keys", [FEW, TREES, {**TREES, "search": "pimc", "pick": "best"}])
def test_the_truth_dealt_again_changes_no_byte_of_the_policy(keys: dict[str, str]) -> None:
    game, player = Game("mini"), Scene(PIECES)
    player.play("B2B1", "D4D3")
    other = worlds(player.batch, 0, 8, seed=5)
    found = []
    for row in range(8):
        one = Batch.gathered([(other, [row])])
        searcher, *_ = searching(game, **keys)
        found.append(searcher.policy(Views.of_one(one, 0, 4)).tobytes())
    assert len(set(found)) == 1 and len({other.save(row) for row in range(8)}) > 1


@pytest.mark.parametrize("name", ["kuhn", "leduc", "dark_hex:3", "moves:nano"])
def test_small_games_are_searched_action_by_action(name: str) -> None:
    game = Game(name)
    player, rollouts, _ = searching(game, "mlp:8", rollouts="12", depth="2")
    finished = play(game, player, games=4, slots=4)
    assert len(finished) == 4 and rollouts.policies


@pytest.mark.parametrize("plies", [0, 1])
def test_worlds_meet_what_memory_excludes(plies: int) -> None:
    scene = Scene("M:A1 L:A2 E:B2 D:B3 C:C1 Y:F6 P:E5 O:F5 Q:E6")
    scene.play(*["B3B4"][:plies])
    where = ("E5", "A2")[plies]
    at, excluded = scene.square(where), [0] * 36

    def types(batch: Batch) -> list[int]:
        rows = [np.frombuffer(batch.save(row), np.uint8, 36) for row in range(batch.size)]
        return [int(cells[at]) & TYPE for cells in rows]

    drawn = worlds(scene.batch, 0, 60, seed=1)
    excluded[scene.seen(where)] = 1 << types(drawn)[0]
    kept = worlds_without(drawn, 40, excluded)
    assert kept.size == 40
    assert set(types(kept)) == set(types(drawn)) - {types(drawn)[0]} != set()
    everything = worlds_without(drawn, 60, [0xFFF] * 36)
    assert [everything.save(row) for row in range(60)] == [drawn.save(row) for row in range(60)]


def test_a_search_goes_with_all_of_deepnash() -> None:
    player = open_player(
        parse_player("search=mmd,rollouts=16,depth=1,preset=deepnash,barrage-easy"),
        Game("barrage"), 1, 8,
    ).player  # fmt: skip
    assert isinstance(player, PostprocessedPlayer) and isinstance(player.search, SearchStage)
    assert player.search.exclude
    assert len(play(Game("barrage"), player, games=1, slots=1, most=40)) == 1


# ---- other blueprints ----


def views_of(game: Game, actions: int) -> Views:
    found: list[Views] = []

    class Keeping(HeuristicPlayer):
        def act(self, views: Views):  # type: ignore[no-untyped-def]
            found.append(views)
            return super().act(views)

    play(game, Keeping(game, 1), games=1, slots=1, most=actions)
    return found[-1]


def test_the_heuristic_as_a_blueprint_prefers_what_the_heuristic_plays() -> None:
    game = Game("barrage")
    blueprint = StrategoHeuristic(game)
    for actions in (3, 17, 18, 40):
        views = views_of(game, actions)
        policy, values = blueprint.evaluate(views.observations, views.legal, values=True)
        assert policy.sum() == pytest.approx(1, abs=1e-5) and (policy[views.legal == 0] == 0).all()
        played = [int(HeuristicPlayer(game, seed).act(views).actions[0]) for seed in range(40)]
        if actions > 16:
            assert policy[0, played].min() > 0.02
            assert policy[0, max(set(played), key=played.count)] == policy.max()
        assert values is not None and abs(values[0]) <= 1


def test_the_heuristic_values_pieces() -> None:
    game = Game("mini")
    blueprint = StrategoHeuristic(game)
    ahead = Scene("M:A1 k:C3 E:B2 Y:F6")
    even = Scene("M:A1 E:B2 C:C1 Y:F6 Q:F5 O:E5")
    values = [blueprint.values(scene.batch.observe())[0] for scene in (ahead, even)]
    assert values[0] > values[1] == 0
    scene = Scene("M:A1 k:C3 E:B2 Y:F6 O:F1")
    values[0] = blueprint.values(scene.batch.observe())[0]
    scene.play("C3C4")
    assert blueprint.values(scene.batch.observe())[0] == -values[0]
    uniform = UniformBlueprint()
    assert not uniform.values(scene.batch.observe()).any()


@pytest.mark.parametrize("spec", ["heuristic", "random"])
def test_any_policy_can_be_the_blueprint(spec: str) -> None:
    game = Game("mini")
    player = open_player(parse_player(f"search=mmd,rollouts=16,depth=3,{spec}"), game, 1, 8)
    assert player.spec == f"search=mmd,rollouts=16,depth=3,{spec}" and player.reproducible
    assert len(play(game, player.player, games=2, most=40)) == 2


# ---- what it says, and what is refused ----


def test_it_explains_its_moves() -> None:
    scene, told = Scene(PIECES), []
    player, *_ = searching(scene.game, log=told.append, rollouts="64", belief="policy")
    (one,) = player.explain(scene.views())
    said = text(one, Game("mini")).splitlines()
    head = next(line for line in said if line.startswith("game 1, value "))
    assert "search in" in head and "worlds (effective sample size" in head
    (columns,) = (line.split() for line in said if line.startswith("move"))
    assert columns[1:] == ["network", "search", "threshold"]
    rows = [line for line in said if " q " in line]
    assert rows and all(" +- " in line for line in rows)
    single = searching(scene.game, log=told.append, rollouts="1")[0].explain(scene.views())
    assert " +- " not in text(single[0], Game("mini"))  # one world has no error


def test_what_cannot_be_searched_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(player: str, game: str) -> None:
        open_player(parse_player(player), Game(game), 0, 8)

    with pytest.raises(UsageError, match=r"belief=setups\+policy is for Stratego, not for kuhn"):
        opened("search=mmd,belief=setups+policy,random", "kuhn")
    setups, uniform = (
        searching(Game("kuhn"), "mlp:8", belief=word)[0] for word in ("setups", "uniform")
    )
    assert setups.search.search == uniform.search.search  # preset=strong asks for it in any game
    opened("search=mmd,belief=policy,random", "kuhn")
    with pytest.raises(UsageError, match="states of moves:nano do not tell how they came about"):
        opened("search=mmd,belief=policy,random", "moves:nano")
    with pytest.raises(UsageError, match="quiet=4: nobody attacks in kuhn"):
        opened("search=mmd,quiet=4,random", "kuhn")
    monkeypatch.setattr(stage, "has_worlds", lambda game: False)
    with pytest.raises(UsageError, match="search=mmd: kuhn has no worlds to search"):
        opened("search=mmd,random", "kuhn")


def test_a_record_that_is_no_legal_game_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(PIECES)
    player, *_ = searching(scene.game, belief="policy", **FEW)
    wrong = np.arange(36, dtype=np.int32)
    views = Views.of_one(scene.batch, 0, 36, list(wrong))
    with pytest.raises(InputError, match="no legal game"):
        player.policy(views)

    def none(state: SideState, n: int, seed: int = 0) -> Batch:
        raise ValueError("mini: no world agrees")

    monkeypatch.setattr(SideState, "worlds", none)
    with pytest.raises(InputError, match="no search: mini: no world agrees"):
        searching(scene.game, **FEW)[0].policy(scene.views())


def test_a_match_says_which_player_a_clock_bounds_and_goes_on_alike(tmp_path: pathlib.Path) -> None:
    file, log = tmp_path / "games.jsonl", tmp_path / "log"
    deep = "name=deep,search=mmd,rollouts=16,depth=1,barrage-easy"
    words = ["match", deep, "barrage-easy", "-n", 2, "--game", "barrage", "--seed", 1, "-o", file]
    assert run(*words, "--explain", log, "--max-plies", 8).status == 0
    whole = file.read_bytes()
    assert "reproducible" not in whole.decode() and " q " in log.read_text()
    file.write_bytes(whole[: whole.index(b"\n", whole.index(b"\n") + 1) + 20])
    log.unlink()
    assert run(*words, "--max-plies", 8, "--resume", "--resign", ".9").status != 0  # other rules
    assert run(*words, "--max-plies", 8, "--resume", "--concurrency", 2).status == 0
    assert file.read_bytes() == whole
    timed = deep.replace("rollouts=16", "rollouts=16,time=.01")
    other = tmp_path / "timed.jsonl"
    assert run("match", timed, "random", "-n", 2, "--game", "barrage", "--max-plies", 4, "--draw",
               ".5,1", "-o", other).status == 0  # fmt: skip
    header = json.loads(other.read_text().splitlines()[0])
    assert [player.get("reproducible") for player in header["players"]] == [False, None]
    assert "time=0.01" in header["players"][0]["spec"]


def test_exploit_judges_a_search() -> None:
    words = ["exploit", "kuhn", "search=mmd,worlds=64,eta=3,depth=9,random", "uniform", "--json"]
    found = json.loads(run(*words, "--repeats", 4).out)["policies"]
    searched, uniform = found
    assert searched["nash_conv"] < uniform["nash_conv"] - 0.2  # a step from uniform play helps
    assert 0 < searched["nash_conv_error"] < 0.1 and "nash_conv_error" not in uniform
    done = run("exploit", "nano", "search=mmd,random")
    assert done.status == 2 and "search improves whole moves, not single actions" in done.error_line
