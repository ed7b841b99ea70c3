"""The packed observation: the one Python description against formats/observation.md and C."""

from __future__ import annotations

import itertools
import pathlib
import re

import numpy as np

from stratkit.engine import Game, observation_dtype
from stratkit.engine import observation as layout
from stratkit.engine import stratego as rules
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.random_streams import Stream
from stratkit.engine.stratego import (
    BOTH_FALL,
    LOSES,
    TYPES,
    VARIANTS,
    WINS,
    Position,
    fight,
    free_game,
)

ROOT = pathlib.Path(__file__).parents[2]
PAGE = (ROOT / "formats/observation.md").read_text()


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
    assert Game("mini").observation_bytes == dtype.itemsize == 172 + squares
    assert Game("classic").observation_bytes == 272


def test_the_page_names_the_types_in_order() -> None:
    listed = re.search(r"^Types: (.*)\.$", PAGE, re.M)
    assert listed
    assert listed[1] == ", ".join(f"{i} {name}" for i, name in enumerate(TYPES))


def c_source(name: str) -> str:
    """A file of the C engine without its comments."""
    return re.sub(r"/\*.*?\*/", "", (ROOT / "cengine" / name).read_text(), flags=re.S)


def c_constants(source: str) -> dict[str, int]:
    """The names that the enums of a C source give numbers to."""
    found: dict[str, int] = {}
    for body in re.findall(r"enum\s*\{(.*?)\}", source, re.S):
        number = -1
        for item in filter(None, map(str.strip, body.split(","))):
            name, _, value = map(str.strip, item.partition("="))
            if value and not re.fullmatch(r"0x[0-9a-f]+|\d+", value):
                break  # an expression
            number = int(value, 0) if value else number + 1
            found[name] = number
    return found


def test_the_offsets_are_those_of_the_c_struct() -> None:
    """Field by field of the struct as it stands in the header: a field more, or in another place,
    moves what follows it."""
    known = c_constants(c_source("stratego.h")) | {"SHOWN_PLIES": layout.SHOWN_PLIES}
    [body] = re.findall(r"typedef struct \{([^}]*)\} observation;", c_source("observation.h"))
    sizes = {"uint8_t": 1, "uint16_t": 2, "ply_record": 3}
    offsets, at = [], 0
    for kind, names in re.findall(r"(\w+) ([^;]+);", body):
        for name in names.split(","):
            times = [known.get(n) or int(n) for n in re.findall(r"\[(\w+)\]", name)]
            each = sizes[kind] * (times[-1] if times else 1)
            for _ in range(times[0] if len(times) == 2 else 1):
                offsets.append(at)
                at += each
    assert at == layout.CELLS
    names = (
        *("PLIES", "MAX_PLIES", "NO_ATTACK", "MAX_NO_ATTACK", "PHASE", "STAGE", "SELECTED"),
        *("TO_PLACE", "OWN_UNREVEALED", "ENEMY_UNREVEALED", "ONLY_ATTACKS", "MOVES"),
    )
    assert [getattr(layout, name) for name in names] == offsets


def test_cells_types_and_planes_are_those_of_c() -> None:
    c = c_constants(c_source("stratego.h"))
    bits = {"TYPE": "CELL_TYPE", "MOVED": "CELL_MOVED", "REVEALED": "CELL_REVEALED"}
    bits |= {"SIDE": "CELL_BLUE", "PIECE": "CELL_PIECE", "LAKE": "LAKE", "EMPTY": "EMPTY"}
    assert {name: getattr(rules, name) for name in bits} == {n: c[b] for n, b in bits.items()}
    assert [c[name.upper()] for name in TYPES] == list(range(len(TYPES))) and c["UNKNOWN"] == 15
    assert layout.NO_SQUARE == c["NO_SQUARE"] == c["NO_ATTACK"]
    planes = c_constants(c_source("planes.c"))
    expected = {
        "PLANE_LAKES": layout.LAKES,
        "PLANE_PRIVATE": layout.OWN_TYPES.start,
        "PLANE_ENEMY_PUBLIC": layout.ENEMY_PUBLIC.start,
        "PLANE_OWN_PUBLIC": layout.OWN_PUBLIC.start,
        "PLANE_MOVES": layout.LAST_MOVES.start,
        "PLANE_LENGTH": layout.RATIOS.start,
        "PLANE_SELECTED": layout.SELECTED_PIECE,
        "PLANES": layout.PLANES,
    }
    assert planes == expected
    blocks = (layout.OWN_TYPES, layout.ENEMY_PUBLIC, layout.OWN_PUBLIC, layout.LAST_MOVES)
    for one, other in itertools.pairwise((*blocks, layout.RATIOS, layout.PHASE_AND_STAGE)):
        assert one.stop == other.start
    assert Game("mini").shape[0] == layout.PLANES


def test_a_fight_ends_as_in_the_engine() -> None:
    """Every type that can move against every type."""
    variant = VARIANTS["mini"]
    for attacker, defender in itertools.product(range(1, 11), range(12)):
        cells = np.zeros(variant.squares, np.uint8)
        cells[0], cells[35] = rules.PIECE | 1, rules.PIECE | rules.SIDE | 1
        cells[14], cells[20] = rules.PIECE | attacker, rules.PIECE | rules.SIDE | defender
        game = Arbiter(free_game("mini"), Position(variant, cells, 0))
        game.move(14, 20)
        left = game.pieces().get(20)
        assert {None: BOTH_FALL, 0: WINS, 1: LOSES}[left[0] if left else None] == fight(
            attacker, defender
        )


def test_every_use_of_random_numbers_has_its_own_stream() -> None:
    """Equal seeds give equal games as long as these numbers stay; `enum.unique` refuses twins."""
    assert {stream.name: stream.value for stream in Stream} == {
        "ACTION": 0,
        "CHANCE": 1,
        "HUMAN_SETUP": 5,
        "HEURISTIC_NOISE": 7,
        "SCRIPT_NOISE": 8,
        "SCRIPT_SLIP": 9,
        "SCRIPT_LOT": 10,
        "TIES": 11,
        "MIRROR": 20,
        "ZONES": 21,
        "SQUARES": 22,
        "PIECES": 23,
        "SETUP_LINES": 24,
        "RESAMPLING": 25,
        "WORLDS": 30,
        "ROLLOUTS": 31,
        "BELIEF": 32,
        "REGRET_MATCHING": 33,
        "CANDIDATES": 34,
        "MIXTURE": 35,
        "NOISE": 36,
        "WINDOW": 37,
        "MEMBER": 38,
        "OPPONENT": 39,
        "STOP": 40,
        "WALK": 41,
        "HANDS": 42,
    }
    for path in (ROOT / "stratkit").rglob("*.py"):
        for call in re.findall(r"\b(?:uniform|sample)\(self\.\w*seed[^)]*\)", path.read_text()):
            assert not re.search(r", \d+\)$", call), f"{path}: a bare number as a stream: {call}"
