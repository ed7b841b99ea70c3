"""The kinds of players: how each is written on a command line, its options, and who opens it.

Another kind is another entry here, or, where this room must not know it, in a tuple of the room
above (`stratkit.ucc.kind`). This module imports neither torch nor numpy: `--help` needs it too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from stratkit.declared import Option, one_of, option, options_of, text
from stratkit.errors import UsageError
from stratkit.models.shipped import SHIPPED
from stratkit.players.searching.options import SEARCH_PRESETS, SearchOptions
from stratkit.players.testtime.options import FAST, PRESETS, PostProcessing

if TYPE_CHECKING:
    from stratkit.engine import Game
    from stratkit.players.open import Entrant
    from stratkit.players.spec import PlayerSpec

# For who wants to play and not to choose: the best search of those tried, at most a second a move.
STRONG = {
    **FAST,
    "search": "mmd",
    "rollouts": "4096",
    "depth": "3",
    "eta": "30",
    "belief": "setups",
    "time": "1",
}


@dataclass(frozen=True)
class Setting:
    """Where a player is opened: its random numbers' `seed`; `rows`: how many views a network
    evaluates at a time, at most; `talkative`: whether its remarks are for the user."""

    seed: int
    rows: int
    talkative: bool = False


@dataclass(frozen=True)
class PlayerKind:
    """A kind of player.

    `name` is what messages call it, in the plural. A SPEC is of this kind if it is one of `words`,
    or begins with `prefix`. `options` is the dataclass of its options (None: whoever opens it reads
    them), `presets` sets several of them at once. `open` raises `InputError` or `UsageError` when
    there is no such player, or it does not play the game. `matches_only`: it plays matches, and
    nothing else. `runs_code`: its SPEC names something to execute, which only the user may do.
    """

    name: str
    open: Callable[[PlayerSpec, Game, Setting], Entrant[Any]]
    words: tuple[str, ...] = ()
    prefix: str | None = None
    options: type | None = None
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    matches_only: bool = False
    runs_code: bool = False

    def takes(self, spec: str) -> bool:
        """Whether the SPEC is of this kind."""
        return spec in self.words or (self.prefix is not None and spec.startswith(self.prefix))

    def accepted(self) -> Iterator[tuple[str, Option]]:
        """Its options by key, `preset` last."""
        yield from options_of(self.options) if self.options else ()
        if self.presets:
            words = one_of(*self.presets)
            yield "preset", Option(words, "set several keys at once; explicit keys override it")


@dataclass(frozen=True)
class HumanOptions:
    """Of a person."""

    setup: str | None = option(None, text("FILE"), "begin from the first setup of FILE")


@dataclass(frozen=True)
class NetworkOptions:
    """Of a network."""

    net: str | None = option(
        None, text("NET"), "which of a checkpoint's networks plays (default: target, or average)"
    )
    post: PostProcessing = field(default_factory=PostProcessing)
    searching: SearchOptions = field(default_factory=SearchOptions)


def _open_random(spec: PlayerSpec, game: Game, setting: Setting) -> Entrant[Any]:
    from stratkit.games.heuristic import UniformBlueprint
    from stratkit.players.open import Entrant, open_search
    from stratkit.players.random import RandomPlayer

    if spec.options:
        return open_search(spec, game, setting, UniformBlueprint())
    return Entrant(spec.name or spec.spec, RandomPlayer(setting.seed), spec.spec)


def _open_heuristic(spec: PlayerSpec, game: Game, setting: Setting) -> Entrant[Any]:
    from stratkit.players.open import open_heuristic

    return open_heuristic(spec, game, setting)


def _open_human(spec: PlayerSpec, game: Game, setting: Setting) -> Entrant[Any]:
    """People are seated by the room above, `stratkit.humans`."""
    raise UsageError("people play matches, and nothing else", text=spec.text)


def _open_own(spec: PlayerSpec, game: Game, setting: Setting) -> Entrant[Any]:
    from stratkit.players.own import open_own

    return open_own(spec, game, setting)


def _open_network(spec: PlayerSpec, game: Game, setting: Setting) -> Entrant[Any]:
    from stratkit.players.open import open_network

    return open_network(spec, game, setting)


RANDOM = PlayerKind(
    "random", _open_random, words=("random",), options=SearchOptions, presets=SEARCH_PRESETS
)
HEURISTIC = PlayerKind(
    "heuristic",
    _open_heuristic,
    words=("heuristic",),
    options=SearchOptions,
    presets=SEARCH_PRESETS,
)
HUMAN = PlayerKind("people", _open_human, words=("human",), options=HumanOptions, matches_only=True)
OWN = PlayerKind("classes of your own", _open_own, prefix="py:", runs_code=True)
NETWORK = PlayerKind(
    "networks",
    _open_network,
    words=SHIPPED,
    options=NetworkOptions,
    presets={**PRESETS, **SEARCH_PRESETS, "strong": STRONG},
)
# A SPEC of no other kind is a network's: a checkpoint file or a RUN.
KINDS = (RANDOM, HEURISTIC, HUMAN, OWN, NETWORK)


def help_table(kinds: Sequence[PlayerKind]) -> list[tuple[str, str]]:
    """What `--help` says of the keys: (key and value, what it does, for whom)."""
    of: dict[tuple[str, str], list[str]] = {}
    for kind in kinds:
        for key, said in kind.accepted():
            of.setdefault((f"{key}={said.kind.metavar}", said.help), []).append(kind.name)
    return [(key, f"{text} ({', '.join(names)})") for (key, text), names in of.items()]


def words_of(kinds: Sequence[PlayerKind]) -> tuple[str, ...]:
    """What a shell offers at the beginning of a PLAYER: the words, the prefixes, the keys."""
    words = [word for kind in kinds for word in kind.words]
    prefixes = [kind.prefix for kind in kinds if kind.prefix]
    keys = dict.fromkeys(f"{key}=" for kind in kinds for key, _ in kind.accepted())
    return (*words, *prefixes, *keys)


def kind_of(spec: str, kinds: Sequence[PlayerKind]) -> PlayerKind:
    """The kind of a SPEC."""
    return next((kind for kind in kinds if kind.takes(spec)), NETWORK)
