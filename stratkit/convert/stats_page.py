"""Setups and habits of players as a page: what scored, how it began, what was learned."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree.ElementTree import Element

import numpy as np

from stratkit.engine.stratego import VARIANTS, Variant
from stratkit.errors import counted, printable
from stratkit.notation.explored import (
    HABITS,
    Example,
    Explored,
    Group,
    Side,
    counts_of,
    first_moves,
    flag_counts,
    groups_of,
)
from stratkit.notation.page_board import STYLE, heat_board, moves_board, setup_board
from stratkit.notation.replay_page import Shown, board_parts, viewer
from stratkit.notation.scores import score
from stratkit.notation.setups import setup_text
from stratkit.notation.squares import move_text, square_text
from stratkit.notation.statistics import SetupFigures
from stratkit.pages import add, document, element, fold, table

MOST_SETUPS = 50  # of a group that are listed
OPEN_GROUPS = 3  # of similar setups that are shown at once; the others are folded
ALIKE = (
    "Setups are alike as far as the same pieces stand on the same squares or beside them. The flag"
    " counts most, then marshal, general, bombs and spy. A draw is half a win. Intervals are of"
    " 95 %: a wide one means too few games to tell."
)
HABITS_NOTE = (
    "An interval of 95 % takes games as wholes: what happens within one game is not independent."
    " A position opens in the game below."
)


def stats_page(title: str, columns: Sequence[tuple[str, Explored]]) -> str:
    """The page of (who, what is known of them), one of which has games at least."""
    games = _Games()
    parts: list[Element] = []
    for number, (who, explored) in enumerate(columns):
        part = element("section")
        add(part, "h2", f"{printable(who)}: {counted(explored.games, 'game')}")
        if explored.games:
            place = fold(part, "their habits and setups") if number else part
            _habits(place, explored, games)
            for name, sides in sorted(explored.sides.items()):
                _setups(place, VARIANTS[name], sides, len(columns) == 1)
        parts.append(part)
    style = board_parts()[0]
    if games.shown:
        part, (look, section) = element("section"), viewer(games.shown)
        add(part, "h2", "Games")
        part.append(section)
        style = look
        parts.append(part)
    return document(title, parts, style + STYLE, "fenfs stats")


class _Games:
    """The games of examples, each once, and where the page has their positions."""

    def __init__(self) -> None:
        self.shown: list[Shown] = []
        self._numbers: dict[int, int] = {}

    def link(self, example: Example) -> Element:
        """A link to the position of an example."""
        played = example.played
        if id(played) not in self._numbers:
            log = played.log
            title = f"{' – '.join(log.players)}: {log.ending}"
            self.shown.append(Shown(played, title, log.ending))
            self._numbers[id(played)] = len(self.shown)
        number = self._numbers[id(played)]
        text = f"game {number}, ply {example.ply}"
        return element("a", text, href=f"#{number}.{example.ply}")


def _habits(part: Element, explored: Explored, games: _Games) -> None:
    add(part, "h3", "Habits")
    rows: list[list[str | Element]] = []
    for habit in HABITS:
        times, chances = explored.sums[habit.event][:2]
        share = explored.share(habit.event)
        told = "–"
        if share is not None:
            among, low, high = map(_percent, share)
            told = f"{among} of {chances:.0f} ({low} to {high})"
        positions = element("span")
        for example in explored.examples[habit.event]:
            link = games.link(example)
            link.tail = " "
            positions.append(link)
        per_game = f"{times / explored.games:.2f}"
        rows.append([habit.title, f"{times:.0f}", per_game, told, positions])
    heads = ("what", "times", "a game", "share (from, to)", "positions")
    made = table(part, heads, rows, words=(0, 4))
    made.set("class", "stacks")
    for row in made[1:]:
        for head, cell in zip(heads, row, strict=True):
            cell.set("data-head", head)
    add(part, "p", HABITS_NOTE, class_="small faint")


def _setups(part: Element, variant: Variant, sides: Sequence[Side], both: bool) -> None:
    """What is told of setups; `both`: these are both sides of games, and score alike."""
    distinct = counted(len({side.setup for side in sides}), "setup")
    about = (
        f"{distinct} in {len(sides)} games" if both else f"{distinct}, {_score(counts_of(sides))}"
    )
    add(part, "h3", f"Setups of {variant.name}: {about}")
    if both:
        what = "Each game has two setups here, red's and blue's, and counts for either."
        add(part, "p", what, class_="small faint")
    cards = add(part, "div", class_="cards")
    _flags(cards, variant, sides)
    _figures(cards, variant, sides)
    groups = groups_of(variant, sides)
    add(part, "h3", f"{counted(len(groups), 'group')} of similar setups")
    add(part, "p", ALIKE, class_="small faint")
    cards = add(part, "div", class_="cards")
    for number, group in enumerate(groups, 1):
        if number == OPEN_GROUPS + 1:
            more = counted(len(groups) - OPEN_GROUPS, "smaller group")
            cards = add(fold(part, more), "div", class_="cards")
        _group(cards, variant, number, group)


def _flags(parent: Element, variant: Variant, sides: Sequence[Side]) -> None:
    card = add(parent, "div", class_="card")
    add(card, "h3", "Where the flag stands, in per cent")
    counts = flag_counts(variant, sides)
    card.append(heat_board(variant, counts.sum(axis=0), "how often the flag stands on each square"))
    by_score, by_share = [], []
    for square in np.flatnonzero(counts.sum(axis=0)).tolist():
        won = counts[:, square].tolist()
        row = [square_text(square, variant.width), str(sum(won))]
        by_score.append([*row, *_shares(won)])
        by_share.append([*row, *_interval(sum(won), len(sides))])
    # Two tables, since one of all columns is wider than a phone.
    for name, rows in (("score", by_score), ("share", by_share)):
        details = fold(card, f"{name} by the flag's square")
        table(details, ("flag", "games", name, "from", "to"), rows, words=(0,), sorts=True)


def _figures(parent: Element, variant: Variant, sides: Sequence[Side]) -> None:
    card = add(parent, "div", class_="card")
    add(card, "h3", "How the pieces stand")
    figures = SetupFigures(variant)
    figures.add(np.frombuffer(b"".join(s.setup for s in sides), np.uint8).reshape(len(sides), -1))
    rows = []
    for name, value in figures.figures().items():
        mean, of_pieces = name.endswith("mean"), name.endswith("of all")
        told = f"{value:.2f}" if mean else _percent(value)
        if not mean and not of_pieces:  # pieces of one setup are not independent of each other
            _, low, high = _interval(round(value * len(sides)), len(sides))
            told = f"{told} ({low} to {high})"
        rows.append([name, told])
    table(card, ("of all games", "share (from, to)"), rows, words=(0,))


def _group(parent: Element, variant: Variant, number: int, group: Group) -> None:
    card = add(parent, "div", class_="card")
    counts = flag_counts(variant, group.sides).sum(axis=0)
    square = int(counts.argmax())
    where = square_text(square, variant.width)
    add(card, "h3", f"{number}. Flag on {where} in {_percent(counts[square] / counts.sum())}")
    card.append(setup_board(variant, group.typical, f"a typical setup of group {number}"))
    card.append(_bar(group.counts))
    setups: dict[bytes, list[Side]] = {}
    for side in group.sides:
        setups.setdefault(side.setup, []).append(side)
    add(card, "p", f"{counted(len(setups), 'setup')}, {_score(group.counts)}")
    _beginning(card, variant, group)
    details = fold(card, "its setups")
    ordered = sorted(setups.items(), key=lambda one: (-len(one[1]), one[0]))
    rows = [
        [setup_text(np.frombuffer(setup, np.uint8)), str(len(own)), *_shares(counts_of(own))]
        for setup, own in ordered[:MOST_SETUPS]
    ]
    table(details, ("setup", "games", "score", "from", "to"), rows, words=(0,), sorts=True)
    if len(ordered) > MOST_SETUPS:
        add(details, "p", f"and {len(ordered) - MOST_SETUPS} more", class_="small faint")


def _beginning(card: Element, variant: Variant, group: Group) -> None:
    """The first moves of most games of the group, drawn and listed."""
    line = first_moves(group.sides)
    if not line:
        return
    details = fold(card, "the first ten moves of most games")
    setup = np.frombuffer(line[-1][1][0].setup, np.uint8)
    moves = [move for move, _ in line]
    details.append(moves_board(variant, setup, moves, "the first moves as arrows"))
    listed = add(details, "ol", class_="small")
    for (start, end), sides in line:
        text = move_text(start, end, variant.width)
        share = _shares(counts_of(sides))[0]
        add(listed, "li", f"{text}: {counted(len(sides), 'game')}, score {share}")
    what = "Each move is the one that was played most often after those before it."
    add(details, "p", what, class_="small faint")


def _score(counts: Sequence[int]) -> str:
    share, low, high = _shares(counts)
    return f"{counted(sum(counts), 'game')}, score {share} ({low} to {high})"


def _shares(counts: Sequence[int]) -> list[str]:
    return [_percent(share) for share in score(counts)]


def _interval(number: int, of: int) -> list[str]:
    """The share of so many of these, and its interval of 95 %."""
    return _shares((number, 0, of - number))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _bar(counts: Sequence[int]) -> Element:
    """A score and its interval between 0 and 100 %, with a mark in the middle."""
    share, low, high = (200 * one for one in score(counts))
    bar = element("svg", class_="bar", viewBox="0 0 200 16", preserveAspectRatio="none")
    bar.set("aria-hidden", "true")
    add(bar, "rect", class_="rail", x=0, y=6, width=200, height=4)
    add(bar, "rect", class_="reach", x=f"{low:.1f}", y=4, width=f"{high - low:.1f}", height=8)
    add(bar, "line", class_="half", x1=100, x2=100, y1=0, y2=16)
    add(bar, "rect", class_="point", x=f"{share - 1.5:.1f}", y=1, width=3, height=14)
    return bar
