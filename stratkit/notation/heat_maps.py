"""Where the pieces of setups stand, as a picture (PNG). It needs matplotlib, which is an extra."""

from __future__ import annotations

from collections.abc import Sequence
from typing import IO

from stratkit.engine.stratego import TYPES
from stratkit.errors import printable
from stratkit.notation.statistics import SetupFigures, pieces_of
from stratkit.pictures import new_figure, save


def plot(columns: Sequence[tuple[str, SetupFigures]], stream: IO[bytes]) -> None:
    """A heat map of each type, front rank on top; a column for each (name, figures), all of one
    variant. Raises `InputError` without matplotlib."""
    variant = columns[0][1].variant
    types = pieces_of(variant)
    figure = new_figure(3.4 * len(columns) + 0.8, 1.25 * len(types))
    grid = figure.subplots(len(types), len(columns), squeeze=False)
    for across, (name, figures) in enumerate(columns):
        maps = figures.maps.reshape(len(TYPES), variant.ranks, variant.width)
        for down, type_ in enumerate(types):
            axes = grid[down][across]
            shares = maps[type_] / max(1, figures.count)
            # The same type has the same scale in every column: columns are there to be compared.
            most = max(float(f.maps[type_].max() / max(1, f.count)) for _, f in columns)
            axes.imshow(shares, origin="lower", cmap="viridis", vmin=0, vmax=max(most, 1e-9))
            axes.set_xticks([])
            axes.set_yticks([])
            if across == 0:
                axes.set_ylabel(TYPES[type_])
            else:
                axes.text(1.02, 0.5, f"{100 * most:.0f} %", transform=axes.transAxes, va="center")
        title = f"{printable(name)[-40:]}\n{figures.count} setups"
        grid[0][across].set_title(title, parse_math=False, fontsize=9)
    save(figure, stream, dpi=100)
