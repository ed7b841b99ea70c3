"""Checkpoints: everything comes back, and what is no checkpoint is told in one line."""

from __future__ import annotations

import importlib
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from stratkit.errors import InputError
from stratkit.storage.checkpoints import (
    checkpoint_hash,
    checkpoint_path,
    list_checkpoints,
    load_checkpoint,
    load_network,
    policy_stamp,
    publish_policy,
    read_metadata,
    read_policy,
    resolve,
    save_checkpoint,
    save_policy,
    tensors_hash,
    tensors_of,
)

METADATA = {
    "game": "mini",
    "rules": {"two_squares": 3},
    "net": "tiny",
    "step": 12,
    "episodes": 96,
    "batch": 8,
    "seed": 5,
    "config": {"learning_rate": 1e-3},
    "parents": [],
}
TENSORS = {
    "online/weight": np.arange(12, dtype=np.float32).reshape(3, 4),
    "target/weight": np.ones((3, 4), np.float32),
    "optimizer/steps": np.array(7),
}


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "x.safetensors"
    save_checkpoint(path, TENSORS, METADATA)
    return path


def same(left: dict[str, Any], right: dict[str, Any]) -> bool:
    return left.keys() == right.keys() and all(
        np.array_equal(left[k], right[k]) and left[k].dtype == right[k].dtype for k in left
    )


_arrays = arrays.arrays(
    st.sampled_from([np.float32, np.float64, np.int64, np.uint8]),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=3),
)


@settings(suppress_health_check=list(HealthCheck), max_examples=50)
@given(tensors=st.dictionaries(st.text("abc/._", min_size=1), _arrays, max_size=4), data=st.data())
def test_what_is_written_is_read(
    tmp_path: pathlib.Path, tensors: dict[str, np.ndarray], data: st.DataObject
) -> None:
    tensors = {k: v.T if data.draw(st.booleans()) else v for k, v in tensors.items()}
    save_checkpoint(tmp_path / "y", tensors, METADATA, overwrite=True)
    got, metadata = load_checkpoint(tmp_path / "y", "checkpoint")
    assert {k: v.tobytes() for k, v in got.items()} == {k: v.tobytes() for k, v in tensors.items()}
    assert {k: (v.dtype, v.shape) for k, v in got.items()} == {
        k: (v.dtype, v.shape) for k, v in tensors.items()
    }
    assert {key: metadata[key] for key in METADATA} == METADATA


def test_the_file_is_plain_safetensors(path: pathlib.Path) -> None:
    assert same(safetensors.numpy.load_file(path), TENSORS)


def test_same_content_same_bytes(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    other = tmp_path / "y"
    save_checkpoint(other, dict(reversed(TENSORS.items())), dict(reversed(METADATA.items())))
    assert other.read_bytes() == path.read_bytes()
    assert checkpoint_hash(other) == checkpoint_hash(path)


def test_the_hash_is_what_sha256sum_prints(path: pathlib.Path) -> None:
    printed = subprocess.run(["sha256sum", path], capture_output=True, text=True, check=True)
    assert checkpoint_hash(path) == printed.stdout.split()[0]


@pytest.mark.parametrize("more", [1, 2])
def test_a_shuffled_file_is_the_same_policy(tmp_path: pathlib.Path, more: int) -> None:
    weights = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.full(more, -0.1, "<f4")}
    plain, other = tmp_path / "x.safetensors", tmp_path / "x.shuffled"
    for file in (plain, other):
        save_policy(file, weights, METADATA)
    content = other.read_bytes()
    assert same(load_network(other, None)[0], load_network(plain, None)[0])
    assert read_metadata(other) == read_metadata(plain)
    assert checkpoint_hash(other) == checkpoint_hash(plain) and content != plain.read_bytes()
    for wrong in (content[:-1], content[:-4], content[:20], content[:7], content + b"x", b""):
        other.write_bytes(wrong)
        for read in (load_checkpoint, read_metadata):
            with pytest.raises(InputError, match="not a checkpoint, or truncated"):
                read(other)
    other.write_bytes(content[:-1] + b"x")
    with pytest.raises(InputError, match="damaged: its tensors"):
        load_checkpoint(other)


def test_the_order_of_a_shuffled_file(tmp_path: pathlib.Path) -> None:
    """As formats/checkpoint.md has it: 1 is 3f800000, -2 is c0000000, -0.1 is bdcccccd."""
    file = tmp_path / "x.shuffled"
    save_policy(file, {"a": np.float32([1, -2, -0.1])}, METADATA)
    content = file.read_bytes()
    turned = [0x7F000000, 0x80000001, 0x7B99999B]
    rest = bytes(number >> shift & 255 for shift in (16, 8, 0) for number in turned)
    assert content[-13:] == bytes([0x78, 0x70, 0xF0, 0xB0]) + rest


def test_parts() -> None:
    assert same(tensors_of(TENSORS, "online"), {"weight": TENSORS["online/weight"]})
    assert tensors_of(TENSORS, "on") == {}


@pytest.mark.parametrize("key", ["game", "rules", "net", "step", "episodes", "batch"])
def test_incomplete_metadata_is_a_mistake_of_the_program(tmp_path: pathlib.Path, key: str) -> None:
    metadata = {k: v for k, v in METADATA.items() if k != key}
    with pytest.raises(ValueError, match=key):
        save_checkpoint(tmp_path / "y", TENSORS, metadata)
    assert os.listdir(tmp_path) == []


# --- what is no checkpoint ------------------------------------------------------------------------


def told(path: pathlib.Path) -> str:
    """The line about a file that cannot be loaded."""
    with pytest.raises(InputError) as caught:
        load_checkpoint(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert str(caught.value).isprintable()
    return str(caught.value)


def test_a_truncated_checkpoint(path: pathlib.Path) -> None:
    whole = path.read_bytes()
    for end in [*range(0, len(whole), 7), len(whole) - 1]:
        path.write_bytes(whole[:end])
        assert "not a checkpoint, or truncated" in told(path)


def test_a_flipped_bit_anywhere_alters_nothing(path: pathlib.Path) -> None:
    whole = bytearray(path.read_bytes())
    for at in range(0, len(whole), 3):
        whole[at] ^= 1 << at % 8
        path.write_bytes(whole)
        try:
            tensors, _ = load_checkpoint(path)
        except InputError as error:
            assert str(error).isprintable()
        else:
            assert same(tensors, TENSORS)
        whole[at] ^= 1 << at % 8


def test_changed_metadata_are_damage(tmp_path: pathlib.Path) -> None:
    """2,000 single changes of the header: each is refused, or changes nothing that is loaded."""
    path = tmp_path / "x"
    save_checkpoint(path, TENSORS, {**METADATA, "algorithm": "rnad"})
    whole = bytearray(path.read_bytes())
    content = load_checkpoint(path)
    header = 8 + int.from_bytes(whole[:8], "little")
    draw = random.Random(1)
    refused = 0
    for _ in range(2000):
        at = draw.randrange(header)
        before, whole[at] = whole[at], draw.choice(b'"0123456789abcdefghijklmnopqrstuvwxyz,:')
        path.write_bytes(whole)
        try:
            tensors, metadata = load_checkpoint(path)
        except InputError:
            refused += 1
        else:
            assert same(tensors, content[0]) and metadata == content[1]
        whole[at] = before
    assert refused > 1800


def test_metadata_without_a_hash_are_an_older_version(tmp_path: pathlib.Path) -> None:
    values = {**METADATA, "version": 1, "kind": "checkpoint", "sha256": tensors_hash(TENSORS)}
    safetensors.numpy.save_file(TENSORS, tmp_path / "y", {"stratkit": json.dumps(values)})
    assert load_checkpoint(tmp_path / "y")[1] == values
    values["algorithm"] = "rnad"
    safetensors.numpy.save_file(TENSORS, tmp_path / "y", {"stratkit": json.dumps(values)})
    assert "damaged: its metadata" in told(tmp_path / "y")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (None, "but not one of stratkit's"),
        ({"other": "x"}, "but not one of stratkit's"),
        ({"stratkit": "{"}, "damaged metadata"),
        ({"stratkit": "[" * 100_000}, "damaged metadata"),
        ({"stratkit": '{"version":2}'}, "a version that is not 1: '2'"),
        ({"stratkit": '{"version":1,"kind":"\x1b"}'}, "damaged metadata"),
        (
            {"stratkit": json.dumps({"version": 1, "kind": "\x1b"})},
            r"'kind': unknown value: '\\x1b'",
        ),
    ],
)
def test_foreign_safetensors(
    tmp_path: pathlib.Path, metadata: dict[str, str] | None, message: str
) -> None:
    safetensors.numpy.save_file(TENSORS, tmp_path / "y", metadata)
    with pytest.raises(InputError, match=message):
        load_checkpoint(tmp_path / "y")
    told(tmp_path / "y")


def test_tensors_of_a_type_that_numpy_lacks(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    importlib.import_module("ml_dtypes")  # with onnx; from then on numpy reads bfloat16
    whole = path.read_bytes()
    path.write_bytes(whole.replace(b'"F32"', b'"E32"', 1))
    told(path)
    path.write_bytes(whole.replace(b'"dtype":"F32","shape":[3,4]', b'"dtype":"BF16","shape":[24]'))
    told(path)


def test_one_network(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    weights, metadata, net = load_network(path, "target")
    assert same(weights, {"weight": TENSORS["target/weight"]})
    assert (metadata["step"], net) == (12, "target")
    with pytest.raises(InputError, match="no network 'average'; it has online, target$"):
        load_network(path, "average")
    listed = tmp_path / "listed"
    save_checkpoint(listed, TENSORS, {**METADATA, "networks": ["online", "belief"]})
    with pytest.raises(InputError, match="did you mean 'belief'.*; it has online, belief$"):
        load_network(listed, "beleif")
    publish_policy(tmp_path, {"weight": np.zeros(3)}, METADATA)
    acting, _, net = load_network(listed, None)
    assert net == "online" and acting.keys() == load_network(listed, "online")[0].keys()
    assert load_network(path, None)[2] == "target"
    for asked in (None, "online"):
        weights, _, net = load_network(tmp_path / "policy.safetensors", asked)
        assert (list(weights), net) == (["weight"], "online")
    with pytest.raises(InputError, match="no network 'onlin' .*'online'.*; it has online$"):
        load_network(tmp_path / "policy.safetensors", "onlin")
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1  # in another network
    path.write_bytes(whole)
    with pytest.raises(InputError, match="damaged"):
        load_network(path, "online")


def test_another_kind(path: pathlib.Path) -> None:
    with pytest.raises(InputError, match="a checkpoint, where a policy is needed"):
        load_checkpoint(path, "policy")


def test_no_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError) as caught:
        load_checkpoint(tmp_path / "absent")
    assert caught.value.filename == str(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        load_checkpoint(tmp_path)
    with pytest.raises(InputError, match="/dev/null: not a regular file"):
        load_checkpoint("/dev/null")


# --- a RUN ----------------------------------------------------------------------------------------


def test_a_run_is_its_newest_checkpoint(tmp_path: pathlib.Path) -> None:
    (tmp_path / "checkpoints").mkdir()
    for step in (9, 100, 20):
        save_checkpoint(checkpoint_path(tmp_path, step), TENSORS, {**METADATA, "step": step})
    for other in (".tmp.99999999", "step-00000999.safetensors.bak", "step-x.safetensors"):
        (tmp_path / "checkpoints" / other).write_bytes(b"")
    assert [step for step, _ in list_checkpoints(tmp_path)] == [9, 20, 100]
    assert resolve(tmp_path) == tmp_path / "checkpoints/step-00000100.safetensors"
    assert load_checkpoint(resolve(tmp_path))[1]["step"] == 100


def test_resolving_what_is_not_there(tmp_path: pathlib.Path, path: pathlib.Path) -> None:
    assert resolve(path) == path
    with pytest.raises(InputError, match="absent: no such file or folder"):
        resolve(tmp_path / "absent")
    with pytest.raises(InputError, match="no checkpoint in its folder checkpoints"):
        resolve(tmp_path)
    assert list_checkpoints(tmp_path / "absent") == []


def test_published_weights(tmp_path: pathlib.Path) -> None:
    assert policy_stamp(tmp_path) is None
    with pytest.raises(InputError, match="nothing is published there yet"):
        read_policy(tmp_path)
    stamps = {None}
    for step in range(5):
        weights = {"weight": np.full(3, step, np.float32)}
        publish_policy(tmp_path, weights, {**METADATA, "step": step})
        stamps.add(policy_stamp(tmp_path))
        got, metadata = read_policy(tmp_path)
        assert same(got, weights)
        assert (metadata["step"], metadata["kind"]) == (step, "policy")
    assert len(stamps) == 6
    assert os.listdir(tmp_path) == ["policy.safetensors"]


def test_a_full_disk_leaves_the_old_policy_and_no_new_file(tmp_path: pathlib.Path) -> None:
    publish_policy(tmp_path, {"weight": np.zeros(3)}, METADATA)
    before = policy_stamp(tmp_path)
    code = (
        "import sys, resource, numpy as np\n"
        "from storage.test_checkpoints import *\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))\n"
        "run = pathlib.Path(sys.argv[1])\n"
        "for write in (publish_policy, lambda *a: save_checkpoint(run / 'c', *a[1:])):\n"
        "    try: write(run, {'weight': np.zeros(1000)}, METADATA)\n"
        "    except OSError as error: print(error)\n"
    )
    here = pathlib.Path(__file__).parents[1]
    env = {**os.environ, "PYTHONPATH": f"{here}{os.pathsep}{here.parent}"}
    command = [sys.executable, "-c", code, str(tmp_path)]
    out = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == [
        f"[Errno 27] File too large: '{tmp_path / name}'" for name in ("policy.safetensors", "c")
    ]
    assert policy_stamp(tmp_path) == before
    assert os.listdir(tmp_path) == ["policy.safetensors"]
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY
