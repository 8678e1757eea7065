"""ShuffleChannel and Reorg: numbers of other channels."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import CaffeLayer, Shape
from .spatial import image_shape


class ShuffleChannel(CaffeLayer):
    """Channels in turn from each of `group` groups: the first of every group, then the second of every group.

    Notes
    -----
    Source: ShuffleNet (Zhang and others 2017), shuffle_channel_layer.cpp.
    """

    pure = splits = True

    def setup(self) -> None:
        self.group = self.message.shuffle_channel_param.group
        if self.group < 1:
            raise ConfigurationError(f"{self.label}: group must be >= 1, got {self.group}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        (shape,) = bottoms
        if len(shape) < 2 or shape[1] % self.group:
            raise ShapeError(
                f"{self.label}: expected a bottom [N, C, ...] whose channels {self.group} groups divide, got "
                f"{describe_shape(shape)}."
            )
        return [shape]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        (x,) = xs
        return self._shuffled(x, self.group, nd.buffer_like(x, ctx.buffer, "y")), None

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        below = self.below(epsilon, 0, ctx)
        if below is None:
            return [None]
        return [self._shuffled(epsilon, max(epsilon.shape[1] // self.group, 1), below)]

    def _shuffled(self, x: Array, groups: int, out: Array) -> Array:
        n, channels, *places = x.shape
        there = nd.reshape_view(out, (n, channels // groups, groups, *places))
        back = nd.permute(there, (0, 2, 1, *range(3, there.ndim)))
        nd.assign(back, nd.reshape(x, (n, groups, channels // groups, *places)))
        return out


class Reorg(CaffeLayer):
    """Places as channels, in Darknet's order: ``[N, C, H, W]`` to ``[N, C s s, H / s, W / s]``. Of YOLO's forks.

    Notes
    -----
    Every example is read as ``[C / s^2, H, s, W, s]`` in c order, put in the order ``[s, s, C / s^2, H, W]`` and read
    as the top, so that numbers do not stay near their places. With `reverse` an example is read as ``[s, s, C / s^2, H,
    W]`` and put in the order ``[C / s^2, H, s, W, s]``, which is the top ``[N, C / s^2, H s, W s]``. Source: Darknet's
    YOLOv2, and forks of Caffe after it, reorg_layer.cpp. Differs: the way back is the derivative; some forks read
    another array there.
    """

    pure = splits = True

    def setup(self) -> None:
        self.settings = self.message.reorg_param
        if self.settings.stride < 1:
            raise ConfigurationError(f"{self.label}: stride must be >= 1, got {self.settings.stride}.")

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        n, channels, height, width = image_shape(self, bottoms[0])
        stride, reverse = self.settings.stride, self.settings.reverse
        if channels % stride**2 or (not reverse and (height % stride or width % stride)):
            places = "" if reverse else ", and height and width by the stride"
            raise ShapeError(
                f"{self.label}: the channels must be divisible by stride^2 = {stride**2}{places}, got "
                f"{describe_shape(bottoms[0])}."
            )
        if reverse:
            return [(n, channels // stride**2, height * stride, width * stride)]
        return [(n, channels * stride**2, height // stride, width // stride)]

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, Shape]:
        shape = tuple(xs[0].shape)
        return nd.reshape(self._moved(xs[0], shape, self.settings.reverse), self.top_shapes([shape])[0]), shape

    def backward(
        self, epsilon: Array, cache: Shape, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        if not ctx.needs_epsilons[0]:
            return [None]
        return [nd.reshape(self._moved(epsilon, cache, not self.settings.reverse), cache)]

    def _moved(self, x: Array, shape: Shape, reverse: bool) -> Array:
        """Return the numbers in their new order, with six axes; `shape` is that of the bottom."""
        (n, channels, height, width), stride = shape, self.settings.stride
        each = channels // stride**2
        if reverse:
            return nd.permute(nd.reshape(x, (n, stride, stride, each, height, width)), (0, 3, 4, 1, 5, 2))
        return nd.permute(nd.reshape(x, (n, each, height, stride, width, stride)), (0, 3, 5, 1, 2, 4))
