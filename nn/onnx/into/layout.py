"""Where the axes of a tensor in a file lie in the array that a graph computes: transpositions and views are free.

The axes of both are made of factors, lengths that stay together: a tensor ``[T, 1, N, 2 * H]`` may be an array
``[N, 2 * H, T]``. A Transpose puts the file's axes in another order, a Reshape cuts them anew, and nothing is computed
until an operator needs its array in an order that is not there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from .known import Size

Axes = tuple[tuple[int, ...], ...]
"""Axes, each by the numbers of its factors."""


class Value(NamedTuple):
    """A tensor of the file in the graph.

    Attributes
    ----------
    node : str
        The input or vertex whose activations it is.
    axes : tuple of tuple of int
        The factors of every axis in the file.
    inner : tuple of tuple of int
        Those of every axis of the array.
    tag : str or None
        Format of the activations, None where nothing says it: then users see the array as it is.
    """

    node: str
    axes: Axes
    inner: Axes
    tag: str | None = None

    @property
    def rank(self) -> int:
        """Axes in the file."""
        return len(self.axes)


class Step(NamedTuple):
    """What brings an array into another order: a reshape to these axes, then a transposition."""

    axes: Axes | None
    perm: tuple[int, ...] | None


class Factors:
    """The lengths of all factors."""

    def __init__(self) -> None:
        self.sizes: list[Size] = []

    def new(self, size: Size) -> int:
        """Add a factor; return its number."""
        self.sizes.append(size)
        return len(self.sizes) - 1

    def fresh(self, node: str, shape: Sequence[Size], tag: str | None = None) -> Value:
        """Return a tensor of that shape whose array has the file's axes."""
        axes = tuple((self.new(size),) for size in shape)
        return Value(node, axes, axes, tag)

    def size(self, factors: Sequence[int]) -> Size:
        """Return the length of an axis."""
        return _product([self.sizes[factor] for factor in factors])

    def is_one(self, factor: int) -> bool:
        """Tell whether a factor is 1."""
        return set(self.sizes[factor]) == {1}

    def shape(self, axes: Axes) -> tuple[Size, ...]:
        """Return the lengths of axes."""
        return tuple(self.size(axis) for axis in axes)

    def solid(self, factors: Sequence[int]) -> tuple[int, ...]:
        """Return those that are not 1."""
        return tuple(factor for factor in factors if not self.is_one(factor))

    # ---- views of the file's axes

    def transposed(self, value: Value, perm: Sequence[int]) -> Value:
        """Return a tensor with its axes in another order."""
        return value._replace(axes=tuple(value.axes[axis] for axis in perm))

    def reshaped(self, value: Value, shape: Sequence[Size]) -> Value | None:
        """Return a tensor with its numbers in another shape; None where axes would have to be cut across factors."""
        waiting = list(self.solid([factor for axis in value.axes for factor in axis]))
        axes: list[tuple[int, ...]] = []
        for size in shape:
            axis: list[int] = []
            while self.size(axis) != size:
                cut = self._fitted(value, waiting, _quotient(size, self.size(axis)))
                if cut is None:
                    return None
                value = cut
                axis.append(waiting.pop(0))
            axes.append(tuple(axis) or (self.new((1,) * len(size)),))
        return None if waiting else value._replace(axes=tuple(axes))

    def _fitted(self, value: Value, waiting: list[int], missing: Size | None) -> Value | None:
        """Return a tensor whose first factor that waits goes into a length, cut where it is too long; None if none."""
        if not waiting or missing is None:
            return None
        if _quotient(missing, self.sizes[waiting[0]]) is not None:
            return value
        rest = _quotient(self.sizes[waiting[0]], missing)
        if rest is None:
            return None
        value, waiting[:1] = self._cut(value, waiting[0], (missing, rest))
        return value

    def _cut(self, value: Value, factor: int, sizes: Sequence[Size]) -> tuple[Value, list[int]]:
        parts = [self.new(size) for size in sizes]

        def cut(axes: Axes) -> Axes:
            return tuple(tuple(p for f in axis for p in (parts if f == factor else [f])) for axis in axes)

        return value._replace(axes=cut(value.axes), inner=cut(value.inner)), parts

    # ---- the array in another order

    def is_arranged(self, value: Value, groups: Axes) -> bool:
        """Tell whether the array has these axes: the same factors, and the same lengths where there are ones."""
        order = [factor for axis in value.inner for factor in self.solid(axis)]
        wanted = [factor for axis in groups for factor in self.solid(axis)]
        return order == wanted and self.shape(value.inner) == self.shape(groups)

    def steps(self, value: Value, groups: Axes) -> list[Step]:
        """Return what brings the array of a tensor into these axes."""
        if self.is_arranged(value, groups):
            return []
        wanted_shape = self.shape(groups)
        order = [factor for axis in value.inner for factor in self.solid(axis)]
        wanted = [factor for axis in groups for factor in self.solid(axis)]
        if order == wanted:
            return [Step(groups, None)]
        places = self._same_axes(value.inner, groups)
        if places is not None:
            return [Step(None, places)]
        blocks = tuple(self._blocks(order, wanted))
        cut = self.shape(blocks)
        perm = tuple(sorted(range(len(blocks)), key=lambda at: wanted.index(blocks[at][0])))
        first = None if cut == self.shape(value.inner) else blocks
        steps = [Step(first, perm)]
        if tuple(cut[at] for at in perm) != wanted_shape:
            steps.append(Step(groups, None))
        return steps

    def _blocks(self, order: Sequence[int], wanted: Sequence[int]) -> list[tuple[int, ...]]:
        """Return runs of factors that stay together; the first one, and open lengths, stay alone."""
        following = dict(pairwise(wanted))
        blocks: list[list[int]] = []
        for factor in order:
            last = blocks[-1][-1] if len(blocks) > 1 else None
            alone = len(set(self.sizes[factor])) > 1 or (last is not None and len(set(self.sizes[last])) > 1)
            if last is not None and following.get(last) == factor and not alone:
                blocks[-1].append(factor)
            else:
                blocks.append([factor])
        return [tuple(block) for block in blocks]

    def _same_axes(self, inner: Axes, groups: Axes) -> tuple[int, ...] | None:
        """Return the order of the array's axes that gives the groups; None where it has other axes."""
        if len(inner) != len(groups):
            return None
        left = list(range(len(inner)))
        places = []
        for group in groups:
            same = [at for at in left if self.solid(inner[at]) == self.solid(group)]
            if not same:
                return None
            left.remove(same[0])
            places.append(same[0])
        return tuple(places)


def _product(sizes: Sequence[Size]) -> Size:
    made: Size = (1, 1)
    for size in sizes:
        made = tuple(a * b for a, b in zip(made, size, strict=True))
    return made


def _quotient(size: Size, divisor: Size) -> Size | None:
    """Return how often a length goes into another, None where it does not."""
    if any(b == 0 or a % b for a, b in zip(size, divisor, strict=True)):
        return None
    return tuple(a // b for a, b in zip(size, divisor, strict=True))
