"""The names of networks: `plain`, `tiny`, `small`, `paper`, `mlp:WIDTHxWIDTH...`.

Not in `stratkit.nets`, which imports torch: `train --help` needs them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from stratkit.errors import InputError, nearest

NETS = ("plain", "tiny", "small", "paper", "mlp")
WIDEST, DEEPEST = 4096, 8  # of what a name may ask for


def default_net(shape: Sequence[int]) -> str:
    """The network for observations of this shape, where nobody asks for another."""
    return "tiny" if len(shape) == 3 else "mlp:256x256"


def check_net(net: object) -> None:
    """Raises `InputError` unless this is the name of a network."""
    kind, colon, sizes = net.partition(":") if isinstance(net, str) else ("", "", "")
    if kind not in NETS or (colon and kind != "mlp"):
        raise InputError("unknown network" + nearest(str(net), NETS), text=net)
    numbers = sizes.split("x")
    if colon and not (
        len(numbers) <= DEEPEST
        and all(re.fullmatch("[1-9][0-9]{0,3}", n) and int(n) <= WIDEST for n in numbers)
    ):
        raise InputError("the layers of a network are widths as in mlp:256x256", text=net)


def hidden_sizes(net: str) -> tuple[int, ...]:
    """The widths of an MLP's hidden layers; none for other networks."""
    kind, colon, sizes = net.partition(":")
    if kind != "mlp":
        return ()
    return tuple(map(int, sizes.split("x"))) if colon else (256, 256)
