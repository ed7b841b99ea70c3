"""A person at a front end: what is typed becomes moves, and what was said is said again."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from stratkit.engine import Game
from stratkit.engine.stratego import setup_of, variant
from stratkit.errors import InputError, UsageError
from stratkit.humans.browser import Browser
from stratkit.humans.draws import DeclinedOffers
from stratkit.humans.human import FELL, HumanPlayer, open_human
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.session import Saved, Session, Undone
from stratkit.humans.terminal import Terminal
from stratkit.match import PLAYERS
from stratkit.notation.drawing import STYLES
from stratkit.notation.setups import parse_setup, setup_text
from stratkit.notation.squares import square_text
from stratkit.play.finished import Finished, GameNote
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.clock import Clock
from stratkit.players.player import Explanation, Views
from stratkit.players.registry import parse_player
from stratkit.players.spec import OpenContext

SETUP = "MDBaaaCDEKLa".replace("a", "A")
CONTEXT = OpenContext(1, 1)
OTHER = "LKaaaDMDBEaC".replace("a", "A")


class Seat:
    """A table where the person is red, all that was shown, and the words that were kept."""

    def __init__(
        self,
        lines: Sequence[str],
        said: dict[int, list[str]] | None = None,
        setup: npt.NDArray[np.uint8] | None = None,
        seats: tuple[int, int] = (0, 1),
        style: str = "ascii",
        board: str = "mini",
        clock: LiveClock | None = None,
        **more: Any,
    ) -> None:
        game = Game(board)
        self.shown: list[str] = [""]
        self.kept: list[str] = []
        self._typed = iter(lines)
        front = Terminal(self.ask, self.show, STYLES[style], colour=style == "unicode")
        person = HumanPlayer(game, 1, setup, **more)
        person.sit_down(Session(front, said or {}, self.keep, hint, undoes=True, clock=clock))
        seatings = Seatings(iter([Seating(0, seats)]))
        self.table = Table(game, [person, RandomPlayer(2)], seatings, slots=1)

    def ask(self) -> str | None:
        return next(self._typed, None)

    def show(self, text: str) -> None:
        self.shown.append(text)
        assert len(self.shown) < 100  # said again and again

    def keep(self, number: int, word: str) -> None:
        self.kept.append(word)

    @property
    def setup(self) -> str:
        """What the side that deploys first has placed."""
        return setup_text(setup_of(variant("mini"), self.table._actions[0, :8]))


def hint(views: Views) -> list[Explanation]:
    """Each move is half as probable as the one before it."""
    moves = views.state(0).moves()
    policy = (0.5 ** np.arange(1, len(moves) + 1)).astype(np.float32)
    packed = views.observations[0]
    return [Explanation(0, int(views.sides[0]), packed, moves, [("network", policy)], 0.25, None)]


def until(table: Table) -> list[Finished]:
    return [ended for ended in table.rounds() if ended]


def test_moves_and_words() -> None:
    lines = [
        "XYZ",
        SETUP,
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
    with pytest.raises(Saved):
        until(seat.table)
    text = "".join(seat.shown)
    assert seat.setup == SETUP
    assert "no word, file or setup of 12 letters (help tells the words): 'XYZ'" in text
    assert "seen by red" in text and " rM" not in text and " b?" in text
    assert "a1a2: not a legal move" in text and "A6 A5: not a legal move (no piece of yours" in text
    assert "unknown square" in text and "a move is written like A4A5" in text
    assert seat.table._actions[0, 16:18].tolist() == [7, 13]  # B2 B3
    assert "their piece went from" in text and "A move is written" in text
    assert "your scout went" not in text  # the person knows
    assert seat.kept == [SETUP, "B2 B3"]


def test_setups_are_offered_from_a_source(tmp_path: pathlib.Path) -> None:
    """A file, or another one; what is wrong is told before a game begins."""
    game, file = Game("mini"), tmp_path / "own.setups"
    file.write_text(f"{SETUP}\n{OTHER}\n")

    def opened(source: str) -> HumanPlayer:
        player = open_human(parse_player(f"offers={source},human", PLAYERS), game, CONTEXT).player
        assert isinstance(player, HumanPlayer) and player.offers is not None
        return player

    drawn = opened(str(file)).offers
    assert drawn is not None
    assert {setup_text(drawn(number)) for number in range(20)} == {SETUP, OTHER}
    other = opened("uniform").offers
    assert other is not None and sorted(setup_text(other(7))) == sorted(SETUP)
    with pytest.raises((InputError, OSError)):
        opened(f"model:{tmp_path}/none.setups")
    with pytest.raises(UsageError, match="no such source"):
        opened("modell:x")


def test_a_clock_runs_while_its_owner_is_asked() -> None:
    """Not in deployment, not while the other one moves, and not for words that were said before.
    Neither a question nor a move that is taken back gives time back."""
    passed, left = [0.0], dict[int, float]()
    clock = LiveClock(Clock(60, 5), left, left.__setitem__, now=lambda: passed[0])

    def typed(*lines: tuple[float, str]) -> Iterator[str]:
        for seconds, line in lines:
            passed[0] += seconds
            yield line

    seat = Seat([], clock=clock)
    seat._typed = typed((1000, SETUP), (7, "moves"), (3, "B2B3"), (10, "undo"))
    with pytest.raises(Undone):
        until(seat.table)
    assert left == {0: 45.0}  # 60 - 10 + 5 - 10
    text = "".join(seat.shown)
    assert "red 1:00> " in text and "red 0:53> " in text and "red 0:55> " in text
    again = Seat([], {0: [SETUP]}, clock=clock)
    again._typed = typed((44.5, "B2B3"), (5.4, "board"), (0.2, "A1A2"))
    [[ended]] = [list(one) for one in until(again.table)]
    assert left == {0: 0.0} and again.kept == ["B2B3", FELL]
    assert ended[0].returns.tolist() == [-1, 1]
    lost = Seat([], {0: [SETUP, "B2B3", FELL]}, clock=clock)  # it was left before it was recorded
    [finished] = until(lost.table)
    assert finished.notes == {0: GameNote("clock", "referee")}


def test_a_page_does_not_wait_for_a_clock_that_has_run_out() -> None:
    page = Browser({})
    clock = LiveClock(Clock(1), now=iter([0.0, 0.25, 2.0, 2.0, 2.0]).__next__)
    page.clocks = (clock, None)
    clock.run()
    state = json.loads(page.state(-1) or "")
    assert state["clocks"] == [{"left": 0.8, "runs": True}, None]
    assert page.ask("", clock) == "" and clock.left == 0


def test_words_that_are_misspelt() -> None:
    """What was typed is quoted; capitals are as good."""
    seat = Seat([SETUP, "resing", "Undo it", "MOVES", "Save"])
    with pytest.raises(Saved):
        until(seat.table)
    text = "".join(seat.shown)
    assert "a move is written like A4A5 (did you mean 'resign'?): 'resing'" in text
    assert "a move is written like A4A5 (did you mean 'undo'?): 'Undo it'" in text
    assert re.search(r"(?:[A-F][1-6]){2}(?: (?:[A-F][1-6]){2})+\n", text)


def test_a_rule_against_repetition_is_named() -> None:
    seat = Seat([SETUP, "B2B3", "B3B2", "B2B3", "B3B2", "B2B3", "B3B2", "A1A3", "save"])
    with pytest.raises(Saved):
        until(seat.table)
    told = [line for line in "".join(seat.shown).splitlines() if "not a legal move" in line]
    assert told[0].endswith("(the two-squares or the more-squares rule forbids to repeat it)")
    assert told[-1].endswith("A1A3: not a legal move (this piece cannot move now)")


def test_five_best_moves_or_all() -> None:
    """In columns, without a board that would push the best one off the screen."""
    seat = Seat([SETUP, "?", "? all", "save"])
    with pytest.raises(Saved):
        until(seat.table)
    best, every = (text.splitlines() for text in seat.shown if "network" in text)
    assert best[0] == every[0] == "game 1, value +0.25; in per cent:"
    assert len(best) == 2 + 5 + 1
    assert best[-1] == f"{len(every) - 7} more: 3.1 % of the network's policy"
    assert len(every) > 8 and best[1:7] == every[1:7]
    assert len({line.rindex(".") for line in every[2:]}) == 1


def test_a_setup_is_arranged(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "my.setups"
    file.write_text(f"{SETUP}\n")
    lines = ["Another", "HELP", str(file), "Mirror", "Swap A1 B2", "swap A1 A6", "swap A1", "", ""]
    seat = Seat(lines)
    with pytest.raises(Saved):
        until(seat.table)
    text = "".join(seat.shown)
    offers = [line.split()[-1] for line in text.splitlines() if line.startswith("in letters")]
    assert offers[2:] == [SETUP, "AAABDMALKEDC", "LAABDMAAKEDC".replace("LAAB", "LAAB")]
    assert seat.setup == offers[-1] == seat.kept[0]
    assert len(set(offers)) == 5
    assert "not both squares are where you set up: 'swap A1 A6'" in text
    assert "no word, file or setup of 12 letters (help tells the words): 'swap A1'" in text
    assert "B bomb, C spy, D scout" in text
    file.write_bytes(b"\xff\n")
    seat = Seat([str(file)])
    with pytest.raises(Saved):
        until(seat.table)
    assert f"{file}: line 1: " in "".join(seat.shown)


def test_no_piece_is_arranged_onto_a_lake(tmp_path: pathlib.Path) -> None:
    board, file = variant("barrage-blocked"), tmp_path / "my.setups"
    places = np.flatnonzero(board.places)
    setup = np.full(board.zone, 255, np.uint8)
    setup[places[-board.pieces :]] = np.repeat(np.arange(12), board.counts)
    file.write_text(f"{setup_text(setup)}\n")
    lake = next(square for square in board.lakes if setup[square + 1] != 255)
    swap = f"swap {square_text(lake, 10)} {square_text(lake + 1, 10)}"
    seat = Seat([str(file), "mirror", swap, "", "save"], board=board.name)
    with pytest.raises(Saved):
        until(seat.table)
    text = "".join(seat.shown)
    assert text.count("a setup of barrage-blocked has no pieces on its lakes") == 2
    assert seat.kept == [setup_text(setup)]


def test_blue_has_its_side_below() -> None:
    seat = Seat(["swap F6 E5", OTHER, "save"], seats=(1, 0))
    with pytest.raises(Saved):
        until(seat.table)
    first, second, turn = (text for text in seat.shown if "   F    E    D" in text)
    assert "game 1: you play blue" in first and "blue to move, ply 1" in turn
    letters = [
        line.split()[-1] for line in "".join(seat.shown).splitlines() if "in letters" in line
    ]
    before, after = letters
    assert (after[0], after[7]) == (before[7], before[0]) and after[1:7] == before[1:7]
    assert second != first and seat.kept == [OTHER]


def test_colours_and_characters() -> None:
    seat = Seat([SETUP, "help", "save"], style="unicode")
    with pytest.raises(Saved):
        until(seat.table)
    text = "".join(seat.shown)
    assert "\x1b[1;31m" in text and "┌" in text and "⚑ flag" in text and " b□" in text


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
    told = again.shown[1 : again.shown.index("red> ")]  # what happened last is told, too
    assert "".join(told) in "".join(first.shown) and "went from" in told[-1]


@pytest.mark.parametrize("words", [["B2 B3"], [SETUP, "A6 A5"], [SETUP, SETUP]])
def test_what_was_said_in_another_game_is_an_error(words: list[str]) -> None:
    seat = Seat([], {0: words})
    with pytest.raises(InputError, match=f"fit this game, .* without this file: '{words[-1]}'"):
        until(seat.table)
    assert len(seat.shown) < 9


def test_resigning_ends_the_game_as_a_loss() -> None:
    (finished,) = until(Seat([SETUP, "resign"]).table)
    assert finished.episodes.returns.tolist() == [[-1, 1]] and finished.plies.tolist() == [0]
    assert len(finished.episodes.actions) == 2 * variant("mini").pieces
    assert finished.notes == {0: GameNote("resigned", "player")}


def test_a_program_declines_a_draw_at_once() -> None:
    """It is told at the same turn; to decline is for who was offered one."""
    seat = Seat([SETUP, "draw", "decline", "save"])
    player = seat.table.players[0]
    assert isinstance(player, HumanPlayer)
    player.sit_down(dataclasses.replace(player.session, draws=DeclinedOffers()))
    with pytest.raises(Saved):
        until(seat.table)
    text = "".join(seat.shown)
    assert text.count("they have declined the draw") == 1 and "no draw is offered" in text
    assert seat.kept == [SETUP]


def test_a_setup_is_offered_or_given() -> None:
    seat = Seat(["", "resign"])
    until(seat.table)
    assert f"in letters: {seat.setup}" in "".join(seat.shown) and seat.kept[0] == seat.setup
    again = Seat(["resign"], {0: [""]}, offers=lambda number: parse_setup(OTHER, variant("mini")))
    until(again.table)
    assert again.setup == seat.setup  # the words of a version that kept nothing of its own offer
    given = Seat(["resign"], setup=parse_setup(SETUP, variant("mini")))
    until(given.table)
    assert not any("Your setup" in text or "in letters" in text for text in given.shown)


def test_favourites_and_other_offers() -> None:
    """A favourite is offered by its name; `another` asks for the next offer."""
    mini = variant("mini")
    setups = [parse_setup(text, mini) for text in (SETUP, OTHER)]
    asked: list[int] = []

    def offers(number: int) -> npt.NDArray[np.uint8]:
        asked.append(number)
        return setups[number % 2]

    more = {"offers": offers, "favourites": {"my own": setups[0]}}
    seat = Seat(["another", "my  own", "", "resign"], **more)
    until(seat.table)
    assert asked == [0, 1] and seat.setup == SETUP == seat.kept[0]
    assert "favourites, by name: my own" in "".join(seat.shown)
    seat = Seat(["another", "", "resign"], **more)
    until(seat.table)
    assert seat.setup == OTHER
