"""Faults that `fenfs` once died of, or passed over: one line each, and the other files are read."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import zipfile
from typing import Any

import numpy as np
import pytest

from fenfs_here import LOGS, SAMPLES, fenfs
from stratkit.storage.columns import Episodes
from stratkit.storage.episodes import EpisodeReader, EpisodeWriter

GSN = LOGS / "barrage.2003.9.2.7.gsn"
START = (SAMPLES / "barrage.fenfs").read_text().splitlines()[0]
FREE = f"ML{'a' * 32}XY r 0"  # a start on a board that Gravon does not have


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"actions": 20}, "not the actions of a game of mini"),  # of 12 squares to deploy on
        ({"returns": np.zeros(3, np.float32)}, "two returns are needed, not 3"),
    ],
    ids=["actions", "returns"],
)
def test_an_episode_that_is_no_game(
    tmp_path: pathlib.Path, changes: dict[str, Any], what: str
) -> None:
    with (SAMPLES / "episodes.eps").open("rb") as stream:
        reader = EpisodeReader(stream, "sample")
        episode = next(one for one in reader if not one.start)
    if "actions" in changes:
        actions = episode.actions.copy()
        actions[0] = changes["actions"]
        changes = {"actions": actions}
    path = tmp_path / "one.eps"
    with path.open("wb") as out, EpisodeWriter(out, reader.header) as writer:
        writer.write(Episodes.of([dataclasses.replace(episode, **changes)]))
    for command in (["convert", "--to", "games"], ["check"], ["stats"]):
        status, out_after, [line] = fenfs(*command, path, GSN)
        assert (status, line) == (3, f"fenfs: {path}: game 1: {what}")
        assert command == ["check"] or "barrage" in out_after


@pytest.mark.parametrize("odd", [START.lower(), START.replace("aa__", "Ca__")])
def test_ply_0_that_is_no_start_stops_no_count(tmp_path: pathlib.Path, odd: str) -> None:
    path = tmp_path / "a.fenfs"
    path.write_text(f"{odd}\n{START}\n")
    status, out, [line] = fenfs("stats", "--json", path, GSN)
    assert status == 3 and json.loads(out)["inputs"]["setups"]["barrage"]["setups"] == 4
    assert line.startswith(f"fenfs: {path}: line 1: ply 0 is not the start of a game here")


def test_rules_out_of_range_are_a_fault_of_their_games(tmp_path: pathlib.Path) -> None:
    header, *games = (SAMPLES / "games.jsonl").read_text().splitlines()
    rules = json.loads(header)
    rules["rules"]["two_squares"] = 999
    path, other = tmp_path / "a.jsonl", tmp_path / "b.gsn"
    path.write_text("\n".join([json.dumps(rules, separators=(",", ":")), *games, ""]))
    other.write_text("rubbish")
    status, _, lines = fenfs("check", path, other)
    assert status == 3 and len(lines) == len(games) + 1
    assert all(line.startswith(f"fenfs: {path}: game ") for line in lines[:-1])
    assert "two_squares" in lines[0] and lines[-1].startswith(f"fenfs: {other}: ")


@pytest.mark.parametrize(
    "command",
    [
        ["stats"],
        ["stats", "--json"],
        ["check"],
        ["check", "--strict"],
        ["convert", "--to", "games", "--strict"],
    ],
    ids=" ".join,
)
def test_when_no_input_can_be_opened(tmp_path: pathlib.Path, command: list[str]) -> None:
    path, no_start = tmp_path / "none.gsn", tmp_path / "a.fenfs"
    what = f"fenfs: {path}: cannot read: No such file or directory"
    assert fenfs(*command, path) == (1, "", [what])
    no_start.write_text(START.replace("r 0", "r 2"))
    if command[0] == "stats":
        status, out, lines = fenfs(*command, path, no_start)
        assert (status, lines) == (3, [what]) and out


@pytest.mark.parametrize("form", ["gsn", "xml"])
def test_boards_that_gravon_does_not_have(tmp_path: pathlib.Path, form: str) -> None:
    path = tmp_path / "a.fenfs"
    path.write_text(f"{FREE}\n")
    what = f"fenfs: {path}: Gravon has no mini"
    assert fenfs("convert", "--to", form, path) == (3, "", [what])
    status, record, said = fenfs("convert", "--to", "games", path)  # which have any board
    assert (status, said) == (0, [])
    path.write_text(record)
    assert fenfs("convert", "--to", "fenfs", path) == (0, f"{FREE}\n", [])


def test_setups_of_positions_are_selected_too(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.fenfs"
    path.write_text(f"{START}\n{FREE}\n")

    def setups(*options: str) -> list[int]:
        status, out, said = fenfs("convert", "--to", "setups", *options, path)
        assert (status, said) == (0, [])
        return [len(line) for line in out.splitlines()]

    assert setups() == [40, 40, 12, 12]
    assert setups("--regular") == setups("--variant", "barrage") == [40, 40]
    assert setups("--variant", "duel") == []


def test_names_of_many_bytes_are_cut(tmp_path: pathlib.Path) -> None:
    archive, out, kept = tmp_path / "in.zip", tmp_path / "out", tmp_path / "kept"
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(f"{'棋' * 100}.gsn", GSN.read_bytes())
    assert fenfs("convert", "--to", "xml", archive, "-o", f"{out}/") == (0, "", [])
    assert fenfs("check", "--salvage", kept, archive) == (0, "", [])
    assert [path.name for path in out.iterdir()] == [f"{'棋' * 65}.xml"]
    assert [path.name for path in kept.iterdir()] == [f"{'棋' * 65}.gsn"]


@pytest.mark.parametrize("command", [["check"], ["convert", "--to", "games"]], ids=" ".join)
def test_a_torn_record_is_a_fault_and_a_missing_line_feed_none(
    tmp_path: pathlib.Path, command: list[str]
) -> None:
    whole = (SAMPLES / "games.jsonl").read_text()
    games, path = len(whole.splitlines()) - 1, tmp_path / "g.jsonl"
    for lost, status, said in (
        (1, 0, []),
        (20, 3, [f"fenfs: {path}: line {games + 1}: torn, left out"]),
    ):
        path.write_text(whole[:-lost])
        kept = whole if lost == 1 else whole[: whole[:-1].rindex("\n") + 1]
        out = "" if command == ["check"] else kept
        assert fenfs(*command, path) == (status, out, said)
