"""What an algorithm's batches hold. Imports neither torch nor numpy: the table of algorithms is
made of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BatchSpec:
    """What batches hold, and how the steps of episodes are laid out in them.

        rows             views are padded to a multiple of this
        own_deployment   placing pieces is learned by another network, from outcomes
        deployment_only  nothing else is learned
        hidden           only moments at which a side on a board begins a move, whoever made it, and
                         the enemy has a hidden piece; their types, as of `engine.hidden_types`,
                         follow each observation
        searched         with what a search found
        slices           slices of games are welcome, too
        examples         examples of values instead of episodes

    The algorithm says the last two and `hidden`; the others follow from the network and settings.
    """

    rows: int = 1
    own_deployment: bool = False
    deployment_only: bool = False
    hidden: bool = False
    searched: bool = False
    slices: bool = False
    examples: bool = False

    @property
    def unit(self) -> str:
        """What is counted, for messages."""
        return "example" if self.examples else "episode"
