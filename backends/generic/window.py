"""Geometry of a sliding window over one axis or more: plain integers, no arrays."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Window:
    """Kernel, stride, dilation and padding over the axes ``h, w`` of ``[N, C, H, W]``, or ``d, h, w`` of volumes.

    Parameters
    ----------
    size : tuple of int
        ``H, W`` of the input; one number for every axis, as in the other parameters.
    kernel, stride, dilation : tuple of int
        In elements of the input. Without stride and dilation 1.
    pad_before, pad_after : tuple of int
        Rows above and below, columns left and right. Without them 0.
    overhang : tuple of int
        Of `pad_after`, what windows that are rounded up need beyond the padding: no mean counts it. Without it 0.
    """

    size: Sizes
    kernel: Sizes
    stride: Sizes = ()
    dilation: Sizes = ()
    pad_before: Sizes = ()
    pad_after: Sizes = ()
    overhang: Sizes = ()

    def __post_init__(self) -> None:
        for name, usual in (("stride", 1), ("dilation", 1), ("pad_before", 0), ("pad_after", 0), ("overhang", 0)):
            object.__setattr__(self, name, getattr(self, name) or (usual,) * len(self.size))

    @cached_property
    def axes(self) -> range:
        """Numbers of the axes, from 0."""
        return range(len(self.size))

    @cached_property
    def out(self) -> Sizes:
        """``H, W`` of the output: floor((in + padding - effective kernel) / stride) + 1."""
        return tuple((self.padded[axis] - self.effective[axis]) // self.stride[axis] + 1 for axis in self.axes)

    @cached_property
    def effective(self) -> Sizes:
        """Extent of the dilated kernel, k + (k - 1)(d - 1)."""
        return tuple(self.dilation[axis] * (self.kernel[axis] - 1) + 1 for axis in self.axes)

    @cached_property
    def padded(self) -> Sizes:
        """``H, W`` of the input with its padding."""
        return tuple(self.size[axis] + self.pad_before[axis] + self.pad_after[axis] for axis in self.axes)

    @cached_property
    def has_padding(self) -> bool:
        """Whether any axis is padded."""
        return self.padded != self.size

    @cached_property
    def interior(self) -> tuple[slice, ...]:
        """Slices of the padded input that hold the input."""
        return tuple(slice(self.pad_before[axis], self.pad_before[axis] + self.size[axis]) for axis in self.axes)

    @cached_property
    def rounds_up(self) -> bool:
        """Whether the last window of any axis ends beyond the padding."""
        return any(self.overhang)

    @cached_property
    def only_hangs_over(self) -> bool:
        """Whether windows round up and there is no other padding, so that they may be cut off at the image's end."""
        return self.rounds_up and self.pad_after == self.overhang and not any(self.pad_before)

    @cached_property
    def tiles_exactly(self) -> bool:
        """True when windows of stride == kernel cover disjoint cells without dilation or padding."""
        return self.stride == self.kernel and set(self.dilation) == {1} and not self.has_padding

    @cached_property
    def positions(self) -> int:
        """Number of outputs."""
        return math.prod(self.out)

    @cached_property
    def places(self) -> tuple[tuple[Sizes, tuple[slice, ...]], ...]:
        """For every kernel cell in row-major order: its place in the kernel, and the padded input's slices under it."""
        cells = itertools.product(*(range(length) for length in self.kernel))
        return tuple((cell, tuple(map(self._slice, self.axes, cell))) for cell in cells)

    @cached_property
    def cells(self) -> tuple[Any, ...]:
        """For every kernel cell of two axes: its row, column, and the padded input's slices under it; see `places`."""
        return tuple((*cell, *under) for cell, under in self.places)

    @cached_property
    def cut_cells(self) -> tuple[tuple[tuple[slice, ...] | None, tuple[slice, ...]], ...]:
        """For every kernel cell: outputs, None for all of them, and the padded input's slices under their cells.

        Where windows are cut off the input has no padding, and outputs whose cell would be beyond it are left out.
        """
        if not self.only_hangs_over:
            return tuple((None, under) for _, under in self.places)
        cut = []
        for _, under in self.places:
            inside = tuple(
                slice(each.start, min(each.stop, size), each.step) for each, size in zip(under, self.size, strict=True)
            )
            counts = [len(range(*each.indices(size))) for each, size in zip(inside, self.size, strict=True)]
            outputs = None if tuple(counts) == self.out else tuple(slice(0, count) for count in counts)
            cut.append((outputs, inside))
        return tuple(cut)

    def _slice(self, axis: int, cell: int) -> slice:
        start = cell * self.dilation[axis]
        return slice(start, start + (self.out[axis] - 1) * self.stride[axis] + 1, self.stride[axis])

    def real_cells(self) -> list[list[int]]:
        """Count, for every output position, the window's cells that are not padding. ``[out_h][out_w]``, two axes."""
        return self._cells_within([(place.start, place.stop) for place in self.interior])

    def padded_cells(self) -> list[list[int]]:
        """Count the window's cells that are the image's or padding, but not overhang. ``[out_h][out_w]``, two axes."""
        return self._cells_within([(0, self.padded[axis] - self.overhang[axis]) for axis in self.axes])

    def _cells_within(self, bounds: list[tuple[int, int]]) -> list[list[int]]:
        """Count, for every output position, the window's cells within bounds of the padded image."""
        per_axis = []
        for axis, (first, last) in enumerate(bounds):
            starts = [position * self.stride[axis] for position in range(self.out[axis])]
            offsets = [cell * self.dilation[axis] for cell in range(self.kernel[axis])]
            per_axis.append([sum(first <= start + offset < last for offset in offsets) for start in starts])
        return [[down * across for across in per_axis[1]] for down in per_axis[0]]
