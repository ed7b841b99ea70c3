"""The page that needs no match: what its module plays is what the players of Python play."""

from __future__ import annotations

import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from running import ROOT
from storage.stored import save_network
from stratkit.engine import Batch, Game, observation_dtype
from stratkit.engine.stratego import placements, variant
from stratkit.errors import InputError, UsageError
from stratkit.humans.observed_game import ObservedGame
from stratkit.humans.scenes import turn_scene
from stratkit.humans.standalone.page import Opponent, facts, opponents_of, page, write_page
from stratkit.match import PLAYERS
from stratkit.models.flat_weights import flat_network
from stratkit.models.open_model import open_model
from stratkit.nets.choice import network_with
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.fromto_weights import weight_shapes
from stratkit.notation.setups import parse_setup
from stratkit.notation.squares import move_text
from stratkit.players.factory import open_player, post_processed
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Player, Views
from stratkit.players.registry import parse_player
from stratkit.players.searching.options import SearchOptions
from stratkit.players.spec import PlayerSpec
from stratkit.players.testtime.options import PostProcessing

STANDALONE = ROOT / "stratkit/humans/standalone"
SEED = 2**63 + 5  # both halves of it count
GAMES = int(os.environ.get("GAMES", "2"))  # of each opponent, for who would compare more


def specs(*players: str) -> list[PlayerSpec]:
    return [parse_player(text, PLAYERS) for text in players]


def played(game: Game, player: Player, number: int) -> list[int]:
    """The actions of a game of a player against itself."""
    batch, actions, games = Batch(game, 1), list[int](), np.array([number], np.int64)
    for side in (0, 1):
        player.begin(games, np.array([side], np.int8))
    while batch.actors()[0] >= 0:
        numbers = np.array([len(actions)], np.int32)
        seen = batch.actors(), numbers, batch.legal(), batch.observe()
        chosen = player.act(Views(games, *seen, batch, np.array([0], np.int64)))
        batch.apply(chosen.actions)
        actions.append(int(chosen.actions[0]))
    for side in (0, 1):
        player.end(games, np.array([side], np.int8))
    return actions


def values_of(evaluator: Evaluator, game: Game, actions: Sequence[int]) -> npt.NDArray[np.float32]:
    """What a network expects wherever a piece moves, float32 [n]."""
    batch, seen = Batch(game, 1), []
    for action in actions:
        seen.append(batch.observe()[0])
        batch.apply(np.array([action], np.int32))
    views = np.stack(seen)
    return evaluator.values(
        views[views.view(observation_dtype(variant(game.name).squares))[:, 0]["phase"] == 0]
    )


def shown(
    game: Game, other: Player, number: int, setup: npt.NDArray[np.uint8]
) -> tuple[list[str], list[dict[str, Any]]]:
    """What a person says in a game against a player, with this setup, and is shown by a match."""
    batch, games, own = Batch(game, 1), np.array([number], np.int64), variant(game.name)
    side, done, words, scenes = number % 2, 0, [""], [{}]
    observed = ObservedGame(own, number, side)
    placed = iter(placements(own, setup).tolist())
    while (actor := int(batch.actors()[0])) >= 0:
        seen = batch.observe()
        if actor != side:
            views = games, batch.actors(), np.array([done], np.int32), batch.legal(), seen
            actions = other.act(Views(*views, batch, np.array([0], np.int64))).actions
            batch.apply(actions)
            done += 1
            continue
        fields = seen.view(observation_dtype(own.squares))[0, 0]
        if fields["phase"]:
            move = [next(placed)]
        else:
            turn = observed.look(fields, batch.moves(0, side))
            best = sorted(turn.moves)[done % len(turn.moves)]
            words.append(move_text(*best, own.width))
            scenes.append(turn_scene(turn))
            move = [own.framed(side, square) for square in best]
        for action in move:
            batch.apply(np.array([action], np.int32))
            done += 1
    return words, scenes


def by_node(script: str, *files: pathlib.Path) -> dict[str, Any]:
    """What a script beside this file prints."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    command = [node, pathlib.Path(__file__).with_name(script), *files]
    found: dict[str, Any] = json.loads(subprocess.check_output(command, text=True))
    return found


def compared(folder: pathlib.Path, html: str, games: Mapping[int, Sequence[int]]) -> dict[str, Any]:
    """What the page would have done in these games."""
    file, of = folder / "page.html", folder / "games.json"
    file.write_text(html)
    all_ = [{"game": game, "actions": list(actions)} for game, actions in games.items()]
    of.write_text(json.dumps({"seed": str(SEED), "games": all_}))
    return by_node("standalone_check.js", STANDALONE / "module.js", file, of)


@pytest.mark.parametrize("other", ["barrage", "preset=fast,barrage", "level=5"])
def test_the_page_plays_as_the_command_line_does(other: str, tmp_path: pathlib.Path) -> None:
    game, both = Game("barrage", {"max_plies": 70}), specs("human", other)
    player = open_player(both[1], game, SEED, 1).player
    numbers = [*range(GAMES - 1), 2**31 - 1]
    games = {number: played(game, player, number) for number in numbers}
    write_page(str(tmp_path / "it.html"), both, game, None, False)
    found = compared(tmp_path, (tmp_path / "it.html").read_text(), games)
    assert found["different"] == [] and found["compared"] > 75 * GAMES, found["compared"]


@pytest.mark.parametrize(
    ("net", "name", "post"),
    [
        ("fromto:8x2", "mini", PostProcessing()),
        ("fromto:5x1+deployment", "nano", PostProcessing(threshold=0.2)),
        ("fromto:8x1+mirrored", "micro", PostProcessing(quanta=5, deploy_threshold=0.3)),
        ("fromto:8x1+mirrored", "mini", PostProcessing(temperature=0.5)),
    ],
)
def test_any_network_and_board(
    net: str, name: str, post: PostProcessing, tmp_path: pathlib.Path
) -> None:
    """Weights are drawn: what a layer has wrong, others do not hide."""
    game, draws = Game(name), np.random.default_rng(3)
    sizes = net.partition(":")[2].partition("+")[0].split("x")
    shapes = weight_shapes(game.shape, *map(int, sizes), with_deployment="+" in net)
    weights = {
        layer: draws.normal(0, 0.4, shape).astype(np.float32) for layer, shape in shapes.items()
    }
    evaluator = Evaluator(net, network_with(net, game, weights, False), 1)
    network = NetworkPlayer(evaluator, game, SEED)
    player = post_processed(network, SearchOptions(), post, 1)
    games = {number: played(game, player, number) for number in range(4)}
    flat, own = flat_network(net, weights), variant(name)
    sizes_of = {"sizes": [flat.channels, flat.blocks, flat.ending], "bytes": len(flat.weights)}
    processing = [
        post.temperature,
        *post.processing(deploying=False),
        *post.processing(deploying=True),
    ]
    opponents = [{"network": 0, "processing": processing}]
    known = {"game": name, "rules": "", "squares": own.squares, "networks": [sizes_of]}
    known |= {"opponents": opponents}
    found = compared(tmp_path, page(known, flat.weights), games)
    assert found["different"] == [] and found["compared"] > 40
    expected = np.concatenate([values_of(evaluator, game, games[number]) for number in games])
    np.testing.assert_allclose(found["values"], expected, atol=1e-5)


def test_a_person_is_shown_what_a_match_shows(tmp_path: pathlib.Path) -> None:
    """Turn by turn, on both sides, and after moves that were taken back and made again."""
    game, own = Game("barrage", {"max_plies": 90}), tmp_path / "own.setups"
    own.write_text("LAAAAAAABMAAAADEAACKAAAAAAAAAAADAAAAAAAA\n")
    both = specs(f"setup={own},human", "barrage-easy")
    contestant = open_player(both[1], game, SEED, 1)
    write_page(str(tmp_path / "it.html"), both, game, None, False)
    setup = parse_setup(own.read_text().strip(), variant("barrage"))
    words, scenes = zip(
        *(shown(game, contestant.player, number, setup) for number in (0, 1)), strict=True
    )
    (tmp_path / "words.json").write_text(json.dumps({"seed": str(SEED), "games": words}))
    files = STANDALONE, tmp_path / "it.html", tmp_path / "words.json"
    found = by_node("standalone_scenes.js", *files)
    turns = fights = 0
    for mine, theirs in zip(scenes, found["scenes"], strict=True):
        assert theirs[0]["kind"] == "offer" and len(mine) == len(theirs)
        for one, other in zip(mine[1:], theirs[1:], strict=True):
            one["moves"].sort()
            other["moves"].sort()
            written = json.loads(json.dumps(one))
            assert {key: written[key] for key in other} == other
            turns += 1
        fights += sum(ply[3] for ply in mine[-1]["log"])
    assert turns > 20 and fights > 4 and len(found["games"]) >= 1


def test_a_page_whose_network_is_another_one_says_so(tmp_path: pathlib.Path) -> None:
    game, both = Game("barrage"), specs("human", "barrage-easy")
    model = open_model("barrage-easy", None)
    flat = flat_network(model.net, model.weights)
    known = facts(game, both, [("it", Opponent(both[1]))], None, {" barrage-easy": flat})
    html = page(known, flat.weights[:-4])
    with pytest.raises(subprocess.CalledProcessError):
        compared(tmp_path, html, {})


def test_equal_commands_write_equal_pages(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    game, both = Game("barrage", {"two_squares": 5}), specs("barrage-easy", "human")
    pages = []
    for name in "ab":
        size = write_page(str(tmp_path / name), both, game, 7, False)
        pages.append((tmp_path / name).read_bytes())
        assert size == len(pages[-1]) < 1_000_000
    assert pages[0] == pages[1] and b'"seed":"7","first":1' in pages[0]
    assert b"two_squares=5" in pages[0] and b"default-src 'none'" in pages[0]
    with pytest.raises(InputError, match="exists already"):
        write_page(str(tmp_path / "a"), both, game, 7, False)
    monkeypatch.setattr("stratkit.humans.standalone.page.MAX_BYTES", 500_000)
    with pytest.raises(InputError, match=r"the page would have 0\.\d MB, of 0 at most"):
        write_page(str(tmp_path / "c"), both, game, 7, False)


@pytest.mark.parametrize("part", ["engine.wasm", "match.js", None])
def test_a_page_of_other_parts_goes_on_with_no_game_of_this_one(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, part: str | None
) -> None:
    """Its rules may forbid what was played here, and a tab that it is loaded into keeps that."""
    known = facts(Game("barrage"), specs("human", "barrage-easy"), [], None, {})
    here = tmp_path / "humans" / "standalone"
    shutil.copytree(STANDALONE.parent, here.parent)
    monkeypatch.setattr("stratkit.humans.standalone.page.HERE", here)

    def identity() -> str:
        [found] = re.findall('"id":"([0-9a-f]{64})"', page(known, b""))
        return str(found)

    before = identity()
    if part is not None:
        (here / part).write_bytes((here / part).read_bytes() + b"\n")
    assert (identity() == before) is (part is None)


@pytest.mark.parametrize(
    ("players", "game", "why"),
    [
        (("human", "human"), "barrage", "for human and one network"),
        (("human", "heuristic"), "barrage", "for human and one network"),
        (("barrage", "barrage"), "barrage", "for human and one network"),
        (("human", "preset=strong,barrage"), "barrage", "only temperature, threshold"),
        (("human", "per=action,barrage"), "barrage", "only temperature, threshold"),
        (("human", "memory=on,barrage"), "barrage", "only temperature, threshold"),
        (("human", "barrage"), "kuhn", "for boards of Stratego, not for kuhn"),
        (("clock=60,human", "barrage"), "barrage", "of a person's keys only setup"),
        (("human", "level=1"), "barrage", "a page has the networks: 5, 6, 7"),
        (("human", "level=any"), "mini", "a page has the networks: none"),
    ],
)
def test_other_players_are_refused(players: tuple[str, str], game: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        opponents_of(specs(*players), Game(game))


def test_the_module_is_made_of_the_sources(tmp_path: pathlib.Path) -> None:
    """Byte by byte, by the one compiler that makes it."""
    made = runpy.run_path(str(ROOT / "cengine/page/build.py"))
    if not made["is_possible"]():
        pytest.skip("clang 14.0.6 and lld 14 are not installed")
    made["build"](tmp_path / "engine.wasm")
    same = (tmp_path / "engine.wasm").read_bytes() == (STANDALONE / "engine.wasm").read_bytes()
    assert same, "make page builds it"


def test_a_network_that_no_page_plays_is_named_by_its_file(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.safetensors"
    save_network(file, "plain", Game("mini"))
    players = [parse_player(text, PLAYERS) for text in ("human", str(file))]
    with pytest.raises(InputError) as caught:
        write_page(str(tmp_path / "page.html"), players, Game("mini"), None, False)
    what = "a page plays networks fromto, and this one is another"
    assert str(caught.value) == f"{file}: {what}: 'plain'" and not (tmp_path / "page.html").exists()
