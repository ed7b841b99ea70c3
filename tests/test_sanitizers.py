"""The C engine under sanitizers: its own tests again, and some seconds of fuzzing. The long
forms are `make sanitize` and `make fuzz`."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys

import pytest

from running import PATIENCE, ROOT

CC = os.environ.get("CC", "gcc")
TARGETS = (
    "game_open",
    "batch_start",
    "batch_apply",
    "replay",
    "sample",
    "expand",
    "redeal",
    "adjudicate",
)

OUT = ROOT / "build/fuzz/quick"  # built without optimizations, which takes half the time

# Statistics, and other boards on the same paths: `make sanitize` has them too.
AGAIN = "as_likely or same_views_again and (ultimate or duel or blocked)"

FAULTY_TARGET = """
#include "input.h"
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *five = take_memory(5);
    five[size > 2 && data[0] == 'x' && data[1] == 'y' ? data[2] % 8 : 0] = 1;
    free(five);
    return 0;
}
"""


def execute(*command: object, **environment: str) -> subprocess.CompletedProcess[str]:
    # The suite itself may have been started by make.
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    return subprocess.run(
        [*map(str, command)],
        cwd=ROOT,
        env={**env, "PYTHON": sys.executable, "CC": CC, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module", autouse=True)
def _sanitizers(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Skips all tests where the compiler lacks sanitizers."""
    source = tmp_path_factory.mktemp("probe") / "empty.c"
    source.write_text("int main(void) { return 0; }\n")
    flags = "-fsanitize=address,undefined"
    done = execute(CC, flags, "-o", source.with_suffix(""), source)
    if done.returncode:
        pytest.skip(f"{CC} has no {flags}: {done.stderr.strip().splitlines()[-1]}")


@pytest.mark.parametrize(
    ("kind", "files"),
    [
        ("address", ["batch", "formats", "randomness", "search_trees", "threads", "worlds"]),
        ("thread", ["threads"]),
    ],
)
def test_the_engine_under_a_sanitizer(kind: str, files: list[str]) -> None:
    paths = (f"tests/engine/test_{name}.py" for name in files)
    done = execute(".ci/sanitize", kind, *paths, "-k", f"not ({AGAIN})", LEVEL="-O0")
    if done.returncode == 77:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^[1-9]\d* passed", done.stdout, re.M)


def test_a_compiler_without_sanitizers_is_told_of(tmp_path: pathlib.Path) -> None:
    compiler = tmp_path / "plain-cc"
    compiler.write_text('#!/bin/sh\necho "${1#*=}"\n')  # so answers one that does not find the file
    compiler.chmod(0o755)
    done = execute(".ci/sanitize", "address", CC=str(compiler))
    assert (done.returncode, done.stdout) == (77, "")
    assert done.stderr == f"no address sanitizer here: {compiler} has no libasan.so\n"
    assert execute(".ci/sanitize", "memory").returncode == 2


@pytest.mark.parametrize("target", TARGETS)
def test_a_second_of_fuzzing(target: str) -> None:
    settings = (f"PYTHON={sys.executable}", f"CC={CC}", "FUZZ_SECONDS=1", f"OUT={OUT}", "LEVEL=-O0")
    done = execute("make", "-s", "-C", "cengine/fuzz", f"{target}.fuzz", *settings)
    assert done.returncode == 0, done.stdout + done.stderr
    match = re.search(r"(\d+) files, (\d+) mutations, (\d+) places reached", done.stdout)
    assert match, done.stdout
    files, mutations, places = map(int, match.groups())
    assert files >= 4 and mutations >= 1 and places >= 50  # a busy machine tries few


def test_fuzzing_finds_a_fault_and_keeps_its_input(tmp_path: pathlib.Path) -> None:
    (tmp_path / "faulty.c").write_text(FAULTY_TARGET)
    fuzz = ROOT / "cengine/fuzz"
    flags = ("-fsanitize=address", "-g", f"-I{fuzz}")
    for source, more in (
        (tmp_path / "faulty.c", ("-fsanitize-coverage=trace-pc",)),
        (fuzz / "driver.c", ()),
    ):
        built = execute(CC, *flags, *more, "-c", "-o", tmp_path / f"{source.stem}.o", source)
        assert built.returncode == 0, built.stderr
    program, failure = tmp_path / "program", tmp_path / "failure"
    objects = (tmp_path / "faulty.o", tmp_path / "driver.o")
    assert execute(CC, *flags, "-o", program, *objects).returncode == 0
    (tmp_path / "seed").write_bytes(b"no")
    assert execute(program, tmp_path / "seed").returncode == 0
    done = execute(program, 20, 1, failure, tmp_path / "seed")
    assert done.returncode != 0
    assert "heap-buffer-overflow" in done.stderr and str(failure) in done.stderr
    assert failure.read_bytes()[:2] == b"xy"
    assert "heap-buffer-overflow" in execute(program, failure).stderr
