"""What stratkit-python(7) promises: networks, episodes and records for researchers, as arrays."""

from __future__ import annotations

import json
import pathlib
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest
import torch

import stratkit
from running import ROOT, run
from stratkit.engine import Batch
from stratkit.engine.observation import expand_planes
from stratkit.errors import InputError
from stratkit.storage.checkpoints import list_checkpoints, load_network
from stratkit.storage.episodes import EpisodeReader


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with `run`, of some steps, `x.eps` and `games.jsonl`; of the board micro."""
    folder = tmp_path_factory.mktemp("made")
    start = folder / "start.eps"
    common = ("--game", "micro", "--seed", 1)
    steps = ("--steps", 2, "--batch", 8, "--net", "plain", "--save-every", 1)
    for tool, *arguments in (
        ("selfplay", *common, "-n", 16, "-o", start),
        ("train", start, "--out", "run", *steps, "--seed", 1),
        ("selfplay", *common, "--policy", "run", "-n", 30, "-o", "x.eps"),
        ("match", "random", "run", "heuristic", "-n", 4, *common, "-o", "games.jsonl"),
    ):
        done = run(tool, *arguments, cwd=folder)
        assert done.status == 0, done.err
    return folder


# --- networks -------------------------------------------------------------------------------------


def test_policies_and_values_are_the_networks(made: pathlib.Path) -> None:
    """Against the module itself, fed with the engine's plain encoder."""
    for net in ("target", "online", None):
        loaded = stratkit.load(made / "run", net, rows=5)
        assert (loaded.net, loaded.step, loaded.game.name) == (net or "target", 2, "micro")
        batch = Batch(loaded.game, 7)
        batch.reset()
        for _ in range(8):  # into play
            batch.apply(batch.legal().argmax(1).astype(np.int32))
        packed, legal = batch.observe(), batch.legal()
        weights, _, _ = load_network(list_checkpoints(made / "run")[-1][1], net)
        module = loaded.evaluator.network
        assert all(np.array_equal(w, module.state_dict()[name]) for name, w in weights.items())
        with torch.inference_mode():
            embedding = module.embed(torch.from_numpy(expand_planes(loaded.game, packed)))
            logits = module.policy(embedding).flatten(1).numpy()
            wanted = module.critic(embedding.mean((2, 3)))[:, 0].numpy()
        weights_of = np.exp(logits) * legal
        policy = loaded.policy(packed, legal)
        assert policy.dtype == np.float32
        np.testing.assert_allclose(policy, weights_of / weights_of.sum(1, keepdims=True), atol=1e-6)
        np.testing.assert_allclose(loaded.values(packed), wanted, atol=1e-6)
        assert loaded.policy(packed[:0], legal[:0]).shape == (0, loaded.game.actions)
        assert loaded.values(packed[:0]).shape == (0,)


def test_a_network_comes_from_a_run_a_file_or_by_its_name(made: pathlib.Path) -> None:
    first, last = (path for _, path in list_checkpoints(made / "run")[-2:])
    assert stratkit.load(made / "run").file == str(last)
    assert stratkit.load(first).step == 1 and stratkit.load(str(last)).step == 2
    shown = f"<TrainedNetwork {last.name}: target of step 2, for micro>"
    assert repr(stratkit.load(made / "run")) == shown
    shipped = stratkit.load("barrage-easy", rows=1)
    assert shipped.game.name == "barrage"
    board = stratkit.Board("barrage")
    policy = shipped.policy(board.batch.observe(), board.batch.legal())
    assert policy.shape == (1, 100) and abs(policy.sum() - 1) < 1e-5


def test_what_is_no_network_is_refused(made: pathlib.Path) -> None:
    for player, net, what in (
        ("barrage-v1", None, "did you mean 'barrage-easy'"),
        (made, None, "no checkpoint in its folder checkpoints"),
        (made / "x.eps", None, "not a checkpoint"),
        (made / "run", "targt", "it has .*target"),
    ):
        with pytest.raises(InputError, match=what):
            stratkit.load(player, net)
    loaded = stratkit.load(made / "run")
    batch = Batch(stratkit.Game("mini"), 2)
    for observations, legal in (
        (batch.observe(), batch.legal()),
        (batch.observe()[0], batch.legal()[0]),
        (np.zeros((2, loaded.game.observation_bytes)), batch.legal()),
    ):
        with pytest.raises(ValueError, match=r"micro: observations must be uint8 \[\d+, 184\]"):
            loaded.policy(observations, legal)
        with pytest.raises(ValueError, match="micro: observations must be"):
            loaded.values(observations)


def test_only_networks_need_torch(made: pathlib.Path) -> None:
    code = """
import sys, stratkit
stratkit.read_episodes("x.eps"), stratkit.read_games("games.jsonl"), stratkit.Batch, stratkit.Board
assert "torch" not in sys.modules and "read_games" in dir(stratkit)
"""
    path = [sys.executable, "-c", f"import sys; sys.path[0] = {str(ROOT)!r}\n{code}"]
    subprocess.run(path, cwd=made, check=True)


# --- episodes -------------------------------------------------------------------------------------


def test_tables_of_episodes_are_what_the_games_were(made: pathlib.Path) -> None:
    """Against the stream's own reader, and games played again action by action."""
    played = stratkit.read_episodes(made / "x.eps")
    games, actions = played.games, played.actions
    assert {len(column) for column in games.values()} == {30}
    many = len(actions["action"])
    assert repr(played) == f"<EpisodeArrays of micro: 30 games, {many} actions>"
    with open(made / "x.eps", "rb") as stream:
        reader = EpisodeReader(stream, "x")
        episodes = list(reader)
    row = 0
    replayed = played.replay()
    for number, episode in enumerate(episodes):
        got = {name: column[number] for name, column in games.items()}
        assert (got["number"], got["step"], got["seed"]) == (episode.number, 2, 1)
        assert (got["return_0"], got["return_1"]) == tuple(episode.returns)
        assert got["ending"] == reader.header.endings[episode.ending]
        assert got["length"] == len(episode.actions) and got["file"] == str(made / "x.eps")
        batch = Batch(played.game, 1)
        for index, action in enumerate(episode.actions.tolist()):
            at = {name: column[row] for name, column in actions.items()}
            actor = int(batch.actors()[0])
            assert (at["game"], at["index"], at["action"]) == (number, index, action)
            assert (at["actor"], at["legal"]) == (actor, batch.legal().sum())
            assert at["mu"] == episode.mu[index]
            square = action if actor == 0 else played.game.actions - 1 - action
            assert at["text"] == "ABC"[square % 3] + str(square // 3 + 1)
            assert np.array_equal(replayed.observations[row], batch.observe()[0])
            batch.apply(np.array([action], np.int32))
            row += 1
    assert {len(column) for column in actions.values()} == {row}
    some = played.replay(slice(1, 3))
    first, last = games["length"][:1].sum(), games["length"][:3].sum()
    assert np.array_equal(some.legal, replayed.legal[first:last])


def test_episodes_of_chance_and_of_folders(tmp_path: pathlib.Path) -> None:
    for number in range(2):
        options = ("--game", "kuhn", "-n", 50, "--seed", number)
        assert run("selfplay", *options, "-o", tmp_path / f"{number}.eps").status == 0
    (tmp_path / "other.txt").write_text("not read")
    both = stratkit.read_episodes(tmp_path)
    assert sorted(set(both.games["seed"])) == [0, 1] and len(both.games["number"]) == 100
    assert (both.games["return_0"] == -both.games["return_1"]).all()
    dealt = both.actions["actor"] == -1
    assert dealt.any() and np.isnan(both.actions["mu"][dealt]).all()
    assert set(both.actions["text"][dealt]) == {"J", "Q", "K"}
    assert set(both.actions["text"][~dealt]) == {"pass", "bet"}
    once = stratkit.read_episodes(tmp_path / "0.eps", tmp_path / "0.eps", tmp_path)
    assert (once.duplicates, len(once.games["number"])) == (100, 100)


def test_what_are_no_episodes_is_refused(made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    whole = (made / "x.eps").read_bytes()
    run("selfplay", "--game", "kuhn", "-n", 5, "-o", tmp_path / "kuhn.eps")
    (tmp_path / "torn.eps").write_bytes(whole[:-20])
    kept = stratkit.read_episodes(tmp_path / "torn.eps")
    assert len(kept.truncated) == 1 and f"{tmp_path / 'torn.eps'}: truncated" in kept.truncated[0]
    (tmp_path / "empty").mkdir()
    for paths, what in (
        ([tmp_path / "kuhn.eps", made / "x.eps"], "x.eps: episodes of another game or other rules"),
        ([tmp_path / "empty"], "empty: no episodes"),
        ([], "no episodes"),
        ([made / "games.jsonl"], "games.jsonl: "),
    ):
        with pytest.raises(InputError, match=what):
            stratkit.read_episodes(*paths)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        stratkit.read_episodes("nowhere")


def test_an_illegal_episode_is_refused(made: pathlib.Path, tmp_path: pathlib.Path) -> None:
    from dataclasses import replace

    from stratkit.storage.columns import Episodes
    from stratkit.storage.episodes import EpisodeWriter

    with open(made / "x.eps", "rb") as stream:
        reader = EpisodeReader(stream, "x")
        first = next(iter(reader))
    wrong = replace(first, actions=np.where(np.arange(len(first.actions)) == 9, 0, first.actions))
    with (
        open(tmp_path / "wrong.eps", "wb") as out,
        EpisodeWriter(out, reader.header) as writer,
    ):
        writer.write(Episodes.of([wrong]))
    with pytest.raises(InputError, match=r"wrong.eps: not a game of micro: illegal action 0"):
        stratkit.read_episodes(tmp_path / "wrong.eps")


# --- records --------------------------------------------------------------------------------------


def test_tables_of_records_are_their_lines(made: pathlib.Path) -> None:
    games = stratkit.read_games(made / "games.jsonl")
    header, *lines = map(json.loads, (made / "games.jsonl").read_text().splitlines())
    names = [player["name"] for player in header["players"]]
    assert {len(column) for column in games.values()} == {len(lines)} == {12}
    for row, line in enumerate(lines):
        got = {name: column[row] for name, column in games.items()}
        for name in ("number", "pair", "plies", "result", "reason", "adjudicator", "fault"):
            assert got[name] == line[name]
        assert (got["game"], got["seed"], got["moves"]) == ("micro", 1, line["moves"])
        for seat, player in enumerate(line["players"]):
            assert got[f"player_{seat}"] == names[player]
            assert got[f"setup_{seat}"] == line["setups"][seat]
            assert got[f"return_{seat}"] == line["returns"][seat]
            assert np.isnan(got[f"seconds_{seat}"])
    with pytest.raises(InputError, match="not a game record"):
        stratkit.read_games(made / "run/metrics.jsonl")


# --- what is shown --------------------------------------------------------------------------------


def code_of(page: str) -> list[str]:
    """The examples of Python on a page, of roff or Markdown."""
    text = (ROOT / page).read_text()
    if page.endswith(".md"):
        return re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    blocks = re.findall(r"^\.nf\n(.*?)^\.fi$", text.replace("\\-", "-"), re.M | re.S)
    return [block for block in blocks if "print(" in block]


@pytest.mark.parametrize(
    ("page", "count"), [("man/stratkit-python.7", 6), ("docs/first-agent.md", 1)]
)
def test_the_examples_of_the_pages_run(
    page: str,
    count: int,
    made: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(made)
    assert len(code_of(page)) == count
    for code in code_of(page):
        if "pettingzoo" in code:
            pytest.importorskip("pettingzoo", reason="PettingZoo is not installed")
        exec(compile(code, page, "exec"), {"__name__": "__main__"})
        told = capsys.readouterr()
        assert told.out and not told.err


def test_the_analysis_says_what_was_played(
    made: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(made)
    monkeypatch.setattr(sys, "argv", ["analysis.py", "run", "x.eps", "games.jsonl"])
    runpy.run_path(str(ROOT / "examples/analysis.py"))
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("target network at step 2 of micro")
    said = {name.strip(): text.strip() for name, text in (line.split(":") for line in lines[1:])}
    games = [json.loads(line) for line in (made / "games.jsonl").read_text().splitlines()[1:]]
    points = [r["returns"][r["players"].index(0)] for r in games if 0 in r["players"]]
    share = (1 + sum(points) / len(points)) / 2
    assert said["random"] == f"{share:.1%} of the points of {len(points)} games"
    assert "entropy" in said["actions 0 to 7"] and "max_plies" in said


def test_a_learner_of_another_kind_learns(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In Kuhn poker a best response to uniform play wins (1/2 + 5/12) / 2 = 0.458 on average over
    the seats, and uniform play 0."""
    monkeypatch.setattr(sys, "argv", ["actor_critic.py"])
    runpy.run_path(str(ROOT / "examples/actor_critic.py"))
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first.startswith("update 50: wins ") and last.startswith("update 300: wins ")
    assert 0.43 < float(last.split()[3]) < 0.48  # 25,600 games: ± 0.02
