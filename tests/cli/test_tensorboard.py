"""train --tensorboard: the metrics as curves, also after going on from a checkpoint."""

from __future__ import annotations

import json
import pathlib

import pytest

from learn.games import episodes, write
from running import run

QUICK = ("--net", "plain", "--batch", 4, "--rows", 32, "--seed", 1, "--save-every", 2)


def test_every_number_of_the_metrics(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

    games = write(tmp_path / "a.eps", *episodes("nano", 20))
    out = tmp_path / "run"
    curves = out / "curves"
    wanted = ("--out", out, "--tensorboard", curves)
    assert run("train", games, *wanted, "--steps", 3, *QUICK).status == 0
    (out / "checkpoints/step-00000003.safetensors").unlink()  # as if it had been killed
    assert run("train", games, *wanted, "--resume", "--steps", 4).status == 0

    lines = [json.loads(line) for line in (out / "metrics.jsonl").open()]
    found = EventAccumulator(str(curves)).Reload()
    for name in ("value_loss", "states", "length"):
        assert [event.step for event in found.Scalars(name)] == [1, 2, 3, 4]
        assert [event.value for event in found.Scalars(name)] == pytest.approx(
            [line[name] for line in lines], rel=1e-5
        )
    names = set(found.Tags()["scalars"])
    assert {"entropy", "seconds/update", "endings/flag_captured"} <= names
    assert not {"step", "time"} & names
    plugin = found.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    settings = HParamsPluginData.FromString(plugin).session_start_info.hparams
    assert settings["lr"].number_value == pytest.approx(0.003)
    assert settings["sizes"].string_value == "200" and settings["game"].string_value == "nano"


def test_the_elo_of_a_checkpoint_stands_at_its_step(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    from stratkit.learn.tensorboard import Scalars

    result = {"step": 3, "opponent": "random", "games": 4, "elo": 12.5, "low": None}
    with Scalars(str(tmp_path)) as scalars:
        scalars.begin({"game": "nano", "net": "plain", "algorithm": "rnad", "config": {}})
        for step in (5, 6):
            more = {"eval": result} if step == 6 else {}
            scalars.write({"step": step, "time": 1.0, "entropy": 0.5, **more})
    found = EventAccumulator(str(tmp_path)).Reload()
    assert [(e.step, e.value) for e in found.Scalars("eval/elo")] == [(3, 12.5)]
    assert [event.step for event in found.Scalars("entropy")] == [5, 6]
    assert "eval/low" not in found.Tags()["scalars"]


def test_what_cannot_be_had(tmp_path: pathlib.Path) -> None:
    games = write(tmp_path / "a.eps", *episodes("nano", 4))
    (tmp_path / "file").touch()
    done = run("train", games, "--out", tmp_path / "run", "--tensorboard", tmp_path / "file")
    assert done.status == 2 and "--tensorboard" in done.error_line
    hidden = tmp_path / "hidden/tensorboard"
    hidden.mkdir(parents=True)
    (hidden / "__init__.py").write_text("raise ImportError\n")
    done = run(
        "train",
        *(games, "--out", tmp_path / "run", "--tensorboard", tmp_path / "curves"),
        fresh=True,
        PYTHONPATH=str(hidden.parent),
    )
    assert (done.status, done.error_line) == (
        1,
        "train: this needs TensorBoard: pip install 'stratkit[tensorboard]'",
    )
