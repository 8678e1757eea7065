"""Layers around other layers over series."""

from __future__ import annotations

from dataclasses import replace

from ...terms.input_type import FeedForwardType, InputType, RecurrentType
from . import layer_written
from .cells import CELLS
from .masks import mask_behind
from .node_draft import NodeDraft
from .recurrent import Side, in_directions, joined


def inside(layer: NodeDraft) -> str:
    """FrozenLayer and MaskZeroLayer: the other layer."""
    return layer_written(unwrapped(layer))


def unwrapped(layer: NodeDraft) -> NodeDraft:
    """Return what is inside of a FrozenLayer or a MaskZeroLayer, with the mask that this makes; another layer itself.

    A step counts for a MaskZeroLayer where a channel of it is another number than the value.
    """
    kind = type(layer.conf).__name__
    if kind not in ("FrozenLayer", "FrozenLayerWithBackprop", "MaskZeroLayer"):
        return layer
    inner = layer.around(layer.conf.inside, layer.params)
    return unwrapped(inner if kind != "MaskZeroLayer" else replace(inner, masks=(_not_blank(layer),), masks_steps=True))


def _not_blank(layer: NodeDraft) -> str:
    to = layer.draft.word(layer.draft.dtype)
    blank = layer.node("Equal", layer.x, layer.conf.masking_value)
    count = layer.reduced("ReduceSum", layer.node("Cast", layer.node("Not", blank), to=to), [1])
    return layer.node("Cast", layer.node("Greater", count, 0.0), to=to)


def bidirectional(layer: NodeDraft) -> str:
    """Bidirectional: units of ONNX's operators in both directions at once, others over series that are reversed."""
    conf, inner = layer.conf, layer.conf.inside
    params = [{name[1:]: array for name, array in layer.params.items() if name.startswith(side)} for side in ("f", "b")]
    if type(inner).__name__ in CELLS and type(inner).__module__.startswith("nn.") and "W" in params[0]:
        sides = [Side(params[0]), Side(params[1], reverse=True)]
        return in_directions(layer.around(inner, {}), sides, conf.mode)
    ahead = layer_written(layer.around(inner, params[0]))
    mask = None if layer.mask is None else _reversed(layer, layer.mask, 1)
    back = layer_written(layer.around(inner, params[1], _reversed(layer, layer.x, 2), masks=(mask,)))
    if not _gives_rows(inner):
        back = _reversed(layer, back, 2)
    return joined(layer, (ahead, back), conf.mode, 1)


def last_time_step(layer: NodeDraft) -> str:
    """LastTimeStep: the last step of all; with a mask of what the layer inside gives the last that counts."""
    inner = unwrapped(layer.around(layer.conf.inside, layer.params, masks_steps=True))
    return last_that_counts(layer, layer_written(inner), _mask_of(inner))


def _mask_of(layer: NodeDraft) -> str | None:
    """Return the mask of what a layer around this one sees of it: that which the layer inside has had."""
    layer = unwrapped(layer)
    if type(layer.conf).__name__ != "Bidirectional":
        return mask_behind(layer)
    return _mask_of(layer.around(layer.conf.inside, {}))


def last_that_counts(layer: NodeDraft, a: str, mask: str | None) -> str:
    """Add the last steps ``[N, C]`` of series ``[N, C, T]`` by a mask ``[N, T]``; where none counts the first."""
    draft = layer.draft
    if mask is None:
        return layer.node("Gather", a, draft.integer(-1), axis=2)
    zero, one = (draft.integer(number) for number in (0, 1))
    length = layer.node("Squeeze", draft.lengths(mask, 1, 2, f"{layer.name}/Shape"), draft.ints(0))
    numbers = layer.node("Cast", layer.node("Range", zero, length, one), to=draft.word(draft.dtype))
    last = layer.node("ArgMax", layer.node("Mul", mask, numbers), axis=1, keepdims=1)
    return layer.node("GatherND", layer.node("Transpose", a, perm=[0, 2, 1]), last, batch_dims=1)


def time_distributed(layer: NodeDraft) -> str:
    """TimeDistributed: the layer inside over rows ``[N * T, C]``."""
    draft = layer.draft
    steps = layer.node("Transpose", layer.x, perm=[0, 2, 1])
    sizes = [draft.lengths(steps, 0, 2, f"{layer.name}/Shape"), draft.ints(-1)]
    mask = None if layer.mask is None else layer.node("Reshape", layer.mask, draft.ints(-1, 1))
    rows = layer.node("Flatten", steps, axis=2)
    out = layer_written(layer.around(layer.conf.inside, layer.params, rows, masks=(mask,), types=_of_rows(layer)))
    back = layer.node("Reshape", out, layer.node("Concat", *sizes, axis=0))
    return layer.node("Transpose", back, perm=[0, 2, 1])


def _reversed(layer: NodeDraft, x: str, axis: int) -> str:
    """Add series, or a mask, from their last step to their first."""
    ints = layer.draft.ints
    return layer.node("Slice", x, ints(-1), ints(-(2**63)), ints(axis), ints(-1))


def _of_rows(layer: NodeDraft) -> tuple[InputType | None, ...]:
    """Return the types of the rows that the time steps of a layer's input are."""
    (given,) = layer.types
    return (FeedForwardType(given.n) if isinstance(given, RecurrentType) else None,)


def _gives_rows(conf: object) -> bool:
    """Tell whether a layer over series gives rows, as LastTimeStep does, which have no order in time."""
    of_series = getattr(conf, "of_whole_series", False)
    return bool(of_series) and getattr(conf, "collapse_dimensions", True)
