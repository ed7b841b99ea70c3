"""Episodes -> batches: the steps of the games, and the different views in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from stratkit.arrays import Bools, Bytes
from stratkit.engine import (
    Batch,
    Game,
    Replay,
    begins_unsure,
    distinct_views,
    hidden_types,
)
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.replayed import EpisodeChunk, against, refuse, replayed, views_before
from stratkit.storage.columns import WHOLE_SHARE, Episodes


@dataclass(frozen=True)
class StepBatch:
    """The steps of some episodes, whole games or slices, one after the other, and the different
    views in them.

    Of u views, padded to a multiple:

        observations  uint8 [u, observation_bytes]
        legal         uint8 [u, A]

    Of n steps:

        view          int64 [n], row among the views
        action        int64 [n]
        mu            float32 [n], probability with which the action was chosen
        player        int64 [n]; -1: a step that is not learned from, such as an action that nobody
                      sampled
        actor         int64 [n]; -1: a step that is in no chain of steps
        by_outcome    bool [n], whether it places a piece, and is judged by its game's outcome
        trained       int64 [m], rows of the steps that are learned from
        in_chain      int64 [k], these, and with slices those of which only the value or the ratio
                      counts, for other steps' targets
        grid_index    int64 [k], places of the latter in a grid of `time` x B
        time          height of this grid

    Of B episodes, and P players:

        returns       float32 [B, P]
        ended         bool [B]; 0: the game goes on
        lengths       int64 [B], actions of the game so far
        steps         int64 [B], the policy's step, as played
        endings       names of their endings
        unit          the game's, of returns

    Of a search; None: there was none:

        target        float32 [n, A], the policy that it found; zeros: none
        root_value    float32 [n], its value for the player; NaN: none
    """

    observations: Tensor
    legal: Tensor
    view: Tensor
    action: Tensor
    mu: Tensor
    player: Tensor
    actor: Tensor
    by_outcome: Tensor
    trained: Tensor
    in_chain: Tensor
    grid_index: Tensor
    time: int
    returns: Tensor
    ended: Tensor
    lengths: Tensor
    steps: Tensor
    endings: Sequence[str]
    unit: float
    target: Tensor | None = None
    root_value: Tensor | None = None

    @property
    def states(self) -> int:
        """Steps that are learned from."""
        return len(self.trained)

    def step_counts(self) -> Tensor:
        """float32 [P]: how many steps of each player are learned from."""
        return step_counts(self.player, self.returns.shape[1])

    def to(self, device: torch.device) -> StepBatch:
        """The same on a device; from pinned memory, while the host goes on."""
        return self._each(lambda x: x.to(device, non_blocking=True))

    def pinned(self) -> StepBatch:
        """The same in memory that a GPU can fetch from by itself."""
        return self._each(lambda x: x.pin_memory())

    def _each(self, function: Callable[[Tensor], Tensor]) -> StepBatch:
        moved: dict[str, Any] = {
            name: function(x) if isinstance(x, Tensor) else x for name, x in vars(self).items()
        }
        return StepBatch(**moved)

    def grid(self, x: Tensor, fill: float = 0.0) -> Tensor:
        """[n, ...] -> [time, B, ...]: episodes side by side, the steps `in_chain` in order."""
        size = self.time * len(self.returns)
        out = x.new_full((size, *x.shape[1:]), fill)
        out[self.grid_index] = x[self.in_chain]
        return out.view(self.time, -1, *x.shape[1:])

    def flat(self, x: Tensor) -> Tensor:
        """The inverse of `grid`; 0 for the other steps."""
        out = x.new_zeros((len(self.player), *x.shape[2:]))
        out[self.in_chain] = x.flatten(0, 1)[self.grid_index]
        return out

    def with_draws(self, score: float) -> StepBatch:
        """The same, but games that were drawn, or cut, have returned `score` to each player."""
        drawn = self.ended & (self.returns == 0).all(1)
        return replace(self, returns=self.returns.masked_fill(drawn[:, None], score))

    def rewards(self) -> Tensor:
        """float32 [time, B, P]: each player's return, at the last step of its chain."""
        out = self.returns.new_zeros((self.time, *self.returns.shape))
        ends = self.grid((self.actor >= 0).float()).sum(0).long() - 1
        there = (ends >= 0).nonzero()[:, 0]
        out[ends[there], there] = self.returns[there]
        return out


PLAIN = BatchSpec()


def step_counts(player: Tensor, players: int) -> Tensor:
    """N_k, how many steps of player k there are: float32 [players]. player: integer [n], 0 to
    players - 1, or -1 for an action that nobody sampled."""
    return (player[:, None] == torch.arange(players, device=player.device)).float().sum(0)


def make_batch(game: Game, chunks: Sequence[EpisodeChunk], spec: BatchSpec = PLAIN) -> StepBatch:
    """Replays the episodes and lays their steps out as a batch.

    InputError, with file, episode and action: an illegal action or target, a wrong end, play that
    was not sampled, unless `hidden`, and that has no target, if `searched`.
    """
    episodes = Episodes.concat([chunk.episodes for chunk in chunks])
    endings = np.concatenate([np.array(chunk.endings)[chunk.episodes.ending] for chunk in chunks])
    # Of a slice's game most actions come before it. They are replayed, but nobody looks at them.
    whole_games = spec.hidden or spec.searched or spec.face_up
    sliced = episodes.first is not None and not whole_games
    played = replayed(game, chunks, episodes, endings, not spec.hidden, views=not sliced)
    # An episode that is no slice has ended, even if its game went on.
    ended = (endings != "") | (episodes.first is None)
    observations, legal = played.observations, played.legal
    if spec.face_up:
        observations = before_each(game, episodes, Batch.observe_face_up)
    placing = played.given & spec.own_deployment
    if spec.hidden:
        truth = truths(game, episodes)
        observations = np.concatenate([observations, truth], axis=1)
        selected, episode, player, actor = _moments(episodes, played, truth)
    else:
        frozen = np.repeat(against(chunks), episodes.length) & np.isnan(episodes.mu)
        whole = placing if spec.deployment_only else ~frozen
        selected, episode, player, actor = _steps(episodes, played, ended, placing, whole)
    if sliced:
        observations, legal = views_before(game, episodes, selected)
    observations, legal, view = _views(observations, legal, selected, spec.rows)
    target, root_value = None, None
    if spec.searched:
        target, root_value = _searches(chunks, episodes, played, selected)
    in_chain = (actor >= 0).nonzero()[0]
    moment = _moment(actor >= 0, episode)
    return StepBatch(
        observations=torch.from_numpy(observations),
        legal=torch.from_numpy(legal),
        view=torch.from_numpy(view),
        action=torch.from_numpy(episodes.actions[selected].astype(np.int64)),
        mu=torch.from_numpy(np.where(actor >= 0, episodes.mu[selected], 1).astype(np.float32)),
        player=torch.from_numpy(player).long(),
        actor=torch.from_numpy(actor).long(),
        by_outcome=torch.from_numpy(placing[selected]),
        trained=torch.from_numpy((player >= 0).nonzero()[0]),
        in_chain=torch.from_numpy(in_chain),
        grid_index=torch.from_numpy((moment * len(episodes) + episode)[in_chain]),
        time=int(moment[in_chain].max(initial=0)) + 1,
        returns=torch.from_numpy(played.returns),
        ended=torch.from_numpy(ended),
        lengths=torch.from_numpy(episodes.length),
        steps=torch.from_numpy(episodes.step),
        endings=endings.tolist(),
        unit=game.unit,
        target=target,
        root_value=root_value,
    )


def _views(
    observations: Bytes, legal: Bytes, selected: NDArray[np.int64], rows: int
) -> tuple[Bytes, Bytes, NDArray[np.int64]]:
    """The different views of the steps `selected`, observations and legal actions, and which one
    each step has. Rows of padding repeat the last view, or where there is no step (slices of setups
    alone) show any: the network needs something to look at."""
    seen = selected if len(selected) else np.zeros(1, np.int64)
    if len(seen) < len(observations):
        observations, legal = observations[seen], legal[seen]
    first, view = distinct_views(observations, legal)
    padded = np.append(first, np.repeat(first[-1:], -len(first) % rows))
    return observations[padded], legal[padded], view[: len(selected)]


Steps = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int8], NDArray[np.int8]]


def _steps(
    episodes: Episodes, played: Replay, ended: Bools, by_outcome: Bools, whole: Bools
) -> Steps:
    """Which actions of whole games, or of slices, are steps of a batch: their rows [n], and of each
    its episode, the player who learns from it, and the actor in whose chain it is; -1: none.

    A step's target needs the value of the player's next step. So where a slice ends and its game
    goes on, each player's last step gives its value only. It is learned from with the next slice,
    which for each player begins with the last step before it. What the others did since then counts
    by its ratios.

    What is judged `by_outcome` is learned from with the end of its game: it is a step of the last
    slice. `whole`: which actions are steps if games are whole.
    """
    actor = np.where(~np.isnan(episodes.mu), played.actors, -1).astype(np.int8)
    episode = np.repeat(np.arange(len(episodes)), episodes.length)
    if episodes.first is None:
        selected = whole.nonzero()[0]
        return selected, episode[selected], actor[selected], actor[selected]
    player, sliced = actor.copy(), episodes.sliced
    start = np.cumsum(episodes.length) - episodes.length + episodes.first
    for k in range(played.returns.shape[1]):
        own = (actor == k).nonzero()[0]
        last = np.append(episode[own][1:] != episode[own][:-1], True)[: len(own)]  # of its episode
        next_sliced = np.append(sliced[own][1:], True)[: len(own)]
        early = ~sliced[own]
        pending = early & (last | next_sliced)
        player[own[(early & ~pending) | (last & ~ended[episode[own]])]] = -1
        np.minimum.at(start, episode[own[pending]], own[pending])
    wanted = np.where(by_outcome, ended[episode], np.arange(len(actor)) >= start[episode])
    player = np.where(by_outcome, actor, player)
    selected = ((actor >= 0) & wanted).nonzero()[0]
    return selected, episode[selected], player[selected], actor[selected]


def _moments(episodes: Episodes, played: Replay, truth: Bytes) -> Steps:
    """As `_steps`: the moments at which a move begins, and the enemy has hidden pieces."""
    wanted = begins_unsure(played.observations, truth) & episodes.sliced
    selected = wanted.nonzero()[0]
    actor = played.actors[selected]
    return selected, np.repeat(np.arange(len(episodes)), episodes.length)[selected], actor, actor


def truths(game: Game, episodes: Episodes) -> Bytes:
    """`engine.hidden_types` before each action of episodes, which are legal games: uint8 [sum of
    length, squares]."""
    return before_each(game, episodes, hidden_types)


def before_each(game: Game, episodes: Episodes, look: Callable[[Batch], Bytes]) -> Bytes:
    """What `look` finds in each row of a batch, uint8 [size, k], before each action of episodes:
    uint8 [sum of length, k]."""
    n, lengths = len(episodes), episodes.length
    batch, starts, at = Batch(game, n), episodes.start.tobytes(), 0
    for row, size in enumerate(episodes.start_length.tolist()):
        batch.start(row, starts[at : at + size])
        at += size
    out = np.empty((int(lengths.sum()), look(batch).shape[1]), np.uint8)
    begins = np.cumsum(lengths) - lengths
    for number in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(lengths > number)
        out[begins[rows] + number] = look(batch)[rows]
        actions = np.full(n, -1, np.int32)
        actions[rows] = episodes.actions[begins[rows] + number]
        batch.apply(actions)
    return out


def _moment(chained: Bools, episode: NDArray[np.int64]) -> NDArray[np.int64]:
    """Of each step [n], how many steps of its episode are in a chain before it. `episode`: of each
    its number, ascending."""
    before = np.concatenate([[0], np.cumsum(chained)])
    begins = np.searchsorted(episode, np.arange(int(episode.max(initial=0)) + 1))
    moment: NDArray[np.int64] = before[:-1] - before[begins][episode]
    return moment


def _searches(
    chunks: Sequence[EpisodeChunk], episodes: Episodes, played: Replay, selected: NDArray[np.int64]
) -> tuple[Tensor, Tensor]:
    """What a search found at the actions `selected` [n] of episodes: its policy float32 [n, A], and
    its value, NaN where it did not search. `InputError`: a choice in play has no target, or one
    has an illegal action."""
    n, targets = len(played.legal), episodes.targets
    policy = np.zeros(played.legal.shape, np.float32)
    choice = ~np.isnan(episodes.mu) & ~played.given & (played.legal.sum(1) > 1)
    count = np.zeros(n, np.int64) if targets is None else targets.count
    what = "no target of a search, which only --targets played does without"
    refuse(chunks, played, choice & (count == 0), what)
    if targets is not None:
        row = np.repeat(np.arange(n), count)
        beyond = targets.actions >= len(policy[0])
        at = np.where(beyond, 0, targets.actions)
        wrong = np.zeros(n, np.bool_)
        wrong[row[beyond | (played.legal[row, at] == 0)]] = True
        refuse(chunks, played, wrong, "its target has an illegal action")
        policy[row, at] = targets.share / np.float32(WHOLE_SHARE)
    value = np.full(n, np.nan, np.float32) if episodes.root_value is None else episodes.root_value
    return torch.from_numpy(policy[selected]), torch.from_numpy(value[selected])
