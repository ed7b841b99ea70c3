"""A person chooses the level of the opponent before each game."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from stratkit.errors import InputError
from stratkit.humans.choice import Choice
from stratkit.humans.session import FrontEnd, Saved
from stratkit.humans.words import LEVEL, Words
from stratkit.players.chosen_level import ChosenLevel
from stratkit.players.levels import suggestion
from stratkit.players.spec import LEVEL as PREFIX

COLUMN = "level"


class LevelChoice:
    """Asks at `front` for the level of `player`, and keeps it among the `words` of the game. `game`
    has the levels; `scores` are the person's, 1, .5 or 0 a game, by level. `meet` is told the name
    of the level that is met."""

    def __init__(
        self,
        player: ChosenLevel,
        front: FrontEnd,
        words: Words,
        game: str,
        scores: Mapping[int, Sequence[float]],
        meet: Callable[[str], None] = lambda name: None,
    ) -> None:
        self.player, self.front, self.words = player, front, words
        self.game, self.scores, self.meet = game, scores, meet

    def begin(self, game: int, side: int) -> None:
        """A game begins. `Saved`: the person leaves. `InputError`: the level that was kept is
        none."""
        if game not in self.words.levels:
            self.words.say(game, f"{LEVEL}{self._ask(game, side)}")
        level, last = self.words.levels[game], len(self.player.levels)
        if not 1 <= level <= last:
            raise InputError(f"levels are 1 to {last}", file=self.words.path, text=str(level))
        self.player.choose(level)
        self.meet(f"{PREFIX}{level}")

    def _ask(self, game: int, side: int) -> int:
        names = {str(at + 1): at for at in range(len(self.player.levels))}
        facts = [f"1 is the weakest level, {len(names)} the strongest"]
        told = (suggestion(level, self.game, won) for level, won in self.scores.items())
        facts += filter(None, told)
        text = "".join(f"{line}\n" for line in facts)
        scene = Choice(game, side, COLUMN, text, "", None, names, resigns=False)
        self.front.show(scene)
        while (line := self.front.ask(f"{COLUMN}> ")) is not None:
            word = line.strip().lower()
            if word == "save":
                break
            if word in names:
                return int(word)
            if word in ("", "help"):
                self.front.help(scene)
            else:
                what = f"levels are 1 to {len(names)}"
                self.front.tell(str(InputError(what, text=line.strip())))
        raise Saved
