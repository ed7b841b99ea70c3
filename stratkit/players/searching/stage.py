"""The stage that searches: it improves the policy of each turn's moves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, Game, has_worlds, known_actions
from stratkit.engine.observation import NO_ATTACK
from stratkit.errors import UsageError
from stratkit.games.table import kit_of
from stratkit.models.open_model import BeliefModel, open_model
from stratkit.nets.evaluator import Evaluator
from stratkit.players.player import Floats, Views
from stratkit.players.searching.options import SETUPS_AND, SearchOptions
from stratkit.players.testtime.stages import StageOutput, Turns
from stratkit.search.beliefs import BELIEFS, BeliefSampler, ImportanceResampling, NetworkBelief
from stratkit.search.blueprint import Blueprint
from stratkit.search.decision import Root, Search, SearchResult
from stratkit.search.endgame import EndgameSearch
from stratkit.search.mmd import MMDSearch
from stratkit.search.pimc import PIMC
from stratkit.search.turn import TurnSearch


def _mmd(options: SearchOptions, game: Game, belief: BeliefSampler) -> Search:
    return MMDSearch(
        rollouts=options.rollouts,
        depth=options.plies,
        eta=options.eta,
        tau=options.magnet,
        belief=belief,
        explore=options.explore,
        worlds=options.worlds,
        actions=game.actions_per_ply,
        unit=game.unit,
        largest_return=game.largest_return,
        seconds=options.time,
    )


def _pimc(options: SearchOptions, game: Game, belief: BeliefSampler) -> Search:
    if options.sees == "world" and not game.shows_face_up:
        raise UsageError(f"sees=world: {game.name} has no pieces or stones to show face up")
    return PIMC(
        worlds=options.trees,
        nodes=max(1, options.nodes // options.trees) if options.split else options.nodes,
        belief=belief,
        combine=options.search == "pc-pimc",
        draw=options.pick == "drawn",
        cpuct=options.cpuct,
        noise=options.noise,
        actions=game.actions_per_ply,
        unit=game.unit,
        largest_return=game.largest_return,
        face_up=options.sees == "world",
        seconds=options.time,
    )


def _rm(options: SearchOptions, game: Game, belief: BeliefSampler) -> Search:
    return TurnSearch(
        max_candidates=options.candidates,
        per_unit=options.per_unit,
        samples=options.samples,
        iterations=options.iterations,
        games=options.games,
        depth=options.plies,
        play=options.play,
        largest_return=game.largest_return,
        sharpness=(options.rollout_temperature, options.top_p),
    )


def _endgame(options: SearchOptions, game: Game, belief: BeliefSampler) -> Search:
    if not kit_of(game).hidden_types:
        raise UsageError(f"search=endgame is for Stratego on boards, not for {game.name}")
    return EndgameSearch(
        max_hands=options.hands, eta=options.eta, tau=options.magnet, belief=belief
    )


# By the word of `search=`: how a search of a game is made of its options and a belief.
SEARCHES: dict[str, Callable[[SearchOptions, Game, BeliefSampler], Search]] = {
    "mmd": _mmd,
    "pimc": _pimc,
    "pc-pimc": _pimc,
    "rm": _rm,
    "endgame": _endgame,
}


class SearchStage:
    """Searches the decisions of a game. Those that the search leaves alone keep their policy.

        blueprint   policy and values of the rollouts
        options     which search, with what budget
        exclude     worlds meet what memory excludes, as the network's input does

    A turn without moves of two actions is searched over its legal actions. Where there is no choice
    nothing is searched, nor before as many plies without an attack as `options` ask for.
    `UsageError`: the game cannot be searched so.
    """

    name = "search"

    def __init__(
        self,
        game: Game,
        blueprint: Blueprint,
        options: SearchOptions,
        seed: int,
        exclude: bool = False,
    ) -> None:
        if game.players != 2 and not options.of_turns:
            raise UsageError(f"search={options.search} is for two players, not for {game.name}")
        if options.of_turns and Batch(game, 1).turns()[0] < 0:
            raise UsageError(f"search={options.search}: {game.name} has no simultaneous turns")
        if not options.of_turns and not has_worlds(game):
            raise UsageError(f"search={options.search}: {game.name} has no worlds to search")
        self.game, self.blueprint = game, blueprint
        self.seed, self.exclude = seed, exclude
        self.deploys = options.of_turns
        self.configure(options)

    def configure(self, options: SearchOptions, decisions: int | None = None) -> None:
        """Searches in this way from now on; of so many `decisions` at once, if that is another way
        than before. Turns that have begun by `search=rm` end so. `UsageError` as above."""
        if options.quiet and not kit_of(self.game).hidden_types:
            raise UsageError(f"quiet={options.quiet}: nobody attacks in {self.game.name}")
        if decisions is not None and isinstance(self.blueprint, Evaluator):
            self.blueprint.resize(options.rows(decisions))
        assert options.search is not None
        self.quiet = options.quiet
        before: Search | None = getattr(self, "search", None)
        self.search = SEARCHES[options.search](options, self.game, _belief(options, self.game))
        if isinstance(self.search, TurnSearch) and isinstance(before, TurnSearch):
            self.search.go_on_from(before)

    def forget(self) -> None:
        """The network of the blueprint has got other weights."""
        if isinstance(self.blueprint, Evaluator):
            self.blueprint.forget()
        self.search.forget()

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        """All turns are searched together. `InputError`: a turn has no world."""
        roots, places = [], []
        for row in np.flatnonzero(self._asked(turns.views)).tolist():
            at, moves = _choices(turns, row)
            if len(moves) > 1:
                roots.append(self._root(turns, row, moves, policy[row, at]))
                places.append((row, at))
        out = policy.copy()
        searches: list[SearchResult | None] = [None] * len(turns.views)
        if not roots:
            return StageOutput(out, searches=searches)
        results = self.search(roots, self.blueprint, self.seed)
        for (row, at), one in zip(places, results, strict=True):
            if one is not None:
                out[row, at], searches[row] = one.policy, one
        return StageOutput(out, searches=searches)

    def _asked(self, views: Views) -> npt.NDArray[np.bool_]:
        """Of which views nobody has attacked for long enough, bool [n]."""
        if not self.quiet:
            return np.ones(len(views), bool)
        counts = np.ascontiguousarray(views.observations[:, NO_ATTACK : NO_ATTACK + 2])
        return counts.view("<u2")[:, 0] >= self.quiet

    def _root(self, turns: Turns, row: int, moves: list[tuple[int, ...]], policy: Floats) -> Root:
        track = turns.tracks[row] if self.exclude and turns.tracks else None
        excluded = track.excluded if track and any(track.excluded) else ()
        seen = turns.views.observations[row].tobytes()
        return Root(turns.views.state(row), moves, policy.astype(np.float64), excluded, seen)


def _belief(options: SearchOptions, game: Game) -> BeliefSampler:
    word = options.belief
    if word == "true":
        what = "is for self-play that learns (selfplay --actors): nobody else sees the truth"
        raise UsageError(f"belief=true {what}")
    if word.startswith("setups") and not kit_of(game).hidden_types:
        if word == "setups":
            return BELIEFS["uniform"]  # a preset asks for it in any game
        raise UsageError(f"belief={word} is for Stratego, not for {game.name}")
    if word == "policy" and not _tells_history(game):
        raise UsageError(f"belief={word}: states of {game.name} do not tell how they came about")
    if options.belief_file is None:
        return BELIEFS[word]
    network = NetworkBelief(open_model(options.belief_file).must_be(BeliefModel).evaluator(game))
    of_setups = word.startswith(SETUPS_AND)
    return ImportanceResampling(deployment=True, last=0, base=network) if of_setups else network


def _tells_history(game: Game) -> bool:
    """Whether a state or the views of a game tell how it came about."""
    nothing = np.empty(0, np.int32)
    return Batch(game, 1).histories() is not None or known_actions(game, nothing, 0) is not None


def _choices(turns: Turns, row: int) -> tuple[np.ndarray, list[tuple[int, ...]]]:
    """Where the choices of a turn stand in its policy, and the actions of each."""
    if turns.moves:
        return np.arange(len(turns.moves[row])), list(turns.moves[row])
    legal = np.flatnonzero(turns.views.legal[row])
    return legal, [(action,) for action in legal.tolist()]
