"""A person's opponent goes on in a resumed match as it would have without the break."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from players.habits import Habits
from players.sharp import sharp_player
from stratkit.engine import Game
from stratkit.engine.stratego import variant
from stratkit.humans.draws import DrawOffers
from stratkit.humans.replayed_opponent import ReplayedOpponent
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import AGREED, Table
from stratkit.players.player import Decision, Player, Views, Watcher
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer

GAMES = 4


class Expecting(Player):
    """Plays the first legal action, and expects this value, or nothing."""

    def __init__(self, value: float | None) -> None:
        self.value = value

    def act(self, views: Views) -> Decision:
        return Decision(views.legal.argmax(axis=1).astype(np.int32), np.ones(1, np.float32))

    def act_with_values(self, views: Views) -> Decision:
        decision = self.act(views)
        if self.value is None:
            return decision
        return dataclasses.replace(decision, values=np.array([self.value], np.float32))


class Offering(Expecting):
    """Offers a draw at its third action of play."""

    def __init__(self, draws: DrawOffers, offer_at: int) -> None:
        super().__init__(None)
        self.draws, self.offer_at = draws, offer_at

    def act(self, views: Views) -> Decision:
        if int(views.numbers[0]) == self.offer_at:
            self.draws.offer(0)
        return super().act(views)


@pytest.mark.parametrize(("value", "agrees"), [(-0.1, True), (0.0, True), (0.1, False),
                                               (None, False)])  # fmt: skip
def test_a_draw_is_answered_by_the_value(value: float | None, agrees: bool) -> None:
    """At its next turn; nothing is kept of an agreement, and a refusal is told once."""
    game, draws, kept = Game("nano"), DrawOffers(), list[int]()
    first = 2 * variant("nano").pieces
    other = ReplayedOpponent(
        Expecting(value), {}, lambda number, action: kept.append(action), "games", draws, 1
    )
    seatings = Seatings(iter([Seating(0, (0, 1))]))
    table = Table(game, [Offering(draws, first), other], seatings, 1, max_actions=first + 40)
    [finished] = [ended for ended in table.rounds() if ended]
    assert (finished.notes == {0: AGREED}) == agrees
    if agrees:
        assert finished.plies.tolist() == [1] and finished.episodes.returns.tolist() == [[0, 0]]
        assert len(kept) == variant("nano").pieces
    else:
        assert draws.take_refusal(0) and not draws.take_refusal(0)
        assert not draws.is_offered_to(1)


class Remembering(PostprocessedPlayer):
    """A player with memory; `decided` has each action and its probability."""

    def __init__(self, game: Game) -> None:
        asked = PostProcessing(memory="on", repeat_threats=False, temperature=4.0)
        super().__init__(sharp_player(game).evaluator, game, 1, asked)
        self.decided: list[list[tuple[int, float]]] = [[] for _ in range(GAMES)]

    def act(self, views: Views) -> Decision:
        decision = super().act(views)
        turn = int(decision.actions[0]), float(decision.mu[0])
        self.decided[int(views.games[0])].append(turn)
        return decision


def decided(game: Game, before: Mapping[int, Sequence[int]]) -> list[list[tuple[int, float]]]:
    """What the player decides in each game after what it has played `before`."""
    player = Remembering(game)
    opponent = ReplayedOpponent(player, before, lambda number, action: None, "games")
    seatings = Seatings(Seating(number, (0, 1)) for number in range(GAMES))
    for _ in Table(game, [Habits(game), opponent], seatings, 1, max_actions=160).rounds():
        pass
    return player.decided


def test_it_knows_of_its_turns_before_the_break() -> None:
    game = Game("mini")
    assert isinstance(Remembering(game), Watcher)  # it is asked for nothing that is played again
    whole = decided(game, {})
    for cut in (28, 52):
        before = {number: [a for a, _ in turns[:cut]] for number, turns in enumerate(whole)}
        assert decided(game, before) == [turns[cut:] for turns in whole]
