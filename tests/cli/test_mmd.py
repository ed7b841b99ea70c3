"""`train --algorithm mmd`: the closed loop, resuming, and what is refused."""

from __future__ import annotations

import json
import pathlib
import re

import pytest

from learn.games import episodes, write
from running import here, learn, run
from stratkit.declared import option_name
from stratkit.learn.request import fields_of
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint

QUICK = ("--batch", 4, "--rows", 32, "--seed", 1)


def metrics(folder: pathlib.Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def newest(folder: pathlib.Path) -> pathlib.Path:
    return list_checkpoints(folder)[-1][1]


def nash_conv(player: str) -> float:
    done = run("exploit", "--json", "kuhn", player)
    assert done.status == 0, done.err
    return float(json.loads(done.data)["policies"][-1]["nash_conv"])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A run of Kuhn poker, learned by a real pipe."""
    folder = tmp_path_factory.mktemp("mmd") / "run"
    arguments = ("--game", "kuhn", "--policy", folder, "--follow", "--seed", 1, "-q")
    learn(arguments, ("--out", folder, "--algorithm", "mmd", "--steps", 200, "--net", "mlp:32",
                      "--seed", 1, "-q"))  # fmt: skip
    return folder


def test_the_closed_loop_learns_kuhn(trained: pathlib.Path) -> None:
    """Uniform play has NashConv .917. What is left after 200 steps depends on timing."""
    lines = metrics(trained)
    assert [line["step"] for line in lines] == list(range(1, 201))
    etas = [line["eta"] for line in lines]
    assert etas == sorted(etas, reverse=True) and etas[0] > 1.2 * etas[-1] > 0
    assert {"policy_loss", "value_loss", "clipped", "entropy", "kl", "value", "lr"} <= {*lines[0]}
    assert not {"alpha", "iteration", "mass_removed"} & {*lines[0]}
    assert nash_conv(str(newest(trained))) < 0.5


def test_the_average_plays_unless_another_is_asked_for(trained: pathlib.Path) -> None:
    path = newest(trained)
    assert load_checkpoint(path)[1]["networks"] == ["online", "average"]
    by_default = nash_conv(str(path))
    assert by_default == nash_conv(f"net=average,{path}") != nash_conv(f"net=online,{path}")
    done = run("match", f"{path}", "random", "--game", "kuhn", "-n", 4, "--seed", 1, "-o", "-")
    assert f"net=average,{path}" in done.out.splitlines()[0]
    done = run("exploit", "kuhn", f"net=target,{path}")
    wanted = f"exploit: {path}: holds no network 'target'; it has online, average\n"
    assert (done.status, done.err) == (1, wanted)


@pytest.fixture
def games(tmp_path: pathlib.Path) -> str:
    return write(tmp_path / "a.eps", *episodes("nano", 20))


def test_a_schedule_by_decisions_goes_on_exactly_and_alone(
    tmp_path: pathlib.Path, games: str
) -> None:
    whole, parts, steps = (tmp_path / name for name in ("whole", "parts", "steps"))
    options = ("--algorithm", "mmd", "--net", "plain", "--lr-power", 1, *QUICK)
    by = ("--anneal-by", "decisions", "--anneal-after", 50)
    for out, number, more in ((whole, 4, by), (parts, 2, by), (steps, 1, ())):
        done = run("train", games, "--out", out, "--steps", number, *options, *more)
        assert done.status == 0, done.err
    done = run("train", games, "--out", parts, "--steps", 4, "--resume")
    assert done.status == 0, done.err
    one, other = (load_checkpoint(newest(folder))[1] for folder in (whole, parts))
    assert one["sha256"] == other["sha256"] and one["decisions"] == other["decisions"] > 50
    assert metrics(whole)[-1]["decisions"] == one["decisions"]
    assert metrics(whole)[-1]["lr"] == metrics(parts)[-1]["lr"] < metrics(parts)[0]["lr"] / 2
    for out, word, begun in ((steps, "decisions", "steps"), (parts, "steps", "decisions")):
        more = ("--resume", "--anneal-by", word, "--anneal-after", 50)
        done = run("train", games, "--out", out, "--steps", 9, *more)
        said = f"{newest(out)}: begun with --anneal-by {begun}, and cannot go on with another"
        assert (done.status, done.err) == (1, f"train: {said}: '{word}'\n")
    done = run("train", games, "--out", tmp_path / "new", *options, *by[:2])
    said = "train: --anneal-by decisions needs --anneal-after, a number of decisions\n"
    assert (done.status, done.err) == (2, said)
    line = ("--lr-power", 0, "--eta-power", 0, "--lr-linear", 1000)
    done = run("train", games, "--out", tmp_path / "new", *options, *by[:2], *line, "--steps", 2)
    first, second = (one["lr"] for one in metrics(tmp_path / "new"))
    assert second == pytest.approx(first * (1 - metrics(tmp_path / "new")[0]["decisions"] / 1000))


def test_a_run_ends_by_its_decisions(tmp_path: pathlib.Path, games: str) -> None:
    """At the first step that has so many of them, those before a resumption included."""
    out, options = tmp_path / "run", ("--algorithm", "mmd", "--net", "plain", *QUICK)
    assert run("train", games, "--out", out, "--decisions", 1, *options).status == 0
    (only,) = metrics(out)
    more = ("--out", out, "--resume", "--decisions")
    assert run("train", games, *more, only["decisions"] + 1).status == 0
    assert [line["step"] for line in metrics(out)] == [1, 2]
    done = run("train", games, *more, 2)
    assert (done.status, len(metrics(out))) == (0, 2)
    assert done.err == f"nothing to do: {out} has 2 steps\n"


def test_resumed_is_as_if_never_stopped(tmp_path: pathlib.Path, games: str) -> None:
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    options = ("--algorithm", "mmd", "--net", "plain", "--magnet", "average", "--lr-power", 0.5)
    first = ("--anneal-after", 2, *options, *QUICK)
    for out, steps in ((whole, 5), (parts, 2)):
        done = run("train", games, "--out", out, "--steps", steps, *first)
        assert done.status == 0, done.err
    # The algorithm and its settings are the run's; one of them may be given again without it.
    done = run("train", games, "--out", parts, "--steps", 5, "--resume", "--anneal-after", 2)
    assert done.status == 0, done.err
    stored = [load_checkpoint(newest(folder))[1] for folder in (whole, parts)]
    assert stored[0]["sha256"] == stored[1]["sha256"] and stored[0]["step"] == 5
    assert stored[0]["config"] == stored[1]["config"]
    other = tmp_path / "other"
    settings = tmp_path / "x.toml"
    settings.write_text("algorithm = 'mmd'\nnet = 'plain'\nmagnet = 'average'\nlr-power = 0.5\n")
    words = ("--config", settings, "--anneal-after", 2, *QUICK)
    assert run("train", games, "--out", other, *words).status == 0
    assert load_checkpoint(newest(other))[1]["sha256"] == stored[0]["sha256"]


def test_one_algorithm_does_not_go_on_with_another_s_run(
    tmp_path: pathlib.Path, games: str
) -> None:
    for name, other in (("mmd", "rnad"), ("rnad", "mmd")):
        out = tmp_path / name
        words = ("--net", "plain", "--steps", 1, *QUICK)
        assert run("train", games, "--out", out, "--algorithm", name, *words).status == 0
        before = newest(out).read_bytes()
        done = run("train", games, "--out", out, "--resume", "--algorithm", other)
        said = f"{newest(out)}: learned by {name}, which alone can go on with it: '{other}'\n"
        assert (done.status, done.err) == (1, f"train: {said}")
        assert newest(out).read_bytes() == before
    said = f"{newest(tmp_path / 'mmd')}: learned by mmd; finetune goes on with rnad alone\n"
    for out, more in (("fine", ()), ("mmd", ("--resume",))):
        done = run("finetune", tmp_path / "mmd", games, "--out", tmp_path / out, *more)
        assert (done.status, done.err) == (1, f"finetune: {said}")


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--eta", "nan"), "--eta must be a number from 0, below 1000000: 'nan'"),
        (("--ratio-clip", 0), "--ratio-clip must be a number above 0: '0'"),
        (("--advantage-lambda", 1.5), "--advantage-lambda must be a number from 0 to 1: '1.5'"),
        (("--anneal-after", 0), "--anneal-after must be a number from 1, below 1000000000000: '0'"),
        (("--beta", 3), "--beta is no setting of the algorithm mmd"),
        (("--magnet", "pieces"), "--magnet"),
    ],
)
def test_bad_settings(tmp_path: pathlib.Path, words: tuple[object, ...], wrong: str) -> None:
    done = run("train", "-", "--out", tmp_path / "run", "--algorithm", "mmd", *words)
    assert done.status == 2 and wrong in done.err and "Traceback" not in done.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (("--net", "plain", "--eta", ".001"), "--eta is below --eta-floor, 0.01: '0.001'"),
        (("--eta-floor", ".3"), "--eta is below --eta-floor, 0.3: '0.1'"),  # once the game is known
        (("--lr-floor", ".02"), "--lr is below --lr-floor, 0.02: '0.001'"),
        (("--lr", ".1", "--lr-floor", "1"), "--lr is below --lr-floor, 1: '0.1'"),
    ],
)
def test_a_floor_above_the_beginning_is_refused(
    tmp_path: pathlib.Path, games: str, words: tuple[str, ...], wrong: str
) -> None:
    """Also one of a preset, or above what a preset begins with."""
    done = run("train", games, "--out", tmp_path / "run", "--algorithm", "mmd", *words)
    assert (done.status, done.err) == (2, f"train: {wrong}\n")
    assert not (tmp_path / "run").exists()


def test_settings_of_mmd_need_mmd(tmp_path: pathlib.Path, games: str) -> None:
    out = tmp_path / "run"
    done = run("train", games, "--out", out, "--magnet", "uniform")
    assert (done.status, done.err) == (
        2,
        "train: --magnet is no setting of the algorithm rnad\n",
    )
    settings = tmp_path / "x.toml"
    settings.write_text("beta = 2.0\n")
    done = run("train", games, "--out", out, "--algorithm", "mmd", "--config", settings)
    assert (done.status, done.err) == (
        1,
        f"train: {settings}: --beta is no setting of the algorithm mmd\n",
    )
    assert not out.exists()


def test_the_manual_has_every_setting() -> None:
    """And `--help` says whose it is, where it is one algorithm's."""
    shown = run("train", "--help").out
    page = (pathlib.Path(__file__).parents[2] / "man/train.1").read_text().replace("\\", "")
    options = set(re.findall(r"^  (--[a-z0-9-]+)", shown, re.M)) - {"--help", "--version"}
    assert {"--magnet", "--beta"} <= options
    assert [name for name in sorted(options) if not re.search(rf"{name}\b", page)] == []
    assert "nashpg: copy:40)" in shown and "--magnet" not in run("finetune", "--help").out


@pytest.mark.parametrize("words", [("--algorithm", "mmd"), ("--algorithm=mmd",)])
def test_help_of_one_algorithm(words: tuple[str, ...], tmp_path: pathlib.Path) -> None:
    """Its settings alone, with its defaults, where all settings stand; and only where it is asked
    for: a setting of others is refused by name."""
    shown = here("train", *words, "--help").out
    options = re.findall(r"^  (--[a-z0-9-]+)", shown, re.M)
    settings = [option_name(name) for name in fields_of("mmd")]
    at = options.index(settings[0])
    assert options[at : at + len(settings)] == settings
    assert options[:at][-1] == "--config" and options[at + len(settings) :][0] == "--version"
    told = " ".join(shown.split())
    assert "(default: uniform; graph+shares copy:1000)" in told and "nashpg:" not in told
    assert "--beta" in here("train", "--help", "--", *words).out
    refused = here("train", *words, "--beta", "2", "--out", tmp_path / "run").err
    assert refused == "train: --beta is no setting of the algorithm mmd\n"
    assert "--beta" in here("train", "--help").out


def test_a_game_has_its_own_defaults(tmp_path: pathlib.Path) -> None:
    """Where its schedule counts decisions, another unit needs its own number."""
    games = write(tmp_path / "a.eps", *episodes("dark_hex:2", 4))
    options = ("--algorithm", "mmd", "--batch", 2, "--seed", 1)
    done = run("train", games, "--out", tmp_path / "a", *options, "--steps", 1)
    assert done.status == 0, done.err
    config = load_checkpoint(newest(tmp_path / "a"))[1]["config"]
    assert (config["anneal_by"], config["anneal_after"]) == ("decisions", 5e5)
    own = ("--anneal-by", "steps", "--anneal-after", 100, "--eta-power", 0.5)
    done = run("train", games, "--out", tmp_path / "own", *options, *own, "--steps", 1)
    assert done.status == 0, done.err
    done = run("train", games, "--out", tmp_path / "own", "--resume", "--steps", 2)
    assert done.status == 0, done.err
    stored = load_checkpoint(newest(tmp_path / "own"))[1]
    assert stored["step"] == 2
    config = stored["config"]
    assert (config["anneal_by"], config["anneal_after"], config["eta_power"]) == ("steps", 100, 0.5)
    done = run("train", games, "--out", tmp_path / "c", *options, "--anneal-by", "decisions")
    assert done.status == 0, done.err
    done = run("train", games, "--out", tmp_path / "b", *options, "--anneal-by", "steps")
    assert done.status == 2
    assert done.err == "train: --anneal-by steps needs --anneal-after, a number of steps\n"
