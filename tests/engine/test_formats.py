"""formats/observation.md against the dtype and the C struct."""

from __future__ import annotations

import pathlib
import re

import numpy as np

from stratkit.engine import Game, observation_dtype
from stratkit.engine.stratego import TYPES

PAGE = (pathlib.Path(__file__).parents[2] / "formats/observation.md").read_text()


def test_the_page_describes_the_record() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \| ([^|]+) \|", PAGE, re.M)
    squares = 36
    dtype = observation_dtype(squares)
    assert [name for _, name, _ in rows] == list(dtype.names or ())
    for offset, name, kind in rows:
        field, at = (dtype.fields or {})[name][:2]
        assert at == int(offset), name
        count = re.match(r"(\d+|S) x", kind)
        size = np.dtype("u2" if kind.strip() == "u2" else "u1").itemsize
        size *= len(re.findall(r"u\d", kind))
        times = 1 if not count else squares if count[1] == "S" else int(count[1])
        assert field.itemsize == size * times, name
    assert Game("mini").observation_bytes == dtype.itemsize == 156 + squares
    assert Game("classic").observation_bytes == 256


def test_the_page_names_the_types_in_order() -> None:
    listed = re.search(r"^Types: (.*)\.$", PAGE, re.M)
    assert listed
    assert listed[1] == ", ".join(f"{i} {name}" for i, name in enumerate(TYPES))
