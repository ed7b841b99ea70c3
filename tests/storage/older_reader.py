"""A reader of episodes as formats/episodes.md described them before there were columns of a search.

It is not to be changed: a stream that it does not read is none of version 1.
"""

from __future__ import annotations

import json

import numpy as np
import zstandard

from stratkit.storage.episodes import Episode

COLUMNS = {
    "number": ("i8",),
    "step": ("i8",),
    "ending": ("u1",),
    "returns": ("f4",),
    "length": ("u4",),
    "start_length": ("u4",),
    "start": ("u1",),
    "actions": ("u1", "u2", "u4"),
    "mu": ("f4", "f2"),
}


def read(stored: bytes) -> list[Episode]:
    """The episodes of a whole stream."""
    found: list[Episode] = []
    kinds = []
    while stored:
        worker = zstandard.ZstdDecompressor().decompressobj()
        text, _, body = worker.decompress(stored).partition(b"\n")
        stored = worker.unused_data
        line = json.loads(text)
        kinds.append(line["frame"])
        if line["frame"] == "header":
            assert (line["stratkit"], line["version"]) == ("episodes", 1)
        elif line["frame"] == "episodes":
            found += _episodes(line, body)
        else:
            assert line == {"frame": "trailer", "episodes": len(found)}
    assert kinds == ["header", *["episodes"] * (len(kinds) - 2), "trailer"]
    return found


def _episodes(line: dict[str, object], body: bytes) -> list[Episode]:
    columns = {}
    for name, kind, size in line["columns"]:  # type: ignore[attr-defined]
        stored, body = body[:size], body[size:]
        if name in COLUMNS:
            assert kind in COLUMNS[name]
            planes = np.frombuffer(stored, np.uint8).reshape(int(kind[1]), -1)
            columns[name] = np.ascontiguousarray(planes.T).view(f"<{kind}").reshape(-1)
    assert not body
    count = int(line["count"])  # type: ignore[call-overload]
    ends = np.cumsum(columns["length"])
    start_length = columns.get("start_length", np.zeros(count, np.int64))
    start_ends = np.cumsum(start_length)
    assert ends[-1] == len(columns["actions"]) == len(columns["mu"])
    episodes = []
    for i in range(count):
        those = slice(int(ends[i] - columns["length"][i]), int(ends[i]))
        start = slice(int(start_ends[i] - start_length[i]), int(start_ends[i]))
        episodes.append(
            Episode(
                int(columns["number"][i]),
                int(columns["step"][i]),
                int(columns["ending"][i]),
                columns["returns"].reshape(count, -1)[i],
                columns["actions"][those].astype(np.int32),
                columns["mu"][those].astype(np.float32),
                columns["start"][start].tobytes() if "start" in columns else b"",
            )
        )
    return episodes
