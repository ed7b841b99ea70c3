"""Writes the page in which a person plays against a network, without anything else."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import pathlib
from collections.abc import Sequence
from typing import Any

from stratkit.engine import Game
from stratkit.engine.stratego import TYPES, variant
from stratkit.errors import InputError, UsageError, printable
from stratkit.games.kit import Notation
from stratkit.games.table import kit_of
from stratkit.humans.human import read_setup
from stratkit.humans.kind import HUMAN
from stratkit.models.flat_weights import FlatNetwork, flat_network
from stratkit.models.open_model import open_model
from stratkit.notation.replay_page import board_parts, in_script, unfilled_page
from stratkit.notation.squares import LETTER_ORDER, RANKS
from stratkit.players.registry import NETWORK
from stratkit.players.spec import Contestant, PlayerSpec
from stratkit.players.testtime.options import PostProcessing
from stratkit.storage.atomic import atomic_file

HERE = pathlib.Path(__file__).parent
MAX_BYTES = 12_000_000  # of a page: what people wait for
MARK = "/* games */"  # where the page of a game that is over has it
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; "
    "style-src 'unsafe-inline'; frame-src blob:; base-uri 'none'; form-action 'none'"
)
LOOK = "#save, .clock { display: none; }"  # what a page without a match has not


def seats(players: Sequence[PlayerSpec]) -> tuple[PlayerSpec, PlayerSpec]:
    """The person and the network among the players. `UsageError`: there are others."""
    people = [spec for spec in players if spec.kind is HUMAN]
    others = [spec for spec in players if spec.kind is NETWORK]
    if len(players) != 2 or not people or not others:
        raise UsageError("--page is for human and one network, such as barrage")
    return people[0], others[0]


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
    game: Game, players: Sequence[PlayerSpec], name: str, seed: int | None, net: FlatNetwork
) -> dict[str, Any]:
    """What the page's script knows of the match."""
    own = variant(game.name)
    person, other = seats(players)
    file = person.options.setup
    return {
        "game": game.name,
        "against": printable(name),
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
        "channels": net.channels,
        "blocks": net.blocks,
        "ending": net.ending,
        "processing": processing_of(other),
        "mark": MARK,
        "template": unfilled_page(MARK),
    }


def page(known: dict[str, Any], weights: bytes) -> str:
    """The page, HTML, in which these facts are known."""
    style, board = board_parts()
    identity = hashlib.sha256(in_script(known).encode() + weights).hexdigest()
    scripts = [(HERE / f"{name}.js").read_text("utf-8") for name in ("module", "match", "start")]
    inline = "".join(
        f'</script>\n<script type="text/plain" id="{name}">{text}'
        for name, text in (
            ("engine", base64.b64encode((HERE / "engine.wasm").read_bytes()).decode()),
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
    contestant: Contestant[Any],
    game: Game,
    seed: int | None,
    overwrite: bool,
) -> int:
    """Writes the page in which a person meets the network that is open as `contestant`; its size.
    `seed`: of the network's moves; None: the page draws one whenever it is loaded. `InputError` and
    `UsageError`: there is no such page."""
    _, other = seats(players)
    model = open_model(other.spec, other.options.net)
    net = flat_network(model.net, model.weights)
    data = page(facts(game, players, contestant.name, seed, net), net.weights).encode()
    if len(data) > MAX_BYTES:
        what = f"the page would have {len(data) / 1e6:.1f} MB, of {MAX_BYTES / 1e6:.0f} at most"
        raise InputError(what, file=file)
    with atomic_file(file, overwrite) as stream:
        stream.write(data)
    return len(data)


def check_players(players: Sequence[PlayerSpec], game: Game) -> PlayerSpec:
    """The network that the page plays. `UsageError`: a page cannot have these players."""
    if kit_of(game).notation is not Notation.LOG:
        raise UsageError(f"--page is for boards of Stratego, not for {game.name}")
    _, other = seats(players)
    processing_of(other)
    return other
