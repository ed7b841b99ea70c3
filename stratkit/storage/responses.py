"""Best responses as files: safetensors with the decisions to which they come.

formats/response.md says what is in the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from stratkit.arrays import Bytes, Int8s, Int32s
from stratkit.engine import Game
from stratkit.errors import InputError, error_context
from stratkit.regular import open_regular
from stratkit.storage import schema
from stratkit.storage.schema import Count, Text


@dataclass(frozen=True, eq=False)
class Response:
    """The N decisions of both players, each after the one before it.

    players       int8 [N]
    before        int32 [N], the player's decision before; -1: there is none
    observations  uint8 [N, observation_bytes], what the player sees then
    actions       int32 [N], what it does
    """

    players: Int8s
    before: Int32s
    observations: Bytes
    actions: Int32s


@dataclass(frozen=True, kw_only=True)
class ResponseMetadata:
    """What the file says of a response.

    game     its name
    rules    those that differ from the game's own
    against  the POLICY to which it responds
    best     what it wins of that as player 0 and as player 1
    """

    game: Text
    against: Text
    best: tuple[float, float]
    rules: Mapping[Text, Count] = field(default_factory=dict)
    version: Literal[1] = 1
    kind: Literal["response"] = "response"


def response_bytes(response: Response, metadata: ResponseMetadata) -> bytes:
    """The file's content."""
    arrays = {name: np.ascontiguousarray(array) for name, array in vars(response).items()}
    values = {**vars(metadata), "rules": dict(metadata.rules), "best": list(metadata.best)}
    return save(arrays, {"stratkit": json.dumps(values, sort_keys=True)})


def load_response(path: str, game: Game) -> Response:
    """`InputError`: it is no best response in this game, truncated, or of another version.
    `OSError`: it cannot be opened."""
    open_regular(path).close()  # whose errors name the file
    try:
        file: Any = safe_open(os.fspath(path), framework="np")
        says = schema.parse_object((file.metadata() or {}).get("stratkit", ""))
        if says is None or says.get("kind") != "response":
            raise InputError("not a best response, as exploit --write-response writes", file=path)
        with error_context(path):
            metadata = schema.convert(says, ResponseMetadata, "metadata")
        if metadata.game != game.name:
            raise InputError(f"a best response in {metadata.game}, not in {game.name}", file=path)
        if metadata.rules.get("open", 0) != game.rules.get("open", 0):
            raise InputError("a best response by other rules", file=path)
        some = {name: file.get_tensor(name) for name in Response.__dataclass_fields__}
    except SafetensorError as error:
        raise InputError(f"not a best response, or truncated ({error})", file=path) from None
    n, sees = some["players"].size, game.observation_bytes
    for name, kind, shape in (
        ("players", "int8", (n,)),
        ("before", "int32", (n,)),
        ("observations", "uint8", (n, sees)),
        ("actions", "int32", (n,)),
    ):
        found = some[name]
        if (found.dtype, found.shape) != (kind, shape):
            what = f"{name!r} is {found.dtype} {list(found.shape)}, not {kind} {list(shape)}"
            raise InputError(what, file=path)
    response = Response(**some)
    if not _is_sound(response, game.actions):
        raise InputError("damaged: a decision is none of its game", file=path)
    return response


def _is_sound(response: Response, actions: int) -> bool:
    before, played, players = response.before, response.actions, response.players
    known = (before >= -1) & (before < np.arange(len(before))) & (played >= 0) & (played < actions)
    return bool((known & (players >= 0) & (players < 2)).all())
