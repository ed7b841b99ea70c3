"""The network for the deployment beside another network."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from nets.drawn import drawn
from nets.random_play import views_of_games
from stratkit.engine import Game
from stratkit.engine.stratego import VARIANTS
from stratkit.errors import InputError
from stratkit.nets import build
from stratkit.nets.deployment import WithDeployment
from stratkit.nets.evaluator import Evaluator
from stratkit.nets.network import Network

MINI = Game("mini")


@pytest.fixture(scope="module")
def views() -> tuple[Tensor, Tensor, Tensor]:
    """Observations, legal actions, and which deploy, of two games in a drawn order."""
    played = views_of_games(MINI, 2, longest=40)
    order = np.random.default_rng(1).permutation(len(played.observations))
    found = (played.observations[order], played.legal[order], played.given[order])
    observations, legal, deploys = map(torch.from_numpy, found)
    assert 0 < deploys.sum() < len(deploys)
    return observations, legal, deploys


def network(net: str = "plain") -> WithDeployment:
    made = drawn(build(f"{net}+deployment", MINI, seed=1))
    assert isinstance(made, WithDeployment)
    return made


def outputs(made: Network, packed: Tensor, legal: Tensor) -> Tensor:
    with torch.no_grad():
        logits, value = made(packed, legal)
    return torch.cat([logits.masked_fill(~legal.bool(), 0), value[:, None]], 1)


@pytest.mark.parametrize("net", ["plain", "fromto", "tiny"])
def test_each_part_decides_its_own_phase(net: str, views: tuple[Tensor, Tensor, Tensor]) -> None:
    packed, legal, deploys = views
    made = network(net)
    found = outputs(made, packed, legal)
    alone = outputs(made.play, packed[~deploys], legal[~deploys])
    assert torch.allclose(found[~deploys], alone, atol=1e-5)
    own = made.deployment
    embedding = own.embed(own.read(packed[deploys]))
    logits = own.logits(embedding).masked_fill(~legal[deploys].bool(), 0)
    expected = torch.cat([logits, own.value(embedding)[:, None]], 1)
    assert torch.allclose(found[deploys], expected, atol=1e-5)


def test_rows_do_not_depend_on_each_other(views: tuple[Tensor, Tensor, Tensor]) -> None:
    packed, legal, deploys = views
    made = network()
    found = outputs(made, packed, legal)
    for rows in (deploys.nonzero()[:, 0], (~deploys).nonzero()[:9, 0], torch.tensor([3])):
        assert torch.allclose(outputs(made, packed[rows], legal[rows]), found[rows], atol=1e-5)


def test_both_parts_of_a_move_share_one_position(views: tuple[Tensor, Tensor, Tensor]) -> None:
    """As they do without a deployment: the answers are the same, the torso has half of the work."""
    packed, legal, deploys = views
    made = network("fromto")
    inputs = made.prepare_shared(packed)
    assert len(inputs.play.packed) < 0.6 * (~deploys).sum()
    with torch.no_grad():
        embedding = made.embed(inputs)
        logits = made.logits(embedding, inputs, legal).masked_fill(~legal.bool(), 0)
        found = torch.cat([logits, made.value(embedding, inputs)[:, None]], 1)
    assert torch.allclose(found, outputs(made, packed, legal), atol=1e-5)


def test_the_piece_in_hand_costs_no_second_look() -> None:
    made = network("fromto")
    views = views_of_games(MINI, 8, seed=5)
    seen = [0]
    whole = made.play._embed  # type: ignore[operator]
    made.play._embed = lambda *both: seen.append(len(both[0])) or whole(*both)  # type: ignore
    fixed = Evaluator("fromto+deployment", made, 8)
    elastic = Evaluator("fromto+deployment", made, 8, elastic=True)
    for number in range(2 * VARIANTS["mini"].pieces, 2 * VARIANTS["mini"].pieces + 8):
        packed, legal = (
            each[views.offsets[:-1] + number] for each in (views.observations, views.legal)
        )
        wanted, value = fixed.evaluate(packed, legal, values=True)
        del seen[:]
        found, said = elastic.evaluate(packed, legal, values=True)
        assert sum(seen) == (0 if number % 2 else 8), number
        np.testing.assert_allclose(found, wanted, atol=1e-6)
        np.testing.assert_allclose(said, value, atol=1e-6)


def test_it_reads_what_stands_where_and_what_comes_next(
    views: tuple[Tensor, Tensor, Tensor],
) -> None:
    """Different partial setups are different inputs, and squares are told apart."""
    packed, _, deploys = views
    read = network().deployment.read(packed[deploys])
    assert read.shape[1] == 12 * (MINI.shape[1] * MINI.shape[2] // 2 + 1)
    assert torch.equal(read[:, -12:].sum(1), torch.ones(len(read)))  # one type is next
    standing = (packed[deploys][:, 172:] >= 0x80).sum(1)
    assert torch.equal(read[:, :-12].sum(1), standing.float())
    assert len(read.unique(dim=0)) == len(packed[deploys].unique(dim=0))


def test_neither_part_learns_from_the_other(views: tuple[Tensor, Tensor, Tensor]) -> None:
    """And the deployment's value does not change what its policy is made of."""
    packed, legal, deploys = views
    made = network()

    def moved(rows: Tensor, of_policy: bool) -> set[str]:
        logits, value = made(packed, legal)
        made.zero_grad()
        policy = logits.masked_fill(~legal.bool(), 0).square().sum(1)
        (policy if of_policy else value.square())[rows].sum().backward()
        grown = {name for name, p in made.named_parameters() if p.grad is not None and p.grad.any()}
        return {".".join(name.split(".")[:2]) for name in grown}

    assert {name.split(".")[0] for name in moved(~deploys, True)} == {"play"}
    assert moved(deploys, True) == {f"deployment.{x}" for x in ("entry", "hidden", "policy")}
    assert moved(deploys, False) == {"deployment.critic"}


def test_it_begins_uniform_and_belongs_to_boards(views: tuple[Tensor, Tensor, Tensor]) -> None:
    packed, legal, deploys = views
    logits, value = build("plain+deployment", MINI, seed=1)(packed[deploys], legal[deploys])
    assert not logits[logits.isfinite()].any() and not value.any()
    with pytest.raises(InputError, match="for the deployment is for boards"):
        build("mlp+deployment", Game("kuhn"))
