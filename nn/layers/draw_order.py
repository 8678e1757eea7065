"""Order in which dropout of a layer's input is drawn, where Java's memory has another one than its axes."""

from __future__ import annotations

import nd
from nd.typing import Array

from ..terms.dropout import Buffers, IDropout
from .runtime import LayerRuntime
from .wrapping import WrappingRuntime

STEP_BY_STEP = (2, 1, 0)
"""Axes of series as Java's recurrent layers leave them: the examples are fastest, the steps slowest."""

BY_COLUMNS = (1, 0)
"""Axes of rows as Java's product of two matrices leaves them: the examples are fastest."""


def comes_by_columns(source: object) -> bool:
    """Tell whether what a layer hands on lies so in Java's memory."""
    return bool(getattr(getattr(source, "innermost", source), "gives_columns", False))


class InOrder:
    """A dropout that has a draw for every number of the input, with the axes in another order, the last fastest.

    Parameters
    ----------
    dropout : IDropout
    axes : tuple of int
        Inputs of another rank are drawn as they are.
    """

    def __init__(self, dropout: IDropout, axes: tuple[int, ...]) -> None:
        self._dropout, self._axes = dropout, axes
        self._back = tuple(axes.index(axis) for axis in range(len(axes)))
        self.backprop = dropout.backprop

    def apply_dropout(self, x: Array, numbers: tuple[object, ...], buffers: Buffers) -> tuple[Array, Array | None]:
        """Do as `IDropout.apply_dropout`, on the same memory seen with other axes."""
        axes, back = self._axes, self._back
        if x.ndim != len(axes):
            return self._dropout.apply_dropout(x, numbers, buffers)

        def turned(name: str, shape: tuple[int, ...]) -> Array:
            if len(shape) != len(axes):
                return buffers(name, shape)
            return nd.permute(buffers(name, tuple(shape[axis] for axis in back)), axes)

        dropped, kept = self._dropout.apply_dropout(nd.permute(x, axes), numbers, turned)
        return nd.permute(dropped, back), None if kept is None else nd.permute(kept, back)


def draw_in(runtime: LayerRuntime, axes: tuple[int, ...]) -> None:
    """Have a layer draw the dropout of its input in that order; a layer around others hands it on."""
    if isinstance(runtime, WrappingRuntime):
        for inside in runtime.readers:
            draw_in(inside, axes)
    elif runtime.dropout is not None and runtime.dropout.of_elements:
        runtime.dropout = InOrder(runtime.dropout, axes)  # type: ignore[assignment]
