"""A position of Diplomacy as a picture: the map as a graph, units, owners, orders as arrows.

The standard map's places are those of an atlas. Other maps have no coordinates: there distances on
paper are like those on the map (classical scaling of the shortest ways; Torgerson 1952).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from stratkit.arrays import Bytes, Float64s
from stratkit.engine.diplomacy import (
    CONVOY,
    FLEET,
    HOLD,
    MOVE,
    NONE,
    POWER,
    RETREAT,
    SEA,
    SUPPORT_HOLD,
    SUPPORT_MOVE,
    VIA,
    DiplomacyMap,
)
from stratkit.games.diplomacy.orders import phase_text

WIDTH, HEIGHT, EDGE = 1000, 800, 40  # pixels
COLOURS = ("#c62828", "#1565c0", "#00838f", "#616161", "#2e7d32", "#8e24aa", "#ef6c00")
SEA_COLOUR, LAND_COLOUR = "#dcebf7", "#f3efe0"

# Where the standard map's provinces are: right and down, in pixels.
ATLAS = """
NAO 110 130 NWG 340 90 BAR 690 40 STP 760 170 NWY 460 190 SWE 545 215 FIN 640 165 SKA 485 270
NTH 380 285 EDI 300 230 CLY 245 190 LVP 255 290 YOR 310 300 WAL 235 360 LON 305 370 IRI 165 335
ENG 210 430 HEL 430 325 DEN 490 325 BAL 575 320 BOT 600 250 LVN 680 270 PRU 595 380 BER 530 385
KIE 470 385 HOL 405 380 BEL 365 425 PIC 305 445 BRE 235 490 PAR 300 510 BUR 365 495 RUH 425 435
MUN 475 460 GAS 250 560 MAR 330 580 SPA 185 620 POR 95 630 MAO 70 510 NAF 150 750 WES 260 700
LYO 340 650 PIE 410 560 TUS 430 615 ROM 460 670 NAP 520 720 APU 525 665 VEN 455 550 TYR 500 510
BOH 540 460 SIL 590 435 WAR 660 400 MOS 840 290 UKR 760 420 GAL 665 460 VIE 575 510 BUD 640 530
TRI 545 565 ADR 500 610 SER 630 600 ALB 590 650 GRE 620 710 BUL 700 620 RUM 720 550 SEV 860 450
BLA 800 560 CON 755 655 ANK 850 640 ARM 940 600 SMY 825 715 SYR 935 710 AEG 705 720 EAS 800 770
ION 560 770 TYS 420 740 TUN 340 765
"""


def layout(map_: DiplomacyMap) -> Float64s:
    """float64 [P, 2]: where each province is drawn, in pixels. Provinces without a way stay aside
    of the others."""
    words = ATLAS.split()
    atlas = {words[at]: words[at + 1 : at + 3] for at in range(0, len(words), 3)}
    names = map_.locations[: map_.provinces]
    if atlas.keys() >= set(names):
        return np.array([atlas[name] for name in names], float)
    far = map_.provinces
    ways = np.where(map_.near, 1.0, far)
    np.fill_diagonal(ways, 0)
    for k in range(len(ways)):
        ways = np.minimum(ways, ways[:, k : k + 1] + ways[k])
    ways = np.minimum(ways, ways[ways < far].max() + 1)
    centred = ways**2 - (ways**2).mean(0)
    values, vectors = np.linalg.eigh(-(centred - centred.mean(1, keepdims=True)) / 2)
    places = vectors[:, -2:][:, ::-1] * np.sqrt(np.maximum(values[-2:][::-1], 1e-9))
    places = _apart(places * np.sign(places[0] + 1e-12))
    low, high = places.min(0), places.max(0)
    size = np.array([WIDTH, HEIGHT]) - 2 * EDGE
    return np.asarray(EDGE + (places - low) / np.maximum(high - low, 1e-9) * size)


def _apart(places: Float64s) -> Float64s:
    """Places that are not upon each other: a few steps away from near ones."""
    for _ in range(60):
        between = places[:, None] - places[None]
        distance = np.sqrt((between**2).sum(2)) + 1e-9
        push = np.maximum(0.55 - distance, 0) * (distance > 1e-8)
        places = places + (between / distance[..., None] * push[..., None]).sum(1) / 2
    return places


def picture(map_: DiplomacyMap, position: np.ndarray, orders: Bytes | None = None) -> str:
    """SVG of a position of shape [1], with the orders uint8 [1, P, 3] of its phase, if given."""
    name = escape(phase_text(map_, position))
    drawn = f"<title>{name}</title>\n{layer(map_, position, orders)}"
    return ground(map_).replace(_PLACE, drawn) + "\n"


_PLACE = '<g id="layer"></g>'


def ground(map_: DiplomacyMap) -> str:
    """SVG of a map alone, with an empty group called `layer` above it."""
    places = layout(map_)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        '<defs><marker id="tip" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" '
        'markerHeight="6" orient="auto"><path d="M0 0L6 3L0 6z"/></marker></defs>',
    ]
    for a, b in zip(*np.nonzero(np.triu(map_.near)), strict=True):
        parts.append(_line(places[a], places[b], 'stroke="#bbb"'))
    parts += [_province(map_, p, places[p]) for p in range(map_.provinces)]
    return "\n".join([*parts, _PLACE, *_key(map_), "</svg>"])


def layer(map_: DiplomacyMap, position: np.ndarray, orders: Bytes | None) -> str:
    """What of a position lies on its map, SVG: the phase, owners, units, and orders, if given."""
    places = layout(map_)
    name = escape(phase_text(map_, position))
    parts = [f'<text x="10" y="20" font-size="16">{name}</text>']
    parts += [_stands(map_, position, p, places[p]) for p in range(map_.provinces)]
    for province, order in enumerate([] if orders is None else orders[0].tolist()):
        parts += _arrows(map_, position, province, order, places)
    return "\n".join(filter(None, parts))


def _line(a: Float64s, b: Float64s, style: str) -> str:
    return f'<line x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}" {style}/>'


def _colour(power: int) -> str:
    return COLOURS[power % len(COLOURS)]


def _province(map_: DiplomacyMap, p: int, at: Float64s) -> str:
    """A province: a square around a centre, and its name."""
    x, y = at
    fill = SEA_COLOUR if map_.kind[p] == SEA else LAND_COLOUR
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="13" fill="{fill}" stroke="#999"/>'
    square = _square(at, "#333") if map_.centre[p] != NONE else ""
    name = escape(map_.locations[p])
    text = f'<text x="{x:.1f}" y="{y + 27:.1f}" text-anchor="middle">{name}</text>'
    return f"{circle}{square}{text}"


def _square(at: Float64s, stroke: str) -> str:
    square = f'x="{at[0] - 15:.1f}" y="{at[1] - 15:.1f}" width="30" height="30"'
    return f'<rect {square} fill="none" stroke="{stroke}" stroke-width="3"/>'


def _stands(map_: DiplomacyMap, position: np.ndarray, p: int, at: Float64s) -> str:
    """A province's owner, as the colour of its square, and its units."""
    x, y = at
    parts = []
    owner = int(position["owner"][0, map_.centre[p]]) if map_.centre[p] != NONE else 0
    if owner:
        parts.append(_square(at, _colour(owner - 1)))
    for field, dx in (("unit", 0), ("dislodged", 16)):
        unit = int(position[field][0, p])
        if unit:
            parts.append(
                f'<circle cx="{x + dx:.1f}" cy="{y:.1f}" r="9" fill="{_colour(unit & POWER)}"/>'
                f'<text x="{x + dx:.1f}" y="{y + 4:.1f}" text-anchor="middle" fill="#fff">'
                f"{'F' if unit & FLEET else 'A'}</text>"
            )
    return "".join(parts)


def _arrows(
    map_: DiplomacyMap, position: np.ndarray, province: int, order: Sequence[int], places: Float64s
) -> list[str]:
    """An order: moves are lines with a tip, supports and convoys broken lines to what they help."""
    verb, whom, whither = order
    here, tip = places[province], 'marker-end="url(#tip)"'
    unit = int(position["dislodged" if verb == RETREAT else "unit"][0, province])
    style = f'stroke="{_colour(unit & POWER)}" stroke-width="2"'
    if verb == HOLD or not unit:
        return []
    if verb in (MOVE, VIA, RETREAT):
        return [_line(here, _short(here, places[map_.parent[whither]]), f"{style} {tip}")]
    if verb not in (SUPPORT_HOLD, SUPPORT_MOVE, CONVOY):
        return []
    to = places[whom]
    if verb != SUPPORT_HOLD:  # to the middle of the way of the helped unit
        to = (to + places[map_.parent[whither]]) / 2
    return [_line(here, to, f'{style} stroke-dasharray="4 3"')]


def _short(a: Float64s, b: Float64s) -> Float64s:
    """The end of an arrow from a to b, at the edge of a unit."""
    length = float(np.hypot(*(b - a))) or 1.0
    return np.asarray(b - (b - a) / length * 12)


def _key(map_: DiplomacyMap) -> list[str]:
    """Which colour is whose."""
    return [
        f'<text x="10" y="{HEIGHT - 14 * (len(map_.powers) - i):.0f}" fill="{_colour(i)}">'
        f"{escape(power)}</text>"
        for i, power in enumerate(map_.powers)
    ]
