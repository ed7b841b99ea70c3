"""What plays in the network's place: its policy, corrected (Perolat et al. 2022, supplement, "Test
Time Improvements").

A move is two actions, but a move is what is corrected: when it begins, the policy of the second
action is evaluated for every piece, the products are the policy of whole moves, and that is what
every link of the chain works on. Selecting a piece then has the sum of its moves' probabilities,
and its destination what is left of it: the two actions multiply to exactly what the chain has
decided, and a piece is never selected whose every destination was discarded.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from stratkit.engine import Game, observation_dtype, sample, uniform
from stratkit.engine.random_streams import Stream
from stratkit.nets import process
from stratkit.nets.expand import public_of
from stratkit.players.network import Floats, NetworkPlayer
from stratkit.players.player import Decision, Moves, Player, Views
from stratkit.players.testtime import memory
from stratkit.players.testtime import value_bounds as bounds
from stratkit.players.testtime.board import Board
from stratkit.players.testtime.options import Corrections
from stratkit.players.testtime.tracking import Watch, Watcher

MOST_PLANS = 1 << 17  # both sides of as many games as a table has slots


@dataclass
class Plan:
    """What was decided when a move began: of each piece, the policy over its destinations."""

    plies: int
    destinations: dict[int, tuple[list[int], Floats]]


@dataclass
class Seen:
    """What the network is shown of n views: `packed` uint8 [n, B], with eagerness; `pub` as in
    `expand`, or None; and of each view what the player knows of its game, if it keeps anything."""

    packed: npt.NDArray[np.uint8]
    pub: Floats | None
    watches: list[Watch | None]


@dataclass(frozen=True)
class Explanation:
    """How the policy of one turn came about: the moves; after each link its name and float32
    [m], the network's own first; the value of the position and each move's upper bound (NaN: not
    looked at), if bounds were asked for. In deployment a move is from a square to itself: where
    the next piece may go. `number` is that of the action in its game."""

    game: int
    number: int
    packed: npt.NDArray[np.uint8]
    moves: Moves
    links: list[tuple[str, Floats]]
    value: float | None
    bounds: Floats | None


class ChainPlayer(Player):
    """`player` with its policy corrected as is `asked`."""

    def __init__(self, player: NetworkPlayer, game: Game, asked: Corrections) -> None:
        self.player, self.game, self.asked = player, game, asked
        self.board = len(game.shape) == 3
        if self.board:
            self.dtype = observation_dtype(game.shape[1] * game.shape[2])
            self.watcher = Watcher(width=game.shape[2], height=game.shape[1])
        self._plans: dict[tuple[int, int], Plan] = {}
        self._lock = threading.Lock()
        # Whoever wants to know how each move's policy comes about.
        self.explain: Callable[[Explanation], None] | None = None

    @property
    def tells_values(self) -> bool:
        """Whether its decisions come with values: the network's, of what it is shown."""
        return self.player.tells_values

    @tells_values.setter
    def tells_values(self, tells: bool) -> None:
        self.player.tells_values = tells

    def act(self, views: Views) -> Decision:
        with self._lock:  # games with programs are played in threads
            policy, values = self._look(views)
        chosen = sample(policy, views.legal, self.player.seed, views.games, views.numbers)
        return Decision(*chosen, values if self.tells_values else None)

    def policy(self, views: Views) -> Floats:
        """float32 [n, actions]: the probability of each action, 0 where illegal."""
        return self._look(views)[0]

    def _look(self, views: Views) -> tuple[Floats, Floats]:
        """The policy, and the values of the network."""
        if not self.board:
            policy, values = self.player.look(views)
            return self._process(policy, views, deploying=False), values
        fields = views.observations.view(self.dtype)[:, 0]
        seen = self._see(views, fields["phase"] == 0)
        out, values = self.player.evaluate(seen.packed, views.legal, seen.pub)
        deploying = np.flatnonzero(fields["phase"])
        if len(deploying):
            out[deploying] = self._deploy(_some(views, deploying), out[deploying])
        if self.asked.by_moves or self.explain:
            playing, stage = fields["phase"] == 0, fields["stage"]
            self._choose_moves(views, seen, np.flatnonzero(playing & (stage == 0)), out)
            self._choose_ends(views, np.flatnonzero(playing & (stage == 1)), out)
        return out, values

    # ---- what the network is shown ----

    def _see(self, views: Views, playing: npt.NDArray[np.bool_]) -> Seen:
        watches: list[Watch | None] = [None] * len(views)
        if self.asked.watches:
            self.watcher.tick()
            for row in np.flatnonzero(playing):
                packed = views.observations[row].tobytes()
                watches[row] = self.watcher.look(int(views.games[row]), packed)
        packed = eager(views.observations, self.asked.eager, self.dtype)
        boards = [watch.board if watch else None for watch in watches]
        excluded = [watch.excluded if watch else None for watch in watches]
        return Seen(packed, self._public(packed, boards, excluded), watches)

    def _public(
        self,
        packed: npt.NDArray[np.uint8],
        boards: Sequence[Board | None],
        excluded: Sequence[list[int] | None],
    ) -> Floats | None:
        """The public information without what memory excludes; None: as it is."""
        rows = [row for row, bits in enumerate(excluded) if bits and any(bits)]
        if self.asked.memory == "off" or not rows:
            return None
        shape = self.player.network.shape
        assert len(shape) == 3
        public = public_of(torch.from_numpy(packed), shape).numpy()
        some = [(boards[row], excluded[row]) for row in rows]
        allowed = memory.possible([b for b, _ in some if b], [e for _, e in some if e])
        left = public[rows] * allowed
        if self.asked.memory == "renormalised":
            left = memory.renormalised(left, public[rows])
        public[rows] = left
        return public

    def _deploy(self, views: Views, policy: Floats) -> Floats:
        """Where the next piece goes: float32 [n, actions]."""
        links = self._processed(policy, views, *self.asked.processing(deploying=True))
        for row in range(len(views)) if self.explain else ():
            (squares,) = np.nonzero(views.legal[row])
            moves = [(square, square) for square in squares.tolist()]
            self._tell(views, row, moves, [(name, p[row, squares]) for name, p in links])
        return links[-1][1]

    def _tell(
        self,
        views: Views,
        row: int,
        moves: Moves,
        links: list[tuple[str, Floats]],
        value: float | None = None,
        found: Floats | None = None,
    ) -> None:
        """Explains a turn to whoever has asked."""
        game, number = int(views.games[row]), int(views.numbers[row])
        if self.explain:
            packed = views.observations[row]
            self.explain(Explanation(game, number, packed, moves, links, value, found))

    def _process(self, policy: Floats, views: Views, deploying: bool) -> Floats:
        """Actions without what is rare: float32 [n, actions]."""
        return self._processed(policy, views, *self.asked.processing(deploying))[-1][1]

    def _processed(
        self, policy: Floats, views: Views, threshold: float, quanta: int
    ) -> list[tuple[str, Floats]]:
        """The network's policy of actions, or moves, float32 [n, m], and after each link what is
        left of it without what is rare."""
        ties = self._ties(views, policy.shape[1]) if self.asked.ties == "random" else None
        links = [("network", policy)]
        for name, least, parts in (("threshold", threshold, 0), ("quanta", 0.0, quanta)):
            if least or parts:
                left = process(torch.from_numpy(links[-1][1]), least, parts, ties)
                links.append((name, left.numpy()))
        return links

    def _ties(self, views: Views, width: int) -> torch.Tensor:
        """float32 [n, width]: random numbers."""
        games = np.repeat(views.games, width)
        numbers = np.repeat(views.numbers, width) * np.int32(width)
        numbers += np.tile(np.arange(width, dtype=np.int32), len(views))
        drawn = uniform(self.player.seed, games, numbers, Stream.TIES)
        return torch.from_numpy(drawn.astype(np.float32).reshape(-1, width))

    # ---- whole moves ----

    def _choose_moves(
        self, views: Views, seen: Seen, rows: npt.NDArray[np.int64], out: Floats
    ) -> None:
        """Decides on whole moves, and leaves in `out` the policy of their first actions."""
        moves = [views.moves(int(row)) for row in rows]
        known = np.array([bool(m) for m in moves], bool)
        single = rows[~known]  # whoever asks has only actions
        if len(single):
            out[single] = self._process(out[single], _some(views, single), deploying=False)
        rows, moves = rows[known], [m for m in moves if m]
        if not len(rows):
            return
        policy = self._policy_of_moves(seen, rows, moves, out)
        asked = self.asked.threshold, self.asked.quanta
        links = self._processed(policy, _some(views, rows), *asked)
        if self.asked.shuttle == "off":
            links.append(("shuttle", self._without_threats(seen, rows, moves, links[-1][1])))
        values = found = None
        if self.asked.bounds is not None:
            values, found = self._bounds(views, seen, rows, moves, links[-1][1])
            links.append(("bounds", self._within_bounds(links[-1][1], values, found)))
        for index, row in enumerate(rows):
            some, m = moves[index], len(moves[index])
            out[row] = self._keep_plan(views, int(row), some, links[-1][1][index])
            value = None if values is None else float(values[index])
            looked = None if found is None else found[index, :m]
            told = [(name, policy[index, :m]) for name, policy in links]
            self._tell(views, int(row), some, told, value, looked)

    def _policy_of_moves(
        self, seen: Seen, rows: npt.NDArray[np.int64], moves: list[Moves], out: Floats
    ) -> Floats:
        """float32 [k, m]: the network's probability of each move, padded with 0."""
        first = [sorted({start for start, _ in m}) for m in moves]
        of = np.repeat(rows, [len(starts) for starts in first])
        selected = np.concatenate(first).astype(np.uint8)
        pieces = [(i, start) for i, starts in enumerate(first) for start in starts]
        place = {piece: number for number, piece in enumerate(pieces)}
        observations = seen.packed[of]
        after = observations.view(self.dtype)[:, 0]
        after["stage"], after["selected"] = 1, selected
        legal = np.zeros((len(of), self.game.actions), np.uint8)
        for i, some in enumerate(moves):
            for start, end in some:
                legal[place[i, start], end] = 1
        pub = None if seen.pub is None else seen.pub[of]
        second, _ = self.player.evaluate(observations, legal, pub)
        policy = np.zeros((len(moves), max(map(len, moves))), np.float32)
        for i, some in enumerate(moves):
            starts, ends = np.array(some).T
            at = [place[i, start] for start, _ in some]
            policy[i, : len(some)] = out[rows[i], starts] * second[at, ends]
        return policy

    def _without_threats(
        self, seen: Seen, rows: npt.NDArray[np.int64], moves: list[Moves], policy: Floats
    ) -> Floats:
        """Without pointless threats, where anything else is left."""
        keep = np.ones(policy.shape, bool)
        for index, row in enumerate(rows):
            watch = seen.watches[row]
            assert watch is not None
            for at, (start, end) in enumerate(moves[index]):
                keep[index, at] = not watch.threats.pointless(watch.board, watch.pieces, start, end)
        return _keep(policy, keep)

    def _bounds(
        self,
        views: Views,
        seen: Seen,
        rows: npt.NDArray[np.int64],
        moves: list[Moves],
        policy: Floats,
    ) -> tuple[Floats, Floats]:
        """The value of each position, float32 [k], and of each move's upper bound, float32 [k, m]
        (NaN: not looked at); all of it by one question to the network."""
        found = np.full(policy.shape, np.nan, np.float32)
        states: list[bounds.State] = []
        decisions = []
        for index, row in enumerate(rows):
            packed = views.observations[row].tobytes()
            watch = seen.watches[row]
            excluded = watch.excluded if watch and self.asked.memory != "off" else None
            board = Board.of(self.watcher.width, self.watcher.height, packed)
            sight = bounds.Sight(packed, board, excluded, self.game.rules["two_squares"])
            states.append(bounds.State(board, packed, excluded))
            decisions.append(
                (
                    index,
                    len(states) - 1,
                    self._look_ahead(sight, moves[index], policy[index], states),
                )
            )
        self._value(states)
        values = np.zeros(len(rows), np.float32)
        for index, state, looked in decisions:
            values[index] = states[state].value
            for at, some in looked.items():
                found[index, at] = max(case.bound() for case in some)
        return values, found

    def _look_ahead(
        self, sight: bounds.Sight, moves: Moves, policy: Floats, states: list[bounds.State]
    ) -> dict[int, list[bounds.Case]]:
        """The cases of the moves that may be played, the most probable first, as long as there is
        room for their states, which are added; none where there is no choice."""
        possible = [int(at) for at in np.argsort(-policy, kind="stable") if policy[at] > 0]
        room = bounds.MOST if len(possible) > 1 else 0
        looked = {}
        for at in possible if room else []:
            some = bounds.cases(sight, *moves[at])
            new = [
                answer.state
                for case in some
                for answer in case.answers
                if math.isnan(answer.state.value)
            ]
            if len(new) > room:
                some, new = [bounds.Case(value=math.inf)], []
            room -= len(new)
            states += new
            looked[at] = some
        return looked

    def _value(self, states: Sequence[bounds.State]) -> None:
        """Asks the network for the values of states."""
        packed = np.stack([np.frombuffer(state.packed, np.uint8) for state in states])
        packed = eager(packed, self.asked.eager, self.dtype)
        boards, excluded = [s.board for s in states], [s.excluded for s in states]
        values = self.player.values(packed, self._public(packed, boards, excluded))
        for state, value in zip(states, values, strict=True):
            state.value = float(value)

    def _within_bounds(self, policy: Floats, values: Floats, found: Floats) -> Floats:
        """Without the moves whose upper bound is below the position's value by a margin."""
        assert self.asked.bounds is not None
        return _keep(policy, ~(found + self.asked.bounds < values[:, None]))

    def _keep_plan(self, views: Views, row: int, moves: Moves, policy: Floats) -> Floats:
        """Remembers the policy of the destinations; returns that of the pieces, [actions]."""
        first = np.zeros(self.game.actions, np.float32)
        ends: dict[int, tuple[list[int], list[float]]] = {}
        for (start, end), p in zip(moves, policy.tolist(), strict=False):
            if p > 0:
                first[start] += p
                found = ends.setdefault(start, ([], []))
                found[0].append(end)
                found[1].append(p)
        plan = {
            start: (squares, np.array(p, np.float32) / first[start])
            for start, (squares, p) in ends.items()
        }
        plies = self._plies(views, row)
        key = self._key(views, row)
        self._plans.pop(key, None)
        self._plans[key] = Plan(plies, plan)
        if len(self._plans) > MOST_PLANS:
            del self._plans[next(iter(self._plans))]
        return first

    def _choose_ends(self, views: Views, rows: npt.NDArray[np.int64], out: Floats) -> None:
        """Destinations as they were decided on when the move began."""
        unplanned = []
        for row in rows:
            plan = self._plans.get(self._key(views, int(row)))
            selected = int(views.observations[row].view(self.dtype)["selected"][0])
            if plan and plan.plies == self._plies(views, int(row)):
                found = plan.destinations.get(selected)
                if found:
                    out[row] = 0
                    out[row, found[0]] = found[1]
                    continue
            unplanned.append(row)
        if unplanned:  # somebody else has selected the piece
            some = np.array(unplanned)
            out[some] = self._process(out[some], _some(views, some), deploying=False)

    def _plies(self, views: Views, row: int) -> int:
        return int(views.observations[row].view(self.dtype)["plies"][0])

    def _key(self, views: Views, row: int) -> tuple[int, int]:
        """The game, and which side of it acts: the two never see the same parity of plies."""
        return int(views.games[row]), self._plies(views, row) % 2


def eager(
    packed: npt.NDArray[np.uint8], alpha: float, dtype: np.dtype[np.void]
) -> npt.NDArray[np.uint8]:
    """The observations with less time left until the draw: the no-attack ratio r is replaced by
    1 - (1 - r)^alpha, for all that read it. It is written as so many 65535ths, so it is off by no
    more than 1 / 131070."""
    if alpha == 1:
        return packed
    packed = packed.copy()
    fields = packed.view(dtype)[:, 0]
    limited = fields["max_no_attack"] > 0
    ratio = fields["no_attack"] / np.maximum(fields["max_no_attack"], 1)
    shown = 65535 * (1 - (1 - np.minimum(ratio, 1)) ** alpha)
    fields["no_attack"] = np.where(limited, np.rint(shown), fields["no_attack"])
    fields["max_no_attack"] = np.where(limited, 65535, 0)
    return packed


def _keep(policy: Floats, keep: npt.NDArray[np.bool_]) -> Floats:
    """The policy of what is kept, renormalised; as it is where that would be nothing."""
    kept = np.where(keep, policy, np.float32(0))
    total = kept.sum(1, keepdims=True)
    return np.where(total > 0, kept / np.where(total > 0, total, 1), policy).astype(np.float32)


def _some(views: Views, rows: npt.NDArray[np.int64]) -> Views:
    """These rows, for what depends on the game and the number of the action only."""
    return Views(
        views.games[rows],
        views.sides[rows],
        views.numbers[rows],
        views.legal[rows],
        views.observations[rows],
    )
