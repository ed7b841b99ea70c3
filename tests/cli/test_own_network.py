"""A network of the user's own, examples/linear_net.py: it learns, plays, and is imported only where
the user has named it."""

from __future__ import annotations

import pathlib

import pytest

from learn.games import episodes, write
from running import ROOT, run
from stratkit.storage.checkpoints import list_checkpoints, load_checkpoint

NET = "py:linear_net:LinearNet"
EXAMPLE = ROOT / "examples" / "linear_net.py"
NEEDED = f"this network runs code of its own: allow it by STRATKIT_NETS={NET}: '{NET}'"


def test_the_example_learns_and_plays(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 30
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.eps", *episodes("nano", 12))
    # Shows that the module ran.
    (tmp_path / "linear_net.py").write_text(
        EXAMPLE.read_text() + "\nopen('imported', 'a').write('x')\n"
    )
    settings = ("--out", "run", "--batch", 4, "--rows", 32, "--seed", 1)
    assert run("train", "a.eps", *settings, "--net", NET, "--steps", 2).status == 0
    first, *_, last = (load_checkpoint(path) for _, path in list_checkpoints("run"))
    assert last[1]["net"] == NET and (tmp_path / "imported").exists()
    assert (first[0]["online/heads.weight"] != last[0]["online/heads.weight"]).any()

    # The checkpoint alone runs nothing.
    (tmp_path / "imported").unlink()
    done = run("train", "a.eps", "--out", "run", "--resume")
    assert done.status == 1 and done.error_line == f"train: {NEEDED}"
    match = ("match", "run", "random", "-n", 2, "--game", "nano", "-o")
    done = run(*match, "games.jsonl")
    assert done.status == 1 and done.error_line.endswith(NEEDED)
    assert not (tmp_path / "imported").exists()

    again = run("train", "a.eps", "--out", "run", "--resume", "--net", NET, "--steps", 3)
    assert again.status == 0
    assert run(*match, "other.jsonl", STRATKIT_NETS=f"py:a:B,{NET}").status == 0


def test_errors_of_its_code_are_one_line(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path / "a.eps", *episodes("nano", 4))
    texts = {
        "leaves": ("raise SystemExit(0)", "module leaves: SystemExit: 0"),
        "torn": ("def (", "module torn: SyntaxError: "),
        "unmade": (
            "from stratkit.nets import Network\nclass Net(Network): pass",
            "cannot be made: TypeError: ",
        ),
    }
    for module, (text, what) in texts.items():
        (tmp_path / f"{module}.py").write_text(text)
        done = run("train", path, "--out", "run", "--net", f"py:{module}:Net", "--batch", 4)
        assert done.status == 1 and done.error_line.startswith(f"train: {what}"), done.err


@pytest.mark.parametrize(
    ("net", "what"),
    [
        ("py:pathlib:Path", "no subclass of stratkit.nets.Network"),
        ("py:pathlib:Pth", "no class Pth in pathlib (did you mean 'Path'?)"),
        ("py:no_such_module:Net", "no such module: no_such_module"),
    ],
)
def test_what_is_no_network(tmp_path: pathlib.Path, net: str, what: str) -> None:
    path = write(tmp_path / "a.eps", *episodes("nano", 4))
    done = run("train", path, "--out", tmp_path / "run", "--net", net, "--batch", 4)
    assert done.status == 1 and done.error_line.startswith(f"train: {what}"), done.err
    for wrong in ("py:x", "py::Y", "py:x:y.z", "py:a b:C"):
        done = run("train", path, "--out", tmp_path / "run", "--net", wrong)
        assert done.status == 2 and "is named py:MODULE:CLASS" in done.error_line
