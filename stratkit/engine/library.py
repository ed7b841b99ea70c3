"""The C library, and the one way arrays get into it: with dtype, shape and layout checked."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

import numpy as np
import numpy.typing as npt

from stratkit.engine._engine import ffi, lib
from stratkit.errors import StratkitError

Array = npt.NDArray[Any]

# What an array of a dtype is in C, found once: arrays are passed thousands of times a second.
_C_TYPES = {
    name: (np.dtype(name), ffi.typeof(c_name))
    for name, c_name in {
        "bool": "uint8_t[]",
        "uint8": "uint8_t[]",
        "int8": "int8_t[]",
        "int32": "int32_t[]",
        "int64": "int64_t[]",
        "float32": "float[]",
        "float64": "double[]",
    }.items()
}


def pointer(array: Array | None, dtype: str, shape: tuple[int, ...], writable: bool = False) -> Any:
    """A C pointer to `array`, which must have exactly this dtype and shape and be C-contiguous.

    cffi itself would accept a float64 array where int8 is meant, hence this check. The caller keeps
    `array` alive while the pointer is in use. None becomes NULL.
    """
    if array is None:
        return ffi.NULL
    wanted, c_type = _C_TYPES[dtype]
    if array.dtype != wanted or array.shape != shape or not array.flags.c_contiguous:
        layout = "contiguous" if array.flags.c_contiguous else "not contiguous"
        raise ValueError(
            f"expected a contiguous {dtype} array of shape {shape}, "
            f"got {array.dtype} {array.shape}, {layout}"
        )
    return ffi.from_buffer(c_type, array, require_writable=writable)


def writable(array: Array) -> Any:
    """A C pointer to an array that the library fills, whose dtype and shape are as allocated."""
    return pointer(array, array.dtype.name, array.shape, writable=True)


def text(value: Any) -> str:
    """A C string as str."""
    return str(ffi.string(value).decode("utf-8"))


def check_build() -> None:
    """Refuses a library that was built from other C sources than the ones beside this checkout."""
    folder = pathlib.Path(__file__).resolve().parents[2] / "cengine"
    if not (folder / "build_cffi.py").is_file():
        return  # installed from a wheel: there are no sources to differ from
    digest = hashlib.sha256()
    patterns = ("*.c", "diplomacy/*.c", "*.h", "diplomacy/*.h")
    for path in (path for pattern in patterns for path in sorted(folder.glob(pattern))):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    if digest.hexdigest() != text(lib.sk_source_hash()):
        raise StratkitError("the C engine is older than its sources: run `make dev`")


check_build()

__all__ = ["Array", "ffi", "lib", "pointer", "text", "writable"]
