"""Boards as SVG elements of a page, which looks like that of a replay (board.css) and runs no
script: setups, first moves, heat maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from stratkit.arrays import Bytes, Int64s
from stratkit.engine.stratego import FILES, NO_PIECE, Variant
from stratkit.notation.squares import RANKS, square_text
from stratkit.pages import add, element

SIZE, MARGIN = 48, 24  # of a square, and around the board, as in board.js
STYLE = """
.board .heat { fill: var(--good); }
.board .share { fill: var(--text); font-size: 15px; }
.board .way { stroke: light-dark(#c07800, #f0b820); stroke-width: 4; stroke-linecap: round; }
.board .head { fill: light-dark(#c07800, #f0b820); }
.board .number circle { fill: var(--paper); stroke: light-dark(#c07800, #f0b820); stroke-width: 2; }
.board .number text { fill: var(--text); font-size: 15px; }
"""

Move = tuple[int, int]


class PageBoard:
    """The first `ranks` ranks of a board from its own side: `svg` is the element, with a `title`
    for those who do not see it."""

    def __init__(self, variant: Variant, ranks: int, title: str) -> None:
        self.variant, self.ranks = variant, ranks
        width, height = (2 * MARGIN + SIZE * n for n in (variant.width, ranks))
        self.svg = element(
            "svg", class_="board", viewBox=f"0 0 {width} {height}", role="img", aria_label=title
        )
        for square in range(variant.width * ranks):
            x, y = self._middle(square)
            group = add(self.svg, "g", class_="lake" if square in variant.lakes else "land")
            add(group, "rect", x=x - SIZE // 2, y=y - SIZE // 2, width=SIZE, height=SIZE)
        labels = add(self.svg, "g", class_="labels", aria_hidden="true")
        for file in range(variant.width):
            add(labels, "text", FILES[file], x=self._middle(file)[0], y=height - 7)
        for rank in range(ranks):
            y = self._middle(variant.width * rank)[1]
            add(labels, "text", str(rank + 1), x=11, y=y, dy=".35em")

    def _middle(self, square: int) -> tuple[int, int]:
        up, right = divmod(square, self.variant.width)
        return (
            MARGIN + SIZE * right + SIZE // 2,
            MARGIN + SIZE * (self.ranks - 1 - up) + SIZE // 2,
        )

    def pieces(self, setup: Bytes) -> None:
        """Puts the pieces of a setup, uint8 [zone], on their squares."""
        for square, type_ in enumerate(setup.tolist()):
            if type_ == NO_PIECE:
                continue
            x, y = self._middle(square)
            group = add(self.svg, "g", class_="piece red")
            add(group, "rect", x=x - 19, y=y - 19, width=38, height=38, rx=4)
            add(group, "text", RANKS[type_], x=x, y=y, dy=".35em")

    def moves(self, moves: Sequence[Move]) -> None:
        """Draws moves as arrows, each with its number."""
        for start, end in moves:
            self._arrow(start, end)
        for number, (start, end) in enumerate(moves, 1):
            (x, y), (to_x, to_y) = self._middle(start), self._middle(end)
            group = add(self.svg, "g", class_="number")
            at = {"x": round(0.55 * x + 0.45 * to_x), "y": round(0.55 * y + 0.45 * to_y)}
            add(group, "circle", cx=at["x"], cy=at["y"], r=10)
            add(group, "text", str(number), dy=".35em", **at)

    def _arrow(self, start: int, end: int) -> None:
        (x, y), (to_x, to_y) = self._middle(start), self._middle(end)
        far = math.dist((x, y), (to_x, to_y))
        right, down = (to_x - x) / far, (to_y - y) / far
        neck = far - 14
        add(self.svg, "line", x1=x, y1=y, x2=f"{x + neck * right:.1f}",
            y2=f"{y + neck * down:.1f}", class_="way")  # fmt: skip
        corners = ((far - 2, 0), (neck, 7), (neck, -7))
        points = " ".join(
            f"{x + along * right - aside * down:.1f},{y + along * down + aside * right:.1f}"
            for along, aside in corners
        )
        add(self.svg, "polygon", points=points, class_="head")

    def heat(self, counts: Int64s) -> None:
        """Shades the squares by the numbers on them, int64 [squares], and writes each one's
        share."""
        total, most = int(counts.sum()), int(counts.max())
        for square, count in enumerate(counts.tolist()):
            if not count:
                continue
            x, y = self._middle(square)
            strength = f"{0.12 + 0.5 * count / most:.2f}"
            heat = add(self.svg, "rect", x=x - SIZE // 2, y=y - SIZE // 2, width=SIZE,
                       height=SIZE, class_="heat", fill_opacity=strength)  # fmt: skip
            share = 100 * count / total
            text = f"{share:.0f}" if share >= 9.95 else f"{share:.1f}"
            add(heat, "title", f"{square_text(square, self.variant.width)}: {count} of {total}")
            add(self.svg, "text", text, x=x, y=y, dy=".35em", class_="share")


def setup_board(variant: Variant, setup: Bytes, title: str) -> Element:
    """The own ranks of a setup."""
    board = PageBoard(variant, variant.ranks, title)
    board.pieces(setup)
    return board.svg


def moves_board(variant: Variant, setup: Bytes, moves: Sequence[Move], title: str) -> Element:
    """A setup on the whole board, with moves as numbered arrows."""
    board = PageBoard(variant, variant.height, title)
    board.pieces(setup)
    board.moves(moves)
    return board.svg


def heat_board(variant: Variant, counts: Int64s, title: str) -> Element:
    """How often something stands on each own square, int64 [zone]."""
    board = PageBoard(variant, variant.ranks, title)
    board.heat(counts)
    return board.svg
