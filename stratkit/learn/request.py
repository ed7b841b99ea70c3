"""What `train` and `finetune` are asked for.

This module imports neither torch nor numpy: the command line is checked before they are loaded.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stratkit.errors import InputError
from stratkit.learn.config import RNAD
from stratkit.learn.settings import check_algorithm, resolve
from stratkit.netnames import check_net

STDIN = "-"


@dataclass(frozen=True)
class Request:
    """What `train` is asked for.

    inputs: `-`, files, folders. run: the folder of the run. steps: stop when the run has so many.
    net, algorithm: None leaves them to the checkpoint, or to the default. start: a checkpoint or
    RUN whose learning goes on in a new run. settings: of the configuration file; options: of the
    command line. timeout: the seconds that one of several ranks may wait for episodes. device: cpu
    or cuda.
    """

    inputs: Sequence[str]
    run: str
    steps: int | None = None
    net: str | None = None
    algorithm: str | None = None
    start: str | None = None
    settings: Mapping[str, Any] | None = None
    options: Mapping[str, Any] | None = None
    game: str | None = None
    resume: bool = False
    strict: bool = False
    consume: bool = False
    wait: bool = True
    timeout: float = 600.0
    device: str = "cpu"

    def check(self) -> None:
        """`InputError`, `OSError`: what can be known to be wrong before a folder is made."""
        if not self.run:
            raise InputError("the run needs a name that is not empty")
        if self.net:
            check_net(self.net)
        if self.algorithm:
            check_algorithm(self.algorithm)
        if not (self.resume or self.start):
            asked = self.settings or {}, self.options or {}
            resolve(self.net or "", {}, *asked, self.algorithm or RNAD)
        for path in self.inputs:
            if path != STDIN:
                os.stat(path)
            if several_ranks() and not os.path.isdir(path):
                what = "several ranks need a folder, of which each takes its part"
                raise InputError(what, file=path)


@dataclass
class Outcome:
    """How a run ended.

    step: the last one. checkpoint: of this step; None: stopped before there was a game. stopped: by
    a signal. error: of the inputs, after which nothing was read. truncated, left_over: what of the
    input was not learned from. rank: which of several learners says this; number 0 has written the
    checkpoint.
    """

    step: int
    episodes: int
    checkpoint: Path | None
    stopped: bool
    error: Exception | None = None
    truncated: Sequence[str] = ()
    left_over: int = 0
    rank: int = 0


def several_ranks() -> bool:
    """Whether the environment, torchrun's, says that this is one of several ranks."""
    return int(os.environ.get("WORLD_SIZE", "1")) > 1
