"""Pictures of ratings as SVG elements, to stand in a page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from operator import itemgetter
from xml.etree.ElementTree import Element, SubElement

from stratkit.errors import printable
from stratkit.rating.report import Report, Standing

ROW, LEFT, WIDTH, TOP = 22, 190, 760, 8
NAME = 26  # characters of a name beside a picture


def step_of(name: str) -> int | None:
    """The step in the name of a checkpoint: `run@100`, or a file `step-00000100.safetensors`."""
    found = re.search(r"(?:@|step-)(\d{1,15})(?:\.safetensors)?$", name)
    return int(found[1]) if found else None


def curve_of(report: Report) -> tuple[list[int], list[Standing], list[Standing]]:
    """The steps of the checkpoints, ascending, and the checkpoints; and all other players."""
    found = [(step_of(s.name), s) for s in report.standings]
    points = sorted(((n, s) for n, s in found if n is not None), key=itemgetter(0))
    return [n for n, _ in points], [s for _, s in points], [s for n, s in found if n is None]


def intervals(report: Report) -> Element:
    """Every player's rating and interval, the strongest on top."""
    standings = report.standings
    height = TOP + ROW * len(standings)
    picture = _picture(height + 24)
    scale = _Scale(_extremes(standings), LEFT + 10, WIDTH - 15)
    for tick in scale.ticks():
        x = scale(tick)
        _add(picture, "line", x1=x, x2=x, y1=TOP, y2=height, stroke="#ddd")
        _text(picture, f"{tick:g}", x, height + 16, "middle")
    for row, s in enumerate(standings):
        y = TOP + ROW * (row + 0.5)
        _text(picture, _short(s.name), LEFT, y + 4, "end", s.name)
        if s.low is not None and s.high is not None:
            low, high = scale(s.low), scale(s.high)
            _add(picture, "line", x1=low, x2=high, y1=y, y2=y, stroke="#205080")
        _add(picture, "circle", cx=scale(s.elo), cy=y, r=4, fill="#205080")
    return picture


def curve(report: Report) -> Element | None:
    """The ratings of checkpoints over their steps, the others as lines across; None without
    checkpoints at two steps."""
    steps, points, others = curve_of(report)
    if len(set(steps)) < 2:
        return None
    height = 300
    picture = _picture(height + 24)
    across = _Scale((steps[0], steps[-1]), 70, WIDTH - 20)
    up = _Scale(_extremes(report.standings), height - 10, TOP + 10)
    for tick in up.ticks():
        y = up(tick)
        _add(picture, "line", x1=70, x2=WIDTH - 20, y1=y, y2=y, stroke="#ddd")
        _text(picture, f"{tick:g}", 62, y + 4, "end")
    for tick in across.ticks():
        _text(picture, f"{tick:g}", across(tick), height + 16, "middle")
    for other in others:
        y, ends = up(other.elo), {"x1": 70, "x2": WIDTH - 20}
        _add(picture, "line", **ends, y1=y, y2=y, stroke="#999", stroke_dasharray="6 4")
        _text(picture, _short(other.name), WIDTH - 20, y - 4, "end", other.name)
    for x, s in zip(map(across, steps), points, strict=True):
        if s.low is not None and s.high is not None:
            low, high = up(s.low), up(s.high)
            _add(picture, "line", x1=x, x2=x, y1=low, y2=high, stroke="#205080", opacity=0.4)
        _add(picture, "circle", cx=x, cy=up(s.elo), r=4, fill="#205080")
    line = " ".join(f"{across(n):.1f},{up(s.elo):.1f}" for n, s in zip(steps, points, strict=True))
    _add(picture, "polyline", points=line, fill="none", stroke="#205080", stroke_width=2)
    return picture


class _Scale:
    """Numbers between two ends -> places in a picture."""

    def __init__(self, ends: tuple[float, float], first: float, last: float) -> None:
        self.low, high = ends
        self.range = (high - self.low) or 1
        self.first, self.last = first, last

    def __call__(self, value: float) -> float:
        return self.first + (value - self.low) / self.range * (self.last - self.first)

    def ticks(self) -> list[float]:
        """Some round numbers between the ends."""
        step = 10.0 ** math.floor(math.log10(self.range / 2))
        step *= next(k for k in (1, 2, 5, 10) if self.range / (k * step) <= 7)
        first = math.ceil(self.low / step)
        return [k * step for k in range(first, math.floor((self.low + self.range) / step) + 1)]


def _extremes(standings: Sequence[Standing]) -> tuple[float, float]:
    ends = [x for s in standings for x in (s.elo, s.low, s.high) if x is not None]
    return min(ends), max(ends)


def _picture(height: float) -> Element:
    return Element("svg", {"viewBox": f"0 0 {WIDTH} {height:g}", "width": str(WIDTH)})


def _add(parent: Element, tag: str, **attributes: object) -> Element:
    values = {
        key.replace("_", "-"): f"{value:.1f}" if isinstance(value, float) else str(value)
        for key, value in attributes.items()
    }
    return SubElement(parent, tag, values)


def _text(
    parent: Element, text: str, x: float, y: float, anchor: str, title: str | None = None
) -> None:
    element = _add(parent, "text", x=float(x), y=float(y), text_anchor=anchor)
    if title is not None:
        SubElement(element, "title").text = printable(title)
        element[0].tail = text
    else:
        element.text = text


def _short(name: str) -> str:
    """A name that fits beside a picture; its end tells more than its beginning."""
    name = printable(name)
    return name if len(name) <= NAME else f"…{name[-NAME + 1 :]}"
