"""Episodes -> batches: the engine replays the actions and makes the observations again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stratkit.engine import Game, IllegalAction, Replay, distinct_views, replay_columns
from stratkit.errors import InputError
from stratkit.storage.columns import MU_ROUNDING, Episodes

CUT = "cut"  # the ending of an episode that was stopped before the end of its game


@dataclass(frozen=True)
class EpisodeChunk:
    """Some episodes, the names of their endings, and where they were read, for messages."""

    episodes: Episodes
    endings: Sequence[str]
    file: str

    def __len__(self) -> int:
        return len(self.episodes)


@dataclass(frozen=True)
class Batch:
    """The steps of some whole episodes, one after the other, and the different views in them.

    Per view [u], padded to a multiple: `observations` uint8 [u, observation_bytes] and `legal`
    uint8 [u, A].
    Per step [n]: `view` int64, `action` int64, `mu` float32, `player` int64 (-1: an action that
    nobody sampled).
    `learned` int64 [m]: the rows of the m steps that are learned from. `cell` int64 [m]: their
    places in a grid of `time` x B.
    Per episode [B]: `returns` float32 [B, P] of P players, `lengths` (actions) and `steps` (the
    policy's step, as played) int64, `endings` their names.
    """

    observations: Tensor
    legal: Tensor
    view: Tensor
    action: Tensor
    mu: Tensor
    player: Tensor
    learned: Tensor
    cell: Tensor
    time: int
    returns: Tensor
    lengths: Tensor
    steps: Tensor
    endings: Sequence[str]

    @property
    def states(self) -> int:
        """Steps that are learned from."""
        return len(self.learned)

    def step_counts(self) -> Tensor:
        """float32 [P]: how many steps of each player are learned from."""
        return step_counts(self.player, self.returns.shape[1])

    def to(self, device: torch.device) -> Batch:
        """The same on a device; from pinned memory, while the host goes on."""
        return self._each(lambda x: x.to(device, non_blocking=True))

    def pinned(self) -> Batch:
        """The same in memory that a GPU can fetch from by itself."""
        return self._each(lambda x: x.pin_memory())

    def _each(self, function: Callable[[Tensor], Tensor]) -> Batch:
        moved: dict[str, Any] = {
            name: function(x) if isinstance(x, Tensor) else x for name, x in vars(self).items()
        }
        return Batch(**moved)

    def grid(self, x: Tensor, fill: float = 0.0) -> Tensor:
        """[n, ...] -> [time, B, ...]: episodes side by side, the steps learned from in order."""
        size = self.time * len(self.returns)
        out = x.new_full((size, *x.shape[1:]), fill)
        out[self.cell] = x[self.learned]
        return out.view(self.time, -1, *x.shape[1:])

    def flat(self, x: Tensor) -> Tensor:
        """The inverse of `grid`; 0 for the other steps."""
        out = x.new_zeros((len(self.player), *x.shape[2:]))
        out[self.learned] = x.flatten(0, 1)[self.cell]
        return out

    def rewards(self) -> Tensor:
        """float32 [time, B, P]: each player's return, at the last step learned from."""
        out = self.returns.new_zeros((self.time, *self.returns.shape))
        ends = self.grid((self.player >= 0).float()).sum(0).long() - 1
        there = (ends >= 0).nonzero()[:, 0]
        out[ends[there], there] = self.returns[there]
        return out


def step_counts(player: Tensor, players: int) -> Tensor:
    """N_k, how many steps of player k there are: float32 [players]. player: integer [n], 0 to
    players - 1, or -1 for an action that nobody sampled."""
    return (player[:, None] == torch.arange(players, device=player.device)).float().sum(0)


def make_batch(game: Game, chunks: Sequence[EpisodeChunk], rows: int = 1) -> Batch:
    """Replays the episodes and lays their steps out as a batch, its views padded to a multiple of
    `rows`.

    InputError: an illegal action, an episode that ends otherwise than it says, or one whose play
    was not sampled. The message names file, episode and action.
    """
    episodes = Episodes.together([chunk.episodes for chunk in chunks])
    actions, mu, lengths = episodes.actions, episodes.mu, episodes.length
    endings = np.concatenate([np.array(chunk.endings)[chunk.episodes.ending] for chunk in chunks])
    played = _replay(game, chunks, episodes, endings)
    sampled = ~np.isnan(mu) & (played.actors >= 0)
    _check_sampled(chunks, played, mu)

    episode = np.repeat(np.arange(len(lengths)), lengths)
    learned = sampled.nonzero()[0]
    before = np.concatenate([[0], np.cumsum(sampled)])  # steps learned from, before each
    moment = before[:-1] - before[played.offsets[:-1]][episode]
    time = int(moment[learned].max(initial=0)) + 1
    first, view = distinct_views(played.observations, played.legal)
    # Rows of padding repeat the last one: the network needs something to look at.
    views = np.append(first, np.repeat(first[-1:], -len(first) % rows))
    return Batch(
        observations=torch.from_numpy(played.observations[views]),
        legal=torch.from_numpy(played.legal[views]),
        view=torch.from_numpy(view),
        action=torch.from_numpy(actions.astype(np.int64)),
        mu=torch.from_numpy(np.where(sampled, mu, 1).astype(np.float32)),
        player=torch.from_numpy(np.where(sampled, played.actors, -1)).long(),
        learned=torch.from_numpy(learned),
        cell=torch.from_numpy((moment * len(lengths) + episode)[learned]),
        time=time,
        returns=torch.from_numpy(played.returns),
        lengths=torch.from_numpy(lengths),
        steps=torch.from_numpy(episodes.step),
        endings=endings.tolist(),
    )


def _replay(
    game: Game, chunks: Sequence[EpisodeChunk], episodes: Episodes, said: NDArray[np.str_]
) -> Replay:
    starts = episodes.start.tobytes()
    try:
        played = replay_columns(
            game, episodes.actions, episodes.length, starts, episodes.start_length
        )
    except IllegalAction as error:
        if error.action is None:
            raise _at(chunks, error.row, None, "illegal start position", None) from None
        raise _at(chunks, error.row, error.index, "illegal action", error.action) from None
    found = np.array(game.endings)[played.endings]
    wrong = np.flatnonzero((said != found) & ~((said == CUT) & (found == "")))
    if len(wrong):
        row = int(wrong[0])
        what = f"the episode says that it ended by {said[row] or 'nothing'}, replay by"
        raise _at(chunks, row, None, what, found[row] or "nothing")
    if episodes.returns.shape != played.returns.shape:
        what = f"returns of {episodes.returns.shape[1]} players"
        raise _at(chunks, 0, None, what, None)
    wrong = np.flatnonzero((episodes.returns != played.returns).any(1))
    if len(wrong):
        row = int(wrong[0])
        what = "the returns are not those of the game"
        raise _at(chunks, row, None, what, episodes.returns[row])
    return played


def _check_sampled(chunks: Sequence[EpisodeChunk], played: Replay, mu: NDArray[np.float32]) -> None:
    """Play must have been sampled; given actions (setups) and chance may be in an episode."""
    in_play = (played.actors >= 0) & ~played.given
    for wrong, what in (
        (np.isnan(mu) & in_play, "this action of play was not sampled (mu is NaN)"),
        ((mu <= 0) | (mu > 1 + MU_ROUNDING), "mu is no probability"),
    ):
        if wrong.any():
            at = int(wrong.argmax())
            row = int(np.searchsorted(played.offsets, at, side="right")) - 1
            text = None if np.isnan(mu[at]) else mu[at]
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
