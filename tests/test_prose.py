"""No sentence of README, BENCHMARKS, formats and manual is over 40 words; most are short."""

from __future__ import annotations

import pathlib
import statistics

import pytest

import prose

LONG = " ".join(["word"] * (prose.LIMIT + 1))


@pytest.mark.parametrize("path", prose.pages(), ids=lambda p: str(p.relative_to(prose.ROOT)))
def test_no_sentence_is_too_long(path: pathlib.Path) -> None:
    assert [text for count, text in prose.lengths(path) if count > prose.LIMIT] == []


def test_most_sentences_keep_the_rule() -> None:
    for folder in ("formats", "bench", "man", ""):
        found = [path for path in prose.pages() if path.parent == prose.ROOT / folder]
        counts = [count for path in found for count, _ in prose.lengths(path, cells=False)]
        assert len(counts) > 50, folder
        assert statistics.quantiles(counts, n=10)[-1] <= prose.RULE, folder


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "{}.\n"),
        ("a.md", "Short. {}: and more.\n\nShort.\n"),
        ("a.md", "- item\n- {}\n"),
        ("a.md", "| a | {} |\n"),
        ("a.1", ".SH X\n{}.\n"),
        ("a.1", ".TP\n.B tag\n{}\n.BR more (1),\nand the rest.\n"),
    ],
)
def test_a_long_sentence_is_found(tmp_path: pathlib.Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text.format(LONG.replace(" w", "\nw", 5 * (name == "a.1"))))
    assert max(count for count, _ in prose.lengths(tmp_path / name)) > prose.LIMIT


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.md", "Code:\n\n    {}\n"),
        ("a.md", "```sh run\n{}\n```\n"),
        ("a.md", "One `{}` word.\n"),
        ("a.1", ".TP\n.B {}\ntext\n"),
        ("a.1", ".nf\n{}\n.fi\n"),
    ],
)
def test_code_is_no_sentence(tmp_path: pathlib.Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text.format(LONG))
    assert max([count for count, _ in prose.lengths(tmp_path / name)], default=0) < 10


def test_sentences_end_where_they_end(tmp_path: pathlib.Path) -> None:
    page = tmp_path / "a.md"
    page.write_text("One two. Three `a. b`\nfour (five. Six). [Seven](eight.md) 1.5 nine!\n")
    assert [count for count, _ in prose.lengths(page)] == [2, 4, 1, 3]
