"""A person in a game of single actions: cards, dice, stones, a matrix. The game's kit says what the
person reads, and what the actions are called."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stratkit.engine import Game
from stratkit.errors import InputError, nearest_or_all
from stratkit.games.table import kit_of
from stratkit.humans.choice import Choice
from stratkit.humans.session import MISFIT, RESIGN, Saved, Session
from stratkit.players.player import Decision, Games, Player, Sides, Views


class ChoosingPlayer(Player):
    """Asks for one action at a time. `sit_down` comes before the first game."""

    session: Session

    def __init__(self, game: Game) -> None:
        self.game, self.kit = game, kit_of(game)
        self._words = 0  # that were said in this game

    def sit_down(self, session: Session) -> None:
        """Plays through this session from now on."""
        self.session = session

    def begin(self, games: Games, sides: Sides) -> None:
        self._words = 0

    def act(self, views: Views) -> Decision:
        actions = np.array([self._action(views, row) for row in range(len(views))], np.int32)
        mu = np.ones(len(views), np.float32)
        return Decision(actions, mu, resigned=actions == RESIGN)

    def choice(self, views: Views, row: int) -> Choice:
        """The turn at which the person is."""
        side, names = int(views.sides[row]), self.kit.action_names()
        turn = self.kit.turn(side, views.observations[row])
        legal = np.flatnonzero(views.legal[row]).tolist()
        actions = {str(names[side, action]): action for action in legal}
        game, draws = int(views.games[row]), self.kit.draws
        return Choice(
            game, side, turn.column, turn.facts, turn.board, turn.cells, actions, resigns=draws
        )

    def _action(self, views: Views, row: int) -> int:
        choice = self.choice(views, row)
        chosen = {name.lower(): action for name, action in choice.actions.items()}
        if choice.resigns:
            chosen["resign"] = RESIGN
        for word in self._lines(choice):
            lower = word.lower()
            if lower in chosen:
                self._keep(choice.game, lower)
                return chosen[lower]
            if lower == "save":
                raise Saved
            if lower in ("help", ""):
                self.session.front.help(choice)
                continue
            hint = nearest_or_all(lower, [*chosen, "save", "help"])
            self.session.front.tell(str(InputError(f"no legal {choice.column}{hint}", text=word)))
        raise Saved

    def _lines(self, choice: Choice) -> Iterator[str]:
        """What was said before, then what the person types."""
        before, front = self.session.said.get(choice.game, ()), self.session.front
        if self._words < len(before):
            yield before[self._words]
            what = f"what was said {MISFIT}"
            raise InputError(what, file=self.session.file, text=before[self._words])
        front.show(choice)
        while (line := front.ask(f"{choice.column}> ")) is not None:
            yield " ".join(line.split())

    def _keep(self, game: int, word: str) -> None:
        if self._words >= len(self.session.said.get(game, ())):
            self.session.keep(game, word)
        self._words += 1
