"""Geometry of a sliding window over two axes: plain integers, no arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

Pair = tuple[int, int]


@dataclass(frozen=True)
class Window:
    """Kernel, stride, dilation and padding over the axes ``h, w`` of ``[N, C, H, W]``.

    Parameters
    ----------
    size : pair of int
        ``H, W`` of the input.
    kernel, stride, dilation : pair of int
        In elements of the input.
    pad_before, pad_after : pair of int
        Rows above and below, columns left and right.
    """

    size: Pair
    kernel: Pair
    stride: Pair = (1, 1)
    dilation: Pair = (1, 1)
    pad_before: Pair = (0, 0)
    pad_after: Pair = (0, 0)

    @cached_property
    def out(self) -> Pair:
        """``H, W`` of the output: floor((in + padding - effective kernel) / stride) + 1."""
        rows, columns = ((self.padded[axis] - self.effective[axis]) // self.stride[axis] + 1 for axis in (0, 1))
        return rows, columns

    @cached_property
    def effective(self) -> Pair:
        """Extent of the dilated kernel, k + (k - 1)(d - 1)."""
        rows, columns = (self.dilation[axis] * (self.kernel[axis] - 1) + 1 for axis in (0, 1))
        return rows, columns

    @cached_property
    def padded(self) -> Pair:
        """``H, W`` of the input with its padding."""
        rows, columns = (self.size[axis] + self.pad_before[axis] + self.pad_after[axis] for axis in (0, 1))
        return rows, columns

    @cached_property
    def has_padding(self) -> bool:
        """Whether there is any."""
        return self.padded != self.size

    @cached_property
    def interior(self) -> tuple[slice, slice]:
        """Where the input lies inside the padded input."""
        rows, columns = (slice(self.pad_before[axis], self.pad_before[axis] + self.size[axis]) for axis in (0, 1))
        return rows, columns

    @cached_property
    def tiles_exactly(self) -> bool:
        """True when windows of stride == kernel cover disjoint cells without dilation or padding."""
        return self.stride == self.kernel and self.dilation == (1, 1) and not self.has_padding

    @cached_property
    def cells(self) -> tuple[tuple[int, int, slice, slice], ...]:
        """For every kernel cell in row-major order: its row, column, and the padded input's slices under it."""
        return tuple(self._each_cell())

    def _each_cell(self) -> Iterator[tuple[int, int, slice, slice]]:
        for row in range(self.kernel[0]):
            for column in range(self.kernel[1]):
                yield row, column, self._slice(0, row), self._slice(1, column)

    def _slice(self, axis: int, cell: int) -> slice:
        start = cell * self.dilation[axis]
        return slice(start, start + (self.out[axis] - 1) * self.stride[axis] + 1, self.stride[axis])

    def real_cells(self) -> list[list[int]]:
        """Count, for every output position, the window's cells that are not padding. ``[out_h][out_w]``."""
        per_axis = []
        for axis in (0, 1):
            first, last = self.pad_before[axis], self.pad_before[axis] + self.size[axis]
            starts = [position * self.stride[axis] for position in range(self.out[axis])]
            offsets = [cell * self.dilation[axis] for cell in range(self.kernel[axis])]
            per_axis.append([sum(first <= start + offset < last for offset in offsets) for start in starts])
        return [[rows * columns for columns in per_axis[1]] for rows in per_axis[0]]
