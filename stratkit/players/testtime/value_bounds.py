"""Value bounds (Perolat et al. 2022, supplement, Eq. 8): mistakes whatever is hidden.

A move's upper bound is the value two plies on, with the enemy's hidden pieces as is best for the
mover, and then the worst of the enemy's safe replies. A reply is safe if the piece is known to
move (and, for more than one square, to be a scout), wins for certain if it attacks, and cannot be
captured at once, all as far as is public for both sides. A move whose bound lies below the value of
the position is a mistake. To fall together with an attacker is to be captured.

Of what is hidden only the piece that is attacked and the piece that attacks in return matter: each
of their types is a state to be valued. Several hidden pieces that could attack share the types that
are left. Where a game ends, its return is the value; where no reply is safe, or the flag may be
what is attacked, there is no bound. Replies that the two-squares rule forbids are none; of the
more-squares rule nothing can be told from an observation.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from stratkit.engine.observation import (
    CELLS,
    MAX_NO_ATTACK,
    MAX_PLIES,
    MOVES,
    NO_ATTACK,
    ONLY_ATTACKS,
    PHASE,
    PLIES,
    number,
)
from stratkit.engine.observation import NO_SQUARE as NONE
from stratkit.engine.stratego import BOMB, FLAG, LOSES, PIECE, REVEALED, SCOUT, TYPE, WINS, fight
from stratkit.nets.evaluator import Evaluator
from stratkit.players.player import Floats, Moves
from stratkit.players.side_board import OTHER, OWN, SideBoard
from stratkit.players.testtime import memory
from stratkit.players.testtime.inputs import ObservationEditor
from stratkit.players.testtime.stages import StageOutput, Turns, keep

MAX_STATES = 384  # states to be valued for one decision; moves that would need more have no bound


class ValueBounds:
    """The stage that drops moves whose upper bound lies below the value of the position by
    `margin`. `evaluator` values what `inputs` shows it; `two_squares`: how often a border may be
    crossed in consecutive turns (0: any number)."""

    name = "bounds"

    def __init__(
        self, margin: float, evaluator: Evaluator, inputs: ObservationEditor, two_squares: int
    ) -> None:
        self.margin, self.evaluator = margin, evaluator
        self.inputs, self.two_squares = inputs, two_squares

    def __call__(self, turns: Turns, policy: Floats) -> StageOutput:
        """The network is asked once, about all states of all turns."""
        states: list[State] = []
        decisions = []
        for row, (moves, track) in enumerate(zip(turns.moves, turns.tracks, strict=True)):
            packed = turns.views.observations[row].tobytes()
            excluded = track.excluded if track and self.inputs.options.memory != "off" else None
            root = BoundsRoot(packed, self.inputs.board(packed), excluded, self.two_squares)
            position = State(root.board, packed, excluded)
            states.append(position)
            decisions.append((position, look_ahead(root, moves, policy[row], states)))
        self._evaluate(states)
        values = np.array([position.value for position, _ in decisions], np.float32)
        bounds = np.full(policy.shape, np.nan, np.float32)
        for row, (_, worlds_of) in enumerate(decisions):
            for at, some in worlds_of.items():
                bounds[row, at] = max(determinization.bound() for determinization in some)
        mistakes = bounds + self.margin < values[:, None]
        return StageOutput(keep(policy, ~mistakes), values, bounds)

    def _evaluate(self, states: Sequence[State]) -> None:
        """Fills in the values of states."""
        packed = np.stack([np.frombuffer(state.packed, np.uint8) for state in states])
        packed = self.inputs.eager(packed)
        boards, excluded = [s.board for s in states], [s.excluded for s in states]
        values = self.evaluator.values(packed, self.inputs.public(packed, boards, excluded))
        for state, value in zip(states, values, strict=True):
            state.value = float(value)


def look_ahead(
    root: BoundsRoot, moves: Moves, policy: Floats, states: list[State]
) -> dict[int, list[Determinization]]:
    """The determinizations of the moves that may be played, by their place in `moves`.

    The most probable move comes first, as long as there is room for the states, which are added to
    `states`. Where there is no choice there is none.
    """
    possible = [int(at) for at in np.argsort(-policy, kind="stable") if policy[at] > 0]
    room = MAX_STATES if len(possible) > 1 else 0
    out = {}
    for at in possible if room else []:
        some = determinizations(root, *moves[at])
        replies = [reply for determinization in some for reply in determinization.replies]
        new = [reply.state for reply in replies if math.isnan(reply.state.value)]
        if len(new) > room:
            some, new = [Determinization(value=math.inf)], []
        room -= len(new)
        states += new
        out[at] = some
    return out


@dataclass
class State:
    """A position two plies on.

    board     the position
    packed    its observation
    excluded  by square: bits of types that memory excludes; None: memory is off
    value     the return where the game is over, else the network's value
    """

    board: SideBoard
    packed: bytes
    excluded: list[int] | None
    value: float = math.nan


@dataclass
class Reply:
    """A safe reply.

    state   what it leads to
    square  of a hidden attacker; `NONE`: it is known
    kind    the type that the hidden attacker has in this reply
    """

    state: State
    square: int = NONE
    kind: int = 0


@dataclass
class Determinization:
    """What a move may lead to.

    replies  the safe ones
    left     by type: how many pieces are left for hidden attackers
    value    if it is certain; infinite: no bound
    """

    replies: list[Reply] = field(default_factory=list)
    left: bytes = b""
    value: float | None = None

    def bound(self) -> float:
        """The best for the mover, over what is hidden, of the worst reply."""
        if self.value is not None:
            return self.value
        known = [reply.state.value for reply in self.replies if reply.square == NONE]
        hidden: dict[int, dict[int, float]] = {}
        for reply in self.replies:
            if reply.square != NONE:
                of = hidden.setdefault(reply.square, {})
                of[reply.kind] = min(reply.state.value, of.get(reply.kind, math.inf))
        return min([*known, _best_of_worst(list(hidden.values()), self.left)])


def _best_of_worst(pieces: Sequence[Mapping[int, float]], left: bytes) -> float:
    """The highest v for which every piece can have a type of its own with a value of at least v."""

    def fits(least: float, at: int, counts: bytearray) -> bool:
        if at == len(pieces):
            return True
        for kind, value in pieces[at].items():
            if value >= least and counts[kind]:
                counts[kind] -= 1
                if fits(least, at + 1, counts):
                    return True
                counts[kind] += 1
        return False

    values = sorted({v for piece in pieces for v in piece.values()}, reverse=True)
    return next((v for v in values if fits(v, 0, bytearray(left))), math.inf)


@dataclass(frozen=True)
class BoundsRoot:
    """A turn of play as the mover sees it.

    packed       the observation
    board        its position
    excluded     by square: bits of types that memory excludes; None: memory is off
    two_squares  how often a border may be crossed in consecutive turns; 0: any number
    """

    packed: bytes
    board: SideBoard
    excluded: list[int] | None
    two_squares: int


def determinizations(root: BoundsRoot, start: int, end: int) -> list[Determinization]:
    """One for each type that the attacked piece may have; one where that is known, or nothing is
    attacked."""
    board = root.board
    attacked = bool(board.cells[end] & PIECE)
    kinds = board.possible(end) if attacked and board.hidden(end) else [0]
    known = board.cells[end] & TYPE if attacked and not board.hidden(end) else kinds[0]
    if attacked and (known == FLAG or (board.hidden(end) and FLAG in kinds)):
        return [Determinization(value=math.inf)]  # the best that can be
    return [_determinization(root, start, end, kind, attacked) for kind in kinds]


def _determinization(
    root: BoundsRoot, start: int, end: int, kind: int, attacked: bool
) -> Determinization:
    after = root.board.play(start, end, defender=kind)
    excluded = root.excluded
    if excluded is not None:
        excluded = memory.note(excluded, root.board, start, end)
    no_attack = 0 if attacked else number(root.packed, NO_ATTACK) + 1
    if not _has_movers(after, OTHER):
        return Determinization(value=1.0 if _has_movers(after, OWN) else 0.0)
    attacker = root.board.cells[start] & TYPE if attacked else NONE
    ply = bytes((start, end, attacker))
    replies: list[Reply] = []
    can_move = False
    for square, target in _known_moves(after):
        if _crosses_too_often(root, square, target):
            continue
        can_move = True
        if is_safe(after, square, target):
            replies += _replies(root, after, excluded, ply, no_attack, square, target)
    if can_move and _at_limit(root, 1, no_attack):
        return Determinization(value=0.0)
    if not replies:
        return Determinization(value=math.inf)
    return Determinization(replies, bytes(after.unrevealed[OTHER]))


def _replies(
    root: BoundsRoot,
    after: SideBoard,
    excluded: list[int] | None,
    ply: bytes,
    no_attack: int,
    square: int,
    target: int,
) -> Iterator[Reply]:
    """The states that a safe reply leads to: of a hidden attacker one for each type."""
    attacks = bool(after.cells[target] & PIECE)
    hidden = after.hidden(square)
    for kind in after.possible(square) if attacks and hidden else [0]:
        last = after.play(square, target, attacker=kind)
        attacker = last.cells[target] & TYPE if attacks else NONE
        plies = bytes((square, target, attacker)) + ply
        state = _state(root, last, 0 if attacks else no_attack + 1, plies)
        if excluded is not None:
            state.excluded = memory.note(excluded, after, square, target)
        if attacks and after.cells[target] & TYPE == FLAG:
            state.value = -1.0
        yield Reply(state, square if attacks and hidden else NONE, kind)


def _state(root: BoundsRoot, board: SideBoard, no_attack: int, plies: bytes) -> State:
    """The observation of the same side two plies on."""
    old = root.packed
    count = min(number(old, PLIES) + 2, 65535)
    packed = (
        count.to_bytes(2, "little")
        + old[MAX_PLIES:NO_ATTACK]
        + min(no_attack, 65535).to_bytes(2, "little")
        + old[MAX_NO_ATTACK:PHASE]
        + bytes((0, 0, NONE, NONE))
        + bytes(board.unrevealed[OWN])
        + bytes(board.unrevealed[OTHER])
        + bytes(MOVES - ONLY_ATTACKS)  # which values do not depend on
        + plies
        + old[MOVES : CELLS - len(plies)]
        + bytes(board.cells)
    )
    value = math.nan
    if not any(True for square in _own_movers(board) for _ in _targets(board, square)):
        value = -1.0 if _has_movers(board, OTHER) or _has_movers(board, OWN) else 0.0
    elif _at_limit(root, 2, no_attack):
        value = 0.0
    return State(board, packed, None, value)


def _at_limit(root: BoundsRoot, plies: int, no_attack: int) -> bool:
    """Whether the game is drawn by a limit, so many plies on."""
    most, played = number(root.packed, MAX_PLIES), number(root.packed, PLIES) + plies
    most_no_attack = number(root.packed, MAX_NO_ATTACK)
    return bool((most and played >= most) or (most_no_attack and no_attack >= most_no_attack))


def _has_movers(board: SideBoard, side: int) -> bool:
    """Whether a side has a piece that is no bomb and no flag; of the enemy that is public too."""
    known = any(
        board.cells[square] & REVEALED and board.known_movable(square)
        for square in board.pieces(side)
    )
    return known or any(board.unrevealed[side][FLAG + 1 : BOMB])


def _own_movers(board: SideBoard) -> Iterator[int]:
    for square in board.pieces(OWN):
        if board.cells[square] & TYPE not in (FLAG, BOMB):
            yield square


def _targets(board: SideBoard, square: int) -> Iterator[int]:
    """Where a piece whose type is known to us can go."""
    return board.reach(square, far=board.cells[square] & TYPE == SCOUT)


def _known_moves(board: SideBoard) -> Iterator[tuple[int, int]]:
    """The moves of the enemy's pieces that are known to be able to make them."""
    for square in board.pieces(OTHER):
        if board.known_movable(square):
            scout = board.cells[square] & (REVEALED | TYPE) == REVEALED | SCOUT
            for target in board.reach(square, far=scout):
                yield square, target


def is_safe(board: SideBoard, start: int, end: int) -> bool:
    """Whether the enemy's move, of a piece that is known to be able to make it, is safe."""
    kinds = board.possible(start)
    if board.cells[end] & PIECE:
        victims = board.possible(end)
        if any(fight(kind, victim) != WINS for kind in kinds for victim in victims):
            return False
    after = board.play(start, end, attacker=kinds[0])
    return not any(
        fight(attacker, kind) != LOSES
        for square, far in after.attackers(end)
        for attacker in after.possible(square)
        if FLAG < attacker < BOMB and (attacker == SCOUT or not far)
        for kind in kinds
    )


def _crosses_too_often(root: BoundsRoot, start: int, end: int) -> bool:
    """Whether the two-squares rule forbids the enemy's move, as far as the shown plies tell."""
    if not root.two_squares:
        return False
    borders = _borders(root.board.width, start, end)
    at = start
    runs = dict.fromkeys(borders, 1)
    alive = set(borders)
    for ply in range(MOVES, CELLS, 6):  # the enemy's plies, the latest first
        before, after = root.packed[ply], root.packed[ply + 1]
        if before == NONE or after != at:
            break
        alive &= _borders(root.board.width, before, after)
        if not alive:
            break
        for border in alive:
            runs[border] += 1
        at = before
    return max(runs.values()) > root.two_squares


def _borders(width: int, start: int, end: int) -> set[tuple[int, int]]:
    """The borders between neighbouring squares that a move crosses."""
    low, high = min(start, end), max(start, end)
    step = 1 if high - low < width and low // width == high // width else width
    return {(square, square + step) for square in range(low, high, step)}
