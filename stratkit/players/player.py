"""A player and the views it plays from.

A player never sees the true state: a view holds what the acting side may know and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch
from stratkit.errors import StratkitError

Games = npt.NDArray[np.int64]  # numbers of games, [n]
Sides = npt.NDArray[np.int8]  # sides of games, [n]: the player's place in the game, from 0 on
Moves = list[tuple[int, int]]
Floats = npt.NDArray[np.float32]

NO_ACTION = "a player's policy has no action: its network is damaged"


def _no_moves(row: int) -> Moves:
    return []


@dataclass(frozen=True)
class Views:
    """What the acting sides of n games may know, one row a decision.

    `games` int64 and `sides` int8: the game's number and the side that acts. `numbers` int32: the
    number of the action in its game; together with a seed, game and number key every random choice.
    `legal` uint8 [n, actions] and `observations` uint8 [n, observation_bytes] are in the acting
    side's frame.

    `moves(row)`: of a game where a move is several actions, the legal moves of a row (square,
    destination) in the same frame, if a move begins there; asked during `act` only. They depend on
    what the acting side knows and on nothing else.
    """

    games: Games
    sides: Sides
    numbers: npt.NDArray[np.int32]
    legal: npt.NDArray[np.uint8]
    observations: npt.NDArray[np.uint8]
    moves: Callable[[int], Moves] = _no_moves

    def __len__(self) -> int:
        return len(self.games)

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Views:
        """These rows, without the moves, which only the caller can be asked for."""
        columns = (self.games, self.sides, self.numbers, self.legal, self.observations)
        return Views(*(column[rows] for column in columns))  # type: ignore[arg-type]

    @classmethod
    def of_one(cls, batch: Batch, game: int, number: int) -> Views:
        """The acting side's view of the only game in `batch`, which has had `number` actions."""
        return cls(
            np.array([game], np.int64),
            batch.actors(),
            np.array([number], np.int32),
            batch.legal(),
            batch.observe(),
            lambda row: batch.moves(row, int(batch.actors()[row])),
        )


@dataclass(frozen=True)
class Decision:
    """The chosen actions int32 [n] and `mu` float32 [n], the probability with which each was
    chosen; `values` float32 [n], what the player expects to get, if it was asked for that;
    `resigned` bool [n], the games that it gives up instead, if any."""

    actions: npt.NDArray[np.int32]
    mu: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32] | None = None
    resigned: npt.NDArray[np.bool_] | None = None


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
    """How the policy of one turn came about: the moves; by stage its name and the policy that it
    left, float32 [m], the network's own first; the value of the position and each move's upper
    bound, float32 [m] (NaN: not looked at), where a stage computes them. In deployment a move is
    from a square to itself: where the next piece may go. `number` is that of the action."""

    game: int
    number: int
    packed: npt.NDArray[np.uint8]
    moves: Moves
    stages: list[tuple[str, Floats]]
    value: float | None
    bounds: Floats | None


@runtime_checkable
class Explainer(Player, Protocol):
    """A player that can explain its moves."""

    def explained(self, log: Callable[[Explanation], None]) -> Player:
        """The same player, which also logs how each of its turns came about."""
        ...

    def explain(self, views: Views) -> list[Explanation]:
        """How it would play these turns, with the values of the positions."""
        ...


@dataclass(frozen=True)
class Terminal:
    """Where a person plays. `ask` gives the next line that the person types (None: there are no
    more), `show` shows text. `said`: by game, the words that were said before the match was left;
    `keep` keeps new ones. `hint`: what another player thinks of a position, of a view and its side;
    None: nobody can be asked."""

    ask: Callable[[], str | None]
    show: Callable[[str], None]
    said: Mapping[int, Sequence[str]] = field(default_factory=dict)
    keep: Callable[[int, str], None] = lambda game, word: None
    hint: Callable[[Views, int], str] | None = None


@runtime_checkable
class Interactive(Player, Protocol):
    """A person, who plays one game at a time at a terminal."""

    def sit_down(self, terminal: Terminal) -> None:
        """Plays at this terminal from now on."""
        ...


def take_seat(player: Player, game: int, side: int) -> tuple[Games, Sides]:
    """Begins one game; returns what `end` is to be called with."""
    seats = np.array([game], np.int64), np.array([side], np.int8)
    player.begin(*seats)
    return seats
