"""What every layer is: a frozen configuration, and a runtime over views of the network's vectors."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import nd
from nd.activations import Activation, get_activation
from nd.checks import check_choice, describe_shape
from optimize import LayerConstraint, Regularization, Updater, get_updater
from optimize.builder import Builder
from optimize.gradient_normalization import check_gradient_normalization

from ..conf.constraints import FIELDS as CONSTRAINT_FIELDS
from ..conf.constraints import normalise_constraints, placed_constraints
from ..conf.distributions import Distribution
from ..conf.dropout import IDropout, as_dropout
from ..conf.input_type import FeedForwardType, InputType
from ..conf.penalties import PENALTY_VERBS, Decay, Penalty, regularization_of, settle_penalties, without_rivals
from ..conf.weight_noise import IWeightNoise, as_weight_noise
from ..params import ParamSpec
from ..preprocessors import InputPreProcessor, to_rows
from ..weights import WEIGHT_INITS
from .activating import Activating
from .noising import NoisyRuntime

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration

Array = Any
Constraints = LayerConstraint | Sequence[LayerConstraint] | None


def label_of(index: int, conf: LayerConf) -> str:
    """Name a layer as the messages do: ``layer 2 'fc1' (DenseLayer)``."""
    name = "" if conf.name in (None, f"layer{index}") else f" {conf.name!r}"
    return f"layer {index}{name} ({type(conf).__name__})"


@dataclass(frozen=True, kw_only=True)
class LayerConf:
    """Configuration of a layer. What is None is taken from the network's defaults.

    Parameters
    ----------
    name : str, optional
        Shown in errors and in the summary.
    drop_out : float or IDropout, optional
        Dropout of the layer's input, or other noise there; a number is the probability to **retain**.
    """

    name: str | None = None
    drop_out: float | IDropout | None = None

    inherited: ClassVar[tuple[str, ...]] = ("drop_out",)
    runtime: ClassVar[type[LayerRuntime]]
    positional: ClassVar[tuple[str, ...]] = ()
    """Fields that the Builder takes as arguments, as DL4J's does: ``OutputLayer.Builder(LossFunction.MSE)``."""

    @classmethod
    def Builder(cls, *arguments: Any) -> Builder:
        """Start DL4J's fluent style for this layer."""
        if len(arguments) > len(cls.positional):
            raise nd.ConfigurationError(
                f"{cls.__name__}.Builder: takes {list(cls.positional)}, got {list(arguments)}. Set others by name."
            )
        return Builder(cls, **dict(zip(cls.positional, arguments, strict=False)))

    def __post_init__(self) -> None:
        object.__setattr__(self, "drop_out", as_dropout(type(self).__name__, self.drop_out))

    @property
    def innermost(self) -> LayerConf:
        """The layer that does the work: this one, unless it wraps another."""
        return self

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        """Return a copy with every unset value taken from the network's defaults."""
        unset = {name: getattr(defaults, name) for name in self.inherited if getattr(self, name) is None}
        return replace(self, **unset, name=self.name or f"layer{index}")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        """Return what has to stand between that input and this layer."""
        return None

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        """Return a copy whose n_in is that of the input.

        Raises
        ------
        ConfigurationError
            n_in was given and is another, or the layer cannot take such an input.
        """
        return self

    def output_type(self, label: str, input_type: InputType) -> InputType:
        """Return the kind and size of the layer's activations.

        Raises
        ------
        ShapeError
            The layer does not fit on the input.
        """
        return input_type

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        """Return a copy that fits on the layer before, and what comes out, where no input type says more.

        `before` is ("rows", n_out), ("images", channels), or None when it is not known.
        """
        return self, before

    def param_specs(self) -> tuple[ParamSpec, ...]:
        """Return the layer's parameters in the order of the flat vector."""
        return ()

    def param_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name -> shape, in the order of the flat vector."""
        return {spec.name: spec.shape for spec in self.param_specs()}

    def check(self, label: str) -> None:
        """Raise ConfigurationError unless the layer is complete, so that parameters can be made."""


@dataclass(frozen=True, kw_only=True)
class BaseLayerConf(LayerConf):
    """A layer with an activation and parameters.

    Parameters
    ----------
    activation : str or Activation, optional
    weight_init : str or Distribution, optional
        A name from `nn.weights`, or what to draw from.
    dist : Distribution, optional
        For weight_init "distribution".
    bias_init : float, optional
        Biases start here.
    l1, l2, l1_bias, l2_bias : float or Schedule, optional
        Penalties on weights and on biases.
    weight_decay, weight_decay_bias : float, Schedule or WeightDecay, optional
        In the place of l2: a layer that has one of both does not take the other from the network's defaults.
    updater, bias_updater : str or Updater, optional
        bias_updater: for biases, by default the same.
    gradient_normalization : str, optional
        A name from `optimize.gradient_normalization`.
    gradient_normalization_threshold : float, optional
    weight_noise : IWeightNoise, optional
        What stands in for the weights in training: a DropConnect or a WeightNoise.
    constrain_weights, constrain_bias, constrain_all_parameters : LayerConstraint or several, optional
        What these parameters are held to after every update. A layer with constraints has none of the network's.
    constraints : LayerConstraint or several, optional
        The same for the parameters that each names; for the weights where it names none.
    """

    activation: str | Activation | None = None
    weight_init: str | Distribution | None = None
    dist: Distribution | None = None
    bias_init: float | None = None
    l1: Penalty = None
    l2: Penalty = None
    l1_bias: Penalty = None
    l2_bias: Penalty = None
    weight_decay: Decay = None
    weight_decay_bias: Decay = None
    updater: str | Updater | None = None
    bias_updater: str | Updater | None = None
    gradient_normalization: str | None = None
    gradient_normalization_threshold: float | None = None
    weight_noise: IWeightNoise | None = None
    constraints: Constraints = None
    constrain_weights: Constraints = None
    constrain_bias: Constraints = None
    constrain_all_parameters: Constraints = None

    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = PENALTY_VERBS
    inherited: ClassVar[tuple[str, ...]] = (
        "drop_out", "activation", "weight_init", "dist", "bias_init", "l1", "l2", "l1_bias", "l2_bias",
        "weight_decay", "weight_decay_bias", "updater", "bias_updater", "gradient_normalization",
        "gradient_normalization_threshold", "weight_noise",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation is not None:
            object.__setattr__(self, "activation", get_activation(self.activation))
        for name in ("updater", "bias_updater"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, get_updater(getattr(self, name)))
        settle_penalties(self)
        normalization = (self.gradient_normalization, self.gradient_normalization_threshold)
        normalization_name = check_gradient_normalization(type(self).__name__, *normalization)
        object.__setattr__(self, "gradient_normalization", normalization_name)
        as_weight_noise(type(self).__name__, self.weight_noise)
        normalise_constraints(self, "constraints", *CONSTRAINT_FIELDS)
        object.__setattr__(self, "weight_init", self._checked_init())
        if isinstance(self.weight_init, Distribution):
            object.__setattr__(self, "dist", None)

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        found = super().resolved(without_rivals(self, defaults), index)
        constraints = placed_constraints(label_of(index, found), found, defaults)
        return replace(found, constraints=constraints, **dict.fromkeys(CONSTRAINT_FIELDS))

    def _checked_init(self) -> str | Distribution | None:
        who, init = type(self).__name__, self.weight_init
        if init is None or isinstance(init, Distribution):
            return init
        name = check_choice(who, "weight initialisation", str(init).lower(), WEIGHT_INITS)
        if name == "distribution" and self.dist is None:
            raise nd.ConfigurationError(f"{who}: weight_init 'distribution' needs dist, got None. Pass dist=...")
        return self.dist if name == "distribution" else name

    def regularization_of(self, bias: bool) -> tuple[Regularization, ...]:
        """Return the penalties on weights, or on biases, in the order in which they are applied."""
        if bias:
            return regularization_of(self.l1_bias, self.l2_bias, self.weight_decay_bias)
        return regularization_of(self.l1, self.l2, self.weight_decay)

    def updater_of(self, bias: bool) -> Updater:
        """Return the updater of weights, or of biases."""
        return self.bias_updater if bias and self.bias_updater else self.updater  # type: ignore[return-value]


@dataclass(frozen=True, kw_only=True)
class FeedForwardConf(BaseLayerConf):
    """A layer from n_in to n_out numbers or channels.

    Parameters
    ----------
    n_in : int, optional
        Set from the network's input type when not given.
    n_out : int
    """

    n_in: int | None = None
    n_out: int | None = None
    takes: ClassVar[str] = "rows"

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("n_in", "n_out"):
            value = getattr(self, name)
            if value is None:
                continue
            if not hasattr(value, "__index__") or isinstance(value, bool) or value < 1:
                raise nd.ConfigurationError(f"{type(self).__name__}: {name} must be an integer >= 1, got {value!r}.")
            object.__setattr__(self, name, operator.index(value))

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_rows(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, input_type.size)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        layer = self.with_n_in(label, before[1]) if before is not None and before[0] == self.takes else self
        return layer, None if layer.n_out is None else (self.takes, layer.n_out)

    def with_n_in(self, label: str, n_in: int) -> Self:
        """Return a copy with that n_in; raise ConfigurationError if another one was given."""
        if self.n_in not in (None, n_in):
            raise nd.ConfigurationError(
                f"{label}: n_in must be {n_in}, the size of what comes in, got {self.n_in}. Leave n_in out, or mend it."
            )
        return replace(self, n_in=n_in)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return FeedForwardType(self.n_out)  # type: ignore[arg-type]

    def check(self, label: str) -> None:
        for name in ("n_in", "n_out"):
            if getattr(self, name) is None:
                remedy = "Give it, or pass input_type to list(...)." if name == "n_in" else "Give it."
                raise nd.ConfigurationError(f"{label}: {name} is missing. {remedy}")

    def matrix_specs(self, has_bias: bool) -> tuple[ParamSpec, ...]:
        """Return ``W [n_in, n_out]`` in f order, then ``b [1, n_out]``."""
        n_in, n_out = self.n_in or 0, self.n_out or 0
        W = ParamSpec("W", (n_in, n_out), "f", fan_in=n_in, fan_out=n_out)
        return (W, ParamSpec("b", (1, n_out), bias=True)) if has_bias else (W,)


class Cache(NamedTuple):
    """What forward keeps for backprop."""

    x: Array
    z: Array
    a: Array
    drop_mask: Array | None
    mask: Array | None
    weights: Any = None
    """Name -> parameter, as forward used it."""


class LayerRuntime(NoisyRuntime):
    """A layer at work.

    Parameters
    ----------
    conf : LayerConf
    label : str
        Who raises the errors.
    params, gradient_views : dict of name -> array
        Views of the network's vectors, in the parameters' own shapes.
    buffers : callable (name, shape) -> array
        Memory of the network's workspace.
    dtype : str
    """

    def __init__(
        self,
        conf: Any,
        label: str,
        params: dict[str, Array],
        gradient_views: dict[str, Array],
        buffers: Callable[..., Array],
        dtype: str,
    ) -> None:
        self.conf, self.label, self.dtype = conf, label, dtype
        self.params, self.gradient_views, self.buffers = params, gradient_views, buffers
        self.setup()

    def setup(self) -> None:
        """Resolve what can be resolved once."""

    def pre_output(self, x: Array, training: bool = False) -> Array:
        """Return z, what the activation is applied to, for ``x [N, ...]``."""
        return x

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Any]:
        """Return the activations and what `backprop_gradient` needs.

        Parameters
        ----------
        x : array ``[N, ...]``
        training : bool
            Apply dropout and weight noise.
        mask : array ``[N, 1]``, ``[N, T]`` or ``[N, 1, H, W]``, optional
            0 for rows, time steps or places that do not count.
        """
        raise NotImplementedError

    def backprop_gradient(self, epsilon: Array, cache: Any, need_epsilon: bool = True) -> Array | None:
        """Write dL/d(parameters) into `gradient_views`; return dL/dx unless nobody needs it.

        Parameters
        ----------
        epsilon : array of the activations' shape
            dL/d(activations), a sum over examples. May be overwritten.
        cache : object
            From `forward`. Used up.
        """
        raise NotImplementedError

    def feed_forward_mask(self, mask: Array) -> Array | None:
        """Return the mask of the layer's activations, from that of its input."""
        return mask

    # ---- shared by the layers

    ends_backprop: bool = False
    """Whether `backprop_gradient` always returns None, so that layers below are not trained."""
    splits: ClassVar[bool] = False
    """Whether the layer treats every example for itself, so that a minibatch may come in parts."""
    keeps_state: ClassVar[bool] = False
    """Whether training leaves more behind than parameters: then one copy of the layer treats all, step by step."""

    def may_split(self, training: bool) -> bool:
        """Tell whether parts of a minibatch give what the whole gives; numbers drawn in another order would not."""
        if not training:
            return self.splits
        activation, loss = getattr(self.conf, "activation", None), getattr(self.conf, "loss", None)
        draws = self.dropout is not None or self.noising is not None or (activation is not None and activation.draws)
        return self.splits and not draws and (loss is None or not loss.couples_examples)

    @cached_property
    def activating(self) -> Activating:
        """The layer's activation at work."""
        return Activating(self.conf.activation)

    def activate(self, z: Array, training: bool, b: Array | None = None) -> Array:
        """Add b and apply the activation, in z's memory where backprop allows it."""
        a = z if self.activating.activation.overwrites else self.buffers("a", z.shape)
        return self.activating.value(z, a, training, b)

    def check_rows(self, x: Array, n_in: int) -> None:
        """Raise ShapeError unless x is ``[N, n_in]``."""
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim != 2 or x.shape[1] != n_in:
            raise nd.ShapeError(
                f"{self.label}: expected input [N, {n_in}], got {describe_shape(x.shape)}. "
                "Reshape it, or set the input type that describes it, such as InputType.convolutional(h, w, c)."
            )
