"""Claims of an ending against the board: of records, logs and episodes, in both directions."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import numpy as np
import pytest

from fenfs_here import SAMPLES, fenfs
from stratkit.cli.fenfs import options
from stratkit.notation import endings
from stratkit.storage.columns import Episodes
from stratkit.storage.episodes import EpisodeReader, EpisodeWriter

HEADER, *GAMES = map(json.loads, (SAMPLES / "games.jsonl").read_text().splitlines())
SAYS = "the result says so, but "
RED_WINS = {"result": "red", "returns": [1, -1]}
BLUE_WINS = {"result": "blue", "returns": [-1, 1]}
DRAW = {"result": "draw", "returns": [0, 0]}
REFEREE = {"adjudicator": "referee"}
FIVE = {"moves": " ".join(GAMES[0]["moves"].split()[:5]), "plies": 5}
NOTHING = {"setups": None, "moves": "", "plies": 0}
# Red's last piece attacks a higher one.
LAST_PIECE = {"setups": ["MAAAAAEAAAAA", "MAAAAAAAAAAK"], "moves": "A2A3 A5A4 A3A4", "plies": 3}
FREE = {"setups": {"type": "classicfree"}}
EARLIER = {"rules": HEADER["rules"] | {"max_plies": 40}}

FAULTS: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    (f"{SAYS}blue can move", FIVE | {"reason": "no_legal_move"}, {}),
    (f"{SAYS}blue can move", FIVE | {"reason": "no_legal_move"}, {"rules": {}}),
    (f"{SAYS}red and blue can move", FIVE | DRAW | {"reason": "no_movable_pieces"}, {}),
    (f"{SAYS}no move captures a flag", FIVE, {}),
    (f"{SAYS}the rules end no game here, after 5 plies", FIVE | DRAW | {"reason": "max_plies"}, {}),
    (f"{SAYS}the rules end no game here, after 5 plies", FIVE | DRAW | {"reason": "max_quiet"}, {}),
    ("the result is not that of the board (flag captured, red wins)", {"reason": "resigned"}, {}),
    ("the result is not that of the board (flag captured, red wins)", BLUE_WINS, {}),
    ("1 move after the end of the game (max_plies)", {}, EARLIER),
    ("resigned has a loser", FIVE | DRAW | {"reason": "resigned"}, {}),
    ("agreed has no winner", FIVE | {"reason": "agreed"}, {}),
    ("cut has no winner", FIVE | {"reason": "cut"}, {}),
    (f"{SAYS}blue was to move", FIVE | REFEREE | BLUE_WINS | {"reason": "illegal_move"}, {}),
    (f"{SAYS}both setups are there", FIVE | REFEREE | {"reason": "illegal_setup"}, {}),
    (f"{SAYS}the last move did not cost", FIVE | REFEREE | {"reason": "attrition"}, {}),
    (f"{SAYS}the last move did not cost", LAST_PIECE | REFEREE | {"reason": "attrition"}, FREE),
    (f"{SAYS}nothing was played", NOTHING, {}),
    ("moves without setups", {"setups": None}, {}),
    ("unknown ending", FIVE | {"reason": "boredom"}, {}),
    ("flag_captured needs no adjudicator", {"adjudicator": "player"}, {}),
    ("an adjudicator that the header does not have",
     FIVE | {"reason": "resigned", "adjudicator": "resign 0.9,8"}, {"resign": "0.8,8"}),
]  # fmt: skip
SOUND: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {}),
    (FIVE | {"reason": "resigned", "adjudicator": "player"}, {}),
    (FIVE | {"reason": "resigned", "adjudicator": "resign 0.9,8"}, {"resign": "0.9,8"}),
    (FIVE | REFEREE | {"reason": "illegal_move"}, {}),
    (FIVE | DRAW | {"reason": "cut"}, {}),
    (FIVE | DRAW | {"reason": "max_plies"}, {"rules": HEADER["rules"] | {"max_plies": 5}}),
    (FIVE | DRAW | {"reason": "max_plies"}, {"rules": {}}),  # nobody knows the limit
    (LAST_PIECE | REFEREE | BLUE_WINS | {"reason": "attrition"}, FREE),
    (NOTHING | REFEREE | {"reason": "illegal_setup"}, {}),
]


def checked(tmp_path: pathlib.Path, game: dict[str, Any], header: dict[str, Any]) -> list[str]:
    """What `fenfs check` says of a record, behind its name."""
    path = tmp_path / "g.jsonl"
    path.write_text(f"{json.dumps(HEADER | header)}\n{json.dumps(GAMES[0] | game)}\n")
    status, _, said = fenfs("check", path)
    assert status == (3 if said else 0)
    return [line.removeprefix(f"fenfs: {path}: game 1: ") for line in said]


@pytest.mark.parametrize(("what", "game", "header"), FAULTS)
def test_a_record_whose_ending_cannot_be(
    what: str, game: dict[str, Any], header: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    [line] = checked(tmp_path, game, header)
    assert line.startswith(what)


@pytest.mark.parametrize(("game", "header"), SOUND)
def test_a_record_whose_ending_can_be(
    game: dict[str, Any], header: dict[str, Any], tmp_path: pathlib.Path
) -> None:
    assert checked(tmp_path, game, header) == []


def test_a_record_without_setups_stays_one(tmp_path: pathlib.Path) -> None:
    game = GAMES[0] | NOTHING | REFEREE | {"reason": "illegal_setup"}
    path = tmp_path / "g.jsonl"
    text = "".join(json.dumps(x, separators=(",", ":")) + "\n" for x in (HEADER, game))
    path.write_text(text)
    assert fenfs("convert", "--to", "games", path) == (0, text, [])


def test_the_endings_that_are_known() -> None:
    assert set(options.ENDINGS) == endings.KNOWN


# ---- logs ----


def log(pieces: dict[str, str], moves: str, result: str) -> str:
    """An .xml log of a free game: letters by square, moves and the attributes of the result."""
    field = list(f"{40 * 'A'}AA__AA__AAAA__AA__AA{40 * 'A'}")
    for square, letter in pieces.items():
        field[10 * (int(square[1:]) - 1) + "ABCDEFGHIK".index(square[0])] = letter
    lines = [f'<stratego><game type="classicfree"><field content="{"".join(field)}"/>']
    for number, move in enumerate(moves.split(), 1):
        source, target = move.split("-")
        lines.append(f'<move id="{number}" source="{source}" target="{target}"/>')
    players = '<player id="1">R</player><player id="2">B</player>'
    return "\n".join([*lines, players, f"<result {result}/></game></stratego>"])


FLAGS = {"A1": "M", "K10": "Y"}
BOTH_CAN = FLAGS | {"E4": "E", "B7": "T"}
BOTH_STUCK = FLAGS | {"E4": "E", "E5": "Q"}
BLUE_STUCK = FLAGS | {"E4": "E", "E5": "P"}
RED_STUCK = FLAGS | {"E4": "E", "E5": "U"}
WALLED = FLAGS | {"A2": "E", "B2": "B", "B3": "B", "A4": "B", "A10": "T"}
TO_AND_FRO = "A2-A3 A10-A9 A3-A2 A9-A8 A2-A3 A8-A7"


@pytest.mark.parametrize(
    ("pieces", "moves", "result", "told"),
    [
        (BOTH_CAN, "E4-E5", 'type="0" winner="1"', f"{SAYS}blue can move"),
        (BOTH_CAN, "E4-E5", 'type="2" winner="3"', f"{SAYS}red and blue can move"),
        (BOTH_STUCK, "E4-E5", 'type="0" winner="1"',
         "the result is not that of the board (no movable pieces, nobody wins)"),
        (BLUE_STUCK, "E4-E5", 'type="3" winner="1"',
         "the result is not that of the board (no legal move, red wins)"),
        (BLUE_STUCK, "E4-E5", 'type="0" winner="3"', "the result is not that of the board"),
        (RED_STUCK, "E4-E5", 'type="0" winner="1"', f"{SAYS}blue can move"),
        (RED_STUCK, "E4-E5", 'type="0" winner="2"', ""),  # told at once, though blue is to move
        (WALLED, TO_AND_FRO, 'type="0" winner="2"', ""),  # by a repetition rule
        (WALLED, TO_AND_FRO[:-6], 'type="0" winner="2"', f"{SAYS}red can move"),
    ],
)  # fmt: skip
def test_a_log_whose_ending_cannot_be(
    pieces: dict[str, str], moves: str, result: str, told: str, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "l.xml"
    path.write_text(log(pieces, moves, result))
    status, _, said = fenfs("check", "--two-squares", 0, path)
    assert (status, len(said)) == ((3, 1) if told else (0, 0))
    assert all(line.startswith(f"fenfs: {path}: {told}") for line in said)


# ---- episodes ----


@pytest.mark.parametrize("within", [False, True])
def test_an_episode_whose_ending_cannot_be(within: bool, tmp_path: pathlib.Path) -> None:
    """From the start of the game, and from within it; it says a limit that was not reached."""
    with (SAMPLES / "episodes.eps").open("rb") as stream:
        reader = EpisodeReader(stream, "sample")
        episode = next(one for one in reader if bool(one.start) == within and one.ending)
    code = reader.header.endings.index("max_plies")
    short = len(episode.actions) - 2
    changed = dataclasses.replace(
        episode,
        ending=code,
        actions=episode.actions[:short],
        mu=episode.mu[:short],
        returns=np.zeros(2, np.float32),
    )
    path = tmp_path / "one.eps"
    with path.open("wb") as out, EpisodeWriter(out, reader.header) as writer:
        writer.write(Episodes.of([changed]))
    status, _, [line] = fenfs("check", path)
    assert status == 3 and ("the rules end no game here" in line or "not ended" in line)
