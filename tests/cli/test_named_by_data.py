"""Data name files, such as a game's: they are not opened unless the command line names them."""

from __future__ import annotations

import json
import os
import pathlib
import shutil

import pytest

from learn.games import episodes, write
from running import ROOT, Done, run
from stratkit.convert.arrays import read_episodes
from stratkit.engine import Game
from stratkit.engine import game as games_of_engine
from stratkit.errors import InputError

SECRET = "correct horse battery staple\n"
LIMIT = 60  # seconds, if it waits for a pipe
REFUSED = "unknown, and data open no file: only the command line does, by --game"
PLAYERS = ("random", "name=b,random", "-n", 2, "--seed", 1)


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """What files of data may name: a map and a matrix, a secret, and a pipe without a writer."""
    shutil.copy(ROOT / "cengine/diplomacy/maps/tiny.map", tmp_path / "own.map")
    shutil.copy(ROOT / "formats/samples/modified_rps.matrix", tmp_path / "own.matrix")
    (tmp_path / "secret").write_text(SECRET)
    os.mkfifo(tmp_path / "pipe")
    return tmp_path


def try_(name: str, *arguments: object, folder: pathlib.Path) -> Done:
    done = run(name, *arguments, cwd=folder, timeout=LIMIT)
    assert not any(word in done.err for word in SECRET.split()), done.err
    return done


def record(folder: pathlib.Path, game: str, **changed: object) -> pathlib.Path:
    """A record of two games whose header names another game, or has other fields."""
    path = folder / "games.jsonl"
    made = try_("match", *PLAYERS, "--game", "diplomacy:own.map", "-o", path, "-f", folder=folder)
    assert made.status == 0, made.err
    header, *rest = path.read_text().splitlines(keepends=True)
    changed = {**json.loads(header), "game": game, **changed}
    path.write_text(json.dumps(changed, separators=(",", ":")) + "\n" + "".join(rest))
    return path


@pytest.mark.parametrize("name", ["diplomacy:secret", "diplomacy:pipe", "diplomacy:own.map"])
def test_a_game_that_a_record_names_opens_no_file(folder: pathlib.Path, name: str) -> None:
    path = record(folder, name)
    for words in (("check",), ("show",), ("convert", "--to", "json")):
        done = try_("fenfs", *words, path, folder=folder)
        assert done.status == 3 and f"game {name}: {REFUSED}" in done.err
    done = try_("match", "--resume", "-o", path, folder=folder)
    assert (done.status, done.error_line.partition(" (")[0]) == (
        1,
        f"match: {path}: line 1: game {name}: {REFUSED}",
    )


def test_the_command_line_names_it(folder: pathlib.Path) -> None:
    path, game = record(folder, "diplomacy:own.map"), "diplomacy:own.map"
    done = try_("fenfs", "check", path, "--allow-game", game, "--jobs", 2, folder=folder)
    assert done.status == 0, done.err
    assert try_("match", "--resume", "-o", path, "--game", game, folder=folder).status == 0
    for name, wrong in (("secret", "line 1, word 1: unknown"), ("pipe", "not a regular file")):
        done = try_("fenfs", "check", path, "--allow-game", f"diplomacy:{name}", folder=folder)
        assert done.status == 2 and f"game diplomacy:{name}: {wrong}" in done.err


@pytest.mark.parametrize("name", ["secret", "pipe", "own.map"])
def test_the_map_of_a_saved_game_opens_no_file(folder: pathlib.Path, name: str) -> None:
    (folder / "saved.json").write_text(json.dumps({"map": name, "phases": []}))
    done = try_("fenfs", "check", "saved.json", folder=folder)
    assert done.status == 3 and f"game diplomacy:{name}: {REFUSED}" in done.err


@pytest.mark.parametrize("name", ["secret", "pipe"])
def test_setups_that_a_record_names_are_setups(folder: pathlib.Path, name: str) -> None:
    named = {"file": name, "sha256": "0" * 64}
    wrong = "not a regular file" if name == "pipe" else "no file of setups"
    path = record(folder, "mini", rules={}, setups=named)
    done = try_("match", "--resume", "-o", path, folder=folder)
    assert done.status == 1 and f"match: {name}: {wrong}" in done.error_line
    players = json.loads(path.read_text().splitlines()[0])["players"]
    players[0]["spec"] = f"setup={name},human"
    path = record(folder, "mini", rules={}, players=players)
    done = try_("match", "--resume", "-o", path, folder=folder)
    assert done.status == 1 and f"match: {name}: {wrong}" in done.error_line
    players[0]["spec"] = f"./{name}"  # a network
    path = record(folder, "mini", rules={}, players=players)
    done = try_("match", "--resume", "-o", path, folder=folder)
    assert done.status == 1 and f"match: {name}: not a" in done.error_line


def test_episodes_and_runs_of_a_matrix(
    folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    game = "matrix:own.matrix"
    write(folder / "games.eps", *episodes(game, 8))
    monkeypatch.setattr(games_of_engine, "_named", set())  # another process reads them
    with pytest.raises(InputError, match=f"games.eps: game {game}: {REFUSED}"):
        read_episodes("games.eps")
    learn = ("train", "games.eps", "--out", "run", "--steps", 1, "--batch", 4, "--net", "mlp:8")
    done = try_(*learn, folder=folder)
    assert done.status == 1 and f"train: games.eps: game {game}: {REFUSED}" in done.error_line
    assert try_(*learn, "--game", game, folder=folder).status == 0
    more = ("train", "games.eps", "--out", "run", "--resume", "--steps", 2)
    done = try_(*more, folder=folder)
    assert done.status == 1 and f"00001.safetensors: game {game}: {REFUSED}" in done.error_line
    assert try_(*more, "--game", game, folder=folder).status == 0
    csv = ("fenfs", "convert", "--to", "csv", "games.eps")
    assert try_(*csv, folder=folder).status == 3
    assert try_(*csv, "--allow-game", game, folder=folder).data.count(b"\n") == 1 + 8 * 2
    assert try_("exploit", game, "run", folder=folder).status == 0
    Game(game)
    assert len(read_episodes("games.eps").games) == 8
