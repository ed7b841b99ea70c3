"""Those who watch a game between others: they see what both sides know, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stratkit.humans.choice import Choice
from stratkit.humans.live_clock import LiveClock
from stratkit.humans.live_page import LivePage
from stratkit.humans.observed_game import Offer, Turn
from stratkit.humans.page_server import Forbidden
from stratkit.humans.phase import Phase
from stratkit.humans.scenes import public_scene
from stratkit.humans.session import Ended, FrontEnd
from stratkit.players.player import Explanation


class Spectators(LivePage):
    """Their page. It gets no hidden piece, also when the game is over: a setup is its owner's."""

    armies = False
    begins = "watch"

    def watch(self, scene: Offer | Turn | Choice | Phase) -> None:
        """One side is shown this."""
        now = public_scene(scene) if isinstance(scene, Turn) else None
        self._publish(phase="watch", scene=now)

    def game(self, number: int) -> str | None:
        raise Forbidden("hidden pieces are for the players: who watches sees what both sides know")

    def say(self, version: int, word: str) -> bool:
        raise Forbidden("who watches does not play: the seats have invitations of their own")


@dataclass(frozen=True)
class Watched(FrontEnd):
    """A front end at whose game others look on."""

    front: FrontEnd
    spectators: Spectators

    def show(self, scene: Offer | Turn | Choice | Phase | Ended) -> None:
        self.front.show(scene)
        if not isinstance(scene, Ended):
            self.spectators.watch(scene)

    def advise(self, turn: Turn, advice: Sequence[Explanation], every: bool) -> None:
        self.front.advise(turn, advice, every)

    def tell(self, text: str) -> None:
        self.front.tell(text)

    def help(self, scene: Offer | Turn | Choice | Phase) -> None:
        self.front.help(scene)

    def ask(self, prompt: str, clock: LiveClock | None = None) -> str | None:
        return self.front.ask(prompt, clock)
