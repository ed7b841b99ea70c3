"""The trained players that come with stratkit."""

from __future__ import annotations

import json
import math
import pathlib
import re
import statistics
from collections.abc import Callable

import pytest

from running import ROOT, here, run
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.match import PLAYERS
from stratkit.models import shipped
from stratkit.models.shipped import LEARNED, PLACING, SHIPPED, weights_file
from stratkit.players.factory import game_of, open_player
from stratkit.players.registry import parse_player
from stratkit.players.spec import path_text
from stratkit.storage.checkpoints import load_network

HASHES = {  # as records name them
    "barrage": "66ca95c9",
    "barrage-easy": "ab21668a",
    "classic": "f23cb692",
    "classic-easy": "78c8b206",
    "dice-v1": "87a79a7f",
    "diplomacy-v1": "5287c3e0",
    "fva-v1": "4d566312",
}
FORMER = {"barrage-v1": "barrage-easy", "classic-v2": "classic-easy", "classic-v5": "classic"}


@pytest.mark.parametrize("name", SHIPPED)
def test_they_are_small_and_say_what_they_are(name: str) -> None:
    file = pathlib.Path(weights_file(name))
    assert file.stat().st_size <= 4 * 2**20
    metadata = load_network(file, None)[1]
    game = Game(metadata["game"])
    assert metadata["rules"] == game.rules and LEARNED[name] == game.name
    preset = "deepnash" if name in PLACING else "fast"
    spec = parse_player(f"preset={preset},{name}")
    contestant = open_player(spec, game, seed=1, rows=4)
    assert (contestant.name, game_of(spec)) == (name, game.name)
    assert contestant.spec.endswith(f",{name}") and contestant.step == metadata["step"]
    assert contestant.sha256 is not None and contestant.sha256.startswith(HASHES[name])


@pytest.mark.parametrize(
    ("player", "other", "least"),
    # stratkit-players(7) has their scores
    [("barrage-easy", "random", 18), ("preset=fast,barrage", "heuristic", 20)],
)
def test_they_beat_weaker_ones_and_are_recorded_by_their_names(
    player: str, other: str, least: int
) -> None:
    arguments = ("--game", "barrage", "-n", 24, "--seed", 2, "-q", "-o", "-")
    done = run("match", other, player, *arguments)
    assert done.status == 0
    first, *games = map(json.loads, done.out.splitlines())
    name = player.split(",")[-1]
    assert [player["name"] for player in first["players"]] == [other, name]
    assert first["players"][1]["spec"].startswith("net=online,")
    assert first["players"][1]["spec"].endswith(name)
    won = [game["players"][game["returns"].index(1)] for game in games if 1 in game["returns"]]
    assert won.count(1) >= least


@pytest.mark.parametrize("name", PLACING)
def test_without_the_repetition_rules_they_play_on(name: str) -> None:
    """Programs of 2012 know none: games must end, and by no fault."""
    free = ("--two-squares", "off", "--more-squares", "off", "--max-plies", 24)
    players = f"name=deep,preset=strong,rollouts=4,{name}", f"preset=fast,{name}"
    game = name.split("-")[0]
    done = run("match", *players, "--game", game, *free, "-n", 2, "--seed", 3, "-q", "-o", "-")
    assert done.status == 0
    assert done.err.count("more_squares 1, and 0 in this game") == 2
    header, *games = map(json.loads, done.out.splitlines())
    assert header["rules"]["two_squares"] == 0 and len(games) == 2
    assert all(game["fault"] is None and game["moves"] for game in games)


@pytest.mark.parametrize("player", ["barrage", "classic"])
def test_a_person_meets_them(player: str, tmp_path: pathlib.Path) -> None:
    """As README's first screen says, without the browser."""
    play = rf"^match human preset=\w+,{player} .*$"
    (line,) = re.findall(play, (ROOT / "README.md").read_text(), re.M)
    words = line.replace(" --browser", "").split()
    words[words.index("-o") + 1] = str(tmp_path / "a")
    done = run(*words, stdin=b"\nsave\n")
    assert done.status == 0 and "match: to go on: match human" in done.err, done.err


def test_hints_and_other_games() -> None:
    for typed, meant in (("barage", "barrage"), ("barrage-v4", "barrage"), *FORMER.items()):
        with pytest.raises(InputError, match=f"did you mean '{meant}'"):
            open_player(parse_player(typed), Game("barrage"), seed=1, rows=4)
    for name, made_for in LEARNED.items():
        game = "classic" if made_for == "barrage" else "barrage"
        done = here("match", name, "random", "--game", game, "-n", 2, "-o", "-")
        assert done.status == 1
        assert done.error_line == f"match: {name}: a policy for {made_for}, not for {game}"


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (None, "No such file or directory"),
        (lambda whole: whole[:1000], "not a checkpoint, or truncated"),
        (lambda whole: whole[:-2] + bytes([whole[-2] ^ 64]) + whole[-1:], "damaged: its tensors"),
        (lambda whole: whole.replace(b"barrage", b"borrage", 1), "damaged: its metadata"),
        (lambda whole: b"", "not a checkpoint, or truncated"),
    ],
)
def test_a_damaged_installation_is_one_line(
    content: Callable[[bytes], bytes] | None,
    what: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "trained").mkdir()
    file = tmp_path / "trained/barrage-easy.shuffled"
    if content:
        file.write_bytes(content(pathlib.Path(weights_file("barrage-easy")).read_bytes()))
    monkeypatch.setattr(shipped, "__file__", str(tmp_path / "shipped.py"))
    done = here("match", "barrage-easy", "random", "--game", "barrage", "-n", 2, "-o", "-")
    assert (done.status, done.data) == (1, b"")
    assert done.error_line.startswith(f"match: {file}: {what}")
    assert done.error_line.endswith("stratkit is not whole: install it again")


def test_a_path_of_that_name_is_written_otherwise() -> None:
    for name in (*SHIPPED, "random", "human"):
        assert path_text(name, PLAYERS) == f"./{name}"
        assert parse_player(path_text(name, PLAYERS)).spec == f"./{name}"
    assert path_text("run", PLAYERS) == "run"


def test_a_run_of_that_name_is_not_taken_for_it(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert open_player(parse_player("barrage"), Game("barrage"), 1, 4).caution is None
    pathlib.Path("barrage").mkdir()
    said = "barrage is the network that comes with stratkit, and what lies here is ./barrage"
    assert open_player(parse_player("barrage"), Game("barrage"), 1, 4).caution == said


def test_the_game_of_a_network_is_known(tmp_path: pathlib.Path) -> None:
    """Without --game; not where two have learned different games, nor of a path."""
    for players in (("dice-v1", "random"), ("random", "preset=fast,dice-v1")):
        done = run("match", *players, "-n", 2, "--seed", 1, "-q", "-o", "-")
        assert json.loads(done.out.splitlines()[0])["game"] == "liars_dice:2x5", done.err
    no = "no built-in player, and no such file or folder:"
    for players, status, why in (
        (("dice-v1", "barrage"), 2, "missing --game"),
        (("random", "heuristic"), 2, "missing --game"),
        (("dice-v9", "random"), 1, f"{no} 'dice-v9' (did you mean 'dice-v1'?)"),
        (("./dice-v1", "random"), 1, "./dice-v1: no such file or folder (did you mean 'dice-v1'?)"),
    ):
        done = run("match", *players, "-n", 2, "-q", "-o", "-")
        assert done.status == status and done.error_line.startswith(f"match: {why}")


def test_the_game_is_known_where_there_is_nothing_to_resume(tmp_path: pathlib.Path) -> None:
    """Where there is a record, its own counts."""
    file, words = tmp_path / "a.jsonl", ("-n", 2, "--seed", 1, "-q", "--resume", "-o")
    for players in (("dice-v1", "random"), (), ("dice-v1", "random")):
        done = run("match", *players, *words, file)
        assert done.status == 0, done.err
        header, *games = file.read_text().splitlines()
        assert json.loads(header)["game"] == "liars_dice:2x5" and len(games) == 2
    done = run("match", "random", "heuristic", *words, tmp_path / "b.jsonl")
    assert (done.status, done.error_line) == (2, "match: missing --game")
    kuhn, two = tmp_path / "c.jsonl", ("random", "name=other,random")
    assert run("match", *two, "--game", "kuhn", *words, kuhn).status == 0
    done = run("match", "dice-v1", "random", *words, kuhn)
    assert done.status == 1 and "a policy for liars_dice:2x5, not for kuhn" in done.error_line


def test_dice_by_a_person(tmp_path: pathlib.Path) -> None:
    """A bid is made, the other one answers, and the game goes on another day."""
    file = tmp_path / "a.jsonl"
    done = run("match", "human", "dice-v1", "-n", 2, "--seed", 3, "-o", file, stdin=b"1x1\nsave\n")
    assert done.status == 0 and "match: to go on: match human dice-v1" in done.err, done.err
    assert "your dice: " in done.out + done.err
    assert json.loads(file.read_text().splitlines()[0])["players"][1]["name"] == "dice-v1"


def test_orders_by_a_person(tmp_path: pathlib.Path) -> None:
    """Both powers' orders are carried out, and the game goes on another day."""
    words = ("match", "human", "fva-v1", "-n", 2, "--seed", 3, "-o", tmp_path / "a.jsonl")
    done = run(*words, stdin=b"A VIE-GAL; F TRI-ALB\nsend\nsave\n")
    assert done.status == 0 and "match: to go on: match human fva-v1" in done.err, done.err
    told = done.out + done.err
    assert "AUSTRIA: A BUD H; A VIE - GAL; F TRI - ALB" in told
    assert re.search(r"^FRANCE: A PAR .*; F BRE .*; A MAR ", told, re.M)
    assert "you play AUSTRIA, F1901M: moves" in told


def test_orders_in_play() -> None:
    """stratkit-players(7) has the scores: chance loses every game, rules of thumb nearly all."""
    for other, games, least in (("random", 8, 8), ("heuristic", 20, 16)):
        done = run("match", "fva-v1", other, "-n", games, "--seed", 6, "-q", "-o", "-")
        _, *played = map(json.loads, done.out.splitlines())
        won = [one["players"][0] for one in played if one["returns"][0] > one["returns"][1]]
        won += [one["players"][1] for one in played if one["returns"][1] > one["returns"][0]]
        assert won.count(0) >= least


def test_orders_of_seven_in_play() -> None:
    """stratkit-players(7) has the scores: a seat of the network is worth more than one of the rules
    of thumb, alone among six and the other way round."""
    words = ("--seats", "1v6", "-n", 7, "--seed", 6, "-q", "-o", "-")
    done = run("match", "diplomacy-v1", "heuristic", *words)
    _, *played = map(json.loads, done.out.splitlines())
    for crowd in (0, 1):
        games = [one for one in played if one["players"].count(crowd) == 6]
        seats = [seat for one in games for seat in zip(one["players"], one["returns"], strict=True)]
        network, rules = ([got for who, got in seats if who == player] for player in (0, 1))
        assert len(games) == 7 and statistics.fmean(network) > statistics.fmean(rules)


def test_dice_in_play_are_worth_what_is_exactly_known() -> None:
    """Of uniform play. stratkit-players(7) has the exact values of both seats."""
    games = 2000
    words = ("--game", "liars_dice:2x5", "-n", games, "--seed", 5, "-q", "-o", "-")
    done = run("match", "dice-v1", "random", *words)
    _, *played = map(json.loads, done.out.splitlines())
    page = re.sub(r"\\-", "-", (ROOT / "man/stratkit-players.7").read_text())
    [values] = re.findall(r"^uniform +([.\d]+) +([.\d]+)$", page, re.M)
    for seat, exact in enumerate(map(float, values)):
        returns = [one["returns"][seat] for one in played if one["players"][seat] == 0]
        error = math.sqrt((1 - exact**2) / len(returns))
        assert abs(statistics.fmean(returns) - exact) < 4 * error


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("match preset=deepnash,dice-v1 random -n 2 -o -", "liars_dice:2x5 has no such post-pr"),
        ("match search=cfr,dice-v1 random -n 2 -o -", "dice-v1: a policy, where a value network"),
        ("match search=rm,dice-v1 random -n 2 -o -", "search=rm: liars_dice:2x5 has no simult"),
        ("match human dice-v1 --page page.html", "--page is for boards of Stratego, not for"),
        ("match --serve dice-v1", "'liars_dice:2x5' is no variant of Stratego"),
        ("match dice-v1 level=1 -n 2 -o -", "levels are for barrage and classic, not for liars"),
        ("deploy-gen --game barrage -n 1 --from dice-v1", "dice-v1: a policy for liars_dice:2x5"),
        ("exploit kuhn dice-v1", "dice-v1: a policy for liars_dice:2x5, not for kuhn"),
        ("selfplay --game kuhn --policy dice-v1 -n 1 -o -", "dice-v1: a policy for liars_dice:2x"),
        ("stratkit export dice-v1 -o net.onnx", "dice-v1: a policy of the net mlp:128x128 cannot"),
        ("analyse --by dice-v1 games.jsonl", "it plays liars_dice:2x5, and only games with set"),
        ("match search=mmd,fva-v1 random -n 2 -o -", "search=mmd: diplomacy:fva has no worlds"),
        ("match fva-v1 random --game diplomacy --seats 1v6 -n 7 -o -", "fva-v1: a policy for dip"),
        ("match diplomacy-v1 fva-v1 -n 7 -o -", "match: missing --game"),
        (
            "match human diplomacy-v1 -n 1 -o h.jsonl",
            "diplomacy:standard has 7 players: --seats 1v6 seats",
        ),
        ("match human fva-v1 --page page.html", "--page is for boards of Stratego, not for dip"),
        ("analyse --by fva-v1 games.jsonl", "it plays diplomacy:fva, and only games with set"),
        (
            "finetune dice-v1 --out run --steps 1",
            "finetune: dice-v1: a policy, where a checkpoint is needed",
        ),
    ],
)
def test_where_they_have_no_place_it_is_one_line(
    words: str, why: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = here(*words.split())
    assert done.status in (1, 2) and why in done.error_line, done.err
