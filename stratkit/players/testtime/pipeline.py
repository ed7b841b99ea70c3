"""A network's policy, post-processed (Perolat et al. 2022, supplement, "Test Time Improvements").

A move is two actions, but a move is what is post-processed: when it begins, the policy of the
second action is evaluated for every piece. The products are the policy of whole moves, and every
stage works on that. Selecting a piece then has the sum of its moves' probabilities, and its
destination what is left of it. The two actions multiply to exactly what the stages have decided,
and a piece is never selected whose every destination was dropped.

With `per=action` temperature, threshold and quanta are of the piece, and then of its destination,
as in the paper; the stages behind them still see whole moves.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stratkit.arrays import Bools, Bytes, Float64s, Int64s
from stratkit.engine import Game, sample
from stratkit.nets.evaluator import Evaluator
from stratkit.players.player import (
    Decision,
    Explanation,
    Floats,
    Games,
    Moves,
    Player,
    Sides,
    Views,
)
from stratkit.players.testtime.inputs import ObservationEditor
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.plans import MovePlan, split
from stratkit.players.testtime.stages import Stage, Turns, move_stages, policy_stages
from stratkit.players.testtime.tracking import GameTrack, Tracker
from stratkit.players.testtime.value_bounds import ValueBounds
from stratkit.search.blueprint import PlayableBlueprint
from stratkit.search.decision import SearchResult
from stratkit.storage.columns import PolicyTargets

if TYPE_CHECKING:
    from stratkit.players.searching.stage import SearchStage

Log = Callable[[Explanation], None]


class SearchTargets:
    """What networks are to learn of the search of n views: of each a policy of single actions and
    a value, or nothing."""

    def __init__(self, n: int) -> None:
        self.policies: list[tuple[npt.ArrayLike, npt.ArrayLike] | None] = [None] * n
        self.values = np.full(n, np.nan, np.float32)

    def note(self, row: int, actions: npt.ArrayLike, policy: npt.ArrayLike, value: float) -> None:
        """Sets the target of a view: a policy over some actions, and a value."""
        self.policies[row], self.values[row] = (actions, policy), value

    @property
    def column(self) -> PolicyTargets:
        """The policies as a column of episodes."""
        return PolicyTargets.of(self.policies)


@dataclass
class NetworkInput:
    """What the network is shown of n views.

    packed  uint8 [n, B], with eagerness
    pub     public information as in `expand`; None: that of `packed`
    tracks  [n] what is kept of each view's game, or None
    """

    packed: Bytes
    pub: Floats | None
    tracks: list[GameTrack | None]


class PostprocessedPlayer(Player):
    """Plays a game by a network's policy, post-processed.

        evaluator  the network
        options    which post-processing
        log        called with the explanation of each turn
        search     a stage that comes first, and improves the policy of play, or of deployment

    Of a game that has begun it keeps a track and a plan until the game ends; of another one
    nothing.
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
        self.options, self.log, self.search = options, log, search
        self.random_ties = options.ties == "random"
        self.single_stages = policy_stages(options, deploying=False, seed=seed)
        rounding = policy_stages(options, deploying=True, seed=seed)
        searching: list[Stage] = [search] if search else []
        deploying = game.is_stratego and search is not None and search.deploys
        self.deployment_stages = [*searching * deploying, *rounding]
        behind = move_stages(options, self.single_stages, game.actions)
        self.move_stages = [*searching * (not deploying), *behind]
        if game.is_stratego:
            self.inputs = ObservationEditor(game, options)
            self.tracker = Tracker(self.inputs.width, self.inputs.height)
            if options.bounds is not None:
                assert isinstance(evaluator, Evaluator)
                two_squares = game.rules["two_squares"]
                bounds = ValueBounds(options.bounds, evaluator, self.inputs, two_squares)
                self.move_stages.append(bounds)
        self._plans: dict[tuple[int, int], MovePlan | None] = {}  # of the games that have begun
        self._lock = threading.Lock()  # games with programs are played in threads

    def begin(self, games: Games, sides: Sides) -> None:
        with self._lock:
            for seat in zip(games.tolist(), sides.tolist(), strict=True):
                self._plans[seat] = None
                if self.game.is_stratego:
                    self.tracker.begin(*seat)

    def end(self, games: Games, sides: Sides) -> None:
        with self._lock:
            for seat in zip(games.tolist(), sides.tolist(), strict=True):
                del self._plans[seat]
                if self.game.is_stratego:
                    self.tracker.end(*seat)

    def watch(self, views: Views) -> None:
        """Follows games on which others decide, where memory needs that."""
        with self._lock:
            if self.game.is_stratego:
                fields = views.observations.view(self.inputs.dtype)[:, 0]
                self._tracks(views, fields["phase"] == 0)

    def act(self, views: Views) -> Decision:
        return self._act(views, values=False)

    def act_with_values(self, views: Views) -> Decision:
        """The same decisions with the network's values."""
        return self._act(views, values=True)

    def policy(self, views: Views) -> Floats:
        """float32 [n, actions]: the post-processed policy."""
        with self._lock:
            return self._policy(views, SearchTargets(len(views)), values=False)[0]

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
        with self._lock:
            policy, expected = self._policy(views, targets, values)
        chosen = sample(policy, views.legal, self.seed, views.games, views.numbers)
        if self.search is None:
            return Decision(*chosen, expected)
        return Decision(*chosen, expected, targets=targets.column, root_value=targets.values)

    def _policy(
        self, views: Views, targets: SearchTargets, values: bool
    ) -> tuple[Floats, Floats | None]:
        """The policy, and the network's values, of what it is shown, if they are wanted."""
        if not self.game.is_stratego:
            seen = views.observations, views.legal, values
            policy, expected = self.evaluator.evaluate_distinct(*seen)
            left: list[tuple[str, Floats]] = [("network", policy)]
            searches: Sequence[SearchResult | None] = [None] * len(views)
            if self.search:
                staged = self.search(Turns(views), policy)
                left.append((self.search.name, staged.policy))
                searches = staged.searches or searches
                for row, result in enumerate(staged.searches or ()):
                    if result:
                        target, value = result.search_target
                        actions = np.flatnonzero(views.legal[row])
                        targets.note(row, actions, target, value * self.game.unit)
            left += self._through(self.single_stages, Turns(views), left[-1][1])[1:]
            self._explain_actions(views, left, expected, searches)
            return left[-1][1], expected
        fields = views.observations.view(self.inputs.dtype)[:, 0]
        playing, stage = fields["phase"] == 0, fields["stage"]
        shown = self._show(views, playing)
        planned = self._planned(views, np.flatnonzero(playing & (stage == 1)))
        out, expected = self._evaluate(views, shown, () if values else planned, values)
        deploying = np.flatnonzero(~playing)
        if len(deploying):
            out[deploying] = self._deploy(views.take(deploying), out[deploying])
        if self.move_stages or self.log:
            first, second = (np.flatnonzero(playing & (stage == k)) for k in (0, 1))
            self._choose_moves(views, shown, first, out, targets)
            self._choose_ends(views, second, planned, out, targets)
        return out, expected

    def _evaluate(
        self, views: Views, shown: NetworkInput, spared: Container[int], values: bool
    ) -> tuple[Floats, Floats | None]:
        """The network's policy and values; of the rows that are `spared` the policy is 0."""
        rows = np.array([row for row in range(len(views)) if row not in spared], np.int64)
        out, expected = np.zeros(views.legal.shape, np.float32), None
        if len(rows):
            pub = None if shown.pub is None else shown.pub[rows]
            seen = shown.packed[rows], views.legal[rows], pub, values
            out[rows], expected = self.evaluator.evaluate(*seen)
        return out, expected

    def _show(self, views: Views, playing: Bools) -> NetworkInput:
        """What the network is shown."""
        tracks = self._tracks(views, playing)
        packed = self.inputs.eager(views.observations)
        boards = [track.board if track else None for track in tracks]
        excluded = [track.excluded if track else None for track in tracks]
        return NetworkInput(packed, self.inputs.public(packed, boards, excluded), tracks)

    def _tracks(self, views: Views, playing: Bools) -> list[GameTrack | None]:
        """What is kept of each view's game, if anything."""
        tracks: list[GameTrack | None] = [None] * len(views)
        for row in np.flatnonzero(playing) if self.options.tracks_games else ():
            seat = int(views.games[row]), int(views.sides[row])
            tracks[row] = self.tracker.look(*seat, views.observations[row].tobytes())
        return tracks

    def _through(
        self, stages: Sequence[Stage], turns: Turns, policy: Floats
    ) -> list[tuple[str, Floats]]:
        """The network's policy of actions, float32 [n, m], and what each of the stages leaves."""
        left = [("network", policy)]
        for stage in stages:
            left.append((stage.name, stage(turns, left[-1][1]).policy))
        return left

    def _deploy(self, views: Views, policy: Floats) -> Floats:
        """Where the next piece goes: float32 [n, actions]."""
        left = self._through(self.deployment_stages, Turns(views), policy)
        for row in range(len(views)) if self.log else ():
            (squares,) = np.nonzero(views.legal[row])
            moves = [(square, square) for square in squares.tolist()]
            self._explain(views, row, moves, [(name, p[row, squares]) for name, p in left])
        return left[-1][1]

    def _explain(
        self,
        views: Views,
        row: int,
        moves: Moves,
        stages: list[tuple[str, Floats]],
        value: float | None = None,
        bounds: Floats | None = None,
        search: SearchResult | None = None,
    ) -> None:
        """Logs how a turn came about."""
        if self.log:
            game, side = int(views.games[row]), int(views.sides[row])
            packed = views.observations[row]
            self.log(Explanation(game, side, packed, moves, stages, value, bounds, search))

    def _explain_actions(
        self,
        views: Views,
        left: list[tuple[str, Floats]],
        values: Floats | None,
        searches: Sequence[SearchResult | None],
    ) -> None:
        """Logs turns of a game whose moves are single actions."""
        for row in range(len(views)) if self.log else ():
            (actions,) = np.nonzero(views.legal[row])
            moves = [(action, action) for action in actions.tolist()]
            stages = [(name, policy[row, actions]) for name, policy in left]
            value = None if values is None else float(values[row])
            self._explain(views, row, moves, stages, value, None, searches[row])

    # ---- whole moves ----

    def _choose_moves(
        self, views: Views, shown: NetworkInput, rows: Int64s, out: Floats, targets: SearchTargets
    ) -> None:
        """Decides on whole moves, and leaves in `out` the policy of their first actions."""
        moves = [views.moves(int(row)) for row in rows]
        known = np.array([bool(m) for m in moves], bool)
        single = rows[~known]  # whoever asks has only actions
        if len(single):
            turns = Turns(views.take(single))
            out[single] = self._through(self.single_stages, turns, out[single])[-1][1]
        rows, moves = rows[known], [m for m in moves if m]
        if not len(rows):
            return
        policy = self._policy_of_moves(shown, rows, moves, out)
        turns = Turns(views.take(rows), moves, [shown.tracks[row] for row in rows])
        left, values, bounds = [("network", policy)], None, None
        searches: Sequence[SearchResult | None] = [None] * len(rows)
        for stage in self.move_stages:
            staged = stage(turns, left[-1][1])
            left.append((stage.name, staged.policy))
            searches = searches if staged.searches is None else staged.searches
            values = values if staged.values is None else staged.values
            bounds = bounds if staged.bounds is None else staged.bounds
        for index, row in enumerate(rows):
            some, m = moves[index], len(moves[index])
            result = searches[index]
            target = result.search_target if result else None
            out[row] = self._plan(views, int(row), some, left[-1][1][index], target, targets)
            value = None if values is None else float(values[index])
            bound = None if bounds is None else bounds[index, :m]
            stages = [(name, policy[index, :m]) for name, policy in left]
            self._explain(views, int(row), some, stages, value, bound, searches[index])

    def _policy_of_moves(
        self, shown: NetworkInput, rows: Int64s, moves: list[Moves], out: Floats
    ) -> Floats:
        """float32 [k, m]: the network's probability of each move, padded with 0."""
        first = [sorted({start for start, _ in m}) for m in moves]
        of = np.repeat(rows, [len(starts) for starts in first])
        selected = np.concatenate(first).astype(np.uint8)
        pieces = [(i, start) for i, starts in enumerate(first) for start in starts]
        place = {piece: number for number, piece in enumerate(pieces)}
        observations = shown.packed[of]
        after = observations.view(self.inputs.dtype)[:, 0]
        after["stage"], after["selected"] = 1, selected
        legal = np.zeros((len(of), self.game.actions), np.uint8)
        for i, some in enumerate(moves):
            for start, end in some:
                legal[place[i, start], end] = 1
        pub = None if shown.pub is None else shown.pub[of]
        second = self.evaluator.evaluate_pieces(observations, legal, of, pub)
        policy = np.zeros((len(moves), max(map(len, moves))), np.float32)
        for i, some in enumerate(moves):
            starts, ends = np.array(some).T
            at = [place[i, start] for start, _ in some]
            policy[i, : len(some)] = out[rows[i], starts] * second[at, ends]
        return policy

    def _plan(
        self,
        views: Views,
        row: int,
        moves: Moves,
        policy: Floats,
        search_target: tuple[Float64s, float] | None,
        targets: SearchTargets,
    ) -> Floats:
        """Remembers the policy of the destinations; returns that of the pieces, [actions]."""
        first, ends = split(moves, policy, self.game.actions)
        plan = MovePlan(self._plies(views, row), ends)
        if search_target:
            target, value = search_target
            pieces, plan.targets = split(moves, target, self.game.actions)
            plan.value = value * self.game.unit
            (squares,) = np.nonzero(pieces)
            targets.note(row, squares, pieces[squares], plan.value)
        seat = _seat(views, row)
        if seat in self._plans:
            self._plans[seat] = plan
        return first

    def _planned(self, views: Views, rows: Int64s) -> dict[int, tuple[MovePlan, int]]:
        """Of those rows whose move has a plan for the piece that is selected: plan and piece."""
        planned = {}
        for row in rows.tolist():
            plan = self._plans.get(_seat(views, row))
            selected = int(views.observations[row].view(self.inputs.dtype)["selected"][0])
            if plan and plan.plies == self._plies(views, row) and selected in plan.destinations:
                planned[row] = plan, selected
        return planned

    def _choose_ends(
        self,
        views: Views,
        rows: Int64s,
        planned: dict[int, tuple[MovePlan, int]],
        out: Floats,
        targets: SearchTargets,
    ) -> None:
        """Destinations as they were decided on when the move began."""
        for row, (plan, selected) in planned.items():
            squares, policy = plan.destinations[selected]
            out[row] = 0
            out[row, squares] = policy
            if selected in plan.targets:
                targets.note(row, *plan.targets[selected], plan.value)
        some = np.array([row for row in rows.tolist() if row not in planned], np.int64)
        if len(some):  # somebody else has selected the piece
            turns = Turns(views.take(some))
            out[some] = self._through(self.single_stages, turns, out[some])[-1][1]

    def _plies(self, views: Views, row: int) -> int:
        return int(views.observations[row].view(self.inputs.dtype)["plies"][0])


def _seat(views: Views, row: int) -> tuple[int, int]:
    """The game and the side that acts in it."""
    return int(views.games[row]), int(views.sides[row])
