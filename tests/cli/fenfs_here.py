"""The command `fenfs` in the tests' own process, which is much faster than one of its own."""

from __future__ import annotations

import contextlib
import io

from running import ROOT
from stratkit.cli import common
from stratkit.cli.fenfs import command

SAMPLES = ROOT / "formats" / "samples"
LOGS = SAMPLES / "gravon"


def fenfs(*arguments: object) -> tuple[int, str, list[str]]:
    """Status, stdout, lines of stderr."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", newline="\n") for _ in range(2))
    common._Session.tool, common._Session.level = "fenfs", 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = common._invoke(command, "fenfs", [str(word) for word in arguments])
        except Exception as error:
            message, status = common._message_and_status(error)
            assert not message.startswith("internal error"), repr(error)
            common.warn(message)
    texts = []
    for stream in (out, err):
        stream.flush()
        assert isinstance(stream.buffer, io.BytesIO)
        texts.append(stream.buffer.getvalue().decode())
    return status, texts[0], texts[1].splitlines()
