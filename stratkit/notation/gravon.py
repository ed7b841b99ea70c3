"""The log files in which Gravon publishes its games: `.gsn` (older) and `.xml`.

formats/gravon.md describes both. Reading is in two parts: this module reads what a file says, and
`stratkit.notation.play` plays it out on the engine. `stratkit.notation.gravon_text` writes them.
"""

from __future__ import annotations

from stratkit.errors import InputError, error_context
from stratkit.notation.gravon_gsn import parse_gsn
from stratkit.notation.gravon_xml import parse_xml_log
from stratkit.notation.log import Log

MAX_LOG = 1 << 20  # bytes of one log; the longest games need about 40,000


def is_xml(data: bytes) -> bool:
    """Whether this looks like the `.xml` form."""
    return data.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"<"


def parse_log(data: bytes, name: str) -> Log:
    """Reads the content of one log file; raises `InputError` with the file's `name` in it.

    Faults that can be survived are the log's `remarks`, and the one after which no move can be read
    is `broken`. They have the `name` too.
    """
    with error_context(name):
        if len(data) > MAX_LOG:
            raise InputError(f"a log of over {MAX_LOG >> 20} MiB")
        if is_xml(data):
            log = parse_xml_log(data)
        elif data.removeprefix(b"\xef\xbb\xbf").startswith(b"#"):
            log = parse_gsn(data)
        else:
            start = data[:20].decode("utf-8", "replace")
            raise InputError("neither a .gsn nor an .xml log", text=start if data else None)
    for fault in (*log.remarks, *([log.broken] if log.broken else [])):
        fault.file = name
    return log
