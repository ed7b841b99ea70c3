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


_OF_CHAR = {dtype.char: c_type for dtype, c_type in _C_TYPES.values()}


def pointer(name: str, array: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """A C pointer to the argument `name`, which must be an array of exactly this dtype and shape,
    C-contiguous and aligned. `TypeError` and `ValueError` say what is wrong with it.

    cffi itself would accept None, and a float64 array where int8 is meant, hence this check. The
    caller keeps `array` alive while the pointer is in use.
    """
    numpy_type, c_type = _C_TYPES[dtype]
    if (
        not isinstance(array, np.ndarray)
        or array.dtype != numpy_type
        or array.shape != shape
        or not (flags := array.flags).c_contiguous
        or not flags.aligned
    ):
        raise _misfit(name, array, dtype, shape)
    return ffi.from_buffer(c_type, array)


def optional(name: str, array: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """The same, but None becomes NULL."""
    return ffi.NULL if array is None else pointer(name, array, dtype, shape)


def filled(name: str, array: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """The same for an argument that the library fills."""
    out = pointer(name, array, dtype, shape)
    if not array.flags.writeable:
        raise ValueError(f"{name} must be writable")
    return out


def _misfit(name: str, array: Any, dtype: str, shape: tuple[int, ...]) -> Exception:
    expected = f"{name} must be a contiguous array, {dtype} {list(shape)}"
    if not isinstance(array, np.ndarray):
        return TypeError(f"{expected}, not {type(array).__name__}")
    flags = array.flags
    layout = "" if flags.c_contiguous else ", not contiguous"
    layout += "" if flags.aligned else ", not aligned"
    return ValueError(f"{expected}, not {array.dtype} {list(array.shape)}{layout}")


def length(name: str, array: Any) -> int:
    """Of an array that `pointer` is going to check: how many rows it has."""
    if not isinstance(array, np.ndarray) or not array.ndim:
        what = "one without rows" if isinstance(array, np.ndarray) else type(array).__name__
        raise TypeError(f"{name} must be an array, not {what}")
    return len(array)


def last_size(name: str, array: Any, most: int) -> int:
    """The same: of how many numbers its last axis is. `ValueError`: not of 1 to `most`."""
    length(name, array)
    size: int = array.shape[-1]
    if not 1 <= size <= most:
        raise ValueError(f"{name} must have 1 to {most} in the last axis, not {size}")
    return size


def writable(array: Array) -> Any:
    """A C pointer to an array of our own, which the library fills."""
    return ffi.from_buffer(_OF_CHAR[array.dtype.char], array)


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

__all__ = ["Array", "ffi", "filled", "length", "lib", "optional", "pointer", "text", "writable"]
