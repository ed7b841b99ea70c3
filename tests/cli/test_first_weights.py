"""`train --weights`, and a deployment that is learned beside play that stays as it is."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

from learn.games import episodes, write
from running import run
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.models.first_weights import begin_with
from stratkit.nets import build
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint, tensors_of

QUICK = ("--batch", 4, "--rows", 32, "--seed", 1, "--algorithm", "mmd")


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> str:
    return write(tmp_path_factory.mktemp("games") / "a.eps", *episodes("nano", 20))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, games: str) -> pathlib.Path:
    """A run of R-NaD."""
    out = tmp_path_factory.mktemp("rnad") / "run"
    words = ("--net", "plain", "--steps", 2, *QUICK[:-2])
    assert run("train", games, "--out", out, *words).status == 0
    return out


def newest(folder: pathlib.Path) -> pathlib.Path:
    return list_checkpoints(folder)[-1][1]


def test_the_deployment_is_learned_beside_another_run_s_play(
    tmp_path: pathlib.Path, games: str, trained: pathlib.Path
) -> None:
    out = tmp_path / "run"
    words = ("--weights", trained, "--learn", "deployment", "--steps", 3, *QUICK)
    done = run("train", games, "--out", out, *words)
    assert done.status == 0, done.err
    tensors, metadata = load_checkpoint(newest(out))
    assert (metadata["net"], metadata["step"]) == ("plain+deployment", 3)
    its = tensors_of(load_checkpoint(newest(trained))[0], "target")
    for network in ("average", "online"):
        ours = tensors_of(tensors, network)
        for name, weight in its.items():
            np.testing.assert_array_equal(ours[f"play.{name}"], weight)
        assert ours["deployment.policy.weight"].any()
    match = run("match", out, trained, "--game", "nano", "-n", 2, "--seed", 1, "-o", "-")
    assert match.status == 0, match.err
    # It is resumed by the same words, though the weights are gone, and is a beginning in turn.
    words = ("--weights", tmp_path / "gone", "--learn", "deployment", "--steps", 5, *QUICK)
    done = run("train", games, "--out", out, *words, "--resume")
    assert done.status == 0, done.err
    after = tensors_of(load_checkpoint(newest(out))[0], "online")
    assert not np.array_equal(after["deployment.policy.bias"], ours["deployment.policy.bias"])
    more = run("train", games, "--out", tmp_path / "b", "--weights", out, "--steps", 0, *QUICK)
    assert more.status == 0, more.err
    first = tensors_of(load_checkpoint(newest(tmp_path / "b"))[0], "online")
    last = tensors_of(load_checkpoint(newest(out))[0], "average")
    assert all(np.array_equal(first[name], weight) for name, weight in last.items())
    other = {"online": build("plain+deployment", Game("mini"))}
    with pytest.raises(InputError, match=r"not those of a network plain\+deployment of this shape"):
        begin_with(other, "plain+deployment", str(out))


def test_a_larger_network_grows(tmp_path: pathlib.Path, games: str, trained: pathlib.Path) -> None:
    """It plays the same games as the one that it grew from."""
    out = tmp_path / "run"
    words = ("--weights", trained, "--net", "plain:24x2+deployment", "--steps", 0, *QUICK)
    done = run("train", games, "--out", out, *words)
    assert done.status == 0, done.err
    assert load_checkpoint(newest(out))[1]["net"] == "plain:24x2+deployment"
    setups = tmp_path / "setups"
    dealt = run("deploy-gen", "--game", "nano", "-n", 8, "--seed", 1, "-o", setups)
    assert dealt.status == 0, dealt.err
    words = ("--game", "nano", "-n", 4, "--seed", 1, "--setups", setups)
    played = [
        run("match", f"name=a,{who}", f"name=b,{who}", *words, "-o", "-").out.splitlines()
        for who in (out, newest(trained))
    ]
    moves = [[json.loads(line).get("moves") for line in lines] for lines in played]
    assert moves[0] == moves[1] and any(moves[0])


def test_a_network_with_a_deployment_goes_on_with_a_mirror(
    tmp_path: pathlib.Path, games: str
) -> None:
    """It begins with the same weights, learns, deploys and plays."""
    before, out = tmp_path / "before", tmp_path / "run"
    words = ("--net", "plain+deployment", "--steps", 3, *QUICK)
    assert run("train", games, "--out", before, *words).status == 0
    words = ("--weights", before, "--net", "plain+mirrored", *QUICK)
    done = run("train", games, "--out", out, *words, "--steps", 0)
    assert done.status == 0, done.err
    tensors, metadata = load_checkpoint(newest(out))
    assert metadata["net"] == "plain+mirrored"
    its = tensors_of(load_checkpoint(newest(before))[0], "average")
    ours = tensors_of(tensors, "online")
    assert its.keys() == ours.keys() and all(np.array_equal(its[name], ours[name]) for name in its)
    done = run("train", games, "--out", out, "--resume", *words, "--steps", 2)
    assert done.status == 0, done.err
    after = tensors_of(load_checkpoint(newest(out))[0], "online")
    assert any(not np.array_equal(after[name], ours[name]) for name in ours)
    words = ("--game", "nano", "-n", 60, "--seed", 1, "--logprob")
    dealt = run("deploy-gen", "--from", out, *words)
    assert dealt.status == 0, dealt.err
    chance = dict(line.split("\t")[:2] for line in dealt.out.splitlines())
    assert len(chance) == 6
    for setup in chance:
        if setup[1] != "M":  # a flag on the middle file is its own image
            assert chance[setup] == chance[setup[::-1]]
    match = run("match", out, before, "--game", "nano", "-n", 2, "--seed", 1, "-o", "-")
    assert match.status == 0, match.err
    words = ("--weights", out, "--net", "plain+deployment", *QUICK)
    done = run("train", games, "--out", tmp_path / "back", *words)
    said = "weights of a network plain+mirrored, for a run with plain+deployment"
    assert done.status == 1 and said in done.err, done.err


@pytest.mark.parametrize(
    ("words", "status", "wrong"),
    [
        (("--net", "tiny"), 1, "{0}: weights of a network plain, for a run with tiny\n"),
        (
            ("--net", "plain:8x1"),
            1,
            "{0}: weights of a network plain, for a run with plain:8x1\n",
        ),
        (("--net", "plain", "--learn", "deployment"), 1, "to learn the deployment alone needs a"),
        (("--weights", "nowhere"), 1, "nowhere: no such file or folder\n"),
    ],
)
def test_weights_that_do_not_fit(
    tmp_path: pathlib.Path,
    games: str,
    trained: pathlib.Path,
    words: tuple[str, ...],
    status: int,
    wrong: str,
) -> None:
    given = ("--weights", trained, *QUICK, *words)
    done = run("train", games, "--out", tmp_path / "run", *given)
    assert done.status == status and wrong.format(newest(trained)) in done.err, done.err
    assert done.err.count("\n") == 1 and not (tmp_path / "run").exists()


def test_slices_are_no_whole_games(tmp_path: pathlib.Path) -> None:
    slices = tmp_path / "a.eps"
    words = ("--policy", "random", "-n", 4, "--slice", 8, "--seed", 1)
    assert run("selfplay", "--game", "nano", *words, "-o", slices).status == 0
    words = ("--net", "plain+deployment", "--steps", 1, *QUICK)
    assert run("train", slices, "--out", tmp_path / "a", *words).status == 0
    done = run("train", slices, "--out", tmp_path / "b", *words, "--learn", "deployment")
    said = f"train: {slices}: slices of games, where --learn deployment needs whole ones\n"
    assert (done.status, done.err) == (1, said)
