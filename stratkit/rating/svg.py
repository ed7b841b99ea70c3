"""Pictures of ratings as SVG elements, to stand in a page."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from operator import itemgetter
from xml.etree.ElementTree import Element, SubElement

from stratkit.errors import printable
from stratkit.pictures import COLOURS
from stratkit.rating.report import RatingReport, Standing

ROW, LEFT, WIDTH, TOP = 22, 190, 760, 8
NAME = 26  # characters of a name beside a picture
COLUMNS = 3  # of a legend
_SHADES = ("#58aee6", "#f08a3c", "#2fc79c", "#e39bc4", "#f0b93a", "#8ed0f5")  # on a dark page
_DARK = "@media (prefers-color-scheme: dark)"
STYLE = f"""
.chart {{ max-width: 100%; height: auto }}
.chart text {{ fill: currentColor }}
.chart .grid {{ stroke: #8885 }}
.chart .other {{ stroke: #888 }}
.chart .line {{ fill: none; stroke: currentColor; stroke-width: 2 }}
.chart .interval {{ stroke: currentColor; opacity: .5 }}
.chart circle {{ fill: currentColor }}
{"".join(f".run{n} {{ color: {colour} }} " for n, colour in enumerate(COLOURS))}
{_DARK} {{ {"".join(f".run{n} {{ color: {c} }} " for n, c in enumerate(_SHADES))}}}
"""  # of pictures in a page


_CHECKPOINT = re.compile(r"(?:@|(?:/checkpoints)?/?step-)(\d{1,15})(?:\.safetensors)?$")


def step_of(name: str) -> int | None:
    """The step in the name of a checkpoint: `run@100`, or a file `step-00000100.safetensors`."""
    match = _CHECKPOINT.search(name)
    return int(match[1]) if match else None


Points = list[tuple[int, Standing]]


def curves_of(report: RatingReport) -> tuple[dict[str, Points], list[Standing]]:
    """Of each run, by name, its checkpoints with their steps, ascending; and all other players."""
    curves: dict[str, Points] = {}
    others = []
    for s in sorted(report.standings, key=lambda s: s.name):
        step = step_of(s.name)
        if step is None:
            others.append(s)
        else:
            curves.setdefault(_CHECKPOINT.sub("", s.name), []).append((step, s))
    return {run: sorted(points, key=itemgetter(0)) for run, points in curves.items()}, others


def intervals(report: RatingReport) -> Element:
    """Every player's rating and interval, the strongest on top."""
    standings = report.standings
    height = TOP + ROW * len(standings)
    picture = _picture(height + 24)
    scale = _Scale(_extremes(standings), LEFT + 10, WIDTH - 15)
    for tick in scale.ticks():
        x = scale(tick)
        _add(picture, "line", x1=x, x2=x, y1=TOP, y2=height, class_="grid")
        _text(picture, f"{tick:g}", x, height + 16, "middle")
    group = _add(picture, "g", class_="run0")
    for row, s in enumerate(standings):
        y = TOP + ROW * (row + 0.5)
        _text(picture, _short(s.name), LEFT, y + 4, "end", s.name)
        if s.low is not None and s.high is not None:
            low, high = scale(s.low), scale(s.high)
            _add(group, "line", x1=low, x2=high, y1=y, y2=y, class_="interval")
        _add(group, "circle", cx=scale(s.elo), cy=y, r=4)
    return picture


def curve(report: RatingReport) -> Element | None:
    """The ratings of each run's checkpoints over their steps, the others as lines across; None
    without checkpoints at two steps."""
    curves, others = curves_of(report)
    steps = sorted(step for points in curves.values() for step, _ in points)
    if len(set(steps)) < 2:
        return None
    height = 300
    picture = _picture(height + 28 + ROW * -(-len(curves) // COLUMNS))
    across = _Scale((steps[0], steps[-1]), 70, WIDTH - 20)
    up = _Scale(_extremes(report.standings), height - 10, TOP + 10)
    for tick in up.ticks():
        y = up(tick)
        _add(picture, "line", x1=70, x2=WIDTH - 20, y1=y, y2=y, class_="grid")
        _text(picture, f"{tick:g}", 62, y + 4, "end")
    for tick in across.ticks():
        _text(picture, f"{tick:g}", across(tick), height + 16, "middle")
    for other in others:
        y, ends = up(other.elo), {"x1": 70, "x2": WIDTH - 20}
        _add(picture, "line", **ends, y1=y, y2=y, class_="other", stroke_dasharray="6 4")
        _text(picture, _short(other.name), WIDTH - 20, y - 4, "end", other.name)
    for number, (run, points) in enumerate(curves.items()):
        group = _add(picture, "g", class_=f"run{number % len(COLOURS)}")
        _run(group, [(across(step), s) for step, s in points], up)
        x = 70 + (WIDTH - 90) / COLUMNS * (number % COLUMNS)
        y = height + 42 + ROW * (number // COLUMNS)
        _add(group, "line", x1=x, x2=x + 20, y1=y - 4, y2=y - 4, class_="line")
        _text(picture, _short(run), x + 26, y, "start", run)
    return picture


def _run(group: Element, points: Sequence[tuple[float, Standing]], up: _Scale) -> None:
    """The ratings of a run and their intervals, at their places across."""
    for x, s in points:
        if s.low is not None and s.high is not None:
            _add(group, "line", x1=x, x2=x, y1=up(s.low), y2=up(s.high), class_="interval")
        _add(group, "circle", cx=x, cy=up(s.elo), r=4)
    line = " ".join(f"{x:.1f},{up(s.elo):.1f}" for x, s in points)
    _add(group, "polyline", points=line, class_="line")


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
    return Element(
        "svg", {"viewBox": f"0 0 {WIDTH} {height:g}", "width": str(WIDTH), "class": "chart"}
    )


def _add(parent: Element, tag: str, **attributes: object) -> Element:
    values = {
        key.rstrip("_").replace("_", "-"): f"{value:.1f}"
        if isinstance(value, float)
        else str(value)
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
