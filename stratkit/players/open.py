"""From a PLAYER on the command line to a player at the board."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from stratkit.engine import Game
from stratkit.errors import InputError, UsageError, in_file, nearest
from stratkit.players.heuristic import HeuristicPlayer
from stratkit.players.player import Player
from stratkit.players.random import RandomPlayer
from stratkit.players.spec import BUILT_IN, SHIPPED, PlayerSpec, path_text
from stratkit.players.testtime.options import Corrections
from stratkit.storage.checkpoints import FOLDER, StrPath, resolve

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Entrant(Generic[Kind]):
    """A player, ours or a program, with what a game record says of it: its name, the resolved
    spec, and the SHA-256 of its file of weights (None: it has none), and the step at which that was
    written. `caution`: what the user should know before it plays."""

    name: str
    player: Kind
    spec: str
    sha256: str | None = None
    step: int = -1
    caution: str | None = None


def open_player(
    spec: PlayerSpec, game: Game, seed: int, rows: int, people: bool = False
) -> Entrant[Player]:
    """The player that `spec` asks for. `rows`: how many views a network evaluates at a time, at
    most.

    Raises `InputError` or `UsageError` when there is no such player, it plays another game, it is
    a program, or a human where no `people` can play.
    """
    if spec.words is not None:
        raise UsageError("programs play matches, and nothing else", text=spec.text)
    if spec.spec == "human" and not people:
        raise UsageError("people play matches, and nothing else", text=spec.text)
    if spec.spec in BUILT_IN:
        if "net" in spec.options:
            raise UsageError(f"{spec.spec} has no networks to choose from", text=spec.text)
        if spec.corrections != Corrections():
            raise UsageError(f"{spec.spec} has no policy to correct", text=spec.text)
        if spec.spec != "random" and len(game.shape) != 3:
            raise InputError(f"{spec.spec} does not play {game.name}", text=spec.text)
        return Entrant(spec.name or spec.spec, _built_in(spec, game, seed), _built_in_text(spec))
    if spec.spec not in SHIPPED and not os.path.exists(spec.spec):
        hint = nearest(spec.spec, (*BUILT_IN, *SHIPPED))
        raise InputError(f"no built-in player, and no such file or folder{hint}", text=spec.spec)
    return _open_network(spec, game, seed, rows)


def weights_file(spec: str) -> StrPath:
    """The file of a player that comes with stratkit, else of the checkpoint or RUN at that path.

    `InputError`: there is none.
    """
    if spec in SHIPPED:
        return Path(__file__).parent / "trained" / f"{spec}.safetensors"
    return resolve(spec)


def game_of(spec: PlayerSpec) -> str:
    """The game that the network of `spec` has learned."""
    from stratkit.storage.checkpoints import load_network

    return str(load_network(weights_file(spec.spec), spec.net)[1]["game"])


def _built_in(spec: PlayerSpec, game: Game, seed: int) -> Player:
    if spec.spec == "random":
        return RandomPlayer(seed)
    if spec.spec == "heuristic":
        return HeuristicPlayer(game, seed)
    from stratkit.players.human import HumanPlayer, read_setup

    file = spec.options.get("setup")
    return HumanPlayer(game, seed, read_setup(file, game) if file else None)


def _built_in_text(spec: PlayerSpec) -> str:
    """The SPEC as it stands in a record."""
    file = spec.options.get("setup")
    return f"setup={file},{spec.spec}" if file else spec.spec


def _open_network(spec: PlayerSpec, game: Game, seed: int, rows: int) -> Entrant[Player]:
    from stratkit.storage.checkpoints import checkpoint_hash, load_network

    path = os.fspath(weights_file(spec.spec))
    shipped = spec.spec in SHIPPED
    weights, metadata, part = load_network(path, spec.net)
    check_game(metadata, game, path)
    from stratkit.players.network import network_player  # torch: only for a sound file

    asked = spec.corrections
    if asked.of_stratego and len(game.shape) != 3:
        raise UsageError(
            f"{game.name} has no such corrections: {asked.text()[:-1]}", text=spec.text
        )
    with in_file(path):
        network = network_player(str(metadata["net"]), weights, game, seed, rows)
    player: Player = network
    if asked != Corrections():
        from stratkit.players.testtime.pipeline import ChainPlayer

        player = ChainPlayer(network, game, asked)
    step = int(metadata["step"])
    return Entrant(
        name=spec.name or (spec.spec if shipped else _name(path, step)),
        player=player,
        spec=f"net={part},{asked.text()}{spec.spec if shipped else path_text(path)}",
        sha256=checkpoint_hash(path),
        step=step,
        caution=_other_rules(metadata["rules"], game, path),
    )


def _other_rules(rules: Mapping[str, int], game: Game, file: str) -> str | None:
    """Says by which rule a network has learned otherwise than the game is played."""
    for rule in sorted({*rules, *game.rules}):
        learned, played = rules.get(rule, 0), game.rules.get(rule, 0)
        if learned != played:
            return f"{file}: learned by other rules: {rule} {learned}, and {played} in this game"
    return None


def _name(path: str, step: int) -> str:
    """`RUN@STEP` for a file of a RUN, the file's name for another one."""
    folder, file = os.path.split(os.path.abspath(path))
    if os.path.basename(folder) == FOLDER:
        return f"{os.path.basename(os.path.dirname(folder))}@{step}"
    return file


def check_game(metadata: dict[str, object], game: Game, file: str) -> None:
    """Raises `InputError` when a network was made for another game or board."""
    if metadata["game"] != game.name:
        raise InputError(f"a network for {metadata['game']}, not for {game.name}", file=file)


def check_names(entrants: Sequence[Entrant[Any]]) -> None:
    """Raises `UsageError` when two players have one name: tables could not tell them apart."""
    seen: set[str] = set()
    for entrant in entrants:
        if entrant.name in seen:
            raise UsageError(
                f"two players are called {entrant.name!r}: give one another with name=NAME"
            )
        seen.add(entrant.name)
