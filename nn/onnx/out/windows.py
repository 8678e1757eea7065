"""Sliding windows over one to three axes of places: their padding, and the cells under every window."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ...layers.pooling.window_masks import window_mode
from ...terms.input_type import RecurrentType
from .node_draft import NodeDraft

Sizes = tuple[int, ...]
_END = 2**63 - 1
"""Of a slice that goes up to the end of its axis."""


@dataclass(frozen=True)
class Sliding:
    """Where windows lie; a number for every axis of places.

    Attributes
    ----------
    kernel, stride, dilation : tuple of int
    padding : tuple of int, optional
        Before all axes, then behind them, as operators have it. None in mode same, where it follows from the length of
        an axis, which nobody knows.
    same : bool
        Whether the padding is that of mode same.
    """

    kernel: Sizes
    stride: Sizes
    dilation: Sizes
    padding: Sizes | None
    same: bool = False

    @property
    def axes(self) -> range:
        """Numbers of the axes, from 0."""
        return range(len(self.kernel))

    @property
    def effective(self) -> Sizes:
        """Extent of the dilated kernel."""
        return tuple((length - 1) * step + 1 for length, step in zip(self.kernel, self.dilation, strict=True))

    @property
    def automatic(self) -> bool:
        """Whether its padding is an operator's SAME_UPPER, as Java's mode same is without dilation and gaps."""
        closes = all(a >= b for a, b in zip(self.kernel, self.stride, strict=True))
        return self.same and set(self.dilation) == {1} and closes

    @property
    def padding_is_small(self) -> bool:
        """Whether padding is less than the kernel, as poolings want it."""
        return self.padding is None or all(a < b for a, b in zip(self.padding, self.kernel * 2, strict=True))

    def attributes(self) -> dict[str, Any]:
        """Return the attributes of an operator that slides windows, with its padding."""
        own = {"kernel_shape": self.kernel, "strides": self.stride}
        if set(self.dilation) != {1}:
            own["dilations"] = self.dilation
        return {**own, **({"auto_pad": "SAME_UPPER"} if self.automatic else {"pads": self.padding})}

    def within(self) -> Sliding:
        """Return the same windows over an input that has its padding."""
        return replace(self, padding=(0,) * (2 * len(self.kernel)), same=False)


def sliding_of(layer: NodeDraft) -> Sliding:
    """Return the windows of a layer with kernel, stride, padding, dilation and a convolution_mode.

    Notes
    -----
    Mode same pads with ``max((ceil(in / s) - 1) s + k - in, 0)``, k the dilated kernel, the odd one behind: with stride
    1 that is ``k - 1`` whatever the length. Mode causal pads with ``k - 1`` before. Source: DL4J ``ConvolutionUtils``.
    """
    conf, mode = layer.conf, window_mode(layer.conf)
    own = Sliding(conf.kernel_size, conf.stride, conf.dilation, conf.padding * 2)
    if mode == "causal":
        before = tuple(length - 1 for length in own.effective)
        return replace(own, padding=before + (0,) * len(before))
    if mode != "same":
        return own
    totals = [_same_total(layer, own, axis) for axis in own.axes]
    known = [total for total in totals if total is not None]
    if len(known) < len(totals):
        return replace(own, padding=None, same=True)
    before = tuple(total // 2 for total in known)
    after = tuple(total - first for total, first in zip(known, before, strict=True))
    return replace(own, padding=before + after, same=True)


def _same_total(layer: NodeDraft, own: Sliding, axis: int) -> int | None:
    """Return how much mode same pads along an axis, None where that is not known."""
    if own.stride[axis] == 1:
        return own.effective[axis] - 1
    kind = layer.types[0]
    if kind is None or isinstance(kind, RecurrentType):  # series may have any length
        return None
    size = kind.shape[1 + axis]
    return max((size - 1) // own.stride[axis] * own.stride[axis] + own.effective[axis] - size, 0)


def padded(layer: NodeDraft, x: str, sliding: Sliding, value: float = 0.0) -> str:
    """Return ``x [N, C, ...]`` with the padding of windows, filled with a value."""
    ints, axes = layer.draft.ints, len(sliding.axes)
    if sliding.padding is None:
        pads = layer.node("Concat", ints(0, 0), *_same_padding(layer, x, sliding), axis=0)
    elif any(sliding.padding):
        pads = ints(0, 0, *sliding.padding[:axes], 0, 0, *sliding.padding[axes:])
    else:
        return x
    return layer.node("Pad", x, pads, *([value] if value else []))


def _same_padding(layer: NodeDraft, x: str, sliding: Sliding) -> tuple[str, str, str]:
    """Return mode same's padding before all axes, zeros for the first two, and that behind, from the sizes of x."""
    ints = layer.draft.ints
    sizes = layer.draft.lengths(x, 2, 2 + len(sliding.axes), f"{layer.name}/Shape")
    last = layer.node("Div", layer.node("Sub", sizes, ints(1)), ints(*sliding.stride))  # number of the last window
    end = layer.node("Add", layer.node("Mul", last, ints(*sliding.stride)), ints(*sliding.effective))
    total = layer.node("Max", layer.node("Sub", end, sizes), ints(0))
    before = layer.node("Div", total, ints(2))
    return before, ints(0, 0), layer.node("Sub", total, before)


def sliced(
    layer: NodeDraft, x: str, first: int, starts: Sequence[int], ends: Sequence[int], steps: Sequence[int] = ()
) -> str:
    """Return a part of x, from axis `first` on; ends that are 0 or less count from the end of their axis."""
    ints = layer.draft.ints
    axes = range(first, first + len(starts))
    stops = (end if end > 0 else end or _END for end in ends)
    by = [ints(*steps)] if set(steps) - {1} else []
    return layer.node("Slice", x, ints(*starts), ints(*stops), ints(*axes), *by)


def cells_of(layer: NodeDraft, x: str, sliding: Sliding, first: int = 2) -> list[str]:
    """Return the cells under all windows, an array ``[N, C, *out]`` for each cell of the kernel in row-major order.

    Parameters
    ----------
    x : str
        With its padding.
    sliding : Sliding
    first : int
        The first axis of places: 2, or 1 with the channels last.
    """
    cells = []
    for cell in itertools.product(*map(range, sliding.kernel)):
        starts = [place * step for place, step in zip(cell, sliding.dilation, strict=True)]
        ends = [start - length + 1 for start, length in zip(starts, sliding.effective, strict=True)]
        cells.append(sliced(layer, x, first, starts, ends, sliding.stride))
    return cells
