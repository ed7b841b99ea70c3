"""Episodes -> batches: what is laid out where, what is masked, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from learn.games import as_parts, changed, episodes, given_setup
from stratkit.engine import replay
from stratkit.errors import InputError
from stratkit.learn.batch_spec import BatchSpec
from stratkit.learn.data import make_batch


def test_a_batch_is_the_replayed_steps_and_their_different_views() -> None:
    game, found = episodes("mini", 3)
    batch = make_batch(game, as_parts(game, found), BatchSpec(rows=50))
    different = int(batch.view.max()) + 1
    assert len(batch.observations) % 50 == 0 and 0 <= len(batch.observations) - different < 50
    assert different < batch.states == len(batch.player)  # all games begin alike
    views = torch.cat([batch.observations, batch.legal], 1)[:different]
    assert len(torch.unique(views, dim=0)) == different
    observations, legal = batch.observations[batch.view], batch.legal[batch.view]
    at = 0
    for k, episode in enumerate(found):
        one = replay(game, episode.actions)
        here = slice(at, at + len(episode.actions))
        np.testing.assert_array_equal(observations[here], one.observations)
        np.testing.assert_array_equal(legal[here], one.legal)
        np.testing.assert_array_equal(batch.player[here], one.actors)
        np.testing.assert_array_equal(batch.action[here], episode.actions)
        np.testing.assert_array_equal(batch.mu[here], episode.mu)
        np.testing.assert_array_equal(batch.returns[k], episode.returns)
        at = here.stop
    assert at == batch.states and (batch.mu > 0).all()
    assert batch.lengths.tolist() == [len(e.actions) for e in found]
    assert batch.time == max(batch.lengths)


def test_grid_and_flat() -> None:
    game, found = episodes("mini", 3)
    batch = make_batch(game, as_parts(game, found), BatchSpec(rows=64))
    number = torch.arange(len(batch.player)) + 1.0
    grid = batch.grid(number)
    starts = np.cumsum([0, *batch.lengths.tolist()])
    for k, length in enumerate(batch.lengths.tolist()):
        assert grid[:length, k].tolist() == list(range(starts[k] + 1, starts[k] + length + 1))
        assert not grid[length:, k].any()
    back = batch.flat(grid)
    assert torch.equal(back[batch.trained], number[batch.trained])
    assert not back[batch.player < 0].any()


def test_the_return_comes_with_the_last_step() -> None:
    game, found = episodes("mini", 4)
    batch = make_batch(game, as_parts(game, found))
    rewards = batch.rewards()
    assert torch.equal(rewards.sum(0), batch.returns)
    for k, length in enumerate(batch.lengths.tolist()):
        assert torch.equal(rewards[length - 1, k], batch.returns[k])


def test_given_setups_are_replayed_but_not_learned_from() -> None:
    game, found = episodes("mini", 2)
    given = [given_setup(found[0], 8), found[1]]  # red's setup of the first game
    batch = make_batch(game, as_parts(game, given))
    assert batch.player[:8].tolist() == [-1] * 8 and (batch.player[8:] >= 0).all()
    assert batch.mu.isfinite().all()
    whole = make_batch(game, as_parts(game, found))
    assert torch.equal(batch.observations, whole.observations)
    grid, wholly = batch.grid(batch.player, fill=-1), whole.grid(whole.player, fill=-1)
    length = len(found[0].actions)
    assert torch.equal(grid[: length - 8, 0], wholly[8:length, 0])
    assert (grid[length - 8 :, 0] == -1).all()
    assert torch.equal(batch.rewards()[length - 9, 0], batch.returns[0])


def test_what_is_refused_and_where() -> None:
    game, found = episodes("mini", 3)
    bad = found[1]

    def message(episode: object) -> str:
        with pytest.raises(InputError) as caught:
            make_batch(game, as_parts(game, [found[0], episode, found[2]]))  # type: ignore[list-item]
        return str(caught.value)

    actions = bad.actions.copy()
    actions[20] = replay(game, actions).legal[20].argmin()
    assert message(changed(bad, actions=actions)) == (
        f"x.eps: episode 1, action 20: illegal action: '{actions[20]}'"
    )
    actions = bad.actions.copy()
    actions[0] = 2_000_000_000
    assert "episode 1, action 0: illegal action: '2000000000'" in message(
        changed(bad, actions=actions)
    )
    longer = np.append(bad.actions, 0).astype(np.int32)
    assert f"episode 1, action {len(bad.actions)}: illegal action" in message(
        changed(bad, actions=longer, mu=np.append(bad.mu, 1).astype(np.float32))
    )
    mu = bad.mu.copy()
    mu[30] = np.nan
    assert "episode 1, action 30: this action of play was not sampled" in message(
        changed(bad, mu=mu)
    )
    mu[30] = 1.0005  # by rounding, which the format allows
    assert make_batch(game, as_parts(game, [changed(bad, mu=mu)])).states
    mu[30] = 1.002
    assert "episode 1, action 30: mu is no probability: '1.002" in message(changed(bad, mu=mu))
    mu[30] = 0
    assert "episode 1, action 30: mu is no probability: '0.0'" in message(changed(bad, mu=mu))
    assert "episode 1: the returns are not those of the game" in message(
        changed(bad, returns=bad.returns[::-1] + 1)
    )
    assert "episode 1: the episode says that it ended by" in message(
        changed(bad, ending=bad.ending % 5 + 1)
    )
    half = changed(bad, actions=bad.actions[:-2], mu=bad.mu[:-2])
    assert "replay by: 'nothing'" in message(half)
    assert "illegal start position" in message(changed(bad, start=b"rubbish"))


def test_cut_episodes_count_as_draws() -> None:
    game, (episode, *_) = episodes("mini", 1)
    cut = changed(
        episode,
        actions=episode.actions[:40],
        mu=episode.mu[:40],
        ending=len(game.endings),
        returns=np.zeros(2, np.float32),
    )
    batch = make_batch(game, as_parts(game, [cut]))
    assert batch.endings == ["cut"] and not batch.returns.any()
