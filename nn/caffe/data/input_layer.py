"""Input: tops that the caller fills."""

from __future__ import annotations

from ..layers.base import Shape
from .layers import DataLayer


class Input(DataLayer):
    """Tops of the shapes that ``input_param`` has: none, one for all, or one for each.

    Notes
    -----
    Without shapes the first arrays that are put in have them. Source: BVLC Caffe, input_layer.cpp.
    """

    tops = (1, None)

    def open(self) -> None:
        self._shapes = [tuple(shape.dim) for shape in self.message.input_param.shape]
        self.one_or_each("shape", len(self._shapes), or_none=True)

    def shapes(self) -> list[Shape]:
        return self._shapes if len(self._shapes) > 1 else (self._shapes or [()]) * self.outputs

    def read(self) -> None:
        """Return None: what lies in the tops stays."""
