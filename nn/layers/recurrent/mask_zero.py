"""MaskZeroLayer: a mask of the time steps at which another layer's input is blank."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import nd
from nd.checks import describe_shape
from nd.typing import Array

from ...terms.java_form import JavaForm
from ..runtime import Context, Params, State
from ..wrapping import WrappingConf, WrappingRuntime

if TYPE_CHECKING:
    from ..runtime import Kept


class MaskZeroRuntime(WrappingRuntime):
    """The other layer, with a mask that its input says."""

    pure = splits = True

    def forward_from(
        self, x: Array, state: State, params: Params, ctx: Context
    ) -> tuple[Array, Kept, tuple[Array, ...]]:
        if x.ndim != 3:
            raise nd.ShapeError(
                f"{self.label}: expected time series [N, C, T], got {describe_shape(x.shape)}. Set the network's "
                "input type: InputType.recurrent(n, t)."
            )
        n, channels, steps = x.shape
        blank = nd.equal(x, self.conf.masking_value, ctx.buffer("blank", (n, channels, steps)))
        count = nd.sum_into(blank, 1, ctx.buffer("blanks", (n, steps)))
        inner = ctx.inner("wrapped")
        inner.masks_steps = True
        inner.mask = nd.greater(float(channels), count, ctx.buffer("mask", (n, steps)))
        return self.layer.propagate(x, state, params, inner)

    def feed_forward_mask(self, mask: Array) -> None:
        return None


@dataclass(frozen=True, kw_only=True)
class MaskZeroLayer(WrappingConf):
    """Another layer, with a mask that its input says: steps do not count at which all numbers are one value.

    Parameters
    ----------
    layer : LayerConf
        A layer over time series. Its own dropout is applied, a `drop_out` of this one has no effect, as in Java.
    masking_value : float
        Usually 0, with which shorter series are filled up.

    Raises
    ------
    ConfigurationError
        `layer` is no layer, or has a loss.

    Notes
    -----
    mask_t = 0 where x_ct = masking_value for all c. It takes the place of a mask of the features, and no mask goes on
    to the next layer, as in Java. Input, output, parameters, updaters and state are the layer's. Source: DL4J
    ``MaskZeroLayer``. Differs: the steps do not count in truncated backprop and step by step either, where Java goes
    past this layer; around an `LSTM` the gradient is that of the score, in Java errors go past the mask.
    """

    masking_value: float = field(default=0.0, kw_only=False)
    runtime: ClassVar = MaskZeroRuntime
    positional: ClassVar[tuple[str, ...]] = ("layer", "masking_value")
    builder_names: ClassVar[dict[str, str]] = {**WrappingConf.builder_names, "mask_value": "masking_value"}
    form: ClassVar[JavaForm] = WrappingConf.form.more({"maskingValue": ("masking_value", "real")}, package="util.")
