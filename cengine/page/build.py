"""Builds the page's module: the engine's Stratego and the network as WebAssembly, by clang and lld
(Debian's clang-14 and lld-14). Equal sources and an equal compiler give equal bytes.

    cengine/page/build.py stratkit/humans/engine.wasm
"""

import pathlib
import shutil
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
ENGINE = FOLDER.parent
COMPILER, VERSION = "clang-14", "14.0.6"  # another one may give other bytes
STRATEGO = [
    *("deployment", "features", "fromto", "more_squares", "movement", "observation", "planes"),
    *("play", "position", "residual", "rules_text", "sample", "stratego", "stratego_api"),
    *("stratego_beliefs", "two_squares", "variants", "worlds"),
]
FLAGS = [
    *("--target=wasm32", "-std=c11", "-Os", "-DNDEBUG", "-ffp-contract=off"),
    *("-ffreestanding", "-fno-builtin", "-nostdlib", "-nostdlibinc"),
    *("-ffunction-sections", "-fvisibility=hidden", "-Wl,--no-entry", "-Wl,--strip-all"),
    *("-Wl,-z,stack-size=262144", "-Wall", "-Wextra", "-Wno-unused-parameter"),
]


def build(out: pathlib.Path) -> None:
    """Writes the module. `CalledProcessError`: the compiler has said why not."""
    sources = [ENGINE / f"{name}.c" for name in STRATEGO] + sorted(FOLDER.glob("*.c"))
    files = [str(path.relative_to(ENGINE)) for path in sources]
    include = ["-I.", "-Ipage", "-isystem", "page/libc"]
    command = [COMPILER, *FLAGS, *include, *files, "-o", str(out.resolve())]
    subprocess.run(command, check=True, cwd=ENGINE)
    out.chmod(0o644)  # it is no program


def is_possible() -> bool:
    """Whether the compiler is there, with its linker."""
    if not all(map(shutil.which, (COMPILER, "wasm-ld-14"))):
        return False
    return VERSION in subprocess.check_output([COMPILER, "--version"], text=True)


if __name__ == "__main__":
    build(pathlib.Path(sys.argv[1]))
