"""The names of networks: `plain:CHANNELSxBLOCKS`, `fromto:CHANNELSxBLOCKS`,
`rise:CHANNELSxBLOCKS`, `alphaze:CHANNELSxBLOCKS`, `graph:CHANNELSxBLOCKS` of Diplomacy's maps,
`tiny`, `small`, `paper`, `mlp:WIDTHxWIDTH...`, `pbs:WIDTHxWIDTH...` of public belief states, and
`py:MODULE:CLASS` for a network of the user's own. Behind that of a board's network, `+deployment`
adds one of its own for the deployment; `+mirrored` does too, and reflects the board where the own
flag stands on the left. Behind that of an mlp, `+critic` gives the value layers of its own; behind
that of a pbs, `+policy` adds a policy head. Behind `graph`, `+shares` tells the values of all
powers at once. Behind `tiny`, `small` and `paper`, `+eq6` shows public information as DeepNash's
text has it.

Not in `stratkit.nets`, which imports torch: `train --help` needs them.

A checkpoint stores the name of its network. A name `py:...` would run the code of that module, so
`stratkit.nets.build` imports it only where the user has named it: by `train --net`, or in the
environment variable `STRATKIT_NETS`, which holds such names with commas between them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Container, Sequence

from stratkit.errors import InputError, nearest_or_all, shown
from stratkit.python_class import PYTHON, check_python_name

NETS = ("plain", "fromto", "rise", "alphaze", "graph", "tiny", "small", "paper", "mlp", "pbs")
# The defaults of those that are sized by channels and blocks.
SIZED = {"plain": "16x1", "fromto": "16x1", "rise": "32x4", "alphaze": "256x13", "graph": "32x3"}
LAYERED = {"mlp": (256, 256), "pbs": (128, 128)}  # by the widths of layers; the defaults
DEPLOYMENT = "+deployment"  # ends the name of a network with another one for the deployment
U_NETS = ("tiny", "small", "paper")  # DeepNash's
EQUATION_6 = "+eq6"  # ends the name of one that is shown public information as the text has it
CRITIC = "+critic"  # ends the name of an mlp whose value has layers of its own
SHARES = "+shares"  # ends that of a graph whose value is one softmax over all powers
POLICY_HEAD = "+policy"  # ends that of a pbs that says policies, too, by layers of their own
MIRRORED = "+mirrored"  # ends that of such a network that reflects some views
ALLOWED = "STRATKIT_NETS"  # the environment variable
PRECISIONS = {"cpu": "f32", "cuda": "bf16"}  # of layers by device, where nobody asks for another
MAX_WIDTH, MAX_DEPTH, MAX_CHANNELS, MAX_BLOCKS = 4096, 8, 1024, 100  # of what a name may ask for
DEFAULT_PBS = "pbs:128x128"  # the value network of public belief states


def default_net(shape: Sequence[int]) -> str:
    """The network for observations of this shape, where nobody asks for another."""
    return "tiny" if len(shape) == 3 else "mlp:256x256"


def check_net(net: object) -> None:
    """Raises `InputError` unless this is the name of a network."""
    whole = net
    if isinstance(net, str):
        net = _plain_name(without_ending(net))
    kind, colon, sizes = net.partition(":") if isinstance(net, str) else ("", "", "")
    if colon and kind == "py":
        check_python_name(str(net), "a network")
        return
    if kind not in NETS or (colon and kind not in (*LAYERED, *SIZED)):
        ends = f", with {DEPLOYMENT} or {MIRRORED} behind it" if "+" in str(whole) else ""
        raise InputError(f"unknown network {shown(whole)}{nearest_or_all(str(net), NETS)}{ends}")
    if not colon:
        return
    words = sizes.split("x")
    are_numbers = all(re.fullmatch("[1-9][0-9]*", word) for word in words)
    if not are_numbers or (kind in SIZED and len(words) != 2):
        of_layers = f"the layers of a network are widths as in {kind}:256x256"
        of_blocks = f"channels and blocks are given as in {kind}:32x2"
        raise InputError(of_blocks if kind in SIZED else of_layers, text=net)
    numbers = [int(word[:9]) for word in words]  # enough to tell, of however many digits
    if kind in SIZED and not (numbers[0] <= MAX_CHANNELS and numbers[1] <= MAX_BLOCKS):
        what = f"a network has at most {MAX_CHANNELS} channels and {MAX_BLOCKS} blocks"
        raise InputError(what, text=net)
    if kind in LAYERED and (len(numbers) > MAX_DEPTH or max(numbers) > MAX_WIDTH):
        what = f"a network has at most {MAX_DEPTH} layers, of widths up to {MAX_WIDTH}"
        raise InputError(what, text=net)


def check_new_net(net: object) -> None:
    """Raises `InputError` unless a user may ask for this network: as `check_net`, which reads what
    is stored, and blocks must not outnumber channels. Papers write BLOCKSxCHANNELS."""
    name = without_ending(str(net))
    found = re.fullmatch("([a-z]+):([1-9][0-9]{0,3})x([1-9][0-9]{0,3})", name)
    if found and found[1] in SIZED:
        channels, blocks = int(found[2]), int(found[3])
        if channels < blocks <= MAX_CHANNELS and channels <= MAX_BLOCKS:
            meant = f"{found[1]}:{blocks}x{channels}{str(net).removeprefix(name)}"
            what = f"channels come first, and are no fewer than the blocks, as in {meant}"
            raise InputError(what, text=str(net))
    check_net(net)


def without_ending(net: str) -> str:
    """The name of the network that plays."""
    return net.removesuffix(MIRRORED if net.endswith(MIRRORED) else DEPLOYMENT)


def _plain_name(net: str) -> str:
    """Without what a kind of network has in two ways."""
    if net.startswith("mlp"):
        return net.removesuffix(CRITIC)
    if net.startswith("graph"):
        return net.removesuffix(SHARES)
    if net.startswith("pbs"):
        return net.removesuffix(POLICY_HEAD)
    return net.removesuffix(EQUATION_6) if net.removesuffix(EQUATION_6) in U_NETS else net


def has_deployment(net: str) -> bool:
    """Whether the network has one of its own for the deployment."""
    return net != without_ending(net)


def keeps_ending(net: str, later: str) -> bool:
    """Whether the network `later` may go on from `net`: an ending may be added, `+mirrored` instead
    of `+deployment`, too. None is taken away: who is mirrored knows half of all games."""
    return net.endswith(MIRRORED) <= later.endswith(MIRRORED) and (
        has_deployment(net) <= has_deployment(later)
    )


def channels_and_blocks(net: str) -> tuple[int, int]:
    """Of a network `plain` or `plain:CHANNELSxBLOCKS`; the same of the other `SIZED`."""
    kind, _, sizes = net.partition(":")
    channels, _, blocks = (sizes or SIZED[kind]).partition("x")
    return int(channels), int(blocks)


def hidden_sizes(net: str, kind: str = "mlp") -> tuple[int, ...]:
    """The widths of the hidden layers of a network of this kind, `mlp` or `pbs`; none for other
    networks."""
    its, colon, sizes = _plain_name(net).partition(":")
    if its != kind:
        return ()
    return tuple(map(int, sizes.split("x"))) if colon else LAYERED[kind]


def preset_of(net: str, presets: Container[str], game: str = "") -> str:
    """The preset of a network in a game of this name: `mlp/dark_hex` is that of `mlp` in the games
    `dark_hex:...`, where no longer name has its own. `fromto`, `rise`, `alphaze`, `graph`, and a
    network of the user's own, have that of `plain` where `presets` has none of theirs, and
    `graph+shares` that of `graph`."""
    kind = _plain_name(without_ending(net)).partition(":")[0]
    while game:
        if (in_game := f"{kind}/{game}") in presets:
            return in_game
        game = game.rpartition(":")[0]
    if net.endswith(SHARES) and kind + SHARES in presets:
        return kind + SHARES
    like_plain = kind in ("fromto", "rise", "alphaze", "graph", "py") and kind not in presets
    return "plain" if like_plain else kind


def allow_net(net: str) -> None:
    """The user has named this network: its module may be imported, here and in child processes."""
    net = without_ending(net)
    if net.startswith(PYTHON) and not is_allowed(net):
        os.environ[ALLOWED] = ",".join(filter(None, (os.environ.get(ALLOWED), net)))


def is_allowed(net: str) -> bool:
    """Whether the module of a network `py:...` may be imported."""
    return net in os.environ.get(ALLOWED, "").split(",")
