"""A report as one page of HTML that needs nothing else: no font, no network, and no script, unless
games are to be stepped through.

The page is a tree of elements, so that every text in it is escaped by whoever writes the tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree.ElementTree import Element, SubElement, tostring

from stratkit.errors import printable
from stratkit.rating import svg, tables
from stratkit.rating.report import RatingReport, Standing
from stratkit.rating.tables import ReportTable
from stratkit.version import __version__

STYLE = """
:root { color-scheme: light dark }
body { font: 15px/1.4 sans-serif; margin: 2em auto; max-width: 62em; padding: 0 1em;
  color: light-dark(#222, #ddd); background: light-dark(#fff, #181818) }
table { border-collapse: collapse; margin: .5em 0 }
th, td { padding: .15em .6em; text-align: right; border-bottom: 1px solid #8885 }
th { border-bottom: 1px solid #888 }
.words { text-align: left }
.wide { overflow-x: auto }
svg { max-width: 100%; height: auto; font: 13px sans-serif }
.warning { color: light-dark(#a03000, #ff9060) }
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'"
FEW = 12  # players whose meetings are all shown at once
SCRIPTS = "; script-src 'unsafe-inline'"


@dataclass(frozen=True)
class Games:
    """Games to be stepped through: what they are called, and the style and the element of their
    viewer, which may have inline scripts."""

    title: str
    style: str
    viewer: Element


def page(report: RatingReport, games: Games | None = None) -> str:
    """The page; the same report and games give the same text."""
    html = Element("html", {"lang": "en"})
    head = SubElement(html, "head")
    SubElement(head, "meta", {"charset": "utf-8"})
    policy = POLICY + (SCRIPTS if games else "")
    SubElement(head, "meta", {"http-equiv": "Content-Security-Policy", "content": policy})
    SubElement(head, "meta", {"name": "viewport", "content": "width=device-width"})
    game = printable(report.options.game)
    title = f"Ratings: {game}" if game else "Ratings"
    SubElement(head, "title").text = title
    SubElement(head, "style").text = STYLE + svg.STYLE + (games.style if games else "")
    body = SubElement(html, "body")
    SubElement(body, "h1").text = title
    SubElement(body, "p").text = "; ".join(report.notes()) + "."
    for warning in (*report.remarks(), *report.warnings()):
        SubElement(body, "p", {"class": "warning"}).text = warning
    parts = report.parts()
    for number, part in enumerate(parts, start=1):
        if len(parts) > 1:
            SubElement(body, "h1").text = f"Group {number} of {len(parts)}"
        if len(part.standings) > FEW:
            _jumps(body, part)
        _ratings(body, part)
    if games:
        SubElement(body, "h2").text = games.title
        body.append(games.viewer)
    SubElement(body, "p").text = f"Made by rate (stratkit {__version__})."
    return "<!DOCTYPE html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _ratings(body: Element, report: RatingReport) -> None:
    """Pictures and tables of players who met."""
    body.append(svg.intervals(report))
    _table(body, tables.ratings(report))
    if (curve := svg.curve(report)) is not None:
        SubElement(body, "h2").text = "Ratings over steps"
        body.append(curve)
    many = len(report.standings) > FEW
    if many:
        _table(SubElement(body, "details"), tables.meetings(report), "summary")
    else:
        _table(body, tables.meetings(report))
    for standing in report.standings:
        place = SubElement(body, "details", {"id": _place(report, standing)})
        _table(place, tables.versus(report, standing.name), "summary")
    if (matrix := tables.superiority(report)) is not None:
        parent = SubElement(body, "details") if many else body
        _table(parent, matrix, "summary" if many else "h2", shade=True)


def _place(report: RatingReport, standing: Standing) -> str:
    """Where the page has a player's results."""
    return f"player-{standing.group}-{report.standings.index(standing) + 1}"


def _jumps(body: Element, report: RatingReport) -> None:
    """Links to each player's results, the strongest first: a page of many is long."""
    line = SubElement(body, "p", {"class": "jumps"})
    for standing in report.standings:
        link = SubElement(line, "a", {"href": f"#{_place(report, standing)}"})
        link.text, link.tail = printable(standing.name), " "


def _table(parent: Element, table: ReportTable, heading: str = "h2", shade: bool = False) -> None:
    SubElement(parent, heading).text = table.title
    element = SubElement(SubElement(parent, "div", {"class": "wide"}), "table")
    row = SubElement(element, "tr")
    kinds = [{"class": "words"} if column.is_words else {} for column in table.columns]
    for column, kind in zip(table.columns, kinds, strict=True):
        SubElement(row, "th", kind).text = column.head
    for cells, values in zip(table.cells(), table.rows, strict=True):
        row = SubElement(element, "tr")
        for text, value, kind in zip(cells, values, kinds, strict=True):
            cell = SubElement(row, "td", kind)
            cell.text = text
            if shade and isinstance(value, float):
                cell.set("style", f"background: rgba(0, 114, 178, {value / 2:.2f})")
