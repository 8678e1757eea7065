"""Layers around another layer: what all of them hand on to it, configuration and runtime."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.typing import Array
from optimize import LayerConstraint, Regularization, Updater

from ..terms.input_type import InputType
from ..terms.java_form import JavaForm
from ..terms.noise import NumbersInForce
from ..terms.params import ParamSpec
from ..terms.preprocessors import InputPreProcessor
from .base import LayerConf
from .runtime import Context, Kept, LayerRuntime, Params, State

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration


class WrappingRuntime(LayerRuntime):
    """A layer around another one, `layer`, with whose parameters and state it works.

    The cache is what that layer's `backpropagate` needs, and more where a class says so.
    """

    pure = splits = True
    takes_dropout = False
    noised = ()

    def setup(self) -> None:
        conf = self.conf.layer
        self.layer: LayerRuntime = conf.runtime(conf, self.label, self.dtype)
        self.ends_backprop = self.layer.ends_backprop

    @property
    def readers(self) -> tuple[LayerRuntime, ...]:
        """Layers inside that read the input as it comes."""
        return (self.layer,)

    def initial_state(self, examples: int) -> State:
        return self.layer.initial_state(examples)

    def forward_from(self, x: Array, state: State, params: Params, ctx: Context) -> tuple[Array, object, State]:
        return self.layer.propagate(x, state, params, ctx.inner("wrapped"))

    def backward(self, epsilon: Array, cache: Any, params: Params, grads: Params, ctx: Context) -> Array | None:
        return self.back_through(epsilon, cache, grads, ctx)

    def back_through(self, epsilon: Array, kept: Kept, grads: Params, ctx: Context) -> Array | None:
        """Take a gradient back through the other layer."""
        kept.context.needs_epsilon = ctx.needs_epsilon  # forward's context may not have known what is asked for
        return self.layer.backpropagate(epsilon, kept, grads)

    def feed_forward_mask(self, mask: Array) -> Array | None:
        return self.layer.feed_forward_mask(mask)

    def mask_behind(self, kept: Kept) -> Array | None:
        return self.layer.mask_behind(kept.cache)

    def may_split(self, training: bool) -> bool:
        return self.layer.may_split(training)

    @property
    def has_noise(self) -> bool:
        return self.layer.has_noise

    def has_to_meet(self, training: bool) -> bool:
        return self.layer.has_to_meet(training)

    def scheduled_numbers(self) -> list[NumbersInForce]:
        return self.layer.scheduled_numbers()


@dataclass(frozen=True, kw_only=True)
class WrappingConf(LayerConf):
    """Shared by layers around another one, which is asked for everything that a class does not say itself.

    Parameters
    ----------
    layer : LayerConf
        The other layer. It has no loss.

    Raises
    ------
    ConfigurationError
        `layer` is no layer, or has a loss.
    """

    layer: LayerConf | None = field(default=None, kw_only=False)
    runtime: ClassVar = WrappingRuntime
    inherited: ClassVar[tuple[str, ...]] = ()
    positional: ClassVar[tuple[str, ...]] = ("layer",)
    role: ClassVar[str] = "inside of another one"
    instead: ClassVar[str] = "Put it behind this one."
    """What the layer is here, and what to do instead, in the message about one with a loss."""
    builder_names: ClassVar[dict[str, str]] = {**LayerConf.builder_names, "underlying": "layer"}
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {"underlying": ("layer", "layer")},
        {"constraints": None},
        derived={
            "gradientNormalization": ("gradient_normalization", "normalization"),
            "gradientNormalizationThreshold": lambda conf: conf.gradient_normalization_threshold,
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        if not isinstance(self.layer, LayerConf):
            raise nd.ConfigurationError(f"{who}: layer must be a layer configuration, got {self.layer!r}.")
        if hasattr(self.layer, "loss"):
            raise nd.ConfigurationError(
                f"{who}: a layer with a loss cannot be {self.role}, got {type(self.layer).__name__}. {self.instead}"
            )

    @property
    def inside(self) -> LayerConf:
        """The other layer, which there is."""
        return self.layer  # type: ignore[return-value]

    def around(self, layer: LayerConf) -> Self:
        """Return a copy around another layer."""
        return replace(self, layer=layer)

    @property
    def innermost(self) -> LayerConf:
        return self.inside.innermost

    @property
    def takes(self) -> str | None:
        """Kind of what comes in, where the other layer says it."""
        return getattr(self.layer, "takes", None)

    @property
    def n_in(self) -> int | None:
        """Numbers or channels that come in, where the other layer says it."""
        return getattr(self.layer, "n_in", None)

    @property
    def n_out(self) -> int | None:
        """Numbers or channels that go out, where the other layer says it."""
        return getattr(self.layer, "n_out", None)

    @property
    def reads_ahead(self) -> bool:  # type: ignore[override]
        """Whether the other layer does."""
        return self.inside.reads_ahead

    @property
    def gives_steps(self) -> bool:
        """Whether the other layer's activations lie step by step in Java's memory."""
        return getattr(self.layer, "gives_steps", False)

    @property
    def of_whole_series(self) -> bool:  # type: ignore[override]
        """Whether the other layer's rows are."""
        return self.inside.of_whole_series

    @property
    def drawings(self) -> int:  # type: ignore[override]
        """As often as the other layer."""
        return self.inside.drawings

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        self.say_what_is_ignored(index)
        layer = replace(self.inside, name=self.inside.name or self.name).resolved(defaults, index)
        return replace(self.around(layer), name=self.name or layer.name)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return self.inside.preprocessor_for(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.around(self.inside.with_inputs(label, input_type))

    def output_type(self, label: str, input_type: InputType) -> InputType:
        return self.inside.output_type(label, input_type)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        layer, after = self.inside.following(label, before)
        return self.around(layer), after

    @property
    def said_format(self) -> str | None:
        return self.inside.said_format

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        layer, behind = self.inside.in_format(label, incoming)
        return self.around(layer), behind

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.inside.param_specs()

    def check(self, label: str) -> None:
        self.inside.check(label)

    # ---- how the parameters are trained: as the other layer says, which has these where it has parameters

    @property
    def constraints(self) -> tuple[LayerConstraint, ...] | None:
        """Limits of the parameters after every update."""
        return getattr(self.layer, "constraints", None)

    @property
    def gradient_normalization(self) -> str | None:
        """Of the gradient of all parameters."""
        return getattr(self.layer, "gradient_normalization", None)

    @property
    def gradient_normalization_threshold(self) -> float | None:
        """Threshold of that."""
        return getattr(self.layer, "gradient_normalization_threshold", None)

    def regularization_of(self, bias: bool) -> tuple[Regularization, ...]:
        """Return the penalties on weights, or on biases."""
        inside: Any = self.layer
        return inside.regularization_of(bias)

    def updater_of(self, bias: bool) -> Updater:
        """Return the updater of weights, or of biases."""
        inside: Any = self.layer
        return inside.updater_of(bias)
