"""Mixtures: `mix=FILE`, a member that is drawn plays a whole game."""

from __future__ import annotations

import io
import json
import pathlib

import numpy as np
import pytest

from nets.drawn import drawn
from running import ROOT, run
from stratkit.engine import Game, Tree
from stratkit.errors import InputError
from stratkit.models.trained_network import load
from stratkit.nets import build
from stratkit.players.baselines import RandomPlayer
from stratkit.players.factory import open_player
from stratkit.players.mixture import MixturePlayer, ValuedMixturePlayer, mixed, read_mixture
from stratkit.players.player import Decision, Games, Player, Sides, Views
from stratkit.players.registry import MIXTURE, parse_player
from stratkit.players.spec import path_text
from stratkit.solve.cfr import from_reach
from stratkit.solve.exploitability import best_response, evaluate
from stratkit.storage.checkpoints import save_checkpoint
from stratkit.storage.episodes import EpisodeReader


class Noting(Player):
    """Plays the first legal action with its own mu, and notes when it is asked what."""

    def __init__(self, mark: float) -> None:
        self.mark, self.seen = mark, set[tuple[str, int, int]]()

    def begin(self, games: Games, sides: Sides) -> None:
        self._note("begin", games, sides)

    def act(self, views: Views) -> Decision:
        self._note("act", views.games, views.sides)
        mu = np.full(len(views), self.mark, np.float32)
        return Decision(views.legal.argmax(1).astype(np.int32), mu)

    def end(self, games: Games, sides: Sides) -> None:
        self._note("end", games, sides)

    def _note(self, what: str, games: Games, sides: Sides) -> None:
        self.seen |= {(what, *seat) for seat in zip(games.tolist(), sides.tolist(), strict=True)}


def views_of(games: list[int], sides: list[int]) -> Views:
    n = len(games)
    legal = np.ones((n, 3), np.uint8)
    seats = np.array(games, np.int64), np.array(sides, np.int8)
    return Views(*seats, np.zeros(n, np.int32), legal, np.zeros((n, 1), np.uint8))


def test_one_member_plays_a_whole_game_and_others_are_not_asked() -> None:
    members = [Noting(0.25), Noting(0.5), Noting(1.0)]
    player = mixed(members, [0.5, 0.3, 0.2], seed=7)
    assert not isinstance(player, ValuedMixturePlayer)  # since nobody has values
    seats = [(game, side) for game in range(60) for side in (0, 1)]
    games, sides = (list(column) for column in zip(*seats, strict=True))
    views = views_of(games, sides)
    player.begin(views.games, views.sides)
    whole = player.act(views)
    single = [player.act(views.take(slice(k, k + 1))).mu[0] for k in range(len(seats))]
    player.end(views.games, views.sides)
    assert whole.mu.tolist() == single  # whoever else is asked at the same time
    assert set(single) == {0.25, 0.5, 1.0}
    whose = [{seat[1:] for seat in member.seen} for member in members]
    assert sum(map(len, whose)) == len(set.union(*whose)) == len(seats)
    for member, mine in zip(members, whose, strict=True):
        assert member.seen == {(what, *seat) for what in ("begin", "act", "end") for seat in mine}


def test_members_are_drawn_by_their_weights_and_for_each_side_by_itself() -> None:
    n = 20_000
    games, weights = np.arange(n), [0.5, 0.3, 0.2]
    players = [MixturePlayer([RandomPlayer(0)] * 3, weights, seed) for seed in (1, 1, 2)]
    red, again, other = (player.drawn(games, np.zeros(n, np.int8)) for player in players)
    blue = players[0].drawn(games, np.ones(n, np.int8))
    assert red.tolist() == again.tolist() != other.tolist()
    for which in (red, blue, other):
        np.testing.assert_allclose(np.bincount(which) / n, weights, atol=0.015)
    both = np.histogram2d(red, blue, 3)[0] / n
    np.testing.assert_allclose(both, np.outer(weights, weights), atol=0.015)


def test_a_mixture_of_mixtures_has_all_their_members(tmp_path: pathlib.Path) -> None:
    inner, outer = tmp_path / "inner,a=b", tmp_path / "outer"
    inner.write_text("# of two\n\n.5\trandom\n.5   name=a b,raider\n")
    outer.write_text(f".25 heuristic\n.75 mix={inner}\n")
    members = read_mixture(str(outer), parse_player)
    found = [(one.weight, one.player.name, one.player.spec) for one in members]
    assert found == [
        (0.25, None, "heuristic"), (0.375, None, "random"), (0.375, "a b", "raider"),
    ]  # fmt: skip
    spec = parse_player(f"name=x,mix={inner}")
    assert (spec.kind, spec.name) == (MIXTURE, "x")
    assert path_text("mix=a", spec.kinds) == "./mix=a"
    contestant = open_player(spec, Game("mini"), 1, 8)
    assert (contestant.name, contestant.members) == ("x", ("random", "a b"))
    assert contestant.spec == f"mix={inner}" and contestant.reproducible
    inner.write_text("1 random\n")
    assert open_player(spec, Game("mini"), 1, 8).sha256 != contestant.sha256


def test_the_golden_sample() -> None:
    members = read_mixture(str(ROOT / "formats/samples/sparring.mixture"), parse_player)
    assert [(one.weight, one.player.text) for one in members] == [
        (0.5, "heuristic"), (0.25, "rusher"), (0.25, "name=half-careful,skill=.5,careful"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "{0}: a mixture without members"),
        ("# nobody\n", "{0}: a mixture without members"),
        (".5 random\n.4 heuristic\n", "{0}: the weights do not sum to 1: '0.9'"),
        (".5 random\n.500002 heuristic\n", "{0}: the weights do not sum to 1: '1'"),
        ("-.5 random\n", "{0}: line 1: WEIGHT PLAYER is needed; a weight is a number above 0, at "
         "most 1: '-.5'"),
        ("1.5 random\n", "{0}: line 1: WEIGHT PLAYER is needed; a weight is a number above 0, at "
         "most 1: '1.5'"),
        ("random\n", "{0}: line 1: WEIGHT PLAYER is needed; a weight is a number above 0, at "
         "most 1: 'random'"),
        ("1\n", "{0}: line 1: a player needs a SPEC after its options: ''"),
        ("1 temperature=2,random\n", "{0}: line 1: temperature= is for networks: "
         "'temperature=2,random'"),
        ("1 mix={0}\n", "{0}: line 1: the mixture names itself: '{0}'"),
        ("1 mix={1}\n", "{1}: line 1: the mixture names itself: '{0}'"),
        (b"1 \xff\n", "{0}: not UTF-8"),
    ],
)  # fmt: skip
def test_bad_mixtures(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, text: str | bytes, wrong: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file, other = "a", pathlib.Path("b")
    other.write_text(f"1 mix={file}\n")
    content = text if isinstance(text, bytes) else text.format(file, other).encode()
    pathlib.Path(file).write_bytes(content)
    with pytest.raises(InputError) as caught:
        read_mixture(file, parse_player)
    assert str(caught.value) == wrong.format(file, other)


def test_in_a_match(tmp_path: pathlib.Path) -> None:
    """The record names the mixture and whom it drew; equal seeds give equal games."""
    file, games = tmp_path / "pool", tmp_path / "games.jsonl"
    file.write_text(".5 random\n.5 heuristic\n")
    words = ("match", f"mix={file}", "raider", "--game", "nano", "-n", 12, "--seed", 3)
    done = run(*words, "-o", games)
    assert done.status == 0, done.err
    again = run(*words, "--slots", 5, "-o", "-")
    head, *lines = map(json.loads, games.read_text().splitlines())
    assert head["players"][0]["name"] == "pool" and head["players"][0]["spec"] == f"mix={file}"
    key = "number"
    assert sorted(map(json.loads, again.out.splitlines()[1:]), key=lambda x: x[key]) == sorted(
        lines, key=lambda x: x[key]
    )
    drawn = [[one["drawn"][one["players"].index(k)] for one in lines] for k in (0, 1)]
    assert {*drawn[0]} == {"random", "heuristic"} and {*drawn[1]} == {None}
    assert run("rate", games).status == 0
    done = run("match", "--resume", "-o", games)
    assert done.status == 2 and "mixture that a record names" in done.err


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        (None, "match: {0}: No such file or directory"),
        (".5 random\n.5 human\n", "match: {0}: line 2: people play matches, and nothing else: "
         "'human'"),
        ("1 barrage\n", "match: {0}: line 1: barrage: a policy for barrage, not for kuhn"),
        (".5 raider\n.5 random\n", "match: {0}: line 1: raider does not play kuhn: 'raider'"),
    ],
)  # fmt: skip
def test_a_mixture_that_cannot_play(tmp_path: pathlib.Path, text: str | None, wrong: str) -> None:
    file = tmp_path / "pool"
    if text is not None:
        file.write_text(text)
    done = run("match", f"mix={file}", "random", "--game", "kuhn", "-n", 2, "-o", "-")
    assert (done.status, done.err) == (1, wrong.format(file) + "\n")


def test_as_an_opponent_of_self_play(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "pool"
    file.write_text(".5 random\n.5 heuristic\n")
    words = ("--game", "nano", "-n", 8, "--seed", 1, "--opponent", f"mix={file}")
    done = [run("selfplay", *words, "--slots", slots) for slots in (3, 8)]
    assert done[0].status == 0 and done[0].data == done[1].data
    reader = EpisodeReader(io.BytesIO(done[0].data), "-")
    assert len(list(reader)) == 8 and reader.header.opponent == f"mix={file}"


def test_it_is_judged_as_its_behaviour_strategy() -> None:
    """Kuhn's theorem: what beats the behaviour strategy wins as much from the members, drawn."""
    tree = Tree(Game("kuhn"))
    draw = np.random.default_rng(1)
    policies = [tree.uniform(), *(from_reach(tree, draw.random(len(tree.actions))) for _ in "ab")]
    weights = [0.2, 0.5, 0.3]
    reach = sum(w * tree.reach(p)[1:] for w, p in zip(weights, policies, strict=True))
    behaviour = from_reach(tree, reach)
    for player in (0, 1):
        value, best = best_response(tree, player, tree.reach(behaviour))
        mine = np.repeat(tree.players == player, np.diff(tree.first))
        each = [evaluate(tree, np.where(mine, best, p)).value for p in policies]
        assert value == pytest.approx(np.dot(weights, each) * (1, -1)[player])


def test_exploit_judges_networks_drawn(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a best response wins from the average of their reaches, which is the mixture's."""
    monkeypatch.chdir(tmp_path)
    game = Game("kuhn")
    tree, reach = Tree(game), np.zeros(0)
    observations, legal, which = tree.distinct_views()
    for name, seed, weight in (("a", 1, 0.75), ("b", 2, 0.25)):
        weights = drawn(build("mlp:8", game, seed)).state_dict()
        about = {"game": "kuhn", "rules": game.rules, "net": "mlp:8"}
        counts = {"step": seed, "episodes": 0, "batch": 4, "networks": ["online"]}
        tensors = {f"online/{key}": 3 * x.numpy() for key, x in weights.items()}
        save_checkpoint(name, tensors, {**about, **counts})
        policy = tree.flat(load(name).policy(observations, legal)[which])
        reach = weight * tree.reach(policy) + (reach if len(reach) else 0)
    pathlib.Path("pool").write_text(".75 a\n.25 b\n")
    done = run("exploit", "--json", "kuhn", "mix=pool", "a", "b")
    assert done.status == 0, done.err
    mixture, *alone = [policy["nash_conv"] for policy in json.loads(done.out)["policies"]]
    assert mixture == pytest.approx(sum(best_response(tree, k, reach)[0] for k in (0, 1)))
    assert min(abs(mixture - one) for one in alone) > 0.01


def test_exploit_takes_a_mixture(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = pathlib.Path("pool")
    file.write_text("1 random\n")
    done = run("exploit", "--json", "kuhn", "random", "mix=pool")
    assert done.status == 0, done.err
    uniform, mixture = json.loads(done.out)["policies"]
    assert mixture["name"] == "pool" and mixture["nash_conv"] == uniform["nash_conv"]
    few = "of a mixture, random, tables and networks without a search can be evaluated"
    large = "liars_dice:2x5 is too large for mixtures"
    for game, member, wrong in (("kuhn", "search=cfr,", few), ("liars_dice:2x5", "", large)):
        file.write_text(f"1 {member}random\n")
        assert run("exploit", game, "mix=pool").err.endswith(f"exploit: {wrong}: 'mix=pool'\n")
