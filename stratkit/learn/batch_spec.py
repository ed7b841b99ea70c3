"""What an algorithm wants batches to hold. This module imports neither torch nor numpy."""

from __future__ import annotations

from stratkit.frozen import frozen


@frozen()
class BatchSpec:
    """What batches hold, and how the steps of episodes are laid out in them.

        rows             views are padded to a multiple of this
        own_deployment   placing pieces is learned by another network, from outcomes
        deployment_only  nothing else is learned
        hidden           only moments at which a side on a board begins a move, whoever made it, and
                         the enemy has a hidden piece; their types, as of `engine.hidden_types`,
                         follow each observation
        searched         with what a search found
        face_up          observations show what the enemy's hidden pieces are
        slices           slices of games are welcome, too
        examples         examples of values instead of episodes

    The algorithm says the last two and `hidden`; the others follow from the network and settings.
    """

    rows: int = 1
    own_deployment: bool = False
    deployment_only: bool = False
    hidden: bool = False
    searched: bool = False
    face_up: bool = False
    slices: bool = False
    examples: bool = False

    @property
    def unit(self) -> str:
        """What is counted, for messages."""
        return "example" if self.examples else "episode"
