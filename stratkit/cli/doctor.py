"""`stratkit doctor`: what is installed, whether it works, and what to do about what is missing."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from stratkit.cli.tool import INSTALL_TORCH
from stratkit.errors import InputError, one_line
from stratkit.models.shipped import SHIPPED
from stratkit.version import __version__

# What stratkit cannot do without; and what else packages are for.
NEEDED = ("cffi", "click", "msgspec", "numpy", "safetensors", "tqdm", "zstandard")
EXTRAS = {
    "matplotlib": "pictures as files",
    "pettingzoo": "games as PettingZoo's environments",
    "tensorboard": "train --tensorboard",
}
UNIFORM_OF_KUHN = 11 / 24  # how exploitable uniform play of Kuhn poker is


@dataclass(frozen=True)
class Diagnosis:
    """What was found about one subject.

    subject   what was looked at
    state     how it is
    remedy    what to do about it; of what is not `broken` it is only for those who want more
    broken    whether something is wrong that should work
    """

    subject: str
    state: str
    remedy: str | None = None
    broken: bool = False

    def text(self) -> str:
        """One line, and one for the remedy."""
        line = f"{self.subject:<12}{self.state}"
        return line if self.remedy is None else f"{line}\n{'':<12}-> {self.remedy}"


def examine(tools: Iterable[str]) -> Iterator[Diagnosis]:
    """All findings; `tools` are the names of the commands."""
    folder = Path(__file__).parents[1]
    yield Diagnosis("stratkit", f"{__version__}, {_megabytes(folder)} MB in {folder}")
    yield Diagnosis("python", f"{sys.version.split()[0]}, {sys.executable}")
    yield from _packages()
    engine = _engine()
    yield engine
    yield _machine()
    torch = list(_torch())
    yield from torch
    if not engine.broken:  # without which nothing computes
        yield _backends(not any(found.broken for found in torch))
    yield from _players()
    for name, use in EXTRAS.items():
        yield _extra(name, use)
    yield from _commands(tools)


def _packages() -> Iterator[Diagnosis]:
    versions = {name: _version(name) for name in NEEDED}
    missing = [name for name, version in versions.items() if version is None]
    have = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    yield Diagnosis("packages", have)
    if missing:
        names = " ".join(missing)
        yield Diagnosis("packages", f"missing: {names}", f"pip install {names}", broken=True)


def _engine() -> Diagnosis:
    """Whether the C engine is there and knows how Kuhn poker is played."""
    try:
        from stratkit.engine import Game, Tree
        from stratkit.solve.exploitability import evaluate

        tree = Tree(Game("kuhn"))
        exploitability = evaluate(tree, tree.uniform()).exploitability
    except Exception as error:  # whatever a broken installation raises
        return Diagnosis("engine", one_line(error), "pip install stratkit again (gcc)", broken=True)
    if abs(exploitability - UNIFORM_OF_KUHN) > 1e-12:
        state = f"Kuhn poker comes out as {exploitability}, not {UNIFORM_OF_KUHN}"
        return Diagnosis("engine", state, "make test tells what is wrong", broken=True)
    return Diagnosis("engine", "works: Kuhn poker is solved as it should be")


def _machine() -> Diagnosis:
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = len(os.sched_getaffinity(0))
    free = shutil.disk_usage(".").free / 2**30
    state = f"{cores} cores for this process, {memory:.0f} GiB of memory, {free:.0f} GiB free here"
    return Diagnosis("machine", state)


def _torch() -> Iterator[Diagnosis]:
    """torch, and the GPU as torch sees it; the only reason to import torch."""
    try:
        import torch
    except ModuleNotFoundError:
        yield Diagnosis(
            "torch",
            "missing: nothing learns",
            INSTALL_TORCH,
        )
        return
    except Exception as error:  # a library that it cannot load
        yield Diagnosis("torch", one_line(error), "pip install torch again", broken=True)
        return
    size = _megabytes(Path(torch.__file__).parent)
    yield Diagnosis("torch", f"{torch.__version__}, {size} MB, {torch.get_num_threads()} threads")
    if not torch.cuda.is_available():
        kind = "none that torch can use" if torch.version.cuda else "none: this torch is for CPUs"
        yield Diagnosis("GPU", kind)
        return
    for number in range(torch.cuda.device_count()):
        is_ = torch.cuda.get_device_properties(number)
        state = f"{is_.name}, {is_.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}"
        try:
            ones = torch.ones(64, 64, device=f"cuda:{number}")
            sound = float((ones @ ones).sum()) == 64.0**3
        except RuntimeError as error:
            sound, state = False, f"{state}: {one_line(error)}"
        what = None if sound else "it does not compute: see to its driver, or use --device cpu"
        yield Diagnosis("GPU", state, what, broken=not sound)


def _backends(sound: bool) -> Diagnosis:
    """What computes networks that play on a CPU. `sound`: torch works, if it is there."""
    from stratkit.engine.residual import LANES, residual_lanes
    from stratkit.nets.choice import ASKED, asked_backend
    from stratkit.nets.packages import ONNX, has_onnx, has_torch, is_there

    fast = residual_lanes(max(LANES)) > 1
    there = ["the engine, for fromto, graph and mlp"]
    if has_onnx():
        use = "fromto with memory" if fast else "fromto, which the engine computes slowly here"
        there.append(f"onnxruntime {_version('onnxruntime')}, for {use}")
    if has_torch() and sound:
        there.append("torch, for all others")
    missing = [name for name in ONNX if not is_there(name)]
    use = "reads and writes files .onnx"
    use += "" if fast else ", and plays fromto faster on this processor, without AVX2"
    remedy = f"pip install {' '.join(missing)}: {use}"
    try:
        asked = asked_backend()
    except InputError as error:
        return Diagnosis("backends", str(error), f"unset {ASKED}", broken=True)
    state = "; ".join(there)
    state += f"; {ASKED} asks for {asked}" if asked else ""
    return Diagnosis("backends", state, remedy if missing else None)


def _players() -> Iterator[Diagnosis]:
    """The networks that come with stratkit: whether their files are whole."""
    for name in SHIPPED:
        try:
            from stratkit.models.open_model import open_model

            model = open_model(name)
        except Exception as error:
            yield Diagnosis("players", f"{name}: {error}", "install stratkit again", broken=True)
            continue
        size = os.path.getsize(model.file) / 2**20
        about = f"{model.game}, step {model.step}, {size:.1f} MB, sound"
        yield Diagnosis("players", f"{name}: {about}")


def _extra(name: str, use: str) -> Diagnosis:
    version = _version(name)
    if version is None:
        return Diagnosis(name, f"missing: for {use}", f"pip install {name}")
    return Diagnosis(name, version)


def _commands(tools: Iterable[str]) -> Iterator[Diagnosis]:
    """Whether the PATH leads to our commands: some have names that others have, too."""
    ours, absent = 0, []
    for name in tools:
        path = shutil.which(name)
        if path is None:
            absent.append(name)
        elif _is_ours(path):
            ours += 1
        else:
            state = f"{name} is another program: {path}"
            yield Diagnosis("commands", state, f"stratkit {name} starts ours")
    if absent:
        state = f"not on the PATH: {' '.join(absent)}"
        yield Diagnosis("commands", state, f"stratkit NAME starts them: stratkit {absent[0]}")
    if ours:
        yield Diagnosis("commands", f"{ours} on the PATH")


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
