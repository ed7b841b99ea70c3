"""What may be done to a network's policy on its way to the board, as keys of a PLAYER.

This module imports neither torch nor numpy. `pipeline` does what is asked for here.
"""

from __future__ import annotations

from stratkit.declared import number, one_of, option, switch, whole
from stratkit.frozen import frozen

MAX_QUANTA = 10_000

_PROBABILITY = number(0.0, 1.0)
_QUANTA = whole(0, MAX_QUANTA)


@frozen()
class PostProcessing:
    """The stages between a policy and the board; the defaults do nothing."""

    temperature: float = option(
        1.0, number(0.01, 100.0), "take a move's probability to the power 1/X, and renormalise"
    )
    threshold: float = option(
        0.0, _PROBABILITY, "drop moves that are less probable than X, and renormalise"
    )
    quanta: int = option(0, _QUANTA, "round probabilities up to multiples of 1/N")
    per: str = option(
        "move",
        one_of("move", "action"),
        "temperature, threshold and quanta are of whole moves, or of each of their two actions",
    )
    deploy_threshold: float | None = option(
        None, _PROBABILITY, "threshold in deployment (default: as in play)"
    )
    deploy_quanta: int | None = option(None, _QUANTA, "quanta in deployment (default: as in play)")
    ties: str = option(
        "first",
        one_of("first", "random"),
        "which of equally probable moves come first when the quanta run out",
    )
    eager: float = option(
        1.0, number(0.01, 100.0), "show the network a no-attack ratio r of 1 - (1 - r)^X"
    )
    memory: str = option(
        "off", one_of("off", "on", "renormalised"), "exclude types that would have attacked before"
    )
    repeat_threats: bool = option(
        True, switch(), "allow a piece to threaten the same piece over and over"
    )
    bounds: float | None = option(
        None,
        number(0.0, 2.0, none="off"),
        "drop moves that are worse than the position by X after two plies, whatever is hidden",
    )

    def processing(self, deploying: bool) -> tuple[float, int]:
        """Threshold and quanta of a phase."""
        threshold, quanta = self.threshold, self.quanta
        if deploying and self.deploy_threshold is not None:
            threshold = self.deploy_threshold
        if deploying and self.deploy_quanta is not None:
            quanta = self.deploy_quanta
        return threshold, quanta

    @property
    def of_single_actions(self) -> bool:
        """Whether nothing is asked for but threshold and quanta of single actions, which is what
        `finetune` learns the values of. `NetworkPlayer` does that without any stage."""
        alone = PostProcessing(threshold=self.threshold, quanta=self.quanta, per="action")
        return self in (PostProcessing(), alone)

    @property
    def tracks_games(self) -> bool:
        """Whether games must be followed from move to move."""
        return self.memory != "off" or not self.repeat_threats

    @property
    def of_pieces(self) -> bool:
        """Whether something is asked for that needs pieces of hidden types: of setups or plies."""
        post = self.temperature, self.threshold, self.quanta
        return self != PostProcessing(*post, per=self.per, ties=self.ties)
