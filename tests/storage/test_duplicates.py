"""Games that a reader of episodes has met before."""

from __future__ import annotations

import dataclasses
import io

from storage.stored import HEADER, episode, read, stream_of
from stratkit.storage.episodes import EpisodeReader, SeenGames

TEN = [episode(i, length=5 + 3 * i) for i in range(10)]
STREAM = stream_of(TEN)


def test_games_met_before_are_left_out_and_counted() -> None:
    reader = EpisodeReader(io.BytesIO(STREAM + stream_of([episode(9), episode(10)])), "x")
    assert [e.number for e in reader] == list(range(11))
    assert reader.duplicates == 1


def test_another_seed_or_network_is_another_game() -> None:
    others = [dataclasses.replace(HEADER, seed=6), dataclasses.replace(HEADER, network="0" * 64)]
    weights = {"opponent": "net=online,x", "opponent_network": "0" * 64}
    others += [
        dataclasses.replace(HEADER, opponent="random"),
        dataclasses.replace(HEADER, post="heuristic"),
        dataclasses.replace(HEADER, **weights),
        dataclasses.replace(HEADER, opponent=("random", "itself"), opponent_network=(None, None)),
        dataclasses.replace(HEADER, opponent=("random", "x"), opponent_network=(None, "0" * 64)),
    ]
    got, reader = read(STREAM + b"".join(stream_of(TEN, other) for other in others))
    assert len(got) == 80
    assert reader.duplicates == 0


def test_a_learner_that_was_followed_is_another_at_another_step() -> None:
    """Who begins self-play again with the same seed plays other games, by what was learned."""
    header = dataclasses.replace(HEADER, network=None)
    older = [dataclasses.replace(episode(k), step=3 + k % 2) for k in range(4)]
    newer = [dataclasses.replace(episode(k), step=4) for k in range(4)]
    got, reader = read(stream_of(older, header) + stream_of(newer, header))
    assert [(e.number, e.step) for e in got[4:]] == [(0, 4), (2, 4)]
    assert reader.duplicates == 2


def test_readers_can_share_what_they_have_seen() -> None:
    seen = SeenGames()
    first = EpisodeReader(io.BytesIO(STREAM), "a", seen)
    second = EpisodeReader(io.BytesIO(STREAM), "b", seen)
    assert (len(list(first)), len(list(second))) == (10, 0)
    assert second.duplicates == 10
