"""A player and the views it plays from.

A player never sees the true state: a view holds what the acting side may know and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch, known_actions, worlds
from stratkit.errors import StratkitError
from stratkit.storage.columns import PolicyTargets

if TYPE_CHECKING:
    from stratkit.search.decision import SearchResult

Games = npt.NDArray[np.int64]  # numbers of games, [n]
Sides = npt.NDArray[np.int8]  # sides of games, [n]: the player's place in the game, from 0 on
Moves = list[tuple[int, int]]
Floats = npt.NDArray[np.float32]

NO_ACTION = "a player's policy has no action: its network is damaged"


def _no_moves(row: int) -> Moves:
    return []


class Worlds(Protocol):
    """Draws worlds of the side that acts in a row; `Views.worlds` says how."""

    def __call__(self, row: int, n: int, seed: int = 0) -> Batch: ...


def _no_worlds(row: int, n: int, seed: int = 0) -> Batch:
    raise ValueError("these views have no worlds")


def _no_turn(row: int) -> Batch | None:
    raise ValueError("these views have no turns")


def _no_history(row: int) -> npt.NDArray[np.int32] | None:
    return None


@dataclass(frozen=True)
class Views:
    """What the acting sides of n games may know, one row a decision.

    `games` int64 and `sides` int8: the game's number and the side that acts. `numbers` int32: the
    number of the action in its game, or, in a game where not everybody knows it, another one that
    the side knows (`Batch.numbers`). Together with a seed, game and number key every random choice.
    `legal` uint8 [n, actions] and `observations` uint8 [n, observation_bytes] are in the acting
    side's frame.

    `moves(row)`: of a game where a move is several actions, the legal moves of a row (square,
    destination) in the same frame, if a move begins there.

    `worlds(row, n, seed)`: n states that the acting side cannot tell from the true one, drawn as
    `stratkit.engine.worlds` says: a function of what that side knows, of seed, game and number. It
    is the only way by which a player gets states. `ValueError`: there are none.

    `history(row)`: int32 [k], the game's actions so far, each in its side's frame, as the acting
    side knows them (`stratkit.engine.known_actions`); None where the game did not begin at its
    start, or its actions cannot be told so.

    `turn(row)`: one state, where the simultaneous turn began that the acting side is in: everybody
    knows it (`Batch.rewind`); None where players move in turn. `ValueError`: nobody can say.

    All four are asked during `act` only, and depend on what the acting side knows and on nothing
    else.
    """

    games: Games
    sides: Sides
    numbers: npt.NDArray[np.int32]
    legal: npt.NDArray[np.uint8]
    observations: npt.NDArray[np.uint8]
    moves: Callable[[int], Moves] = _no_moves
    worlds: Worlds = _no_worlds
    history: Callable[[int], npt.NDArray[np.int32] | None] = _no_history
    turn: Callable[[int], Batch | None] = _no_turn

    def __len__(self) -> int:
        return len(self.games)

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Views:
        """These rows."""
        at = np.arange(len(self))[rows]

        def drawn(row: int, n: int, seed: int = 0) -> Batch:
            return self.worlds(int(at[row]), n, seed)

        return Views(
            self.games[rows],
            self.sides[rows],
            self.numbers[rows],
            self.legal[rows],
            self.observations[rows],
            lambda row: self.moves(int(at[row])),
            drawn,
            lambda row: self.history(int(at[row])),
            lambda row: self.turn(int(at[row])),
        )

    @classmethod
    def of_batch(
        cls,
        batch: Batch,
        rows: npt.NDArray[np.int64],
        games: Games,
        numbers: npt.NDArray[np.int32],
        seen: tuple[Sides, npt.NDArray[np.uint8], npt.NDArray[np.uint8]],
        actions: Callable[[int], npt.NDArray[np.int32]] | None = None,
    ) -> Views:
        """The acting sides' views of these rows of `batch`: `seen` is what `Batch.view` gave of
        them, `numbers` int32 how many actions their games have had. `actions`: of a row of the
        batch, what was played since the start of its game."""
        sides, legal, observations = seen
        numbers = batch.numbers(rows, numbers)

        def moves(index: int) -> Moves:
            return batch.moves(int(rows[index]), int(sides[index]))

        def drawn(row: int, n: int, seed: int = 0) -> Batch:
            return worlds(batch, int(rows[row]), n, seed, int(games[row]), int(numbers[row]))

        def history(index: int) -> npt.NDArray[np.int32] | None:
            if actions is None:
                return None
            return known_actions(batch.game, actions(int(rows[index])), int(sides[index]))

        def turn(index: int) -> Batch | None:
            begun = Batch.gathered([(batch, [int(rows[index])])])
            if begun.turns()[0] < 0:
                return None
            begun.rewind()
            return begun

        return cls(games, sides, numbers, legal, observations, moves, drawn, history, turn)

    @classmethod
    def of_one(
        cls,
        batch: Batch,
        game: int,
        number: int,
        actions: Sequence[int] | npt.NDArray[np.int32] | None = None,
    ) -> Views:
        """The acting side's view of the only game in `batch`, which has had `number` actions:
        these `actions`, if they began it."""
        return cls.of_batch(
            batch,
            np.zeros(1, np.int64),
            np.array([game], np.int64),
            np.array([number], np.int32),
            (batch.actors(), batch.legal(), batch.observe()),
            None if actions is None else lambda row: np.array(actions, np.int32),
        )


@dataclass(frozen=True)
class Decision:
    """The chosen actions int32 [n] and `mu` float32 [n], the probability with which each was
    chosen; `values` float32 [n], what the player expects to get, if it was asked for that;
    `resigned` bool [n], the games that it gives up instead, if any. Of a player that searches:
    `targets` [n], what a network is to learn of the policy, and `root_value` float32 [n], of the
    value (NaN: nothing was searched)."""

    actions: npt.NDArray[np.int32]
    mu: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32] | None = None
    resigned: npt.NDArray[np.bool_] | None = None
    targets: PolicyTargets | None = None
    root_value: Floats | None = None


@runtime_checkable
class Player(Protocol):
    """Chooses an action for each of many views at once.

    A player may sit on several sides of one game. What it remembers of a game belongs to a side of
    it, from `begin` to `end`, and no other side may profit from it. Different games may be played
    in different threads.
    """

    def begin(self, games: Games, sides: Sides) -> None:
        """These games begin for the player, on these sides. Nothing to do, unless overridden."""
        return

    def act(self, views: Views) -> Decision:
        """One legal action for each view."""
        ...

    def end(self, games: Games, sides: Sides) -> None:
        """These games are over for the player, played out or not. Nothing to do, unless
        overridden."""
        return


# ---- what else a player may offer ----


@runtime_checkable
class PolicyPlayer(Player, Protocol):
    """A player whose policy can be looked at."""

    @property
    def random_ties(self) -> bool:
        """Whether chance decides on the policy too, where probabilities are equal."""
        ...

    def policy(self, views: Views) -> Floats:
        """float32 [n, actions]: what `act` would draw from, 0 where illegal. Of a game that has not
        begun the player knows what the view shows."""
        ...


@runtime_checkable
class ValuePlayer(Player, Protocol):
    """A player that says what it expects to get, for whoever adjudicates games."""

    def act_with_values(self, views: Views) -> Decision:
        """What `act` returns, with values, which take time."""
        ...


def decide(player: Player, views: Views, values: bool = False) -> Decision:
    """What the player decides, with values if they are wanted and it has any. `StratkitError`: it
    decides nothing, because its policy is no policy."""
    if values and isinstance(player, ValuePlayer):
        decision = player.act_with_values(views)
    else:
        decision = player.act(views)
    none = decision.actions < 0
    if none.any() and (decision.resigned is None or (none & ~decision.resigned).any()):
        raise StratkitError(NO_ACTION)
    return decision


@dataclass(frozen=True)
class Explanation:
    """How the policy of a turn of `side` came about: the moves; by stage its name and the policy
    that it left, float32 [m], the network's own first; the value of the position and each move's
    upper bound, float32 [m] (NaN: not looked at), where a stage computes them; what a search found,
    if there was one. In deployment a move is from a square to itself: where the next piece may
    go."""

    game: int
    side: int
    packed: npt.NDArray[np.uint8]
    moves: Moves
    stages: list[tuple[str, Floats]]
    value: float | None
    bounds: Floats | None
    search: SearchResult | None = None


@runtime_checkable
class Explainer(Player, Protocol):
    """A player that can explain its moves."""

    def explained(self, log: Callable[[Explanation], None]) -> Player:
        """The same player, which also logs how each of its turns came about."""
        ...

    def explain(self, views: Views) -> list[Explanation]:
        """How it would play these turns, with the values of the positions."""
        ...


@runtime_checkable
class Watcher(Player, Protocol):
    """A player that can see turns without the work of deciding."""

    def watch(self, views: Views) -> None:
        """Sees turns on which others decide, so that it goes on from them as from its own."""
        ...


@runtime_checkable
class Logged(Player, Protocol):
    """A player that can say in words how its moves come about, whatever the game."""

    def logged(self, log: Callable[[str], None]) -> Player:
        """The same player, which also logs how each of its turns came about."""
        ...


def take_seat(player: Player, game: int, side: int) -> tuple[Games, Sides]:
    """Begins one game; returns what `end` is to be called with."""
    seats = np.array([game], np.int64), np.array([side], np.int8)
    player.begin(*seats)
    return seats
