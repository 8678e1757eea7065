"""ActivationLayer: an activation function and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd
from nd.activations import Activation, get_activation
from nd.typing import Array

from ...terms.java_form import PARAMETERLESS, JavaForm
from ..base import LayerConf
from ..runtime import Context, LayerRuntime, Params, by_places


class ActivationRuntime(LayerRuntime):
    """Forward and backward of an activation over any shape."""

    pure = splits = True
    takes_dropout = False

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, object]:
        if not ctx.activates:
            return x, None
        a = nd.buffer_like(x, ctx.buffer, "a")
        self.activating.value(self._along(x), self._along(a), ctx.training)
        return a, (x, a)

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        x, a = cache
        below = nd.buffer_like(a, ctx.buffer, "below")  # in the order of the activations, which epsilon need not have
        self.activating.backprop(*map(self._along, (x, a, epsilon, below)))
        return below

    def _along(self, x: Array) -> Array:
        """View an array with the axis last that the activation may go along."""
        return by_places(x) if self.over_channels and x.ndim > 2 else x


@dataclass(frozen=True, kw_only=True)
class ActivationLayer(LayerConf):
    """Applies an activation function to an input of any shape.

    Parameters
    ----------
    activation : str or Activation
    input_format : str, optional
        Format of what comes in: the network sets it.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Applies no dropout, neither its own `drop_out`, of which the log says so, nor the network's, as in Java. Source:
    DL4J ``ActivationLayer``.
    """

    activation: str | Activation | None = field(default=None, kw_only=False)
    input_format: str | None = field(default=None, repr=False, compare=False)
    runtime: ClassVar = ActivationRuntime
    inherited: ClassVar[tuple[str, ...]] = ("drop_out", "activation")
    positional: ClassVar[tuple[str, ...]] = ("activation",)
    form: ClassVar[JavaForm] = LayerConf.form.more({"activationFn": ("activation", "activation")}, PARAMETERLESS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation is not None:
            object.__setattr__(self, "activation", get_activation(self.activation))
