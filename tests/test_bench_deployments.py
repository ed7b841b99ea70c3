"""The bench of deployments: what its figures mean, on small boards."""

from __future__ import annotations

import importlib.util
import json
import math
import pathlib
import subprocess
import sys
from typing import Any

import pytest

from running import PATIENCE, ROOT

SCRIPT = ROOT / "bench/deployments.py"
FLAG, RANK = "M", 6  # of a setup of mini; its first letters are the back rank


def bench(*words: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(SCRIPT), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture
def module() -> Any:
    spec = importlib.util.spec_from_file_location("deployments", SCRIPT)
    assert spec and spec.loader
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def test_a_score_is_that_of_the_setups_whoever_plays_them(
    module: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One player plays both sides. Each setup meets its opponent twice, by turns as red and blue;
    what one side's setups win the other's lose."""
    ours, theirs = (module.setups("mini", "uniform", 30, seed) for seed in (1, 2))
    records: list[dict[str, Any]] = []
    true = module.run

    def noted(*words: object) -> str:
        said: str = true(*words)
        if words[0] == "match":
            lines = pathlib.Path(str(words[-1])).read_text().splitlines()
            records.extend(map(json.loads, lines))
        return said

    monkeypatch.setattr(module, "run", noted)
    found = module.score("mini", "random", ours, theirs, 3)
    header = records.pop(0)
    assert [one["spec"] for one in header["players"]] == ["random", "random"]
    assert [one["pair"] for one in records] == [pair for pair in range(30) for _ in range(2)]
    points = {"ours": 0.0, "theirs": 0.0}
    for game in records:
        pair, colours = game["pair"], ["ours", "theirs"]
        wanted = [ours[pair], theirs[pair]]
        if pair % 2:
            colours, wanted = colours[::-1], wanted[::-1]
        assert game["setups"] == wanted
        for whose, result in zip(colours, game["returns"], strict=True):
            points[whose] += (1 + result) / 2
    assert sum(points.values()) == 60 and abs(points["ours"] - 30) > 1
    assert found == pytest.approx(points["ours"] / 60)
    seats = [tuple(one["players"]) for one in records]
    assert seats == [(0, 1), (1, 0)] * 30


def test_setups_whose_flag_is_in_front_are_worth_less(module: Any, tmp_path: pathlib.Path) -> None:
    """Against uniform ones, which have it there half of the time. Whatever has been said of a
    player that deploys uniformly is known."""
    drawn = module.setups("mini", "uniform", 500, 9)
    files = []
    for name, ahead in (("front", True), ("back", False)):
        some = [one for one in drawn if (one.index(FLAG) >= RANK) == ahead][:100]
        files.append(tmp_path / f"{name}.setups")
        files[-1].write_text("".join(f"{one}\n" for one in some))
    against = [word for file in files for word in ("--against", file)]
    done = bench("random", "--game", "mini", "--games", 201, *against)
    assert (done.returncode, done.stderr) == (0, "")
    nats, back, alone, beside, front, behind = done.stdout.splitlines()
    pieces = 12
    doubles = [drawn[0].count(letter) for letter in set(drawn[0])]
    setups = math.factorial(pieces) / math.prod(map(math.factorial, doubles))
    assert nats == f"entropy {math.log(setups):.2f} ± 0.00 nats"
    for line, name, wanted in (
        (back, "flag on the back rank", 0.5),
        (alone, "no bomb beside the flag", 0.75),
        (beside, "bombs beside the flag, mean", 0.25),
    ):
        assert line.startswith(f"{name} ")
        assert float(line.removeprefix(name)) == pytest.approx(wanted, abs=0.08)
    shares = []
    for line, file in ((front, files[0]), (behind, files[1])):
        start, _, rest = line.partition(f"{file}: ")
        assert start == "against " and rest.endswith(" of 200 games")
        share, _, error = rest.removesuffix(" of 200 games").partition(" ± ")
        shares.append(float(share.removesuffix("%")) / 100)
        wanted = math.sqrt(shares[-1] * (1 - shares[-1]) / 200)
        assert error == f"{wanted:.1%}"
    assert shares[0] > 0.53 > 0.49 > shares[1]


@pytest.mark.parametrize(
    ("words", "status", "wrong"),
    [
        (("no-such", "--game", "nano"), 1, "deploy-gen: no such file and no such source"),
        (("random", "--game", "kuhn"), 1, "deploy-gen: 'kuhn' is no variant of Stratego"),
        (("random", "--games", "0"), 2, "--games: a whole number from 2 to"),
        (("random", "--games", "-3"), 2, "--games: a whole number from 2 to"),
    ],
)
def test_bad_input_is_told_in_one_line(words: tuple[str, ...], status: int, wrong: str) -> None:
    done = bench(*words)
    assert (done.returncode, done.stdout) == (status, "") and wrong in done.stderr
    assert len(done.stderr.splitlines()) == 1
