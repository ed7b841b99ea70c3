"""Makes the samples of stratkit's own files beside it: `python formats/samples/make.py [FOLDER]`.

`episodes.json` is their source: it holds the content of `episodes.eps` in plain text, and the games
of `games.jsonl` are its first two.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import pathlib
import sys
from typing import Any

import numpy as np

from stratkit.cli.messages import warn
from stratkit.cli.progress import ProgressLine
from stratkit.engine import Game, Tree
from stratkit.engine.stratego import variant
from stratkit.notation.actions import transcript
from stratkit.play.seating import Seating
from stratkit.players.baselines import RandomPlayer
from stratkit.solve.judge import Keeping
from stratkit.solve.tree_judge import TreeJudge
from stratkit.storage.checkpoints import publish_policy, save_checkpoint
from stratkit.storage.episodes import (
    SLICES,
    Episode,
    Episodes,
    EpisodeWriter,
    Header,
    PolicyTargets,
)
from stratkit.storage.examples import ExampleHeader, ExampleWriter
from stratkit.storage.records import (
    GameRecord,
    RecordHeader,
    RecordPlayer,
    RecordWriter,
    result_of,
)
from stratkit.storage.responses import ResponseMetadata, response_bytes
from stratkit.storage.tables import TableMetadata, growing_table
from stratkit.ucc.process import Process, Program
from stratkit.ucc.referee import play_game

HERE = pathlib.Path(__file__).parent


def episodes() -> tuple[Header, list[Episode]]:
    """The header and episodes in `episodes.json`, where a mu of NaN is null."""
    source = json.loads((HERE / "episodes.json").read_text())
    header = Header(**{**source["header"], "endings": tuple(source["header"]["endings"])})
    return header, [_episode(values) for values in source["episodes"]]


def _episode(values: dict[str, Any]) -> Episode:
    return Episode(
        values["number"],
        values["step"],
        values["ending"],
        np.array(values["returns"], np.float32),
        np.array(values["actions"], np.int32),
        np.array([math.nan if mu is None else mu for mu in values["mu"]], np.float32),
        bytes.fromhex(values["start"]),
    )


def searched() -> list[Episode]:
    """The same episodes; of the first one each second action has a target, and each has a value."""
    _, (first, *others) = episodes()
    choices = [sorted({action, action + 1, 2}) for action in first.actions[::2].tolist()]
    count = np.zeros(len(first.actions), np.int64)
    count[::2] = [len(actions) for actions in choices]
    shares = [[65535 - 4 * (len(actions) - 1)] + [4] * (len(actions) - 1) for actions in choices]
    targets = PolicyTargets(
        count,
        np.array([action for actions in choices for action in actions], np.int32),
        np.array([share for some in shares for share in some], np.uint16),
    )
    values = np.linspace(-1, 1, len(first.actions), dtype=np.float32)
    return [dataclasses.replace(first, targets=targets, root_value=values), *others]


def sliced() -> tuple[Header, list[Episode]]:
    """The same episodes in slices of ten actions, in turn; all but a game's last go on."""
    header, played = episodes()
    parts = [
        (first, k, episode)
        for k, episode in enumerate(played)
        for first in range(0, len(episode.actions), 10)
    ]
    return dataclasses.replace(header, version=SLICES), [
        _slice(episode, first) for first, _, episode in sorted(parts, key=lambda part: part[:2])
    ]


def _slice(episode: Episode, first: int) -> Episode:
    end, goes_on = first + 10, first + 10 < len(episode.actions)
    return dataclasses.replace(
        episode,
        actions=episode.actions[:end],
        mu=episode.mu[:end],
        ending=0 if goes_on else episode.ending,
        returns=episode.returns * (0 if goes_on else 1),
        first=first,
    )


def games() -> tuple[RecordHeader, list[GameRecord]]:
    """The first two episodes as a pair of games between A and B."""
    header, played = episodes()
    players = (
        RecordPlayer("A", "heuristic"),
        RecordPlayer("B", "run/policy.safetensors", header.network),
    )
    setups = {"file": "mini.setups", "sha256": "0" * 64}
    head = RecordHeader(
        game=header.game, rules=header.rules, seed=7, games=2, players=players, setups=setups
    )
    return head, [_record(header, episode, (i, 1 - i)) for i, episode in enumerate(played[:2])]


def _record(header: Header, episode: Episode, players: tuple[int, int]) -> GameRecord:
    setups, moves = transcript(variant(header.game), episode.actions)
    returns = tuple(episode.returns.tolist())
    return GameRecord(
        number=episode.number,
        pair=episode.number // 2,
        players=players,
        setups=setups,
        moves=" ".join(moves),
        result=result_of(returns),
        returns=returns,
        reason=header.endings[episode.ending],
        plies=len(moves),
    )


def dialogue() -> str:
    """A game of nano between the random player and a program, `match --serve random`, as red: `>`
    before what the program reads, `<` before what it writes."""
    lines: list[str] = []

    class Heard(Process):
        def send(self, *sent: str) -> None:
            lines.extend(f"> {line}" for line in sent)
            super().send(*sent)

        def line(self, seconds: float) -> str:
            lines.append(f"< {super().line(seconds)}")
            return lines[-1][2:]

    words = ("--serve", "random", "--game", "nano", "--seed", "4")
    start = "from stratkit.cli.match import main; main()"
    program = Program("program", (sys.executable, "-c", start, *words), startup=60.0)
    with contextlib.closing(Heard(program)) as heard:
        players, names = (program, RandomPlayer(4)), ("program", "random")
        play_game(Game("nano"), Seating(0, (0, 1)), players, names, lambda _: heard)
    return "".join(f"{line}\n" for line in lines)


def tensors() -> dict[str, np.ndarray[Any, Any]]:
    """A checkpoint's tensors, of a network with one weight matrix and one bias."""
    weight = np.arange(6, dtype=np.float32).reshape(2, 3)
    bias = np.array([-1, 1], np.float32)
    made: dict[str, np.ndarray[Any, Any]] = {}
    for i, part in enumerate(["online", "target", "regularization", "previous", "average"]):
        made |= {f"{part}/weight": weight + i, f"{part}/bias": bias}
    for name, tensor in (("weight", weight), ("bias", bias)):
        made[f"optimizer/exp_avg/{name}"] = tensor / 2
        made[f"optimizer/exp_avg_sq/{name}"] = tensor**2
        made[f"optimizer/step/{name}"] = np.array(3, np.float32)
    return made


def metadata() -> dict[str, Any]:
    """A checkpoint's metadata."""
    header, _ = episodes()
    return {
        "game": header.game,
        "rules": dict(header.rules),
        "net": "tiny",
        "algorithm": "rnad",
        "step": 3,
        "episodes": 24,
        "batch": 8,
        "post": "none",
        "networks": ["online", "target", "regularization", "previous", "average"],
        "seed": 7,
        "decisions": 480,
        "config": {"lr": 0.001, "rho": "inf"},
        "parents": [],
        "inputs": {"episodes.eps": 24},
    }


def examples(folder: pathlib.Path) -> None:
    """Two examples of a game's opening, in two frames, one of a hand that is not there."""
    header = ExampleHeader(
        game="liars_dice:1x2",
        rules={},
        inputs=9,
        hands=2,
        search="search=cfr,iterations=32",
        seed=1,
        writer="stratkit 0.1.0",
    )
    rows = np.array([[1, 0, 0, 0, 0, 0.5, 0.5, 0.5, 0.5], [0, 0, 1, 0, 0, 1, 0, 0.25, 0.75]])
    values = np.array([[-0.5, 0.25], [0.125, math.nan]])
    with open(folder / "examples.pbs", "wb") as stream, ExampleWriter(stream, header) as writer:
        for i in range(2):
            some = rows[i : i + 1].astype(np.float32), values[i : i + 1].astype(np.float32)
            writer.write(*some)


def make(folder: pathlib.Path) -> None:
    """Writes all samples; files that are there are replaced."""
    header, played = episodes()
    for name, some in (("episodes.eps", played), ("searched.eps", searched())):
        with open(folder / name, "wb") as stream, EpisodeWriter(stream, header) as writer:
            for episode in some:
                writer.write(Episodes.of([episode]))
                if episode.number == 1:
                    writer.flush()
    head_of_slices, slices = sliced()
    with (
        open(folder / "sliced.eps", "wb") as stream,
        EpisodeWriter(stream, head_of_slices) as writer,
    ):
        for part in slices:
            writer.write(Episodes.of([part]))
    head, records = games()
    with RecordWriter(str(folder / "games.jsonl"), head, overwrite=True) as games_writer:
        for record in records:
            games_writer.write(record)
    save_checkpoint(folder / "checkpoint.safetensors", tensors(), metadata(), overwrite=True)
    online = {"weight": tensors()["online/weight"], "bias": tensors()["online/bias"]}
    shared = {
        key: metadata()[key]
        for key in ("game", "rules", "net", "algorithm", "step", "episodes", "batch", "post")
    }
    publish_policy(folder, online, shared)
    (folder / "ucc.txt").write_text(dialogue())
    examples(folder)
    tree = Tree(Game("kuhn"))
    says, file = TableMetadata(game="kuhn"), str(folder / "kuhn.table")
    with growing_table(file, says, len(tree.actions), force=True) as table:
        table.write(tree.uniform())
    entry = TreeJudge(tree, ProgressLine, warn, keeping=Keeping(response=True))
    (found,) = entry.entries("uniform", None)
    told = ResponseMetadata(game="kuhn", against="uniform", best=found.result.best)
    (folder / "kuhn.response").write_bytes(response_bytes(entry.responses[0], told))


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
