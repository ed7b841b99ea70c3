"""Matches of a run's newest checkpoint against one player, beside the learner that writes it.

Each is a `match` of its own in a process of the lowest priority, with a record in RUN/eval. The
learner only looks, at every step, whether it has ended. A match that was stopped goes on when the
run is resumed.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratkit.declared import option_name
from stratkit.engine import Game
from stratkit.engine.stratego import TYPES, open_types
from stratkit.errors import InputError, UsageError, counted, printable
from stratkit.match import MAX_GAMES, PLAYERS
from stratkit.match.options import RULES
from stratkit.match.scoreboard import PairingTally
from stratkit.players.spec import path_text
from stratkit.rating.onemore import between
from stratkit.storage.atomic import unshare
from stratkit.storage.checkpoints import checkpoint_path
from stratkit.storage.progress import RECORDS
from stratkit.storage.records import read_records
from stratkit.ucc.child import Child

NICE = 19
_RECORD = re.compile(r"step-(\d{8,})\.jsonl")


@dataclass(frozen=True)
class Opponent:
    """Whom checkpoints play.

    player   a PLAYER
    games    how many each plays; even
    """

    player: str
    games: int


def parse_opponent(text: str) -> Opponent:
    """Reads SPEC:GAMES. `UsageError`."""
    player, _, games = text.rpartition(":")
    if not player or not re.fullmatch("[0-9]{1,9}", games) or not 1 <= int(games) <= MAX_GAMES:
        raise UsageError(f"not SPEC:GAMES, with 1 to {MAX_GAMES} games", where="--eval", text=text)
    return Opponent(player, int(games) + int(games) % 2)


class Evaluation:
    """The matches of one run, one at a time. `warn` is told why one failed. `keys` of a PLAYER,
    each with a comma, say how checkpoints play."""

    def __init__(
        self,
        run: str,
        opponent: Opponent,
        game: Game,
        seed: int,
        warn: Callable[[str], None],
        keys: str = "",
    ) -> None:
        self.run, self.opponent, self.game, self.seed, self.warn = run, opponent, game, seed, warn
        self.keys = keys
        self.folder = Path(run) / RECORDS
        self._step: int | None = self._unfinished()  # that is played, or is to be played next
        self._newest = self._done = -1  # of the steps that were offered, and that were played
        self._match: Child | None = None

    def offer(self, step: int) -> None:
        """There is a checkpoint of this step. It plays if no newer one comes before its turn."""
        self._newest = step

    def look(self) -> Mapping[str, Any] | None:
        """Begins a match if none is played. What a match that has ended tells of its step."""
        match = self._match
        if match is None:
            self._begin()
            return None
        if match.poll() is None:
            return None
        step, self._step = self._step, None
        assert step is not None
        self._done = step
        self.stop()
        if match.status and not checkpoint_path(self.run, step).exists():
            return None  # --keep deleted it while the match began: the newest is next
        if match.status:
            self.warn(f"--eval: the match of step {step} failed: {match.said}")
            return None
        return self._result(step)

    def stop(self) -> None:
        """Ends a match that is played; its games are kept."""
        if self._match is not None:
            self._match.close()
            self._match = None

    # ---- a match ----

    def _begin(self) -> None:
        if self._step is None and self._newest > self._done:
            self._step = self._newest
        if self._step is None:
            return
        checkpoint = checkpoint_path(self.run, self._step)
        if not checkpoint.exists():  # --keep has deleted it
            self._step = None
            return
        try:
            self.folder.mkdir(exist_ok=True)
            unshare(self._record(self._step))
            words = self._words(checkpoint, self._step)
            self._match = Child("match", *words, nice=NICE)  # Ctrl-C is the learner's alone
        except OSError as error:  # the disk is full: learning goes on
            self.warn(f"--eval: step {self._step}: {error}")
            self._done, self._step = self._step, None

    def _words(self, checkpoint: Path, step: int) -> list[str]:
        record = self._record(step)
        words = [self.keys + path_text(os.fspath(checkpoint), PLAYERS), self.opponent.player]
        words += ["-n", str(self.opponent.games), "--game", self.game.name]
        usual = Game(self.game.name).rules
        for option, rule in RULES.items():
            value = self.game.rules.get(rule)
            if value != usual.get(rule):
                words += [option_name(option), self._value(rule, value or 0)]
        words += ["--seed", str(self.seed), "--concurrency", "1", "-q", "-o", os.fspath(record)]
        return [*words, *(["--resume"] if record.exists() else [])]

    def _value(self, rule: str, value: int) -> str:
        """A rule as the option of `match` has it."""
        if rule == "open":
            return ",".join(TYPES[type_] for type_ in open_types(self.game.rules))
        return "off" if not value else "on" if rule == "more_squares" else str(value)

    def _record(self, step: int) -> Path:
        return self.folder / f"step-{step:08}.jsonl"

    # ---- records ----

    def _unfinished(self) -> int | None:
        """The step of the newest match, if games of it are missing."""
        names = os.listdir(self.folder) if self.folder.is_dir() else []
        steps = [int(match[1]) for name in names if (match := _RECORD.fullmatch(name))]
        if not steps or sum(self._tally(max(steps))[1].games) >= self.opponent.games:
            return None
        return max(steps)

    def _tally(self, step: int) -> tuple[str, PairingTally]:
        """The opponent's name, and the games of the checkpoint."""
        name, tally = "", PairingTally()
        path = self._record(step)
        try:
            with open(path, "rb") as stream:
                for header, record in read_records(stream, os.fspath(path)):
                    name = header.players[1].name
                    tally.add(record, 0)
        except (InputError, OSError) as error:
            self.warn(f"--eval: {error}")
        return name, tally

    def _result(self, step: int) -> Mapping[str, Any] | None:
        opponent, tally = self._tally(step)
        if not (games := sum(tally.games)):
            return None  # the record was damaged, and that was told
        estimate = between(tally.pairs.units())
        ends = estimate.elo, estimate.low, estimate.high
        elo, low, high = (x if math.isfinite(x) else None for x in ends)
        _, drawn, won = tally.games
        return {
            "step": step,
            "opponent": opponent,
            "games": games,
            "score": (won + drawn / 2) / games,
            "elo": elo,
            "low": low,
            "high": high,
        }


def sentence(result: Mapping[str, Any]) -> str:
    """What a match has shown, for people."""
    lost_all = "-∞" if result["score"] < 0.5 else "+∞"
    signs = (("elo", lost_all), ("low", "-∞"), ("high", "+∞"))
    elo, low, high = (
        sign if result[name] is None else f"{round(result[name]):+d}" for name, sign in signs
    )
    against = f"step {result['step']} against {printable(result['opponent'])}"
    return f"{against}: Elo {elo} ({low} to {high}), {counted(result['games'], 'game')}"
