"""Where the pieces of setups stand, as a picture. It needs matplotlib, which is an extra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO, TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from stratkit.engine.stratego import FILES, TYPES, Variant
from stratkit.errors import counted, printable
from stratkit.notation.statistics import SetupFigures, pieces_of
from stratkit.pictures import PNG, new_figure, plain, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACROSS = 3  # maps side by side, where there is nothing to compare
SQUARE = 0.27  # inches


def plot(columns: Sequence[tuple[str, SetupFigures]], stream: IO[bytes], form: str = PNG) -> None:
    """A heat map of each type, as its owner sees the board, in per cent of the setups; of several
    (name, figures), all of one variant, side by side. All maps have one scale.

    Raises `InputError` without matplotlib.
    """
    variant = columns[0][1].variant
    types = pieces_of(variant)
    maps = [(type_, name, _shares(figures, type_)) for type_ in types for name, figures in columns]
    most = max(float(shares.max()) for _, _, shares in maps)
    across = ACROSS if len(columns) == 1 else len(columns)
    down = -(-len(maps) // across)
    wide, high = variant.width * SQUARE + 0.5, variant.ranks * SQUARE + 0.75
    figure = new_figure(across * wide + 0.9, down * high + 0.6)
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    grid = figure.subplots(down, across, squeeze=False)
    colours = ScalarMappable(Normalize(0, max(most, 1)), "viridis")
    for axes in grid.flat[len(maps) :]:
        axes.axis("off")
    for axes, (type_, name, shares) in zip(grid.flat, maps, strict=False):
        axes.imshow(shares, origin="lower", cmap=colours.cmap, norm=colours.norm)
        of = f", {plain(name)[-24:]}" if len(columns) > 1 else ""
        axes.set_title(f"{TYPES[type_]}{of}", fontsize=9)
        _as_board(axes, variant)
        _numbers(axes, shares, most)
    of = "; ".join(f"{printable(name)[-40:]}: {counted(f.count, 'setup')}" for name, f in columns)
    figure.suptitle(f"{variant.name}, {of}".replace("$", r"\$"), fontsize=10)
    scale = figure.colorbar(colours, ax=grid, shrink=min(1.0, 4 / (down * high)), aspect=30)
    scale.set_label("% of the setups")
    save(figure, stream, form, dpi=100)


def _shares(figures: SetupFigures, type_: int) -> npt.NDArray[np.float64]:
    """Per cent of the setups that have the type on a square, [ranks, files]."""
    variant = figures.variant
    counts = figures.maps[type_].reshape(variant.ranks, variant.width)
    return np.asarray(100 * counts / max(1, figures.count))


def _as_board(axes: Axes, variant: Variant) -> None:
    """Files and ranks at the edges, and where the enemy is."""
    axes.set_xticks(range(variant.width), FILES[: variant.width], fontsize=7)
    axes.set_yticks(range(variant.ranks), map(str, range(1, variant.ranks + 1)), fontsize=7)
    axes.tick_params(length=0, pad=2)
    axes.set_xlabel("back", fontsize=7, labelpad=1)
    front = axes.secondary_xaxis("top")
    front.set_xticks([])
    front.set_xlabel("front", fontsize=7, labelpad=1)


def _numbers(axes: Axes, shares: npt.NDArray[np.float64], most: float) -> None:
    for (rank, file), share in np.ndenumerate(shares):
        if share >= 0.5:
            colour = "black" if share > 0.6 * most else "white"
            text = f"{share:.0f}"
            axes.text(file, rank, text, ha="center", va="center", color=colour, fontsize=6)
