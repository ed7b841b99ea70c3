"""Scripts of examples/: what is missing or wrong is said in one line."""

from __future__ import annotations

import json
import pathlib
import runpy
import sys

import numpy as np
import pytest

from running import ROOT, run
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.storage.checkpoints import load_network, save_policy

EXPORT, CALIBRATION = "players/export.py", "players/calibration.py"
ATTACKS, LOST = "players/attacks.py", "players/lost_attacks.py"
MIXTURE = "players/mixture.py"
SHIPPED = ROOT / "stratkit/models/trained"
SEARCH = "search_picture.py"
VALUES, BELIEFS = "rebel/value_error.py", "rebel/random_beliefs.py"
TABLE, ELO, MAPS = "exact/table.py", "alphaze/elo_by_step.py", "diplomacy/games.py"
CLIENT = "analysis_client.py"
CURVE, SOLVERS = "rebel/curve.py", "rebel/solvers.py"
DEPTHS, ONE = "rebel/depths.py", "rebel/one_network.py"


def test_a_decision_is_read_from_its_log() -> None:
    script = runpy.run_path(str(ROOT / "examples" / SEARCH))
    (decision,) = script["decisions"]((ROOT / "examples/search.md").read_text())
    assert len(decision) == 3
    assert decision[0] == ("I7 I8 marshal", 6.1, 99.8, 0.458, 0.05)
    fourth = "K3 K4 miner    6.3   4.3  -  -  too rare  q +0.445 +- 0.003"
    ((move,),) = script["decisions"](f"game 1, search in 8 worlds (...):\n{fourth}\n")
    assert move == ("K3 K4 miner", 6.3, 4.3, 0.445, 0.003)


def test_a_weight_is_set_by_hand(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And setups are made surer: logits twice as far apart."""
    shipped, file = SHIPPED / "barrage-easy.shuffled", tmp_path / "a.safetensors"
    monkeypatch.setattr(sys, "argv", ["", "barrage-easy", str(file), "online", "-32", ".5"])
    runpy.run_path(str(ROOT / "examples" / EXPORT), run_name="__main__")
    old, new = (load_network(path, None)[0] for path in (shipped, file))
    changed = {name for name in old if (old[name] != new[name]).any()}
    placing = {"deployment.policy.weight", "deployment.policy.bias"}
    assert changed == {"play.met", *placing} and new["play.met"][-1] == -32
    assert (new["play.met"][:-1] == old["play.met"][:-1]).all()
    assert all((new[name] == 2 * old[name]).all() for name in placing)


def test_weights_are_rounded(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped, file = SHIPPED / "barrage-easy.shuffled", tmp_path / "a.safetensors"
    monkeypatch.setattr(sys, "argv", ["", "--bits", "12", "barrage-easy", str(file)])
    runpy.run_path(str(ROOT / "examples" / EXPORT), run_name="__main__")
    old, new = (load_network(path, None)[0] for path in (shipped, file))
    for name, weights in new.items():
        assert not (weights.view(np.uint32) % (1 << 11)).any()
        assert (abs(weights - old[name]) <= abs(old[name]) * 2.0**-13).all(), name


def test_weights_that_nothing_reads_are_0(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Barrage nobody has pieces of five types."""
    name, full, file = "deployment.entry.weight", tmp_path / "a", tmp_path / "b"
    weights, metadata, _ = load_network(SHIPPED / "barrage-easy.shuffled", None)
    save_policy(full, {**weights, name: weights[name] + 1}, metadata)
    monkeypatch.setattr(sys, "argv", ["", str(full), str(file)])
    runpy.run_path(str(ROOT / "examples" / EXPORT), run_name="__main__")
    new = load_network(file, None)[0][name].reshape(64, 51, 12)
    old, lacking = weights[name].reshape(64, 51, 12), [4, 5, 6, 7, 8]
    assert [rank for rank in range(12) if not new[..., rank].any()] == lacking
    there = [rank for rank in range(12) if rank not in lacking]
    assert (new[..., there] == old[..., there] + 1).all()


def test_setups_of_another_player(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other, file = tmp_path / "other.safetensors", tmp_path / "a.safetensors"
    for made, setups in ((other, ".5"), (file, other)):
        words = ("classic-easy", made, "online", "-32", setups)
        monkeypatch.setattr(sys, "argv", ["", *map(str, words)])
        runpy.run_path(str(ROOT / "examples" / EXPORT), run_name="__main__")
    mixed, metadata, _ = load_network(file, None)
    play, place = (load_network(path, None) for path in (SHIPPED / "classic-easy.shuffled", other))
    assert metadata["parents"] == [play[1]["sha256"], place[1]["sha256"]]
    for name, weights in mixed.items():
        source = place if name.startswith("deployment.") else play
        assert (weights == source[0][name]).all() or name == "play.met"


def test_few_games_have_no_means(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """30 positions of a span, and not as many of any expected value."""
    monkeypatch.chdir(tmp_path)
    one = ("--game", "barrage", "-n", 1, "--seed", 1, "-o", tmp_path / "one.eps")
    assert run("selfplay", *one).status == 0
    monkeypatch.setattr(sys, "argv", ["", "barrage-easy", "one.eps", "a.png"])
    runpy.run_path(str(ROOT / "examples" / CALIBRATION), run_name="__main__")
    assert pathlib.Path("a.png").stat().st_size > 0


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with mini.eps and games.jsonl, a game each of random players; a network; and what is
    no cell of a table, nor ratings."""
    folder = tmp_path_factory.mktemp("played")
    dice = ("match", "random", "name=r,random", "--game", "liars_dice:1x2", "-n", 2)
    assert run(*dice, "-o", folder / "dice.jsonl").status == 0
    judged = {"depth": 2, "games": 4, "exploitability": 0.1, "nash_conv_error": 0.01}
    iterate = {**judged, "estimator": "iterate"}
    rated = {"name": "a@1", "elo": 1.0, "low": 0.0, "high": 2.0}
    table = {"players": [rated], "anchors": [], "game": "kuhn"}
    for name, one in {
        "iterate.json": {"game": "a", "policies": [iterate]},
        "by-nodes.json": {"game": "a", "policies": [iterate, {**iterate, "depth": None}]},
        "no-elo.json": {**table, "players": [{"name": "a@1"}]},
        "null-elo.json": {**table, "players": [{**rated, "elo": None}]},
        "no-interval.json": {**table, "players": [{**rated, "low": None}]},
        "no-anchors.json": {"players": [rated], "game": "kuhn"},
    }.items():
        (folder / name).write_text(json.dumps(one))
    cell = folder / "runs/kuhn/ppo-1/10.json"
    cell.parent.mkdir(parents=True)
    cell.write_text('{"policies": [1]}')
    (folder / "nobody.json").write_text('{"players": [{"name": "a"}]}')
    save_network(folder / "plain", "plain", Game("mini"))
    two = ("selfplay", "--game", "mini", "-n", 1, "--seed", 1, "-o", folder / "mini.eps")
    one = ("match", "random", "heuristic", "--game", "mini", "-n", 2, "-o", folder / "games.jsonl")
    assert [run(*words).status for words in (two, one)] == [0, 0]
    return folder


def test_a_picture_of_a_search_that_knows_no_error(tmp_path: pathlib.Path) -> None:
    log, picture = tmp_path / "log", tmp_path / "a.png"
    words = ("search=endgame,hands=10000,random", "random", "--game", "nano", "-n", 2, "--seed", 1)
    assert run("match", *words, "--explain", log, "-o", tmp_path / "a.jsonl").status == 0
    assert " q " in log.read_text() and " +- " not in log.read_text()
    runpy.run_path(str(ROOT / "examples" / SEARCH))["main"](str(log), str(picture), 1)
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("script", "words", "status", "said"),
    [
        (
            EXPORT,
            "",
            2,
            "export.py: the following arguments are required: CHECKPOINT|RUN|PLAYER, FILE",
        ),
        (
            EXPORT,
            "a b c d e f",
            2,
            "export.py: unrecognized arguments: f",
        ),
        (EXPORT, f"{SHIPPED}/barrage-easy.shuffled a online x", 1, "export.py: LOST is no finite"),
        (
            EXPORT,
            f"{SHIPPED}/barrage-easy.shuffled a online nan",
            1,
            "export.py: LOST is no finite",
        ),
        (EXPORT, "plain a online -16", 1, "export.py: a net that has no"),
        (
            EXPORT,
            f"{SHIPPED}/barrage-easy.shuffled a online -16 0",
            1,
            "export.py: a temperature of SETUPS",
        ),
        (EXPORT, "plain a online -16 1", 1, "export.py: a net that has"),
        (
            EXPORT,
            "barrage-easy a online -16 barrage",
            1,
            "export.py: SETUPS of a player of barrage with the net fromto:32x3+mirrored, not",
        ),
        (
            EXPORT,
            "barrage-easy a online -16 classic-easy",
            1,
            "export.py: SETUPS of a player of classic with",
        ),
        (EXPORT, "barrage a --bits 0", 2, "export.py: argument --bits: invalid choice: 0"),
        (EXPORT, "barrage a online -16 nowhere", 1, "export.py: nowhere: no such file or folder"),
        (EXPORT, "nowhere a", 1, "export.py: nowhere: no such file or folder"),
        (CALIBRATION, "a", 2, "calibration.py: the following arguments are required: EPISODES, PI"),
        (CALIBRATION, "nowhere a b", 1, "calibration.py: no such file or folder"),
        (
            CALIBRATION,
            "barrage-easy mini.eps c",
            1,
            "calibration.py: mini.eps: games of mini, and barr",
        ),
        (
            LOST,
            "barrage-easy nobody games.jsonl",
            1,
            "lost_attacks.py: no game of a player of this name",
        ),
        (MIXTURE, "", 2, "mixture.py: the following arguments are required: GAMES.jsonl"),
        (MIXTURE, "nowhere", 1, "mixture.py: nowhere: No such file or directory"),
        (ATTACKS, "barrage-easy many", 2, "attacks.py: argument GAMES: a whole number from 1"),
        (ATTACKS, "nowhere", 1, "attacks.py: no such file or folder"),
        (SEARCH, "log", 2, "search_picture.py: the following arguments are required: PICTURE"),
        (SEARCH, "nowhere a", 1, "search_picture.py: nowhere: no such file"),
        (
            SEARCH,
            f"{ROOT}/examples/search.md a 2",
            1,
            f"search_picture.py: {ROOT}/examples/search.md: 1 d",
        ),
        (VALUES, "nowhere", 1, "value_error.py: nowhere: no such file or folder"),
        (BELIEFS, "a b c d", 2, "random_beliefs.py: argument EXAMPLES: a whole number from 1"),
        (BELIEFS, "kuhn 1 2 3", 2, "random_beliefs.py: unrecognized arguments: 3"),
        (CURVE, "a 4 many 1x2", 2, "curve.py: argument REPEATS: a whole number from 1"),
        (CURVE, "a 4 2 1x", 1, "curve.py: "),
        (SOLVERS, "a", 2, "solvers.py: the following arguments are required: JSON"),
        (
            SOLVERS,
            "a cfr-exact-16.json",
            1,
            "solvers.py: cfr-exact-16.json: not called SOLVER-exact",
        ),
        (SOLVERS, "a cfr-exact-16-4.json", 1, "solvers.py: cfr-exact-16-4.json: No such file"),
        (TABLE, "nowhere", 1, "table.py: nowhere: No such file or directory"),
        (TABLE, "runs/kuhn", 1, "table.py: runs/kuhn: no GAME/LEARNER-SEED/MARK.json"),
        (TABLE, "runs", 1, "table.py: runs/kuhn/ppo-1/10.json: not of exploit --json"),
        (ELO, "nowhere a", 1, "elo_by_step.py: nowhere: No such file or directory"),
        (ELO, "games.jsonl a", 1, "elo_by_step.py: games.jsonl: not of rate --json"),
        (ELO, "nobody.json a", 1, "elo_by_step.py: nobody.json: no player is called RUN@STEP"),
        (ELO, "no-elo.json a", 1, "elo_by_step.py: no-elo.json: not of rate --json, with elo"),
        (ELO, "null-elo.json a", 1, "elo_by_step.py: null-elo.json: not of rate --json, with elo"),
        (
            ELO,
            "null-elo.json null-elo.json a",
            1,
            "elo_by_step.py: null-elo.json: not of rate --json",
        ),
        (ELO, "no-interval.json a", 1, "elo_by_step.py: no-interval.json: not of rate --json"),
        (ELO, "no-anchors.json a", 1, "elo_by_step.py: no-anchors.json: not of rate --json"),
        (TABLE, "runs x.foo", 2, "table.py: pictures are .png or .svg, not .foo: 'x.foo'"),
        (MAPS, "mini.eps a", 1, "games.py: mini.eps: "),
        (MAPS, "games.jsonl a", 1, "games.py: games.jsonl: games of mini, not of Diplomacy"),
        (MAPS, "games.jsonl a 9", 1, "games.py: games.jsonl: no game 9"),
        (SEARCH, "mini.eps a", 1, "search_picture.py: mini.eps: 0 decisions with a search"),
        (
            CLIENT,
            "nowhere",
            1,
            "analysis_client.py: [Errno 2] No such file or directory: 'nowhere'",
        ),
        (CLIENT, "mini.eps", 1, "analysis_client.py: mini.eps: no game records of Stratego"),
        (CLIENT, "dice.jsonl", 1, "analysis_client.py: dice.jsonl: no game records of Stratego"),
        (
            CLIENT,
            "games.jsonl --command nosuch",
            1,
            "analysis_client.py: --command: [Errno 2] No such",
        ),
        (
            CLIENT,
            "games.jsonl --command=",
            2,
            "analysis_client.py: --command: it is empty",
        ),
        (
            DEPTHS,
            "a by-nodes.json",
            1,
            "depths.py: by-nodes.json: not of `exploit --json` with searc",
        ),
        (DEPTHS, "a iterate.json", 1, "depths.py: no search was judged by its average"),
        (DEPTHS, "a", 2, "depths.py: the following arguments are required: JSON"),
        (DEPTHS, "a nowhere.json", 1, "depths.py: nowhere.json: No such file"),
        (ONE, "a 1x2 1x2", 2, "one_network.py: games are different ones, each such as 1x4: '1x2'"),
        (ONE, "a kuhn", 2, "one_network.py: games are different ones, each such as 1x4: 'kuhn'"),
        (ONE, "a 1x2 --uses 0", 2, "one_network.py: uses=0: a number above 0"),
        (ONE, "a 1x2 --seed -1", 2, "one_network.py: seed=-1: a whole number from 0"),
        (ONE, "a 1x2 --lr -1", 2, "one_network.py: lr=-1: a number above 0"),
        (ONE, "a 1x2 --steps 0", 2, "one_network.py: steps=0: a whole number from 1"),
        (ONE, "a 1x2 --updates 0", 2, "one_network.py: --search: iterations=0: "),
        (ONE, "a 1x2 --depth -1", 2, "one_network.py: --search: depth=-1: a whole number from 0"),
        (ONE, "a 1x2 --depth 50", 2, "one_network.py: depth=50: liars_dice:1x2 ends after 4 decis"),
        (BELIEFS, "kuh", 1, "random_beliefs.py: unknown game 'kuh' (did you mean 'kuhn'?)"),
    ],
)
def test_bad_words(
    script: str,
    words: str,
    status: int,
    said: str,
    played: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """In one line, and with the status that the commands have."""
    monkeypatch.chdir(played)
    monkeypatch.setattr(sys, "argv", [script, *words.split()])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "examples" / script), run_name="__main__")
    code = ended.value.code
    told, code = (code, 1) if isinstance(code, str) else (capsys.readouterr().err, code)
    (line,) = told.splitlines()
    assert line.startswith(said) and code == status
