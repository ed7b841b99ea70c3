"""What a file of weights is: one sentence wherever it is asked for what it is not."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import stratkit
from running import run
from stratkit.engine import Game
from stratkit.errors import InputError
from stratkit.models.open_model import (
    BeliefModel,
    PolicyModel,
    ValueModel,
    model_of,
    open_model,
    open_published,
    published_file,
)
from stratkit.nets import build
from stratkit.nets.belief import BeliefNet
from stratkit.nets.pbs import build_pbs
from stratkit.storage.checkpoints import (
    POLICY_FILE,
    checkpoint_path,
    publish_policy,
    save_checkpoint,
)

BELIEF = "a belief network, where a policy is needed: belief=FILE takes it"
VALUES = "a value network, where a policy is needed: search=cfr, cfr-avg or flop takes it"


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pathlib.Path]:
    """A checkpoint of each kind."""
    folder, mini, dice = tmp_path_factory.mktemp("models"), Game("mini"), Game("liars_dice:1x2")
    networks = {
        "mmd": (mini, "plain:4x1", build("plain:4x1", mini, 1)),
        "belief": (mini, "plain:4x1", BeliefNet("plain:4x1", mini, 1)),
        "rebel": (dice, "pbs:8", build_pbs("pbs:8", dice, 1)),
    }
    found = {}
    for algorithm, (game, net, network) in networks.items():
        weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
        metadata = {"game": game.name, "rules": game.rules, "net": net, "step": 0, "episodes": 0}
        metadata |= {"batch": 1, "algorithm": algorithm, "networks": ["online"]}
        found[algorithm] = folder / f"{algorithm}.safetensors"
        tensors = {f"online/{name}": tensor for name, tensor in weights.items()}
        save_checkpoint(found[algorithm], tensors, metadata)
        (folder / algorithm).mkdir()
        publish_policy(folder / algorithm, weights, metadata)
    return found


def test_a_file_says_what_it_is(files: dict[str, pathlib.Path]) -> None:
    kinds = {"mmd": PolicyModel, "belief": BeliefModel, "rebel": ValueModel}
    for algorithm, kind in kinds.items():
        model = open_model(files[algorithm])
        assert type(model) is kind and model.must_be(kind) is model
        for other in set(kinds.values()) - {kind}:
            with pytest.raises(InputError, match=f"{kind.title}, where {other.title} is needed: "):
                model.must_be(other)
    assert open_model("barrage-easy").name == "barrage-easy"


@pytest.mark.parametrize(("algorithm", "said"), [("belief", BELIEF), ("rebel", VALUES)])
def test_all_who_want_a_policy_say_the_same(
    files: dict[str, pathlib.Path], algorithm: str, said: str, tmp_path: pathlib.Path
) -> None:
    file = files[algorithm]
    game = "mini" if algorithm == "belief" else "liars_dice:1x2"
    for wanted in (stratkit.load, lambda path: stratkit.load(path, net="online")):
        with pytest.raises(InputError, match=said):
            wanted(file)
    episodes = tmp_path / "a.eps"
    play = ("selfplay", "--game", "mini", "-n", 2, "-o")
    assert run(*play, episodes).status == 0
    commands = [
        ("match", file, "random", "--game", game, "-n", 2, "-o", "-"),
        ("exploit", "kuhn", file),
        ("selfplay", "--game", game, "-n", 2, "-o", "-", "--policy", file),
        ("deploy-gen", "--game", "mini", "-n", 2, "--from", file),
        ("train", episodes, "--out", tmp_path / "run", "--algorithm", "mmd", "--net", "plain:4x1",
         "--weights", file),
    ]  # fmt: skip
    for words in commands:
        done = run(*words)
        assert done.status == 1 and done.error_line == f"{words[0]}: {file}: {said}", done.err


def test_a_network_of_each_kind_is_made_of_its_file(files: dict[str, pathlib.Path]) -> None:
    mini, dice = Game("mini"), Game("liars_dice:1x2")
    policy = open_model(files["mmd"]).must_be(PolicyModel).evaluator(mini, 1)
    views = np.zeros((1, mini.observation_bytes), np.uint8)
    legal = np.ones((1, mini.actions), np.uint8)
    assert policy.policy(views, legal).sum() == pytest.approx(1)
    assert open_model(files["belief"]).must_be(BeliefModel).evaluator(mini)
    values = open_model(files["rebel"]).must_be(ValueModel)
    assert values.network(dice)
    with pytest.raises(InputError, match="a value network for liars_dice:1x2, not for kuhn"):
        values.network(Game("kuhn"))


def test_values_are_of_one_set_of_rules() -> None:
    short, long = Game("moves:nano", {"max_plies": 6}), Game("moves:nano", {"max_plies": 8})
    weights = {n: t.numpy() for n, t in build_pbs("pbs:8", short, 1).state_dict().items()}
    metadata = {"game": short.name, "rules": short.rules, "net": "pbs:8", "algorithm": "rebel"}
    model = model_of("values", weights, metadata)
    model.check_game(short)
    with pytest.raises(InputError, match="a value network for moves:nano, not for moves:nano"):
        model.check_game(long)


def test_a_folder_does_not_hide_a_network_that_ships(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("barrage", "run"):
        pathlib.Path(name).mkdir()
        pathlib.Path(name, POLICY_FILE).touch()
    pathlib.Path("empty").mkdir()
    files = {name: published_file(name) for name in ("barrage", "run", "empty")}
    assert files == {"barrage": "barrage", "run": f"run/{POLICY_FILE}", "empty": "empty"}


def test_what_a_run_publishes_else_its_newest_acting_network(tmp_path: pathlib.Path) -> None:
    """Never the average, which is for play."""
    dice = Game("liars_dice:1x2")
    weights = {n: t.numpy() for n, t in build_pbs("pbs:8", dice, 1).state_dict().items()}
    tensors = {
        f"{part}/{name}": np.full_like(tensor, value)
        for part, value in (("online", 1), ("average", 2))
        for name, tensor in weights.items()
    }
    metadata = {"game": dice.name, "rules": dice.rules, "net": "pbs:8", "step": 0, "episodes": 0}
    metadata |= {"batch": 1, "algorithm": "rebel", "networks": ["online", "average"]}
    path = pathlib.Path(checkpoint_path(tmp_path, 0))
    path.parent.mkdir()
    save_checkpoint(path, tensors, metadata)

    def opened() -> tuple[str, set[float]]:
        model = open_published(str(tmp_path))
        return model.part, {float(x) for tensor in model.weights.values() for x in tensor.flat}

    assert open_model(tmp_path).part == "average"
    assert opened() == ("online", {1.0})
    publish_policy(tmp_path, {n: np.full_like(t, 3) for n, t in weights.items()}, metadata)
    assert opened() == ("online", {3.0})
