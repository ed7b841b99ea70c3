"""A player and the views it plays from.

A player never sees the true state: a view holds what the acting side may know and nothing else.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from stratkit.engine import Batch
from stratkit.errors import StratkitError
from stratkit.search.side_state import SideState
from stratkit.storage.columns import PolicyTargets

if TYPE_CHECKING:
    from stratkit.search.decision import SearchResult

Games = npt.NDArray[np.int64]  # numbers of games, [n]
Sides = npt.NDArray[np.int8]  # sides of games, [n]: the player's place in the game, from 0 on
Rows = npt.NDArray[np.int64]
Moves = list[tuple[int, int]]
Floats = npt.NDArray[np.float32]

NO_ACTION = "a player's policy has no action: its network is damaged"


@dataclass(frozen=True)
class Views:
    """What the acting sides of n games may know, one row a decision.

    games         int64 [n], the game's number
    sides         int8 [n], who acts
    numbers       int32 [n], number of the action in its game, or, in a game where not everybody
                  knows it, another one that the side knows (`Batch.numbers`); together with a seed,
                  game and number key every random choice
    legal         uint8 [n, actions], in the acting side's frame
    observations  uint8 [n, observation_bytes], in that frame too

    All else that the sides may know is asked of `state`.
    """

    games: Games
    sides: Sides
    numbers: npt.NDArray[np.int32]
    legal: npt.NDArray[np.uint8]
    observations: npt.NDArray[np.uint8]
    _batch: Batch | None = None  # of the games; None: `state` has nothing to ask
    _rows: npt.NDArray[np.int64] | None = None  # of the batch, [n]
    _actions: Callable[[int], npt.NDArray[np.int32]] | None = None  # of a row, what was played
    _true_sight: bool = False  # worlds are copies of the true state

    def __len__(self) -> int:
        return len(self.games)

    @property
    def of_games(self) -> bool:
        """Whether `state` has a game to ask."""
        return self._batch is not None

    def take(self, rows: npt.NDArray[np.int64] | slice) -> Views:
        """These rows."""
        return Views(
            self.games[rows],
            self.sides[rows],
            self.numbers[rows],
            self.legal[rows],
            self.observations[rows],
            self._batch,
            None if self._rows is None else self._rows[rows],
            self._actions,
            self._true_sight,
        )

    def state(self, row: int) -> SideState:
        """What the side of this row may ask of its game, during `act` only."""
        at = -1 if self._rows is None else int(self._rows[row])
        return SideState(
            self._batch,
            at,
            int(self.sides[row]),
            int(self.games[row]),
            int(self.numbers[row]),
            None if self._actions is None else self._actions(at),
            self._true_sight,
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
        true_sight: bool = False,
    ) -> Views:
        """The acting sides' views of these rows of `batch`.

        numbers     int32 [n], how many actions their games have had
        seen        what `Batch.view` gave of them
        actions     of a row of the batch, what was played since the start of its game
        true_sight  whether worlds are copies of the true state
        """
        sides, legal, observations = seen
        numbers = batch.numbers(rows, numbers)
        return cls(games, sides, numbers, legal, observations, batch, rows, actions, true_sight)

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
    """What a player decides at n views.

    actions     int32 [n], those chosen
    mu          float32 [n], the probability with which each was chosen
    values      float32 [n], what the player expects to get, if it was asked for that
    resigned    bool [n], the games that it gives up instead, if any
    agreed      bool [n], those in which it agrees to a draw instead, if any
    out_of_time bool [n], those that it has lost by its clock instead, if any
    targets     [n], of a player that searches: what a network is to learn of the policy
    root_value  float32 [n], and of the value; NaN: nothing was searched
    """

    actions: npt.NDArray[np.int32]
    mu: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32] | None = None
    resigned: npt.NDArray[np.bool_] | None = None
    targets: PolicyTargets | None = None
    root_value: Floats | None = None
    agreed: npt.NDArray[np.bool_] | None = None
    out_of_time: npt.NDArray[np.bool_] | None = None

    @classmethod
    def merged(cls, n: int, parts: Sequence[tuple[Rows, Decision]]) -> Decision:
        """What is decided at n views: each part has some rows of them, int64 [m], and what was
        decided there. There are values where all parts have them."""
        columns: dict[str, Any] = {"actions": np.empty(n, np.int32), "mu": np.empty(n, np.float32)}
        for name, missing in _MISSING.items():
            if any(getattr(decision, name) is not None for _, decision in parts):
                columns[name] = np.full(n, missing)
        for rows, decision in parts:
            for name, column in columns.items():
                if (found := getattr(decision, name)) is not None:
                    column[rows] = found
        if any(decision.values is None for _, decision in parts):
            columns.pop("values", None)
        if any(decision.targets is not None for _, decision in parts):
            targets = PolicyTargets.concat(
                [one.targets or PolicyTargets.none(len(rows)) for rows, one in parts]
            )
            at = np.argsort(np.concatenate([rows for rows, _ in parts]))
            columns["targets"] = targets.take(at)
        return cls(**columns)


# Of the columns that a decision may have: what stands for a view of which nobody says it.
_MISSING = {
    "values": np.float32(np.nan),
    "root_value": np.float32(np.nan),
    **dict.fromkeys(("resigned", "agreed", "out_of_time"), np.False_),
}


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
    for instead in (decision.resigned, decision.agreed, decision.out_of_time):
        none = none if instead is None else none & ~instead
    if none.any():
        raise StratkitError(NO_ACTION)
    return decision


@dataclass(frozen=True)
class Explanation:
    """How the policy of a turn came about.

    game    its number
    side    whose turn it is
    packed  its observation
    moves   the m moves; in deployment from a square to itself: where the next piece may go
    stages  the name of each, and the policy that it left, float32 [m]; the network's own first
    value   of the position, where a stage computes it
    bounds  float32 [m], each move's upper bound, where a stage computes it; NaN: not looked at
    search  what a search found, if there was one
    """

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


def watch(player: Player, views: Views) -> None:
    """The player sees its turns, on which others decide, by deciding in vain if need be."""
    if isinstance(player, Watcher):
        player.watch(views)  # it does not search
    else:
        player.act(views)


class WrappingPlayer(Player):
    """Plays as `player` does, but for the decisions that a subclass takes."""

    def __init__(self, player: Player) -> None:
        self.player = player

    def begin(self, games: Games, sides: Sides) -> None:
        self.player.begin(games, sides)

    def act(self, views: Views) -> Decision:
        return self._decide(views, values=False)

    def act_with_values(self, views: Views) -> Decision:
        """`ValuePlayer.act_with_values`: without values, where `player` has none."""
        return self._decide(views, values=True)

    @abstractmethod
    def _decide(self, views: Views, values: bool) -> Decision:
        """What it decides, with values if they are wanted and there are any."""

    def watch(self, views: Views) -> None:
        """`Watcher.watch`."""
        watch(self.player, views)

    def end(self, games: Games, sides: Sides) -> None:
        self.player.end(games, sides)


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
