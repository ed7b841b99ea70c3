"""Replaying the episodes of a batch, and what is wrong with them: file, episode, action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stratkit.arrays import Bools, Bytes, Int32s, Int64s
from stratkit.engine import Game, IllegalAction, Replay, replay_columns
from stratkit.errors import InputError
from stratkit.storage.columns import MU_ROUNDING, Episodes
from stratkit.storage.episodes import SLICES, Header

CUT = "cut"  # the ending of an episode that was stopped before the end of its game


@dataclass(frozen=True)
class EpisodeChunk:
    """Some episodes, the names of their endings, and where they were read, for messages; whether
    they are `against` a frozen player, of whose sides nothing was sampled; whether they were
    `played` by somebody, and may have ended otherwise than on the board; and the `origin` of their
    stream, which says who wrote it."""

    episodes: Episodes
    endings: Sequence[str]
    file: str
    against: bool = False
    played: bool = False
    origin: str = ""

    def __len__(self) -> int:
        return len(self.episodes)

    def __getitem__(self, part: slice) -> EpisodeChunk:
        return replace(self, episodes=self.episodes[part])


def check_slices(header: Header, taken: bool, why: str) -> None:
    """`InputError`: the stream has slices of games, which are not `taken`, and why."""
    if header.version == SLICES and not taken:
        raise InputError(f"slices of games, {why}")


def check_sampled(header: Header, algorithm: str) -> None:
    """`InputError`: the games were played by somebody, and this algorithm, if any is named, needs
    to know how probable each action was."""
    if algorithm and not header.sampled:
        what = f"games that were played, not sampled: {algorithm} needs each action's probability"
        hint = "--algorithm belief, or alphaze --targets played, learns from them"
        raise InputError(f"{what}; {hint}")


def against(chunks: Sequence[EpisodeChunk]) -> Bools:
    """Of each episode, whether it is against a frozen player."""
    return np.repeat([chunk.against for chunk in chunks], [len(chunk) for chunk in chunks])


def replayed(
    game: Game,
    chunks: Sequence[EpisodeChunk],
    episodes: Episodes,
    claims: NDArray[np.str_],
    sampled: bool,
    views: bool = True,
) -> Replay:
    """The episodes of all the chunks, which ended as it `claims` [n]. Unless `views`, without what
    was known before the actions. `InputError`: something is wrong with one; if `sampled`, also that
    play was not."""
    seen = None if views else np.zeros(len(episodes.actions), np.bool_)
    try:
        played = replay_columns(game, *_columns(episodes), seen)
    except IllegalAction as error:
        if error.action is None:
            raise _at(chunks, error.row, None, "illegal start position", None) from None
        raise _at(chunks, error.row, error.index, "illegal action", error.action) from None
    endings = np.array(game.endings)[played.endings]
    known = np.repeat([chunk.played for chunk in chunks], [len(chunk) for chunk in chunks])
    off_board = known & (endings == "") & ~np.isin(claims, game.endings)  # resigned, for example
    wrong = np.flatnonzero((claims != endings) & ~((claims == CUT) & (endings == "")) & ~off_board)
    if len(wrong):
        row = int(wrong[0])
        what = f"the episode says that it ended by {claims[row] or 'nothing'}, replay by"
        raise _at(chunks, row, None, what, endings[row] or "nothing")
    if episodes.returns.shape != played.returns.shape:
        what = f"returns of {episodes.returns.shape[1]} players"
        raise _at(chunks, 0, None, what, None)
    played.returns[off_board] = episodes.returns[off_board]
    wrong = np.flatnonzero((episodes.returns != played.returns).any(1))
    if len(wrong):
        row = int(wrong[0])
        what = "the returns are not those of the game"
        raise _at(chunks, row, None, what, episodes.returns[row])
    if sampled:
        _check_sampled(chunks, episodes, played)
    return played


def views_before(game: Game, episodes: Episodes, rows: NDArray[np.int64]) -> tuple[Bytes, Bytes]:
    """Observations and legal actions before the actions `rows` [k], in order, of legal episodes;
    where there is none, before the first of all."""
    seen = np.zeros(len(episodes.actions), np.bool_)
    seen[rows if len(rows) else 0] = True
    played = replay_columns(game, *_columns(episodes), seen)
    return played.observations, played.legal


def _columns(episodes: Episodes) -> tuple[Int32s, Int64s, bytes, Int64s]:
    """What `replay_columns` replays."""
    return episodes.actions, episodes.length, episodes.start.tobytes(), episodes.start_length


def _check_sampled(chunks: Sequence[EpisodeChunk], episodes: Episodes, played: Replay) -> None:
    """Play must have been sampled; given actions (setups) and chance may be in an episode, and all
    that a frozen player did."""
    mu, none = episodes.mu, np.isnan(episodes.mu) & (played.actors >= 0) & ~played.given
    if none.any():
        episode = np.repeat(np.arange(len(episodes)), episodes.length)
        sampled = (played.actors >= 0) & ~np.isnan(mu)
        learner = np.zeros(episodes.returns.shape, np.bool_)
        learner[episode[sampled], played.actors[sampled]] = True
        none &= ~against(chunks)[episode] | learner[episode, np.maximum(played.actors, 0)]
    refuse(chunks, played, none, "this action of play was not sampled (mu is NaN)")
    refuse(chunks, played, (mu <= 0) | (mu > 1 + MU_ROUNDING), "mu is no probability", mu)


def refuse(
    chunks: Sequence[EpisodeChunk],
    played: Replay,
    wrong: Bools,
    what: str,
    values: NDArray[np.float32] | None = None,
) -> None:
    """`InputError` if something is wrong with an action: with the first one, and its value."""
    if wrong.any():
        at = int(wrong.argmax())
        row = int(np.searchsorted(played.offsets, at, side="right")) - 1
        text = None if values is None else values[at]
        raise _at(chunks, row, at - int(played.offsets[row]), what, text)


def _at(
    chunks: Sequence[EpisodeChunk], row: int, index: int | None, what: str, text: object
) -> InputError:
    """What is wrong in episode `row` of all the chunks' episodes."""
    before = 0
    for chunk in chunks:
        if row < before + len(chunk):
            break
        before += len(chunk)
    where = f"episode {chunk.episodes.number[row - before]}"
    where += "" if index is None else f", action {index}"
    return InputError(what, file=chunk.file, where=where, text=text)
