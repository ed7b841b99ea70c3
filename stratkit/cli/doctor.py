"""`stratkit doctor`: what is installed, whether it works, and what to do about what is missing."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stratkit import __version__
from stratkit.errors import one_line
from stratkit.models.shipped import SHIPPED

# What stratkit cannot do without; and what else packages are for.
NEEDED = ("cffi", "click", "msgspec", "numpy", "safetensors", "tqdm", "zstandard")
EXTRAS = {
    "matplotlib": "pictures as files",
    "pettingzoo": "games as PettingZoo's environments",
    "tensorboard": "train --tensorboard",
}
UNIFORM_OF_KUHN = 11 / 24  # how exploitable uniform play of Kuhn poker is


@dataclass(frozen=True)
class Finding:
    """What was found about a `subject`, and what to do. `broken`: something is wrong that should
    work; otherwise a remedy is only for those who want more."""

    subject: str
    said: str
    remedy: str | None = None
    broken: bool = False

    def text(self) -> str:
        """One line, and one for the remedy."""
        line = f"{self.subject:<12}{self.said}"
        return line if self.remedy is None else f"{line}\n{'':<12}-> {self.remedy}"


def examine(tools: Iterable[str]) -> Iterator[Finding]:
    """All findings; `tools` are the names of the commands."""
    folder = Path(__file__).parents[1]
    yield Finding("stratkit", f"{__version__}, {_megabytes(folder)} MB in {folder}")
    yield Finding("python", f"{sys.version.split()[0]}, {sys.executable}")
    yield from _packages()
    yield _engine()
    yield _machine()
    torch = list(_torch())
    yield from torch
    yield from _players()
    for name, use in EXTRAS.items():
        yield _extra(name, use)
    yield from _commands(tools)


def _packages() -> Iterator[Finding]:
    found = {name: _version(name) for name in NEEDED}
    missing = [name for name, version in found.items() if version is None]
    have = ", ".join(f"{name} {version}" for name, version in found.items() if version)
    yield Finding("packages", have)
    if missing:
        names = " ".join(missing)
        yield Finding("packages", f"missing: {names}", f"pip install {names}", broken=True)


def _engine() -> Finding:
    """Whether the C engine is there and knows how Kuhn poker is played."""
    try:
        from stratkit.engine import Game, Tree
        from stratkit.solve.exploitability import evaluate

        tree = Tree(Game("kuhn"))
        found = evaluate(tree, tree.uniform()).exploitability
    except Exception as error:  # whatever a broken installation raises
        return Finding("engine", one_line(error), "pip install stratkit again (gcc)", broken=True)
    if abs(found - UNIFORM_OF_KUHN) > 1e-12:
        said = f"Kuhn poker comes out as {found}, not {UNIFORM_OF_KUHN}"
        return Finding("engine", said, "make test tells what is wrong", broken=True)
    return Finding("engine", "works: Kuhn poker is solved as it should be")


def _machine() -> Finding:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    free = shutil.disk_usage(".").free / 2**30
    said = f"{cores} cores for this process, {memory:.0f} GiB of memory, {free:.0f} GiB free here"
    return Finding("machine", said)


def _torch() -> Iterator[Finding]:
    """torch, and the GPU as torch sees it; the only reason to import torch."""
    try:
        import torch
    except ModuleNotFoundError:
        use = "missing: networks do not play, and nothing learns"
        yield Finding("torch", use, "pip install torch (README.md has a smaller one, for CPUs)")
        return
    except Exception as error:  # a library that it cannot load
        yield Finding("torch", one_line(error), "pip install torch again", broken=True)
        return
    size = _megabytes(Path(torch.__file__).parent)
    yield Finding("torch", f"{torch.__version__}, {size} MB, {torch.get_num_threads()} threads")
    if not torch.cuda.is_available():
        kind = "none that torch can use" if torch.version.cuda else "none: this torch is for CPUs"
        yield Finding("GPU", kind)
        return
    for number in range(torch.cuda.device_count()):
        is_ = torch.cuda.get_device_properties(number)
        said = f"{is_.name}, {is_.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}"
        try:
            ones = torch.ones(64, 64, device=f"cuda:{number}")
            sound = float((ones @ ones).sum()) == 64.0**3
        except RuntimeError as error:
            sound, said = False, f"{said}: {one_line(error)}"
        what = None if sound else "it does not compute: see to its driver, or use --device cpu"
        yield Finding("GPU", said, what, broken=not sound)


def _players() -> Iterator[Finding]:
    """The networks that come with stratkit: whether their files are whole."""
    for name in SHIPPED:
        try:
            from stratkit.models.open_model import open_model

            model = open_model(name)
        except Exception as error:
            yield Finding("players", f"{name}: {error}", "install stratkit again", broken=True)
            continue
        size = os.path.getsize(model.file) / 2**20
        about = f"{model.game}, step {model.step}, {size:.1f} MB, sound"
        yield Finding("players", f"{name}: {about}")


def _extra(name: str, use: str) -> Finding:
    version = _version(name)
    if version is None:
        return Finding(name, f"missing: for {use}", f"pip install {name}")
    return Finding(name, version)


def _commands(tools: Iterable[str]) -> Iterator[Finding]:
    """Whether the PATH leads to our commands: some have names that others have, too."""
    ours, absent = 0, []
    for name in tools:
        found = shutil.which(name)
        if found is None:
            absent.append(name)
        elif _is_ours(found):
            ours += 1
        else:
            said = f"{name} is another program: {found}"
            yield Finding("commands", said, f"stratkit {name} starts ours")
    if absent:
        said = f"not on the PATH: {' '.join(absent)}"
        yield Finding("commands", said, f"stratkit NAME starts them: stratkit {absent[0]}")
    if ours:
        yield Finding("commands", f"{ours} on the PATH")


def _is_ours(path: str) -> bool:
    try:
        with open(path, "rb") as stream:
            return b"stratkit.cli" in stream.read(2000)
    except OSError:  # a program may be executable and not readable; ours is a script
        return False


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _megabytes(folder: Path) -> int:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return round(sum(path.stat().st_size for path in files) / 2**20)
