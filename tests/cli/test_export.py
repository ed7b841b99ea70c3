"""`stratkit export`: one network in a file of its own, and what takes such a file."""

from __future__ import annotations

import json
import pathlib
import sys

import numpy as np
import onnx
import pytest

from nets.random_play import views_of_games
from running import run
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.models.export import export
from stratkit.models.open_model import open_model
from stratkit.nets.choice import network_with
from stratkit.nets.fromto_backend import FromToBackend
from stratkit.storage.checkpoints import load_checkpoint, metadata_hash, save_checkpoint
from stratkit.storage.onnx_file import STORED

NET = "fromto:8x1+mirrored"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("learned") / "step.safetensors"
    save_network(path, NET, Game("nano"), algorithm="rnad", post="threshold=.1")
    return path


@pytest.fixture(scope="module")
def exported(checkpoint: pathlib.Path) -> pathlib.Path:
    path = checkpoint.with_name("net.onnx")
    export(str(checkpoint), None, str(path))
    return path


def altered(path: pathlib.Path, to: pathlib.Path, of: str = "", **metadata: object) -> pathlib.Path:
    """A copy at `to` with other metadata, written as if they were right, and other weights."""
    model = onnx.load(path)
    (entry,) = model.metadata_props
    values = {**json.loads(entry.value), **metadata}
    entry.value = json.dumps({**values, "metadata_sha256": metadata_hash(values)})
    if of:
        (tensor,) = (x for x in model.graph.initializer if x.name == STORED + of)
        tensor.raw_data = bytes([tensor.raw_data[0] ^ 1]) + tensor.raw_data[1:]
    onnx.save(model, to)
    return to


@pytest.mark.parametrize("name", ["net.onnx", "net.safetensors"])
def test_a_file_holds_the_network_and_where_it_is_from(
    checkpoint: pathlib.Path, tmp_path: pathlib.Path, name: str
) -> None:
    done = run("stratkit", "export", checkpoint, "-o", name, cwd=tmp_path)
    assert (done.status, done.out) == (0, "")
    assert done.error_line == f"{name}: target of step 7, nano, net {NET}"
    true, found = open_model(checkpoint), open_model(tmp_path / name)
    assert {n: w.tobytes() for n, w in found.weights.items()} == {
        n: w.tobytes() for n, w in true.weights.items()
    }
    kept = ("game", "rules", "net", "algorithm", "post", "version", "step")
    assert all(found.metadata[key] == true.metadata[key] for key in kept)
    assert found.metadata["writer"] == "stratkit 0.1.0" and found.metadata["kind"] == "policy"
    assert found.metadata["parents"] == [true.metadata["sha256"]]
    assert (found.metadata["part"], found.part) == ("target", "online")
    done = run("stratkit", "export", checkpoint, "-o", name, cwd=tmp_path)
    assert (done.status, done.error_line) == (
        1,
        f"stratkit: {name}: exists already; -f overwrites it",
    )
    again = ("stratkit", "-q", "export", checkpoint, "--net", "online", "-f", "-o", name)
    assert run(*again, cwd=tmp_path).err == ""
    assert open_model(tmp_path / name).metadata["part"] == "online"


def test_equal_networks_make_equal_files(
    checkpoint: pathlib.Path, exported: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    export(str(checkpoint), None, str(tmp_path / "b.onnx"))
    assert (tmp_path / "b.onnx").read_bytes() == exported.read_bytes()


def test_it_is_computed_by_either_backend(
    exported: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, game = open_model(exported), Game("nano")
    views = views_of_games(game, 1, seed=3, longest=40)
    assert isinstance(network_with(NET, game, model.weights), FromToBackend)
    found = []
    for asked in ("onnx", "torch"):
        monkeypatch.setenv("STRATKIT_BACKEND", asked)
        evaluator = model.evaluator(game, 8)  # type: ignore[attr-defined]
        assert evaluator.backend.name == asked
        found.append(evaluator.policy(views.observations, views.legal))
    assert np.abs(found[0] - found[1]).max() < 1e-5 and np.ptp(found[0]) > 0.1


def test_commands_take_it_as_they_take_a_checkpoint(
    checkpoint: pathlib.Path, exported: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """A match, self-play, setups, and the first weights of a run: the same by either."""
    made = []
    for file in (checkpoint, exported):
        done = run("match", file, "random", "--game", "nano", "-n", 2, "--seed", 1, "-o", "-")
        assert done.status == 0
        made.append([json.loads(line)["moves"] for line in done.out.splitlines()[1:]])
        keys = f"search=mmd,rollouts=8,depth=1,{file}"
        done = run("match", keys, "random", "--game", "nano", "-n", 2, "--seed", 1, "-o", "-")
        made[-1] += [json.loads(line)["moves"] for line in done.out.splitlines()[1:]]
        done = run("deploy-gen", "--game", "nano", "-n", 3, "--seed", 1, "--from", file)
        made[-1].append(done.out)
    assert made[0] == made[1] and len(made[0]) == 5
    games = tmp_path / "a.eps"
    words = ("--game", "nano", "--policy", exported, "-n", 2, "--seed", 1, "-o", games)
    assert run("selfplay", *words).status == 0
    learned = ("--out", tmp_path / "run", "--weights", exported, "--net", NET, "--steps", 1)
    done = run("train", "-q", games, *learned, "--batch", 2, "--algorithm", "mmd")
    assert (done.status, done.err) == (0, "")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("nowhere -o a.onnx", "nowhere: no such file or folder"),
        ("heuristic -o a.onnx", "this player has no network: 'heuristic'"),
        ("own.safetensors -o a.onnx", "own.safetensors: a policy of the net py:mine:Net cannot be"),
        ("belief.safetensors -o a.onnx", "belief.safetensors: a belief network of the net fromto"),
        ("plain.safetensors -o a.onnx", "plain.safetensors: a policy of the net plain:4x1 cannot"),
        ("plain.safetensors --net average -o a.onnx", "plain.safetensors: holds no network 'aver"),
        ("other.safetensors -o a.onnx", "other.safetensors: its tensors are not this network's"),
    ],
)
def test_what_cannot_be_exported(
    words: str, said: str, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    save_network("plain.safetensors", "plain:4x1", Game("nano"))
    tensors, about = load_checkpoint("plain.safetensors")
    for file, changed in (
        ("own.safetensors", {"net": "py:mine:Net"}),
        ("belief.safetensors", {"net": "fromto", "algorithm": "belief"}),
        ("other.safetensors", {"net": "fromto:8x1"}),
    ):
        save_checkpoint(file, tensors, {**about, **changed})
    done = run("stratkit", "export", *words.split(), cwd=tmp_path)
    assert done.status == 1 and done.error_line.startswith(f"stratkit: {said}")
    assert not (tmp_path / "a.onnx").exists()


def test_bad_command_lines(tmp_path: pathlib.Path) -> None:
    for words, said in (
        ("barrage-easy", "missing option '-o' / '--output'"),
        ("barrage-easy -o a.pt", "FILE must end in .onnx or .safetensors: 'a.pt'"),
        ("barage-easy -o a.onnx", "(did you mean 'barrage-easy'?)"),
    ):
        done = run("stratkit", "export", *words.split(), cwd=tmp_path)
        assert done.status in (1, 2) and said in done.error_line


def test_files_that_are_no_network(exported: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Of another version, damaged, cut off, another program's, with its weights elsewhere."""
    whole, file = exported.read_bytes(), tmp_path / "a.onnx"
    foreign = onnx.load(exported)
    del foreign.metadata_props[:]
    elsewhere = onnx.load(exported)
    (tensor,) = (x for x in elsewhere.graph.initializer if x.name == f"{STORED}play.met")
    tensor.ClearField("raw_data")
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="/etc/passwd")
    for content, said in (
        (altered(exported, file, version=2).read_bytes(), "a version that is not 1: '2'"),
        (altered(exported, file, "play.met").read_bytes(), "damaged: its tensors are not those"),
        (whole.replace(b'"step":7', b'"step":8'), "damaged: its metadata are not those"),
        (whole[:-5], "not an ONNX file, or truncated"),
        (b"", "an ONNX file, but not one of stratkit's"),
        (b"no network at all\n", "not an ONNX file, or truncated"),
        (foreign.SerializeToString(), "an ONNX file, but not one of stratkit's"),
        (elsewhere.SerializeToString(), "(online/play.met lies in another file)"),
        (whole.replace(b"online/play.met", b"online/play.not"), "damaged: its tensors"),
    ):
        file.write_bytes(content)
        with pytest.raises(InputError) as error:
            open_model(file)
        assert said in str(error.value) and str(error.value).startswith(f"{file}: ")
        assert "\n" not in str(error.value)


def test_another_game_and_what_is_no_checkpoint(
    exported: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    said = f"{exported}: a policy for nano, not for mini"
    done = run("match", exported, "random", "--game", "mini", "-n", 2, "-o", tmp_path / "a.jsonl")
    assert (done.status, done.error_line) == (1, f"match: {said}")
    done = run("finetune", exported, "-", "--out", tmp_path / "run", "--steps", 1)
    assert done.status != 0 and str(exported) in done.error_line
    assert list(tmp_path.iterdir()) == []


def test_without_the_extra(
    checkpoint: pathlib.Path,
    exported: pathlib.Path,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("onnx", "onnxruntime", "torch"):
        monkeypatch.setitem(sys.modules, name, None)
    said = "needs the package onnx, which is missing: pip install onnx onnxruntime"
    with pytest.raises(InputError, match=said):
        open_model(exported)
    with pytest.raises(InputError, match=said):
        export(str(checkpoint), None, str(tmp_path / "a.onnx"))
    export(str(checkpoint), None, str(tmp_path / "a.safetensors"))
    assert not (tmp_path / "a.onnx").exists()
    network = network_with(NET, Game("nano"), open_model(tmp_path / "a.safetensors").weights)
    assert isinstance(network, FromToBackend) and network.name == "engine"
