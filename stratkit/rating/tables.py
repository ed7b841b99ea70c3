"""The tables of a report: for people, and as CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from stratkit.errors import printable
from stratkit.rating.onemore import likely_text
from stratkit.rating.report import HeadToHead, RatingReport, Standing
from stratkit.storage.csv_text import csv_text
from stratkit.terminal import aligned

Cell = str | int | float | None


@dataclass(frozen=True)
class Column:
    """A column of a table.

    head   what stands over it
    plain  formats a cell for people
    exact  formats a cell for programs
    spare  whether a phone does without it, since the page has it elsewhere or it can be computed
    """

    head: str
    plain: Callable[[Cell], str]
    exact: Callable[[Cell], str]
    spare: bool = False

    @property
    def is_words(self) -> bool:
        """Whether its cells are words, not numbers."""
        return self.plain is printable


@dataclass(frozen=True)
class ReportTable:
    """Rows of cells under columns."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]

    def cells(self) -> list[list[str]]:
        """The rows as people see them."""
        return [[c.plain(x) for c, x in zip(self.columns, row, strict=True)] for row in self.rows]

    def text(self) -> str:
        """Words to the left, numbers to the right."""
        head = [column.head for column in self.columns]
        words = [i for i, column in enumerate(self.columns) if column.is_words]
        return "\n".join(aligned([head, *self.cells()], words))

    def csv(self) -> str:
        """A line of names, then the rows."""
        head = [column.head for column in self.columns]
        rows = [[c.exact(x) for c, x in zip(self.columns, row, strict=True)] for row in self.rows]
        return csv_text([head, *rows])


def _shown(form: str) -> Callable[[Cell], str]:
    """Formats a number; None is a dash."""
    return lambda value: "-" if value is None else format(value, form)


def _exact(form: str) -> Callable[[Cell], str]:
    return lambda value: "" if value is None else format(value, form)


def _words(head: str) -> Column:
    return Column(head, printable, str)  # type: ignore[arg-type]


def _count(head: str) -> Column:
    return Column(head, str, str)


def _elo(head: str) -> Column:
    return Column(head, _shown("z.0f"), _exact("z.2f"))


def _share(head: str) -> Column:
    return Column(head, _shown(".1%"), _exact(".5f"))


def _likely(head: str) -> Column:
    return Column(head, lambda p: "-" if p is None else likely_text(float(p)), _exact(".5f"))


def _spare(column: Column) -> Column:
    return replace(column, spare=True)


def ratings(report: RatingReport) -> ReportTable:
    """Every player's rating and games; the number of its group, if groups never met."""
    columns = [
        _count("rank"), _words("player"), _elo("Elo"), _elo("from"), _elo("to"), _count("games"),
        *map(_spare, (_count("won"), _count("drawn"), _count("lost"))), _share("score"),
    ]  # fmt: skip

    def row(rank: int, s: Standing) -> list[Cell]:
        games = s.won + s.drawn + s.lost
        score = (s.won + s.drawn / 2) / games
        known: list[Cell] = [s.elo, s.low, s.high, games, s.won, s.drawn, s.lost, score, s.group]
        return [rank, s.name, *known][: len(columns)]

    if report.groups > 1:
        columns.append(_count("group"))
    parts = report.parts()
    rows = [row(rank, s) for part in parts for rank, s in enumerate(part.standings, start=1)]
    return ReportTable("Ratings", columns, rows)


_SHARES = [_share("wins"), _share("draws"), _share("losses")]
_SIGMA = Column("sigma", _shown("+z.1f"), _exact("z.3f"))


def _against(m: HeadToHead) -> list[Cell]:
    return [m.second, m.games, m.won / m.games, m.drawn / m.games, m.lost / m.games]


def meetings(report: RatingReport) -> ReportTable:
    """Each two players who met, the stronger one first: what came out, and what was expected."""
    rows = [[m.first, *_against(m), m.score, m.expected, m.deviation] for m in report.meetings]
    columns = [
        _words("player"), _words("against"), _count("games"), *map(_spare, _SHARES),
        _share("score"), _spare(_share("expected")), _SIGMA,
    ]  # fmt: skip
    return ReportTable("Head to head", columns, rows)


def versus(report: RatingReport, name: str) -> ReportTable:
    """One player against each other that it met, as Table 2 of the DeepNash paper."""
    rows = [_against(m) for m in report.versus(name)]
    columns = [_words("against"), _count("games"), *_SHARES]
    return ReportTable(f"{printable(name)} against", columns, rows)


def superiority(report: RatingReport) -> ReportTable | None:
    """How likely each player is stronger than each other; None where that is not known."""
    likely = report.superiority
    if likely is None:
        return None
    columns = [_words("stronger than"), *(_likely(printable(s.name)) for s in report.standings)]
    rows: list[list[Cell]] = [
        [s.name, *(None if i == j else p for j, p in enumerate(row))]
        for i, (s, row) in enumerate(zip(report.standings, likely, strict=True))
    ]
    return ReportTable("Likelihood of superiority", columns, rows)
