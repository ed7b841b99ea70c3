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
SOURCES = sorted(FOLDER.glob("*.c"))
HEADERS = sorted(FOLDER.glob("*.h"))


def source_hash() -> str:
    """SHA-256 of the names and contents of all C files; by it Python notices a stale build."""
    digest = hashlib.sha256()
    for path in SOURCES + HEADERS:
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def declarations() -> str:
    """stratkit.h without its comments: it holds nothing but declarations."""
    return re.sub(r"/\*.*?\*/", "", (FOLDER / "stratkit.h").read_text(), flags=re.DOTALL)


def relative(path: pathlib.Path) -> str:
    """setuptools wants sources relative to the project's root."""
    return str(path.relative_to(FOLDER.parent))


ffibuilder = cffi.FFI()
ffibuilder.cdef(declarations())
ffibuilder.set_source(
    "stratkit.engine._engine",
    '#include <stddef.h>\n#include <stdint.h>\n#include "stratkit.h"\n',
    sources=[relative(path) for path in SOURCES],
    depends=[relative(path) for path in HEADERS],
    include_dirs=["cengine"],
    define_macros=[("SK_SOURCE_HASH", f'"{source_hash()}"')],
    extra_compile_args=[
        "-std=c11",
        "-O3",
        "-flto",  # a ply goes through many files; together they are a third faster
        "-Wall",
        "-Wextra",
        "-Werror=implicit-function-declaration",
        "-Werror=incompatible-pointer-types",
        *shlex.split(os.environ.get("STRATKIT_CFLAGS", "")),
    ],
    extra_link_args=["-O3", "-flto", "-pthread", *shlex.split(os.environ.get("STRATKIT_CFLAGS", ""))],
)

if __name__ == "__main__":
    ffibuilder.compile(verbose=True)
