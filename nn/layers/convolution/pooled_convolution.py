"""A convolution and the max pooling after it, run as one."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import nd
from nd.activations import Identity, Softmax
from nd.arrays import convolution
from nd.arrays.convolution import Window
from nd.typing import Array

from ...terms.enums import PoolingType
from ...terms.noise import NumbersInForce
from ..core.frozen import FrozenRuntime
from ..pooling.subsampling import SubsamplingRuntime
from ..runtime import Activating, Context, Kept, LayerRuntime, Noising, Params, State
from .convolution import ConvolutionRuntime


class PooledCache(NamedTuple):
    """Results of forward that backward needs."""

    saved: Any
    pooled: Array
    windows: tuple[Window, Window]


class PooledConvolution(LayerRuntime):
    """Forward and backward of both layers; the convolution's own activations are in memory only where somebody looks.

    Only the winner of every window gets a gradient, and its activation is the one that pooling hands on: so the
    gradient goes back through the activation on the pooled array, a quarter as large. Parameters, dropout and weight
    noise are the convolution's.
    """

    pure = splits = True
    masks_activations = False

    def __init__(self, convolution: ConvolutionRuntime, pooling: SubsamplingRuntime) -> None:
        self.convolution, self.pooling = convolution, pooling
        super().__init__(convolution.conf, convolution.label, convolution.dtype)

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, PooledCache]:
        window = self.convolution.windows.over(x, self.conf.n_in)
        windows = (window, self.pooling.windows.over_size(window.out))
        linear, activating = isinstance(self.activation, Identity), self.activating
        activate = None if linear else lambda z: activating.value(z, z, ctx.training)
        buffers = ctx.buffer, ctx.inner("pooling").buffer  # both primitives may use the same names
        inner = None
        if ctx.shown is not None:
            inner = ctx.buffer("inner", (x.shape[0], self.conf.n_out, *window.out))
            ctx.shown.append(inner)
        pooled, saved = convolution.conv2d_max_pool(
            x, params["W"], params.get("b"), activate, windows, buffers, ctx.training, inner
        )
        return pooled, PooledCache(saved, pooled, windows)

    def backward(self, epsilon: Array, cache: PooledCache, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not isinstance(self.activation, Identity):
            epsilon = self.activation_gradient(epsilon, cache.pooled, cache.pooled, ctx)
        gradients = grads["W"], grads.get("b")
        buffers = ctx.buffer, ctx.inner("pooling").buffer
        return convolution.conv2d_max_pool_backward(
            epsilon, cache.saved, params["W"], cache.windows, gradients, buffers, ctx.needs_epsilon
        )

    def feed_forward_mask(self, mask: Array) -> Array | None:
        between = self.convolution.feed_forward_mask(mask)
        return None if between is None else self.pooling.feed_forward_mask(between)

    @cached_property
    def drop_numbers(self) -> NumbersInForce:
        """The convolution's, which are put in force for every iteration."""
        return self.convolution.drop_numbers

    @cached_property
    def noising(self) -> Noising | None:
        """The convolution's weight noise, whose numbers are put in force for every iteration."""
        return self.convolution.noising

    @cached_property
    def activating(self) -> Activating:
        """The convolution's."""
        return self.convolution.activating


class FrozenPooledConvolution(PooledConvolution):
    """Both frozen, with nothing to train below: forward as outside of training, backward only where somebody looks."""

    pure = splits = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Array]:  # type: ignore[override]
        return super().forward(x, params, ctx)[0], x

    def backward(self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: Context) -> Array | None:  # type: ignore[override]
        first, second = (Context(False, ctx.inner(name).buffer) for name in ("again", "again.pooling"))
        between, of_convolution, _ = self.convolution.propagate(cache, (), params, first)
        _, of_pooling, _ = self.pooling.propagate(between, (), {}, second)
        below = self.pooling.backpropagate(epsilon, of_pooling, {})
        below = self.convolution.backpropagate(below, of_convolution, grads)  # type: ignore[arg-type]
        for view in grads.values():
            nd.fill(view, 0.0)  # the convolution writes its own on the way
        return below

    def propagate(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, Kept, State]:
        return super().propagate(x, state, params, ctx.inner("frozen", training=False))


def paired(first: LayerRuntime, second: LayerRuntime, forward_only: bool) -> PooledConvolution | None:
    """Return a runtime of two layers as one, None where they have to run one after the other.

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
