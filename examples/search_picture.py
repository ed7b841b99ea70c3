"""A decision that was searched, as a picture: `search_picture.py LOG PICTURE.png [N]`.

LOG is of `match --explain` (or a page that quotes it), of which the Nth decision with a search is
drawn, the first one by default: each move's probability before and after the search, and q with
its standard error, where the search knows one.
"""

from __future__ import annotations

import pathlib
import re
import sys

from stratkit.declared import whole
from stratkit.script import Parser, argument

MOVE = re.compile(r"(\w+ \w+ .*?)  +([\d.]+|-) +([\d.]+|-) .*q ([+-][\d.]+)(?: \+- ([\d.]+))?")


def decisions(text: str) -> list[list[tuple[str, float, float, float, float]]]:
    """Of each searched decision its moves: name, per cent before and after, q and its error."""
    found: list[list[tuple[str, float, float, float, float]]] = []
    for line in text.splitlines():
        move = MOVE.match(line)
        if move and found:
            name, *numbers = move.groups()
            before, after, q, error = (0.0 if x in ("-", None) else float(x) for x in numbers)
            found[-1].append((name.strip(), before, after, q, error))
        elif "search in " in line and " worlds " in line:
            found.append([])
    return found


def main(log: str, picture: str, number: int) -> None:
    if not pathlib.Path(log).is_file():
        sys.exit(f"search_picture.py: {log}: no such file")
    found = decisions(pathlib.Path(log).read_text(errors="replace"))
    if not 0 < number <= len(found):
        sys.exit(f"search_picture.py: {log}: {len(found)} decisions with a search")
    if not found[number - 1]:
        sys.exit(f"search_picture.py: {log}: decision {number} has no move with a q")
    names, before, after, q, errors = zip(*found[number - 1], strict=True)
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 1.2 + 0.3 * len(names)), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    at = range(len(names))
    left.barh([y - 0.2 for y in at], before, 0.4, label="network")
    left.barh([y + 0.2 for y in at], after, 0.4, label="search")
    left.set_yticks(at, names)
    left.invert_yaxis()
    left.set_xlabel("per cent")
    left.legend()
    right.errorbar(q, at, xerr=errors, fmt="o", capsize=3)
    right.axvline(0, color="grey", linewidth=0.8)
    right.set_xlabel("q, with its standard error")
    figure.savefig(picture, format="png", dpi=100)


if __name__ == "__main__":
    parser = Parser(__doc__)
    parser.add_argument("log", metavar="LOG")
    parser.add_argument("picture", metavar="PICTURE.png")
    parser.add_argument("number", metavar="N", nargs="?", default=1, type=argument(whole(1)))
    main(**vars(parser.parse_args()))
