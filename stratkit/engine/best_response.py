"""What a best response wins against a policy, in games too large to be enumerated, and between any
number of players."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any

from stratkit.arguments import Between, checked
from stratkit.arrays import Bytes
from stratkit.engine.game import Game
from stratkit.engine.library import ffi, filled, lib, pointer, text
from stratkit.engine.tree import MAX_BYTES, TOO_LARGE, MemoryExceeded, Most, Tree, Vector
from stratkit.errors import InputError

STEP = 200_000  # histories that are walked through before Python may be interrupted
MOST_PIECES = 1 << 20  # of a step


class BestResponse:
    """A walk through all histories of `game`, one of perfect recall, in which `player` responds to
    a policy of all players. Of two players one wins what the other loses. It keeps no histories but
    those of the decisions on its path.

    The policy is float64 [E], of the information sets of `tree`, which may be one of sets only;
    both None: all actions alike. What follows is right when `step` has returned True:

        best       float, what the player wins by its best response
        value      float, what it wins by its own part of the policy
        gain       float, what it would win by choosing one of its turns anew, in the mean of its
                   turns as the policy comes to them; it plays by the policy before and after
        histories  int, that the others' parts of the policy allow
        infosets   int, of the player, among them
        bytes      int, that it took at most

    `choices` uint8 [I] of the tree becomes the number of the best choice in each set of the player.
    """

    @checked
    def __init__(
        self,
        game: Game,
        player: Annotated[int, Between(0, 6)],
        tree: Tree | None = None,
        policy: Vector | None = None,
        most_bytes: Most = MAX_BYTES,
        choices: Bytes | None = None,
    ) -> None:
        if player >= game.players:
            raise ValueError(f"player must be below {game.players}")
        if (tree is None) != (policy is None):
            raise ValueError("policy and tree belong together")
        if tree is None and choices is not None:
            raise ValueError("choices and tree belong together")
        self.game, self._tree, self._policy, self._choices = game, tree, policy, choices
        opened, null = ffi.new("sk_response **"), ffi.NULL
        of_tree, of_policy, best = null, null, null
        if tree is not None:
            if tree.game.handle != game.handle:
                raise ValueError("tree must be of the same game")
            of_tree = tree.handle
            of_policy = pointer("policy", policy, "float64", (len(tree.actions),))
            if choices is not None:
                best = filled("choices", choices, "uint8", (len(tree),))
        limits = player, most_bytes
        wrong = lib.sk_response_open(game.handle, of_tree, of_policy, *limits, best, opened)
        if wrong != null:
            raise InputError(f"game {game.name}: {text(wrong)}")
        self._handle = ffi.gc(opened[0], lib.sk_response_close)
        self._whole, self._most_bytes = ffi.new("int32_t *"), most_bytes
        self._read()

    @checked
    def step(self, histories: Annotated[int, Between(1, 2**31 - 1)] = STEP) -> bool:
        """Walks through about so many histories more. Whether none is left. `MemoryExceeded`: it
        needs more memory than it may have. `InputError`: the game breaks the rules of games."""
        wrong = lib.sk_response_walk(self._handle, histories, self._whole)
        self.game.check()
        self._read()
        if wrong != ffi.NULL and text(wrong) == TOO_LARGE:
            raise MemoryExceeded(self.game, self._most_bytes)
        if wrong != ffi.NULL:
            raise InputError(f"game {self.game.name}: {text(wrong)}")
        return bool(self._whole[0])

    def _read(self) -> None:
        result: Any = ffi.new("sk_response_result *")
        lib.sk_response_read(self._handle, result)
        self.best: float = result.best
        self.value: float = result.value
        self.gain: float = result.gains / result.turns if result.turns else 0.0
        self.histories: int = result.histories
        self.infosets: int = result.infosets
        self.bytes: int = result.bytes


class BothResponses:
    """Best responses of both players, in a walk by pieces of the C functions of one kind of game.
    What follows is right when `step` has returned that nothing is left:

        best    of each player, what it wins by its best response
        values  of each player, what it wins by its own part of the policy
    """

    _kind: str  # in the names of the functions

    def _open(self, *arguments: Any) -> None:
        opened = ffi.new(f"sk_{self._kind}_response **")
        wrong = self._function("open")(*arguments, opened)
        if opened[0] != ffi.NULL:
            self._handle = ffi.gc(opened[0], self._function("close"))
        if wrong != ffi.NULL:
            raise MemoryError(text(wrong))
        self.left: int = self._function("pieces")(self._handle)

    def _function(self, name: str) -> Any:
        return getattr(lib, f"sk_{self._kind}_response_{name}")

    @checked
    def step(self, pieces: Annotated[int, Between(1, MOST_PIECES)] = 8) -> int:
        """Walks through so many pieces more; returns how many are left."""
        self.left = self._function("walk")(self._handle, pieces)
        return self.left

    @cached_property
    def _results(self) -> Any:
        if self.left:
            raise ValueError(f"{self.left} pieces are left")
        results = ffi.new("sk_response_result[2]")
        self._read(results)
        return results

    def _read(self, results: Any) -> None:
        self._function("read")(self._handle, results)

    @property
    def best(self) -> tuple[float, float]:
        """What each player wins by its best response."""
        return self._results[0].best, self._results[1].best

    @property
    def values(self) -> tuple[float, float]:
        """What each player wins by its own part of the policy."""
        return self._results[0].value, self._results[1].value
