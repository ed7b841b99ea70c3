"""README, manual and formats have no sentence that must be read twice."""

from __future__ import annotations

import pathlib
import re

import pytest

from prose import LONGEST, long_sentences, pages, sentences, words

# Sentences of more than LONGEST words, on what users read and on lab pages. These numbers may only
# shrink. What is left are mostly lists, in pages of formats.
ALLOWED = 19
ALLOWED_IN_BENCH = 15
MOST = 40  # words of any sentence


def test_no_sentence_is_long() -> None:
    found = long_sentences()
    of_bench = [one for one in found if one[1].startswith("bench/")]
    others = [one for one in found if one not in of_bench]
    for some, allowed in ((others, ALLOWED), (of_bench, ALLOWED_IN_BENCH)):
        assert len(some) <= allowed, "\n".join(f"{n} words in {page}: {s}" for n, page, s in some)
    assert found[0][0] <= MOST and LONGEST == 25


def test_every_page_is_read() -> None:
    counts = {path.name: len(list(sentences(path))) for path in pages()}
    assert {"README.md", "episodes.md", "train.1", "stratkit.7"} <= set(counts)
    assert min(counts.values()) > 5 and sum(counts.values()) > 1000


MARKDOWN = """# A heading

One `of two` words
here (see [a page](https://x.y/z)). and three, e.g. these (Perolat et al. 2022).

    code is not read. At all.

```sh
nor is this
```
- An item
- another one. With two!

| cell | three words here |
"""
ROFF = """.TH X 1
.SH NAME
x \\- makes things
.SH DESCRIPTION
It is
.B bold text
and
.BR another (5),
which goes on. Then it ends.
.TP
.BI \\-\\-option " N"
What it does.
.nf
an example
.fi
"""


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("x.md", MARKDOWN, [2, 7, 8, 2, 2, 2, 1, 3]),
        ("x.1", ROFF, [3, 9, 3, 3]),
    ],
)
def test_what_is_a_sentence(
    name: str, text: str, wanted: list[int], tmp_path: pathlib.Path
) -> None:
    (tmp_path / name).write_text(text.replace("\\\\", "\\"))
    counts = map(words, sentences(tmp_path / name))
    assert [count for count in counts if count] == wanted


def test_links_lead_to_pages_and_headings() -> None:
    texts = {path: path.read_text() for path in pages() if path.suffix == ".md"}
    for path, text in texts.items():
        for name, heading in re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)", text):
            target = path if not name else (path.parent / name).resolve()
            assert "://" in name or target.exists(), f"{path}: {name}"
            if heading and target in texts:
                assert heading in headings(texts[target]), f"{path}: {name}#{heading}"


def headings(text: str) -> set[str]:
    """The anchors that a page of Markdown has."""
    lines = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}
