"""Builds the C engine as the extension module ``stratkit.engine._engine`` (cffi, API mode).

``STRATKIT_CFLAGS`` adds compiler flags, for those who want ``-march=native`` or a sanitizer.
"""

import hashlib
import os
import pathlib
import re
import shlex

import cffi

FOLDER = pathlib.Path(__file__).resolve().parent
SOURCES = sorted(FOLDER.glob("*.c")) + sorted(FOLDER.glob("diplomacy/*.c"))
HEADERS = sorted(FOLDER.glob("*.h")) + sorted(FOLDER.glob("diplomacy/*.h"))
INTERFACE = ("stratkit.h", "public_beliefs.h")  # in this order: the second uses the first's types


def source_hash() -> str:
    """SHA-256 of the names and contents of all C files; by it Python notices a stale build."""
    digest = hashlib.sha256()
    for path in SOURCES + HEADERS:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def declarations() -> str:
    """The interface without its comments: it holds nothing but declarations."""
    text = "".join((FOLDER / name).read_text() for name in INTERFACE)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


# What a game in Python is called back by; stratkit/engine/python_game.py defines them.
CALLBACKS = """
extern "Python" {
    int32_t sk_python_reset(void *, uint8_t *, uint8_t *, float *);
    int32_t sk_python_apply(void *, uint8_t *, int32_t, int32_t, uint8_t *, float *);
    void sk_python_observe(void *, const uint8_t *, uint8_t *);
    void sk_python_chance(void *, const uint8_t *, const uint8_t *, double *);
    int32_t sk_python_redeal(void *, uint8_t *, uint64_t);
}
"""


def relative(path: pathlib.Path) -> str:
    """setuptools wants sources relative to the project's root."""
    return str(path.relative_to(FOLDER.parent))


EXTRA_FLAGS = shlex.split(os.environ.get("STRATKIT_CFLAGS", ""))
COMPILE_FLAGS = [
    "-std=c11",
    "-O3",
    "-flto=auto",  # a ply goes through many files; compiled as one they are a fifth faster
    "-DNDEBUG",  # assertions are for sanitizers and fuzzers, which take this back
    "-fno-asynchronous-unwind-tables",  # nothing is thrown through it
    "-g0",  # Python's own flags ask for debug information, three quarters of what is installed
    "-fvisibility=hidden",  # Python needs nothing but the module's init function
    "-Wall",
    "-Wextra",
    "-Wno-unused-parameter",  # a game's functions have the arguments that its table asks for
    "-Werror=implicit-function-declaration",
    "-Werror=incompatible-pointer-types",
    *EXTRA_FLAGS,
]
# Names of its functions are for profiles, which ask for a flag such as -g.
# Debian's Python links with -g, by which the library gets tables to unwind it after all.
LINK_FLAGS = ["-O3", "-flto=auto", "-g0", "-fno-asynchronous-unwind-tables", "-pthread"]
LINK_FLAGS += EXTRA_FLAGS or ["-s"]

# Files whose loops the compiler shall turn into vectors. The others take as long without, and are
# smaller. Blocks and heads of networks have their vectors written out; what has none, for old
# processors, takes .85 of the time without the compiler's.
VECTORS = {
    *("dice_cfr", "fromto", "game", "hex", "mlp", "observation", "phantom_ttt", "planes"),
    *("sample", "seen"),
}
# Files that take as long by -O2.
SMALL = {
    *("api", "best_response", "callbacks", "features", "graph", "graph_heads", "kuhn"),
    *("liars_dice", "matrix"),
    *("phantom_response", "phantom_worlds", "phases", "public_tree", "rules_text"),
    *("stratego_api", "stratego_beliefs", "subgame_values", "subgame_walk", "subgames"),
    *("tree_values", "tree_worlds"),
}
# What is seldom done: reading, checking; and cffi's functions, which turn arguments into C's.
SELDOM = {"_engine", "games", "map", "stratego_check", "variants"}


def flags_of(source: str) -> list[str]:
    """A C file's own flags, behind those of all."""
    name = pathlib.Path(source).stem.rpartition(".")[2]
    if name in SELDOM:
        return ["-Os", *EXTRA_FLAGS]
    if name in SMALL:
        return ["-O2", *EXTRA_FLAGS]
    return [*([] if name in VECTORS else ["-fno-tree-vectorize"]), *EXTRA_FLAGS]


ffibuilder = cffi.FFI()
ffibuilder.cdef(declarations() + CALLBACKS)
ffibuilder.set_source(
    "stratkit.engine._engine",
    "#include <stddef.h>\n#include <stdint.h>\n"
    + "".join(f'#include "{name}"\n' for name in INTERFACE),
    sources=[relative(path) for path in SOURCES],
    depends=[relative(path) for path in HEADERS],
    include_dirs=["cengine"],
    define_macros=[("SK_SOURCE_HASH", f'"{source_hash()}"')],
    extra_compile_args=COMPILE_FLAGS,
    extra_link_args=LINK_FLAGS,
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
