"""Tools that train, play and measure agents for Stratego and other games of hidden information.

For libraries and researchers, as stratkit-python(7) promises: `Game`, `Batch` (many games at once),
`Board` (one game of Stratego, in text), `load` (a trained network), `read_episodes`, `read_games`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stratkit.version import __version__ as __version__

if TYPE_CHECKING:
    from stratkit.convert.arrays import read_episodes as read_episodes
    from stratkit.convert.arrays import read_games as read_games
    from stratkit.engine import Batch as Batch
    from stratkit.engine import Game as Game
    from stratkit.engine.stratego import BLUE as BLUE
    from stratkit.engine.stratego import RED as RED
    from stratkit.models.trained_network import load as load
    from stratkit.notation.board import Board as Board
    from stratkit.notation.board import IllegalMove as IllegalMove

# Where each name is. They are imported when they are asked for: `--help` does without numpy.
_MODULES = {
    "BLUE": "engine.stratego",
    "RED": "engine.stratego",
    "Batch": "engine",
    "Board": "notation.board",
    "Game": "engine",
    "IllegalMove": "notation.board",
    "load": "models.trained_network",
    "read_episodes": "convert.arrays",
    "read_games": "convert.arrays",
}
__all__ = [
    "BLUE",
    "RED",
    "Batch",
    "Board",
    "Game",
    "IllegalMove",
    "__version__",
    "load",
    "read_episodes",
    "read_games",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
