"""`fenfs convert --to csv`: games of every kind as a table of actions."""

from __future__ import annotations

import csv
import io
import json
import math
import pathlib
import re

import numpy as np
import pytest

from fenfs_here import LOGS, SAMPLES, fenfs
from running import ROOT, run
from stratkit.convert.arrays import read_episodes
from stratkit.storage.episodes import EpisodeReader, Episodes, EpisodeWriter

GSN = LOGS / "barrage.2003.9.2.7.gsn"
Rows = list[dict[str, str]]


def table(*arguments: object) -> Rows:
    status, out, said = fenfs("convert", "--to", "csv", *arguments)
    assert (status, said) == (0, [])
    return list(csv.DictReader(io.StringIO(out)))


def test_the_golden_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    sample = (SAMPLES / "searched.csv").read_text()
    out = fenfs("convert", "--to", "csv", "--game", 1, "formats/samples/searched.eps")[1]
    assert out == sample
    page = (SAMPLES.parent / "csv.md").read_text()
    named = re.findall(r"^\| (\w+) \| (?:text|number|whole number) \|", page, re.M)
    assert sample.splitlines()[0] == ",".join(named)


def test_a_draw_brings_both_sides_the_same_text() -> None:
    """Scripts compare fields as text."""
    assert {row["return"] for row in table(LOGS / "duell.2005.4.1.2.gsn")} == {"0"}


def test_episodes_have_what_python_reads(tmp_path: pathlib.Path) -> None:
    """Of Stratego and of another game, in shards of a folder."""
    for game, options in (("mini", ["--shard", 2]), ("kuhn", [])):
        folder = tmp_path / game
        folder.mkdir()
        done = run("selfplay", "--game", game, "-n", 4, "--seed", 1, "-o", folder, *options)
        assert done.status == 0
        rows = table(folder)
        arrays = read_episodes(folder)
        assert len(rows) == len(arrays.actions["mu"])
        for name in ("index", "actor", "action"):
            assert [int(row[name]) for row in rows] == arrays.actions[name].tolist()
        assert [row["text"] for row in rows] == arrays.actions["text"].tolist()
        assert [int(row["game"]) - 1 for row in rows] == arrays.actions["game"].tolist()
        for row, mu in zip(rows, arrays.actions["mu"].tolist(), strict=True):
            assert (row["mu"] == "") == math.isnan(mu)
            assert math.isnan(mu) or np.float32(row["mu"]) == np.float32(mu)
        for row in rows:
            actor, of = int(row["actor"]), int(row["game"]) - 1
            assert (row["return"] == "") == (actor < 0)
            assert actor < 0 or float(row["return"]) == arrays.games[f"return_{actor}"][of]
        assert any(row["mu"] for row in rows)
        assert any(" " in row["move"] for row in rows) == (game == "mini")


def test_a_log_and_its_record_and_its_replay_say_the_same(tmp_path: pathlib.Path) -> None:
    record, page = tmp_path / "g.jsonl", tmp_path / "g.html"
    record.write_text(fenfs("convert", "--to", "games", GSN)[1])
    fenfs("replay", GSN, "-o", page)
    [data] = re.findall(r'id="games">(.*)</script>', page.read_text())
    [game] = json.loads(data)["games"]
    rows = table(GSN)
    assert [row["move"] for row in rows if row["move"]] == game["texts"]
    again = table(record)
    for row in (*rows, *again):
        row.pop("file")
    assert rows == again
    placed = rows[:16]
    first = game["board"]
    for row in placed:
        square = "ABCDEFGHIK".index(row["text"][0]) + 10 * (int(row["text"][1:]) - 1)
        side = "red" if row["actor"] == "0" else "blue"
        letters = "BCDEFGHIJKLM" if side == "red" else "NOPQRSTUVWXY"
        ranks = json.loads(data)["ranks"]
        assert row["piece"] == ranks[letters.index(first[square][0])]
    for row, move in zip(rows[16::2], game["texts"], strict=True):
        assert move.startswith(row["text"]) and row["move"] == ""
    assert {row["mu"] for row in rows} == {""}


def test_jobs_and_zips_change_nothing(tmp_path: pathlib.Path) -> None:
    one = fenfs("convert", "--to", "csv", LOGS)
    assert one[:2] == fenfs("convert", "--to", "csv", "--jobs", 2, LOGS)[:2]
    status, out, said = one
    assert status == 3 and out.count("file,game,index") == 1  # free setups, which no action places
    assert all("free setups: there are no actions of" in line for line in said) and len(said) == 2


def test_what_begins_within_a_game_and_what_is_no_game(tmp_path: pathlib.Path) -> None:
    with open(SAMPLES / "episodes.eps", "rb") as stream:
        reader = EpisodeReader(stream, "sample")
        episodes = list(reader)
        header = reader.header
    assert [bool(episode.start) for episode in episodes].count(True) == 1
    rows = table(SAMPLES / "episodes.eps")
    for number, episode in enumerate(episodes, 1):
        own = [row for row in rows if row["game"] == str(number)]
        assert [int(row["action"]) for row in own] == episode.actions.tolist()
        if episode.start:
            assert {row["move"] for row in own} == {""} and own[0]["text"].isalnum()
    path = tmp_path / "wrong.eps"
    wrong = [episode for episode in episodes if episode.start]
    wrong[0].actions[0] = 99
    with open(path, "wb") as stream, EpisodeWriter(stream, header) as writer:
        writer.write(Episodes.of(wrong))
    status, out, [line] = fenfs("convert", "--to", "csv", path)
    assert (status, out) == (3, "") and "wrong.eps: game" in line
    status, _, said = fenfs("convert", "--to", "csv", SAMPLES / "barrage.fenfs")
    assert status == 3 and "a position is no game: --to csv needs games" in said[0]
