"""What `train` publishes for self-play is the network that acts, at the newest step."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

from learn.games import episodes, write
from learn.test_rebel_recovery import folder as examples
from learn.test_rebel_recovery import learn, request_of
from stratkit.learn.run import Request, train
from stratkit.storage.checkpoints import list_checkpoints, load_network, read_policy

__all__ = ["examples"]


def check_published(run: pathlib.Path, others: tuple[str, ...]) -> None:
    """The published weights are `online` of the newest checkpoint, which the others are not."""
    published, metadata = read_policy(run)
    step, checkpoint = list_checkpoints(run)[-1]
    assert metadata["step"] == step > 1
    online = load_network(checkpoint, "online")[0]
    assert online.keys() == published.keys()
    assert all(np.array_equal(online[name], published[name]) for name in online)
    for other in others:
        weights = load_network(checkpoint, other)[0]
        assert any(not np.array_equal(weights[name], published[name]) for name in online)


@pytest.mark.parametrize(
    ("algorithm", "others", "options"),
    [
        ("rnad", ("target", "average"), {}),
        ("mmd", ("average",), {}),
        ("nashpg", ("average", "magnet"), {}),
        ("alphaze", ("average",), {"targets": "played"}),
        ("belief", ("average",), {}),
    ],
)
def test_the_acting_network_is_published(
    tmp_path: pathlib.Path, algorithm: str, others: tuple[str, ...], options: dict[str, object]
) -> None:
    game, found = episodes("nano", 12)
    file = write(tmp_path / "a.eps", game, found)
    settings = {"batch": 4, "rows": 32, "seed": 1, "average_rate": 0.01, **options}
    net = "plain:8x1"
    train(Request([file], str(tmp_path / "run"), net=net, algorithm=algorithm, options=settings))
    check_published(tmp_path / "run", others)


def test_the_acting_values_are_published(examples: pathlib.Path) -> None:
    """ReBeL's: `search=cfr` of self-play asks them."""
    learn(request_of(examples, "run"))
    check_published(examples / "run", ("average",))
