"""A position as a picture: SVG, which is text, and PNG, which needs matplotlib (an extra)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, Any
from xml.sax.saxutils import escape

from stratkit.arrays import Bytes
from stratkit.engine.stratego import (
    FILES,
    LAKE,
    MOVED,
    PIECE,
    REVEALED,
    SIDE,
    TYPE,
    UNKNOWN,
    Variant,
)
from stratkit.notation.drawing import heading, setup_cells, squares_seen
from stratkit.notation.fenfs import Fenfs, position, seen_by
from stratkit.notation.squares import RANKS
from stratkit.pictures import new_figure, save

SIZE = 48  # of a square, in pixels
MARGIN = 28

# As a page has them by day: board.css.
_LAND, _LINE, _WATER, _INK, _LAST = "#e8e2cc", "#b8ae8c", "#8fb8d0", "#333333", "#e0a000"
_SIDES = ("#b83a20", "#20599e")


@dataclass(frozen=True)
class Box:
    """A rectangle; `rounding` is the radius of its corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    line: str
    rounding: float = 0


@dataclass(frozen=True)
class Words:
    """Text whose middle is at (x, y)."""

    x: float
    y: float
    text: str
    size: float
    fill: str


@dataclass(frozen=True)
class Arrow:
    """An arrow from one point to another."""

    x: float
    y: float
    to_x: float
    to_y: float


@dataclass(frozen=True)
class Picture:
    """Shapes, the later ones on top of the earlier; `y` grows downwards."""

    width: float
    height: float
    title: str
    shapes: tuple[Box | Words | Arrow, ...]


def picture(
    fenfs: Fenfs, view: int | None, last: tuple[int, int] | None = None, title: str = ""
) -> Picture:
    """The board as `view` sees it, with an arrow for the `last` move (from, to).

    Raises `InputError` when `fenfs` is the other side's view.
    """
    seen = seen_by(fenfs, view)
    rows = squares_seen(seen.variant.width, seen.variant.height, view)
    return _drawn(position(seen).cells, rows, last, title or heading(seen, view))


def setup_picture(variant: Variant, setup: Bytes, title: str) -> Picture:
    """The own ranks of a setup, uint8 [zone]."""
    rows = squares_seen(variant.width, variant.ranks, None)
    return _drawn(setup_cells(variant, setup), rows, None, title)


def _drawn(
    cells: Bytes, rows: list[list[int]], last: tuple[int, int] | None, title: str
) -> Picture:
    width, height = (2 * MARGIN + SIZE * n for n in (len(rows[0]), len(rows)))
    return Picture(width, height, title, tuple(_shapes(cells.tolist(), rows, last)))


def _shapes(
    cells: list[int], rows: list[list[int]], last: tuple[int, int] | None
) -> Iterator[Box | Words | Arrow]:
    width = len(rows[0])
    places: dict[int, tuple[float, float]] = {}
    x: float
    y: float
    for down, row in enumerate(rows):
        for across, square in enumerate(row):
            x, y = MARGIN + SIZE * across, MARGIN + SIZE * down
            places[square] = x + SIZE / 2, y + SIZE / 2
            water = cells[square] == LAKE
            yield Box(x, y, SIZE, SIZE, _WATER if water else _LAND, _LINE)
    for square, (x, y) in places.items():
        if cells[square] & PIECE:
            yield from _piece(cells[square], x, y)
    bottom = MARGIN + SIZE * len(rows)
    for square in rows[0]:
        for y in (MARGIN / 2, bottom + MARGIN / 2):
            yield Words(places[square][0], y, FILES[square % width], 14, _INK)
    for row in rows:
        for x in (MARGIN / 2, MARGIN * 1.5 + SIZE * width):
            yield Words(x, places[row[0]][1], str(row[0] // width + 1), 14, _INK)
    if last:
        yield _arrow(places[last[0]], places[last[1]])


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> Arrow:
    """The arrow of a move, up to the edge of the piece that moved: its rank can be read."""
    share = 1 - 0.42 * SIZE / max(math.dist(start, end), SIZE)
    x, y = (a + share * (b - a) for a, b in zip(start, end, strict=True))
    return Arrow(*start, x, y)


def _piece(cell: int, x: float, y: float) -> Iterator[Box | Words]:
    """A piece in its side's colour; framed in white if both sides know its rank. One whose rank the
    viewer does not know has no rank, and a dot once it has moved."""
    colour, half = _SIDES[bool(cell & SIDE)], SIZE * 0.4
    frame = "#ffffff" if cell & REVEALED else colour
    yield Box(x - half, y - half, 2 * half, 2 * half, colour, frame, SIZE * 0.12)
    if cell & TYPE != UNKNOWN:
        yield Words(x, y, RANKS[cell & TYPE], 22, "#ffffff")
    elif cell & MOVED:
        yield Words(x, y, "•", 22, "#ffffff")


def svg(picture: Picture) -> str:
    """The picture as SVG."""
    size = f'width="{picture.width:g}" height="{picture.height:g}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}'
        f' viewBox="0 0 {picture.width:g} {picture.height:g}">',
        f"<title>{escape(_plain(picture.title))}</title>",
        f'<defs><marker id="head" viewBox="0 0 10 10" refX="10" refY="5" markerWidth="4"'
        f' markerHeight="4" orient="auto"><path d="M0 0L10 5L0 10z" fill="{_LAST}"/></marker>'
        "</defs>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        '<g font-family="sans-serif" font-weight="bold" text-anchor="middle">',
        *map(_svg_shape, picture.shapes),
        "</g>",
        "</svg>",
    ]
    return "\n".join([*lines, ""])


def _plain(text: str) -> str:
    """XML has no place for control characters."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _svg_shape(shape: Box | Words | Arrow) -> str:
    match shape:
        case Box():
            return (
                f'<rect x="{shape.x:g}" y="{shape.y:g}" width="{shape.width:g}"'
                f' height="{shape.height:g}" rx="{shape.rounding:g}" fill="{shape.fill}"'
                f' stroke="{shape.line}" stroke-width="{2 if shape.rounding else 1}"/>'
            )
        case Words():
            return (
                f'<text x="{shape.x:g}" y="{shape.y:g}" dy=".35em" font-size="{shape.size:g}"'
                f' fill="{shape.fill}">{escape(shape.text)}</text>'
            )
        case Arrow():
            return (
                f'<line x1="{shape.x:g}" y1="{shape.y:g}" x2="{shape.to_x:g}" y2="{shape.to_y:g}"'
                f' stroke="{_LAST}" stroke-width="5" opacity=".85" marker-end="url(#head)"/>'
            )


def save_png(picture: Picture, stream: IO[bytes]) -> None:
    """The picture as PNG. Raises `InputError` without matplotlib."""
    figure = new_figure(picture.width / 100, picture.height / 100, layout=None)
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, picture.width), ylim=(picture.height, 0))
    axes.axis("off")
    for shape in picture.shapes:
        match shape:
            case Box(x, y, width, height, fill, line, rounding):
                box: Any = {"xy": (x, y), "width": width, "height": height, "fc": fill, "ec": line}
                style = f"round,pad=0,rounding_size={rounding}"
                rounded = FancyBboxPatch(**box, boxstyle=style, lw=1.5) if rounding else None
                axes.add_patch(rounded or Rectangle(**box))
            case Words():
                font: Any = {"ha": "center", "va": "center", "weight": "bold", "c": shape.fill}
                axes.text(shape.x, shape.y, shape.text, size=shape.size * 0.7, **font)
            case Arrow():
                ends = (shape.x, shape.y), (shape.to_x, shape.to_y)
                look: Any = {"arrowstyle": "-|>", "mutation_scale": 22, "lw": 3, "color": _LAST}
                axes.add_patch(FancyArrowPatch(*ends, shrinkA=0, shrinkB=0, alpha=0.85, **look))
    save(figure, stream, dpi=100)
