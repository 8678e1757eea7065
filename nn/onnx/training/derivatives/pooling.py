"""Derivatives of poolings."""

from __future__ import annotations

import math
from typing import Any

from ...out.node_draft import NotInOnnx
from ..tensors import Tensor
from .convolution import Windows, transposed, windows_of
from .node_back import NodeBack
from .reductions import reduced_axes

Below = list[Tensor | None]


def max_pool(node: NodeBack) -> Below:
    """MaxPool: added where the largest numbers stood, of equals the first; its second output tells where."""
    if len(node.node.output) == 1:
        node.node.output.append(node.draft.name(f"{node.node.output[0]}/indices"))
    x, indices = node.x, Tensor(node.draft, node.node.output[1], "int64")
    flat = x.like(0.0).op("Expand", x.op("Size", dtype="int64").reshape(1))
    added = flat.op("ScatterElements", indices.reshape(-1), node.epsilon.reshape(-1), axis=0, reduction="add")
    return [added.reshape_as(x)]


def average_pool(node: NodeBack) -> Below:
    """AveragePool: every window's share to the places under it."""
    windows = windows_of(node, node.attribute("kernel_shape"))
    cells, places = math.prod(windows.kernel), range(2, 2 + len(windows.kernel))
    share = node.epsilon / _cells(node, windows)
    rows = share.reshape_to(share.ints(-1, 1), share.lengths(places))
    ones = Tensor(node.draft, node.draft.numbers([1.0] * cells, 1, 1, *windows.kernel), node.x.dtype)
    return [transposed(rows, ones, windows, 1, node.x).reshape_as(node.x)]


def _cells(node: NodeBack, windows: Windows) -> Tensor | float:
    """Return how many cells of every window count, ``[1, 1, ...]`` where they are not the same."""
    cells = float(math.prod(windows.kernel))
    padded = any(node.attribute("pads", [0])) or node.attribute("auto_pad", b"NOTSET") != b"NOTSET"
    if node.attribute("count_include_pad", 0) or not padded:
        return cells
    x = node.x
    ones = x.like(1.0).op("Expand", x.ints(1, 1).op("Concat", x.lengths(range(2, 2 + len(windows.kernel))), axis=0))
    settings = {name: value for name, value in node.attributes.items() if name != "count_include_pad"}
    return ones.op("AveragePool", count_include_pad=1, **settings) * cells


def resize(node: NodeBack) -> Below:
    """Resize that repeats every number a whole number of times: the sum of the copies."""
    factors = node.constant(2)[2:]
    if node.attribute("mode", b"nearest") != b"nearest" or any(factor != int(factor) for factor in factors):
        raise NotInOnnx("only whole numbers of copies have a derivative here")
    sizes = [int(factor) for factor in factors]
    return [node.epsilon.op("AveragePool", kernel_shape=sizes, strides=sizes) * float(math.prod(sizes))]


def local_response(node: NodeBack) -> Below:
    """LRN of an odd size: y = x s^-beta, s = bias + alpha / size * (sum of x^2 over the channels around)."""
    x, size, beta = node.x, node.attribute("size"), node.attribute("beta", 0.75)
    if not size % 2:
        raise NotInOnnx("a local response of an even size has no derivative here")
    share = node.attribute("alpha", 1e-4) / size
    scale = _around(x.square(), size) * share + node.attribute("bias", 1.0)
    power = scale**-beta
    return [node.epsilon * power - (2.0 * beta * share) * x * _around(node.epsilon * x * (power / scale), size)]


def _around(x: Tensor, size: int) -> Tensor:
    """Return the sums of x over so many channels around each."""
    half, rows = size // 2, x.reshape_to(x.ints(0, 1), x.lengths([1]), x.ints(-1))
    settings: dict[str, Any] = {"kernel_shape": [size, 1], "pads": [half, 0, half, 0]}
    return (rows.op("AveragePool", count_include_pad=1, **settings) * float(size)).reshape_as(x)


def global_average_pool(node: NodeBack) -> Below:
    """GlobalAveragePool."""
    return [(node.epsilon / node.repeated()).expand_as(node.x)]


def global_max_pool(node: NodeBack) -> Below:
    """GlobalMaxPool: the first of equals has the gradient."""
    return [_to_first(node, 2)]


def reduce_max(node: NodeBack) -> Below:
    """ReduceMax over the last axes."""
    rank = len(node.shape(node.x))
    axes = sorted(reduced_axes(node))
    if not axes or axes != list(range(axes[0], rank)):
        raise NotInOnnx("only the largest number along the last axes has a derivative here")
    return [_to_first(node, axes[0]), None]


def _to_first(node: NodeBack, first: int) -> Tensor:
    """Return the gradient where the largest number along the axes from one on stands first."""
    x = node.x
    rows = x.reshape(*(0 for _ in range(first)), -1)
    at = rows.op("ArgMax", dtype="int64", axis=first, keepdims=1, select_last_index=0)
    epsilon = node.epsilon.reshape_as(at)
    return rows.zeros().op("ScatterElements", at, epsilon, axis=first).reshape_as(x)
