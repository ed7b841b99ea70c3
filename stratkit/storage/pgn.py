"""Portable Game Notation: the tags of each game, and how its moves end. Moves are not read."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from stratkit.errors import InputError

ENDINGS = ("1-0", "0-1", "1/2-1/2", "*")

_NAME = r"\s*\[\s*([A-Za-z0-9][\w+#=:-]*)\s+"
_TAG = re.compile(_NAME + r'"((?:[^"\\]|\\.)*)"\s*\]')
TAG_LINE = re.compile(_NAME + r'"(.*)"\s*\]\s*$')
_TOKEN = re.compile(r"[{};()]|[^\s{};()]+")


@dataclass
class PgnGame:
    """A game in Portable Game Notation.

    line      on which it begins
    tags      by name
    ending    the word that ended its moves, or nothing
    has_text  there was text behind the tags
    """

    line: int
    tags: dict[str, str] = field(default_factory=dict)
    ending: str = ""
    has_text: bool = False

    @property
    def is_one(self) -> bool:
        """Whether this is a game, and not what stands between games."""
        return bool(self.tags or (self.ending and self.has_text))


def pgn_games(lines: Iterator[tuple[int, str]], name: str) -> Iterator[PgnGame]:
    """The games in numbered lines of the file `name`. A game ends with its ending, with the tags of
    the next game, or with the file. Raises `InputError` for a comment that does not end."""
    game, text = PgnGame(1), _MoveText()
    for number, line in lines:
        tags = [] if text.comment or line.startswith("%") else _tags(line)
        if tags:
            if game.has_text or any(tag in game.tags for tag, _ in tags):
                if game.is_one:
                    yield game
                game = PgnGame(number)
            text.depth = 0
            game.line = game.line if game.tags else number
            game.tags.update(tags)
        elif text.comment or not line.startswith("%"):
            for word in text.words(line, number):
                if word not in ENDINGS:
                    game.has_text = True
                    continue
                game.ending = word
                if game.is_one:
                    yield game
                game = PgnGame(number)
    if text.comment:
        raise InputError("a comment that does not end", file=name, where=f"line {text.comment}")
    if game.is_one:
        yield game


def _tags(line: str) -> list[tuple[str, str]]:
    """The tags of a line of tags; none: it is another one. A tag alone on its line may have quotes
    in its text that are not escaped."""
    match = TAG_LINE.match(line)
    if not match:
        return []
    several = _TAG.findall(line)
    pairs = several if not _TAG.sub("", line).strip() else [match.groups()]
    return [(tag, re.sub(r'\\(["\\])', r"\1", text)) for tag, text in pairs]


class _MoveText:
    """Finds what stands outside of comments and variations. `comment`: the line on which one
    began that goes on (0: none); `depth`: in how many variations we are."""

    def __init__(self) -> None:
        self.comment = self.depth = 0

    def words(self, line: str, number: int) -> Iterator[str]:
        """The words of a line that belong to the game itself."""
        at = 0
        while True:
            if self.comment:
                at = line.find("}", at) + 1
                if not at:
                    return
                self.comment = 0
            match = _TOKEN.search(line, at)
            if match is None or match[0] == ";":  # a comment to the end of the line
                return
            at = match.end()
            if match[0] == "{":
                self.comment = number
            elif match[0] in "()":
                self.depth = max(0, self.depth + (1 if match[0] == "(" else -1))
            elif match[0] != "}" and not self.depth:
                yield match[0]
