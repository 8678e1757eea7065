"""MaskLayer: zeros where a mask is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.checks import describe_shape
from nd.typing import Array

from ...terms.java_form import PARAMETERLESS, JavaForm
from ..base import LayerConf
from ..runtime import Context, LayerRuntime, Params


class MaskRuntime(LayerRuntime):
    """A product with the mask each way."""

    pure = splits = True
    takes_dropout = False

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, None]:
        if ctx.mask is None:
            return x, None
        return nd.multiply(x, self._over(ctx.mask, tuple(x.shape)), nd.buffer_like(x, ctx.buffer, "a")), None

    def backward(self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: Context) -> Array | None:
        if ctx.mask is None or not ctx.needs_epsilon:
            return epsilon if ctx.needs_epsilon else None
        return nd.muli(epsilon, self._over(ctx.mask, tuple(epsilon.shape)))

    def _over(self, mask: Array, shape: tuple[int, ...]) -> Array:
        """Return the mask as it broadcasts to activations; raise ShapeError if it does not."""
        given, full = tuple(mask.shape), mask
        if len(shape) == 3 and given == (shape[0], shape[2]):
            full = nd.reshape(mask, (shape[0], 1, shape[2]))
        elif given == (shape[0], 1):
            full = nd.reshape(mask, (shape[0], *(1 for _ in shape[1:])))
        fits = full.ndim == len(shape) and full.shape[0] == shape[0]
        if not fits or any(size not in (1, there) for size, there in zip(full.shape, shape, strict=True)):
            allowed = {3: "[N, T]", 4: "[N, 1, H, W]", 5: "[N, 1, D, H, W]"}.get(len(shape), "[N, 1]")
            raise nd.ShapeError(
                f"{self.label}: mask must be {allowed} for input {describe_shape(shape)}, got {describe_shape(given)}."
            )
        return full


@dataclass(frozen=True, kw_only=True)
class MaskLayer(LayerConf):
    """Multiplies activations by the mask of the features, so that what does not count is 0 for the layers behind.

    Parameters
    ----------
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    a = x * mask, for rows ``[N, C]`` with a mask ``[N, 1]``, series ``[N, C, T]`` with ``[N, T]``, images ``[N, C, H,
    W]`` with ``[N, 1, H, W]``, of which H or W may be 1; without a mask a = x. The mask goes on to the next layer.
    Source: DL4J ``MaskLayer``.
    """

    runtime: ClassVar = MaskRuntime
    inherited: ClassVar[tuple[str, ...]] = ()
    form: ClassVar[JavaForm] = LayerConf.form.more(constants=PARAMETERLESS, package="util.")
