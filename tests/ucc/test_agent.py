"""A player of ours under a manager that says what cannot be. (Whole games: `test_programs`.)"""

from __future__ import annotations

import re

import pytest

from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.players.baselines import RandomPlayer
from stratkit.ucc.agent import Agent

HOME, EMPTY = ["######", "##...."], ["......"]  # rows where the enemy begins, and others
BELOW, ABOVE = [*EMPTY * 4, *HOME], [*HOME, *EMPTY * 4]
HERE = "no move that is possible here: "


@pytest.mark.parametrize(
    ("told", "board", "echo", "what"),
    [
        ("RED/START", EMPTY * 3 + HOME + EMPTY, "", "no enemy can begin on the square: '0 3'"),
        ("RED/START", BELOW, "0 3 UP KILLS 1 2", HERE + "'0 3 UP KILLS 1 2'"),
        ("RED/START", BELOW, "0 4 UP OK", HERE + "'0 4 UP OK'"),
        ("BLUE/START", ABOVE, "", HERE + "'START'"),
        ("BLUE/0 0 DOWN 2 OK", [".#####", "##....", "#.....", *EMPTY * 3], "", HERE + "'0 0 DOWN"),
        ("BLUE/0 0 UP OK", ABOVE, "", HERE + "'0 0 UP OK'"),
        ("BLUE/0 1 LEFT OK", ABOVE, "", HERE + "'0 1 LEFT OK'"),
        ("BLUE/7 1 LEFT OK", ABOVE, "", HERE + "'7 1 LEFT OK'"),
    ],
)
def test_what_cannot_be_is_an_error(told: str, board: list[str], echo: str, what: str) -> None:
    """`told` before the `board`; `echo` is said to be what our own move did."""
    colour, first = told.split("/")
    lines = iter([f"{colour} x 6 6", first, *board, echo])
    said: list[str] = []
    agent = Agent(Game("mini"), RandomPlayer(1), lambda: next(lines, None), said.append)
    with pytest.raises(InputError, match=re.escape(what)):
        agent.run()
    assert len(said) == 2 + bool(echo)  # the setup, and the move that the echo is to be of


@pytest.mark.parametrize("colour", ["RED", "BLUE"])
def test_lakes_where_setups_stand_are_left_free(colour: str) -> None:
    """A1 is a lake, where nothing may stand while the other side is thought to deploy."""
    lines = iter([f"{colour} x 10 10"])
    said: list[str] = []
    Agent(Game("barrage:A1"), RandomPlayer(1), lambda: next(lines, None), said.append).run()
    assert [len(row) for row in said] == [10] * 4
    assert sum(place != "." for row in said for place in row) == 8
