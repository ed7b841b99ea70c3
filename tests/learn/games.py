"""Episode files for the tests of learning."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence

import numpy as np
import torch

from nets.random_play import actions_of_games
from stratkit.engine import Game, replay_many
from stratkit.learn.algorithm import CPU
from stratkit.learn.algorithm_kinds import open_algorithm
from stratkit.learn.optimizer import Optimizer
from stratkit.learn.ranks import Ranks
from stratkit.learn.replayed import EpisodeChunk
from stratkit.learn.request import Settings
from stratkit.storage.episodes import SLICES, VERSION, Episode, Episodes, EpisodeWriter, Header


def episodes(
    name: str = "nano", number: int = 12, seed: int = 0, step: int = 0, first: int = 0
) -> tuple[Game, list[Episode]]:
    """Random games as episodes; nano's may be longer than usual, so that somebody wins."""
    game = Game(name, {"max_plies": 40} if name == "nano" else None)
    actions, mu = actions_of_games(game, number, seed)
    played = replay_many(game, [(b"", a) for a in actions])
    return game, [
        Episode(first + k, step, int(played.endings[k]), played.returns[k], actions[k], mu[k])
        for k in range(number)
    ]


def as_parts(game: Game, found: Sequence[Episode], file: str = "x.eps") -> list[EpisodeChunk]:
    """The first of them by itself, as if it had been the last of a frame."""
    return [
        EpisodeChunk(Episodes.of(some), (*game.endings, "cut"), file)
        for some in (found[:1], found[1:])
        if some
    ]


def stream(game: Game, found: Sequence[Episode], seed: int = 1) -> bytes:
    """The episodes, or slices of games, as the bytes of a stream, each in a frame of its own."""
    out = io.BytesIO()
    version = SLICES if found and found[0].first is not None else VERSION
    header = Header(
        game=game.name, rules=game.rules, endings=game.endings, seed=seed, version=version
    )
    with EpisodeWriter(out, header) as writer:
        for episode in found:
            writer.write(Episodes.of([episode]))
            writer.flush()
    return out.getvalue()


def write(path: os.PathLike[str], game: Game, found: Sequence[Episode], seed: int = 1) -> str:
    """The same as a file; returns its name."""
    with open(path, "wb") as file:
        file.write(stream(game, found, seed))
    return os.fspath(path)


def given_setup(episode: Episode, placements: int) -> Episode:
    """The episode as if its first actions had been given."""
    mu = episode.mu.copy()
    mu[:placements] = np.nan
    return changed(episode, mu=mu)


def changed(episode: Episode, **values: object) -> Episode:
    return Episode(**{**vars(episode), **values})  # type: ignore[arg-type]


def optimizer(
    net: str,
    game: Game,
    settings: Settings,
    device: torch.device = CPU,
    ranks: Ranks | None = None,
) -> Optimizer:
    """The optimizer of an untrained network, by the algorithm of these settings."""
    hyper, seed = settings.hyper, settings.run.seed
    algorithm = open_algorithm(settings.algorithm, net, game, hyper, seed, device)
    return Optimizer(algorithm, settings.run, ranks, device)


def gradient(learner: Optimizer) -> torch.Tensor:
    """Of the last update, clipped, of all parameters, on the CPU."""
    gradients = [p.grad for p in learner.algorithm.trained.parameters()]
    return torch.cat([g.cpu().flatten() for g in gradients if g is not None])
