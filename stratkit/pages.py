"""Pages of HTML that need nothing else: one look for all, tables that sort, no request to anywhere.

A page is a tree of elements, so that every text in it is escaped by whoever writes the tree.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import pathlib
from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, tostring

from stratkit.version import __version__


@functools.cache
def part(name: str) -> str:
    """A file that stands in every page: `page.css` or `page.js`."""
    return pathlib.Path(__file__).with_name(name).read_text("utf-8")


def element(tag: str, text: str = "", **attributes: object) -> Element:
    """An element with a text; `class_` is its class."""
    made = Element(tag, {_key(key): str(value) for key, value in attributes.items()})
    made.text = text or None
    return made


def add(parent: Element, tag: str, text: str = "", **attributes: object) -> Element:
    """A new last child of `parent`, as `element` makes it."""
    made = element(tag, text, **attributes)
    parent.append(made)
    return made


def _key(name: str) -> str:
    return (
        name if name in ("viewBox", "preserveAspectRatio") else name.rstrip("_").replace("_", "-")
    )


def fold(parent: Element, title: str) -> Element:
    """A part of a page that opens at a click."""
    details = add(parent, "details")
    add(details, "summary", title)
    return details


def document(title: str, parts: Iterable[Element], style: str = "", made_by: str = "") -> str:
    """The page: the same parts give the same text. Of scripts only those in it may run."""
    html = element("html", lang="en")
    head, body = SubElement(html, "head"), SubElement(html, "body")
    add(body, "h1", title)
    body.extend(parts)
    if body.find(".//table[@class='sorts']") is not None:
        add(body, "script", part("page.js"))
    add(body, "p", f"Made by {made_by} (stratkit {__version__}).", class_="small faint")
    add(head, "meta", charset="utf-8")
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    if allowed := " ".join(_hash(script) for script in body.iter("script") if _runs(script)):
        policy += f"; script-src {allowed}"
    add(head, "meta", http_equiv="Content-Security-Policy", content=policy)
    add(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    add(head, "title", title)
    add(head, "style", part("page.css") + style)
    return "<!DOCTYPE html>\n" + tostring(html, encoding="unicode", method="html") + "\n"


def _runs(script: Element) -> bool:
    return script.get("type") is None


def _hash(script: Element) -> str:
    digest = hashlib.sha256((script.text or "").encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def table(
    parent: Element,
    heads: Sequence[str],
    rows: Iterable[Sequence[str | Element]],
    words: Sequence[int] = (),
    sorts: bool = False,
    spare: Sequence[int] = (),
) -> Element:
    """A table in a box that scrolls; columns of `words` stand to the left. `sorts`: a click on a
    head sorts it. A phone shows no columns that are `spare`, and says so."""
    box = add(parent, "div", class_="wide")
    made = add(box, "table", **({"class_": "sorts"} if sorts else {}))
    if spare:
        named = ", ".join(heads[at] for at in spare)
        add(box, "p", f"A wider window shows {named}, too.", class_="narrow small faint")
    names = [
        " ".join(["words"] * (at in words) + ["spare"] * (at in spare)) for at in range(len(heads))
    ]
    kinds = [{"class_": name} if name else {} for name in names]
    row = SubElement(made, "tr")
    for head, kind in zip(heads, kinds, strict=True):
        add(row, "th", head, scope="col", **kind)
    for cells in rows:
        row = SubElement(made, "tr")
        for cell, kind in zip(cells, kinds, strict=True):
            place = add(row, "td", "" if isinstance(cell, Element) else cell, **kind)
            if isinstance(cell, Element):
                place.append(cell)
    return made
