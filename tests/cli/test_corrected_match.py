"""Corrected networks, and a person, in the command match; and their moves explained."""

from __future__ import annotations

import json
import pathlib
import shlex
import sys

import pytest

from cli.test_finetune_command import untrained
from running import ROOT, run
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.engine.stratego import variant

SETUP = "MDBAAACDEKLA"
BOT = "ucc:" + shlex.join([sys.executable, str(ROOT / "tests/ucc/ucc_bot.py")])
PLAY = ("human", "-n", 1, "--game", "nano", "--seed", 1)


def test_the_whole_chain_is_recorded_and_explained(tmp_path: pathlib.Path) -> None:
    source = untrained(tmp_path)
    games, log = tmp_path / "g.jsonl", tmp_path / "log.txt"
    arguments = (f"name=full,preset=deepnash,bounds=.1,{source}", "random", "--game", "nano")
    done = run("match", *arguments, "-n", 2, "-o", games, "--explain", log)
    assert done.status == 0, done.err
    header, *records = (json.loads(line) for line in games.read_text().splitlines())
    spec = header["players"][0]["spec"]
    for word in ("quanta=16", "deploy-quanta=32", "eager=2.0", "memory=on", "bounds=0.1"):
        assert f"{word}," in spec
    assert len(records) == 2
    text = log.read_text()
    own = sum((r["plies"] + (r["players"][0] == 0)) // 2 for r in records)
    assert text.count("full: ") == own + 2 * variant("nano").pieces
    assert text.count(" to move, ply ") == own
    again = run("match", "--resume", "-o", games)
    assert again.status == 0, again.err  # the spec of the record is a PLAYER


def test_a_record_with_an_old_key_is_rated_and_resumed(tmp_path: pathlib.Path) -> None:
    """Releases before called repeat-threats= shuttle=; such a record differs in nothing else."""
    players = "preset=deepnash,name=N,barrage-easy", "random"
    options = ("--game", "barrage", "-n", 2, "--max-plies", 30, "--seed", 5)
    new, old = tmp_path / "new.jsonl", tmp_path / "old.jsonl"
    assert run("match", *players, *options, "-o", new).status == 0
    whole = new.read_bytes().replace(b"repeat-threats=off", b"shuttle=off")
    assert whole != new.read_bytes()
    old.write_bytes(whole)
    rated = run("rate", old, new)
    assert rated.status == 0 and "2 games" in rated.err + rated.out, rated.err
    for again in ((), (*players, *options)):
        old.write_bytes(whole[:-40])
        done = run("match", *again, "--resume", "-o", old)
        assert done.status == 0 and "shuttle" not in done.err, done.err
        assert old.read_bytes() == whole


def test_the_chain_plays_against_programs(tmp_path: pathlib.Path) -> None:
    network, games, log = (tmp_path / name for name in ("net.safetensors", "g.jsonl", "log"))
    save_network(network, "plain", Game("mini"))
    players = (f"name=full,preset=deepnash,{network}", f"name=bot,time=60,startup=60,{BOT}")
    options = ("--game", "mini", "--max-plies", 30, "--two-squares", "off", "--more-squares", "off")
    options += ("--concurrency", 2, "--explain", log)  # the bot knows no repetition rule
    done = run("match", *players, "-n", 2, *options, "-o", games)
    assert done.status == 0, done.err
    records = [json.loads(line) for line in games.read_text().splitlines()[1:]]
    assert [record["fault"] for record in records] == [None, None]
    own = sum((r["plies"] + (r["players"][0] == 0)) // 2 for r in records)
    assert log.read_text().count("full: ") == own + 2 * variant("mini").pieces > 16


@pytest.mark.parametrize(
    ("rubbish", "said"),
    [
        (b"\xff\xfe\x00", "not the words of a person: not UTF-8"),
        (b"my diary\n", "not a word of a game: 'my diary'"),
        (b"my diary", "not a word of a game: 'my diary'"),
        (b"7\n", "not a word of a game: '7'"),
        (b"9" * 5000 + b" x\n", "not a word of a game: '9999"),
        ("² x\n".encode(), "not a word of a game: '² x'"),
        (b"0 level x\n", "not a word of a game: '0 level x'"),
        (b"0 level 1x\n", "not a word of a game: '0 level 1x'"),
        (b"0 led x\n", "not a word of a game: '0 led x'"),
        (b"0 led " + b"9" * 5000 + b"\n", "not a word of a game: '0 led 9999"),
        (b"0 clock 0 " + b"9" * 5000 + b".0\n", "not a word of a game: '0 clock 0 9999"),
        (b"0 clock 2 1.0\n", "not a word of a game: '0 clock 2 1.0'"),
        (b"0 \n0 xyzzy\n", "fit this game, which begins again without this file: 'xyzzy'"),
    ],
)
def test_rubbish_beside_the_record_is_one_line(
    tmp_path: pathlib.Path, rubbish: bytes, said: str
) -> None:
    games = tmp_path / "g.jsonl"
    first = run("match", "human", "random", *PLAY[1:], "-o", games, stdin=b"\nsave\n")
    assert first.status == 0, first.err
    (tmp_path / "g.jsonl.said").write_bytes(rubbish)
    second = run("match", "--resume", "-o", games, stdin=b"resign\n")
    assert second.status == 1 and said in second.err, second.err
    left = (tmp_path / "g.jsonl.said").read_bytes()
    assert left.startswith(rubbish) and b"resign" not in left
    assert games.exists() and "Traceback" not in second.err


def test_a_file_beside_the_record_that_is_no_match_s_stays(tmp_path: pathlib.Path) -> None:
    games, diary = tmp_path / "g.jsonl", tmp_path / "g.jsonl.said"
    diary.write_text("my diary\n")
    done = run("match", "human", "random", *PLAY[1:], "-o", games, stdin=b"\nsave\n")
    assert done.status == 1 and "g.jsonl.said: not a word of a game: 'my diary'" in done.err
    assert diary.read_text() == "my diary\n"
    diary.rename(tmp_path / "diary")
    (tmp_path / "diary").write_text("")
    diary.symlink_to("diary")
    done = run("match", "human", "random", *PLAY[1:], "-o", games, "-f", stdin=b"\nsave\n")
    assert done.status == 1 and "g.jsonl.said: a symbolic link" in done.err
    assert diary.is_symlink() and (tmp_path / "diary").read_text() == ""


def test_a_person_plays_leaves_and_comes_back(tmp_path: pathlib.Path) -> None:
    source, games = untrained(tmp_path), tmp_path / "g.jsonl"
    first = run("match", *PLAY[:1], source, *PLAY[1:], "-o", games, stdin=b"\n?\nsave\n")
    assert first.status == 0, first.err
    assert "seen by red" in first.out and "network" in first.out and ", value " in first.out
    assert "--resume" in first.err.splitlines()[-1]
    words = (tmp_path / "g.jsonl.said").read_text().splitlines()
    assert [word.split()[0] for word in words if " > " not in word] == ["0"]
    second = run("match", "--resume", "-o", games, stdin=b"resign\n\nresign\n")
    assert second.status == 0, second.err
    _, *records = (json.loads(line) for line in games.read_text().splitlines())
    assert [r["reason"] for r in records] == ["resigned"] * 2
    assert [r["result"] for r in records] == ["blue", "red"]
    assert {r["adjudicator"] for r in records} == {"player"}
    assert not (tmp_path / "g.jsonl.said").exists()
    assert "game 1: you lost (resigned)" in second.err


def test_a_position_is_explained(tmp_path: pathlib.Path) -> None:
    network, position = tmp_path / "net.safetensors", "MDEJKLBC" + "a" * 20 + "?!?????? r 3"
    save_network(network, "plain", Game("mini"))
    done = run("fenfs", "show", "--explain", f"quanta=16,{network}", position)
    assert done.status == 0, done.err
    assert done.out.startswith("red to move, ply 3, seen by red") and "quanta" in done.out
    done = run("fenfs", "show", "--explain", network, "--view", "red", position)
    assert done.status == 2 and "--explain" in done.error_line


def test_a_position_is_one_of_the_game_that_the_network_has_learned(tmp_path: pathlib.Path) -> None:
    """A board of 10 x 10 does not tell classic from Barrage."""
    network, samples = tmp_path / "net.safetensors", ROOT / "formats/samples/barrage.fenfs"
    save_network(network, "plain", Game("barrage"))
    line = samples.read_text().splitlines()[5]
    done = run("fenfs", "show", "--explain", network, line)
    assert done.status == 0, done.err
    assert " to move, ply 5, " in done.out and "network" in done.out
    done = run("fenfs", "show", "--explain", network, "MDEJKLBC" + "a" * 20 + "?!?????? r 3")
    assert done.status == 3 and "not a board of barrage" in done.error_line
    done = run("fenfs", "show", "--explain", "random", line)
    assert done.status == 2 and "only a network's moves" in done.error_line


def test_who_cannot_sit_down(tmp_path: pathlib.Path) -> None:
    done = run("match", "human", "random", "heuristic", *PLAY[1:], "-o", tmp_path / "g.jsonl")
    assert done.status == 2, done.err  # one other player
    done = run("match", "threshold=.1,human", "random", *PLAY[1:], "-o", tmp_path / "g.jsonl")
    assert done.status == 2 and "is for networks" in done.error_line
    done = run("match", f"quanta=4,{BOT}", "random", *PLAY[1:], "-o", tmp_path / "g.jsonl")
    assert done.status == 2 and "is for networks" in done.error_line
    done = run("match", "--serve", "human", "--game", "mini")
    assert done.status == 2 and "people play matches" in done.error_line
    done = run("match", "human", "random", *PLAY[1:], "-o", "-")
    assert done.status == 2 and "use -o FILE" in done.error_line
