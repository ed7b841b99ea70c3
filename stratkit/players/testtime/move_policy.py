"""The policy of whole moves, of a piece and its destination, and of the deployment before them.

When a move begins, the policy of the second action is evaluated for every piece. The products are
the policy of whole moves, and every stage works on that. Selecting a piece then has the sum of its
moves' probabilities, and its destination what is left of it. The two actions multiply to exactly
what the stages have decided, and a piece is never selected whose every destination was dropped.

With `per=action` temperature, threshold and quanta are of the piece, and then of its destination,
as in the paper; the stages behind them still see whole moves.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from stratkit.arrays import Bools, Bytes, Float64s, Int64s
from stratkit.nets.evaluator import Evaluator
from stratkit.players.player import Floats, Moves, Views
from stratkit.players.testtime.action_policy import DeploymentPolicy
from stratkit.players.testtime.inputs import ObservationEditor
from stratkit.players.testtime.plans import MovePlan, split
from stratkit.players.testtime.stages import Stage, Turns, move_stages, policy_stages
from stratkit.players.testtime.tracking import GameTrack, Tracker
from stratkit.players.testtime.turn_policy import SearchTargets, Seat, TurnPolicy, seat_of
from stratkit.players.testtime.value_bounds import ValueBounds
from stratkit.search.decision import SearchResult


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


class MovePolicy(TurnPolicy):
    """The policy of a game with deployment and moves of two actions. Of a game that has begun it
    keeps a track and a plan until the game ends; of another one nothing."""

    def __post_init__(self) -> None:
        options, search = self.options, self.search
        of = self.evaluator, self.game, self.seed, options, self.log
        before = search if search and search.deploys else None
        self.deployment = DeploymentPolicy(*of, before)
        self.single_stages = policy_stages(options, deploying=False, seed=self.seed)
        self.move_stages: list[Stage] = [search] if search and not search.deploys else []
        self.move_stages += move_stages(options, self.single_stages, self.game.actions)
        self.inputs = ObservationEditor(self.game, options)
        self.tracker = Tracker(self.inputs.width, self.inputs.height)
        if options.bounds is not None:
            assert isinstance(self.evaluator, Evaluator)
            two_squares = self.game.rules["two_squares"]
            bounds = ValueBounds(options.bounds, self.evaluator, self.inputs, two_squares)
            self.move_stages.append(bounds)
        self.plans: dict[Seat, MovePlan | None] = {}  # of the games that have begun

    def begin(self, seat: Seat) -> None:
        self.plans[seat] = None
        self.tracker.begin(*seat)

    def end(self, seat: Seat) -> None:
        del self.plans[seat]
        self.tracker.end(*seat)

    def watch(self, views: Views) -> None:
        fields = views.observations.view(self.inputs.dtype)[:, 0]
        self._tracks(views, fields["phase"] == 0)

    def policy(
        self, views: Views, targets: SearchTargets, values: bool
    ) -> tuple[Floats, Floats | None]:
        fields = views.observations.view(self.inputs.dtype)[:, 0]
        playing, stage = fields["phase"] == 0, fields["stage"]
        shown = self.show(views, playing)
        planned = self.planned(views, np.flatnonzero(playing & (stage == 1)))
        out, expected = self._evaluate(views, shown, () if values else planned, values)
        deploying = np.flatnonzero(~playing)
        if len(deploying):
            out[deploying] = self.deployment.policy(views.take(deploying), out[deploying])
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

    def show(self, views: Views, playing: Bools) -> NetworkInput:
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
            seat = seat_of(views, int(row))
            tracks[row] = self.tracker.look(*seat, views.observations[row].tobytes())
        return tracks

    def _choose_moves(
        self, views: Views, shown: NetworkInput, rows: Int64s, out: Floats, targets: SearchTargets
    ) -> None:
        """Decides on whole moves, and leaves in `out` the policy of their first actions."""
        moves = [views.state(int(row)).moves() for row in rows]
        known = np.array([bool(m) for m in moves], bool)
        single = rows[~known]  # whoever asks has only actions
        if len(single):
            turns = Turns(views.take(single))
            out[single] = self.through(self.single_stages, turns, out[single])[-1][1]
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
            self.explain(views, int(row), some, stages, value, bound, searches[index])

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
            pieces, shares = split(moves, target, self.game.actions)
            plan.targets = ends | shares  # PIMC may play a piece that has no share
            plan.value = value * self.game.unit
            (squares,) = np.nonzero(pieces)
            targets.note(row, squares, pieces[squares], plan.value)
        seat = seat_of(views, row)
        if seat in self.plans:
            self.plans[seat] = plan
        return first

    def planned(self, views: Views, rows: Int64s) -> dict[int, tuple[MovePlan, int]]:
        """Of those rows whose move has a plan for the piece that is selected: plan and piece."""
        planned = {}
        for row in rows.tolist():
            plan = self.plans.get(seat_of(views, row))
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
            out[some] = self.through(self.single_stages, turns, out[some])[-1][1]

    def _plies(self, views: Views, row: int) -> int:
        return int(views.observations[row].view(self.inputs.dtype)["plies"][0])
