"""What a match is asked for, and whether it makes sense. Imports no numpy: `--help` needs it."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from stratkit.declared import MAX_THREADS, usage, whole
from stratkit.errors import InputError, UsageError, error_context
from stratkit.frozen import frozen
from stratkit.humans.options import PersonOptions
from stratkit.match import MAX_GAMES, PLAYERS
from stratkit.match.seats import check_names, counts_of
from stratkit.players.registry import MIXTURE, NETWORK, check_there, learned_game, parse_player
from stratkit.players.spec import MIX, PlayerSpec
from stratkit.rating.sprt import Sprt, parse_sprt
from stratkit.regular import open_regular

if TYPE_CHECKING:
    from stratkit.match.adjudicate import Limit
    from stratkit.storage.records import RecordHeader

# Rules that a match may change, by their options. Games and files call the no-attack limit so.
RULES = {
    "two_squares": "two_squares",
    "more_squares": "more_squares",
    "max_plies": "max_plies",
    "max_no_attack": "max_quiet",
    "open": "open",
}
# SPECs that name something to execute begin so.
COMMANDS = tuple(kind.prefix for kind in PLAYERS if kind.runs_code and kind.prefix)


@frozen(kw_only=True)
class MatchOptions:
    """The options of `match`.

    games, game   None: the record that is resumed has them
    seed_given    whether the user chose the seed, and not the system
    start         the FENfS at which the games of the record that is resumed began
    """

    players: tuple[PlayerSpec, ...]
    seed_given: bool
    start: str | None = None
    games: int | None = usage(
        "-n GAMES",
        "Games a pairing, rounded up so that all seats are played equally often.",
        whole(1, MAX_GAMES),
    )
    game: str | None = usage(
        "--game G", "The game to play (default: that of PLAYERs that come with stratkit)."
    )
    gauntlet: bool = usage("--gauntlet", "The first PLAYER meets all others, who do not meet.")
    seats: str | None = usage(
        "--seats AvB|POWER=NAME,...",
        "In a game of A + B players one PLAYER has A seats, another B; or who sits at each power.",
    )
    setups: str | None = usage(
        "--setups FILE",
        "Begin pair k from setups 2k and 2k + 1 of FILE (- is stdin); without it players deploy.",
    )
    rules: Mapping[str, int]
    resign: str | None = usage(
        "--resign T[,K]",
        "A network loses that K decisions in a row expects -T or less (default K: 8).",
    )
    draw: str | None = usage(
        "--draw T[,K]",
        "Draw when both networks expected -T to T in their last K decisions (default K: 8).",
    )
    sprt: str | None = usage(
        "--sprt elo0=A,elo1=B[,alpha=.05,beta=.05]",
        "Stop when it is decided whether the first of two PLAYERs is B or only A Elo stronger.",
    )
    seed: int
    slots: int = usage(
        "--slots N",
        "Games among our own players played at a time (default: 128).",
        whole(1, 65536),
        128,
    )
    concurrency: int = usage(
        "--concurrency N",
        "Games with programs played at a time; threads of engine and networks (default: the "
        "cores).",
        whole(1, MAX_THREADS),
        lambda: len(os.sched_getaffinity(0)),
    )
    output: str | None = usage(
        "-o, --output GAMES.jsonl", "Append the games to this file; - is stdout."
    )
    resume: bool = usage(
        "--resume",
        "Play the games that GAMES.jsonl does not have yet; what is not given is as it is there.",
    )
    log_every: int | None = usage(
        "--log-every N", "Say every N games how the match stands, for log files.", whole(1)
    )
    explain: str | None = usage(
        "--explain FILE", "Log to FILE how the networks' moves come about; - is stdout."
    )
    force: bool = usage("-f, --force", "Overwrite GAMES.jsonl if it exists.")
    person: PersonOptions

    @property
    def record(self) -> str:
        """The file of the record, or `-`. `UsageError`: none is given."""
        if self.output is None:
            raise UsageError("missing -o GAMES.jsonl")
        return self.output

    @property
    def limits(self) -> tuple[Limit | None, Limit | None]:
        """When a player resigns, and when both agree to a draw."""
        from stratkit.match.adjudicate import parse_limit

        resign = None if self.resign is None else parse_limit(self.resign, "--resign")
        return resign, None if self.draw is None else parse_limit(self.draw, "--draw")

    @property
    def test(self) -> Sprt | None:
        """The sequential test that may stop the match."""
        return None if self.sprt is None else parse_sprt(self.sprt)

    def check(self) -> None:
        """Raises `UsageError` for options that do not go together."""
        if not self.players and not self.resume:
            raise UsageError("missing PLAYERs")
        if self.output == "-" and self.resume:
            raise UsageError("--resume needs a file, not stdout")
        self.person.check()
        if self.force and self.resume:
            raise UsageError("--resume continues GAMES.jsonl, -f overwrites it: give one of them")

    def with_record(self) -> MatchOptions:
        """With --resume: what is not given is as the record's header has it. Programs and other
        code are never taken from there: a file must not start commands. Without a header the game
        is that of PLAYERs that come with stratkit. Raises `InputError` and `UsageError`."""
        from stratkit.storage.records import read_header

        header = read_header(self.record) if self.resume else None
        if header is None and not self.players:
            what = "there is no such record to resume, and the command line is missing PLAYERs"
            raise UsageError(what, file=self.record)
        if header is None:
            game = self.game or learned_game(self.players)
            options = replace(self, game=game)
        else:
            options = self._completed(header)
        options._check_whole()
        return options

    def _completed(self, header: RecordHeader) -> MatchOptions:
        from stratkit.engine import Game
        from stratkit.storage.records import GAUNTLET

        setups = self.setups
        if setups is None and header.setups is not None:
            setups = header.setups.get("file")
            if setups == "-":
                raise UsageError("the setups came from stdin: give them again with --setups")
            _check_setups(header, setups)
        if self.game is None:
            with error_context(self.record, "line 1"):
                Game.stored(header.game)
        return replace(
            self,
            players=self.players or _players(header, self.record),
            games=self.games or _games(header, self.record),
            game=self.game or header.game,
            gauntlet=self.gauntlet or header.pairing == GAUNTLET,
            seats=header.seats if self.seats is None else self.seats,
            setups=setups,
            rules={**header.rules, **self.rules},
            resign=header.resign if self.resign is None else self.resign,
            draw=header.draw if self.draw is None else self.draw,
            sprt=header.sprt if self.sprt is None else self.sprt,
            start=header.start,
            seed=self.seed if self.seed_given else header.seed,
        )

    def check_seats(self, game: str, players: int, powers: Sequence[str] | None) -> None:
        """`UsageError`: --seats does not fit a game of so many players, or other options do not."""
        if self.seats is None and players > 2:
            what = f"{game} has {players} players: --seats 1v{players - 1} seats one PLAYER"
            raise UsageError(f"{what} among others")
        if self.seats is not None and counts_of(self.seats, game, players) is None:
            check_names(self.seats, game, powers)
            if self.sprt is not None or self.gauntlet:
                given = "--sprt" if self.sprt is not None else "--gauntlet"
                raise UsageError(f"{given} does not go with names at powers", text=self.seats)
        for name in ("sprt", "resign", "draw") if players > 2 else ():
            if getattr(self, name) is not None:
                raise UsageError(f"--{name} is for games of two players, not for {game}")

    def check_limits(self, game: str, stakes: bool) -> None:
        """`UsageError`: games are to end by values that are no chances to win: with stakes nobody
        knows how much is lost."""
        for name in ("resign", "draw") if stakes else ():
            if getattr(self, name) is not None:
                what = "is for games without stakes, where a win is worth 1"
                raise UsageError(f"--{name} {what}, not for {game}")

    def _check_whole(self) -> None:
        """What can be said when all options are known."""
        if len(self.players) < 2:
            few = "a match needs at least two players" if self.players else "missing PLAYERs"
            raise UsageError(few)
        if self.game is None:
            for player in self.players:
                check_there(player)  # a misspelt name would have told the game
        needed = {"--game": self.game, "-n GAMES": self.games, "-o GAMES.jsonl": self.output}
        if missing := [option for option, value in needed.items() if value in (None, 0)]:
            raise UsageError(f"missing {', '.join(missing)}")
        told = self.setups is not None or any(spec.setup is not None for spec in self.players)
        if told and (self.person.from_game or self.start) is not None:
            what = "--setups and setup= do not go with games that begin as --from-game says"
            raise UsageError(what)
        self._check_files()
        test, _ = self.test, self.limits  # which are read here
        if test and len(self.players) != 2:
            raise UsageError("--sprt tests the first of two players against the second")

    def _check_files(self) -> None:
        """-f overwrites files, but no input and not the other output."""
        from stratkit.notation.setups import file_and_name

        files = [
            spec.spec
            for spec in self.players
            if spec.kind is NETWORK and spec.spec not in NETWORK.words
        ]
        files += [spec.spec.removeprefix(MIX) for spec in self.players if spec.kind is MIXTURE]
        named = (self.setups, *(file for spec in self.players for file in _setups_of(spec)))
        inputs = [*(file_and_name(text)[0] for text in named if text), *files]
        logs = [spec.given.get("log") for spec in self.players]  # several players may share one
        taken = {os.path.realpath(path) for path in (*inputs, *logs) if path and path != "-"}
        for path in filter(None, (self.record, self.explain)):
            real = path if path == "-" else os.path.realpath(path)
            if real in taken:
                what = "-o and --explain must not name an input, a log= or each other"
                raise UsageError(what, text=path)
            taken.add(real)


def _setups_of(spec: PlayerSpec) -> tuple[str | None, str | None]:
    """The files of setups that a PLAYER names."""
    return spec.setup, spec.given.get("favourites")


def _players(header: RecordHeader, file: str) -> tuple[PlayerSpec, ...]:
    """The players of the record that is resumed. `UsageError`: one of them is a command."""
    command = re.compile(rf"(^|,)({'|'.join(COMMANDS)})")  # a file of such a name counts too
    if any(command.search(player.spec) for player in header.players):
        import shlex

        texts = [f"name={player.name},{player.spec}" for player in header.players]
        what = "--resume runs no program, class or mixture that a record names"
        raise UsageError(f"{what}; if you trust these, give them: {shlex.join(texts)}", file=file)
    with error_context(file):
        specs = [(parse_player(player.spec, PLAYERS), player.name) for player in header.players]
    _check_setups(header, *(file for spec, _ in specs for file in _setups_of(spec)))
    return tuple(replace(spec, name=name) for spec, name in specs)


def _check_setups(header: RecordHeader, *files: str | None) -> None:
    """`InputError`: a file that only the record names is no regular one, of which reading ends, or
    holds something else than setups, of which nothing is shown."""
    from stratkit.engine.stratego import variant
    from stratkit.notation.setups import all_setups, file_and_name

    for file in (file_and_name(text)[0] for text in files if text):
        with contextlib.suppress(FileNotFoundError), open_regular(file) as stream:
            try:
                all_setups(stream, file, variant(header.game))
            except InputError:
                what = "no file of setups, though the record names it as one"
                raise InputError(what, file=file) from None


def _games(header: RecordHeader, file: str) -> int:
    """The games a pairing of the record that is resumed."""
    if header.games > MAX_GAMES:
        raise InputError(f"over {MAX_GAMES} games", file=file, where="line 1", text=header.games)
    return header.games
