"""An algorithm of the user's own, examples/policy_gradient.py: it learns, resumes, and is imported
only where the user has named it."""

from __future__ import annotations

import pathlib

import pytest

from learn.games import episodes, write
from running import ROOT, run
from stratkit.storage.checkpoints import checkpoint_path, load_checkpoint

NAME = "py:policy_gradient:PolicyGradient"
EXAMPLE = ROOT / "examples" / "policy_gradient.py"
NEEDED = f"this algorithm runs code of its own: name it by --algorithm {NAME}"
SETTINGS = ("--out", "run", "--batch", 4, "--net", "plain:4x1", "--seed", 1)


@pytest.fixture
def example(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A folder with the module, which leaves a file when it is imported, and nano.eps."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "nano.eps", *episodes("nano", 24))
    (tmp_path / "policy_gradient.py").write_text(
        EXAMPLE.read_text() + "\nopen('imported', 'a').close()\n"
    )
    return tmp_path


def test_the_example_learns_and_resumes(example: pathlib.Path) -> None:
    """Three steps and three more are six."""
    with open("policy_gradient.py", "a") as file:
        file.write("print('hello')\n")
    train = ("train", "nano.eps", *SETTINGS, "--algorithm", NAME, "--bonus", 0.5)
    done = run(*train, "--steps", 3)
    assert done.status == 0 and not done.out and (example / "imported").exists()
    assert run("match", "run", "random", "-n", 2, "--game", "nano", "-o", "x.jsonl").status == 0
    (example / "imported").unlink()
    done = run("train", "nano.eps", "--out", "run", "--resume", "--steps", 6)
    assert done.status == 1 and done.error_line.endswith(NEEDED)
    done = run("finetune", "run", "nano.eps", "--out", "tuned")
    assert done.status == 1 and done.error_line.endswith(NEEDED)
    (example / "x.toml").write_text(f'algorithm = "{NAME}"')  # a file names no code either
    done = run("train", "nano.eps", "--out", "other", "--config", "x.toml")
    assert done.status == 1 and done.error_line == f"train: x.toml: {NEEDED}"
    assert not (example / "imported").exists()

    resume = ("train", "nano.eps", "--out", "run", "--resume", "--steps", 6)
    assert run(*resume, "--algorithm", NAME).status == 0
    straight = [*train, "--steps", 6]
    straight[straight.index("run")] = "straight"
    assert run(*straight).status == 0
    (tensors, metadata), (wanted, _) = (
        load_checkpoint(checkpoint_path(folder, 6)) for folder in ("run", "straight")
    )
    assert metadata["algorithm"] == NAME and metadata["config"]["bonus"] == 0.5
    assert metadata["networks"] == ["online"] and tensors.keys() == wanted.keys()
    assert all((tensors[name] == wanted[name]).all() for name in wanted)


def test_its_hyper_parameters_are_options_and_keys_of_a_file(example: pathlib.Path) -> None:
    train = ("train", "nano.eps", *SETTINGS, "--algorithm", NAME, "--steps", 1)
    said = run(*train, "--help").out
    assert "--bonus X" in said and "(default: 0.01)" in said and "--eta" not in said
    (example / "x.toml").write_text("bonus = 0.25\nlr = 1e-2")
    assert run(*train, "--config", "x.toml", "--lr", 0.5).status == 0
    _, metadata = load_checkpoint(checkpoint_path("run", 1))
    assert (metadata["config"]["bonus"], metadata["config"]["lr"]) == (0.25, 0.5)


@pytest.mark.parametrize(
    ("options", "status", "what"),
    [
        (("--bonus", "x"), 2, "--bonus must be a number: 'x'"),
        (("--b1", "-1"), 2, "--b1 must be a number from 0, below 1: '-1'"),
        (("--b2", "2"), 2, "--b2 must be a number from 0, below 1: '2'"),
        (("--bonsu", "1"), 2, "no such option: --bonsu (did you mean '--bonus'?)"),
        (("--eta", "1"), 2, "no such option: --eta"),
        (("--config", "x.toml"), 1, "x.toml: unknown setting 'bonsu' (did you mean 'bonus'?)"),
    ],
)
def test_bad_hyper_parameters(
    example: pathlib.Path, options: tuple[str, str], status: int, what: str
) -> None:
    (example / "x.toml").write_text("bonsu = 1.0")
    done = run("train", "nano.eps", *SETTINGS, "--algorithm", NAME, *options)
    assert done.status == status and done.error_line.startswith(f"train: {what}"), done.err
    assert not (example / "run").exists()


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("import nothing_like_it", "module own: ModuleNotFoundError: No module named"),
        ("class Other: pass", "no class Own in own: choose one of Other: "),
        ("class Own: pass", "no subclass of stratkit.learn.algorithm.Algorithm"),
        ("class Own(PolicyGradient): pass", ""),
        (
            "class Own(Algorithm):\n    config: Config\n    loss_metrics = ()\n"
            "    def forward(self, views, outputs, step): ...\n"
            "    def targets(self, batch, outputs, forward, counts): ...",
            "the class has no after_step, loss, view_metrics",
        ),
        ("class Own(PolicyGradient):\n    config: Cfg", "config: NameError: name 'Cfg' is not"),
        ("class Own(PolicyGradient):\n    config: dict", "config: no dataclass that extends"),
        (
            "class Plain(Config):\n    more: int = 1\n"
            "class Own(PolicyGradient):\n    config: Plain",
            "config: Plain lacks @dataclass(frozen=True)",
        ),
        ("@dataclass\nclass Own(Config): pass", "module own: TypeError: cannot inherit"),
        (
            "@dataclass(frozen=True)\nclass More(Config):\n    batch: int = 1\n"
            "class Own(PolicyGradient):\n    config: More",
            "config: batch is a setting of every run",
        ),
        (
            "@dataclass(frozen=True)\nclass More(Config):\n    more: bool = True\n"
            "class Own(PolicyGradient):\n    config: More",
            "config: more needs a default: a whole number",
        ),
        (
            "class Strict(Config):\n    def __post_init__(self):\n        raise ValueError('no')\n"
            "class Own(PolicyGradient):\n    config: dataclass(frozen=True)(Strict)",
            "ValueError: no",
        ),
    ],
)
def test_a_class_that_is_no_algorithm(example: pathlib.Path, text: str, what: str) -> None:
    later, names = (
        "from __future__ import annotations",
        "Algorithm, Config, PolicyGradient, dataclass",
    )
    (example / "own.py").write_text(f"{later}\nfrom policy_gradient import {names}\n{text}")
    done = run("train", "nano.eps", *SETTINGS, "--algorithm", "py:own:Own", "--steps", 1)
    if what:
        status = 2 if what.startswith("ValueError") else 1
        assert done.status == status and done.error_line.startswith(f"train: {what}"), done.err
        assert not (example / "run").exists()
    else:
        assert done.status == 0, done.err


def test_what_is_no_name(example: pathlib.Path) -> None:
    for wrong in ("py:x", "py::Y", "py:x:y.z", "py:a b:C"):
        done = run("train", "nano.eps", *SETTINGS, "--algorithm", wrong)
        assert done.status == 1 and "is named py:MODULE:CLASS" in done.error_line
