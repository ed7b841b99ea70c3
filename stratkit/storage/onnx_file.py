"""Policies as ONNX files: their weights and their metadata, as formats/onnx.md has them.

Only who reads or writes one imports `onnx`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy.typing as npt

from stratkit.errors import InputError
from stratkit.regular import open_regular

if TYPE_CHECKING:
    from onnx import ModelProto

SUFFIX = ".onnx"
STORED = "online/"  # begins the names of the weights
ABSENT = "an ONNX file needs the package onnx, which is missing: pip install onnx onnxruntime"


def is_onnx(path: str | os.PathLike[str]) -> bool:
    """Whether the name of the file says that it is one."""
    return os.fspath(path).endswith(SUFFIX)


def read_onnx(path: str | os.PathLike[str]) -> tuple[dict[str, str], ModelProto]:
    """Its metadata by name, and all of it. `InputError`: it is no ONNX file."""
    name = os.fspath(path)
    try:
        from onnx import ModelProto
    except ModuleNotFoundError:
        raise InputError(ABSENT, file=name) from None
    with open_regular(path) as stream:
        content = stream.read()
    try:
        model = ModelProto.FromString(content)
    except Exception as error:
        if type(error).__name__ != "DecodeError":  # protobuf's, which only onnx imports
            raise
        raise InputError("not an ONNX file, or truncated", file=name) from None
    return {entry.key: entry.value for entry in model.metadata_props}, model


def weights_in(model: ModelProto) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Its weights by name, in no order. `ValueError`: one is not as its shape says, or lies in
    another file."""
    from onnx import TensorProto, numpy_helper

    for tensor in model.graph.initializer:
        if not tensor.name.startswith(STORED):
            continue
        if tensor.data_location == TensorProto.EXTERNAL:
            raise ValueError(f"{tensor.name} lies in another file")
        yield tensor.name, numpy_helper.to_array(tensor).copy()


def onnx_bytes(model: ModelProto, metadata: dict[str, str]) -> bytes:
    """The content of a file with these metadata."""
    from onnx import helper

    helper.set_model_props(model, metadata)
    content: bytes = model.SerializeToString(deterministic=True)
    return content
