"""The C engine's sources: what the library exports, names that files share, the list of files, the
format."""

from __future__ import annotations

import itertools
import pathlib
import re
import runpy
import subprocess
import sys

from running import ROOT
from stratkit.engine import _engine

# A function that is not static begins its line, and its name is followed by its parameters.
DEFINITION = re.compile(r"^(?!static|typedef)(?:const )?\w+ \**(\w+)\(", re.M)


def test_the_library_exports_its_init_function_and_nothing_else() -> None:
    command = ["nm", "-D", "--defined-only", _engine.__file__]
    lines = subprocess.check_output(command, text=True).splitlines()
    names = [line.split()[-1] for line in lines]
    # A toolchain and its sanitizers add names of their own, which begin with an underscore.
    assert [name for name in names if not name.startswith("_")] == ["PyInit__engine"]


def test_functions_that_files_share_have_a_prefix() -> None:
    shared = {
        name
        for path in sorted(
            [*(ROOT / "cengine").glob("*.c"), *(ROOT / "cengine/diplomacy").glob("*.c")]
        )
        for name in DEFINITION.findall(path.read_text())
    }
    assert {"sk_batch_open", "stratego_open", "sk_source_hash"} <= shared
    assert [name for name in shared if not name.startswith(("sk_", "stratego_", "dip_"))] == []


def test_the_page_lists_every_file() -> None:
    page = (ROOT / "cengine/README.md").read_text()
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| `")]
    listed = re.findall(r"`([\w.]+)/?`", " ".join(rows))
    # Of these folders the page names the folder.
    folders = [ROOT / "cengine" / name for name in ("bench", "fuzz", "diplomacy/maps")]
    there = [
        path.name
        for path in [
            *folders,
            *(ROOT / "cengine").rglob("*.[ch]"),
            *(ROOT / "cengine").glob("*.py"),
        ]
        if not any(folder in path.parents for folder in folders)
    ]
    assert sorted(listed) == sorted(there)


def test_flags_are_of_files_that_there_are() -> None:
    """Each of one kind: a name that a file no longer has would be passed over in silence."""
    build = runpy.run_path(str(ROOT / "cengine/build_cffi.py"))
    kinds = [build[kind] for kind in ("VECTORS", "SMALL", "SELDOM")]
    named = sorted(itertools.chain(*kinds))
    assert len(named) == len({*named})
    assert {*named} <= {path.stem for path in build["SOURCES"]} | {"_engine"}
    assert build["flags_of"]("build/temp/stratkit.engine._engine.c")[0] == "-Os"
    assert build["flags_of"]("cengine/kuhn.c")[0] == "-O2"
    assert build["flags_of"]("cengine/sample.c") == build["EXTRA_FLAGS"]


def test_the_sources_are_formatted() -> None:
    """By the one version whose opinion counts, that of `make dev`: others differ in details."""
    program = pathlib.Path(sys.executable).with_name("clang-format")
    assert "version 14." in subprocess.check_output([program, "--version"], text=True)
    files = [
        path for at in ("cengine", "tests/engine", "bench") for path in (ROOT / at).rglob("*.[ch]")
    ]
    assert len(files) > 50
    done = subprocess.run(
        [program, "--dry-run", "-Werror", *files],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
