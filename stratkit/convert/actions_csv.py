"""The actions of games as CSV (formats/csv.md): a line for each action."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from stratkit.convert.games import PlayedGame
from stratkit.convert.raw import Raw, RawEpisode
from stratkit.engine import Game as Rules
from stratkit.engine import IllegalAction, replay
from stratkit.engine.batch import CHANCE
from stratkit.engine.stratego import TYPE, placements
from stratkit.errors import InputError
from stratkit.games.table import kit_of
from stratkit.notation.actions import actions_of
from stratkit.notation.play import move_texts
from stratkit.notation.select import Selection
from stratkit.notation.setups import has_counts
from stratkit.notation.squares import RANKS
from stratkit.storage.csv_text import csv_text

if TYPE_CHECKING:
    from stratkit.storage.episodes import Episode

COLUMNS = (
    *("file", "game", "index", "actor", "action", "text", "piece", "move"),
    *("mu", "root_value", "return"),
)
HEAD = csv_text([COLUMNS])


def bare_csv(raw: RawEpisode, selection: Selection) -> str:
    """The lines of an episode of any game, replayed by the rules of its header; none if games are
    chosen by what only logs have. Raises `InputError`."""
    if selection.by_log:
        return ""
    header, episode = raw.header, raw.episode
    rules = Rules.stored(header.game, header.rules)
    if ((episode.actions < 0) | (episode.actions >= rules.actions)).any():
        raise InputError(f"not the actions of a game of {header.game}")
    try:
        actors = replay(rules, episode.actions, episode.start).actors.tolist()
    except IllegalAction as error:
        raise InputError(f"not a game of {header.game}: {error}") from None
    names, actions = kit_of(rules).action_names(), episode.actions.tolist()
    texts = [names[actor, action] for actor, action in zip(actors, actions, strict=True)]
    blank = [""] * len(actions)
    return _lines(raw, actors, actions, (texts, blank, blank), episode.returns.tolist(), episode)


def game_csv(game: PlayedGame) -> str:
    """The lines of a game of Stratego that was played out with its boards. `InputError`: of free
    setups there are no actions."""
    log, kind = game.log, game.log.variant
    if log.setups is None:
        raise InputError("it began at a position: the CSV of games begins with setups")
    if not all(has_counts(kind, setup) for setup in log.setups):
        raise InputError(f"free setups: there are no actions of {kind.name} that place them")
    squares = [placements(kind, setup) for setup in log.setups]
    actions = np.concatenate([*squares, actions_of(log)])
    episode = game.raw.episode if isinstance(game.raw, RawEpisode) else None
    if episode:  # equal pieces are placed in any order, and a last piece may have been selected
        selected = 0 if game.played.fault else 1
        actions = episode.actions[: len(actions) + selected]
    placed, n = actions[: 2 * kind.pieces].reshape(2, -1), len(actions)
    pieces = [RANKS[s[at]] for s, where in zip(log.setups, placed, strict=True) for at in where]
    moves = [""] * len(pieces)
    for ply, move in enumerate(move_texts(game.played)):
        mover = game.played.boards[ply][log.moves[2 * ply]] & TYPE
        pieces += [RANKS[mover]] * 2
        moves += ["", move]
    more = [""] * (n - len(moves))
    actors = [index // kind.pieces for index in range(2 * kind.pieces)]
    actors += [index // 2 % 2 for index in range(n - len(actors))]
    names = kit_of(Rules(kind.name)).action_names()
    texts = [names[actor, action] for actor, action in zip(actors, actions, strict=True)]
    words = texts, pieces + more, moves + more
    return _lines(game.raw, actors, actions.tolist(), words, log.returns, episode)


def _lines(
    raw: Raw,
    actors: Sequence[int],
    actions: Sequence[int],
    words: tuple[Iterable[str], Iterable[str], Iterable[str]],
    returns: Sequence[float],
    episode: Episode | None,
) -> str:
    """`words`: text, piece and move of each action."""
    blank = [""] * len(actions)
    mu = _numbers(None if episode is None else episode.mu) or blank
    values = _numbers(None if episode is None else episode.root_value) or blank
    rows = []
    columns = zip(actors, actions, *words, mu, values, strict=False)
    for index, (actor, action, text, piece, move, p, value) in enumerate(columns):
        won = "" if actor == CHANCE else f"{returns[actor] + 0.0:g}"  # blue's of a draw is -0.0
        rows.append((raw.file, raw.number, index, actor, action, text, piece, move, p, value, won))
    return csv_text(rows)


def _numbers(column: Any) -> list[str]:
    """float32 [T] in the fewest digits that tell them apart, empty where NaN."""
    if column is None:
        return []
    return ["" if math.isnan(x) else str(x) for x in np.asarray(column, np.float32)]
