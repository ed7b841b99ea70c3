"""Lists the long sentences of README, BENCHMARKS, formats, lab pages and manual.

    python tests/prose.py [WORDS]

prints each sentence of more than WORDS words (25, as the rule of the house is) with its page, and
then how long sentences of running text are. Code is left out; a cell of a table is a paragraph.
"""

from __future__ import annotations

import pathlib
import re
import statistics
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[1]
RULE, LIMIT = 25, 40

_END = re.compile(r"(?<=[.!?])[\"')*]*\s+")
_ITEM = re.compile(r"\s*(?:[*-]|\d+\.)\s+(.*)")
_ALTERNATING = (".BR", ".RB", ".BI", ".IB", ".IR", ".RI")
_CODE = {".nf": ".fi", ".EX": ".EE", ".TS": ".TE"}  # tables of section 5 are those of formats/


def pages() -> list[pathlib.Path]:
    """What is read: pages of section 5 are made from formats/."""
    patterns = ("README.md", "BENCHMARKS.md", "formats/*.md", "bench/*.md", "man/*.[17]")
    return [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]


def paragraphs(path: pathlib.Path, cells: bool) -> Iterator[str]:
    """The text of a page by paragraphs, items and `cells`, without code and marks of fonts."""
    lines = path.read_text().splitlines()
    kept = _markdown(lines, cells) if path.suffix == ".md" else _roff(lines)
    joined: list[str] = []
    for line in [*kept, ""]:
        if line:
            joined.append(line)
        elif joined:
            yield " ".join(joined)
            joined = []


def _markdown(lines: list[str], cells: bool) -> Iterator[str]:
    """Lines of text; an empty one ends a paragraph."""
    fenced, before = False, ""
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
            yield ""
        elif fenced or (line.startswith("    ") and not before.strip()):
            continue
        elif line.lstrip().startswith("|"):
            for cell in line.strip().strip("|").split("|") if cells else ():
                yield from ("", cell.strip())
            yield ""
        elif line.startswith("#") or not line.strip():
            yield ""
        elif item := _ITEM.fullmatch(line):
            yield from ("", item[1])
        else:
            yield line.strip()
        before = line
    yield ""


def _roff(lines: list[str]) -> Iterator[str]:
    """The same of a page of the manual; a tag (what follows .TP) is no sentence."""
    until, tag = "", False
    for line in lines:
        macro, _, rest = line.partition(" ")
        if until:
            until = "" if macro == until else until
        elif macro in _CODE:
            until = _CODE[macro]
            yield ""
        elif macro.startswith((".SH", ".SS", ".TH", ".PP", ".IP", ".RS", ".RE", ".br", ".\\")):
            yield ""
        elif macro == ".TP":
            tag = True
            yield ""
        elif tag:
            tag = False
        elif macro in _ALTERNATING:
            yield _plain("".join(part.strip('"') for part in re.findall(r'"[^"]*"|\S+', rest)))
        else:
            yield _plain(rest if line.startswith(".") else line)


def _plain(text: str) -> str:
    return re.sub(r"\\(?:f.|&|:|\[..\])", "", text).replace("\\-", "-").replace('"', "").strip()


def sentences(paragraph: str) -> Iterator[str]:
    """Code in a sentence is one word, and so is where a link leads."""
    text = re.sub(r"\]\([^)]*\)", "]", re.sub(r"`[^`]*`", "CODE", paragraph))
    yield from _END.split(text)


def words(sentence: str) -> int:
    return sum(bool(re.search(r"\w", word)) for word in sentence.split())


def lengths(path: pathlib.Path, cells: bool = True) -> list[tuple[int, str]]:
    """Words and text of each sentence of a page."""
    found = [(words(s), s) for p in paragraphs(path, cells) for s in sentences(p)]
    return [one for one in found if one[0]]


def main(limit: int) -> None:
    counts: list[int] = []
    for path in pages():
        counts += [count for count, _ in lengths(path, cells=False)]
        for count, sentence in lengths(path):
            if count > limit:
                print(f"{path.relative_to(ROOT)}: {count} words: {sentence}")
    tenth = statistics.quantiles(counts, n=10)[-1]
    print(f"{len(counts)} sentences: median {statistics.median(counts):g}, 90 % up to {tenth:g}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RULE)
