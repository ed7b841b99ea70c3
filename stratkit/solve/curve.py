"""What exploiters of one player have won, by steps: as a table for people, and as JSON for programs
(formats/exploiters.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from stratkit.errors import named

FORMAT, VERSION = "exploiters", 1
DIGITS = 8  # after the point


@dataclass(frozen=True)
class Measurement:
    """What an exploiter won in games against the frozen player.

    seed, step  of the exploiter
    fresh       these games have chosen nothing
    games       how many
    score       won games and half of the drawn ones, of all
    value       mean return, each seat counting alike
    low, high   ends of its 95 % interval
    by_seat     its mean return as player 0, and as player 1
    player      the exploiter's file, a PLAYER
    """

    seed: int
    step: int
    fresh: bool
    games: int
    score: float
    value: float
    low: float
    high: float
    by_seat: tuple[float, float]
    player: str


@dataclass(frozen=True)
class Mark:
    """What was measured after so many steps.

    step     of every exploiter
    seeds    what each exploiter wins
    best     what the best one until then wins in fresh games
    seconds  of the CPU that each exploiter has learned for, self-play included
    """

    step: int
    seeds: Sequence[Measurement]
    best: Measurement
    seconds: Sequence[float]


@dataclass(frozen=True)
class LearnedReport:
    """All that was learned of one player.

    game     its name
    player   the PLAYER
    marks    in the order of their steps
    seconds  of the CPU, of everything
    exact    the player's exploitability, where the game is small enough
    """

    game: str
    player: str
    marks: Sequence[Mark]
    seconds: float
    exact: float | None

    @property
    def bound(self) -> Measurement:
        """What bounds NashConv: twice its `low`."""
        return self.marks[-1].best

    def json(self) -> dict[str, Any]:
        """The report as formats/exploiters.md describes it."""
        return {
            "stratkit": FORMAT,
            "version": VERSION,
            "game": self.game,
            "policy": self.player,
            "exact_exploitability": None if self.exact is None else round(self.exact, DIGITS),
            "nash_conv_at_least": round(max(0.0, 2 * self.bound.low), DIGITS),
            "cpu_seconds": round(self.seconds, 2),
            "marks": [
                {
                    "step": mark.step,
                    "exploiters": [
                        {**_json(one), "cpu_seconds": round(seconds, 2)}
                        for one, seconds in zip(mark.seeds, mark.seconds, strict=True)
                    ],
                    "best": _json(mark.best),
                }
                for mark in self.marks
            ],
        }

    def text(self) -> str:
        """A line on the games, a table, and the bounds."""
        head = ["steps", "exploiter", "games", "score", "value", "low", "high"]
        rows = [[*head, "first", "second", "CPU min"]]
        for mark in self.marks:
            step, minutes = f"{mark.step:,}", [f"{x / 60:.1f}" for x in mark.seconds]
            for one, spent in zip(mark.seeds, minutes, strict=True):
                rows.append([step, f"seed {one.seed}", *_numbers(one), spent])
            if mark.best.fresh:
                best = f"best: seed {mark.best.seed} at {mark.best.step:,}"
                rows.append([step, best, *_numbers(mark.best), ""])
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                word.ljust(w) if i == 1 else word.rjust(w)
                for i, (word, w) in enumerate(zip(row, width, strict=True))
            ).rstrip()
            for row in rows
        ]
        title = f"{self.game}: learned best responses to {named(self.player)}; 95 % intervals"
        return "\n".join([title, "", *lines, "", *self._bounds()])

    def _bounds(self) -> Iterator[str]:
        bound = self.bound
        low = max(0.0, bound.low)
        yield f"exploitability is at least {low:.4f}, NashConv {2 * low:.4f} (97.5 %)"
        if self.exact is not None:
            yield f"exactly it is {self.exact:.6f}{self._part(bound)}"
        yield f"{self.seconds / 60:.1f} CPU minutes in all"

    def _part(self, bound: Measurement) -> str:
        """How much of the exact number the best exploiter has found."""
        if not self.exact or self.exact < 1e-9:
            return ""
        part, low, high = (100 * x / self.exact for x in (bound.value, bound.low, bound.high))
        return f"; the best exploiter won {part:.0f} % of it ({low:.0f} to {high:.0f})"


def _numbers(one: Measurement) -> list[str]:
    numbers = one.value, one.low, one.high, *one.by_seat
    return [str(one.games), f"{100 * one.score:.1f} %", *(f"{x + 0.0:.4f}" for x in numbers)]


def _json(one: Measurement) -> dict[str, Any]:
    numbers = {
        name: round(getattr(one, name), DIGITS) for name in ("score", "value", "low", "high")
    }
    by_seat = [round(x, DIGITS) for x in one.by_seat]
    about = {"seed": one.seed, "step": one.step, "player": one.player, "fresh": one.fresh}
    return {**about, "games": one.games, **numbers, "by_seat": by_seat}
