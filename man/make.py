"""Makes the pages of section 5 beside it, from formats/*.md: `make man`, and every build.

formats/NAME.md becomes stratkit-NAME.5, README.md stratkit-formats.5. Of Markdown it knows what
those pages use: headings, paragraphs, lists of one level, tables, indented code, and in the text
`code`, *emphasis*, **bold** and links; what else looks like Markdown is an error.
"""

from __future__ import annotations

import os
import pathlib
import re
import textwrap
import tomllib
from collections.abc import Iterable, Iterator

ROOT = pathlib.Path(__file__).parents[1]
COMMANDS = sorted(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"])
VERSION = re.findall(r'__version__ = "(.*)"', (ROOT / "stratkit/version.py").read_text())[0]
WIDTH = 69  # of a table on a screen of 80 columns
NARROW = 38  # of those of its columns that are not wrapped, if others are

SPECIAL = {"\\": r"\e", "-": r"\-", "'": r"\(aq", "^": r"\(ha", "~": r"\(ti", "`": r"\(ga"}
OTHER_PAGE = re.compile(r"\[[^]]*\]\((\w+)\.md\)|\b(?:formats/)?(\w+)\.md\b")
SPAN = re.compile(
    r"`(?P<code>[^`]+)`|(?<!\w)\*\*(?P<bold>[^*]+)\*\*|(?<!\w)\*(?P<emphasis>[^*\s][^*]*)\*"
    r"|\[(?P<text>[^]]+)\]\((?P<url>[^)]+)\)|(?P<page>[\w-]+\([15]\))"
)


def page_name(stem: str) -> str:
    """What the page of formats/STEM.md is called."""
    return "stratkit-" + ("formats" if stem == "README" else stem)


# --- text -----------------------------------------------------------------------------------------


def literal(text: str) -> str:
    """Text that stands as it is typed."""
    return "".join(SPECIAL.get(c, c) for c in text)


def prose(text: str) -> str:
    if debris := re.search(r"`|(?<![\w*])\*|\]\(", text):
        raise ValueError(f"what is {debris[0]!r} in {text!r}?")
    return text.replace("\\", r"\e")


def guarded(line: str) -> str:
    """A line that is no request, whatever it begins with."""
    return rf"\&{line}" if line.startswith((".", "'")) else line


def spans(text: str) -> str:
    """Paragraph text as roff."""
    text = OTHER_PAGE.sub(lambda found: f"{page_name(found[1] or found[2])}(5)", text)
    parts, end = [], 0
    for found in SPAN.finditer(text):
        parts += [prose(text[end : found.start()]), span(found)]
        end = found.end()
    return "".join(parts) + prose(text[end:])


def span(found: re.Match[str]) -> str:
    if page := found["page"]:
        return rf"\fB{literal(page[:-3])}\fP{page[-3:]}"
    if found["code"]:
        return rf"\fB{literal(found['code'])}\fP"
    if found["url"]:
        return f"{prose(found['text'])} <{literal(found['url'])}>"
    font = "B" if found["bold"] else "I"
    return rf"\f{font}{prose(found['bold'] or found['emphasis'])}\fP"


def lines(text: str) -> Iterator[str]:
    """A paragraph's lines; a sentence begins a line."""
    if re.search(r"^\s*([|>*+] |- |\d+\. |#|```)", text, re.M):
        raise ValueError(f"what is this?\n{text}")
    for sentence in re.split(r"(?<=[.]) (?=[A-Z\\])", spans(" ".join(text.split()))):
        for line in textwrap.wrap(sentence, 100, break_long_words=False, break_on_hyphens=False):
            yield guarded(line)


# --- blocks ---------------------------------------------------------------------------------------


def table(rows: list[list[str]]) -> Iterator[str]:
    """Where not all fits on a screen, the wide columns share what the narrow ones leave."""
    widths = column_widths(rows)
    if len(widths) > 6 and screen(widths) > WIDTH:
        rows = [list(column) for column in zip(*rows, strict=True)]
        widths = column_widths(rows)
    fits, narrow = screen(widths) <= WIDTH, sorted(widths)
    while not fits and (len(narrow) == len(widths) or screen(narrow) > NARROW):
        narrow.pop()
    wide = [width not in narrow for width in widths]
    yield from (".PP", ".TS")
    if any(rows[0]):
        yield " ".join("lbx" if x else "lb" for x in wide)
    else:
        del rows[0]
    yield " ".join("lx" if x else "l" for x in wide) + "."
    for row in rows:
        cells = [guarded(spans(cell)) for cell in row]
        yield "\t".join(
            f"T{{\n{cell}\nT}}" if x and cell else cell for cell, x in zip(cells, wide, strict=True)
        )
    yield ".TE"


def column_widths(rows: list[list[str]]) -> list[int]:
    plain = [[re.sub(r"[`*]", "", cell) for cell in row] for row in rows]
    return [max(map(len, column)) for column in zip(*plain, strict=True)]


def screen(widths: list[int]) -> int:
    """How wide such columns are together."""
    return sum(widths) + 3 * (len(widths) - 1)


def code(block: str) -> Iterator[str]:
    yield from (".PP", ".RS 4", ".nf")
    for line in textwrap.dedent(block).splitlines():
        yield guarded(literal(line))
    yield from (".fi", ".RE")


def items(block: str) -> Iterator[str]:
    for item in re.split(r"^- ", block, flags=re.M)[1:]:
        yield r".IP \(bu 3"
        yield from lines(item)


def body(block: str) -> Iterator[str]:
    """What stands between two empty lines."""
    if block.startswith("    "):
        yield from code(block)
    elif block.startswith("|"):
        cells = [line.strip("|").split("|") for line in block.splitlines()]
        rows = [[cell.strip() for cell in row] for row in cells]
        yield from table([row for row in rows if set("".join(row)) != {"-"}])
    elif block.startswith("- "):
        yield from items(block)
    else:
        yield ".PP"
        yield from lines(block)


def blocks(text: str) -> Iterator[str]:
    """Headings, and what stands between them and empty lines."""
    for part in re.split(r"^(#.*)$|^$", text, flags=re.M):
        if part and part.strip("\n"):
            yield part.strip("\n")


def seen_also(text: str, own: str) -> list[str]:
    """The commands whose pages see this one, and the formats that the text speaks of."""
    pages = {path.stem: path.read_text() for path in (ROOT / "man").glob("*.1")}
    entry = f"\n.BR {literal(own)} (5)"
    commands = [name for name in COMMANDS if entry in pages[name].split(".SH SEE ALSO")[1]]
    found = {page_name(first or second) for first, second in OTHER_PAGE.findall(text)}
    formats = sorted((found | {page_name("README")}) - {own})
    return [*(f"{name} (1)" for name in commands), *(f"{name} (5)" for name in formats)]


def page(stem: str, text: str) -> str:
    """The page of formats/STEM.md, which has this text."""
    name = literal(page_name(stem))
    title, rest = text.split("\n", 1)
    made = [
        "'\\\" t",
        f'.TH {name.upper()} 5 "" "stratkit {VERSION}" "File Formats"',
        rf".\" Made by man/make.py from formats/{stem}.md: change that.",
        *(".SH NAME", rf"{name} \- {prose(title.removeprefix('# ').replace('`', ''))}"),
        *(".nh", ".ad l", ".SH DESCRIPTION"),
    ]
    for block in blocks(rest):
        heading = re.match(r"(##+) (.*)", block)
        if heading:
            made.append(f".S{'HS'[len(heading[1]) > 2]} {prose(heading[2].replace('`', ''))}")
        else:
            made += body(block)
    also = [f".BR {literal(entry)}" for entry in seen_also(rest, page_name(stem))]
    return "\n".join([*_without_doubles(made), ".SH SEE ALSO", ",\n".join(also), ""])


def _without_doubles(made: Iterable[str]) -> Iterator[str]:
    """No paragraph mark where a heading has just made one."""
    before = ""
    for line in made:
        if line != ".PP" or not before.startswith(".S"):
            yield line
        before = line


def pages() -> dict[str, str]:
    """All pages by their file names."""
    return {
        f"{page_name(path.stem)}.5": page(path.stem, path.read_text())
        for path in sorted((ROOT / "formats").glob("*.md"))
    }


def write() -> None:
    """All pages into their folder. Each appears whole: others may read or write them meanwhile."""
    for name, text in pages().items():
        part = ROOT / "man" / f".tmp.{os.getpid()}.{name}"
        part.write_text(text)
        part.replace(ROOT / "man" / name)


if __name__ == "__main__":
    write()
