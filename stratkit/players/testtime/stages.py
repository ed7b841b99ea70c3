"""The stages through which a policy goes on its way to the board.

A stage takes a policy over the moves of n turns and returns one over the same moves. Whose policy
it is, a network's or a search's, does not matter to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stratkit.engine import uniform_rows
from stratkit.engine.batch import MOST_MOVES
from stratkit.engine.random_streams import Stream
from stratkit.nets.numpy_policy import at_temperature, process
from stratkit.players.player import Floats, Moves, Views
from stratkit.players.testtime.options import PostProcessing
from stratkit.players.testtime.tracking import GameTrack
from stratkit.search.decision import SearchResult


@dataclass(frozen=True)
class Turns:
    """n turns.

    views   what the players see
    moves   [n] the legal moves of turns in which a move begins
    tracks  [n] what the player has kept of the game, or None
    """

    views: Views
    moves: Sequence[Moves] = ()
    tracks: Sequence[GameTrack | None] = ()


@dataclass(frozen=True)
class StageOutput:
    """What a stage returns; None: it computes no such thing.

    policy    float32 [n, m]
    values    float32 [n], of the positions
    bounds    float32 [n, m], upper bounds of moves; NaN: no bound
    searches  [n] search results; None: not searched
    """

    policy: Floats
    values: Floats | None = None
    bounds: Floats | None = None
    searches: Sequence[SearchResult | None] | None = None


class Stage(Protocol):
    """A stage, with the `name` by which explanations call it."""

    @property
    def name(self) -> str:
        """What explanations call it."""
        ...

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        """`policy`: float32 [n, m], of each turn's moves or actions, padded with 0."""
        ...


@dataclass(frozen=True)
class Temperature:
    """Makes a policy surer of itself, or less sure: `degree` is 1 where it stays as it is."""

    degree: float
    name = "temperature"

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        return StageOutput(at_temperature(policy, self.degree))


@dataclass(frozen=True)
class Threshold:
    """Drops what is less probable than `least`."""

    least: float
    name = "threshold"

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        return StageOutput(process(policy, self.least))


@dataclass(frozen=True)
class Quanta:
    """Rounds probabilities to multiples of 1 / `parts`. Of equally probable moves the lower squares
    come first; or chance decides, by `ties_seed`."""

    parts: int
    ties_seed: int | None
    name = "quanta"

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        ties = None
        if self.ties_seed is not None:
            width = policy.shape[1]  # of moves as many as the turn with most of them has
            stride = max(MOST_MOVES, width)
            # Of int32: after half a million actions of a game its first draws come again.
            numbers = turns.views.numbers % np.int32(2**31 // stride)
            key = self.ties_seed, turns.views.games, numbers
            ties = uniform_rows(*key, width, Stream.TIES, stride).astype(np.float32)
        return StageOutput(process(policy, 0.0, self.parts, ties))


def policy_stages(options: PostProcessing, deploying: bool, seed: int) -> list[Stage]:
    """The stages that need nothing but the policy. Setups have no temperature."""
    threshold, quanta = options.processing(deploying)
    stages: list[Stage] = []
    if options.temperature != 1 and not deploying:
        stages.append(Temperature(options.temperature))
    if threshold:
        stages.append(Threshold(threshold))
    if quanta:
        stages.append(Quanta(quanta, seed if options.ties == "random" else None))
    return stages


@dataclass(frozen=True)
class OfActions:
    """A stage of single actions, done to a policy of moves: to that of the pieces, and, of each
    piece, to that of its destinations. `actions`: of the game."""

    stage: Stage
    actions: int

    @property
    def name(self) -> str:
        """The name of the stage of single actions."""
        return self.stage.name

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        counts = [len(moves) for moves in turns.moves]
        row = np.repeat(np.arange(len(counts)), counts)
        start, end = np.concatenate([np.array(moves) for moves in turns.moves]).T
        at = np.concatenate([np.arange(count) for count in counts])
        pieces = np.zeros((len(counts), self.actions), np.float32)
        np.add.at(pieces, (row, start), policy[row, at])
        # A turn's pieces, one after the other, and of each move its piece.
        chosen, piece = np.unique(row * self.actions + start, return_inverse=True)
        ends = np.zeros((len(chosen), self.actions), np.float32)
        total = np.maximum(pieces[row, start], np.finfo(np.float32).tiny)
        ends[piece, end] = policy[row, at] / total
        left = np.zeros_like(policy)
        first = self.stage(turns, pieces).policy
        second = self.stage(Turns(turns.views.take(chosen // self.actions)), ends).policy
        left[row, at] = first[row, start] * second[piece, end]
        return StageOutput(left)


@dataclass(frozen=True)
class WithoutRepeatedThreats:
    """Drops pointless threats, where anything else is left."""

    name = "threats"

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        allowed = np.ones(policy.shape, bool)
        for row, (moves, track) in enumerate(zip(turns.moves, turns.tracks, strict=True)):
            assert track is not None
            for at, (start, end) in enumerate(moves):
                allowed[row, at] = not track.threats.pointless(
                    track.board, track.pieces, start, end
                )
        return StageOutput(keep(policy, allowed))


def move_stages(options: PostProcessing, single: Sequence[Stage], actions: int) -> list[Stage]:
    """The stages of whole moves: those that need a policy alone, which `single` are, and threats.
    `actions`: of the game."""
    per_action = options.per == "action"
    stages: list[Stage] = [OfActions(one, actions) if per_action else one for one in single]
    if not options.repeat_threats:
        stages.append(WithoutRepeatedThreats())
    return stages


def keep(policy: Floats, allowed: np.ndarray) -> Floats:
    """The policy of what is kept, bool [n, m], renormalised; as it is where nothing would be."""
    left = np.where(allowed, policy, np.float32(0))
    total = left.sum(1, keepdims=True)
    return np.where(total > 0, left / np.where(total > 0, total, 1), policy).astype(np.float32)
