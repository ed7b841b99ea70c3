"""examples/players/losses.py: what a player loses by."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from types import SimpleNamespace

import pytest

from running import ROOT
from stratkit.engine.stratego import BOMB, MARSHAL, MINER, MOVED, PIECE, REVEALED, SIDE, SPY
from stratkit.errors import InputError

script = SimpleNamespace(**runpy.run_path(str(ROOT / "examples/players/losses.py")))
GENERAL, CAPTAIN, LIEUTENANT = 9, 6, 5


def own(type_: int) -> int:
    return PIECE | type_


def foe(type_: int, known: bool = False) -> int:
    return PIECE | SIDE | type_ | REVEALED * known


def lost(*boards: tuple[int, ...], moves: str, points: float = -1.0) -> SimpleNamespace:
    """Of red, on boards of a few squares; moves as `01 32`, from and to."""
    log = SimpleNamespace(
        moves=bytes(int(digit) for word in moves.split() for digit in word),
        returns=(points, -points),
        variant=SimpleNamespace(width=len(boards[0]), height=1),
    )
    played = SimpleNamespace(boards=[bytes(board) for board in boards], log=log)
    return script.losses(played, 0)  # type: ignore[no-any-return]


def figures(told: str) -> list[float]:
    """Mean, low and high of `1.5 (1.2 to 1.8)`."""
    return [float(word) for word in re.findall(r"[0-9.]+", told)]


@pytest.mark.parametrize(
    ("attacker", "met", "after", "bombs"),
    [
        (GENERAL, foe(BOMB), foe(BOMB, known=True), 1),
        (GENERAL, foe(BOMB, known=True), foe(BOMB, known=True), 0),
        (GENERAL, foe(MARSHAL), foe(MARSHAL, known=True), 0),
        (MARSHAL, foe(BOMB), foe(BOMB, known=True), 0),
        (MINER, foe(BOMB), own(MINER) | REVEALED, 0),
    ],
)
def test_bombs_that_take_generals(attacker: int, met: int, after: int, bombs: int) -> None:
    assert lost((own(attacker), met), (0, after), moves="01").bombs == bombs


def test_a_spy_takes_a_marshal() -> None:
    before, between = (own(MARSHAL), 0, foe(SPY)), (0, own(MARSHAL), foe(SPY))
    assert lost(before, between, (0, foe(SPY, known=True), 0), moves="01 21").spy
    assert not lost(before, (own(MARSHAL), 0, foe(SPY)), moves="00").spy
    scout = foe(2), foe(2, known=True)
    assert not lost((own(SPY), 0, scout[0]), (0, own(SPY), scout[0]), (0, scout[1], 0),
                    moves="01 21").spy  # fmt: skip


def test_probes_and_steps_and_what_public_knowledge_expects() -> None:
    """A bomb and a spy among four hidden pieces, of which one has moved; three may be the spy."""
    rest = (foe(BOMB), foe(2), foe(4) | MOVED)
    attack = lost((own(GENERAL), foe(SPY), *rest), (0, own(GENERAL), *rest), moves="01")
    assert (attack.probes.times, attack.probes.met) == (1, 0)
    assert attack.probes.expected == pytest.approx(1 / 3) and attack.steps.times == 0
    marshal = own(MARSHAL) | REVEALED
    step = lost((marshal, 0, foe(SPY), *rest), (0, marshal, foe(SPY), *rest), moves="01")
    assert (step.steps.times, step.steps.met, step.probes.times) == (1, 1, 0)
    assert step.steps.expected == pytest.approx(2 / 9)
    known = foe(SPY, known=True)
    assert lost((marshal, 0, known, *rest), (0, marshal, known, *rest), moves="01").steps.times == 0


def test_a_miner_that_is_left() -> None:
    assert lost((own(MINER), 0), (0, own(MINER)), moves="01").miner
    assert not lost((own(CAPTAIN), foe(MINER)), (0, own(CAPTAIN)), moves="01").miner


def test_a_raid_is_of_one_known_piece() -> None:
    """It is hidden when it takes the first piece, goes on, and takes two more; another takes one.
    Then the first one falls, and who took it falls to a third."""
    raider, other = foe(CAPTAIN, known=True), foe(LIEUTENANT, known=True)
    weak, strong = own(4), own(GENERAL)
    boards = [
        (foe(CAPTAIN), weak, weak, weak, strong, other),
        (foe(CAPTAIN), weak, weak, weak, strong, other),
        (0, raider, weak, weak, strong, other),
        (0, raider, weak, weak, strong, other),
        (0, 0, raider, weak, strong, other),
        (0, 0, raider, weak, strong, other),
        (0, 0, 0, raider, strong, other),
        (0, 0, 0, strong | REVEALED, 0, other),
        (0, 0, 0, other, 0, 0),
    ]
    moves = "00 01 00 12 00 23 43 53"
    assert lost(*boards, moves=moves).raid == 2
    assert lost(*boards[:5], moves=moves[:11]).raid == 1
    assert lost(*boards[:3], moves=moves[:5]).raid == 0


def test_the_worst_tenth() -> None:
    mean, low, high = figures(script.worst([float(at) for at in range(40)]))
    assert mean == 37.5 and 33 < low < mean < high < 39.1


def test_rates_have_the_ends_of_their_scale() -> None:
    """Nothing in five games may be as much as Clopper and Pearson have, .52 of what there is."""
    mean, low, high = figures(script.rate([0.0] * 5, 2))
    assert mean == low == 0 and high == pytest.approx(2 * 0.52, abs=0.08)
    assert script.rate([]) == "-" == script.rate([0.0], 0)


def test_a_match() -> None:
    games = str(ROOT / "formats/samples/games.jsonl")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        script.main("A", games)
    head, row, *_ = out.getvalue().splitlines()
    assert head.split() == list(script.HEAD) and row.split()[:5] == ["B", "2", "2", "0", "0"]
    assert "all" not in out.getvalue()
    with pytest.raises(InputError, match="no game of a player of this name"):
        script.main("C", games)


def test_all_opponents_together() -> None:
    """A bomb in one of three games; a spy took the marshal in one of two that were not won."""
    win = lost((own(MINER), 0), (0, own(MINER)), moves="01", points=1)
    bomb = lost((own(GENERAL), foe(BOMB)), (0, foe(BOMB, known=True)), moves="01")
    spy = lost((own(MARSHAL), 0, foe(SPY)), (0, own(MARSHAL), foe(SPY)),
               (0, foe(SPY, known=True), 0), moves="01 21", points=0)  # fmt: skip
    found = {"x": [win, bomb], "y": [spy]}
    *each, (name, some) = script.grouped(found)
    assert each == [*found.items()] and script.grouped({"x": [win]}) == [("x", [win])]
    head, games, won, drawn, fell, bombs, spies, miners, _ = script.row(name, some, 1, 1)
    assert (head, games, won, drawn, fell) == ("all", "3", "1", "1", "1")
    assert [figures(each)[0] for each in (bombs, spies, miners)] == [0.333, 0.5, 1.0]
