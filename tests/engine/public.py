"""Public trees of small games beside their trees in sequence form."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from stratkit.engine import Game, PublicTree, Subgames, Tree


@dataclass(frozen=True)
class Pair:
    """Both trees of a game; `sets`: which information set of `tree` each of `public` is."""

    tree: Tree
    public: PublicTree
    sets: np.ndarray

    def to_public(self, policy: np.ndarray) -> np.ndarray:
        """The policy of the public tree's choices, of one of the tree's actions."""
        first = self.tree.first[self.sets] - self.public.first[:-1]
        return policy[np.repeat(first, np.diff(self.public.first)) + np.arange(len(policy))]

    def to_tree(self, policy: np.ndarray) -> np.ndarray:
        back = np.empty_like(policy)
        back[self.to_public(np.arange(len(policy)))] = policy
        return back

    def whole(self) -> tuple[Subgames, tuple[np.ndarray, np.ndarray]]:
        """The whole game as a subgame, and the beliefs with which it begins."""
        public, opening = self.public, self.public.opening
        beliefs = public.prior(opening, 0)[None], public.prior(opening, 1)[None]
        return Subgames(public, np.array([opening], np.int32), 0), beliefs


@functools.cache
def pair_of(name: str, plies: int = 0) -> Pair:
    """Of a game; of a board of Stratego, drawn after so many plies."""
    game = Game(name, {"max_plies": plies} if plies else None)
    tree, public = Tree(game), PublicTree(game)
    return Pair(tree, public, public.infosets(tree))
