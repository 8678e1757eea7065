"""Poolings over windows, and over all places.

Runtimes have AveragePool and LpPool in single precision alone, and AveragePool with a dilation from opset 19 on. Else
the cells under every window are summed up one by one.
"""

from __future__ import annotations

import math

from ...terms.enums import PoolingType
from .masks import masked_pooling
from .node_draft import NodeDraft
from .windows import Sliding, cells_of, padded, sliding_of

AVERAGE_DILATED, NORM_DILATED = 19, 18
"""Opsets from which AveragePool and LpPool have dilations."""


def pooling(layer: NodeDraft) -> str:
    """SubsamplingLayer, Subsampling1DLayer and Subsampling3DLayer."""
    kinds = {PoolingType.AVG: _average, PoolingType.MAX: _maximum, PoolingType.PNORM: _norm}
    return kinds[layer.conf.pooling_type](layer, sliding_of(layer))


def largest(layer: NodeDraft) -> str:
    """Return the largest number under every window of a layer."""
    return _maximum(layer, sliding_of(layer))


def _maximum(layer: NodeDraft, sliding: Sliding) -> str:
    x = layer.x
    if not _fits(sliding):
        x, sliding = padded(layer, x, sliding, -math.inf), sliding.within()
    return layer.node("MaxPool", x, **sliding.attributes())


def _average(layer: NodeDraft, sliding: Sliding) -> str:
    all_cells = getattr(layer.conf, "avg_pool_include_pad_in_divisor", False)
    x = layer.x
    if all_cells and not _fits(sliding):
        x, sliding = padded(layer, x, sliding), sliding.within()
    if not _fits(sliding) or not _has_operator(layer, sliding, AVERAGE_DILATED):
        return _average_by_cells(layer, x, sliding, all_cells)
    counted = 1 if all_cells and (sliding.padding is None or any(sliding.padding)) else None
    return layer.node("AveragePool", x, count_include_pad=counted, **sliding.attributes())


def _average_by_cells(layer: NodeDraft, x: str, sliding: Sliding, all_cells: bool) -> str:
    within = sliding.within()
    total = layer.node("Sum", *cells_of(layer, padded(layer, x, sliding), within))
    if all_cells or not (sliding.padding is None or any(sliding.padding)):
        return layer.node("Div", total, float(math.prod(sliding.kernel)))
    sizes = layer.draft.lengths(x, 2, 2 + len(sliding.axes), f"{layer.name}/Shape")
    shape = layer.node("Concat", layer.draft.ints(1, 1), sizes, axis=0)
    ones = layer.node("Expand", 1.0, shape)
    counts = layer.node("Sum", *cells_of(layer, padded(layer, ones, sliding), within))
    return layer.node("Div", total, counts)


def _norm(layer: NodeDraft, sliding: Sliding) -> str:
    """(sum of |x|^p)^(1/p)."""
    x, p = layer.x, layer.conf.pnorm
    if not _fits(sliding):
        x, sliding = padded(layer, x, sliding), sliding.within()
    if _has_operator(layer, sliding, NORM_DILATED):
        return layer.node("LpPool", x, p=p, **sliding.attributes())
    powers = _power(layer, layer.node("Abs", padded(layer, x, sliding)), p)
    return _power(layer, layer.node("Sum", *cells_of(layer, powers, sliding.within())), 1.0 / p)


def _fits(sliding: Sliding) -> bool:
    """Tell whether an operator takes the padding of windows."""
    return sliding.padding_is_small and (sliding.padding is not None or sliding.automatic)


def _has_operator(layer: NodeDraft, sliding: Sliding, dilated_from: int) -> bool:
    single = layer.draft.dtype == "float32"
    return single and (layer.draft.opset >= dilated_from or set(sliding.dilation) == {1})


def _power(layer: NodeDraft, x: str, exponent: float) -> str:
    return layer.node("Pow", x, float(exponent))


# ---- over everything

_WHOLE = {"avg": ("GlobalAveragePool", "ReduceMean"), "max": ("GlobalMaxPool", "ReduceMax"), "sum": ("", "ReduceSum")}


def global_pooling(layer: NodeDraft) -> str:
    """GlobalPoolingLayer."""
    return _global(layer) if layer.mask is None else masked_pooling(layer, _global)


def _global(layer: NodeDraft) -> str:
    conf = layer.conf
    operator, reduction = _WHOLE.get(conf.pooling_type, ("", f"ReduceL{conf.pnorm}" if conf.pnorm < 3 else ""))
    if operator and layer.draft.dtype == "float32":
        pooled = layer.node(operator, layer.x)
        return layer.node("Flatten", pooled, axis=1) if conf.collapse_dimensions else pooled
    axes = list(range(2, layer.rank()))
    if reduction:
        return layer.reduced(reduction, layer.x, axes, not conf.collapse_dimensions)
    powers = _power(layer, layer.node("Abs", layer.x), conf.pnorm)
    return _power(layer, layer.reduced("ReduceSum", powers, axes, not conf.collapse_dimensions), 1.0 / conf.pnorm)
