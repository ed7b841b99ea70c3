"""examples/players/Makefile, which makes the players that come with stratkit, on a small board."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
from collections.abc import Callable

from running import ROOT, forked_commands
from stratkit.storage.checkpoints import load_network

PLAY = "--slots 4 --slice 32"
SMALL = ["GAMES=2", f"PLAY={PLAY}", f"POOLED={PLAY}", "PYTHON=python"]


def making(folder: pathlib.Path) -> Callable[..., str]:
    """Calls make of the players in a folder, and returns what it said."""
    path = f"{forked_commands(folder / 'bin')}:{os.environ['PATH']}"
    ours = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}

    def make(*words: str) -> str:
        command = ["make", "-f", ROOT / "examples/players/Makefile", *SMALL, *words]
        environment = {**ours, "PATH": path, "PYTHONPATH": str(ROOT), "LC_ALL": "C"}
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return make


def test_a_player_is_made_from_nothing_and_meets_others(tmp_path: pathlib.Path) -> None:
    make = making(tmp_path)
    learner = "LEARN=--algorithm mmd --batch 4"
    make(learner, "STEPS=1", "micro-v1-run/checkpoints/step-00000001.safetensors")
    said = make(learner, "STEPS=2", "micro-v1.jsonl")  # goes on from there
    assert said.count("selfplay ") == 1 and "--steps 2 --save-every 100 --keep 2 --resume" in said
    weights, metadata, part = load_network(tmp_path / "micro-v1.safetensors", None)
    assert (metadata["kind"], metadata["part"], part) == ("policy", "average", "online")
    assert metadata["step"] == 2 and metadata["game"] == "micro"
    trained = load_network(
        tmp_path / "micro-v1-run/checkpoints/step-00000002.safetensors", "average"
    )
    assert weights.keys() == trained[0].keys()
    for name, each in trained[0].items():
        others = weights[name] != each
        assert not weights[name][others].any(), name  # what nothing reads is 0
        assert not others.any() or name == "deployment.entry.weight"
    header, *games = map(json.loads, (tmp_path / "micro-v1.jsonl").read_text().splitlines())
    names = [player["name"] for player in header["players"]]
    assert names == ["random", "heuristic", "raw", "fast"] and len(games) == 12
    assert "is up to date" in make(learner, "STEPS=2", "micro-v1.jsonl")

    said = make(learner, "RESPOND=1", "micro-v1-responder.jsonl")
    assert "--opponent preset=fast,./micro-v1.safetensors" in said
    header = json.loads((tmp_path / "micro-v1-responder.jsonl").read_text().splitlines()[0])
    assert [player["name"] for player in header["players"]] == ["responder", "frozen"]
    make(learner, "RESPOND=1", "micro-v1-responder.safetensors")
    said = make(learner, "RESPOND=1", "micro-v1-responder-responder.safetensors")
    assert "--opponent preset=fast,./micro-v1-responder.safetensors" in said
    said = make(learner, "RESPOND=1", "STEPS=5", "micro-v2.safetensors")
    assert "--opponent itself --opponent preset=fast,./micro-v1.safetensors --op" in said
    metadata = load_network(tmp_path / "micro-v2.safetensors", None)[1]
    assert metadata["step"] == 5 and metadata["config"]["eta"] == 0.001

    make("KNOWN=32", "micro-v1-belief")
    metadata = load_network(tmp_path / "micro-v1-belief" / "policy.safetensors", None)[1]
    assert (metadata["algorithm"], metadata["step"], metadata["game"]) == ("belief", 1, "micro")

    (tmp_path / "micro-v1.safetensors").unlink()
    said = make(learner, "STEPS=2", "SHARP=1", "micro-v1.safetensors")
    assert said.count("selfplay ") == 1 and "--eta .001" in said
    metadata = load_network(tmp_path / "micro-v1.safetensors", None)[1]
    assert metadata["step"] == 1 and metadata["config"]["eta"] == 0.001

    larger = "fromto:8x2+deployment"
    said = make(learner, "STEPS=1", "SHOWN=40", f"LARGE=--net {larger}", "micro-large.safetensors")
    assert "--policy ./micro-v1.safetensors " in said and "--weights micro-large-clone" in said
    assert "--opponent itself --opponent preset=fast,./micro-v1.safetensors |" in said
    metadata = load_network(tmp_path / "micro-large.safetensors", None)[1]
    assert metadata["algorithm"] == "mmd" and metadata["net"] == larger and metadata["step"] == 1
