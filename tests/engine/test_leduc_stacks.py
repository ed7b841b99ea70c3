"""Leduc poker of any deck, with bets of the pot and stacks: its rules against a slow twin."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from engine.public import pair_of
from stratkit.engine import Game
from stratkit.errors import InputError
from test_small_games import check_frequencies, play, sights

FOLD, CALL, HALF, POT, ALL_IN = range(5)
STACK = 20


class Twin:
    """One game, from the rules; money is counted in fractions."""

    def __init__(self, ranks: int, suits: int) -> None:
        self.deck = dict.fromkeys(range(ranks), suits)
        self.cards: list[int] = []
        self.paid = [Fraction(1), Fraction(1)]
        self.round: list[int] = []  # its bets
        self.second = self.folded = self.over = False

    def actor(self) -> int:
        if self.over:
            return -2
        return -1 if len(self.cards) < 2 + self.second else len(self.round) % 2

    def legal(self) -> list[int]:
        player = self.actor()
        if player < 0:
            return [] if self.over else [rank for rank, n in self.deck.items() if n]
        facing = self.paid[player] < self.paid[1 - player]
        out = [FOLD, CALL] if facing else [CALL]
        if sum(bet >= HALF for bet in self.round) < 2 and max(self.paid) < STACK:
            out += [bet for bet in (HALF, POT) if self.after(bet) < STACK]
            out.append(ALL_IN)
        return out

    def after(self, bet: int) -> Fraction:
        """What is paid by who calls and bets so much of the pot that there then is."""
        called = max(self.paid)
        return called + 2 * called * {HALF: Fraction(1, 2), POT: Fraction(1)}[bet]

    def apply(self, action: int) -> None:
        player = self.actor()
        if player < 0:
            self.cards.append(action)
            self.deck[action] -= 1
            self.over = self.second and self.paid[0] == STACK
            return
        self.round.append(action)
        if action == FOLD:
            self.folded = self.over = True
        elif action == CALL:
            self.paid[player] = max(self.paid)
            if len(self.round) > 1:
                self.over, self.second, self.round = self.second, True, []
        else:
            self.paid[player] = Fraction(STACK) if action == ALL_IN else self.after(action)

    def payoff(self) -> int:
        """To player 0."""
        if self.folded:
            return int(min(self.paid)) * (1 if self.paid[0] > self.paid[1] else -1)
        strength = [99 if card == self.cards[2] else card for card in self.cards[:2]]
        return int(self.paid[0]) * int(np.sign(strength[0] - strength[1]))


@pytest.mark.parametrize(("ranks", "suits"), [(3, 2), (13, 4), (2, 2), (4, 1)])
def test_bets_and_payoffs_are_those_of_the_rules(ranks: int, suits: int) -> None:
    name, lengths = f"leduc:{ranks}x{suits}", Counter[int]()
    actions, returns = play(name, 600, 1)
    for number, (game, won) in enumerate(zip(actions, returns, strict=True)):
        twin = Twin(ranks, suits)
        seen = sights(name, game) if number < 150 else [None] * (len(game) + 1)
        for action, sight in zip([*game, None], seen, strict=True):
            assert sight is None or (sight[0], sight[1]) == (twin.actor(), twin.legal())
            if action is not None:
                twin.apply(action)
        assert twin.over and twin.payoff() == won
        lengths[len(game)] += 1
    assert {-STACK, STACK, -1, 1} <= set(returns.tolist()) and len(lengths) > 5
    assert max(lengths) <= (Game(name).max_length or 0)


def test_cards_are_dealt_from_the_deck_that_is_left() -> None:
    actions, _ = play("leduc:3x2", 4000, 1)
    deals = {3 * a + b: (1 if a == b else 2) / 15 for a in range(3) for b in range(3)}
    check_frequencies([3 * game[0] + game[1] for game in actions], deals)


def test_who_acts_sees_the_own_card_the_bets_and_nothing_else() -> None:
    line = [CALL, HALF, POT, CALL, 2, ALL_IN]
    games = [sights("leduc:4x2", [1, other, *line]) for other in range(4)]
    mine = [[sight for sight in game if sight[0] == 0] for game in games]
    assert mine[0] == mine[1] == mine[2] == mine[3]
    none, call, half, pot = (list(row) for row in np.vstack([np.zeros(4), np.eye(4)])[:4])
    first, own, public = [*call, *half, *pot, *call], [0, 1, 0, 0], [0, 0, 1, 0]
    expected = [1, 0, *own, *public, *first, *none * 4]
    assert list(games[0][-2][2]) == expected
    every = [sight[2] for game in games for sight in game if sight[0] == 1]
    assert len(every) == len(set(every))


@pytest.mark.parametrize("name", ["leduc:2x2", "leduc:6x2"])
def test_it_has_public_belief_states(name: str) -> None:
    pair = pair_of(name)  # raises if hands and information sets do not correspond
    assert pair.public.game.hands == int(name[6]) and pair.tree.game.unit == STACK


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("leduc:", "as in leduc:13x4"),
        ("leduc:3", "as in leduc:13x4"),
        ("leduc:3x2x", "as in leduc:13x4"),
        ("leduc:1x4", "2 to 13 ranks"),
        ("leduc:14x4", "2 to 13 ranks"),
        ("leduc:3x5", "1 to 4 suits"),
        ("leduc:2x1", "three cards at least"),
    ],
)
def test_other_decks_are_refused(name: str, wrong: str) -> None:
    with pytest.raises(InputError, match=wrong):
        Game(name)
