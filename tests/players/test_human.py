"""A person at the terminal: what is typed becomes moves, and what was said is said again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from stratkit.engine import Game
from stratkit.engine.stratego import setup_of, variant
from stratkit.errors import InputError
from stratkit.notation.setups import parse_setup, setup_text
from stratkit.play.finished import Finished, GameNote
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.human import HumanPlayer, Saved
from stratkit.players.player import Terminal, Views
from stratkit.players.random import RandomPlayer

SETUP = "MDBaaaCDEKLa".replace("a", "A")


class Seat:
    """A table where the person is red, all that was shown, and the words that were kept."""

    def __init__(
        self,
        lines: Sequence[str],
        said: dict[int, list[str]] | None = None,
        setup: npt.NDArray[np.uint8] | None = None,
    ) -> None:
        game = Game("mini")
        self.shown: list[str] = [""]
        self.kept: list[str] = []
        self._typed = iter(lines)
        person = HumanPlayer(game, 1, setup)
        person.sit_down(Terminal(self.ask, self.show, said or {}, self.keep, hint))
        seatings = Seatings(iter([Seating(0, (0, 1))]))
        self.table = Table(game, [person, RandomPlayer(2)], seatings, slots=1)

    def ask(self) -> str | None:
        return next(self._typed, None)

    def show(self, text: str) -> None:
        self.shown.append(text)
        assert len(self.shown) < 100  # said again and again

    def keep(self, number: int, word: str) -> None:
        self.kept.append(word)


def hint(views: Views, side: int) -> str:
    return f"ask {side} {len(views.moves(0))}\n"


def until(table: Table) -> list[Finished]:
    return [ended for ended in table.rounds() if ended]


def test_moves_and_words() -> None:
    lines = [
        "XYZ",
        SETUP,
        "?",
        "moves",
        "a1a2",
        "A6 A5",
        "Z9 A1",
        "hello",
        "B2 B3",
        "help",
        "board",
        "save",
    ]
    seat = Seat(lines)
    table = seat.table
    with pytest.raises(Saved):
        until(table)
    text = "".join(seat.shown)
    assert setup_text(setup_of(variant("mini"), table._actions[0, :8])) == SETUP
    assert "a setup of mini has 12 letters, not 3" in text
    assert "seen by red" in text and " rM" not in text and " b?" in text
    assert "ask 0 " in text
    assert "a1a2: not a legal move" in text and "A6 A5: not a legal move (no piece of yours" in text
    assert "unknown square" in text and "a move is written like A4A5" in text
    assert table._actions[0, 16:18].tolist() == [7, 13]  # B2 B3
    assert "went to" in text and "A move is written" in text
    assert seat.kept == [SETUP, "B2 B3"]


def test_what_was_said_leads_to_where_it_was_left() -> None:
    first = Seat([SETUP, "B2 B3"])
    with pytest.raises(Saved):
        until(first.table)  # the lines have ended
    again = Seat(["save"], {0: first.kept})
    with pytest.raises(Saved):
        until(again.table)
    n = int(first.table._numbers[0])
    assert n == again.table._numbers[0] > 16
    np.testing.assert_array_equal(first.table._actions[0, :n], again.table._actions[0, :n])
    assert again.kept == []
    assert sum("red> " in text for text in again.shown) == 1


@pytest.mark.parametrize("words", [["B2 B3"], [SETUP, "A6 A5"], [SETUP, SETUP]])
def test_what_was_said_in_another_game_is_an_error(words: list[str]) -> None:
    seat = Seat([], {0: words})
    with pytest.raises(InputError, match=f"does not fit this game: '{words[-1]}'"):
        until(seat.table)
    assert len(seat.shown) < 9


def test_resigning_ends_the_game_as_a_loss() -> None:
    (finished,) = until(Seat([SETUP, "resign"]).table)
    assert finished.episodes.returns.tolist() == [[-1, 1]] and finished.plies.tolist() == [0]
    assert len(finished.episodes.actions) == 2 * variant("mini").pieces
    assert finished.notes == {0: GameNote("resigned", "player")}


def test_a_setup_is_offered_or_given() -> None:
    seat = Seat(["", "resign"])
    until(seat.table)
    offered = next(text for text in seat.shown if text.startswith("Your setup"))
    assert setup_text(setup_of(variant("mini"), seat.table._actions[0, :8])) in offered
    given = Seat(["resign"], setup=parse_setup(SETUP, variant("mini")))
    until(given.table)
    assert not any(text.startswith("Your setup") for text in given.shown)
