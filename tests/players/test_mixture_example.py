"""examples/players/mixture.py: an equilibrium of an empirical game as a mixture."""

from __future__ import annotations

import contextlib
import io
import pathlib
import runpy
from types import SimpleNamespace

import numpy as np
import pytest

from running import ROOT, run
from stratkit.errors import InputError
from stratkit.players.mixture import read_mixture
from stratkit.players.registry import parse_player
from stratkit.storage.records import (
    GameRecord,
    RecordHeader,
    RecordPlayer,
    RecordWriter,
    result_of,
)

script = SimpleNamespace(**runpy.run_path(str(ROOT / "examples/players/mixture.py")))
NAMES = ("rock", "paper", "scissors", "well", "clone")
SPECS = ("raider", "skill=.5,raider", "heuristic", "random", "raider")


def record(path: pathlib.Path, wins: dict[tuple[int, int], float], number: int = 8) -> str:
    """Games among the players: of each pair the first one's share of wins, by both colours."""
    players = tuple(map(RecordPlayer, NAMES, SPECS))
    header = RecordHeader(game="mini", rules={}, seed=1, games=number, players=players)
    with RecordWriter(str(path), header) as writer:
        for pair, (seats, share) in enumerate(wins.items()):
            for k in range(number):
                way = 1 - 2 * (k % 2)
                returns = ((1.0, -1.0) if k < share * number else (-1.0, 1.0))[::way]
                writer.write(
                    GameRecord(
                        number=pair * number + k, pair=pair, players=seats[::way], setups=None,
                        moves="", result=result_of(returns), returns=returns,
                        reason="flag_captured", plies=1,
                    )
                )  # fmt: skip
    return str(path)


def made(*files: str) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        script.main(*files)
    return out.getvalue()


def test_rock_paper_scissors(tmp_path: pathlib.Path) -> None:
    """Scissors beat paper by half as much as the others beat theirs. The well loses to all."""
    wins = {(0, 2): 1.0, (1, 0): 1.0, (2, 1): 0.75, (3, 0): 0.0, (3, 1): 0.0, (3, 2): 0.0}
    text = made(record(tmp_path / "a.jsonl", wins))
    assert text.startswith("# of 4 players, 8 games a pair or more; ")
    file = tmp_path / "a.mixture"
    file.write_text(text)
    members = {one.player.text: one.weight for one in read_mixture(str(file), parse_player)}
    # Each in proportion to the margin between the other two.
    expected = {
        "name=rock,raider": 0.2, "name=paper,skill=.5,raider": 0.4, "name=scissors,heuristic": 0.4,
    }  # fmt: skip
    assert members == pytest.approx(expected, abs=2e-3)
    done = run("match", f"mix={file}", "random", "--game", "mini", "-n", 2, "--seed", 1, "-o", "-")
    assert done.status == 0, done.err


def test_who_beats_all_is_all_of_it(tmp_path: pathlib.Path) -> None:
    wins = {(0, 1): 0.75, (0, 2): 0.75, (1, 2): 1.0}
    text = made(record(tmp_path / "a.jsonl", wins))
    assert text.splitlines()[1:] == ["1.00000000 name=rock,raider"]
    assert "; rock scores most against it, 50.0%" in text


def test_the_weights_are_an_equilibrium_of_any_table() -> None:
    draw = np.random.default_rng(3)
    for n in (1, 2, 5, 9):
        table = draw.uniform(-0.5, 0.5, (n, n))
        table -= table.T
        weights = script.equilibrium(table)
        assert weights.sum() == pytest.approx(1) and weights.min() >= 0
        assert (weights @ table).min() > -0.01


def test_what_it_refuses(tmp_path: pathlib.Path) -> None:
    one = record(tmp_path / "a.jsonl", {(0, 1): 0.5, (0, 2): 0.5})
    with pytest.raises(InputError, match="paper and scissors have not met"):
        made(one)
