"""A convolution and the max pooling after it, run as one."""

from __future__ import annotations

from typing import Any, NamedTuple

from nd import convolution
from nd.activations import Identity, Softmax

from ..conf.enums import PoolingType
from .convolution import ConvolutionRuntime
from .frozen import FrozenRuntime
from .runtime import LayerRuntime
from .subsampling import SubsamplingRuntime

Array = Any


class PooledCache(NamedTuple):
    """What forward keeps for backprop."""

    saved: Any
    pooled: Array
    drop_mask: Array | None
    windows: tuple[Any, Any]
    W: Array


class PooledConvolution:
    """Forward and backward of both layers; the convolution's own activations are never whole in memory.

    Only the winner of every window gets a gradient, and its activation is what pooling hands on: so the way back
    through the activation is taken on the pooled array, a quarter as large.
    """

    def __init__(self, convolution: ConvolutionRuntime, pooling: SubsamplingRuntime) -> None:
        self.convolution, self.pooling = convolution, pooling
        self.buffers = convolution.buffers
        self._both_buffers = (convolution.buffers, pooling.buffers)
        self._activation = None if isinstance(convolution.activation, Identity) else convolution.activation

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, PooledCache]:
        """Return the pooled activations ``[N, n_out, out_h, out_w]`` and what `backprop_gradient` needs."""
        layer, activation = self.convolution, self._activation
        x, drop_mask = layer.drop_input(x, training)
        weights = layer.weights(training)
        window = layer.windows.over(x, layer.conf.n_in)
        windows = (window, self.pooling.windows.over_size(window.out))
        activate = None if activation is None else lambda z: layer.activating.value(z, z, training)
        pooled, saved = convolution.conv2d_max_pool(
            x, weights["W"], weights.get("b"), activate, windows, self._both_buffers, keep=training
        )
        return pooled, PooledCache(saved, pooled, drop_mask, windows, weights["W"])

    def backprop_gradient(self, epsilon: Array, cache: PooledCache, need_epsilon: bool = True) -> Array | None:
        """Write the convolution's gradients; return dL/dx unless nobody needs it. As `LayerRuntime`'s."""
        layer = self.convolution
        if self._activation is not None:
            epsilon = layer.activating.backprop(cache.pooled, cache.pooled, epsilon)
        below = convolution.conv2d_max_pool_backward(
            epsilon, cache.saved, cache.W, cache.windows, layer.gradients, self._both_buffers, need_epsilon
        )
        return below if cache.drop_mask is None else layer.undropped(below, cache.drop_mask)

    def feed_forward_mask(self, mask: Array) -> Array | None:
        """Return the mask of the pooled activations, from that of the input."""
        between = self.convolution.feed_forward_mask(mask)
        return None if between is None else self.pooling.feed_forward_mask(between)


class FrozenPooledConvolution(PooledConvolution):
    """Both frozen, with nothing to train below: forward as outside of training, and never backward."""

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, PooledCache]:
        return super().forward(x, False, mask)


def paired(first: LayerRuntime, second: LayerRuntime, forward_only: bool) -> PooledConvolution | None:
    """Return what runs two layers as one, None where they have to run one after the other.

    `forward_only` says that no gradient will be asked of them.
    """
    if forward_only and isinstance(first, FrozenRuntime) and isinstance(second, FrozenRuntime):
        inner = first.layer, second.layer
        return FrozenPooledConvolution(*inner) if can_pool(*inner) else None  # type: ignore[arg-type]
    return PooledConvolution(first, second) if can_pool(first, second) else None  # type: ignore[arg-type]


def can_pool(first: LayerRuntime, second: LayerRuntime) -> bool:
    """Tell whether the two run as one: max pooling after a convolution whose activation gives its own slope."""
    return (
        type(first) is ConvolutionRuntime
        and type(second) is SubsamplingRuntime
        and second.conf.pooling_type == PoolingType.MAX
        and (isinstance(first.activation, Identity) or first.activation.overwrites)
        and not isinstance(first.activation, Softmax)
    )
