"""From a PLAYER on the command line to a player at the board."""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from stratkit.declared import options_text
from stratkit.engine import Game
from stratkit.errors import InputError, StratkitError, UsageError
from stratkit.games.heuristic import UniformBlueprint
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.models.open_model import PolicyModel, ValueModel, open_model
from stratkit.models.shipped import SHIPPED, check_whole, weights_file
from stratkit.nets.choice import asked_backend
from stratkit.nets.packages import has_onnx
from stratkit.players.baselines import HeuristicPlayer, RandomPlayer
from stratkit.players.player import Player
from stratkit.players.python_player import open_python
from stratkit.players.registry import (
    HEURISTIC,
    LEVEL,
    MIXTURE,
    NETWORK,
    POLICY_TABLE,
    PYTHON,
    RANDOM,
    RESPONSE,
    SCRIPTED,
    check_there,
    parse_player,
)
from stratkit.players.response import open_response
from stratkit.players.scripted.options import ScriptedOptions
from stratkit.players.searching.options import SearchOptions
from stratkit.players.spec import (
    MIX,
    Contestant,
    OpenContext,
    Opener,
    PlayerKind,
    PlayerSpec,
    path_text,
)
from stratkit.players.table import open_table
from stratkit.players.testtime.options import PostProcessing

if TYPE_CHECKING:
    import torch

    from stratkit.games.heuristic import Heuristic
    from stratkit.nets.evaluator import Evaluator
    from stratkit.players.mixture import Member
    from stratkit.players.network import NetworkPlayer


def check_board(spec: PlayerSpec, game: Game) -> None:
    """`InputError`: the player needs setups and squares, which the game has not."""
    if kit_of(game).notation is not Notation.LOG:
        raise InputError(f"{spec.spec} does not play {game.name}", text=spec.text)


def game_of(spec: PlayerSpec) -> str:
    """The game that the network of `spec` has learned."""
    return open_model(spec.spec, spec.options.net).game


def open_network(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The network that `spec` asks for. `InputError`: there is none, or for another game."""
    check_there(spec)
    if spec.spec in SHIPPED:
        check_whole(os.fspath(weights_file(spec.spec)))
    model = open_model(spec.spec, spec.options.net)
    if isinstance(model, ValueModel) and spec.options.searching.of_beliefs:
        return _open_values(spec, game, context, model)
    return _open_policy(spec, game, context, model.must_be(PolicyModel))


def _open_policy(
    spec: PlayerSpec, game: Game, context: OpenContext, model: PolicyModel
) -> Contestant[Player]:
    """The player of a policy, post-processed and with a search, as `spec` asks for."""
    from stratkit.players.network import NetworkPlayer  # which is not needed for a damaged file
    from stratkit.storage.checkpoints import checkpoint_hash

    model.check_game(game)
    if spec.options.searching.of_beliefs:
        model.must_be(ValueModel)
    post: PostProcessing = spec.options.post
    searching, belief = _believing(spec.options.searching)
    check_post(post, game, spec.text)
    reads_pub = post.memory != "off"  # of which torch makes what the network reads
    if reads_pub:
        importlib.import_module("torch")
    evaluator = model.evaluator(game, context.rows, a_module=reads_pub and not has_onnx())
    network = NetworkPlayer(evaluator, game, context.seed, post.processing(deploying=False))
    shipped = spec.spec in SHIPPED
    name = spec.name or (spec.spec if shipped else _name(model.file, model.step))
    cautions = (
        _same_name(spec.spec) if shipped else None,
        _learned_otherwise(model.metadata, game, name, model.file),
        _left_to_torch(evaluator, name),
    )
    return Contestant(
        name=name,
        player=post_processed(network, searching, post, context.rows),
        spec=f"net={model.part},{options_text(searching)}{options_text(post)}"
        f"{spec.spec if shipped else path_text(model.file, spec.kinds)}",
        sha256=checkpoint_hash(model.file),
        step=model.step,
        caution="; ".join(filter(None, cautions)) or None,
        reproducible=searching.time is None,
        belief=belief,
        backend=None if evaluator.backend.name == "torch" else evaluator.backend.name,
    )


def _left_to_torch(evaluator: Evaluator, name: str) -> str | None:
    """Says that another backend was asked for and does not compute this network."""
    others = {
        "engine": "the engine computes fromto, graph and mlp",
        "onnx": "ONNX Runtime computes fromto",
    }
    reason = others.get(asked_backend() or "")
    if not reason or evaluator.backend.name != "torch" or evaluator.net.startswith("fromto"):
        return None
    return f"{name}: torch computes {evaluator.net}, since {reason} only"


def check_post(post: PostProcessing, game: Game, text: str) -> None:
    """`UsageError`: the game has no such post-processing; `text` asks for it."""
    if post.of_pieces and not kit_of(game).hidden_types:
        what = f"{game.name} has no such post-processing: {options_text(post)[:-1]}"
        raise UsageError(what, text=text)


def _believing(searching: SearchOptions) -> tuple[SearchOptions, str | None]:
    """The options with the file of a RUN of a belief network, and that file's SHA-256."""
    from stratkit.storage.checkpoints import checkpoint_hash, resolve

    path = searching.belief_file
    if path is None:
        return searching, None
    file = os.fspath(resolve(path))
    belief = f"{searching.belief.removesuffix(path)}{file}"
    return dataclasses.replace(searching, belief=belief), checkpoint_hash(file)


def _open_values(
    spec: PlayerSpec, game: Game, context: OpenContext, model: ValueModel
) -> Contestant[Player]:
    """A search of public belief states whose leaves a value network values."""
    from stratkit.players.searching.pbs import PBSPlayer, search_of
    from stratkit.search.leaves import NetworkLeaves
    from stratkit.storage.checkpoints import checkpoint_hash

    searching: SearchOptions = spec.options.searching
    if spec.options.post != PostProcessing():
        what = f"a value network has no post-processing: {options_text(spec.options.post)[:-1]}"
        raise InputError(what, file=model.file)
    leaves = NetworkLeaves(model.network(game, policies=bool(searching.warm)))
    return Contestant(
        name=spec.name or _name(model.file, model.step),
        player=PBSPlayer(game, search_of(searching), leaves, context.seed),
        spec=f"net={model.part},{options_text(searching)}{path_text(model.file, spec.kinds)}",
        sha256=checkpoint_hash(model.file),
        step=model.step,
    )


def post_processed(
    network: NetworkPlayer, searching: SearchOptions, post: PostProcessing, decisions: int
) -> Player:
    """The network, which has the threshold and quanta of play, as a player whose policy goes
    through these stages; so many decisions are asked for at once, at most."""
    if not searching and post.of_single_actions:
        return network
    from stratkit.players.testtime.pipeline import PostprocessedPlayer

    game, seed, search = network.game, network.seed, None
    if searching:
        from stratkit.nets.evaluator import Evaluator
        from stratkit.players.searching.stage import SearchStage

        root = network.evaluator
        # A clock and a followed learner leave no promise about rounding.
        elastic = searching.time is not None or root.elastic
        rollouts = Evaluator(root.net, root.network, searching.rows(decisions), elastic)
        search = SearchStage(game, rollouts, searching, seed, exclude=post.memory != "off")
    return PostprocessedPlayer(network.evaluator, game, seed, post, search=search)


def place(player: Player, device: str, precision: torch.dtype) -> None:
    """The networks of a player to where they compute."""
    from stratkit.nets.evaluator import Evaluator
    from stratkit.search.leaves import NetworkLeaves

    for member in getattr(player, "members", ()):
        place(member, device, precision)
    search = getattr(player, "search", None)
    evaluators = getattr(player, "evaluator", None), getattr(search, "blueprint", None)
    for one in (*evaluators, getattr(player, "leaves", None)):
        if isinstance(one, Evaluator | NetworkLeaves):
            one.place(device, precision)


def open_random(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The player `random`, with a search if one is asked for."""
    if spec.options:
        return _open_blueprint(spec, game, context, UniformBlueprint())
    return Contestant(spec.name or spec.spec, RandomPlayer(context.seed), spec.spec)


def open_heuristic(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The player by the game's rules of thumb, with a search if one is asked for. `InputError`: the
    game has none."""
    heuristic = kit_of(game).heuristic_called(spec.spec)
    if heuristic is None:
        raise InputError(f"{spec.spec} does not play {game.name}", text=spec.text)
    if spec.options or not heuristic.breaks_ties:
        return _open_blueprint(spec, game, context, heuristic)
    return Contestant(spec.name or spec.spec, HeuristicPlayer(game, context.seed), spec.spec)


def open_scripted(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """A scripted player. `InputError`: the game is no Stratego."""
    check_board(spec, game)
    from stratkit.players.scripted.habits import HABITS
    from stratkit.players.scripted.player import ScriptedPlayer

    options: ScriptedOptions = spec.options
    habit = HABITS[spec.spec]()
    player = ScriptedPlayer(game, habit, context.seed, options.skill, options.spread)
    return Contestant(spec.name or spec.spec, player, f"{options_text(options)}{spec.spec}")


def _open_blueprint(
    spec: PlayerSpec, game: Game, context: OpenContext, blueprint: Heuristic
) -> Contestant[Player]:
    """A player by the blueprint, with the search that `spec` asks for, if any. `UsageError`: the
    game cannot be searched so."""
    from stratkit.players.searching.stage import SearchStage
    from stratkit.players.testtime.pipeline import PostprocessedPlayer

    if spec.options.of_beliefs:
        return _open_exact(spec, game, context)
    searching, belief = _believing(spec.options)
    search = SearchStage(game, blueprint, searching, context.seed) if searching else None
    return Contestant(
        name=spec.name or spec.spec,
        player=PostprocessedPlayer(blueprint, game, context.seed, PostProcessing(), search=search),
        spec=f"{options_text(searching)}{spec.spec}",
        reproducible=searching.time is None,
        belief=belief,
    )


def _open_exact(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    from stratkit.players.searching.pbs import open_exact

    if spec.spec != "random":
        what = "values what it does not search by a network, or, with random, exactly"
        raise UsageError(f"search={spec.options.search} {what}", text=spec.text)
    if spec.options.warm:
        raise UsageError("warm= takes a network with a policy head", text=spec.text)
    name, text = spec.name or spec.spec, f"{options_text(spec.options)}{spec.spec}"
    return Contestant(name, open_exact(game, spec.options, context.seed), text)


def _same_name(name: str) -> str | None:
    """Says that a file or folder here has the name of a network that comes with stratkit."""
    said = f"{name} is the network that comes with stratkit, and what lies here is ./{name}"
    return said if os.path.exists(name) else None


def _learned_otherwise(metadata: Mapping[str, Any], game: Game, name: str, file: str) -> str | None:
    """Says on which board, and by which rules, a network has learned otherwise than is played."""
    learned = [f"{metadata['game']}, with other lakes"] if metadata["game"] != game.name else []
    rules = metadata["rules"]
    others = [
        f"{rule} {rules.get(rule, 0)}, and {game.rules.get(rule, 0)} in this game"
        for rule in sorted({*rules, *game.rules})
        if rules.get(rule, 0) != game.rules.get(rule, 0)
    ]
    if others:
        learned.append(f"by other rules: {'; '.join(others)}")
    return f"{name}: {file}: learned {', and '.join(learned)}" if learned else None


def _name(path: str, step: int) -> str:
    """`RUN@STEP` for a file of a RUN, the file's name for another one."""
    from stratkit.storage.checkpoints import FOLDER

    folder, file = os.path.split(os.path.abspath(path))
    if os.path.basename(folder) == FOLDER:
        return f"{os.path.basename(os.path.dirname(folder))}@{step}"
    return file


def open_mixture(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The members that a file names, of which one plays a game. `InputError`: it is no such file,
    or a member does not play the game."""
    from stratkit.players.mixture import mixed, read_mixture

    file = spec.spec.removeprefix(MIX)
    members = read_mixture(file, lambda text: parse_player(text, spec.kinds))
    opened = [open_member(one, game, context) for one in members]
    lines = [f"{one.weight!r} {c.spec} {c.sha256}" for one, c in zip(members, opened, strict=True)]
    cautions = dict.fromkeys(c.caution for c in opened if c.caution)
    return Contestant(
        name=spec.name or os.path.basename(file),
        player=mixed([c.player for c in opened], [one.weight for one in members], context.seed),
        spec=spec.spec,
        sha256=hashlib.sha256("\n".join(lines).encode()).hexdigest(),
        caution="; ".join(cautions) or None,
        reproducible=all(c.reproducible for c in opened),
        backend=next((c.backend for c in opened if c.backend), None),
        members=tuple(c.name for c in opened),
    )


def open_level(spec: PlayerSpec, game: Game, context: OpenContext) -> Contestant[Player]:
    """The player of a level, for people. `InputError` and `UsageError`: there is none."""
    from stratkit.players.levels import open_level as opened

    return opened(spec, game, context, OPENERS)


def open_member(member: Member, game: Game, context: OpenContext) -> Contestant[Player]:
    """A member of a mixture. `InputError`: it does not play the game, or plays matches only."""
    try:
        return open_player(member.player, game, context.seed, context.rows)
    except StratkitError as error:
        where = f"line {member.line}"
        raise InputError(str(error), file=member.file, where=where) from None


# The kinds of players that play anywhere. Those of rooms above play matches.
OPENERS: Mapping[PlayerKind, Opener] = {
    RANDOM: open_random,
    HEURISTIC: open_heuristic,
    SCRIPTED: open_scripted,
    PYTHON: open_python,
    RESPONSE: open_response,
    POLICY_TABLE: open_table,
    MIXTURE: open_mixture,
    LEVEL: open_level,
    NETWORK: open_network,
}


def open_player(spec: PlayerSpec, game: Game, seed: int, rows: int) -> Contestant[Player]:
    """The player that `spec` asks for, outside a match. `rows`: how many views a network evaluates
    at a time, at most.

    Raises `InputError` or `UsageError` when there is no such player, it does not play the game, or
    it plays matches only.
    """
    opener = OPENERS.get(spec.kind)
    if spec.setup is not None:
        raise UsageError("setup= is for players of a match", text=spec.text)
    if opener is None:
        raise UsageError(f"{spec.kind.name} play matches, and nothing else", text=spec.text)
    return opener(spec, game, OpenContext(seed, rows))


def check_names(contestants: Sequence[Contestant[Any]]) -> None:
    """Raises `UsageError` when two players have one name: tables could not tell them apart."""
    seen: set[str] = set()
    for contestant in contestants:
        if contestant.name in seen:
            raise UsageError(
                f"two players are called {contestant.name!r}: give one another with name=NAME"
            )
        seen.add(contestant.name)
