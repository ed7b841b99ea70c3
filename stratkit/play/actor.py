"""Self-play as its options ask for it, by a fixed policy or following a learner."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from stratkit.engine import Game
from stratkit.errors import Say
from stratkit.play import MAX_SLOTS
from stratkit.play.acting import acting_policy, unsearched
from stratkit.play.finished import Finished, in_order
from stratkit.play.opponents import ByScore, ByTurns
from stratkit.play.options import ITSELF, RULES, SelfplayOptions
from stratkit.play.seating import GameSource, Opening
from stratkit.play.selfplay import Frozen, SelfplayGames, ending_names
from stratkit.play.table import Table
from stratkit.players.baselines import RandomPlayer
from stratkit.players.player import Player
from stratkit.players.registry import parse_player
from stratkit.storage.episodes import SLICES, VERSION, Episodes, Header
from stratkit.storage.streams import check_reader
from stratkit.threads import use_threads

if TYPE_CHECKING:  # these need torch, random play does not
    from stratkit.play.backpressure import BackPressure, FolderBackPressure
    from stratkit.play.follower import Follower
    from stratkit.players.spec import Contestant

SLOTS = 128  # games at a time, where nobody waits for them
POLL = 0.001  # seconds between looks at the learner, while there is nothing to play


class Actor:
    """Plays the games that the options ask for. `say` shows remarks, `warn` what cannot wait,
    `note` what only some want to know. Opens a fixed policy and its opponents at once, so that the
    header is known; a learner's policy may not be there yet."""

    def __init__(
        self, options: SelfplayOptions, say: Say, warn: Say, note: Say = lambda text: None
    ) -> None:
        use_threads(options.threads)
        self.options, self.say, self.warn, self.note = options, say, warn, note
        self.game = Game(options.game, options.rules)
        self.follower: Follower | None = None
        self.pressure: BackPressure | None = None
        self.network: str | None = None
        self.slots, self.step = options.slots or SLOTS, -1
        self.output: int | None = None  # the descriptor to which episodes go, if any
        self._true_sight = False
        self.player: Player = RandomPlayer(options.seed)
        self._tell_unsearched()
        if options.follow:
            from stratkit.play.follower import Follower

            self.follower = Follower(options.policy, self.game, options.actors)
        elif options.by_network or options.actors or options.policy in RULES:
            self._open_policy()
        self.opponents = self._open_opponents()

    @property
    def true_sight(self) -> bool:
        """Whether the search looks at the true state alone."""
        return self.follower.acting.true_sight if self.follower else self._true_sight

    def _tell_unsearched(self) -> None:
        """Says what the games are for, if only some of their decisions are searched."""
        if not self.options.actors:
            return
        policy = "policy" if self.options.by_network else self.options.policy
        searching = acting_policy(self.options.actors, policy).searching
        if key := unsearched(searching, self.game.actions_per_ply > 1):
            what = "only train --targets played learns from these games"
            self.warn(f"{key} leaves decisions without a target: {what}")

    def _open_policy(self) -> None:
        """A player that stays as it is: a network, or rules, perhaps with a search."""
        from stratkit.players.factory import open_player

        policy, by_network = self.options.policy, self.options.by_network
        spec = parse_player("policy" if by_network else policy)
        acting = acting_policy(self.options.actors or "none", spec.spec)
        self._true_sight, spec = acting.true_sight, replace(spec, options=acting.options)
        if by_network:
            from stratkit.models.open_model import published_file

            options = replace(acting.options, net="online")
            spec = replace(spec, text=policy, spec=published_file(policy), options=options)
        contestant = open_player(spec, self.game, self.options.seed, self.slots)
        self.player, self.network, self.step = contestant.player, contestant.sha256, contestant.step
        if contestant.caution:
            self.warn(contestant.caution)

    def _open_opponents(self) -> dict[str, Contestant[Player]]:
        """The frozen players of the other sides, by the text that asked for them."""
        from stratkit.players.factory import open_player

        specs = {spec.text: spec for spec in self.options.opponents if spec}
        # About half of a player's games wait for it: little padding.
        rows = -(-3 * self.slots // (8 * max(1, len(self.options.opponents))))
        opponents = {
            text: open_player(spec, self.game, self.options.seed, rows)
            for text, spec in specs.items()
        }
        for contestant in opponents.values():
            if contestant.caution:
                self.warn(contestant.caution)
        return opponents

    @property
    def _frozen(self) -> list[Player]:
        return [contestant.player for contestant in self.opponents.values()]

    def _met(self) -> ByTurns:
        """Whom the games are against: 0 is the policy, and frozen players follow."""
        options, players = self.options, self.game.players
        indices = {text: index for index, text in enumerate(self.opponents, 1)}
        against = [indices[spec.text] if spec else 0 for spec in options.opponents] or [0]
        if options.by_score is None:
            return ByTurns(against, players)
        names, first = [one.name for one in self.opponents.values()], options.range[0]
        every, seed = options.by_score, options.seed
        return ByScore(
            against, players, every, seed, first, names, lambda text: self.note(f"selfplay: {text}")
        )

    def header(self) -> Header:
        """What the episodes share."""
        met = [spec and self.opponents[spec.text] for spec in self.options.opponents]
        opponents = [contestant.spec if contestant else ITSELF for contestant in met]
        networks = [contestant.sha256 if contestant else None for contestant in met]
        return Header(
            version=VERSION if self.options.slice is None else SLICES,
            game=self.game.name,
            rules=self.game.rules,
            endings=ending_names(self.game),
            seed=self.options.seed,
            first_game=self.options.range[0],
            network=self.network,
            step=self.step,
            post=self._post,
            opponent=opponents[0] if len(met) == 1 else tuple(opponents) or None,
            opponent_network=networks[0] if len(met) == 1 else tuple(networks) or None,
            by_score=self.options.by_score,
        )

    @property
    def _post(self) -> str:
        """How the policy is played, in the words of the header."""
        keys, policy = self.options.actors, self.options.policy
        if policy in RULES:
            return f"{keys},{policy}" if keys else policy
        return keys or ("published" if self.follower else "none")

    @property
    def placement(self) -> FolderBackPressure | None:
        """Where the learner that is followed wants its shards."""
        from stratkit.play.backpressure import FolderBackPressure

        return self.pressure if isinstance(self.pressure, FolderBackPressure) else None

    def episodes(self, opening: Opening | None) -> Iterator[Episodes | None]:
        """Plays; yields after every round, or moment of waiting, the episodes whose turn it is, or
        None. Waits first for the learner that is followed."""
        options = self.options
        first, count = options.range
        numbers: Iterator[int] = iter(
            itertools.count(first) if count is None else range(first, first + count)
        )
        if options.slice is None:
            numbers, expected = itertools.tee(numbers)
        met = self._met()
        source: GameSource = SelfplayGames(self.game, numbers, opening, self.step, met)
        if self.follower is not None:
            from stratkit.play.backpressure import FollowedGames

            self.follower.await_first(lambda: self._pause(50 * POLL), self.say, self.warn)
            self.pressure = self._back_pressure(self.follower)
            self.player = self.follower.make_player(options.seed, self.slots)
            source = FollowedGames(source, self.pressure, lambda n: self._pause(n * POLL))
        self._place()
        table = Table(
            self.game,
            [self.player, *map(Frozen, self._frozen)],
            source,
            self.slots,
            options.threads,
            options.max_actions,
            options.seed,
            slice_length=options.slice,
            true_sight=lambda: self.true_sight,
        )
        rounds = _noted(table.rounds(), met)
        for finished in rounds if options.slice else in_order(rounds, expected):
            if self.pressure is not None and finished is not None:
                self.pressure.delivered += len(finished)
            yield None if finished is None else finished.episodes

    def _back_pressure(self, follower: Follower) -> BackPressure:
        """Also sets the slots. Episodes are delivered in order, so a long game holds back those
        behind it: a share of about four times the slots keeps them filled. `UsageError` as from
        `check`."""
        from stratkit.play.backpressure import (
            PERIODS_AHEAD,
            BackPressure,
            FolderBackPressure,
            periods_ahead,
        )

        options = self.options
        periods = PERIODS_AHEAD if any(options.opponents) else periods_ahead(self.game)
        writers = options.part[1] if options.part else 1
        pressure: BackPressure
        if options.to_folder:
            to = options.output
            pressure = FolderBackPressure(follower, options.max_ahead, 0, to, periods, writers)
        else:
            origin = self.header().origin
            pressure = BackPressure(follower, options.max_ahead, 0, periods, writers, origin)
        pressure.check()
        ahead = pressure.share
        alone = options.max_ahead is None and periods == 1  # no game waits for older ones
        slots = options.slots or min(MAX_SLOTS, max(1, ahead if alone else ahead // 4))
        if slots > ahead:
            what = f"plays {ahead} games at a time, not {slots}: --max-ahead allows no more"
            self.say(f"selfplay: {what}")
        self.slots = pressure.slots = min(slots, ahead)
        return pressure

    def _place(self) -> None:
        """Networks to where they compute."""
        device, bf16 = self.options.device, self.options.bf16
        if not self.options.by_network or (device == "cpu" and not bf16):
            return  # there they are
        import torch

        from stratkit.players.factory import place

        for player in (self.player, *self._frozen):
            place(player, device, torch.bfloat16 if bf16 else torch.float32)

    def _pause(self, seconds: float) -> None:
        check_reader(self.output)
        time.sleep(seconds)


def _noted(rounds: Iterator[Finished | None], met: ByTurns) -> Iterator[Finished | None]:
    """The same games, which the opponents' scores know before other games begin."""
    for finished in rounds:
        if finished is not None:
            met.note(finished)
        yield finished
