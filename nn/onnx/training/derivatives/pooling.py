"""Derivatives of poolings."""

from __future__ import annotations

import itertools
import math

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
    out, cells = node.sizes(node.y, 2), math.prod(windows.kernel)
    counts = _counts(node, windows, out)
    share = node.epsilon / (float(cells) if set(counts) == {cells} else _constant(node, counts, out))
    ones = Tensor(node.draft, node.draft.numbers([1.0] * cells, 1, 1, *windows.kernel), node.x.dtype)
    spread = transposed(share.reshape(-1, 1, *out), ones, windows, 1)
    return [spread.reshape_as(node.x)]


def _counts(node: NodeBack, windows: Windows, out: list[int]) -> list[int]:
    """Return how many cells of every window count."""
    axes = range(len(out))
    size = node.sizes(node.x, 2)
    pads = list(node.attribute("pads", [0] * 2 * len(out))) if node.attribute("count_include_pad", 0) else []
    along = []
    for axis in axes:
        low = -pads[axis] if pads else 0
        high = size[axis] + (pads[len(out) + axis] if pads else 0)
        starts = (place * windows.strides[axis] - windows.before[axis] for place in range(out[axis]))
        steps = [cell * windows.dilations[axis] for cell in range(windows.kernel[axis])]
        along.append([sum(low <= start + step < high for step in steps) for start in starts])
    return [math.prod(numbers) for numbers in itertools.product(*along)]


def _constant(node: NodeBack, numbers: list[int], places: list[int]) -> Tensor:
    name = node.draft.numbers([float(number) for number in numbers], 1, 1, *places)
    return Tensor(node.draft, name, node.x.dtype)


def global_average_pool(node: NodeBack) -> Below:
    """GlobalAveragePool."""
    return [(node.epsilon / float(math.prod(node.sizes(node.x, 2)))).expand_as(node.x)]


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
