"""A network's policy, post-processed (Perolat et al. 2022, supplement, "Test Time Improvements"),
as a player."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from stratkit.engine import Game, sample
from stratkit.players.player import Decision, Explanation, Floats, Games, Player, Sides, Views
from stratkit.players.testtime.action_policy import ActionPolicy
from stratkit.players.testtime.move_policy import MovePolicy
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.turn_policy import Log, SearchTargets, TurnPolicy
from stratkit.search.blueprint import PlayableBlueprint

if TYPE_CHECKING:
    from stratkit.players.searching.stage import SearchStage


class PostprocessedPlayer(Player):
    """Plays a game by a network's policy, post-processed.

    Games with programs are played in threads, and think side by side: what is remembered belongs to
    a seat, and one thread has its game.

    evaluator  the network
    options    which post-processing
    log        called with the explanation of each turn
    search     a stage that comes first, and improves the policy of play, or of deployment
    """

    def __init__(
        self,
        evaluator: PlayableBlueprint,
        game: Game,
        seed: int,
        options: PostProcessing,
        log: Log | None = None,
        search: SearchStage | None = None,
    ) -> None:
        self.evaluator, self.game, self.seed = evaluator, game, seed
        self.options, self.search = options, search
        self.random_ties = options.ties == "random"
        kind: type[TurnPolicy] = MovePolicy if game.actions_per_ply > 1 else ActionPolicy
        self.turns = kind(evaluator, game, seed, options, log, search)

    def begin(self, games: Games, sides: Sides) -> None:
        for seat in zip(games.tolist(), sides.tolist(), strict=True):
            self.turns.begin(seat)

    def end(self, games: Games, sides: Sides) -> None:
        for seat in zip(games.tolist(), sides.tolist(), strict=True):
            self.turns.end(seat)

    def watch(self, views: Views) -> None:
        """Follows games on which others decide, where memory needs that."""
        self.turns.watch(views)

    def act(self, views: Views) -> Decision:
        return self._act(views, values=False)

    def act_with_values(self, views: Views) -> Decision:
        """The same decisions with the network's values."""
        return self._act(views, values=True)

    def policy(self, views: Views) -> Floats:
        """float32 [n, actions]: the post-processed policy."""
        return self.turns.policy(views, SearchTargets(len(views)), values=False)[0]

    def explained(self, log: Log) -> PostprocessedPlayer:
        """The same player, which also logs how each of its turns came about."""
        return PostprocessedPlayer(
            self.evaluator, self.game, self.seed, self.options, log, self.search
        )

    def explain(self, views: Views) -> list[Explanation]:
        """How it would play these turns; values are the network's."""
        turns: list[Explanation] = []
        self.explained(turns.append).policy(views)
        values = self.evaluator.values(views.observations).tolist()
        value_of = dict(zip(views.games.tolist(), values, strict=True))
        return [replace(turn, value=value_of[turn.game]) for turn in turns]

    def _act(self, views: Views, values: bool) -> Decision:
        targets = SearchTargets(len(views))
        policy, expected = self.turns.policy(views, targets, values)
        chosen = sample(policy, views.legal, self.seed, views.games, views.numbers)
        if self.search is None:
            return Decision(*chosen, expected)
        return Decision(*chosen, expected, targets=targets.column, root_value=targets.values)
