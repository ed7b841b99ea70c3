"""A person in Diplomacy: what is typed, refused, sent, told, kept and taken back."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from running import run
from stratkit.convert.replay import NONE_OVER
from stratkit.engine import Game
from stratkit.engine.diplomacy import map_of
from stratkit.errors import InputError, StratkitError
from stratkit.games.diplomacy.games import game_json, phases
from stratkit.games.diplomacy.orders import orders_array, parse_order, parse_unit
from stratkit.games.diplomacy.told import told
from stratkit.humans.lead import lead_of
from stratkit.humans.orderer import OrderingPlayer
from stratkit.humans.phase import Phase
from stratkit.humans.replayed_opponent import Done, ReplayedOpponent
from stratkit.humans.scenes import phase_scene
from stratkit.humans.session import Ended, FrontEnd, Saved, Session, Undone
from stratkit.humans.terminal import ORDERS_HELP, Terminal
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.baselines import HeuristicPlayer
from stratkit.players.player import Explanation, Player

STANDARD = map_of(Game("diplomacy:standard"))
FRANCE = STANDARD.powers.index("FRANCE")


class Typing(FrontEnd):
    """Types these lines, and keeps what it is shown and told."""

    def __init__(self, *lines: str) -> None:
        self.lines = list(lines)
        self.shown: list[Phase] = []
        self.told: list[str] = []

    def show(self, scene: Any) -> None:
        assert isinstance(scene, Phase | Ended)
        if isinstance(scene, Phase):
            self.shown.append(scene)

    def advise(self, turn: Any, advice: Sequence[Explanation], every: bool) -> None:
        raise AssertionError

    def tell(self, text: str) -> None:
        self.told.append(text)

    def help(self, scene: Any) -> None:
        self.told.append("helped")

    def ask(self, prompt: str) -> str | None:
        self.told.append(prompt)
        return self.lines.pop(0) if self.lines else None


def play(
    front: FrontEnd,
    seats: Sequence[int],
    said: dict[int, list[str]],
    played: dict[int, list[int]],
    game: str = "diplomacy:standard",
) -> list[int]:
    """A game of the person, player 0, until it leaves; its actions, if it came to its end."""
    rules = Game(game, {"years": 1})
    person, done = OrderingPlayer(rules), Done()
    others: list[Player] = [HeuristicPlayer(rules, seed) for seed in range(max(seats))]

    def keep(number: int, word: str) -> None:
        said.setdefault(number, []).append(word)

    def keep_action(number: int, action: int) -> None:
        played.setdefault(number, []).append(action)

    person.sit_down(Session(front, said, keep, file="said", undoes=True))
    opponents = [
        ReplayedOpponent(player, played, keep_action, "said", done=done) for player in others
    ]
    table = Table(rules, [person, *opponents], Seatings(iter([Seating(0, tuple(seats))])), 1)
    try:
        for finished in table.rounds():
            for episode, *_ in finished or ():
                return [int(action) for action in episode.actions]
    except Saved:
        pass
    return []


SEATS = (1, 1, 0, 1, 2, 2, 1)


def test_orders_are_typed_checked_sent_and_played() -> None:
    """Of a line with one wrong order none counts. The orders played are those that were sent."""
    front = Typing(
        "a par-bur, A MAR S par - bur", "F BRE-MAO; A BUR H", "F BRE-MAO", "A VIE-BUD", "A PAR",
        "A PAR B", "A PAR R BUR", "F LVP B", "waive", "clear", "",
        "legal F BRE", "legal NAP", "F BRE-ENG", "send",
    )  # fmt: skip
    said: dict[int, list[str]] = {}
    assert not play(front, SEATS, said, {})
    assert said == {0: ["F BRE - ENG"]}
    wrong = [text for text in front.told if not text.startswith("FRANCE ") or ": " in text]
    assert [text.split(":")[0] for text in wrong[:7]] == [
        "FRANCE has no A BUR",
        "FRANCE has no A VIE",
        "half an order",
        "units are built and disbanded in other phases",
        "units retreat in other phases",
        "units are built and disbanded in other phases",
        "FRANCE has no unit to build",
    ]
    assert "did you mean" not in wrong[6]
    assert "F BRE - MAO; F BRE - GAS" in wrong[7] and "no unit there to order" in wrong[8]
    drafts = [phase.texts for phase in front.shown if not phase.past]
    assert ["A PAR - BUR", "A MAR S A PAR - BUR"] in drafts
    assert drafts[-3:] == [[], [], ["F BRE - ENG"]]
    fall = front.shown[-1]
    assert (fall.name, fall.power, fall.asks, fall.new) == ("F1901M", "FRANCE", "moves", 1)
    [(name, lines)] = fall.past
    assert name == "S1901M" and len(lines) == 7
    france = next(line for line in lines if line.startswith("FRANCE"))
    assert france.startswith("FRANCE: A PAR H; F BRE - ENG") and france.endswith("A MAR H")
    scene = phase_scene(fall)
    assert "F1901M" in scene["map"] and scene["units"][0][2] == ""
    assert all("A MAR H" in legal for text, legal, _ in scene["units"] if text == "A MAR")


def test_who_leaves_goes_on_and_who_takes_back_orders_again() -> None:
    """Others, who are several players here, play again what they played."""
    said: dict[int, list[str]] = {}
    played: dict[int, list[int]] = {}
    assert not play(Typing("A PAR-BUR", "send"), SEATS, said, played)
    before = [list(played[0]), list(said[0])]
    with pytest.raises(Undone):
        play(Typing("undo"), SEATS, said, played)
    assert said[0].pop() == "undo" and [played[0], said[0]] == before
    front = Typing(*["send"] * 9)
    actions = play(front, SEATS, said, played)
    assert front.shown[0].name == "F1901M" and said[0][:2] == ["A PAR - BUR", "send"]
    alike = play(Typing("A PAR-BUR", *["send"] * 9), SEATS, {}, {})
    assert actions == alike
    rules = Game("diplomacy:standard", {"years": 1})
    first = next(iter(phases(rules, np.array(actions, np.int32))))[1]
    assert int(first[0, STANDARD.number["PAR"], 0]) == 1
    with pytest.raises(InputError, match="does not fit this game"):
        play(Typing(), SEATS, {0: ["A VIE H"]}, {})


def test_a_person_goes_on_from_a_phase_of_another_game(tmp_path: pathlib.Path) -> None:
    """By its name or its number; what leads there is what was played, by any side."""
    rules, file = Game("diplomacy:standard", {"years": 1}), tmp_path / "game.json"
    actions = play(Typing("A PAR-BUR", *["send"] * 9), SEATS, {}, {})
    file.write_text(json.dumps(game_json(rules, np.array(actions, np.int32))))
    for sides in ((2,), (0, 2, 5)):
        lead = lead_of(f"{file}:1:F1901M", rules)
        words, played, before = lead(sides)
        assert lead.plies == 1 and len(words) == len(sides) == len(before)
        assert words[sides.index(2)] == "A PAR - BUR; F BRE H; A MAR H"
        seats = [0 if side in sides else 1 for side in range(7)]
        front = Typing()
        play(front, seats, {0: list(words)}, {0: list(played)})
        assert front.shown[0].name == "F1901M" and front.shown[0].side == sides[0]
        assert lead_of(f"{file}:1:1", rules)(sides) == (words, played, before)
    for phase, wrong in (("S1909M", "no such phase"), ("77", "no such phase"), ("F", "wants FILE")):
        with pytest.raises(StratkitError, match=wrong):
            lead_of(f"{file}:1:{phase}", rules)


def test_a_person_at_two_powers_orders_each() -> None:
    front = Typing("A PAR H", "send", "A VEN-TRI", "send")
    said: dict[int, list[str]] = {}
    play(front, (1, 1, 0, 1, 0, 1, 1), said, {})
    assert said == {0: ["A PAR H", "A VEN - TRI"]}
    assert [phase.power for phase in front.shown if phase.fresh] == ["FRANCE", "ITALY", "FRANCE"]


def position(phase: int, units: Mapping[str, str], **fields: Any) -> np.ndarray:
    now = STANDARD.start()
    now["unit"] = 0
    now["phase"] = phase
    for text, power in units.items():
        province, unit = parse_unit(STANDARD, STANDARD.powers.index(power), text)
        now["unit"][0, province] = unit
    return now


@pytest.mark.parametrize(
    ("text", "owed", "wrong"),
    [
        ("A PAR B; F BRE B", 2, ""),
        ("build a par; build f bre; build a mar", 2, "FRANCE has builds: 2, and they are ordered"),
        ("A PAR B; waive; f bre b", 2, ""),
        ("A PAR-BUR", 2, "FRANCE has no A PAR: no unit is there"),
        ("A MUN B", 2, "MUN is no home centre of FRANCE"),
        ("F PAR B", 2, "F PAR cannot be built"),
    ],
)
def test_builds_are_counted(text: str, owed: int, wrong: str) -> None:
    now = position(4, {"A SPA": "FRANCE"})
    phase = Phase(0, FRANCE, STANDARD, now, [], 0, {}, False)
    assert phase.owed == owed and phase.asks == "builds: 2" and not phase.missing
    said: list[str] = []
    Terminal(lambda: None, said.append).show(phase)
    assert said[-1] == "without another order nothing more is built\n"
    person: Any = OrderingPlayer(Game("diplomacy:standard"))
    order: Callable[[], Any] = lambda: person._ordered(phase, text)  # noqa: E731
    if wrong:
        with pytest.raises(InputError, match=wrong):
            order()
    else:
        assert len(order()) == 2


def test_what_came_of_a_phase_is_told() -> None:
    units = {"A BUR": "FRANCE", "A MUN": "FRANCE", "A RUH": "GERMANY", "A BOH": "AUSTRIA"}
    now = position(2, units | {"A TYR": "AUSTRIA", "A SIL": "AUSTRIA", "A BEL": "GERMANY"})
    given = {
        "AUSTRIA": ["A BOH-MUN", "A TYR S BOH-MUN", "A SIL S BOH-MUN"],
        "GERMANY": ["RUH-BEL", "BEL H"],
        "FRANCE": ["A MUN - RUH", "A BUR H"],
    }
    orders = orders_array(STANDARD, [
        parse_order(STANDARD, now, STANDARD.powers.index(power), text)
        for power, some in given.items() for text in some
    ])  # fmt: skip
    name, lines = told(STANDARD, now, orders, STANDARD.resolve(now, orders))
    assert name == "F1901M"
    assert "FRANCE: A BUR H; A MUN - RUH (bounce)" in lines
    assert "GERMANY: A RUH - BEL (bounce); A BEL H" in lines
    assert "dislodged: A MUN of FRANCE" in lines
    assert "AUSTRIA: A BOH - MUN; A SIL S A BOH - MUN; A TYR S A BOH - MUN" in lines


def test_a_match_with_names_at_powers_is_left_resumed_and_a_page_of_maps(
    tmp_path: pathlib.Path,
) -> None:
    games, page = tmp_path / "g.jsonl", tmp_path / "g.html"
    play = ("match", "human", "heuristic", "-n", 1, "--game", "diplomacy:tiny", "--seed", 1)
    seats = ("--seats", "RED=human,others=heuristic")
    done = run(*play, *seats, "-o", games, stdin=b"foo\nsave\n")
    assert done.status == 0 and "an order is written like" in done.out, done.err
    none = run("fenfs", "replay", games)
    assert (none.status, none.out) == (1, "")
    assert none.error_line == f"fenfs: {NONE_OVER}"
    done = run("match", "--resume", "-o", games, stdin=b"send\n" * 9)
    assert done.status == 0 and "the end of game 1:" in done.out, done.err
    assert "game 1: you " in done.err and "human: 1 game, score of a seat" in done.err
    people = ("name=ann,human", "name=bob,human", "heuristic", "--game", "diplomacy", "-n", 1)
    seats = ("--seats", "FRANCE=ann,ENGLAND=bob,others=heuristic", "--seed", 1)
    done = run("match", *people, *seats, "-o", tmp_path / "p.jsonl", stdin=b"\nsend\n\nsave\n")
    assert done.status == 0 and "hand over to ann" in done.out, done.err
    assert "bob, ENGLAND S1901M> " in done.out and "ann, FRANCE S1901M> " in done.out
    assert run("fenfs", "replay", games, "-o", page).status == 0
    text = page.read_text()
    assert '"name":"S1901M"' in text and "the end" in text and "http-equiv" in text


@pytest.mark.parametrize(
    ("phase", "units", "power", "typed", "order"),
    [
        (0, "A PAR", "FRANCE", "A PAR-BUR", "A PAR - BUR"),
        (0, "A PAR", "FRANCE", "par-bur", "A PAR - BUR"),
        (0, "A PAR", "FRANCE", "army par to bur", "A PAR - BUR"),
        (0, "A PAR", "FRANCE", "A PAR H", "A PAR H"),
        (0, "F STP/SC", "RUSSIA", "F STP(SC)-BOT", "F STP/SC - BOT"),
        (0, "A LON, F NTH", "ENGLAND", "A LON-NWY VIA CONVOY", "A LON - NWY VIA"),
        (0, "A LON, F NTH", "ENGLAND", "F NTH C A LON-NWY", "F NTH C A LON - NWY"),
        (0, "A PAR, A MAR", "FRANCE", "A MAR S A PAR-BUR", "A MAR S A PAR - BUR"),
        (0, "A BUR, A MAR", "FRANCE", "A MAR S A BUR", "A MAR S A BUR"),
        (1, "*A BUR", "FRANCE", "A BUR-PAR", "A BUR R PAR"),
        (1, "*A BUR", "FRANCE", "A BUR D", "A BUR D"),
        (4, "", "FRANCE", "A PAR B", "A PAR B"),
        (4, "", "FRANCE", "build a par", "A PAR B"),
        (4, "", "RUSSIA", "F STP/NC B", "F STP/NC B"),
        (4, "A PAR, A MAR, A SPA, F BRE", "FRANCE", "A PAR D", "A PAR D"),
    ],
)
def test_the_orders_that_help_tells_are_read(
    phase: int, units: str, power: str, typed: str, order: str
) -> None:
    number, now = STANDARD.powers.index(power), position(phase, {})
    for text in filter(None, units.split(", ")):
        province, unit = parse_unit(STANDARD, number, text.lstrip("*"))
        now["dislodged" if text[0] == "*" else "unit"][0, province] = unit
    here = Phase(0, number, STANDARD, now, [], 0, {}, False)
    [(province, given)] = here.with_order(typed).items()
    assert typed in ORDERS_HELP and here.text(province, given) == order
