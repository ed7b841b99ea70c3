"""A person in games of single actions: what is read, typed, kept and told at the end."""

from __future__ import annotations

import json
import pathlib
import re
import shlex
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from every_game import GAMES
from running import ROOT, run
from stratkit.engine import Batch, Game
from stratkit.engine.worlds import worlds
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.humans.choice import told
from stratkit.humans.chooser import ChoosingPlayer
from stratkit.players.player import Views

# What chance deals is told at the end, and whose it is.
DEALT = {"kuhn": "card", "leduc": "card", "liars_dice": "dice"}
BOT = "ucc:" + shlex.join([sys.executable, "-I", "-S", str(ROOT / "tests/ucc/ucc_bot.py"), ""])
BOTH = ["first's", "second's"]
SINGLE = [
    name
    for name in GAMES
    if (game := Game(name)).players == 2 and kit_of(game).notation is Notation.NUMBERS
]


def play(game: str, lines: Sequence[str], *more: object) -> tuple[str, str]:
    """What a match of two games showed to a person who types these lines, and said."""
    done = run("match", "human", "random", "-n", 2, "--game", game, "--seed", 1, *more,
               stdin="".join(f"{line}\n" for line in lines).encode())  # fmt: skip
    return done.out, done.err


def test_bets_are_typed_by_name(tmp_path: pathlib.Path) -> None:
    """What was hidden is told when the game is over; a bigger win is told as such."""
    games = tmp_path / "g.jsonl"
    shown, said = play("leduc", ["raise", "foo", "call", "save"], "-o", games)
    assert "your card: Q\npublic card: not dealt yet\nbet: call, raise\nbet> " in shown
    assert "no legal bet: choose one of fold, call, save, help: 'foo'" in shown
    assert "public card: K\nfirst round: you raise, they raise, you call\n" in shown
    words = (tmp_path / "g.jsonl.said").read_text().splitlines()
    assert [word for word in words if ">" not in word] == ["0 raise", "0 call"]
    shown, said = play("leduc", ["raise", "call", "call", "call", "call"], "-o", games, "--resume")
    bets = "you: raise; they: raise; you: call; public card: K; you: raise"
    assert f"your card: Q; their card: K; {bets}" in shown
    assert re.search(r"^game 1: you (won|lost) \d+$", said, re.MULTILINE)


def test_stones_are_placed_by_cell_and_games_given_up(tmp_path: pathlib.Path) -> None:
    shown, said = play("dark_hex:3", ["B2", "", "resign", "resign"], "-o", tmp_path / "g.jsonl")
    assert "you are X\nX joins top and bottom, O left and right\n" in shown
    assert "you are O\nX joins top and bottom, O left and right\n" in shown
    assert "who tries a taken cell sees its stone, and has had the turn\nX to move" in shown
    assert "cell: a1, b1, c1, a2, c2" in shown and "or: resign, save, help" in shown
    assert "game 1: you lost (resigned)" in said and "game 2: you lost (resigned)" in said


@pytest.mark.parametrize("name", SINGLE)
def test_a_person_sees_what_its_view_has_and_nothing_else(name: str) -> None:
    """In states that it cannot tell apart a person reads the same; actions have different names."""
    game = Game(name)
    person, batch, rng = ChoosingPlayer(game), Batch(game, 1), np.random.default_rng(4)
    played: list[int] = []
    for number in range(40):
        actor = int(batch.actors()[0])
        if actor < -1:
            break
        chosen = np.full(1, -1, np.int32)
        batch.draw_chance(3, np.zeros(1, np.int64), np.array([number], np.int32), chosen)
        if actor >= 0:
            legal = np.flatnonzero(batch.legal()[0])
            choice = person.choice(Views.of_one(batch, 0, number), 0)
            assert sorted(choice.actions.values()) == legal.tolist()
            if not name.startswith("moves:"):
                other = worlds(batch, 0, 1, 5, 0, number)
                assert person.choice(Views.of_one(other, 0, number), 0) == choice
            chosen[0] = rng.choice(legal)
        played.append(int(chosen[0]))
        batch.apply(chosen)
    dealt, lines = DEALT.get(name.partition(":")[0]), told(game, played, 0)
    assert len(lines) == len(played)
    if dealt is None:
        assert {line.split(":")[0] for line in lines} <= {"you", "they", "chance"}
        return
    for me, whose in ((0, ["your", "their"]), (1, ["their", "your"]), (None, BOTH)):
        first, second, *others = (line.split(":")[0] for line in told(game, played, me))
        assert [first, second] == [f"{one} {dealt}" for one in whose]
        assert {*others} <= {"you", "they", "first", "second", "public card"}


def test_only_setups_come_from_a_file(tmp_path: pathlib.Path) -> None:
    setups = tmp_path / "my.setups"
    setups.write_text("M\n")
    one = ("match", f"setup={setups},human", "random", "-n", 2, "--game", "kuhn")
    done = run(*one, "-o", tmp_path / "g.jsonl")
    what = "setups and clocks are for boards with setups, and kuhn has none"
    assert done.status == 1 and what in done.err


def test_a_person_meets_a_program(tmp_path: pathlib.Path) -> None:
    """Who leaves begins that game again, since a program cannot be led to where it was."""
    games = tmp_path / "g.jsonl"
    play = ("match", "human", f"name=bot,{BOT}", "-n", 2, "--game", "mini", "--seed", 1)
    done = run(*play, "-o", games, stdin=b"\nmoves\nresign\n\nsave\n")
    assert done.status == 0 and "game 1: you lost (surrender)" in done.err
    assert "you play red" in done.out and "the end of game 1" in done.out
    assert not (tmp_path / "g.jsonl.said").exists() and len(games.read_text().splitlines()) == 2
    done = run(*play, "-o", games, "--resume", stdin=b"\nresign\n")
    assert done.status == 0 and "game 2: you lost (surrender)" in done.err


def test_a_person_loses_to_a_program_by_the_clock(tmp_path: pathlib.Path) -> None:
    """It is no fault: other games are played, and the status is 0."""
    games = tmp_path / "g.jsonl"
    play = ("match", "clock=1e-9,human", f"name=bot,{BOT}", "-n", 2, "--game", "mini", "--seed", 1)
    done = run(*play, "-o", games, stdin=b"\nmoves\nsave\n")
    assert done.status == 0 and "game 1: you lost (clock)" in done.err
    done = run(*play, "-o", games, "--resume", stdin=b"\nmoves\n")
    assert done.status == 0 and "game 2: you lost (clock)" in done.err
    assert "human - bot: +0 =0 -2" in done.err and "fault" not in done.err
    found = [json.loads(line) for line in games.read_text().splitlines()[1:]]
    ended = [(one["reason"], one["adjudicator"], one["fault"], one["result"]) for one in found]
    assert ended == [("clock", "referee", None, side) for side in ("blue", "red")]
    assert run("fenfs", "check", games).status == 0
