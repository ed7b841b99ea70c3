"""Checkpoints and published weights: safetensors files with their metadata inside; and policies as
ONNX files.

formats/checkpoint.md and formats/onnx.md say what is in the files, formats/run.md where a learner
puts them. There is no pickle: reading a file runs no code of its writer's.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from msgspec import Meta
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load, save

from stratkit.errors import InputError, error_context, nearest
from stratkit.regular import open_regular
from stratkit.storage import schema
from stratkit.storage.atomic import atomic_file
from stratkit.storage.onnx_file import STORED, is_onnx, onnx_bytes, read_onnx, weights_in
from stratkit.storage.schema import Count, Sha256, Text
from stratkit.storage.streams import open_output

if TYPE_CHECKING:
    from onnx import ModelProto

VERSION = 1
CHECKPOINT, POLICY = "checkpoint", "policy"
POLICY_FILE = "policy.safetensors"
FOLDER = "checkpoints"  # of a RUN
SHUFFLED = ".shuffled"  # ends the names of files whose bytes are in another order

Tensors = Mapping[str, npt.NDArray[Any]]
StrPath = str | os.PathLike[str]
_Named = tuple[str, npt.NDArray[Any]]


_KEY = "stratkit"  # of the safetensors metadata
_LENGTH = 8  # bytes of a safetensors file that say how long its header is
_NAME = re.compile(r"step-(\d{8,18})\.safetensors")


@dataclass(frozen=True, kw_only=True)
class _Metadata:
    """What must be in the metadata, and what may be; there may be more."""

    kind: Literal["checkpoint", "policy"]
    sha256: Sha256
    game: Text
    rules: Mapping[Text, Count]
    net: Text
    step: Count
    episodes: Count
    batch: Count
    algorithm: Text | None = None
    networks: Annotated[tuple[Text, ...], Meta(min_length=1)] | None = None
    metadata_sha256: Sha256 | None = None


# --- files ----------------------------------------------------------------------------------------


def save_checkpoint(
    path: StrPath, tensors: Tensors, metadata: Mapping[str, Any], overwrite: bool = False
) -> None:
    """Writes a checkpoint, on the disk when this returns.

    `tensors`: arrays by name, `PART/NAME` (formats/checkpoint.md has the parts). `metadata`: JSON
    values (no infinity), at least `game`, `rules`, `net`, `step`, `episodes` and `batch`. Raises
    `ValueError` when one of these is missing or wrong; for the rest see `atomic_file`.
    """
    _save(path, tensors, {**metadata, "kind": CHECKPOINT}, overwrite, durable=True)


def load_checkpoint(
    path: StrPath, kind: str | None = None
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """The tensors and metadata of a file; `kind`, if given, is the kind that it must be of.

    Raises `InputError` for a file that is no checkpoint, truncated, damaged or of another version,
    `OSError` when it cannot be opened.
    """
    return _load(path, kind, lambda name, metadata: True)


def load_network(
    path: StrPath, net: str | None
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any], str]:
    """The weights of a checkpoint's network `net` (`online`, `target`, ...) by their names in it,
    the metadata, and which network it is. None: `target`, or where the checkpoint lists no such
    network, `average`, or the acting one, which it lists first. A policy has only `online`.

    The whole file is read and checked, but the other networks take no memory. Errors as
    `load_checkpoint`'s, and `InputError`, which lists the networks, when there is no such one.
    """
    parts: dict[str, None] = {}  # in their order

    def part(metadata: Mapping[str, Any]) -> str:
        if metadata["kind"] != CHECKPOINT:
            return net or "online"
        listed = metadata.get("networks") or ["target"]
        return net or next((x for x in ("target", "average") if x in listed), str(listed[0]))

    def selected(name: str, metadata: Mapping[str, Any]) -> bool:
        parts[name.partition("/")[0]] = None
        return name.startswith(f"{part(metadata)}/")

    tensors, metadata = _load(path, None, selected)
    if not tensors:
        available = metadata.get("networks") or [name for name in parts if name != "optimizer"]
        hint = nearest(part(metadata), available)
        what = f"holds no network {part(metadata)!r}{hint}; it has {', '.join(available)}"
        raise InputError(what, file=os.fspath(path))
    return tensors_of(tensors, part(metadata)), metadata, part(metadata)


def read_metadata(path: StrPath) -> dict[str, Any]:
    """The metadata of a checkpoint or policy alone: the tensors are neither read nor checked.

    Raises `InputError` for a file that is neither.
    """
    if is_onnx(path):
        return _parse_metadata(read_onnx(path)[0], os.fspath(path), None)
    try:
        with _opened(path) as (header, _):
            return _parse_metadata(header, os.fspath(path), None)
    except (SafetensorError, ValueError) as error:
        what = f"not a checkpoint, or truncated ({error})"
        raise InputError(what, file=os.fspath(path)) from None


def _check_file(path: StrPath) -> None:
    """`InputError`: not a regular file. `OSError`, which names the file, as safetensors' do not."""
    open_regular(path).close()


def _load(
    path: StrPath, kind: str | None, selected: Callable[[str, Mapping[str, Any]], bool]
) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """The tensors of which `selected(name, metadata)` holds; all of them are checked."""
    name = os.fspath(path)
    tensors: dict[str, npt.NDArray[Any]] = {}
    digest = hashlib.sha256()
    try:
        with _opened(path) as (header, stored):
            metadata = _parse_metadata(header, name, kind)
            for key, tensor in stored:
                if tensor.dtype.isbuiltin != 1:  # ml_dtypes, which onnx loads, adds such types
                    raise TypeError(f"{tensor.dtype.name} is no type of numpy")
                _hash_tensor(digest, key, tensor)
                if selected(key, metadata):
                    tensors[key] = tensor
    except (SafetensorError, TypeError, ValueError) as error:  # TypeError: a type that numpy lacks
        raise InputError(f"not a checkpoint, or truncated ({error})", file=name) from None
    if digest.hexdigest() != metadata["sha256"]:
        raise InputError("damaged: its tensors are not those that were written", file=name)
    return tensors, metadata


@contextlib.contextmanager
def _opened(path: StrPath) -> Iterator[tuple[Mapping[str, str] | None, Iterator[_Named]]]:
    """The file's own metadata, and its tensors in the order of their names."""
    if is_onnx(path):
        header, model = read_onnx(path)
        yield header, iter(sorted(dict(weights_in(model)).items()))
        return
    if _is_shuffled(path):
        content = plain_content(path)
        tensors = load(content)
        header = json.loads(content[_LENGTH : _numbers_at(content)])
        yield header.get("__metadata__"), iter(sorted(tensors.items()))
        return
    _check_file(path)
    with safe_open(os.fspath(path), framework="np") as file:
        yield file.metadata(), ((key, file.get_tensor(key)) for key in sorted(file.keys()))


def _save(
    path: StrPath, tensors: Tensors, metadata: Mapping[str, Any], overwrite: bool, durable: bool
) -> None:
    arrays = {name: np.asarray(tensor, order="C") for name, tensor in tensors.items()}
    content = save(arrays, _header(arrays, metadata))
    # A RUN may be somebody else's: a link in it leads nowhere that its user chose.
    with atomic_file(path, overwrite, durable, follow=False) as stream:
        stream.write(content)


def _header(tensors: Tensors, metadata: Mapping[str, Any]) -> dict[str, str]:
    """The metadata as a file of these tensors has them. `ValueError`: one is missing or wrong."""
    values = {"version": VERSION, **metadata, "sha256": tensors_hash(tensors)}
    values["metadata_sha256"] = metadata_hash(values)
    try:
        schema.convert(values, _Metadata, "metadata")
    except InputError as error:
        raise ValueError(str(error)) from None
    return {_KEY: schema.compact(dict(sorted(values.items()))).decode()}


def save_policy(
    path: StrPath,
    weights: Tensors,
    metadata: Mapping[str, Any],
    overwrite: bool = False,
    model: ModelProto | None = None,
) -> None:
    """Writes one network's `weights` by their names in it, on the disk when this returns: as a
    safetensors file, shuffled where the path's name says so, or as this ONNX `model` of them.
    `metadata` and errors as of `save_checkpoint`."""
    tensors = {f"{STORED}{name}": tensor for name, tensor in weights.items()}
    values = {**metadata, "kind": POLICY}
    if model is None:
        content = save(tensors, _header(tensors, values))
    else:
        content = onnx_bytes(model, _header(tensors, values))
    if _is_shuffled(path):
        content = _shuffled(content)
    with open_output(os.fspath(path), overwrite, binary=True) as stream:
        stream.write(content)


def _parse_metadata(
    header: Mapping[str, str] | None, name: str, kind: str | None
) -> dict[str, Any]:
    if not header or _KEY not in header:
        form = "an ONNX" if is_onnx(name) else "a safetensors"
        raise InputError(f"{form} file, but not one of stratkit's", file=name)
    metadata = schema.parse_object(header[_KEY])
    if metadata is None:
        raise InputError("damaged metadata", file=name)
    if metadata.get("version") != VERSION:
        version = metadata.get("version")
        raise InputError(f"a version that is not {VERSION}", file=name, text=version)
    with error_context(name):
        schema.convert(metadata, _Metadata, "metadata")
    if kind is not None and metadata["kind"] != kind:
        raise InputError(f"a {metadata['kind']}, where a {kind} is needed", file=name)
    # barrage-v0 has none, nor an algorithm: a file of the history that pages play against.
    stored = metadata.get("metadata_sha256")
    if (stored or "algorithm" in metadata) and stored != metadata_hash(metadata):
        raise InputError("damaged: its metadata are not those that were written", file=name)
    return metadata


def metadata_hash(metadata: Mapping[str, Any]) -> str:
    """SHA-256 of all other metadata, as compact JSON with sorted keys."""
    values = {key: value for key, value in metadata.items() if key != "metadata_sha256"}
    text = json.dumps(values, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def tensors_hash(tensors: Tensors) -> str:
    """SHA-256 of all names, types, shapes and bytes, in the order of the names."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        _hash_tensor(digest, name, tensors[name])
    return digest.hexdigest()


def _hash_tensor(digest: hashlib._Hash, name: str, tensor: npt.NDArray[Any]) -> None:
    little = tensor.dtype.newbyteorder("<")
    digest.update(f"{name} {little.str} {tensor.shape}\n".encode())
    digest.update(np.ascontiguousarray(tensor, little).data)


def checkpoint_hash(path: StrPath) -> str:
    """SHA-256 of the file, as `sha256sum` prints it; of a shuffled one, of its plain content."""
    if _is_shuffled(path):
        return hashlib.sha256(plain_content(path)).hexdigest()
    with open_regular(path) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def tensors_of(tensors: Tensors, part: str) -> dict[str, npt.NDArray[Any]]:
    """The tensors `PART/NAME` by their NAME."""
    start = f"{part}/"
    return {name[len(start) :]: t for name, t in tensors.items() if name.startswith(start)}


# --- shuffled files -------------------------------------------------------------------------------

# The exponents of float32 numbers say little, and what follows much; apart, they pack better.


def _is_shuffled(path: StrPath) -> bool:
    """Whether the name of the file says that it is one."""
    return os.fspath(path).endswith(SHUFFLED)


def plain_content(path: StrPath) -> bytes:
    """The content of a file of weights, of a shuffled one as it was before. `ValueError`: its
    numbers do not have four bytes each."""
    with open_regular(path) as stream:
        content = stream.read()
    if not _is_shuffled(path):
        return content
    at = _numbers_at(content)
    return content[:at] + _numbers_of(np.frombuffer(content[at:], np.uint8))


def _shuffled(content: bytes) -> bytes:
    """A safetensors file of float32, its numbers turned left by a bit: the upper halves of their
    first bytes, which are exponents, the lower halves, their second bytes, and so on."""
    at = _numbers_at(content)
    numbers = np.frombuffer(content[at:], "<u4")
    turned = (numbers << 1 | numbers >> 31).astype(">u4").view(np.uint8).reshape(-1, 4)
    halves = np.append(turned[:, 0], np.zeros(len(numbers) % 2, np.uint8)).reshape(-1, 2)
    upper, lower = halves & 0xF0, halves << 4
    packed = [upper[:, 0] | upper[:, 1] >> 4, lower[:, 0] | lower[:, 1] >> 4, *turned[:, 1:].T]
    return content[:at] + b"".join(part.tobytes() for part in packed)


def _numbers_of(shuffled: npt.NDArray[np.uint8]) -> bytes:
    """What `_shuffled` began with. `ValueError`: it did not with so many bytes."""
    n = len(shuffled) // 4
    upper, lower = shuffled[: n + n % 2].reshape(2, -1)
    turned = np.empty((n, 4), np.uint8)
    turned[:, 0] = np.stack([upper & 0xF0 | lower >> 4, upper << 4 | lower & 15], 1).reshape(-1)[:n]
    turned[:, 1:] = shuffled[n + n % 2 :].reshape(3, n).T
    numbers = turned.view(">u4").astype("<u4")
    return (numbers >> 1 | numbers << 31).astype("<u4").tobytes()


def _numbers_at(content: bytes) -> int:
    """Where the numbers of a safetensors file begin, or of a shuffled one."""
    return _LENGTH + int.from_bytes(content[:_LENGTH], "little")


# --- a RUN ----------------------------------------------------------------------------------------


def checkpoint_path(run: StrPath, step: int) -> Path:
    """Where a RUN has its checkpoint of `step`."""
    return Path(run) / FOLDER / f"step-{step:08}.safetensors"


def list_checkpoints(run: StrPath) -> list[tuple[int, Path]]:
    """(step, file) of a RUN's checkpoints, the oldest first; other files are passed over."""
    try:
        names = os.listdir(Path(run) / FOLDER)
    except (FileNotFoundError, NotADirectoryError):
        return []
    matches = ((_NAME.fullmatch(name), name) for name in names)
    return sorted((int(match[1]), Path(run) / FOLDER / name) for match, name in matches if match)


def resolve(path: StrPath) -> Path:
    """The file itself, or the newest checkpoint of a RUN.

    Raises `InputError` when there is no such file or folder, or no checkpoint in it.
    """
    if not os.path.isdir(path):
        if not os.path.exists(path):
            raise InputError("no such file or folder", file=os.fspath(path))
        return Path(path)
    checkpoints = list_checkpoints(path)
    if not checkpoints:
        raise InputError(f"no checkpoint in its folder {FOLDER}", file=os.fspath(path))
    return checkpoints[-1][1]


def publish_policy(run: StrPath, weights: Tensors, metadata: Mapping[str, Any]) -> None:
    """Puts the acting network's weights where self-play looks for them; replaces what is there.

    `weights` by their names in the network, `metadata` as for a checkpoint. They need not outlive
    the machine: nothing waits for the disk.
    """
    tensors = {f"{STORED}{name}": tensor for name, tensor in weights.items()}
    values = {**metadata, "kind": POLICY}
    _save(Path(run) / POLICY_FILE, tensors, values, overwrite=True, durable=False)


def read_policy(run: StrPath) -> tuple[dict[str, npt.NDArray[Any]], dict[str, Any]]:
    """The published weights by their names in the network, and the metadata.

    Raises `InputError` when nothing is published yet or the file is damaged.
    """
    path = Path(run) / POLICY_FILE
    try:
        tensors, metadata = load_checkpoint(path, POLICY)
    except FileNotFoundError:
        raise InputError("nothing is published there yet", file=os.fspath(run)) from None
    return tensors_of(tensors, "online"), metadata


def policy_stamp(run: StrPath) -> tuple[int, int, int] | None:
    """What changes when a policy is published, for polling; None before the first."""
    try:
        status = os.stat(os.path.join(run, POLICY_FILE))
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_mtime_ns, status.st_size
