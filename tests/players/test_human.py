"""A person at the terminal: what is typed becomes moves, and what was said is said again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from stratkit.engine import Game
from stratkit.engine.stratego import setup_of, variant
from stratkit.errors import InputError
from stratkit.notation.setups import parse_setup, setup_text
from stratkit.play.finished import Finished, GameNote
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.human import HumanPlayer, Saved
from stratkit.players.random import RandomPlayer

SETUP = "MDBaaaCDEKLa".replace("a", "A")


def seat(lines: Sequence[str], said: dict[int, list[str]] | None = None) -> tuple[Table, list[str]]:
    """A table where the person is red, and all that was shown."""
    game = Game("mini")
    person, shown, typed = HumanPlayer(game, 1), [""], iter(lines)
    person.ask = lambda: next(typed, None)
    person.tell = shown.append
    person.said = said or {}
    person.notes = []  # type: ignore[attr-defined]
    person.note = lambda number, word: person.notes.append(word)  # type: ignore[attr-defined]
    person.hint = lambda views, side: f"ask {side} {len(views.moves(0))}\n"
    table = Table(game, [person, RandomPlayer(2)], Seatings(iter([Seating(0, (0, 1))])), slots=1)
    return table, shown


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
    table, shown = seat(lines)
    with pytest.raises(Saved):
        until(table)
    text = "".join(shown)
    assert setup_text(setup_of(variant("mini"), table._actions[0, :8])) == SETUP
    assert "a setup of mini has 12 letters, not 3" in text
    assert "seen by red" in text and " rM" not in text and " b?" in text
    assert "ask 0 " in text
    assert "a1a2: not a legal move" in text and "A6 A5: not a legal move (no piece of yours" in text
    assert "unknown square" in text and "a move is written like A4A5" in text
    assert table._actions[0, 16:18].tolist() == [7, 13]  # B2 B3
    assert "went to" in text and "A move is written" in text
    person = table.players[0]
    assert person.notes == [SETUP, "B2 B3"]  # type: ignore[attr-defined]


def test_what_was_said_leads_to_where_it_was_left() -> None:
    first, _ = seat([SETUP, "B2 B3"])
    with pytest.raises(Saved):
        until(first)  # the lines have ended
    said = {0: first.players[0].notes}  # type: ignore[attr-defined]
    again, shown = seat(["save"], said)
    with pytest.raises(Saved):
        until(again)
    n = int(first._numbers[0])
    assert n == again._numbers[0] > 16
    np.testing.assert_array_equal(first._actions[0, :n], again._actions[0, :n])
    assert again.players[0].notes == []  # type: ignore[attr-defined]
    assert sum("red> " in text for text in shown) == 1


@pytest.mark.parametrize("words", [["B2 B3"], [SETUP, "A6 A5"], [SETUP, SETUP]])
def test_what_was_said_in_another_game_is_an_error(words: list[str]) -> None:
    table, shown = seat([], {0: words})

    def tell(text: str) -> None:
        shown.append(text)
        assert len(shown) < 9  # said again and again

    table.players[0].tell = tell  # type: ignore[union-attr]
    with pytest.raises(InputError, match=f"does not fit this game: '{words[-1]}'"):
        until(table)


def test_resigning_ends_the_game_as_a_loss() -> None:
    table, _ = seat([SETUP, "resign"])
    (finished,) = until(table)
    assert finished.episodes.returns.tolist() == [[-1, 1]] and finished.plies.tolist() == [0]
    assert len(finished.episodes.actions) == 2 * variant("mini").pieces
    assert finished.notes == {0: GameNote("resigned", "player")}


def test_a_setup_is_offered_or_given() -> None:
    table, shown = seat(["", "resign"])
    until(table)
    offered = next(text for text in shown if text.startswith("Your setup"))
    assert setup_text(setup_of(variant("mini"), table._actions[0, :8])) in offered
    table, shown = seat(["resign"])
    table.players[0].setup = parse_setup(SETUP, variant("mini"))  # type: ignore[attr-defined]
    until(table)
    assert not any(text.startswith("Your setup") for text in shown)
