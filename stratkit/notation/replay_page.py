"""A game as one HTML file in which it can be stepped through, and which needs nothing else."""

from __future__ import annotations

import html
import json
import pathlib

from stratkit.engine.stratego import TYPES
from stratkit.errors import printable
from stratkit.notation.drawing import RANKS
from stratkit.notation.fenfs import fenfs_of
from stratkit.notation.play import Played
from stratkit.notation.squares import LETTER_ORDER

_TEMPLATE = pathlib.Path(__file__).with_name("replay.html")


def replay_page(played: Played, result: str) -> str:
    """The page of a game that was played out with its boards; `result` says how it ended.

    Nicks and the result may hold anything: they reach the page only as escaped text.
    """
    log, variant = played.log, played.log.variant
    positions = [played.position(ply) for ply in range(len(played.boards))]
    seen = [fenfs_of(position, extended=True) for position in positions]
    moves = [list(log.moves[at : at + 2]) for at in range(0, len(log.moves), 2)]
    game = {
        "width": variant.width,
        "height": variant.height,
        "ranks": [RANKS[TYPES.index(name)] for name in LETTER_ORDER],
        "players": [printable(nick) for nick in log.players],
        "result": printable(result),
        "moves": moves,
        "boards": [fenfs.board for fenfs in seen],
        "moved": [fenfs.moved for fenfs in seen],
    }
    # `<` must not end the script that the text stands in.
    text = json.dumps(game, separators=(",", ":")).replace("<", "\\u003c")
    title = html.escape(printable(" – ".join(log.players)))
    before, rest = _TEMPLATE.read_text("utf-8").split("@TITLE@")
    middle, after = rest.split("@GAME@")
    return "".join([before, title, middle, text, after])
