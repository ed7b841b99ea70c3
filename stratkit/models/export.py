"""One network of a checkpoint in a file of its own: `stratkit export`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from stratkit.engine import Game
from stratkit.errors import InputError, UsageError, error_context
from stratkit.models.open_model import BeliefModel, Model, ValueModel, open_model
from stratkit.storage.checkpoints import save_policy
from stratkit.storage.onnx_file import ABSENT, STORED, SUFFIX, is_onnx
from stratkit.version import __version__

SAFETENSORS = ".safetensors"
KEPT = ("algorithm", "batch", "config", "episodes", "game", "net", "post", "rules", "seed", "step")


def exported_metadata(part: str, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What the file of a checkpoint's network `part` keeps of the checkpoint's metadata."""
    kept = {key: metadata[key] for key in KEPT if key in metadata}
    return {**kept, "parents": [metadata["sha256"]], "part": part}


def export(source: str, net: str | None, output: str, force: bool = False) -> Model:
    """Writes a network of the checkpoint, the RUN or the player `source` to the file `output`, and
    says which: as ONNX or as safetensors, by the end of the file's name.

    net: which of the checkpoint's networks; None: the one that `match` would let play. `InputError`
    or `UsageError`: there is none, it cannot be exported, or the file is there and not to be
    overwritten by `force`.
    """
    if not output.endswith((SUFFIX, SAFETENSORS)):
        raise UsageError(f"FILE must end in {SUFFIX} or {SAFETENSORS}", text=output)
    model = open_model(source, net)
    metadata = exported_metadata(model.part, model.metadata) | {"writer": f"stratkit {__version__}"}
    graph = _graph(model) if is_onnx(output) else None
    save_policy(output, model.weights, metadata, force, graph)
    return model


def _graph(model: Model) -> Any:
    """The ONNX graph of the network. `InputError`: ONNX Runtime does not compute such ones."""
    from stratkit.nets.cpu_backend import check_weights
    from stratkit.nets.fromto_weights import fromto_shapes, is_fromto
    from stratkit.nets.packages import is_there

    with error_context(model.name):
        game = Game.stored(model.game, model.metadata["rules"])
        if isinstance(model, BeliefModel | ValueModel) or not is_fromto(model.net, game.shape):
            what = f"{model.title} of the net {model.net} cannot be exported as ONNX"
            raise InputError(f"{what}: only policies of fromto can be")
        if not is_there("onnx"):
            raise InputError(ABSENT)
        check_weights(model.net, model.weights, fromto_shapes(model.net, game))
        from stratkit.nets.onnx_export import whole_model

        return whole_model(model.net, model.weights, STORED)
