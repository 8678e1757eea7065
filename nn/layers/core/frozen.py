"""FrozenLayer: another layer, whose parameters stay as they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.typing import Array
from optimize import NoOp, Regularization, Updater

from ...conf.input_type import InputType
from ...conf.java_form import JavaForm
from ...conf.preprocessors import InputPreProcessor
from ...step.params import ParamSpec
from ..base import LayerConf
from ..runtime import Context, Kept, LayerRuntime, Params, State

if TYPE_CHECKING:
    from ...conf.network import NeuralNetConfiguration


class FrozenRuntime(LayerRuntime):
    """The other layer outside of training; its gradients are zeros."""

    pure = splits = True
    takes_dropout = False
    takes_weight_noise = False

    def setup(self) -> None:
        conf = self.conf.layer
        self.layer: LayerRuntime = conf.runtime(conf, self.label, self.dtype)
        self.ends_backprop = self.layer.ends_backprop

    def initial_state(self, examples: int) -> State:
        return self.layer.initial_state(examples)

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, Any, State]:
        return self.layer.propagate(x, state, params, ctx.inner("frozen", training=False))

    def backward(self, epsilon: Array, cache: Kept, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        cache.context.needs_epsilon = True  # forward's context may not have known that dL/d(features) is asked for
        below = self.layer.backpropagate(epsilon, cache, grads)
        for view in grads.values():
            nd.fill(view, 0.0)  # layers write theirs on the way
        return below

    def feed_forward_mask(self, mask: Array) -> Array | None:
        return self.layer.feed_forward_mask(mask)

    def may_split(self, training: bool) -> bool:
        return self.layer.may_split(False)


@dataclass(frozen=True, kw_only=True)
class FrozenLayer(LayerConf):
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

    layer: LayerConf | None = field(default=None, kw_only=False)
    runtime: ClassVar = FrozenRuntime
    inherited: ClassVar[tuple[str, ...]] = ()
    positional: ClassVar[tuple[str, ...]] = ("layer",)
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {"layer": ("layer", "layer")}, {"constraints": None}, package="misc."
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        if not isinstance(self.layer, LayerConf):
            raise nd.ConfigurationError(f"{who}: layer must be a layer configuration, got {self.layer!r}.")
        if hasattr(self.layer, "loss"):
            raise nd.ConfigurationError(
                f"{who}: a layer with a loss cannot be frozen, got {type(self.layer).__name__}. Freeze those below it."
            )

    @property
    def _wrapped(self) -> LayerConf:
        return self.layer  # type: ignore[return-value]

    @property
    def innermost(self) -> LayerConf:
        return self._wrapped.innermost

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        named = replace(self._wrapped, name=self._wrapped.name or self.name)
        layer = named.resolved(defaults, index)
        return replace(self, layer=layer, name=self.name or layer.name)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return self._wrapped.preprocessor_for(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return replace(self, layer=self._wrapped.with_inputs(label, input_type))

    def output_type(self, label: str, input_type: InputType) -> InputType:
        return self._wrapped.output_type(label, input_type)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        layer, after = self._wrapped.following(label, before)
        return replace(self, layer=layer), after

    @property
    def said_format(self) -> str | None:
        return self._wrapped.said_format

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        layer, behind = self._wrapped.in_format(label, incoming)
        return replace(self, layer=layer), behind

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return tuple(replace(spec, trainable=False) for spec in self._wrapped.param_specs())

    def check(self, label: str) -> None:
        self._wrapped.check(label)

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
        inner: Any = self.innermost
        return inner.updater_of(bias)
