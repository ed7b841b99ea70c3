"""Which packages that compute networks are installed."""

from __future__ import annotations

import importlib.util

ONNX = ("onnx", "onnxruntime")  # what makes graphs for ONNX Runtime, and ONNX Runtime


def is_there(package: str) -> bool:
    """Whether a package can be imported."""
    try:
        return importlib.util.find_spec(package) is not None
    except (ImportError, ValueError):  # of who hides it
        return False


def has_onnx() -> bool:
    """Whether ONNX Runtime is there, and what makes graphs for it."""
    return all(map(is_there, ONNX))


def has_torch() -> bool:
    """Whether torch is there."""
    return is_there("torch")
