"""Whether the inputs can be read, and who makes episodes of what is none. Imports neither torch nor
numpy: a mistaken file is told of before they are loaded."""

from __future__ import annotations

import os
import shlex
import stat
import sys
from collections.abc import Sequence

from stratkit.errors import InputError, UsageError
from stratkit.learn.request import STDIN
from stratkit.storage.streams import check_stdin

ZSTD = b"\x28\xb5\x2f\xfd"  # the first bytes of episodes, and of examples
GAMES = (".jsonl", ".gsn", ".xml", ".zip")  # of which episodes can be made
PACKED = (".zst", ".gz")


def check_inputs(paths: Sequence[str]) -> None:
    """Raises `UsageError` where standard input cannot be read, and `InputError` for a file that can
    be no stream of episodes. Pipes and folders are not looked into; a file that is empty, or not
    there, is for who opens it."""
    if list(paths).count(STDIN) > 1:
        raise UsageError("standard input can be read only once")
    if STDIN in paths:
        check_stdin()
        if sys.stdin.isatty():
            raise UsageError("episodes come through a pipe or from files, not from a terminal")
    for path in paths:
        if path == STDIN or not os.path.exists(path) or not stat.S_ISREG(os.stat(path).st_mode):
            continue
        with open(path, "rb") as stream:
            head = stream.read(64)
        name = path.lower()
        for packed in PACKED:
            name = name.removesuffix(packed)
        if head and (not ZSTD.startswith(head[:4]) or name.endswith(GAMES)):
            raise InputError(_what(path, name, head), file=path)


def _what(path: str, name: str, head: bytes) -> str:
    if name.endswith((".setups", ".fenfs")):
        kind = "setups" if name.endswith(".setups") else "positions"
        return f"{kind}, no episodes: `selfplay` makes episodes, and its --setups takes setups"
    if name.endswith(GAMES) or head.startswith((b'{"stratkit"', b"<", b"#")):
        made = f"fenfs convert --to episodes {shlex.quote(path)} -o games.eps"
        return f"games, no episodes: `{made}` makes them"
    return "no episodes, which `selfplay` and `fenfs convert --to episodes` make"
