"""Series in the order of time, as the loops over their steps see them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from nd.typing import Array

from ..arrays.creation import permute, reshape, reshape_view

Buffers = Callable[..., Array]


def rows_of(x: Array) -> Array:
    """Return series ``[N, C, T]`` as a row for each step, ``[T * N, C]``, examples fastest; a view where it can be."""
    return reshape(permute(x, (2, 0, 1)), (-1, x.shape[1]))


def series_of(steps: Array) -> Array:
    """View ``[T, N, C]`` as series ``[N, C, T]``."""
    return permute(steps, (1, 2, 0))


def steps_of_mask(mask: Array | None) -> Array | None:
    """View a mask ``[N, T]`` as a column for each step, ``[T, N, 1]``; None for none."""
    return None if mask is None else reshape(permute(mask, (1, 0)), (mask.shape[1], mask.shape[0], 1))


def in_c_order(buffer: Buffers, name: str, shape: Sequence[int]) -> Array:
    """Return memory whose last axis is innermost: a step of ``[T, N, C]`` is a matrix in c order there."""
    return reshape_view(buffer(name, (math.prod(shape),)), tuple(shape))


class Step(NamedTuple):
    """A step of a loop through time."""

    t: int
    """Number of the step in the series."""
    before: int
    """Where the state before it lies, in arrays ``[T + 1, N, H]``."""
    behind: int
    """Where the state behind it lies."""


class Order:
    """Order in which a loop takes the steps of series, and places of the states between them.

    States lie in arrays ``[T + 1, N, H]``, as the series go: forwards the first one lies at 0, backwards at T.

    Parameters
    ----------
    length : int
        T.
    reverse : bool
        Whether the loop begins with the last step.
    """

    def __init__(self, length: int, reverse: bool) -> None:
        forwards = [Step(t, t, t + 1) for t in range(length)]
        backwards = [Step(t, t + 1, t) for t in reversed(range(length))]
        self.steps = backwards if reverse else forwards
        self.start, self.end = (length, 0) if reverse else (0, length)
        """Where the states before the first and behind the last step lie."""
        self.length, self.reverse = length, reverse

    def last(self, most: int | None) -> slice:
        """Return the numbers of the steps that come last, so many at most; of all for None."""
        count = self.length if most is None else min(most, self.length)
        return slice(0, count) if self.reverse else slice(self.length - count, self.length)

    def before(self, steps: slice) -> slice:
        """Return where the states before such steps lie."""
        return slice(steps.start + 1, steps.stop + 1) if self.reverse else steps

    def behind(self, steps: slice) -> slice:
        """Return where the states behind such steps lie."""
        return steps if self.reverse else slice(steps.start + 1, steps.stop + 1)

    def outputs(self, h: Array) -> Array:
        """View the states behind all steps as series ``[N, H, T]``."""
        return series_of(h[self.behind(slice(0, self.length)), ...])
