"""What a person said and the other one played in each game of a match, kept in a file beside its
record: it leads to where the match was left, and back to an earlier turn."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import IO

from stratkit.errors import InputError
from stratkit.regular import open_regular

LED = "led "  # a game was led here: after so many plies of another one the person goes on
LEVEL = "level "  # the level of the opponent of a game
SEND = "send"  # the orders of a phase in which nothing is ordered
CLOCK = "clock "  # of player 0 or 1, what is left after its last move, in seconds
UNDO = "undo"  # the person's last word, and what came after it, are taken back
# The last ply of the other one, who is a person, too, and what came after it, are taken back.
UNDO_OTHER = "undo theirs"
ACTIONS = 2  # of a ply
PLAYED = "> "  # before an action of the other one, which no word of a person begins with
_KEPT = re.compile(f"([0-9]{{1,18}}) (?:{PLAYED}([0-9]{{1,9}})|(?!{PLAYED})(.*))\n")
_FACT = re.compile(
    f"{LED}(?P<led>[0-9]{{1,9}})|{LEVEL}(?P<level>[0-9]{{1,9}})"
    rf"|{CLOCK}(?P<player>[01]) (?P<left>[0-9]{{1,9}}\.[0-9])"
)
_TORN = re.compile("[0-9]{1,18}( |$)")


class Words:
    """By game: what was `said`, the actions that the other one `played`, how often something was
    `undone`, how many plies the game was `led`, and the opponent's level, if it was chosen. By
    player and game: what its clock had left. `path` has them, and takes more once it is opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.said: dict[int, list[str]] = {}
        self.played: dict[int, list[int]] = {}
        self.undone: Counter[int] = Counter()
        self.led: dict[int, int] = {}
        self.levels: dict[int, int] = {}
        self.clocks: tuple[dict[int, float], dict[int, float]] = ({}, {})
        self._before: dict[int, list[int]] = {}  # what was played before each word
        self._whole = 0  # bytes of the file's whole lines
        self.stream: IO[str] | None = None

    def say(self, game: int, word: str) -> None:
        """The person has said a word that counts."""
        self._write(f"{game} {word}")
        self._take_word(game, word)

    def play(self, game: int, action: int) -> None:
        """The other one has played."""
        self._write(f"{game} {PLAYED}{action}")
        self.played.setdefault(game, []).append(action)

    def lead(
        self, game: int, plies: int, said: list[str], played: list[int], before: list[int]
    ) -> None:
        """A game begins with these words and actions, so many plies. Of the actions so many came
        before each word. A game that has begun stays as it is."""
        if game in self.said or game in self.played:
            return
        done = 0
        for word, count in zip(said, before, strict=True):
            for action in played[done:count]:
                self.play(game, action)
            done = count
            self.say(game, word)
        for action in played[done:]:
            self.play(game, action)
        self.say(game, f"{LED}{plies}")

    def _take_word(self, game: int, word: str) -> None:
        if word.startswith((LED, LEVEL, CLOCK)):
            self._take_fact(game, word)
            return
        said, before = self.said.setdefault(game, []), self._before.setdefault(game, [])
        if word == UNDO_OTHER and said:
            said.pop()
            played = self.played.get(game, [])
            del played[before.pop() :], played[-ACTIONS:]
            self.undone[game] += 1
        elif word != UNDO:
            said.append(word)
            before.append(len(self.played.get(game, ())))
        elif said:
            said.pop()
            del self.played.get(game, [])[before.pop() :]
            self.undone[game] += 1

    def _take_fact(self, game: int, word: str) -> None:
        """Not the person's own word."""
        found = _FACT.fullmatch(word)
        if found is None:
            raise InputError("not a word of a game", file=self.path, text=f"{game} {word}")
        if found["led"]:
            self.led[game] = int(found["led"])
        elif found["level"]:
            self.levels[game] = int(found["level"])
        else:
            self.clocks[int(found["player"])][game] = float(found["left"])

    def _write(self, line: str) -> None:
        assert self.stream is not None
        self.stream.write(f"{line}\n")
        self.stream.flush()

    def read(self) -> None:
        """Reads the file; an unterminated last line is left out. `InputError`: it holds something
        else, or is a link."""
        if self.path == os.devnull:
            return
        if os.path.islink(self.path):
            raise InputError("a symbolic link, where words of a person are kept", file=self.path)
        try:
            with open_regular(self.path) as file:
                data = file.read()
            for line in io.TextIOWrapper(io.BytesIO(data), encoding="utf-8"):
                self._take_line(line)
            self._whole = data.rfind(b"\n") + 1
        except FileNotFoundError:
            pass
        except UnicodeDecodeError:
            raise InputError("not the words of a person: not UTF-8", file=self.path) from None

    @contextlib.contextmanager
    def opened(self) -> Iterator[None]:
        """Takes more words, from behind the last whole line that was read."""
        with open(self.path, "a", encoding="utf-8") as self.stream:
            if self.path != os.devnull:
                self.stream.truncate(self._whole)
            yield

    def _take_line(self, line: str) -> None:
        found = _KEPT.fullmatch(line)
        if found and found[2]:
            self.played.setdefault(int(found[1]), []).append(int(found[2]))
        elif found:
            self._take_word(int(found[1]), found[3])
        elif line.endswith("\n") or not _TORN.match(line):
            raise InputError("not a word of a game", file=self.path, text=line.rstrip("\n"))

    def forget(self) -> None:
        """An earlier match's go, with the file."""
        if self.path == os.devnull:
            return
        self.said.clear()
        self.played.clear()
        self.undone.clear()
        self.led.clear()
        self.levels.clear()
        for clock in self.clocks:
            clock.clear()
        self._before.clear()
        self._whole = 0
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
