"""What `train` publishes for self-play is the network that acts, at the newest step."""

from __future__ import annotations

import contextlib
import pathlib
import threading
import time
from collections.abc import Mapping

import numpy as np
import pytest

from learn.games import episodes
from learn.games import write as write_episodes
from learn.test_rebel_recovery import folder as examples
from learn.test_rebel_recovery import learn, request_of
from running import PATIENCE
from stratkit.learn import publisher
from stratkit.learn.request import Observer
from stratkit.learn.run import Request, train
from stratkit.storage.checkpoints import Tensors, list_checkpoints, load_network, read_policy

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
    file = write_episodes(tmp_path / "a.eps", game, found)
    settings = {"batch": 4, "rows": 32, "seed": 1, "average_rate": 0.01, **options}
    net = "plain:8x1"
    train(Request([file], str(tmp_path / "run"), net=net, algorithm=algorithm, options=settings))
    check_published(tmp_path / "run", others)


def test_the_acting_values_are_published(examples: pathlib.Path) -> None:
    """ReBeL's: `search=cfr` of self-play asks them."""
    learn(request_of(examples, "run"))
    check_published(examples / "run", ("average",))


def test_steps_go_on_while_weights_are_written(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write of the first step ends only when all steps are done: then the newest is written, as
    it was when it was handed over."""
    last, written, write = threading.Event(), [], publisher.publish_policy

    def slowly(run: str, weights: Tensors, metadata: Mapping[str, object]) -> None:
        if metadata["step"]:
            last.wait(PATIENCE)
        write(run, weights, metadata)
        written.append(metadata["step"])

    class Told(Observer):
        def saved(self, step: int) -> None:
            if step == 3:
                last.set()

    monkeypatch.setattr(publisher, "publish_policy", slowly)
    file = write_episodes(tmp_path / "a.eps", *episodes("nano", 12))
    settings = {"batch": 4, "rows": 32, "seed": 1}
    train(
        Request([file], str(tmp_path / "run"), net="plain:8x1", options=settings), observer=Told()
    )
    assert written[:2] == [0, 1] and set(written[2:]) == {3}
    check_published(tmp_path / "run", ("target",))


def test_a_write_that_fails_is_told_once(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the next publication, or at the end; and it keeps no later one from its turn."""
    faults, written = [OSError("full"), OSError("still full"), None], []

    def fail(run: str, weights: Tensors, metadata: Mapping[str, object]) -> None:
        if fault := faults.pop(0):
            raise fault
        written.append((run, metadata["step"]))

    monkeypatch.setattr(publisher, "publish_policy", fail)
    with contextlib.closing(publisher.Publisher("run")) as published:
        published.publish({}, {"step": 1})
        with pytest.raises(OSError, match="^full"):
            published.finish()
        published.finish()
        published.publish({}, {"step": 2})
        while not published._writes[0].done():
            time.sleep(0.001)
        with pytest.raises(OSError, match="still full"):
            published.publish({}, {"step": 3})
        published.publish({}, {"step": 4})
    assert written == [("run", 4)]
