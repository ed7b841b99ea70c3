"""What `train` and `finetune` are asked for, and the settings that follow from it.

Precedence of settings: options of the command line, then the configuration file, then what a
resumed run has stored, or else the preset of the network, then the defaults. This module imports
neither torch nor numpy: the command line is checked before they are loaded.
"""

from __future__ import annotations

import contextlib
import functools
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, asdict, fields
from pathlib import Path
from typing import Any

from stratkit.declared import REQUIRED, check_rules, declared, number, option_name, usage, whole
from stratkit.errors import InputError, UsageError, error_context, nearest, one_line
from stratkit.frozen import frozen
from stratkit.learn.algorithm_kinds import ALGORITHMS, RNAD, algorithm_kind, name_algorithm
from stratkit.learn.config import STEPS, AdamConfig, RunConfig, several_ranks
from stratkit.netnames import PRECISIONS, check_new_net, preset_of

STDIN = "-"
MAX_FILE = 1 << 16  # bytes of a configuration file
_ON_DEVICE: Mapping[str, Mapping[str, Any]] = {  # settings that go with the device
    "cpu": {"precision": PRECISIONS["cpu"]},
    "cuda": {"precision": PRECISIONS["cuda"], "chunk": 0},
}
WORDS = ("algorithm", "net")  # of a configuration file, beside the settings


@frozen()
class Request:
    """What `train` is asked for.

    inputs     `-`, files, folders
    net        None: the checkpoint's, or the default
    algorithm  the same
    start      a checkpoint or RUN whose learning goes on in a new run
    weights    a file with which a new run only begins; a resumed one does not read it
    settings   of the configuration file; the values are accepted already
    options    of the command line; the same
    game       that of the episodes, if it is known
    wait       watch folders for new files
    device     cpu or cuda
    """

    inputs: Sequence[str]
    run: str = usage("--out RUN", "The folder of the run.", default=REQUIRED)
    steps: int | None = usage("--steps N", "Stop when the run has N steps.", whole(0))
    decisions: int | None = usage(
        "--decisions N", "Stop when the run has learned from N decisions.", whole(0, None)
    )
    net: str | None = None
    algorithm: str | None = None
    start: str | None = None
    weights: str | None = None
    settings: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None
    game: str | None = None
    resume: bool = usage("--resume", "Go on from the newest checkpoint of RUN.")
    strict: bool = usage("--strict", "Stop at a truncated input.")
    wait: bool = True
    consume: bool = usage("--consume", "Delete the files of a folder that a checkpoint has passed.")
    timeout: float = usage(
        "--timeout SECONDS",
        "Under torchrun: end if a rank waits longer for its episodes (default: 600).",
        number(0),
        600.0,
    )
    device: str = "cpu"

    def __post_init__(self) -> None:
        """`StratkitError`, `OSError`: what can be known to be wrong before a folder is made."""
        if not self.run:
            raise InputError("the run needs a name that is not empty")
        if self.net:
            check_new_net(self.net)
        if self.algorithm:
            name_algorithm(self.algorithm)
        if not (self.resume or self.start):  # else what is stored may matter, too
            with of_command_line():  # a preset may matter, and its network follow from the game
                _merged(self.net, {}, self.given, self.algorithm or RNAD, game=self.game)
        for path in self.inputs:
            if path != STDIN:
                os.stat(path)
            if several_ranks() and not os.path.isdir(path):
                what = "several ranks need a folder, of which each takes its part"
                raise InputError(what, file=path)

    @property
    def given(self) -> Mapping[str, Any]:
        """The settings that the user gives; options count more than the file."""
        return {**(self.settings or {}), **(self.options or {})}

    def resolve(
        self, net: str, stored: Mapping[str, Any], algorithm: str, device: str, game: str
    ) -> Settings:
        """The settings of the run, as by `resolve`. `UsageError`: they do not go together."""
        with of_command_line():
            layers = self.settings or {}, self.options or {}
            return resolve(net, stored, *layers, algorithm, device, game)


@contextlib.contextmanager
def of_command_line() -> Iterator[None]:
    """What is wrong with settings is a `UsageError`."""
    try:
        yield
    except InputError as error:
        raise UsageError(error.what, text=error.text) from None


@frozen()
class Outcome:
    """How a run ended.

    step        the last one
    episodes    how many were consumed
    checkpoint  of this step; None: stopped before there was a game
    stopped     by a signal
    error       of the inputs, after which nothing was read
    truncated   the streams that ended early
    left_over   how much of the input was not learned from
    rank        which of several learners says this; number 0 has written the checkpoint
    begun       the step that it went on from
    learned     what is counted in `episodes`
    unfilled    how many batches more a window of old episodes would have held at the end
    enough_before  there was nothing to do: all steps, or all decisions, had been done
    """

    step: int
    episodes: int
    checkpoint: Path | None
    stopped: bool
    error: Exception | None = None
    truncated: Sequence[str] = ()
    left_over: int = 0
    rank: int = 0
    begun: int = 0
    learned: str = "episode"
    unfilled: int = 0
    enough_before: bool = False


def algorithm_of(request: Request) -> str:
    """The algorithm's name: what is asked for, or of a run that is resumed, or the default."""
    before = newest_metadata(request.run) if request.resume else {}
    return str(request.algorithm or before.get("algorithm", RNAD))


def newest_metadata(run: str) -> Mapping[str, Any]:
    """Of the newest checkpoint of a RUN that can be read, and whose algorithm is known. Whoever
    opens it says what is wrong."""
    from stratkit.storage.checkpoints import list_checkpoints, read_metadata

    for _, path in reversed(list_checkpoints(run)):
        with contextlib.suppress(InputError, OSError):
            metadata = read_metadata(path)
            algorithm_kind(metadata.get("algorithm", RNAD))
            return metadata
    return {}


# ---- settings ----


@frozen()
class Settings:
    """All settings of a run: `run`, and `hyper` of its `algorithm`."""

    algorithm: str
    run: RunConfig
    hyper: AdamConfig

    def to_json(self) -> dict[str, Any]:
        """What a checkpoint stores: both dataclasses in one, whose names are all different. JSON
        knows no infinity."""
        values = {**asdict(self.run), **asdict(self.hyper)}
        return {name: "inf" if value == math.inf else value for name, value in values.items()}


def resolve(
    net: str,
    stored: Mapping[str, Any],
    file: Mapping[str, Any],
    options: Mapping[str, Any],
    algorithm: str = RNAD,
    device: str = "cpu",
    game: str = "",
) -> Settings:
    """The settings of a run of `net` in a game of this name, some of which have presets of their
    own: from what a resumed run has `stored`, the file, the options.
    Without any seed, the system gives one. A GPU, most of which float32 would not use, computes in
    bfloat16, and as much at a time as its memory holds.

    A setting that an older version did not store did not exist: the default is what it did.
    """
    values = _merged(net, stored, {**file, **options}, algorithm, device, game)
    run = {one.name for one in fields(RunConfig)}
    of_run = RunConfig(**{name: value for name, value in values.items() if name in run})
    others = {name: value for name, value in values.items() if name not in run}
    try:
        hyper = algorithm_kind(algorithm).config(**others)
    except ValueError as error:  # of a class of the user's own
        raise InputError(one_line(error)) from error
    return Settings(algorithm, of_run, hyper)


def _merged(
    net: str | None,
    stored: Mapping[str, Any],
    given: Mapping[str, Any],
    algorithm: str,
    device: str = "cpu",
    game: str | None = "",
) -> dict[str, Any]:
    """The settings by name. Without a network, those that a preset may have are missing if they are
    not given. `InputError`: an unknown one, or some do not go together. Without a game nobody knows
    yet what its preset counts."""
    known, entry = fields_of(algorithm), algorithm_kind(algorithm)
    check_names(given, algorithm)
    values = {name: one.default for name, one in known.items()}
    values["seed"] = int.from_bytes(os.urandom(4))
    if net is None:
        for preset in entry.presets.values():
            values = {name: value for name, value in values.items() if name not in preset}
    else:
        preset = entry.presets.get(preset_of(net, entry.presets, game or ""), {})
        on_device = {name: one for name, one in _ON_DEVICE[device].items() if name in known}
        values |= stored or {**preset, **on_device}
    unit = values.get("anneal_by", STEPS)
    values |= given
    falls = any(values.get(name, 1) for name in known if name.endswith("_power"))
    another = net and game is not None and values["anneal_by"] != unit
    if another and falls and "anneal_after" not in given:
        asked = values["anneal_by"]
        raise InputError(f"--anneal-by {asked} needs --anneal-after, a number of {asked}")
    check_rules(entry.config.rules, values)
    return values


def check_names(values: Iterable[str], algorithm: str) -> None:
    """`InputError`: a name is no setting of the algorithm."""
    known, every = fields_of(algorithm), all_fields()
    for name in values:
        if name not in known and name not in every:
            raise InputError(f"unknown setting {name!r}{nearest(name, known)}")
        if name not in known:
            raise InputError(f"{option_name(name)} is no setting of the algorithm {algorithm}")


def accepted(values: Mapping[str, Any], algorithm: str, *, texts: bool = False) -> dict[str, Any]:
    """Values of settings as they come into the program: of TOML or JSON, or as texts of a command
    line. `InputError`: one is unknown, or out of its range."""
    check_names(values, algorithm)
    known, out = fields_of(algorithm), {}
    for name, value in values.items():
        kind = declared(known[name]).kind
        try:
            out[name] = kind.read(value) if texts else kind.accept(value)
        except ValueError:
            hint = nearest(str(value), kind.words)
            what = f"{option_name(name)} must be {kind.needed}{hint}"
            raise InputError(what, text=value) from None
    return out


@functools.cache
def fields_of(algorithm: str = RNAD) -> dict[str, Field[Any]]:
    """The settings of a run by this algorithm, by name."""
    known = (*fields(RunConfig), *fields(algorithm_kind(algorithm).config))
    return {one.name: one for one in known}


@functools.cache
def all_fields() -> dict[str, Field[Any]]:
    """The settings of all algorithms, by name. A name means the same in all of them."""
    known: dict[str, Field[Any]] = {}
    for algorithm in ALGORITHMS:
        known = {**fields_of(algorithm), **known}
    return known


def help_of(name: str, algorithms: Sequence[str] = tuple(ALGORITHMS)) -> str:
    """A setting's help, with its default and those of the presets, by algorithm where these differ,
    or where not all of these algorithms have the setting. Where its meaning differs: each's."""
    known = [one for one in algorithms if name in fields_of(one)]
    by_help: dict[str, list[str]] = {}
    for one in known:
        by_help.setdefault(declared(fields_of(one)[name]).help, []).append(one)
    if len(by_help) > 1:
        return "; ".join(f"{', '.join(who)}: {help_of(name, who)}" for who in by_help.values())
    (text,) = by_help
    if name == "seed":
        return text
    by_default: dict[str, list[str]] = {}
    for one in known:
        by_default.setdefault(_defaults_of(name, one), []).append(one)
    defaults = [f"{', '.join(who)}: {default}" for default, who in by_default.items()]
    if len(known) == len(algorithms):
        defaults[0] = f"default: {next(iter(by_default))}"
    return f"{text} ({'; '.join(defaults)})"


def words_of(name: str, algorithms: Sequence[str]) -> tuple[str, ...]:
    """The words that a setting may have, if they are the same for all of these algorithms."""
    having = (fields_of(one) for one in algorithms)
    known = {declared(one[name]).kind.words for one in having if name in one}
    return next(iter(known)) if len(known) == 1 else ()


def _defaults_of(name: str, algorithm: str) -> str:
    """The default, and those of presets: a game's own where its value is another."""
    known, default = algorithm_kind(algorithm).presets, fields_of(algorithm)[name].default
    presets = []
    for net, preset in known.items():
        kind, _, game = net.partition("/")
        if name in preset and not (game and preset[name] == known[kind].get(name, default)):
            presets.append(f"{net} {_text(preset[name])}")
    return "; ".join([_text(default), *filter(None, [", ".join(presets)])])


def _text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value)) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)


def read_file(path: str | None, algorithm: str | None = None) -> dict[str, Any]:
    """The settings in a TOML file, if there is one, under the fields' names; `net` and `algorithm`
    may be among them. `algorithm`: what the command line, or a resumed run, says of it.

    InputError: no TOML, an unknown name, a value out of its range.
    """
    if path is None:
        return {}
    with error_context(path, only=OSError), open(path, "rb") as stream, error_context(path):
        text = stream.read(MAX_FILE + 1)
        if len(text) > MAX_FILE:
            raise InputError(f"over {MAX_FILE} bytes")
        import tomllib

        try:
            settings = tomllib.loads(text.decode())
        except (ValueError, RecursionError) as error:  # not UTF-8, endless numbers, too deep
            raise InputError(f"not TOML: {error}") from None
        values = {name.replace("-", "_"): value for name, value in settings.items()}
        words = {name: values.pop(name) for name in WORDS if name in values}
        algorithm_kind(words.get("algorithm", RNAD))
        if "net" in words:
            check_new_net(words["net"])
        return {**words, **accepted(values, algorithm or words.get("algorithm", RNAD))}


class Observer:
    """Is told how a run goes, and does nothing about it. Under torchrun only rank 0's is told more
    than `waiting`."""

    def waiting(self) -> None:
        """There is no episode yet. Called again and again."""

    def begin(self, metadata: Mapping[str, Any]) -> None:
        """The run begins, or goes on, with the step, game, rules, network, algorithm, settings and
        seed of this checkpoint (formats/checkpoint.md)."""

    def saved(self, step: int) -> None:
        """There is a checkpoint of this step, which may be 0."""

    def more(self) -> Mapping[str, Any]:
        """What else the line of the present step has to hold."""
        return {}

    def step(self, metrics: Mapping[str, Any]) -> None:
        """A step is done, and its line written."""
