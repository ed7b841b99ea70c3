"""Writes setups for one side, one a line, from any source."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

import numpy as np

from stratkit.arrays import Float64s
from stratkit.compressed import compression
from stratkit.engine import Game
from stratkit.engine.stratego import Variant, variant
from stratkit.errors import InputError, Say, UsageError, error_context, nearest
from stratkit.notation.setups import all_setups, file_and_name, setup_text
from stratkit.players.testtime.options import PostProcessing
from stratkit.setups.constraints import Constraints, constraints_of
from stratkit.setups.given import FileSetups, numbers_between, numbers_read
from stratkit.setups.numbering import number_of
from stratkit.setups.options import MODEL, NUMBER, SEARCH, UNIFORM, DeployOptions
from stratkit.setups.placing import PlacedSetups
from stratkit.setups.source import Entropy, MirroredSource, Setups, SetupSource, setups_of
from stratkit.setups.uniform import UniformSetups
from stratkit.storage.onnx_file import is_onnx
from stratkit.storage.streams import input_name, open_input, open_output

if TYPE_CHECKING:
    from stratkit.players.spec import PlayerSpec, ReadPlayer

VERSION = 1  # of what --json prints

Logprobs = Float64s | None


def generate(options: DeployOptions, read_player: ReadPlayer, warn: Say, say: Say) -> None:
    """Writes the setups that `options` ask for.

    `read_player` reads the PLAYER of --from. Raises `UsageError` for a source or constraints that
    make no sense, `InputError` for unreadable files and for too few setups.
    """
    constraints = constraints_of(variant(options.game), options.fixed, options.forbidden)
    constraints.check()
    maker = _source(options, constraints, read_player, warn, say)
    entropy = Entropy()
    with open_output(options.output, options.force) as out:
        for setups in setups_of(maker, options.count, options.unique):
            logprobs = maker.logprobs(setups) if options.logprob else None
            if logprobs is not None:
                entropy.add(logprobs)
            out.writelines(_lines(options, setups, logprobs))
        if options.logprob and not options.unique:  # which are kept depends on those before
            _write_entropy(entropy, options.as_json, out, say)


def setups_from(text: str, game: Game, seed: int, warn: Say = lambda text: None) -> SetupSource:
    """The source that `--from` would name, for a game that is played. Raises as `generate` does."""
    from stratkit.players.registry import parse_player

    kind = variant(game.name)
    options = DeployOptions(game=kind.name, source=text, seed=seed, force=False, output="-")
    return _source(options, constraints_of(kind, (), ()), parse_player, warn, warn)


def _source(
    options: DeployOptions, constraints: Constraints, read_player: ReadPlayer, warn: Say, say: Say
) -> SetupSource:
    """The source of setups that `--from` names."""
    text, seed = options.source, options.seed
    if options.once and not _is_setups(text):
        raise UsageError("--once is for files of setups", text=text)
    if text.startswith(NUMBER):
        return _numbers(text.removeprefix(NUMBER), constraints)
    if text.startswith(SEARCH):
        return _book(text.removeprefix(SEARCH), constraints, seed, read_player, warn, say)
    if text in (UNIFORM, "random"):  # the mirror image of uniform is uniform
        return UniformSetups(constraints, seed)
    if _is_setups(text):
        setups = _read(text, constraints.variant)
        with error_context(input_name(file_and_name(text)[0])):
            return FileSetups(setups, constraints, seed, options.once, options.mirror)
    kind, colon, _ = text.partition(":")
    if kind + colon == MODEL:
        make = _model(text.removeprefix(MODEL), constraints.variant, seed)
    elif not os.path.exists(text) and (hint := nearest(kind + colon, (UNIFORM, NUMBER, MODEL))):
        raise UsageError(f"no such source{hint}", text=text)
    else:
        make = _player(_known(text, read_player), constraints.variant, seed, warn)
    return MirroredSource(constraints, seed, make) if options.mirror else make(constraints)


def _known(text: str, read_player: ReadPlayer) -> PlayerSpec:
    """The PLAYER that is the source. `InputError`: there is none of that name, and no such file."""
    from stratkit.players.registry import NETWORK

    spec = read_player(text)
    if spec.kind is NETWORK and spec.spec not in NETWORK.words and not os.path.exists(spec.spec):
        sources = f"{UNIFORM}, {NUMBER}N, {MODEL}FILE, {SEARCH}PLAYER, a file of setups or a PLAYER"
        words = [word for kind in spec.kinds for word in kind.words]
        hint = nearest(spec.spec, words) or f": choose {sources}"
        raise InputError(f"no such file and no such source{hint}", text=text)
    return spec


def _is_setups(source: str) -> bool:
    """Whether this is `FILE#NAME`, stdin, a pipe, or a file that neither is called ONNX nor looks
    like safetensors: eight bytes of length, then JSON."""
    source, name = file_and_name(source)
    if name is not None:
        return os.path.isfile(source)
    if not os.path.isfile(source):
        return source == "-" or (os.path.exists(source) and not os.path.isdir(source))
    if is_onnx(source):
        return False
    with open_input(source) as stream:
        head = stream.read(9)
    return head[8:] != b"{" or compression(head) == "zstd"  # no length begins as zstd does


def _numbers(text: str, constraints: Constraints) -> SetupSource:
    if text != "-":
        return numbers_between(constraints.variant, text)
    with open_input("-") as stream:  # stdin stays open
        return numbers_read(constraints.variant, stream, input_name("-"))


def _read(file: str, variant: Variant) -> Setups:
    """uint8 [m, zone]: all m setups of a file, or of `FILE#NAME`. Raises `InputError` for none."""
    file, name = file_and_name(file)
    with open_input(file) as stream:
        setups = all_setups(stream, input_name(file), variant, name)
    if not setups:
        raise InputError("holds no setups", file=input_name(file))
    return np.stack(setups)


def _model(file: str, variant: Variant, seed: int) -> Callable[[Constraints], SetupSource]:
    """Makes sources by a model of the setups of a file."""
    from stratkit.setups.conditioned import ConditionedSetups
    from stratkit.setups.model import ModelPlacer, fit

    placer = ModelPlacer(fit(variant, _read(file, variant)), seed)
    return lambda constraints: ConditionedSetups(placer, constraints, seed)


def _player(
    spec: PlayerSpec, variant: Variant, seed: int, warn: Say
) -> Callable[[Constraints], SetupSource]:
    """Makes sources by a player; by the target network, where it is a checkpoint."""
    from stratkit.players.factory import open_player
    from stratkit.setups.deployed import ROWS, PlayerPlacer

    game = Game(variant.name)
    contestant = open_player(spec, game, seed, ROWS)
    if contestant.caution:
        warn(contestant.caution)
    placer = PlayerPlacer(game, contestant.player)
    return lambda constraints: PlacedSetups(placer, constraints)


def _book(
    text: str, constraints: Constraints, seed: int, read_player: ReadPlayer, warn: Say, say: Say
) -> SetupSource:
    """A book of setups by the network of `text`: keys of the book's before a PLAYER."""
    from stratkit.declared import options_of, read_options
    from stratkit.players.registry import NETWORK
    from stratkit.players.spec import split_options
    from stratkit.setups.book import BookOptions, make_book

    given, rest = split_options(text)
    own = {key: given.pop(key) for key, _ in options_of(BookOptions) if key in given}
    try:
        options = read_options(BookOptions, own)
    except ValueError as error:
        raise UsageError(str(error), where="--from", text=text) from None
    spec = read_player("".join(f"{key}={value}," for key, value in given.items()) + rest)
    if spec.kind is not NETWORK or spec.options.searching or spec.options.post != PostProcessing():
        what = "a book needs a network without post-processing, as in search,candidates=16,run/"
        raise UsageError(what, where="--from", text=text)
    from stratkit.players.factory import open_player
    from stratkit.players.network import NetworkPlayer
    from stratkit.players.searching.options import EVALUATED

    contestant = open_player(spec, Game(constraints.variant.name), seed, EVALUATED)
    if contestant.caution:
        warn(contestant.caution)
    assert isinstance(contestant.player, NetworkPlayer)
    book, report = make_book(contestant.player, constraints, options, seed)
    say(report)
    return book


def _lines(options: DeployOptions, setups: Setups, logprobs: Logprobs) -> Iterator[str]:
    """Setups, one a line. In JSON numbers are strings: many readers would round them. In text
    number and log-probability stand behind tabs."""
    for row, setup in enumerate(setups):
        number = (
            str(number_of(variant(options.game), setup))
            if options.numbered or options.as_json
            else None
        )
        if options.as_json:
            about = {"version": VERSION, "game": options.game, "setup": setup_text(setup)}
            about["number"] = number
            if logprobs is not None:
                about["logprob"] = round(float(logprobs[row]), 6)
            yield json.dumps(about) + "\n"
        else:
            logprob = None if logprobs is None else f"{logprobs[row] + 0.0:.6f}"
            yield "\t".join(filter(None, [setup_text(setup), number, logprob])) + "\n"


def _write_entropy(entropy: Entropy, as_json: bool, out: IO[str], say: Say) -> None:
    """The entropy, as the last line of JSON or on stderr."""
    if as_json:
        out.write(json.dumps({"version": VERSION, **entropy.json()}) + "\n")
    elif entropy.draws:
        say(entropy.text())
