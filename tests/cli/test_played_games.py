"""Games that people played: made into episodes, and learned from; and what is no episodes."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from fenfs_here import LOGS, SAMPLES, fenfs
from running import ROOT, here
from stratkit.errors import InputError
from stratkit.learn.inputs import check_inputs
from stratkit.storage.episodes import PLAYED, Episode, EpisodeReader, Header

LEARN = ["--net", "tiny", "--batch", 1, "--steps", 1]
RESIGNED = {"adjudicator": "player", "reason": "resigned"}


def read(path: pathlib.Path) -> list[tuple[Header, Episode]]:
    with path.open("rb") as stream:
        reader = EpisodeReader(stream, "f")
        found = [(reader.header, episode) for episode in reader]
        assert (reader.truncated, reader.duplicates) == (None, 0)
        return found


def records(tmp_path: pathlib.Path, head: dict[str, object], *games: dict[str, object]) -> str:
    """The sample of game records with changes: of its header, and of copies of its first game."""
    header, game, *_ = map(json.loads, (SAMPLES / "games.jsonl").read_text().splitlines())
    lines = [header | head, *(game | {"number": n} | g for n, g in enumerate(games))]
    path = tmp_path / "g.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_logs_become_episodes(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "games.eps"
    chosen = ["--regular", "--variant", "classic", LOGS]
    done = fenfs("convert", "--to", "episodes", *chosen, "-o", out)
    assert done == (0, "", [])
    found = read(out)
    logs = json.loads(fenfs("list", "--json", *chosen)[1])["games"]
    assert len(found) == len(logs) > 1
    for (header, episode), log in zip(found, logs, strict=True):
        assert (header.version, header.sampled, header.rules["max_plies"]) == (PLAYED, False, 0)
        assert len(episode.actions) == 80 + 2 * log["plies"]
        assert (episode.mu == 1).all()  # a person chose the setup, too
        assert header.endings[episode.ending] == log["ending"]
        assert (
            episode.returns.tolist()
            == {"red": [1, -1], "blue": [-1, 1], "draw": [0, 0]}[log["result"]]
        )
    assert fenfs("check", out) == (0, "", [])
    names = [name.encode() for log in logs for name in log["players"]]
    assert not any(name in out.read_bytes() for name in names)  # who played is left out


def test_the_same_game_is_the_same_episode_in_all_files(tmp_path: pathlib.Path) -> None:
    out, kept, copy = (tmp_path / name for name in ("a.eps", "a.jsonl", "b.eps"))
    chosen = ["--regular", "--variant", "barrage", LOGS]
    fenfs("convert", "--to", "episodes", *chosen, "-o", out)
    fenfs("convert", "--to", "games", *chosen, "-o", kept)
    fenfs("convert", "--to", "episodes", "--jobs", 2, kept, "-o", copy)
    assert out.read_bytes() == copy.read_bytes()
    assert repr(read(out)) == repr(read(SAMPLES / "gravon.eps"))  # the golden sample
    numbers = [episode.number for _, episode in read(out)]
    assert len(set(numbers)) == len(numbers) > 1


def test_setups_of_a_file_were_chosen_by_nobody(tmp_path: pathlib.Path) -> None:
    out = tmp_path / "g.eps"
    for head, placed in (({}, True), ({"setups": None}, False)):
        path = records(tmp_path, head, {})
        assert fenfs("convert", "--to", "episodes", path, "-f", "-o", out)[0] == 0
        [(header, episode)] = read(out)
        assert header.rules["max_plies"] == 200
        nobody = np.isnan(episode.mu)
        assert nobody[: 2 * 8].all() == placed and not nobody[2 * 8 :].any()


@pytest.mark.parametrize(
    ("head", "game", "what"),
    [
        ({}, {"moves": "A2A3 A6A5 A3A2 A5A6 A2A3 A6A5 A3A2", "plies": 7} | RESIGNED,
         "the rules of its record forbid this move: 'A3-A2'"),
        ({}, {"setups": None, "moves": "", "plies": 0} | RESIGNED, "no game that makes an episode"),
        ({"setups": {"type": "classicfree"}},
         {"setups": ["MBECDKEAAAAA", "MBACKELDADAA"], "moves": "A2A3", "plies": 1} | RESIGNED,
         "free setups"),
    ],
)  # fmt: skip
def test_games_that_make_no_episode(
    head: dict[str, object], game: dict[str, object], what: str, tmp_path: pathlib.Path
) -> None:
    path = records(tmp_path, head, game)
    status, _, said = fenfs("convert", "--to", "episodes", path, "-o", tmp_path / "g.eps")
    assert status in (1, 3) and any(what in line for line in said)
    assert not (tmp_path / "g.eps").exists()


def test_the_learners_of_peoples_games(tmp_path: pathlib.Path) -> None:
    """From logs to a step of learning. Games that were resigned count with their results. Learners
    that need probabilities refuse them, by name."""
    path = records(tmp_path, {}, {}, {"moves": "A2A3", "plies": 1} | RESIGNED)
    out = tmp_path / "g.eps"
    assert fenfs("convert", "--to", "episodes", path, "-o", out) == (0, "", [])
    for number, algorithm in enumerate((["belief"], ["alphaze", "--targets", "played"])):
        run = tmp_path / f"run{number}"
        done = here("train", out, "--out", run, "--algorithm", *algorithm, *LEARN, "--batch", 2)
        assert done.status == 0, done.err
        [line] = map(json.loads, (run / "metrics.jsonl").read_text().splitlines())
        assert line["episodes"] == 2
    for algorithm in ("rnad", "mmd", "alphaze"):
        done = here("train", out, "--out", tmp_path / "no", "--algorithm", algorithm, *LEARN)
        named = algorithm + " of searches" * (algorithm == "alphaze")
        what = f"games that were played, not sampled: {named} needs each action's probability"
        assert done.status == 1 and what in done.error_line
        assert str(out) in done.error_line


def test_what_is_no_episodes_is_told_before_torch_is_loaded(tmp_path: pathlib.Path) -> None:
    xml = next(LOGS.glob("classic-*.xml"))
    code = (
        "import sys; sys.modules['torch'] = None\n"
        f"sys.argv = ['train', {os.fspath(xml)!r}, '--out', {os.fspath(tmp_path / 'run')!r}]\n"
        "from stratkit.cli.train import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT)
    made = f"fenfs convert --to episodes {xml} -o games.eps"
    assert done.returncode == 1
    assert done.stderr == f"train: {xml}: games, no episodes: `{made}` makes them\n"
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("g.jsonl", b'{"stratkit":"games"', "games, no episodes"),
        ("g.jsonl.gz", gzip.compress(b"{", mtime=0), "games, no episodes"),
        ("g.jsonl.zst", b"\x28\xb5\x2f\xfd...", "games, no episodes"),
        ("g.gsn", b"#X38FA11 Stratego-Notation v1", "games, no episodes"),
        ("games", b"<?xml", "games, no episodes"),
        ("a.setups", b"MBECDKLAAADA\n", "setups, no episodes: `selfplay`"),
        ("a.fenfs", b"aa r 0\n", "positions, no episodes"),
        ("notes", b"hello", "no episodes, which `selfplay`"),
    ],
)
def test_what_it_is_instead(name: str, data: bytes, what: str, tmp_path: pathlib.Path) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(InputError, match=what):
        check_inputs([str(path)])
    check_inputs([str(tmp_path), os.devnull, str(SAMPLES / "episodes.eps")])
