"""How a move came about, as text for a player: the board as the side to move sees it, if the game
draws one, and for each move the network's policy and what every stage left of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from stratkit.engine import Game
from stratkit.games.table import kit_of
from stratkit.players.player import Explanation

MIN_SHOWN = 0.005  # less probable moves are only counted
NAMES = 26  # characters for a move, at least

# Why each stage drops moves.
REASONS = {
    "search": "worth too little",
    "temperature": "too rare",
    "threshold": "too rare",
    "quanta": "nothing left to give",
    "threats": "a pointless threat",
    "bounds": "a mistake",
}


def text(
    explanation: Explanation,
    game: Game,
    most: int | None = None,
    board: bool = True,
    numbered: bool = True,
) -> str:
    """The explanation, lines ended by a line feed: all moves but rare ones, or the `most` probable
    ones, under the board or without it; with the number of the game or without it."""
    explanation = _without_idle_search(explanation)
    turn = kit_of(game).turn(explanation.side, explanation.packed)
    first, last = explanation.stages[0][1], explanation.stages[-1][1]
    least = MIN_SHOWN if most is None else 0
    order = [int(at) for at in np.lexsort((-first, -last)) if max(first[at], last[at]) >= least]
    order = order[:most]
    names = [turn.name(explanation.moves[at]) for at in order]
    width = max([NAMES, *(len(name) + 1 for name in names)])
    lines = [_heading(explanation, numbered), _columns(explanation, turn.column, width)]
    for at, named in zip(order, names, strict=True):
        lines.append(f"{named:{width}}{_numbers(explanation, at)}")
    if more := len(first) - len(order):
        rest = float(np.delete(first, order).sum())
        lines.append(f"{more} more: {100 * rest:.1f} % of the network's policy")
    return (turn.board if board else "") + "".join(f"{line.rstrip()}\n" for line in lines)


def _without_idle_search(explanation: Explanation) -> Explanation:
    """The same without the column of a search that left this turn alone."""
    network, *others = explanation.stages
    if explanation.search or not others or others[0][0] != "search":
        return explanation
    idle = np.array_equal(network[1], others[0][1])  # one of deployment has no result
    return replace(explanation, stages=[network, *others[1:]]) if idle else explanation


def _heading(explanation: Explanation, numbered: bool) -> str:
    parts = [f"game {explanation.game + 1}"] if numbered else []
    if explanation.value is not None:
        parts.append(f"value {explanation.value:+.2f}")
    if (result := explanation.search) is not None:
        size = f"effective sample size {result.effective:.0f} of {result.candidates}"
        parts.append(f"search in {result.worlds} worlds ({size})")
    return f"{', '.join(parts)}; in per cent:"


def _columns(explanation: Explanation, first: str, width: int) -> str:
    names = "".join(f"{name:>11}" for name, _ in explanation.stages)
    return f"{first:{width}}{names}"


def _numbers(explanation: Explanation, at: int) -> str:
    """What each stage left of the probability of a move, and why it left nothing."""
    numbers, gone = "", ""
    for number, (name, policy) in enumerate(explanation.stages):
        before = explanation.stages[max(number - 1, 0)][1][at]
        numbers += f"{100 * policy[at]:11.1f}" if policy[at] > 0 else f"{'-':>11}"
        if number and before > 0 and policy[at] == 0:
            gone = f"  {REASONS[name]}"
    if explanation.search is not None:
        q, error = explanation.search.q[at], explanation.search.error[at]
        gone += f"  q {q:+.3f}" if np.isfinite(q) else ""
        gone += f" +- {error:.3f}" if np.isfinite(error) else ""
        if (visits := explanation.search.visits) is not None:
            gone += f"  visits {visits[at]:.1f}"
    bounds = explanation.bounds
    if bounds is not None and np.isfinite(bounds[at]):
        gone += f"  (at best {bounds[at]:+.2f})"
    return f"{numbers}{gone}"
