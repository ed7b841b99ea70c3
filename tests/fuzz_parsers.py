"""Random bytes, led by coverage, for the parsers of parsers.py: `pip install atheris`, then

    python tests/fuzz_parsers.py FOLDER PARSER... [-max_total_time=60 and other words for libFuzzer]

one parser after the other, each in a process of its own. FOLDER keeps what was tried, by parser,
and in `failures` the bytes that made one fail.
"""

from __future__ import annotations

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]


def fuzz(folder: pathlib.Path, name: str, options: list[str]) -> None:
    import atheris  # type: ignore[import-not-found]

    with atheris.instrument_imports(include=["stratkit", "parsers"]):
        import parsers

    def one(data: bytes) -> None:
        parsers.parse(name, data)

    parsers.write_seeds(folder)
    (folder / "failures").mkdir(exist_ok=True)
    limits = ["-timeout=20", "-rss_limit_mb=3000", "-max_len=8192"]
    kept = f"-artifact_prefix={folder}/failures/{name}-"
    atheris.Setup([sys.argv[0], str(folder / name), kept, *limits, *options], one)
    atheris.Fuzz()


if __name__ == "__main__":
    folder, *words = sys.argv[1:]
    options = [word for word in words if word.startswith("-")]
    names = [word for word in words if not word.startswith("-")]
    if len(names) == 1:
        fuzz(pathlib.Path(folder), names[0], options)
    else:
        runs = [[sys.executable, __file__, folder, name, *options] for name in names]
        sys.exit(max(subprocess.call(run) for run in runs))
