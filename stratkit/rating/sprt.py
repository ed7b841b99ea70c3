"""The sequential test of one player against another, and the Elo between two players.

Scores come as counts of equally spaced outcomes from 0 to 1: of games [lost, drawn, won], or of
pairs of games, whose scores 0, 1/2, 1, 3/2, 2 make five (the *pentanomial* model: games of a pair
share their setups, so only pairs are independent of each other).

The test is the generalised sequential probability ratio test with logistic Elo that fishtest uses:
the likelihood ratio between the two most likely distributions whose means are the scores expected
under elo0 and under elo1 (M. Van den Bergh, "Comments on normalized Elo" and fishtest's LLRcalc).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from stratkit.errors import UsageError, nearest
from stratkit.frozen import frozen

KEYS = ("elo0", "elo1", "alpha", "beta")
RARE = 1e-3  # counts of an outcome that never came up, so that no logarithm is infinite
HALVINGS = 50  # of an interval that holds the answer


@frozen()
class Sprt:
    """A test of elo0 (H0) against elo1 (H1), which errs with the probabilities alpha (H1 is
    accepted though H0 holds) and beta."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05

    @property
    def bounds(self) -> tuple[float, float]:
        """H0 is accepted at or below the first, H1 at or above the second."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Sequence[float]) -> float:
        """The logarithm of the likelihood ratio; 0 before the first outcome."""
        if not sum(counts):
            return 0.0
        counts = [count or RARE for count in counts]
        total = sum(counts)
        outcomes = [index / (len(counts) - 1) for index in range(len(counts))]
        shares = [count / total for count in counts]
        first, second = (
            most_likely(outcomes, shares, expected_score(elo)) for elo in (self.elo0, self.elo1)
        )
        logs = (p * math.log(b / a) for p, a, b in zip(shares, first, second, strict=True))
        return total * sum(logs)

    def decision(self, counts: Sequence[float]) -> int | None:
        """0: H0 is accepted, 1: H1 is, None: go on."""
        ratio, (low, high) = self.ratio(counts), self.bounds
        return 0 if ratio <= low else 1 if ratio >= high else None


def parse_sprt(text: str) -> Sprt:
    """Reads `elo0=0,elo1=20[,alpha=.05,beta=.05]`; `UsageError` says what is wrong."""
    values: dict[str, float] = {}
    for word in text.split(","):
        key, equals, value = word.partition("=")
        if not equals or key not in KEYS or key in values:
            what = f"key=value is needed, with each of the keys {', '.join(KEYS)} once"
            raise UsageError(what + nearest(key, KEYS), where="--sprt", text=word)
        try:
            values[key] = float(value)
        except ValueError:
            raise UsageError("no number", where="--sprt", text=word) from None
    if "elo0" not in values or "elo1" not in values:
        raise UsageError("elo0 and elo1 are needed", where="--sprt", text=text)
    test = Sprt(**values)
    if not -2000 <= test.elo0 < test.elo1 <= 2000:
        what = "elo0 must be less than elo1, both from -2000 to 2000"
        raise UsageError(what, where="--sprt", text=text)
    if not (0 < test.alpha < 0.5 and 0 < test.beta < 0.5):
        raise UsageError("alpha and beta are between 0 and 0.5", where="--sprt", text=text)
    return test


def most_likely(outcomes: list[float], shares: list[float], mean: float) -> list[float]:
    """The distribution with this mean under which the observed `shares` are most likely: each
    share divided by 1 + x (outcome - mean), for the x that gives that mean."""
    low, high = -1 / (outcomes[-1] - mean), 1 / (mean - outcomes[0])
    weights = [(p * (a - mean), a - mean) for p, a in zip(shares, outcomes, strict=True)]
    for _ in range(HALVINGS):
        x = (low + high) / 2
        if sum([weight / (1 + x * distance) for weight, distance in weights]) > 0:
            low = x  # the sum falls as x grows
        else:
            high = x
    return [p / (1 + x * (a - mean)) for p, a in zip(shares, outcomes, strict=True)]


def expected_score(elo: float) -> float:
    """The score per game that a player is expected to reach who is `elo` points stronger."""
    return 1 / (1 + 10 ** (-elo / 400))


def elo_of(score: float) -> float:
    """The inverse of `expected_score`; infinite for 0 and 1."""
    if not 0 < score < 1:
        return math.copysign(math.inf, score - 0.5)
    return -400 * math.log10(1 / score - 1)
