"""A report as one page of HTML that needs nothing else: no font and no network. A page of many
players sorts its tables by a script of its own; games to step through have another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from xml.etree.ElementTree import Element

from stratkit.errors import printable
from stratkit.pages import add, document, element, fold, table
from stratkit.rating import svg, tables
from stratkit.rating.report import RatingReport, Standing
from stratkit.rating.tables import ReportTable

FEW = 12  # players whose meetings are all shown at once
SHADE = "color-mix(in srgb, #0072b2 {:.0f}%, transparent)"


@dataclass(frozen=True)
class Games:
    """Games to be stepped through: what they are called, and the style and the element of their
    viewer, which may have inline scripts."""

    title: str
    style: str
    viewer: Element


def page(report: RatingReport, games: Games | None = None) -> str:
    """The page; the same report and games give the same text."""
    game = printable(report.options.game)
    body = element("main", class_="ratings")
    add(body, "p", "; ".join(report.notes()) + ".")
    for warning in (*report.remarks(), *report.warnings()):
        add(body, "p", warning, class_="warning")
    parts = report.parts()
    for number, part in enumerate(parts, start=1):
        if len(parts) > 1:
            add(body, "h2", f"Group {number} of {len(parts)}")
        _ratings(body, part)
    if games:
        add(body, "h2", games.title)
        body.append(games.viewer)
    title = f"Ratings: {game}" if game else "Ratings"
    return document(title, [body], svg.STYLE + (games.style if games else ""), "rate")


def _ratings(body: Element, report: RatingReport) -> None:
    """Pictures and tables of players who met; of many, those of all pairs are folded."""
    many = len(report.standings) > FEW
    if many:
        _jumps(body, report)
    else:
        body.append(svg.intervals(report))
    links = {s.name: _place(report, s) for s in report.standings} if many else {}
    _table(body, tables.ratings(report), sorts=many, links=links)
    if many:
        fold(body, "Picture of the ratings").append(svg.intervals(report))
    if (curve := svg.curve(report)) is not None:
        add(body, "h2", "Ratings over steps")
        body.append(curve)
    meetings = tables.meetings(report)
    _table(fold(body, meetings.title) if many else body, meetings, sorts=many, headed=not many)
    every = fold(body, "Results of each player") if many else body
    for standing in report.standings:
        versus = tables.versus(report, standing.name)
        place = add(fold(every, versus.title), "div", id=_place(report, standing))
        _table(place, versus, sorts=many, headed=False)
    if (matrix := tables.superiority(report)) is not None:
        parent = fold(body, matrix.title) if many else body
        _table(parent, matrix, headed=not many, shade=True)


def _place(report: RatingReport, standing: Standing) -> str:
    """Where the page has a player's results."""
    return f"player-{standing.group}-{report.standings.index(standing) + 1}"


def _jumps(body: Element, report: RatingReport) -> None:
    """Links to each player's results, by name: a page of many is long."""
    line = add(fold(body, "Jump to a player"), "p", class_="jumps")
    for standing in sorted(report.standings, key=lambda standing: standing.name.casefold()):
        link = add(line, "a", printable(standing.name), href=f"#{_place(report, standing)}")
        link.tail = " "


def _table(
    parent: Element,
    report: ReportTable,
    sorts: bool = False,
    headed: bool = True,
    shade: bool = False,
    links: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """A table; `links` has a place in the page for a player's name."""
    if headed:
        add(parent, "h2", report.title)
    rows: list[list[str | Element]] = []
    for texts, values in zip(report.cells(), report.rows, strict=True):
        pairs = zip(texts, map(str, values), strict=True)
        rows.append([
            element("a", text, href=f"#{links[value]}") if value in links else text
            for text, value in pairs
        ])  # fmt: skip
    words = [at for at, column in enumerate(report.columns) if column.is_words]
    spare = [at for at, column in enumerate(report.columns) if column.spare]
    made = table(parent, [column.head for column in report.columns], rows, words, sorts, spare)
    if shade:
        for row, values in zip(made[1:], report.rows, strict=True):
            for cell, value in zip(row, values, strict=True):
                if isinstance(value, float):
                    cell.set("style", f"background: {SHADE.format(50 * value)}")
