#!/usr/bin/env python3
"""Every night the newest checkpoint of a RUN meets those from whose games most is learned.

    python examples/nightly.py run barrage
    while sleep 600; do python examples/nightly.py run barrage -n 25 --now; done

The pool has random, heuristic where it plays, the players that come with stratkit, in Stratego
scripted ones, and the RUN's checkpoints of earlier nights, as long as they are there. By the
ratings of those nights the opponents are taken of whom a score nearest to one half is expected. The
night before comes first, and who has met nobody yet. The strangers of stratkit-players(7) are left
out, so that they stay strangers.

This folder gets the games of each night, games-DATE.jsonl, a page of ratings, rating.html, and
nights.csv: a line for each night with the date, the rating and the scores. Random has rating 0, and
intervals are of differences from the mean of all. A night that was interrupted goes on when it is
started again on the same day. With --now it is no night but begins by itself whenever it is
started, beside a learner: its date has a time. A RUN that was learned anew begins another folder:
nothing is played where a checkpoint has other weights than in earlier nights.
"""

from __future__ import annotations

import datetime
import functools
import glob
import json
import os
import pathlib
import re
import subprocess
from typing import Any

from stratkit.declared import whole
from stratkit.errors import printable
from stratkit.models.shipped import LEARNED
from stratkit.script import Parser, argument
from stratkit.storage.checkpoints import checkpoint_hash
from stratkit.storage.csv_text import csv_text

SCRIPTED = ["rusher", "miner-hunter", "careful", "turtle", "sniper"]
BOARDS = ("classic", "barrage", "duel", "ultimate", "mini", "nano", "micro", "barrage-blocked")
# Random's rating is 0. How far the run is from there is soon less sure than where it stands.
RATED = ("--anchor", "random", "--intervals", "mean", "--prior", "1")


def call(*words: str) -> str:
    """The output of a command; if it fails, it has said why, and its status is ours."""
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return done.stdout


def checkpoints(run: pathlib.Path) -> dict[str, pathlib.Path]:
    """Files by the names of players, which hold no comma and no control character; the newest
    first."""
    found = sorted(run.glob("checkpoints/step-*.safetensors"), reverse=True)
    name = "".join("_" if c == "," or not c.isprintable() else c for c in run.resolve().name)
    return {f"{name}@{int(path.stem.rpartition('-')[2])}": path for path in found if path.exists()}


def player(name: str, path: pathlib.Path) -> str:
    """The PLAYER that a checkpoint is."""
    return f"name={name},{os.path.join('.', path)}"


def begun() -> list[str]:
    """The records with a whole header, in the order of their dates. A night that was killed as it
    began leaves one without: no game of it was played."""
    found = []
    for record in sorted(glob.glob("games-*.jsonl")):
        with open(record, "rb") as lines:
            if lines.readline().endswith(b"\n"):
                found.append(record)
    return found


def players(record: str) -> dict[str, str | None]:
    """In the header of a record, names and hashes of weights; the checkpoint first."""
    with open(record, encoding="utf-8") as lines:
        return {one["name"]: one["sha256"] for one in json.loads(lines.readline())["players"]}


def check_same(own: dict[str, pathlib.Path], records: list[str]) -> None:
    """Ends where a checkpoint has other weights than in earlier nights: games of both do not go
    together. A learner may delete older ones meanwhile."""

    @functools.cache
    def weights(name: str) -> str | None:
        try:
            return checkpoint_hash(own[name])
        except FileNotFoundError:
            return None

    for record in records:
        for name, sha256 in players(record).items():
            if name in own and weights(name) not in (None, sha256):
                what = "the RUN was learned anew: begin another folder, or move the old games away"
                place = printable(f"{own[name]}: other weights than {name}'s in {record}")
                raise SystemExit(f"nightly.py: {place}: {what}")


def chosen(pool: dict[str, str], elo: dict[str, float], own: float, number: int) -> list[str]:
    """The PLAYERs whose ratings are nearest: a score near one half tells most."""
    nearest = sorted(pool, key=lambda name: abs(elo.get(name, own) - own))
    return [pool[name] for name in nearest[:number]]


def play(run: pathlib.Path, game: str, games: str, number: int, date: str) -> None:
    """The games of this night."""
    record, earlier = f"games-{date}.jsonl", begun()
    if record in earlier:
        call("match", "--resume", "-q", "-o", record)
        return
    own = checkpoints(run)
    if not own:
        raise SystemExit(f"nightly.py: {run}: no checkpoint yet")
    check_same(own, earlier)
    newest = next(iter(own))
    rated = json.loads(call("rate", "-q", "--json", *RATED, *earlier))["players"] if earlier else []
    elo = {one["name"]: one["elo"] for one in rated}
    before = next(iter(players(earlier[-1]))) if earlier else newest
    board = re.sub(":.*", "", game) in BOARDS
    # In the first night all come in this order, so that random, whose rating is 0, is there.
    thumbs = ["heuristic"] if board or game.startswith("diplomacy:") else []
    shipped = [name for name in reversed(LEARNED) if LEARNED[name] == game]  # the weaker first
    others = ["random", *thumbs, *shipped, *(SCRIPTED if board else [])]
    met = {name: path for name, path in own.items() if name in elo and name != newest}
    pool = {name: player(name, path) for name, path in met.items()}
    pool |= {name: name for name in others}
    opponents = chosen(pool, elo, elo.get(before, 0.0), number)
    # A file without a header is begun anew, unless another night is at it.
    playing = player(newest, own[newest]), *opponents
    call("match", "--resume", *playing, "--gauntlet", "--game", game, "-n", games,
         "--seed", re.sub(r"\D", "", date), "-q", "-o", record)  # fmt: skip


def nights(records: list[str]) -> str:
    """A table of all nights, as CSV."""
    rated = json.loads(call("rate", "-q", "--json", *RATED, *records))
    by_name = {one["name"]: one for one in rated["players"]}
    rows: list[list[object]] = [["date", "player", "elo", "low", "high", "scores"]]
    for record in records:
        name, *others = players(record)
        if found := by_name.get(name):
            scores = [f"{other} {score(rated['meetings'], name, other)}" for other in others]
            date = record[len("games-") : -len(".jsonl")]
            told = [round(found[what]) for what in ("elo", "low", "high")]
            rows.append([date, name, *told, ", ".join(scores)])
    return csv_text(rows)


def score(meetings: list[dict[str, Any]], name: str, other: str) -> str:
    """What `name` has against `other`, of all nights, in percent."""
    for one in meetings:
        if {one["first"], one["second"]} == {name, other}:
            share = (one["won"] + one["drawn"] / 2) / (one["won"] + one["drawn"] + one["lost"])
            return f"{share if one['first'] == name else 1 - share:.1%}"
    return "none"


def main() -> None:
    parser = Parser(__doc__)
    parser.add_argument("run", type=pathlib.Path, help="the folder that train fills")
    parser.add_argument("game")
    parser.add_argument("-n", "--games", default="200", help="with each opponent (default: 200)")
    parser.add_argument(
        "--opponents",
        type=argument(whole(1)),
        default=4,
        metavar="N",
        help="of a night (default: 4)",
    )
    parser.add_argument("--now", action="store_true", help="another time on the same day")
    given = parser.parse_args()
    with parser.telling():
        date = datetime.datetime.now().strftime("%Y-%m-%dT%H%M%S" if given.now else "%Y-%m-%d")
        play(given.run, given.game, given.games, given.opponents, date)
        records = begun()
        call("rate", "-q", *RATED, "--html", "rating.html", "-f", *records)
        part = f".nights.{os.getpid()}"  # the table appears whole
        pathlib.Path(part).write_text(nights(records), encoding="utf-8")
        os.replace(part, "nights.csv")


if __name__ == "__main__":
    main()
