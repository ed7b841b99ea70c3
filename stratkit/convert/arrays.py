"""Episodes and game records as arrays by name, for people who analyse them: each mapping of columns
is a table, as `pandas.DataFrame` takes it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stratkit.arguments import checked
from stratkit.compressed import decompressed
from stratkit.engine import Game, IllegalAction, Replay, replay_columns
from stratkit.errors import InputError, error_context
from stratkit.games.table import kit_of
from stratkit.storage.episodes import EpisodeReader, Episodes, Header, SeenGames
from stratkit.storage.records import GameRecord, RecordHeader, read_records

Columns = dict[str, npt.NDArray[Any]]
StrPath = str | os.PathLike[str]

SUFFIX = ".eps"  # of the files that are read in a folder


@dataclass(frozen=True)
class EpisodeArrays:
    """Episodes of one game as two tables.

    game          the episodes' game
    games         n rows, one for each game:
        file          str; with seed and number it tells games apart
        seed          uint64
        number        int64
        step          int64, of the policy; -1: none
        length        int64, number of actions
        ending        str, its name
        return_P      float32, for each player P
    actions       T rows, one for each action, game after game:
        game          int64, row of `games`
        index         int64, number of the action in its game
        actor         int8, the player; -1: chance
        action        int32, in the acting side's frame
        text          str, what the game calls it, or the number
        mu            float32, probability with which it was chosen, NaN where nobody chose
        legal         int32, how many actions were legal
        root_value    float32, of a search, where there is one
    truncated     a line for each file that ends too early
    duplicates    number of games left out, because another file had them
    episodes      the episodes themselves
    """

    game: Game
    games: Columns
    actions: Columns
    truncated: tuple[str, ...]
    duplicates: int
    episodes: Episodes

    @checked
    def replay(self, games: slice = slice(None)) -> Replay:
        """What the acting sides knew before each action of these games: observations, uint8 [T,
        observation_bytes], and legal actions, uint8 [T, A]. The rows are those of `actions`.
        """
        return _replay(self.game, self.episodes[games])

    def __repr__(self) -> str:
        games, actions = len(self.games["number"]), len(self.actions["action"])
        return f"<EpisodeArrays of {self.game.name}: {games} games, {actions} actions>"


@checked
def read_episodes(*paths: StrPath) -> EpisodeArrays:
    """The episodes of files and of folders of `.eps` files, which are of one game and its rules.

    Raises `InputError`: there are none, a file is damaged, or the games or rules differ; `OSError`
    for a file that cannot be opened.
    """
    seen = SeenGames()
    parts: list[tuple[str, Header, Episodes]] = []
    truncated: list[str] = []
    duplicates = 0
    for path in _files(paths):
        with open(path, "rb") as stream:
            reader = EpisodeReader(stream, path, seen)
            for episodes in reader.frames():
                parts.append((path, reader.header, episodes))
                _check_same(parts[0][1], reader.header, path)
        if reader.truncated:
            truncated.append(f"{path}: {reader.truncated}")
        duplicates += reader.duplicates
    if not parts:
        raise InputError("no episodes", file=os.fspath(paths[0]) if paths else None)
    with error_context(parts[0][0]):
        game = Game.stored(parts[0][1].game, parts[0][1].rules)
    together = Episodes.concat([episodes for *_, episodes in parts])
    actions = _actions(game, parts, together)
    games = _games(parts, together)
    return EpisodeArrays(game, games, actions, tuple(truncated), duplicates, together)


def _path(path: StrPath) -> str:
    """`InputError`: no file can have this name."""
    name = os.fspath(path)
    try:
        possible = b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise InputError("path: no file can have this name", text=name)
    return name


def _files(paths: Sequence[StrPath]) -> Iterator[str]:
    """The files themselves, and those of folders in the order of their names."""
    for path in map(_path, paths):
        if os.path.isdir(path):
            yield from map(str, sorted(Path(path).glob(f"*{SUFFIX}")))
        else:
            yield path


def _check_same(first: Header, header: Header, file: str) -> None:
    """`InputError`: other episodes before these are of another game or other rules."""
    if (first.game, first.rules) != (header.game, header.rules):
        was = f"{first.game}, {dict(first.rules)}"
        what = f"episodes of another game or other rules than those before ({was})"
        raise InputError(what, file=file, text=f"{header.game}, {dict(header.rules)}")


def _games(parts: Sequence[tuple[str, Header, Episodes]], together: Episodes) -> Columns:
    endings = [np.array(header.endings, object)[part.ending] for _, header, part in parts]
    return {
        "file": _repeated([file for file, *_ in parts], parts, object),
        "seed": _repeated([header.seed for _, header, _ in parts], parts, np.uint64),
        "number": together.number,
        "step": together.step,
        "length": together.length,
        "ending": np.concatenate(endings),
        **{f"return_{player}": column for player, column in enumerate(together.returns.T)},
    }


def _repeated(
    values: Sequence[object], parts: Sequence[tuple[str, Header, Episodes]], dtype: Any
) -> npt.NDArray[Any]:
    """The value of each part, once for each of its games."""
    return np.repeat(np.array(values, dtype), [len(episodes) for *_, episodes in parts])


def _actions(
    game: Game, parts: Sequence[tuple[str, Header, Episodes]], together: Episodes
) -> Columns:
    actors, legal = [], []
    for file, _, episodes in parts:  # a frame at a time: what was seen takes a hundred times more
        try:
            seen = _replay(game, episodes)
        except (IllegalAction, InputError) as error:
            raise InputError(f"not a game of {game.name}: {error}", file=file) from None
        actors.append(seen.actors)
        legal.append(seen.legal.sum(1, dtype=np.int32))
    first = np.cumsum(together.length) - together.length
    actor = np.concatenate(actors)
    columns: Columns = {
        "game": np.repeat(np.arange(len(together)), together.length),
        "index": np.arange(len(actor)) - np.repeat(first, together.length),
        "actor": actor,
        "action": together.actions,
        "text": kit_of(game).action_names()[actor, together.actions],
        "mu": together.mu,
        "legal": np.concatenate(legal),
    }
    if together.root_value is not None:
        columns["root_value"] = together.root_value
    return columns


def _replay(game: Game, episodes: Episodes) -> Replay:
    columns = episodes.actions, episodes.length, episodes.start.tobytes(), episodes.start_length
    return replay_columns(game, *columns)


# --- game records ---------------------------------------------------------------------------------


@checked
def read_games(*paths: StrPath) -> Columns:
    """The games of record files (formats/games.md), compressed or not, one row each.

    `file`, `game` str; `seed` uint64; `number`, `pair` and `plies` int64; `result` (`red`, `blue`
    or `draw`), `reason`, `moves` str; `adjudicator` and `fault` str or None. For each player P, who
    moves first being 0: `player_P`, its name; `setup_P`, its setup or None; `return_P` float32;
    `seconds_P` float32, the time it used, NaN where nobody measured. Raises `InputError` for a file
    that is no record, `OSError` for one that cannot be opened.
    """
    rows: list[tuple[str, RecordHeader, GameRecord]] = []
    for path in map(_path, paths):
        with open(path, "rb") as stream:
            rows += [(path, *pair) for pair in read_records(decompressed(stream, path), path)]
    columns: Columns = {
        "file": np.array([file for file, *_ in rows], object),
        "game": np.array([header.game for _, header, _ in rows], object),
        "seed": np.array([header.seed for _, header, _ in rows], np.uint64),
    }
    for name, kind in _FIELDS.items():
        columns[name] = np.array([getattr(record, name) for *_, record in rows], kind)
    for player in range(max((len(record.players) for *_, record in rows), default=2)):
        columns |= _of_player(rows, player)
    return columns


_FIELDS = {
    "number": np.int64,
    "pair": np.int64,
    "plies": np.int64,
    "result": object,
    "reason": object,
    "adjudicator": object,
    "fault": object,
    "moves": object,
}


def _of_player(rows: Sequence[tuple[str, RecordHeader, GameRecord]], player: int) -> Columns:
    def column(
        values: Sequence[Sequence[Any] | None], nothing: object, kind: Any
    ) -> npt.NDArray[Any]:
        cells = (v[player] if v is not None and player < len(v) else nothing for v in values)
        return np.array(list(cells), kind)

    records = [record for *_, record in rows]
    names = [[header.players[i].name for i in record.players] for _, header, record in rows]
    return {
        f"player_{player}": column(names, None, object),
        f"setup_{player}": column([record.setups for record in records], None, object),
        f"return_{player}": column([r.returns for r in records], np.nan, np.float32),
        f"seconds_{player}": column([r.times for r in records], np.nan, np.float32),
    }
