"""A person's opponent goes on in a resumed match as it would have without the break."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from players.habits import Habits
from players.sharp import sharp_player
from stratkit.engine import Game
from stratkit.humans.replayed_opponent import ReplayedOpponent
from stratkit.play.seating import Seating, Seatings
from stratkit.play.table import Table
from stratkit.players.player import Decision, Views, Watcher
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.pipeline import PostprocessedPlayer

GAMES = 4


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
