"""Best responses in Liar's Dice, for all hands at once."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated

import numpy as np

from stratkit.arguments import Between, Count, Player, Threads, checked, fitting, within
from stratkit.arrays import Bytes, Float64s, Int8s, Int64s
from stratkit.engine.best_response import MOST_PIECES, BothResponses
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, filled, lib, pointer, writable
from stratkit.engine.tree import three_parts

MOST_BIDS = 24  # of 2 ** 24 sets of bids


@checked
def dice_bids(game: Game) -> int:
    """How many bids there are, at most `MOST_BIDS`; 0: it is another game, or there are more."""
    bids = int(lib.sk_dice_bids(game.handle))
    return bids if bids <= MOST_BIDS else 0


class DiceSets:
    """The information sets of Liar's Dice: number m * hands + h is of hand h where the bids of m
    were made, a bit each. `ValueError`: it is another game.

        bids       int, that there are
        choices    int, of all information sets together, E
        histories  int, of the game
    """

    @checked
    def __init__(self, game: Game) -> None:
        self.game, self.bids = game, dice_bids(game)
        if not self.bids:
            raise ValueError(f"game must be Liar's Dice, not {game.name}")
        hands, faces = game.hands, game.observation_bytes - 2 - self.bids
        self._counts = np.empty((hands, faces), np.uint8)
        lib.sk_dice_hands(game.handle, writable(self._counts))
        sets = 1 << self.bids
        self.choices: int = hands * (2 * sets - 2)
        self.histories: int = 1 + hands + hands * hands * (2 * sets - 1)

    def __len__(self) -> int:
        """The number of information sets of both players."""
        return self.game.hands << self.bids

    @checked
    def views(
        self, begin: Annotated[int, Between(0, 2**31 - 1)], end: Count
    ) -> tuple[Bytes, Bytes]:
        """Of the sets from number `begin` up to `end`: observations uint8 [n, observation_bytes]
        and legal uint8 [n, actions], as a batch has them. Choices are the ones of `legal`."""
        return self.views_of(np.arange(begin, min(end, len(self))))

    @checked
    def views_of(self, numbers: Int64s) -> tuple[Bytes, Bytes]:
        """The same of the sets of these numbers."""
        fitting("numbers", numbers, (None,))
        within("numbers", numbers, 0, len(self) - 1)
        made, hand = np.divmod(numbers, self.game.hands)
        bids = (made[:, None] >> np.arange(self.bids) & 1).astype(np.uint8)
        player = bids.sum(1) % 2
        sees = np.concatenate(
            [np.stack([player == 0, player == 1], 1), self._counts[hand], bids], 1, dtype=np.uint8
        )
        legal = np.zeros((len(made), self.game.actions), np.uint8)
        last = np.frexp(made)[1] - 1
        legal[:, : self.bids] = np.arange(self.bids) > last[:, None]
        legal[:, self.bids] = made > 0
        return sees, legal

    @checked
    def find(self, players: Int64s, before: Int64s, observations: Bytes) -> Int64s:
        """The numbers of the sets in which players see this, int64 [n]; -1: there is none. Who
        plays, and what it has done before, an observation says by itself."""
        fitting("observations", observations, (None, self.game.observation_bytes))
        counts, bids = observations[:, 2 : -self.bids], observations[:, -self.bids :]
        alike = (counts[:, None] == self._counts).all(2)
        numbers = bids @ (1 << np.arange(self.bids)) * self.game.hands + alike.argmax(1)
        return np.where(alike.any(1), numbers, -1)

    @cached_property
    def first(self) -> Int64s:
        """int64 [sets + 1]: where the choices of each begin."""
        return np.concatenate([[0], self._sizes.cumsum()])

    @cached_property
    def _sizes(self) -> Int64s:
        """int64 [sets]: how many choices each has."""
        made = np.arange(1 << self.bids)
        choices = self.bids - np.frexp(made)[1].astype(np.int64) + (made > 0)
        return np.repeat(choices, self.game.hands)

    @cached_property
    def mine(self) -> Int8s:
        """int8 [E]: whose each choice is."""
        made, bids = np.arange(1 << self.bids), np.zeros(1 << self.bids, np.int8)
        for bid in range(self.bids):
            bids += made >> bid & 1
        return np.repeat(np.repeat(bids % 2, self.game.hands), self._sizes)

    def uniform(self) -> Float64s:
        """float64 [E]: all choices of a set alike."""
        return np.asarray(np.repeat(1 / self._sizes, self._sizes), np.float64)


class DiceResponses(BothResponses):
    """`BothResponses` to a policy float64 [E], the choices of `DiceSets`. `choices` uint8 [sets]
    becomes the number of each set's best choice.
    """

    _kind = "dice"

    @checked
    def __init__(
        self, sets: DiceSets, policy: Float64s, threads: Threads, choices: Bytes | None = None
    ) -> None:
        self.sets, self._policy, self._choices = sets, policy, choices
        given = pointer("policy", policy, "float64", (sets.choices,))
        best = ffi.NULL
        if choices is not None:
            best = filled("choices", choices, "uint8", (len(sets),))
        self._open(sets.game.handle, given, threads, best)


class DiceUpdate:
    """`player`'s half of an iteration of CFR, which changes its part of `regrets` and `average`,
    float64 [E]. All 0 at first, they are the policy. `keep` as in `Tree.cfr`. It is made when
    `step` has returned that nothing is left; until then they are of no use."""

    @checked
    def __init__(
        self,
        sets: DiceSets,
        player: Player,
        keep: tuple[float, float, float],
        regrets: Float64s,
        average: Float64s,
    ) -> None:
        self._must_outlive = sets, regrets, average
        of_choices = "float64", (sets.choices,)
        both = filled("regrets", regrets, *of_choices), filled("average", average, *of_choices)
        opened = lib.sk_dice_cfr_open(sets.game.handle, player, *three_parts(keep), *both)
        if opened == ffi.NULL:
            raise MemoryError
        self._handle = ffi.gc(opened, lib.sk_dice_cfr_close)

    @checked
    def step(self, pieces: Annotated[int, Between(1, MOST_PIECES)] = 8) -> int:
        """Walks through so many parts more; returns how many are left. Python may be interrupted
        between two steps."""
        return int(lib.sk_dice_cfr_walk(self._handle, pieces))
