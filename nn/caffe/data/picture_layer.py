"""Shared by the layers that bring pictures and their labels: minibatches of examples, transformed."""

from __future__ import annotations

from collections.abc import Sequence

from nd.dataset.picture_batches import host_numbers
from nd.part import undefined
from nd.typing import HostArray

from ..layers.base import Shape
from ..schema import Message
from .layers import DataLayer
from .records import Example
from .transformer import Transformer


class PictureLayer(DataLayer):
    """Tops data ``[N, C, H, W]`` and label ``[N]``. A type writes `open`, `ahead` and `examples`."""

    batch: int
    transformer: Transformer

    def transformed_by(self, settings: Message) -> None:
        """Make the transformer; a type calls it in `open`."""
        self.transformer = Transformer(settings, self.phase, self.dtype, lambda: self.draws, self.path(""))

    def ahead(self) -> Example:
        """Return the next example, which stays the next one."""
        undefined(self, "ahead()", "the next example")

    def examples(self, n: int) -> Sequence[Example]:
        """Return the next n examples."""
        undefined(self, "examples(n)", "the next n examples")

    def shapes(self) -> list[Shape]:
        shape = self.transformer.shape(self.ahead().shape)
        return [(self.batch, *shape), (self.batch,)][: self.outputs]

    def read(self) -> list[HostArray]:
        pixels, shapes, labels = zip(*self.examples(self.batch), strict=True)
        data = self.transformer.minibatch(pixels, shapes)
        return [data, host_numbers(labels, self.dtype)][: self.outputs]
