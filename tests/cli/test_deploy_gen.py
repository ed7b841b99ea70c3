"""The command deploy-gen."""

from __future__ import annotations

import collections
import math
import os
import pathlib

import pytest

from running import run
from stratkit.engine.stratego import VARIANTS
from stratkit.notation.setups import parse_setup


@pytest.mark.parametrize("game", sorted(VARIANTS))
def test_setups_fit_their_variant(game: str) -> None:
    done = run("deploy-gen", "--game", game, "-n", 50, "--seed", 1)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 50
    for line in lines:
        parse_setup(line, VARIANTS[game])
    again = run("deploy-gen", "--game", game, "-n", 300, "--seed", 1)
    assert again.out.splitlines()[:50] == lines


def test_uniform_is_uniform() -> None:
    """nano has 6 setups: chi-square of 6,000 draws below its 99.99 % point."""
    done = run("deploy-gen", "--game", "nano", "-n", 6000, "--seed", 7)
    counts = collections.Counter(done.out.split())
    assert len(counts) == math.factorial(3)
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 25.7


def test_drawn_from_a_file(tmp_path: pathlib.Path) -> None:
    made = run("deploy-gen", "--game", "mini", "-n", 3, "--seed", 1, "-o", tmp_path / "x")
    assert made.status == 0
    lines = (tmp_path / "x").read_text().splitlines()
    done = run("deploy-gen", "--game", "mini", "-n", 300, "--from", tmp_path / "x", "--seed", 2)
    counts = collections.Counter(done.out.splitlines())
    assert set(counts) == set(lines) and min(counts.values()) > 60
    piped = run("deploy-gen", "--game", "mini", "-n", 300, "--from", "-", "--seed", 2,
                stdin=(tmp_path / "x").read_bytes())  # fmt: skip
    assert piped.data == done.data


@pytest.mark.parametrize(
    ("arguments", "status", "what"),
    [
        (("--game", "clasic", "-n", 1), 2, "did you mean 'classic'"),
        (("--game", "mini"), 2, "-n"),
        (("--game", "mini", "-n", 1, "--from", "unifrom"), 1, "no such file"),
        (("--game", "mini", "-n", 1, "--from", "/dev/null"), 1, "/dev/null: holds no setups"),
        (("--game", "mini", "-n", 1, "--from", "-"), 1, "standard input: holds no setups"),
        (("--game", "mini", "-n", 1, "-o", ""), 1, "'': No such file or directory"),
        (("--game", "mini", "-n", "x"), 2, "'-n': 'x' is not a whole number"),
        (("--game", "mini", "-n", 1, "-o", "/dev/full"), 1, "No space left"),
    ],
)
def test_one_line_says_what_is_wrong(
    arguments: tuple[object, ...], status: int, what: str, tmp_path: pathlib.Path
) -> None:
    done = run("deploy-gen", *arguments, cwd=tmp_path)
    assert done.status == status
    assert done.error_line.startswith("deploy-gen: ") and what in done.error_line
    assert not os.listdir(tmp_path)


def test_faulty_lines_are_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x").write_text("AKBAADACLMDE\nAKBAADACLMDF\n")
    done = run("deploy-gen", "--game", "mini", "-n", 1, "--from", tmp_path / "x")
    assert done.status == 1 and "x: line 2: " in done.error_line
