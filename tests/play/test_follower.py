"""How a followed learner's policy is played: by its own keys or by given ones."""

from __future__ import annotations

import io
import pathlib
from typing import Any

import numpy as np
import pytest

from nets.random_play import actions_of_games, views_of_games
from running import run
from stratkit.engine import Batch, Game
from stratkit.errors import InputError, UsageError
from stratkit.nets import build
from stratkit.play.follower import Follower
from stratkit.players.network import NetworkPlayer
from stratkit.players.player import Views
from stratkit.players.testtime.pipeline import PostprocessedPlayer
from stratkit.storage.checkpoints import publish_policy
from stratkit.storage.episodes import EpisodeReader, Episodes

NETS = {"kuhn": "mlp:8", "diplomacy:tiny": "mlp:8", "nano": "plain", "mini": "fromto:8x1"}


def publish(folder: pathlib.Path, name: str, post: str = "none", step: int = 0) -> None:
    """What a learner publishes: other weights at each step."""
    game, net = Game(name), NETS[name]
    weights = build(net, game, 1).state_dict()
    noise = np.random.default_rng(step)
    publish_policy(
        folder,
        {k: t.numpy() + noise.normal(0, 0.1, t.shape).astype("f") for k, t in weights.items()},
        {
            "game": name,
            "rules": game.rules,
            "net": net,
            "step": step,
            "episodes": 0,
            "batch": 4,
            "post": post,
        },
    )


@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("kuhn", "temperature=.05"),
        ("kuhn", "threshold=.45"),
        ("nano", "deploy-quanta=2"),
        ("nano", "threshold=.1,quanta=4"),
        ("nano", "per=action,threshold=.1,quanta=4"),
        ("nano", "per=action,temperature=.5,quanta=4"),
        ("nano", "quanta=2,deploy-quanta=3,ties=random"),
    ],
)
def test_keys_mean_the_same_with_and_without_a_learner(
    tmp_path: pathlib.Path, name: str, keys: str
) -> None:
    publish(tmp_path, name)

    def played(*more: object) -> Episodes:
        asked = ("--game", name, "--policy", tmp_path, "-n", 20, "--seed", 1, "-q")
        done = run("selfplay", *asked, *more)
        assert (done.status, done.err) == (0, "")
        return Episodes.of(list(EpisodeReader(io.BytesIO(done.data), "games")))

    fixed, followed, plain = (
        played(*more)
        for more in (
            ("--actors", keys),
            ("--actors", keys, "--follow", "--max-ahead", 64),
            ("--follow", "--max-ahead", 64),
        )
    )
    np.testing.assert_array_equal(fixed.actions, followed.actions)
    np.testing.assert_allclose(fixed.mu, followed.mu, rtol=1e-4)
    assert not np.array_equal(plain.mu, followed.mu)


@pytest.mark.parametrize(
    "keys",
    [
        "temperature=.5",
        "memory=on",
        "eager=2",
        "bounds=.1",
        "repeat-threats=off",
        "deploy-threshold=.1",
        "deploy-quanta=4",
        "ties=random",
    ],
)
@pytest.mark.parametrize("given", [True, False])
def test_every_key_is_obeyed(tmp_path: pathlib.Path, keys: str, given: bool) -> None:
    publish(tmp_path, "nano", "none" if given else keys)
    follower = Follower(str(tmp_path), Game("nano"), keys if given else None)
    assert follower.refresh()
    player = follower.make_player(1, 8)
    assert isinstance(player, PostprocessedPlayer)
    assert player.options == follower.acting.options.post


def test_a_follower_pays_for_the_games_that_are_live(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it plays depends on time anyway, and while it waits most of its slots are empty."""
    publish(tmp_path, "nano")
    follower = Follower(str(tmp_path), Game("nano"))
    assert follower.refresh()
    follower.make_player(1, 64)
    assert follower.player is not None
    evaluator = follower.player.evaluator
    views, asked = views_of_games(Game("nano"), 1, longest=9), []
    true = evaluator.network.value

    def noted(embedding: Any, inputs: Any) -> Any:
        asked.append(len(value := true(embedding, inputs)))
        return value

    monkeypatch.setattr(evaluator.network, "value", noted)
    for live in (3, 9):
        evaluator.values(views.observations[:live])
    assert asked == [8, 16]


def test_a_learner_may_change_what_can_be_obeyed(tmp_path: pathlib.Path) -> None:
    """Threshold and quanta of a plain network, and the search; nothing else that is done to it."""
    other = "the learner wants another kind of self-play than before"

    def following(post: str) -> Follower:
        publish(tmp_path, "nano", post)
        follower = Follower(str(tmp_path), Game("nano"))
        assert follower.refresh()
        follower.make_player(1, 8)
        return follower

    follower = following("per=action,threshold=.1")
    assert isinstance(follower.player, NetworkPlayer) and follower.acting.stages is None
    publish(tmp_path, "nano", "per=action,threshold=.2,quanta=8", 1)
    assert follower.refresh() and follower.player.processing == (0.2, 8)
    publish(tmp_path, "nano", "threshold=.2,memory=on", 2)
    with pytest.raises(InputError, match=other):
        follower.refresh()
    for before, after in (
        ("temperature=.5", "temperature=.6"),
        ("temperature=.5,threshold=.1", "threshold=.1"),
        ("search=mmd,rollouts=9,threshold=.1", "search=mmd,rollouts=9,threshold=.2"),
        ("search=mmd,rollouts=9", "search=rm"),
    ):
        follower = following(before)
        publish(tmp_path, "nano", before, 1)
        assert follower.refresh() and follower.step == 1
        publish(tmp_path, "nano", after, 2)
        with pytest.raises(InputError, match=other):
            follower.refresh()


def test_a_search_keeps_nothing_of_older_weights(tmp_path: pathlib.Path) -> None:
    """Of a position met again it has kept what the network embedded."""
    publish(tmp_path, "mini", "search=mmd,rollouts=4")
    follower = Follower(str(tmp_path), Game("mini"))
    assert follower.refresh()
    player = follower.make_player(1, 8)
    assert isinstance(player, PostprocessedPlayer) and follower.stage is not None
    rollouts = follower.stage.blueprint
    views = views_of_games(Game("mini"), games=1, seed=1, longest=60)
    seen = views.observations[-6:], views.legal[-6:]
    before = rollouts.policy(*seen)
    publish(tmp_path, "mini", "search=mmd,rollouts=4", 1)
    assert follower.refresh()
    after = rollouts.policy(*seen)
    np.testing.assert_allclose(after, player.evaluator.policy(*seen), atol=1e-5)
    assert np.abs(after - before).max() > 1e-3


@pytest.mark.parametrize(
    ("name", "begun", "search"),
    [
        ("diplomacy:tiny", 0, "rm,candidates=3,samples=16,iterations=16,depth=0"),
        ("nano", 8, "mmd,rollouts=9"),
        ("nano", 8, "pimc,worlds=2,nodes=30"),
        ("nano", 8, "pc-pimc,worlds=2,nodes=30"),
        ("nano", 8, "endgame,hands=10000"),
    ],
)
def test_a_search_goes_by_the_weights_published_last(
    tmp_path: pathlib.Path, name: str, begun: int, search: str
) -> None:
    """At a position that it has met before, as who knows these weights alone."""
    game = Game(name)
    batch = Batch(game, 1)
    for action in actions_of_games(game, 1)[0][0][:begun]:
        batch.apply(np.array([action], np.int32))
    publish(tmp_path, name, f"search={search}")
    follower = Follower(str(tmp_path), game)
    assert follower.refresh()
    followed = follower.make_player(1, 8)
    before = followed.policy(Views.of_one(batch, 0, begun))
    publish(tmp_path, name, f"search={search}", 1)
    other = Follower(str(tmp_path), game)
    assert follower.refresh() and other.refresh()
    later = Views.of_one(batch, 1, begun)
    found = followed.policy(later)
    np.testing.assert_allclose(found, other.make_player(1, 8).policy(later), atol=1e-6)
    assert np.abs(found - before).max() > 1e-3


def test_a_turn_ends_by_the_search_that_began_it(tmp_path: pathlib.Path) -> None:
    """When its learner is started again with other keys: behind a first choice there may be no
    candidate of another search. Later turns have those keys."""
    game, search = Game("diplomacy:tiny"), "search=rm,samples=16,depth=0,iterations="
    first = Views.of_one(batch := Batch(game, 1), 0, 0)
    publish(tmp_path, game.name, f"{search}16")
    follower = Follower(str(tmp_path), game)
    assert follower.refresh()
    followed = follower.make_player(1, 8)
    before = followed.policy(first)
    publish(tmp_path, game.name, f"{search}40", 1)
    assert follower.refresh()
    np.testing.assert_array_equal(followed.policy(first), before)
    assert np.abs(followed.policy(Views.of_one(batch, 1, 0)) - before).max() > 1e-3


def test_keys_that_cannot_be_obeyed_are_refused(tmp_path: pathlib.Path) -> None:
    """At once, whether or not the learner has published."""
    asked = ("--game", "kuhn", "--policy", tmp_path, "--follow", "-n", 1, "--actors")
    publish(tmp_path, "kuhn")
    for keys, what in (
        ("memory=on", "kuhn has no such post-processing: memory=on"),
        ("search=cfr", "search=cfr takes a network of train --algorithm rebel"),
        ("net=target", "self-play plays the online network, and no other"),
    ):
        with pytest.raises(UsageError, match=what):
            Follower(str(tmp_path / "none"), Game("kuhn"), keys)
        done = run("selfplay", *asked, keys)
        assert done.status == 2 and what in done.error_line


NO_KEYS = "post: self-play takes keys of a PLAYER, key=value,...: "


@pytest.mark.parametrize(
    ("post", "said"),
    [
        ("memory=on", "post: kuhn has no such post-processing: memory=on: 'memory=on'"),
        ("net=target", "post: self-play plays the online network, and no other: 'net=target'"),
        ("threshold=x", "post: threshold=x: a number from 0 to 1 is needed: 'threshold=x'"),
        ("colour=red", "post: unknown option 'colour': 'colour=red'"),
        ("time=9", "post: time= needs search=mmd|pimc|pc-pimc: 'time=9'"),
        *((text, f"{NO_KEYS}{text!r}") for text in ("py:evil:P", "ucc:./evil", "random", "human",
          "rubbish", "", "none,none", "barrage", "threshold=.1,random", "policy", "a\nb")),
        ({"threshold": 0.1}, NO_KEYS + repr(str({"threshold": 0.1}))),
        (
            "search=mmd,rollouts=4,belief=/etc/passwd",
            "post: published weights name no file: give belief=FILE to --actors: "
            "'search=mmd,rollouts=4,belief=/etc/passwd'",
        ),
    ],
)  # fmt: skip
def test_published_post_processing_is_nothing_else(
    tmp_path: pathlib.Path, post: str, said: str
) -> None:
    """Other people's weights name no program, player or file, and no rubbish is taken for none."""
    publish(tmp_path, "kuhn", post)
    with pytest.raises(InputError) as refused:
        Follower(str(tmp_path), Game("kuhn")).refresh()
    assert str(refused.value) == f"{tmp_path}: {said}"


def test_a_run_with_another_post_ends_in_a_line(tmp_path: pathlib.Path) -> None:
    publish(tmp_path, "kuhn", "py:evil:P")
    asked = ("--game", "kuhn", "--policy", tmp_path, "--follow", "-n", 1)
    done = run("selfplay", *asked)
    assert done.status == 1
    assert done.error_line == f"selfplay: {tmp_path}: {NO_KEYS}'py:evil:P'"
    publish(tmp_path, "kuhn")
    for keys in ("py:evil:P", "random", "rubbish"):
        done = run("selfplay", *asked, "--actors", keys)
        assert done.status == 2 and f"{NO_KEYS[6:]}{keys!r}" in done.error_line


def test_a_follower_that_waits_long_says_where(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stratkit.play.follower.PATIENCE", 0.0)
    follower, said = Follower(str(tmp_path), Game("kuhn")), list[str]()
    pauses = iter([None, None, lambda: publish(tmp_path, "kuhn")])

    def pause() -> None:
        if act := next(pauses):
            act()

    follower.await_first(pause, said.append, said.append)
    assert follower.step == 0 and len(said) == 2
    assert said[1] == f"{tmp_path}: no weights yet; does a learner train --out there?"
