"""The command deploy-gen."""

from __future__ import annotations

import collections
import json
import math
import os
import pathlib
import subprocess

import numpy as np
import pytest

from running import command_line, here, run
from storage.stored import save_network
from stratkit.engine import Game
from stratkit.engine.stratego import VARIANTS, variant
from stratkit.nets import build
from stratkit.notation.setups import parse_setup
from stratkit.notation.statistics import SetupFigures
from stratkit.setups.deployed import good_setups
from stratkit.setups.numbering import how_many, number_of
from stratkit.storage.checkpoints import save_checkpoint
from stratkit.storage.episodes import EpisodeReader


@pytest.mark.parametrize("game", sorted(VARIANTS))
def test_setups_fit_their_variant(game: str) -> None:
    done = here("deploy-gen", "--game", game, "-n", 50, "--seed", 1)
    assert (done.status, done.err) == (0, "")
    lines = done.out.splitlines()
    assert len(lines) == 50
    for line in lines:
        parse_setup(line, VARIANTS[game])
    again = here("deploy-gen", "--game", game, "-n", 300, "--seed", 1)
    assert again.out.splitlines()[:50] == lines


def test_uniform_is_uniform() -> None:
    """nano has 6 setups: chi-square of 6,000 draws below its 99.99 % point."""
    done = here("deploy-gen", "--game", "nano", "-n", 6000, "--seed", 7)
    counts = collections.Counter(done.out.split())
    assert len(counts) == math.factorial(3)
    assert sum((n - 1000) ** 2 / 1000 for n in counts.values()) < 25.7


def test_drawn_from_a_file(tmp_path: pathlib.Path) -> None:
    made = here("deploy-gen", "--game", "mini", "-n", 3, "--seed", 1, "-o", tmp_path / "x")
    assert made.status == 0
    lines = (tmp_path / "x").read_text().splitlines()
    done = here("deploy-gen", "--game", "mini", "-n", 300, "--from", tmp_path / "x", "--seed", 2)
    counts = collections.Counter(done.out.splitlines())
    assert set(counts) == set(lines) and min(counts.values()) > 60
    piped = run("deploy-gen", "--game", "mini", "-n", 300, "--from", "-", "--seed", 2,
                stdin=(tmp_path / "x").read_bytes())  # fmt: skip
    assert piped.data == done.data


def make(game: str, *arguments: object) -> list[str]:
    """The lines that the command prints; it has nothing else to say."""
    done = here("deploy-gen", "--game", game, "--seed", 1, *arguments)
    assert (done.status, done.err) == (0, "")
    return done.out.splitlines()


@pytest.fixture(scope="module")
def network(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A checkpoint of an untrained network for mini."""
    path = tmp_path_factory.mktemp("network") / "x.safetensors"
    save_network(path, "plain", Game("mini"))
    return path


@pytest.fixture
def people(tmp_path: pathlib.Path) -> pathlib.Path:
    """Five setups of mini with the flag left of the middle; the last line repeats the first."""
    path = tmp_path / "people.setups"
    lines = ["MBKADALCADEA", "BMKADALCADEA", "KBMADALCADEA", "MBKDDALCAAEA", "MBKADLACADEA"]
    path.write_text("".join(f"{line}\n" for line in [*lines, lines[0]]))
    return path


def mirrored(line: str) -> str:
    return line[5::-1] + line[:5:-1]


def test_each_line_once(people: pathlib.Path) -> None:
    lines = people.read_text().split()
    made = make("mini", "--from", people, "--once")
    assert sorted(made) == sorted(lines) and made != lines
    assert make("mini", "--from", people, "--once", "-n", 2) == made[:2]
    assert sorted(make("mini", "--from", people, "--once", "--unique")) == sorted(set(lines))
    done = here("deploy-gen", "--game", "mini", "--from", people, "--once", "-n", 7)
    assert (done.status, done.out) == (1, "")
    assert "there are only 6 setups, not 7" in done.error_line


def test_mirrored(people: pathlib.Path) -> None:
    """Of a file every line and its mirror image, and what meets constraints then; of others every
    second setup; the constraints hold for what is printed."""
    lines = set(people.read_text().split())
    counts = collections.Counter(make("mini", "--from", people, "--mirror", "-n", 3000))
    assert set(counts) == lines | set(map(mirrored, lines)) and min(counts.values()) > 180
    turned = make("mini", "--from", people, "--mirror", "--once", "--fix", "M=F1")
    assert sorted(turned) == sorted(
        mirrored(line) for line in people.read_text().split() if line[0] == "M"
    )
    plain = make("mini", "--from", "heuristic", "-n", 40)
    both = make("mini", "--from", "heuristic", "-n", 40, "--mirror")
    assert {*both} & {*plain} and {*both} - {*plain}
    assert all(b in (a, mirrored(a)) for a, b in zip(plain, both, strict=True))
    fixed = make("mini", "--from", "heuristic", "-n", 40, "--mirror", "--fix", "M=A1")
    assert all(line[0] == "M" for line in fixed)


def test_constraints_hold_for_every_source(people: pathlib.Path, network: pathlib.Path) -> None:
    asked = ["--fix", "M=A1..B1", "--forbid", "C=A2,F2", "--fix", "K=C1", "-n", 12]
    for source in ("uniform", "random", "heuristic", people, network):
        for line in make("mini", "--from", source, *asked):
            assert "M" in line[:2] and line[2] == "K" and "C" not in (line[6], line[11])


def test_no_setup_twice(people: pathlib.Path) -> None:
    assert sorted(make("nano", "-n", 6, "--unique")) == make("nano", "--from", "number:0..5")
    assert len(set(make("mini", "--from", people, "-n", 10, "--unique", "--mirror"))) == 10
    for arguments, said in (
        (("--game", "nano", "-n", 7), "there are only 6 different setups, not 7"),
        (("--game", "nano", "-n", 5, "--fix", "M=A1"), "there are only 2 different setups, not 5"),
        (("--game", "mini", "-n", 6, "--from", people), "only 5 different setups, not 6"),
        (("--game", "nano", "-n", 7, "--from", "heuristic"), "draws brought nothing new: 6 differ"),
    ):
        done = here("deploy-gen", *arguments, "--unique")
        assert done.status == 1 and said in done.error_line


def test_numbers() -> None:
    lines = make("mini", "-n", 5, "--number")
    for line in lines:
        setup, number = line.split("\t")
        assert make("mini", "--from", f"number:{number}") == [setup]
    assert make("nano", "--from", "number:1..4", "-n", 2, "--number") == ["CML\t1", "LCM\t2"]
    last = how_many(VARIANTS["classic"]) - 1
    (top,) = make("classic", "--from", f"number:{last}")
    assert top == "".join(sorted(top, reverse=True))
    numbers = "\n".join(line.split("\t")[1] for line in lines)
    done = run("deploy-gen", "--game", "mini", "--from", "number:-", stdin=numbers.encode())
    assert done.out.splitlines() == [line.split("\t")[0] for line in lines]
    done = run("deploy-gen", "--game", "nano", "--from", "number:-", stdin=b"1\n\n6\n")
    assert done.status == 1 and "standard input: line 3: the setups of nano" in done.error_line


def test_log_probabilities_of_uniform() -> None:
    done = here("deploy-gen", "--game", "nano", "-n", 4, "--logprob", "--fix", "M=A1..B1")
    assert {line.split("\t")[1] for line in done.out.splitlines()} == {f"{-math.log(4):.6f}"}
    assert done.error_line == (
        "entropy 1.3863 ± 0 nats, from 4 draws: as many as 4 equally probable setups"
    )
    done = here("deploy-gen", "--game", "nano", "-n", 4, "--logprob", "--unique")
    assert done.err == ""  # those that are left are no sample


def test_json_of_a_network(network: pathlib.Path) -> None:
    """One object a setup, and the entropy; the same setups as without."""
    plain = make("mini", "--from", network, "-n", 8)
    first, *rest = (
        json.loads(line)
        for line in make("mini", "--from", network, "-n", 8, "--json", "--logprob")[::-1]
    )
    assert set(first) == {"version", "draws", "entropy", "error"} and first["draws"] == 8
    assert [row["setup"] for row in rest[::-1]] == plain
    for row in rest:
        assert (row["version"], row["game"]) == (1, "mini")
        assert int(row["number"]) == number_of(VARIANTS["mini"], parse_setup(row["setup"]))
    mean = sum(row["logprob"] for row in rest) / 8
    assert first["entropy"] == pytest.approx(-mean, abs=1e-5)
    assert 0 < first["error"] < 1 and 14 < -mean < 18  # untrained: nearly uniform, 16.1
    (line,) = make("nano", "-n", 1, "--json")
    assert set(json.loads(line)) == {"version", "game", "setup", "number"}


def test_a_policy_as_it_plays(network: pathlib.Path) -> None:
    """Without its rare moves a network makes fewer setups; the options of a PLAYER say so."""
    plain, few = (
        json.loads(make("mini", "--from", f"{keys}{network}", "-n", 30, "--json", "--logprob")[-1])
        for keys in ("", "deploy-threshold=.09,deploy-quanta=8,")
    )
    assert few["entropy"] < plain["entropy"] - 0.5
    assert make("mini", "--from", f"preset=deepnash,{network}", "-n", 3)


@pytest.mark.parametrize(
    ("weight", "what"), [(np.nan, "its weights are not all finite"), (1e38, "network is damaged")]
)
@pytest.mark.parametrize("more", [(), ("--logprob",)])
def test_a_damaged_network_is_refused(
    tmp_path: pathlib.Path, weight: float, what: str, more: tuple[str, ...]
) -> None:
    """Weights that are no numbers, and weights by which a policy is no number."""
    network, game = tmp_path / "net.safetensors", Game("mini")
    weights = build("plain", game, 1).state_dict()
    tensors = {
        f"{part}/{name}": np.full_like(w.numpy(), weight)
        for part in ("online", "target")
        for name, w in weights.items()
    }
    about = {"game": game.name, "rules": game.rules, "net": "plain"}
    save_checkpoint(network, tensors, {**about, "step": 7, "episodes": 0, "batch": 4})
    done = run("deploy-gen", "--game", "mini", "--from", network, "-n", 5, *more)
    assert (done.status, done.out) == (1, "")
    assert what in done.error_line


def test_setups_like_those_of_a_file(people: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stratkit.setups.model.STEPS", 60)
    made = make("mini", "--from", f"model:{people}", "-n", 200)
    assert sum(line[10] == "E" for line in made) > 40  # as in all of the file; uniform: 17
    assert len(set(made)) > 20  # and others than those of the file
    assert make("mini", "--from", f"model:{people}", "-n", 50) == made[:50]
    rows = make("mini", "--from", f"model:{people}", "-n", 3, "--json", "--logprob")
    assert json.loads(rows[-1])["entropy"] < 16.1
    fixed = make("mini", "--from", f"model:{people}", "-n", 5, "--fix", "M=F2", "--mirror")
    assert all(line[11] == "M" for line in fixed)


def test_pipes(tmp_path: pathlib.Path) -> None:
    """deploy-gen | selfplay --setups -, and | fenfs stats -."""
    maker = ["--game", "mini", "-n", 8, "--fix", "M=A1", "--seed", 1]
    for other in (
        ("selfplay", "--game", "mini", "-n", 4, "--setups", "-", "-o", tmp_path / "games.eps"),
        ("fenfs", "stats", "--json", "-"),
    ):
        with subprocess.Popen(command_line("deploy-gen", *maker), stdout=subprocess.PIPE) as first:
            done = subprocess.run(
                command_line(*other), stdin=first.stdout, capture_output=True, check=False
            )
        assert (first.returncode, done.returncode) == (0, 0), done.stderr
    told = json.loads(done.stdout)["inputs"]["setups"]["mini"]
    assert told["setups"] == 8 and told["figures"]["flag on the back rank"] == 1
    with (tmp_path / "games.eps").open("rb") as stream:
        reader = EpisodeReader(stream, "games.eps")
        games = list(reader)
    assert len(games) == 4
    assert all(game.actions[0] == game.actions[8] == 0 for game in games)  # both flags in a corner


@pytest.mark.parametrize(
    ("arguments", "status", "what"),
    [
        (("--game", "clasic", "-n", 1), 2, "did you mean 'classic'"),
        (("--game", "mini"), 2, "-n"),
        (("--game", "kuhn", "-n", 1), 1, "'kuhn' is no variant of Stratego"),
        (("--game", "mini", "-n", 1, "--from", "unifrom"), 2, "did you mean 'uniform'?"),
        (("--game", "mini", "-n", 1, "--from", "modle:x"), 2, "did you mean 'model:'?"),
        (("--game", "mini", "-n", 1, "--from", "nothing"), 1, "no such file"),
        (("--game", "mini", "-n", 1, "--from", "search,x"), 2, "red's and blue's: -n is even"),
        (("--game", "mini", "-n", 2, "--from", "search,x", "--mirror"), 2, "no --mirror"),
        (
            ("--game", "mini", "-n", 2, "--from", "search,candidates=0,x"),
            2,
            "a whole number from 1",
        ),
        (("--game", "mini", "-n", 2, "--from", "search,games=4"), 2, "needs a SPEC"),
        (("--game", "mini", "-n", 2, "--from", "search,heuristic"), 2, "a book needs a network"),
        (("--game", "mini", "-n", 2, "--from", "search,search=mmd,x"), 2, "a book needs a network"),
        (("--game", "mini", "-n", 2, "--from", "search,candidate=4,x"), 2, "option 'candidate'"),
        (("--game", "mini", "-n", 1, "--from", "heuristc"), 1, "did you mean 'heuristic'?"),
        (("--game", "nano", "-n", 2, "--from", "number:1"), 1, "there is only 1 setup, not 2"),
        (("--game", "mini", "-n", 1, "--from", "/dev/null"), 1, "/dev/null: holds no setups"),
        (("--game", "mini", "-n", 1, "--from", "model:/dev/null"), 1, "/dev/null: holds no setups"),
        (("--game", "mini", "-n", 1, "--from", "model:x"), 1, "x: No such file"),
        (("--game", "mini", "-n", 1, "-o", ""), 1, "'': No such file or directory"),
        (("--game", "mini", "-n", "x"), 2, "-n must be a whole number from 0 to "),
        (("--game", "mini", "-n", 1, "-o", "/dev/full"), 1, "No space left"),
        (("--game", "mini", "-n", 1, "--once"), 2, "--once is for files of setups: 'uniform'"),
        (("--game", "mini", "-n", 1, "--fix", "M=G1"), 2, "--fix: setups of mini have the squares"),
        (("--game", "mini", "-n", 1, "--forbid", "F=A1"), 2, "--forbid: mini has no piece F"),
        (("--game", "mini", "-n", 1, "--forbid", "M=A1..F2"), 1, "no setup meets all of --fix and"),
        (("--game", "mini", "--from", "number:1..x"), 2, "number: needs N, N..M or -"),
        (("--game", "mini", "--from", "number:2..1"), 2, "N..M goes upwards"),
        (("--game", "nano", "--from", "number:0..6"), 1, "have the numbers 0 to 5: '6'"),
        (("--game", "nano", "--from", "number:0", "--mirror"), 2, "a number says all of a setup"),
        (("--game", "nano", "--from", "number:0", "--fix", "M=A1"), 2, "a number says all"),
        (("--game", "nano", "--from", "number:0", "--logprob"), 2, "numbers have no probabilities"),
        (("--game", "nano", "-n", 1, "--from", "heuristic", "--logprob"), 2, "no probabilities"),
        (
            ("--game", "nano", "-n", 1, "--from", "heuristic", "--logprob", "--mirror"),
            2,
            "not with",
        ),
    ],
)
def test_one_line_says_what_is_wrong(
    arguments: tuple[object, ...],
    status: int,
    what: str,
    tmp_path: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    done = here("deploy-gen", *arguments)
    assert done.status == status
    assert done.error_line.startswith("deploy-gen: ") and what in done.error_line
    assert not os.listdir(tmp_path)


def test_faulty_lines_are_named(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x").write_text("AKBAADACLMDE\nAKBAADACLMDF\n")
    done = here("deploy-gen", "--game", "mini", "-n", 1, "--from", tmp_path / "x")
    assert done.status == 1 and "x: line 2: " in done.error_line
    done = here("deploy-gen", "--game", "mini", "-n", 1, "--from", tmp_path / "x", "--logprob")
    assert done.status == 1
    (tmp_path / "x").write_text("AKBAADACLMDE\n")
    done = here("deploy-gen", "--game", "mini", "-n", 1, "--from", tmp_path / "x", "--logprob")
    assert done.status == 2 and "the lines of a file have no probabilities" in done.error_line
    done = here("deploy-gen", "--game", "mini", "-n", 1, "--from", tmp_path / "x", "--fix", "M=A1")
    assert done.status == 1 and "x: no setup of the file meets all of" in done.error_line
    done = run("deploy-gen", "--game", "mini", "-n", 1, "--from", "-")
    assert done.status == 1 and "standard input: holds no setups" in done.error_line


def test_setups_of_a_name(tmp_path: pathlib.Path) -> None:
    """FILE#NAME is all lines of this name, wherever setups are read."""
    path = tmp_path / "my.setups"
    path.write_text("MCL a\nCLM b\nLMC a\n")
    done = run("deploy-gen", "--game", "nano", "--once", "--from", f"{path}#a")
    assert (done.status, sorted(done.out.split())) == (0, ["LMC", "MCL"])
    done = run("selfplay", "--game", "nano", "-n", 1, "--setups", f"{path}#a", "--seed", 1)
    assert done.status == 0
    done = run("selfplay", "--game", "nano", "-n", 1, "--setups", f"{path}#b")
    assert "every game needs two setups, red's and blue's, but there are 1" in done.error_line
    done = run("deploy-gen", "--game", "nano", "-n", 1, "--from", f"{path}#c")
    assert done.status == 1 and done.error_line.endswith(
        "no setup is called 'c'; there are 'a', 'b'"
    )


@pytest.mark.parametrize("game", ["barrage", "mini"])
def test_setups_that_are_offered_guard_the_flag(game: str) -> None:
    """Most uniform setups leave a side of the flag without a bomb, and a third have it in front."""
    source = good_setups(Game(game), 1)
    assert (source.draw(3, 2) == source.draw(0, 5)[3:]).all()
    setups = SetupFigures(variant(game))
    setups.add(source.draw(0, 64))
    figures = setups.figures()
    assert figures["no bomb beside the flag"] < 0.4 and figures["flag on the back rank"] > 0.9
