"""Pictures as PNG or SVG files. They need matplotlib, which is an extra."""

from __future__ import annotations

import os
import warnings
from typing import IO, TYPE_CHECKING, Literal

from stratkit.errors import InputError, UsageError, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PNG, SVG = "png", "svg"
FORMS = {".png": PNG, ".svg": SVG}  # by the end of a file's name
# Colours of lines that the colour-blind can tell apart (Okabe and Ito 2008), without the palest.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")


def new_figure(
    width: float, height: float, layout: Literal["constrained"] | None = "constrained"
) -> Figure:
    """An empty figure, in inches. Raises `InputError` without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'stratkit[plot]'") from None
    return Figure(figsize=(width, height), layout=layout)


def save(figure: Figure, stream: IO[bytes], form: str = PNG, dpi: int = 120) -> None:
    """Writes the figure as PNG or SVG, the same bytes for the same picture."""
    from matplotlib import rc_context

    unsaid = "Software" if form == PNG else "Date"
    salted = rc_context({"svg.hashsalt": "stratkit"})  # the names of its parts
    with salted, warnings.catch_warnings():
        # A nick may be in any script. The picture has a box for what its font lacks.
        warnings.filterwarnings("ignore", "Glyph .* missing from")
        figure.savefig(stream, format=form, dpi=dpi, metadata={unsaid: None})


def form_of(path: str) -> str:
    """The form of a picture by the end of its file's name, where it has one: otherwise PNG.
    `UsageError` for an end that is neither .png nor .svg."""
    end = os.path.splitext(path)[1].lower()
    if end not in ("", *FORMS):
        raise UsageError(f"pictures are {' or '.join(FORMS)}, not {end}", text=path)
    return FORMS.get(end, PNG)


def plain(text: str) -> str:
    """A text for a legend, which would read mathematics between two $."""
    return named(text, 60).replace("$", r"\$")


def legend(axes: Axes, below: float = -0.14) -> None:
    """What the lines are, below the picture, where it hides none."""
    place = (0.5, below)
    axes.legend(loc="upper center", bbox_to_anchor=place, ncols=3, frameon=False, fontsize=9)
