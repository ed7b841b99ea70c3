"""Pictures as PNG files. They need matplotlib, which is an extra."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING, Literal

from stratkit.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def new_figure(
    width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """An empty figure, in inches. Raises `InputError` without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'stratkit[plot]'") from None
    return Figure(figsize=(width, height), layout=layout)


def save(figure: Figure, stream: IO[bytes], dpi: int = 120) -> None:
    """Writes the figure as PNG, the same bytes for the same picture."""
    figure.savefig(stream, format="png", dpi=dpi, metadata={"Software": None})
