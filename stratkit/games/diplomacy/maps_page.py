"""A game of Diplomacy as one HTML file: maps to step through, which needs nothing else."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Sequence
from xml.etree.ElementTree import fromstring, tostring

import numpy as np

from stratkit.arrays import Bytes
from stratkit.engine.diplomacy import DiplomacyMap
from stratkit.errors import printable
from stratkit.games.diplomacy.orders import phase_text
from stratkit.games.diplomacy.svg import ground, layer
from stratkit.games.diplomacy.told import history, standing
from stratkit.pages import part

_TEMPLATE = pathlib.Path(__file__).with_name("maps.html")
END = "the end"


def maps_page(
    map_: DiplomacyMap,
    phases: Sequence[tuple[np.ndarray, Bytes]],
    end: np.ndarray,
    title: str,
    result: str,
) -> str:
    """The page of these `phases`, each a position with its orders; `end` is the position behind the
    last one. An address that ends with #3 opens it at the fourth."""
    told = history(map_, phases, end)
    pages = [
        {
            "name": name,
            "layer": layer(map_, position, orders),
            "lines": lines,
            "standing": standing(map_, position),
        }
        for (position, orders), (name, lines) in zip(phases, told, strict=True)
    ]
    last = {"name": f"{phase_text(map_, end)}, {END}", "layer": layer(map_, end, None)}
    pages.append({**last, "lines": [], "standing": standing(map_, end)})
    texts = {"title": printable(title), "result": printable(result)}
    data = {**texts, "base": ground(map_), "phases": pages}
    page = fromstring(_TEMPLATE.read_text("utf-8"))
    # A script's text is not escaped, and `<` must not end it.
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    for path, filling in (
        (".//title", printable(title)),
        (".//style[@id='page']", part("page.css")),
        (".//script[@id='game']", text),
    ):
        place = page.find(path)
        assert place is not None
        place.text = filling
    return "<!DOCTYPE html>\n" + tostring(page, encoding="unicode", method="html") + "\n"
