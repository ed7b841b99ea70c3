"""Writes the page in which a person plays against a network, without anything else."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from stratkit.engine import Game
from stratkit.engine.stratego import TYPES, variant
from stratkit.errors import InputError, UsageError, error_context, printable
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.humans.kind import HUMAN
from stratkit.models.flat_weights import FlatNetwork, flat_network
from stratkit.models.open_model import open_model
from stratkit.notation.replay_page import board_parts, in_script, unfilled_page
from stratkit.notation.squares import LETTER_ORDER, RANKS
from stratkit.players.factory import open_player
from stratkit.players.levels import level_networks, level_of
from stratkit.players.registry import LEVEL, NETWORK
from stratkit.players.spec import LEVEL as PREFIX
from stratkit.players.spec import PlayerSpec
from stratkit.players.testtime.options import PostProcessing
from stratkit.setups.told import read_setup
from stratkit.storage.atomic import atomic_file

HERE = pathlib.Path(__file__).parent
MAX_BYTES = 12_000_000  # of a page: what people wait for
MARK = "/* games */"  # where the page of a game that is over has it
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'unsafe-inline'; frame-src blob:; base-uri 'none'; form-action 'none'"
)
LOOK = "#save, #leave, .clock { display: none; }"  # what a page without a match has not


class Opponent(NamedTuple):
    """Whom a person meets: a network, and the number of the level that it is (None: of none)."""

    spec: PlayerSpec
    level: int | None = None


def seats(players: Sequence[PlayerSpec]) -> tuple[PlayerSpec, PlayerSpec]:
    """The person and the other one among the players. `UsageError`: there are others."""
    people = [spec for spec in players if spec.kind is HUMAN]
    others = [spec for spec in players if spec.kind in (NETWORK, LEVEL)]
    if len(players) != 2 or not people or not others:
        raise UsageError("--page is for human and one network, such as barrage, or level=any")
    return people[0], others[0]


def opponents_of(players: Sequence[PlayerSpec], game: Game) -> list[Opponent]:
    """Whom the person meets; several, of whom one is chosen before each game, for `level=any`.
    `UsageError`: a page cannot have these players."""
    if kit_of(game).notation is not Notation.LOG:
        raise UsageError(f"--page is for boards of Stratego, not for {game.name}")
    person, other = seats(players)
    options = person.options
    if other.setup is not None:
        raise UsageError("a page has a setup for the person alone", text=other.text)
    if any((options.clock, options.favourites, options.offers)):
        raise UsageError("a page has of a person's keys only setup", text=person.text)
    found = [Opponent(other)]
    if other.kind is LEVEL:
        levels, wanted = level_networks(game.name), level_of(other.spec)
        found = [Opponent(s, n) for n, s in levels.items() if wanted in (n, None)]
        if not found:
            some = ", ".join(map(str, levels)) or "none"
            raise UsageError(f"of the levels a page has the networks: {some}", text=other.text)
    for opponent in found:
        processing_of(opponent.spec)
    return found


def processing_of(spec: PlayerSpec) -> list[float]:
    """What the page does to the network's policy, as `process` of the module takes it.
    `UsageError`: the player does something else, too."""
    post: PostProcessing = spec.options.post
    named = ("temperature", "threshold", "quanta", "deploy_threshold", "deploy_quanta")
    defaults = {name: getattr(PostProcessing(), name) for name in named}
    if spec.options.searching or dataclasses.replace(post, **defaults) != PostProcessing():
        keys = ", ".join(name.replace("_", "-") for name in named)
        raise UsageError(f"a page has of a network's keys only {keys}", text=spec.text)
    play, deployment = post.processing(deploying=False), post.processing(deploying=True)
    return [post.temperature, *play, *deployment]


def facts(
    game: Game,
    players: Sequence[PlayerSpec],
    opponents: Sequence[tuple[str, Opponent]],
    seed: int | None,
    nets: Mapping[str, FlatNetwork],
) -> dict[str, Any]:
    """What the page's script knows of the match, in which the `opponents` have names and `nets` has
    the networks by SPEC."""
    own = variant(game.name)
    person, other = seats(players)
    file = person.setup
    return {
        "game": game.name,
        "against": printable(other.name or other.spec),
        "seed": None if seed is None else str(seed),
        "first": players.index(person),
        "own": None if file is None else read_setup(file, game).tolist(),
        "rules": " ".join(f"{rule}={value}" for rule, value in game.rules.items()),
        "width": own.width,
        "height": own.height,
        "squares": own.squares,
        "zone": own.zone,
        "places": [square for square, may in enumerate(own.places) if may],
        "pieces": own.pieces,
        "counts": own.counts,
        "types": TYPES,
        "ranks": RANKS,
        "letters": [TYPES.index(name) for name in LETTER_ORDER],
        "networks": [
            {"sizes": [net.channels, net.blocks, net.ending], "bytes": len(net.weights)}
            for net in nets.values()
        ],
        "opponents": [
            {
                "name": printable(name),
                "level": one.level,
                "network": list(nets).index(_source(one)),
                "processing": processing_of(one.spec),
            }
            for name, one in opponents
        ],
        "mark": MARK,
        "template": unfilled_page(MARK),
    }


def _source(opponent: Opponent) -> str:
    """Which network it is."""
    return f"{opponent.spec.options.net or ''} {opponent.spec.spec}"


def page(known: dict[str, Any], weights: bytes) -> str:
    """The page, HTML, in which these facts are known."""
    style, board = board_parts()
    scripts = [(HERE / f"{name}.js").read_text("utf-8") for name in ("module", "match", "start")]
    engine = (HERE / "engine.wasm").read_bytes()
    # A game that a tab has begun goes on with the same network by the same rules only.
    whole = in_script(known).encode() + weights + engine + "".join(scripts).encode()
    identity = hashlib.sha256(whole).hexdigest()
    inline = "".join(
        f'</script>\n<script type="text/plain" id="{name}">{text}'
        for name, text in (
            ("engine", base64.b64encode(engine).decode()),
            ("network", base64.b64encode(weights).decode()),
            ("facts-of-match", in_script({**known, "id": identity})),
        )
    )
    code = "</script>\n<script>\n(() => {\n" + "".join(scripts) + "})();"
    utf8 = '<meta charset="utf-8">'
    template = (HERE.parent / "play.html").read_text("utf-8")
    for mark, text in (
        (utf8, f'{utf8}\n<meta http-equiv="Content-Security-Policy" content="{POLICY}">'),
        ("/* board.css */", f"{style}\n{LOOK}"),
        ("/* board.js */", board + inline + code),
    ):
        assert template.count(mark) == 1, mark
        template = template.replace(mark, text)
    return template


def write_page(
    file: str,
    players: Sequence[PlayerSpec],
    game: Game,
    seed: int | None,
    overwrite: bool,
    warn: Callable[[str], None] = lambda text: None,
) -> int:
    """Writes the page in which the person among the players meets the other one; its size. `seed`:
    of the network's moves; None: the page draws one whenever it is loaded. `InputError` and
    `UsageError`: there is no such page. `warn` is told what the user should know before."""
    nets: dict[str, FlatNetwork] = {}
    opponents, found = [], opponents_of(players, game)
    given = seats(players)[1].name if len(found) == 1 else None
    for opponent in found:
        contestant = open_player(opponent.spec, game, 0, 1)  # it refuses other games
        name = contestant.name if opponent.level is None else f"{PREFIX}{opponent.level}"
        opponents.append((given or name, opponent))
        if contestant.caution:
            warn(contestant.caution)
        if _source(opponent) not in nets:
            model = open_model(opponent.spec.spec, opponent.spec.options.net)
            with error_context(opponent.spec.spec):
                nets[_source(opponent)] = flat_network(model.net, model.weights)
    weights = b"".join(net.weights for net in nets.values())
    data = page(facts(game, players, opponents, seed, nets), weights).encode()
    if len(data) > MAX_BYTES:
        what = f"the page would have {len(data) / 1e6:.1f} MB, of {MAX_BYTES / 1e6:.0f} at most"
        raise InputError(what, file=file)
    with atomic_file(file, overwrite) as stream:
        stream.write(data)
    return len(data)
