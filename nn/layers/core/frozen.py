"""FrozenLayer: another layer, whose parameters stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import nd
from nd.typing import Array
from optimize import NoOp, Regularization, Updater

from ...terms.java_form import JavaForm
from ...terms.noise import NumbersInForce
from ...terms.params import ParamSpec
from ..base import LayerConf
from ..runtime import Context, Kept, Params, State
from ..wrapping import WrappingConf, WrappingRuntime


class FrozenRuntime(WrappingRuntime):
    """The other layer outside of training; its gradients are zeros."""

    pure = splits = True

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, object, State]:
        return self.layer.propagate(x, state, params, ctx.inner("frozen", training=False))

    def backward(self, epsilon: Array, cache: Kept, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        below = self.back_through(epsilon, cache, grads, ctx)
        for view in grads.values():
            nd.fill(view, 0.0)  # layers write theirs on the way
        return below

    def may_split(self, training: bool) -> bool:
        return self.layer.may_split(False)

    has_noise = False  # which is that of training

    def has_to_meet(self, training: bool) -> bool:
        return self.layer.has_to_meet(False)

    def scheduled_numbers(self) -> list[NumbersInForce]:
        return []  # there is no noise outside of training


@dataclass(frozen=True, kw_only=True)
class FrozenLayer(WrappingConf):
    """A layer that is not trained.

    Parameters
    ----------
    layer : LayerConf
        Behaves as outside of training, so without dropout; its parameters get no gradient, penalty or update. A
        `drop_out` of the frozen layer itself has no effect either.

    Raises
    ------
    ConfigurationError
        `layer` is no layer, or has a loss.

    Notes
    -----
    Parameters lie in the network's vector as the layer's own would, without updater state. Backpropagation ends where
    nothing below has parameters to train. Source: DL4J ``FrozenLayer``. Differs: Java's backpropagation always ends
    at such a layer, so that trainable layers below are not trained.
    """

    runtime: ClassVar = FrozenRuntime
    role: ClassVar[str] = "frozen"
    instead: ClassVar[str] = "Freeze those below it."
    constraints: ClassVar[None] = None
    gradient_normalization: ClassVar[None] = None
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {"layer": ("layer", "layer")}, {"constraints": None}, package="misc."
    )

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(replace(spec, trainable=False) for spec in super().param_specs())

    def regularization_of(self, bias: bool) -> tuple[Regularization, ...]:
        """Return no penalties."""
        return ()

    def updater_of(self, bias: bool) -> Updater:
        """Return the updater that keeps no state; its gradients are zeros."""
        return NoOp()


@dataclass(frozen=True, kw_only=True)
class FrozenLayerWithBackprop(FrozenLayer):
    """The same as `FrozenLayer`, under the name that Java has for a frozen layer above trainable ones.

    Notes
    -----
    The updater's state has a place for the parameters, where it stays at its start, as in Java. Source: DL4J
    ``FrozenLayerWithBackprop``.
    """

    form: ClassVar[JavaForm] = LayerConf.form.more(
        {"underlying": ("layer", "layer")}, {"constraints": None}, package="misc."
    )

    def updater_of(self, bias: bool) -> Updater:
        return WrappingConf.updater_of(self, bias)
