"""examples/alphaze/paper.toml: its settings are the paper's, and a small run learns by them."""

from __future__ import annotations

import json
import math
import pathlib

import pytest

from running import ROOT, learn, run
from stratkit.engine import Game
from stratkit.learn.alphaze import AlphaZe
from stratkit.learn.config import AlphaZeConfig
from stratkit.learn.optimizer import SGD, Optimizer
from stratkit.learn.request import Settings, read_file, resolve
from stratkit.storage.checkpoints import read_metadata

PAPER = str(ROOT / "examples/alphaze/paper.toml")


def settings() -> Settings:
    given = read_file(PAPER)
    assert given.pop("algorithm") == "alphaze" and given.pop("net") == "alphaze"
    return resolve("alphaze:8x1", {}, given, {}, "alphaze")


def test_its_loss_and_descent() -> None:
    found = settings()
    config = found.hyper
    assert isinstance(config, AlphaZeConfig)
    assert (config.value_weight, config.root_value, config.decay) == (0.5, 0, 1e-4)
    assert (config.grad_norm, config.grad_value, config.replays) == (0, 0, 0)
    assert config.face_up and "worlds=3,nodes=800" in config.actors and config.true_sight == 20_000
    algorithm = AlphaZe("alphaze:8x1", Game("mini"), config, 1)
    assert isinstance(Optimizer(algorithm, found.run).adam, SGD)
    rates = [algorithm.learning_rate(step) for step in (0, 3999, 7999, 20_000, 32_000)]
    middle = 1e-5 + (0.05 - 1e-5) / 2 * (1 + math.cos(math.pi / 2))
    assert rates == pytest.approx([0.05 / 8000, 0.025, 0.05, middle, 1e-5])


def test_a_small_run_by_it(tmp_path: pathlib.Path) -> None:
    folder, actors = tmp_path / "run", "search=pc-pimc,sees=world,worlds=2,nodes=4,pick=drawn"
    play = ("--game", "nano", "--policy", folder, "--follow", "-q", "--max-ahead", 4, "--slots", 4)
    words = ("--out", folder, "--config", PAPER, "--net", "alphaze:8x1", "--batch", 4, "-q")
    learn((*play, "--seed", 1), (*words, "--steps", 3, "--actors", actors, "--lr", 0.5))
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == [1, 2, 3]
    assert lines[-1]["lr"] == pytest.approx(0.5 * 3 / 8000)
    newest = max((folder / "checkpoints").iterdir())
    assert read_metadata(newest)["net"] == "alphaze:8x1"


@pytest.mark.parametrize("game", ["phantom_ttt", "kuhn"])
def test_another_game_is_refused_in_one_line(game: str, tmp_path: pathlib.Path) -> None:
    words = ("--game", game, "--out", tmp_path / "x", "--config", PAPER)
    refused = run("train", tmp_path, *words)
    assert refused.status == 1 and refused.err.count("\n") == 1, refused.err
    assert "face up" in refused.err or "boards of Stratego" in refused.err
