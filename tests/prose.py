"""Long sentences of README, manual and formats.

python tests/prose.py [WORDS]      prints those of more than so many words (25), longest first
"""

from __future__ import annotations

import pathlib
import re
import sys
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).parents[1]
LONGEST = 25  # words of a sentence

# After these a point ends no sentence.
NO_END = "".join(rf"(?<!\b{short}\.)" for short in (r"e\.g", r"i\.e", "al", "cf", "vs", "No"))

# Of roff: requests that begin a new paragraph, that begin and end what is shown as it is, and those
# whose arguments are text.
BREAKS = {".SH", ".SS", ".PP", ".P", ".IP", ".br", ".sp", ".RS", ".RE", ".TH"}
SHOWN = {".nf": ".fi", ".EX": ".EE", ".TS": ".TE"}
FONTS = {".B", ".I", ".BR", ".RB", ".BI", ".IB", ".IR", ".RI", ".SM"}


def paragraphs_of_markdown(text: str) -> Iterator[str]:
    """Paragraphs, items, headings and cells of tables, without blocks of code."""
    text = re.sub(r"^```.*?^```$", "\n", text, flags=re.M | re.S)
    text = re.sub(r"(?m)^    .*$", "", text)
    text = re.sub(r"(?m)^(#+ .*)$", r"\n\1\n", text)
    text = re.sub(r"(?m)^(- |\* |\d+\. )", r"\n\1", text)
    for block in re.split(r"\n\s*\n", text):
        if block.lstrip().startswith("|"):
            for line in block.splitlines():
                yield from line.strip("| ").split("|")
        else:
            yield block


def paragraphs_of_roff(text: str) -> Iterator[str]:
    """Paragraphs of a manual page, without examples, tables and the tags that they explain."""
    text = re.sub(r"(?m)^\.T[PQ].*\n.*$", ".PP", text)
    said: list[str] = []
    until = ""
    for line in text.splitlines():
        request, _, rest = line.partition(" ")
        if until:
            until = "" if request == until else until
        elif request in SHOWN or request in BREAKS:
            until = SHOWN.get(request, "")
            yield " ".join(said)
            said = []
        elif request in FONTS:
            said.append(rest.replace('"', "") if request in (".B", ".I") else _joined(rest))
        elif not line.startswith((".", "'")):
            said.append(line)
    yield " ".join(said)


def _joined(arguments: str) -> str:
    """Arguments in alternating fonts stand without spaces between them."""
    return "".join(quoted or bare for quoted, bare in re.findall(r'"([^"]*)"|(\S+)', arguments))


def sentences(path: pathlib.Path) -> Iterator[str]:
    """All sentences of a page. What stands between backticks counts as one word."""
    text = path.read_text()
    markdown = path.suffix == ".md"
    for paragraph in (paragraphs_of_markdown if markdown else paragraphs_of_roff)(text):
        plain = re.sub(r"\\f.|\\&", "", paragraph).replace("\\-", "-")
        if markdown:
            plain = re.sub(r"`[^`]*`", "CODE", plain)
            plain = re.sub(r"\]\([^)]*\)", "]", plain)
        plain = " ".join(plain.split())
        yield from re.split(rf"(?<=[.!?]){NO_END}[)\"”]* ", plain)


def words(sentence: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in sentence.split())


def pages() -> list[pathlib.Path]:
    """What users read; section 5 of the manual is made of formats/."""
    patterns = ("*.md", "docs/*.md", "formats/*.md", "bench/*.md", "examples/*.md", "man/*.[17]")
    return sorted(path for pattern in patterns for path in ROOT.glob(pattern))


def long_sentences(longest: int = LONGEST) -> list[tuple[int, str, str]]:
    """Words, page and text of each sentence that has more of them, the longest first."""
    found = [
        (words(sentence), str(path.relative_to(ROOT)), sentence)
        for path in pages()
        for sentence in sentences(path)
    ]
    return sorted((one for one in found if one[0] > longest), reverse=True)


if __name__ == "__main__":
    for count, page, sentence in long_sentences(*map(int, sys.argv[1:])):
        print(f"{count} {page}: {sentence}")
