"""What stands between layers of different kinds: changes of shape, forward and back.

Both are views of arrays in the backend's preferred memory order.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nd
from nd.checks import check_shape

from .conf.input_type import ConvolutionalFlatType, ConvolutionalType, FeedForwardType, InputType

Array = Any
Buffers = Callable[..., Array]


@dataclass(frozen=True)
class InputPreProcessor:
    """Changes the shape of activations before a layer, and that of epsilon after it."""

    input_height: int
    input_width: int
    num_channels: int

    @property
    def image(self) -> tuple[int, int, int]:
        """``C, H, W``."""
        return self.num_channels, self.input_height, self.input_width

    @property
    def features(self) -> int:
        """C * H * W."""
        return self.num_channels * self.input_height * self.input_width

    def pre_process(self, x: Array, buffers: Buffers) -> Array:
        """Return the layer's input; `buffers(name, shape)` gives memory where it has to be copied."""
        raise NotImplementedError

    def backprop(self, epsilon: Array) -> Array:
        """Return epsilon in the shape that `pre_process` received."""
        raise NotImplementedError

    def output_type(self, input_type: InputType) -> InputType:
        """Return what the layer receives."""
        raise NotImplementedError


class FeedForwardToCnnPreProcessor(InputPreProcessor):
    """Rows ``[N, C * H * W]`` to images ``[N, C, H, W]``, in c order; images pass.

    Notes
    -----
    Source: DL4J ``FeedForwardToCnnPreProcessor``.
    """

    def pre_process(self, x: Array, buffers: Buffers) -> Array:
        if x.ndim == 4:
            check_shape("FeedForwardToCnnPreProcessor", x.shape, ("N", *self.image))
            return x
        check_shape("FeedForwardToCnnPreProcessor", x.shape, ("N", self.features))
        return nd.reshape(nd.to_activation_order(x, buffers), (x.shape[0], *self.image))

    def backprop(self, epsilon: Array) -> Array:
        return nd.reshape(epsilon, (epsilon.shape[0], self.features))

    def output_type(self, input_type: InputType) -> InputType:
        return ConvolutionalType(self.input_height, self.input_width, self.num_channels)


class CnnToFeedForwardPreProcessor(InputPreProcessor):
    """Images ``[N, C, H, W]`` to rows ``[N, C * H * W]``, in c order; rows pass.

    Notes
    -----
    Source: DL4J ``CnnToFeedForwardPreProcessor``.
    """

    def pre_process(self, x: Array, buffers: Buffers) -> Array:
        if x.ndim == 2:
            check_shape("CnnToFeedForwardPreProcessor", x.shape, ("N", self.features))
            return x
        check_shape("CnnToFeedForwardPreProcessor", x.shape, ("N", *self.image))
        return nd.reshape(nd.to_activation_order(x, buffers), (x.shape[0], self.features))

    def backprop(self, epsilon: Array) -> Array:
        return nd.reshape(epsilon, (epsilon.shape[0], *self.image))

    def output_type(self, input_type: InputType) -> InputType:
        return FeedForwardType(self.features)


PREPROCESSORS: dict[str, type[InputPreProcessor]] = {
    "cnn_to_feed_forward": CnnToFeedForwardPreProcessor,
    "feed_forward_to_cnn": FeedForwardToCnnPreProcessor,
}
"""Name -> class, sorted."""


def to_images(input_type: InputType) -> InputPreProcessor | None:
    """Return what turns that input into images; None where it is images already, or cannot be."""
    if isinstance(input_type, ConvolutionalFlatType):
        return FeedForwardToCnnPreProcessor(input_type.height, input_type.width, input_type.channels)
    return None


def to_rows(input_type: InputType) -> InputPreProcessor | None:
    """Return what turns that input into rows; None where it is rows already."""
    if isinstance(input_type, ConvolutionalType):
        return CnnToFeedForwardPreProcessor(input_type.height, input_type.width, input_type.channels)
    return None
