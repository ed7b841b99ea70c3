"""PLAYER on a command line: `[key=value,]...SPEC`, SPEC last; and what it becomes. All players
may have the keys `name` and `setup`.

SPEC is a word or a path: `random`, `heuristic`, `human`, a checkpoint file, a RUN folder,
`py:MODULE:CLASS[,key=value...]`, `table:FILE`, `mix=FILE`, `level=N`, or `ucc:COMMAND`. A path with
a comma or `=` is written with `./` before it. The registry says which kinds and keys there are.
This module imports neither torch nor numpy: `--help` needs it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from stratkit.declared import Option, one_of, options_of
from stratkit.errors import UsageError
from stratkit.frozen import frozen

if TYPE_CHECKING:
    from stratkit.engine import Game

T = TypeVar("T")

MIX, LEVEL = "mix=", "level="  # begin the SPECs of mixtures and levels, and are no keys
TABLE = "table:"  # begins those of tables
CHOSEN = f"{LEVEL}any"  # the SPEC of the level that a person chooses before each game
_OPTION = re.compile(rf"(?!{MIX}|{LEVEL})([A-Za-z_][A-Za-z0-9_-]*)=([^,]*)(,|$)")


@frozen(eq=False)
class PlayerKind:
    """A kind of player, as the command line knows it. A SPEC is of this kind if it is one of
    `words` or begins with `prefix`.

    name       what messages call it, in the plural
    words      SPECs of this kind
    prefix     what its other SPECs begin with
    options    dataclass of its options; None: whoever opens it reads them
    presets    by word, keys that are set together
    runs_code  its SPEC names something to execute, which only the user may do
    """

    name: str
    words: tuple[str, ...] = ()
    prefix: str | None = None
    options: type | None = None
    presets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
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


@frozen()
class PlayerSpec:
    """What a PLAYER asks for.

    text     the whole PLAYER
    spec     its SPEC, with its prefix
    kind     of which kind it is
    kinds    among which it was read
    options  an instance of the kind's dataclass
    name     the name that it was given, if any
    setup    FILE[#NAME] of the setup that it was told, if any
    given    texts of the options, by key
    """

    text: str
    spec: str
    kind: PlayerKind
    kinds: Sequence[PlayerKind] = field(repr=False)
    options: Any = None
    name: str | None = None
    setup: str | None = None
    given: Mapping[str, str] = field(default_factory=dict)


@frozen()
class OpenContext:
    """Where a player is opened.

    seed       of its random numbers
    rows       how many views a network evaluates at a time, at most
    talkative  its remarks are for the user
    """

    seed: int
    rows: int
    talkative: bool = False


@frozen()
class Contestant(Generic[T]):
    """A player, ours or a program, with what a game record says of it.

    name          as tables call it
    player        who decides
    spec          its resolved PLAYER
    sha256        of its file of weights; None: it has none
    step          at which that was written
    caution       what the user should know before it plays
    reproducible  equal seeds give equal games, but for what programs and people do
    belief        SHA-256 of the file of the belief network by which it searches
    bound         the repetition rules bind it
    backend       what computes its network, if torch does not: `engine` or `onnx`
    members       names of a mixture's members
    told          FILE[#NAME] of the setup that it was told, if any
    setup         uint8 [zone], that setup; None: a person, who reads it by itself, or told none
    """

    name: str
    player: T
    spec: str
    sha256: str | None = None
    step: int = -1
    caution: str | None = None
    reproducible: bool = True
    belief: str | None = None
    bound: bool = True
    backend: str | None = None
    members: tuple[str, ...] = ()
    told: str | None = None
    setup: Any = None


ReadPlayer: TypeAlias = Callable[[str], PlayerSpec]
# Opens the player that a PlayerSpec asks for. `InputError` or `UsageError`: there is no such
# player, or it does not play the game.
Opener: TypeAlias = Callable[[PlayerSpec, "Game", OpenContext], Contestant[Any]]


def split_options(text: str) -> tuple[dict[str, str], str]:
    """The leading `key=value,` of a PLAYER, and the rest; `UsageError`."""
    given: dict[str, str] = {}
    rest = text
    while match := _OPTION.match(rest):
        key, value = match[1], match[2]
        if key in given:
            raise UsageError(f"option {key!r} is given twice", where="PLAYER", text=text)
        if not value:
            raise UsageError(f"option {key!r} is empty", where="PLAYER", text=text)
        given[key] = value
        rest = rest[match.end() :]
    return given, rest


def path_text(path: str, kinds: Sequence[PlayerKind]) -> str:
    """A path as the SPEC of a PLAYER: what would be taken for an option, or for a player of one of
    these kinds, gets `./` before it."""
    taken = any(kind.takes(path) for kind in kinds) or _OPTION.match(path)
    return f"./{path}" if taken else path
