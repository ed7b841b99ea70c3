"""The trained players that come with stratkit."""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Callable

import pytest

from running import ROOT, here, run
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.match import PLAYERS
from stratkit.models import shipped
from stratkit.models.shipped import SHIPPED, weights_file
from stratkit.players.factory import game_of, open_player
from stratkit.players.registry import parse_player
from stratkit.players.spec import path_text
from stratkit.storage.checkpoints import load_network

HASHES = {  # as records name them
    "barrage": "62b8f8b6",
    "barrage-easy": "33540a03",
    "classic": "030dcf56",
    "classic-easy": "78c8b206",
}
FORMER = {"barrage-v1": "barrage-easy", "classic-v2": "classic-easy", "classic-v5": "classic"}


@pytest.mark.parametrize("name", SHIPPED)
def test_they_are_small_and_say_what_they_are(name: str) -> None:
    file = pathlib.Path(weights_file(name))
    assert file.stat().st_size <= 4 * 2**20
    metadata = load_network(file, None)[1]
    game = Game(metadata["game"])
    assert metadata["rules"] == game.rules and name.split("-")[0] == game.name
    spec = parse_player(f"preset=deepnash,{name}")
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


@pytest.mark.parametrize("name", SHIPPED)
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
    play = f"^match human preset=strong,{player} .*$"
    (line,) = re.findall(play, (ROOT / "README.md").read_text(), re.M)
    words = line.replace(" --browser", "").split()
    words[words.index("-o") + 1] = str(tmp_path / "a")
    done = run(*words, stdin=b"\nsave\n")
    assert done.status == 0 and "match: to go on: match human" in done.err, done.err


def test_hints_and_other_games() -> None:
    for typed, meant in (("barage", "barrage"), ("barrage-v4", "barrage"), *FORMER.items()):
        with pytest.raises(InputError, match=f"did you mean '{meant}'"):
            open_player(parse_player(typed), Game("barrage"), seed=1, rows=4)
    for name in SHIPPED:
        made_for = name.split("-")[0]
        game = "barrage" if made_for == "classic" else "classic"
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
