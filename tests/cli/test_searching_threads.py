"""Threads of the commands: searches have them, and play the same games."""

from __future__ import annotations

import json
import pathlib

import pytest

from running import click_command, run
from stratkit.threads import search_threads

SEARCH = "search=mmd,rollouts=150,depth=1"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("match", ("random", "name=other,random", "--concurrency", "3", "-n", "2", "-q")),
        ("selfplay", ("--policy", "random", "--threads", "3", "-n", "2", "-q")),
    ],
)
def test_searches_have_the_threads_of_the_command(
    command: str, words: tuple[str, ...], tmp_path: pathlib.Path
) -> None:
    arguments = [*words, "--game", "kuhn", "-o", str(tmp_path / "games")]
    click_command(command).main(arguments, standalone_mode=False)
    assert search_threads() == 3


def test_a_match_has_the_same_games_in_any_number_of_threads(tmp_path: pathlib.Path) -> None:
    """A shipped network whose rollouts are several blocks."""
    found = []
    for threads in ("1", "2"):
        path = tmp_path / f"{threads}.jsonl"
        words = (f"name=s,{SEARCH},barrage-easy", "random", "--game", "barrage", "--slots", "1")
        few = ("-n", "2", "--max-plies", "12", "--seed", "5", "--concurrency", threads)
        assert run("match", *words, *few, "-o", path).status == 0
        _, *games = map(json.loads, path.read_text().splitlines())
        assert len(games) == 2
        found.append([game["moves"] for game in games])
    assert found[0] == found[1]


def test_self_play_has_the_same_bytes_in_any_number_of_threads() -> None:
    words = ("selfplay", "--policy", "barrage-easy", "--actors", f"{SEARCH},threshold=.01")
    few = ("--game", "barrage", "--slots", "2", "-n", "2", "--max-actions", "26", "--seed", "5")
    first, second = (run(*words, *few, "--threads", threads) for threads in ("1", "2"))
    assert first.status == 0 and len(first.data) > 200
    assert first.data == second.data
