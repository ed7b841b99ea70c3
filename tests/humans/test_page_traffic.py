"""What a page in a browser is sent never depends on what its person cannot know.

A game is played a second time from other setups of the enemy: those that the engine's worlds say
the person cannot tell from the true one at some turn. Until then every byte must be the same.
"""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from running import PATIENCE
from stratkit.engine import Game, sample, worlds
from stratkit.engine.arbiter import Arbiter
from stratkit.engine.stratego import PIECE, SIDE, TYPE, Position, placements, setup_of, variant
from stratkit.humans.browser import Browser
from stratkit.humans.human import HumanPlayer
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.pages import Pages
from stratkit.humans.session import Saved, Session
from stratkit.humans.spectators import Spectators, Watched
from stratkit.notation.setups import setup_text
from stratkit.notation.squares import move_text
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.factory import open_player
from stratkit.players.player import Decision, Explainer, Player, Views
from stratkit.players.registry import parse_player

MATCH = {"against": "somebody", "of": "a game", "games": 2, "hints": True}


class Scripted(Player):
    """Plays these actions of a game, by their number."""

    def __init__(self, actions: Sequence[int]) -> None:
        self.actions = actions

    def act(self, views: Views) -> Decision:
        chosen = [self.actions[number] for number in views.numbers]
        return Decision(np.array(chosen, np.int32), np.ones(len(views), np.float32))


@dataclass
class Page:
    """A page that says these words, whatever it is shown; `sent` are the bodies that it got, by the
    version of the state."""

    address: str
    words: Sequence[str]
    sent: dict[int, bytes] = field(default_factory=dict)

    def run(self) -> None:
        host, token = self.address.removeprefix("http://").split("/")[:2]
        connection = http.client.HTTPConnection(host, timeout=60)
        connection.request("GET", f"/{token}/")
        self.sent[0] = connection.getresponse().read()
        words, version, phase = iter(self.words), 0, ""
        while phase not in ("left", "stopped"):
            connection.request("GET", f"/{token}/state?after={version}")
            answer = connection.getresponse().read()
            state = json.loads(answer)
            version, phase = state["version"], state["phase"]
            self.sent[version] = answer
            if phase == "ask":
                body = json.dumps({"version": version, "word": next(words)})
                kind = {"Content-Type": "application/json"}
                connection.request("POST", f"/{token}/say", body, kind)
                answered = connection.getresponse()
                assert answered.status == 204, answered.read()
                answered.read()
        connection.close()


def traffic(name: str, actions: Sequence[int], side: int, hint: Explainer | None) -> Page:
    """What the page of the person on `side` gets while the game is played, and left at its end."""
    kind = variant(name)
    n = kind.pieces
    setup = setup_of(kind, np.array(actions[side * n : side * n + n], np.int32))
    plies = [(at, actions[at], actions[at + 1]) for at in range(2 * n, len(actions) - 1, 2)]
    mine = [(start, end) for at, start, end in plies if (at - 2 * n) // 2 % 2 == side]
    words = ["mirror", ""]
    for start, end in mine:
        words += ["?"] * (hint is not None and len(words) % 4 == 0)
        words.append(move_text(kind.framed(side, start), kind.framed(side, end), kind.width))
    told: list[str] = []
    pages = Pages(["me", "somebody"], [MATCH], None, told.append)
    pages.open(0, None)
    pages._begin()
    [browser], [address] = pages.people, told
    person = HumanPlayer(Game(name), 1)
    person._drawn = lambda game, times: setup.reshape(kind.ranks, -1)[:, ::-1].reshape(-1)  # type: ignore[method-assign]
    person.sit_down(Session(browser, hint=hint.explain if hint else None))
    page = Page(address.strip(), [*words, "save"])
    thread = threading.Thread(target=page.run)
    thread.start()
    seatings = Seatings(iter([Seating(0, (0, 1) if side == 0 else (1, 0))]))
    table = Table(Game(name), [person, Scripted(actions)], seatings, slots=1)
    with pytest.raises(Saved):
        list(table.rounds())
    pages.close(failed=False)
    thread.join(60)
    return page


def random_game(name: str, seed: int, side: int, plies: int) -> Arbiter:
    """A game of random moves, at a turn of `side` after at least so many plies; or before it, where
    the game is about to end."""
    arbiter = Arbiter(Game(name))
    turn = arbiter.copy()
    while arbiter.turn is not None:
        number = np.array([len(arbiter.actions)], np.int32)
        legal = arbiter.batch.legal()
        if not arbiter.deploying and len(arbiter.actions) % 2 == 0 and arbiter.turn == side:
            turn = arbiter.copy()
            if arbiter.plies >= plies:
                break
        arbiter.act(int(sample(None, legal, seed, np.zeros(1, np.int64), number)[0][0]))
    return turn


def redealt(arbiter: Arbiter, seed: int) -> list[int]:
    """The game's actions from another setup of the enemy of the side that is to move."""
    kind, side = arbiter.variant, arbiter.turn
    assert side is not None
    enemy = 1 - side
    first = slice(enemy * kind.pieces, (enemy + 1) * kind.pieces)
    setup = setup_of(kind, np.array(arbiter.actions[first], np.int32))
    origins = {kind.framed(enemy, at): at for at in np.flatnonzero(setup != 255).tolist()}
    replayed = Arbiter(arbiter.game)
    for action in arbiter.actions[: 2 * kind.pieces]:
        replayed.act(action)
    for start, end in arbiter.moves:
        replayed.move(start, end)
        moved = origins.pop(start, None)
        after = replayed.pieces().get(end) if replayed.turn is not None else None
        origins.pop(end, None) if after is None or after[0] != enemy or moved is not None else None
        if moved is not None and after is not None and after[0] == enemy:
            origins[end] = moved
    world = Position.from_bytes(kind, worlds(arbiter.batch, 0, 1, seed).save(0))
    for square, origin in origins.items():
        cell = int(world.cells[square])
        assert cell & PIECE and bool(cell & SIDE) == bool(enemy)
        setup[origin] = cell & TYPE
    actions = list(arbiter.actions)
    actions[first] = placements(kind, setup).tolist()
    return actions


@pytest.mark.parametrize(("name", "side"), [("mini", 0), ("mini", 1), ("barrage", 0)])
def test_nothing_hidden_is_sent(name: str, side: int) -> None:
    hint = None
    if name == "barrage":
        player = open_player(parse_player("barrage-easy"), Game(name), 0, 1).player
        assert isinstance(player, Explainer)
        hint = player
    others = fights = 0
    for seed in range(6 if hint is None else 1):
        arbiter = random_game(name, seed, side, 16)
        true = traffic(name, arbiter.actions, side, hint)
        other = redealt(arbiter, seed)
        doubled = traffic(name, other, side, hint)
        asked = {v for v, data in true.sent.items() if b'"phase":"ask"' in data}
        assert len(asked) >= arbiter.plies // 2 and asked <= doubled.sent.keys()
        for version in true.sent.keys() & doubled.sent.keys():
            assert true.sent[version] == doubled.sent[version]
        others += other != arbiter.actions
        last = json.loads(true.sent[max(asked)])
        fights += sum(ply[3] for ply in last["scene"]["log"])
    assert others >= 1 and (fights or hint)


def test_the_comparison_sees_what_becomes_known() -> None:
    """The control: the same for the other side, which knows its own setup."""
    arbiter = random_game("mini", 1, 0, 16)
    both = arbiter.actions, redealt(arbiter, 1)
    mine, other = (traffic("mini", actions[:-2], 1, None) for actions in both)
    assert any(mine.sent[v] != other.sent[v] for v in mine.sent.keys() & other.sent.keys())


class Saying(Browser):
    """The page of a person who says these words; `sent` is all that it got."""

    def __init__(self, words: Sequence[str]) -> None:
        super().__init__(MATCH)
        self.words, self.sent = iter(words), b""

    def ask(self, prompt: str, clock: LiveClock | None = None) -> str | None:
        self._publish(phase="ask", messages=self._messages)
        self.sent += (self.state(self._version - 1) or "").encode()
        return next(self.words, None)


class Watching(Spectators):
    """The page of those who watch; `sent` is all that it got."""

    sent = b""

    def _publish(self, **changes: Any) -> None:
        super()._publish(**changes)
        self.sent += (self.state(self._version - 1) or "").encode()


def two_people(name: str, actions: Sequence[int]) -> tuple[bytes, bytes, bytes]:
    """What red's page, blue's, and that of who watches get of a game of two people, who leave at
    its end."""
    kind, watching = variant(name), Watching(MATCH)
    pages, people, n = [], [], variant(name).pieces
    for side in (0, 1):
        setup = setup_of(kind, np.array(actions[side * n : side * n + n], np.int32))
        first = 2 * n + 2 * side
        moves = [actions[at : at + 2] for at in range(first, len(actions) - 1, 4)]
        framed = [[kind.framed(side, square) for square in move] for move in moves]
        words = [setup_text(setup), *(move_text(*move, kind.width) for move in framed)]
        pages.append(Saying(words))
        people.append(HumanPlayer(Game(name), 1))
        people[side].sit_down(Session(Watched(pages[side], watching), me=side))
    table = Table(Game(name), people, Seatings(iter([Seating(0, (0, 1))])), slots=1)
    with pytest.raises(Saved):
        list(table.rounds())
    assert b"watch" in watching.sent
    return pages[0].sent, pages[1].sent, watching.sent


@pytest.mark.parametrize("side", [0, 1])
def test_nothing_hidden_is_sent_to_the_other_one_and_to_who_watches(side: int) -> None:
    """The pieces of one side are dealt again: its own page differs, and nothing else."""
    changed = 0
    for seed in range(5):
        arbiter = random_game("mini", seed, side, 16)
        true = two_people("mini", arbiter.actions)
        other = redealt(arbiter, seed)
        doubled = two_people("mini", other)
        assert true[side] == doubled[side] and true[2] == doubled[2]
        changed += true[1 - side] != doubled[1 - side]
    assert changed


def test_a_version_is_one_state_whenever_it_is_asked_for() -> None:
    """What the match writes before it publishes is sent with the next version only."""
    browser = Browser(MATCH)
    browser.finish("wait")
    before = browser.state(0)
    browser.tell("It is your turn.")
    browser.meet("somebody else")
    assert browser.state(0) == before
    browser.finish("over")
    after = json.loads(browser.state(0) or "")
    assert after["match"]["against"] == "somebody else" and after["messages"]


def test_a_question_is_answered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second page that answers while the first one's word is taken would answer the next
    question."""
    browser = Browser(MATCH)
    publish, late = browser._publish, []

    def slowly(**changes: Any) -> None:
        if changes["phase"] == "wait":
            other = threading.Thread(target=lambda: late.append(browser.say(2, "resign")))
            other.start()
            other.join(0.5)
        publish(**changes)

    monkeypatch.setattr(browser, "_publish", slowly)
    threading.Thread(target=lambda: browser.state(1) and browser.say(2, "?")).start()
    browser.tell("what was wrong before")
    assert browser.ask("> ") == "?"
    assert json.loads(browser.state(0) or "")["messages"] == []  # it is answered
    end = time.monotonic() + PATIENCE
    while not late and time.monotonic() < end:
        time.sleep(0.01)
    assert late == [False]
