"""Base of every layer: a frozen configuration, and a runtime over views of the network's vectors."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.activations import Activation, get_activation
from nd.arguments import Checked, Count, checked
from nd.checks import check_choice
from optimize import LayerConstraint, Regularization, Updater, get_updater
from optimize.builder import Builder
from optimize.gradient_normalization import check_gradient_normalization

from ..terms import late
from ..terms.builder_names import FORMAT_VERBS, IGNORED_BY_LAYERS, SETTING_NAMES, UNUSED_OF_LAYERS
from ..terms.constraints import FIELDS as CONSTRAINT_FIELDS
from ..terms.constraints import UNSET, normalise_constraints, placed_constraints
from ..terms.data_formats import agreed_format, check_format
from ..terms.distributions import Distribution
from ..terms.dropout import Dropout, IDropout
from ..terms.input_type import FeedForwardType, InputType, series_of
from ..terms.java_form import SIZES, JavaForm
from ..terms.noise import warn_of_few
from ..terms.older import VERBS_OF_LAYERS, OlderSettings, settled_layer
from ..terms.params import ParamSpec, shapes_of
from ..terms.penalties import (
    Decay,
    Penalty,
    WithUpdaters,
    regularization_of,
    settle_penalties,
    without_effect,
    without_rivals,
)
from ..terms.preprocessors import InputPreProcessor, to_rows
from ..terms.weight_noise import IWeightNoise
from ..terms.weights import settle_weight_init
from .runtime import LayerRuntime

if TYPE_CHECKING:
    from ..conf.network import NeuralNetConfiguration

_LOG = logging.getLogger(__name__)

Constraints = LayerConstraint | Sequence[LayerConstraint] | None


def label_of(index: int, conf: LayerConf) -> str:
    """Name a layer as the messages do: ``layer 2 'fc1' (DenseLayer)``; one that is pretrained, as its network does."""
    own: str = getattr(conf, "own_label", "")
    if own:
        return own
    name = "" if conf.name in (None, f"layer{index}") else f" {conf.name!r}"
    return f"layer {index}{name} ({type(conf).__name__})"


@dataclass(frozen=True, kw_only=True)
class LayerConf(Checked):
    """Configuration of a layer. A field that is None is taken from the network's defaults.

    Parameters
    ----------
    name : str, optional
        Shown in errors and in the summary.
    drop_out : float or IDropout, optional
        Dropout of the layer's input, or other noise there. A number is the probability to **retain**, as in DL4J, the
        opposite of Keras's and PyTorch's: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.
    unused : dict
        Fields of a file without effect in this library, cuDNN's algorithms, say: written again, and not compared.
    """

    name: str | None = None
    drop_out: float | IDropout | None = None
    unused: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    inherited: ClassVar[tuple[str, ...]] = ("drop_out",)
    runtime: ClassVar[type[LayerRuntime]]
    builder_names: ClassVar[dict[str, str]] = SETTING_NAMES
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = FORMAT_VERBS
    builder_unused: ClassVar[dict[str, str]] = UNUSED_OF_LAYERS
    builder_ignored: ClassVar[frozenset[str]] = IGNORED_BY_LAYERS
    form: ClassVar[JavaForm] = JavaForm({"layerName": ("name", "plain"), "idropout": ("drop_out", "dropout")})
    """Form in files. A class without one has that of the class it comes from, and its own fields in camelCase."""
    shape_fields: ClassVar[Mapping[str, object]] = {}
    """Fields that the parameters' shapes follow from -> Java's value where a file does not say it; None: it must."""
    formats: ClassVar[tuple[str, ...]] = ()
    """Formats that the layer's input can have in Java, the default first; none where Java does not ask."""
    reads_ahead: ClassVar[bool] = False
    """Whether activations depend on later time steps, so that a series cannot be gone through in segments."""
    drawings: ClassVar[int] = 1
    """How often Java draws all weights, of which the last stay: the generator is further on for the layers behind."""
    of_whole_series: ClassVar[bool] = False
    """Whether a row comes out of a whole series, as of its last step, so that segments of series are none for it."""
    positional: ClassVar[tuple[str, ...]] = ()
    """Fields that the Builder takes as arguments, as DL4J's does: ``OutputLayer.Builder(LossFunction.MSE)``."""

    @classmethod
    def Builder(cls, *arguments: Any) -> Builder:
        """Start DL4J's fluent style for this layer."""
        if len(arguments) > len(cls.positional):
            raise nd.ConfigurationError(
                f"{cls.__name__}.Builder: takes {list(cls.positional)}, got {list(arguments)}. Set others by name."
            )
        builder = Builder(cls)
        for name, value in zip(cls.positional, arguments, strict=False):
            getattr(builder, name)(value)
        return builder

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.drop_out, IDropout | None):  # a probability to retain, 0 for none, as in DL4J
            warn_of_few(f"{type(self).__name__}: drop_out={self.drop_out!r}", self.drop_out)
            object.__setattr__(self, "drop_out", Dropout(self.drop_out) if self.drop_out else None)
        if self.data_format is not None:
            name = check_format(type(self).__name__, self.data_format, self.formats)
            object.__setattr__(self, "data_format", name)

    @classmethod
    def of_sizes(cls, sizes: Mapping[str, Any]) -> Self:
        """Return a configuration that says its `shape_fields` alone, unchecked: enough to ask for `param_specs`."""
        conf = cls.__new__(cls)
        vars(conf).update(sizes)
        return conf

    @property
    def innermost(self) -> LayerConf:
        """The layer that does the work: this one, unless it wraps another."""
        return self

    def __call__(self) -> NeuralNetConfiguration:
        """Return a configuration of this layer alone: Java's ``layer.conf().getLayer()``."""
        return late("NeuralNetConfiguration")(seed=0, layer=self)

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        """Return a copy with every unset value taken from the network's defaults."""
        self.say_what_is_ignored(index)
        unset = {name: getattr(defaults, name) for name in self.inherited if getattr(self, name) is None}
        return replace(self, **unset, name=self.name or f"layer{index}")

    def say_what_is_ignored(self, index: int) -> None:
        """Say on the log that a layer without dropout was given some."""
        if self.drop_out is not None and not self.runtime.takes_dropout:
            said = "%s: drop_out is not applied, as in Java, which has none here. Put a DropoutLayer in front."
            _LOG.warning(said, label_of(index, self))

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        """Return the preprocessor that has to stand between that input and this layer, if any."""
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
        """Return a copy that fits on the layer before, and kind and size of its output, where no input type says more.

        `before` is ("rows", n_out), ("images", channels), or None when it is not known.
        """
        return self, before

    @property
    def data_format(self) -> str | None:
        """Order of the axes of what comes in and goes out; None for layers that Java does not ask, and by default.

        Layers whose `formats` leave a choice have a field of that name.
        """
        return None

    @property
    def said_format(self) -> str | None:
        """The format of the input that the layer's own settings say, None where they say none."""
        return self.data_format or (self.formats[0] if len(self.formats) == 1 else None)

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        """Return a copy whose data_format is that of what comes in, and the format of the layer's activations.

        Raises
        ------
        ConfigurationError
            It says another one, or Java's layer has none but channels first.
        """
        chosen = agreed_format(label, self.data_format, self.formats, incoming)
        name = "data_format" if len(self.formats) > 1 else "input_format"
        value = chosen if not self.formats or chosen in self.formats else self.data_format or self.formats[0]
        if getattr(self, name, value) == value:
            return self, chosen
        known: Any = {name: value}
        return replace(self, **known), chosen

    def param_specs(self) -> tuple[ParamSpec, ...]:
        """Return the layer's parameters in the order of the flat vector."""
        return ()

    @checked
    def is_pretrain_param(self, name: str) -> bool:
        """Return whether a parameter is trained by pretraining alone, as a visible bias is."""
        return any(spec.pretrained for spec in self.param_specs() if spec.name == name)

    def param_shapes(self) -> dict[str, tuple[int, ...]]:
        """Return name -> shape, in the order of the flat vector."""
        return shapes_of(self.param_specs())

    def check(self, label: str) -> None:
        """Raise ConfigurationError unless the layer is complete, so that parameters can be created."""


@dataclass(frozen=True, kw_only=True)
class BaseLayerConf(WithUpdaters, LayerConf):
    """A layer with an activation and parameters.

    Parameters
    ----------
    activation : str or Activation, optional
    weight_init : str or Distribution, optional
        A name from `nn.terms.weights`, or the distribution to draw from.
    dist : Distribution, optional
        DL4J 0.x's way to give a distribution: in the place of weight_init, or beside "distribution".
    bias_init : float, optional
        Start of the biases.
    l1, l2, l1_bias, l2_bias : float or Schedule, optional
        Penalties on weights and on biases; l2 is what PyTorch's Adam and SGD call weight_decay, and twice Keras's.
    weight_decay, weight_decay_bias : float, Schedule or WeightDecay, optional
        In the place of l2, and AdamW's: a layer that has one of both does not take the network's other one.
    regularization, regularization_bias : sequence of Regularization, optional
        All penalties on weights, or on biases, in the place of these: in any order, and several of a kind.
    updater, bias_updater : str or Updater, optional
        For weights, and for biases, by default the same.
    gradient_normalization, gradient_normalization_threshold : str and float, optional
        A name from `optimize.gradient_normalization`.
    weight_noise : IWeightNoise, optional
        Noise on the weights in training: a DropConnect or a WeightNoise.
    constrain_weights, constrain_bias, constrain_all_parameters : LayerConstraint or several, optional
        Limits of these parameters after every update. A layer with constraints has none of the network's.
    constraints : LayerConstraint or several, optional
        The same for the parameters that a constraint names; for the weights where it names none.
    older : OlderSettings, optional
        What the Builder of DL4J 0.9 sets.
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
    regularization: Sequence[Regularization] | None = None
    regularization_bias: Sequence[Regularization] | None = None
    updater: str | Updater | None = None
    bias_updater: str | Updater | None = None
    gradient_normalization: str | None = None
    gradient_normalization_threshold: float | None = None
    weight_noise: IWeightNoise | None = None
    constraints: Constraints = None
    constrain_weights: Constraints = None
    constrain_bias: Constraints = None
    constrain_all_parameters: Constraints = None
    older: OlderSettings | None = None

    form: ClassVar[JavaForm] = LayerConf.form.more(
        {
            "activationFn": ("activation", "activation"),
            "weightInitFn": ("weight_init", "weight init"),
            "biasInit": ("bias_init", "number"),
            "iupdater": ("updater", "updater"),
            "biasUpdater": ("bias_updater", "updater"),
            "gradientNormalization": ("gradient_normalization", "normalization"),
            "gradientNormalizationThreshold": ("gradient_normalization_threshold", "number"),
            "constraints": ("constraints", "constraints"),
            "weightNoise": ("weight_noise", "weight noise"),
        },
        {"gainInit": 1.0},
    )
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {**FORMAT_VERBS, **VERBS_OF_LAYERS}
    inherited: ClassVar[tuple[str, ...]] = (
        "drop_out", "activation", "weight_init", "dist", "bias_init", "l1", "l2", "l1_bias", "l2_bias",
        "weight_decay", "weight_decay_bias", "regularization", "regularization_bias", "updater", "bias_updater",
        "gradient_normalization", "gradient_normalization_threshold", "weight_noise",
    )  # fmt: skip

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, get in (("activation", get_activation), ("updater", get_updater), ("bias_updater", get_updater)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, get(getattr(self, name)))
        settle_penalties(self)
        normalization = (self.gradient_normalization, self.gradient_normalization_threshold)
        normalization_name = check_gradient_normalization(type(self).__name__, *normalization)
        object.__setattr__(self, "gradient_normalization", normalization_name)
        normalise_constraints(self, "constraints", *CONSTRAINT_FIELDS)
        settle_weight_init(self)

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        own = settled_layer(self, defaults)
        layer = super(BaseLayerConf, own).resolved(without_rivals(own, defaults), index)
        constraints = placed_constraints(label_of(index, layer), layer, defaults)
        # Settings without effect go, as no file keeps them.
        return replace(layer, constraints=constraints, dist=None, **UNSET, **without_effect(layer))

    def regularization_of(self, bias: bool) -> tuple[Regularization, ...]:
        """Return the penalties on weights, or on biases, in the order in which they are applied."""
        return regularization_of(self, "_bias" if bias else "")

    def get_regularization(self) -> list[Regularization]:
        """Return the penalties on weights as a list: Java's getter, where `regularization` is the setting."""
        return list(self.regularization_of(False))

    def get_regularization_bias(self) -> list[Regularization]:
        """Return the penalties on biases as a list."""
        return list(self.regularization_of(True))

    @checked
    def get_updater_by_param(self, name: str) -> Updater:
        """Return the updater of one parameter, ``"W"``; raise ChoiceError if there is none."""
        return self.updater_of(self._spec_of("get_updater_by_param", name).bias)

    @checked
    def get_regularization_by_param(self, name: str) -> list[Regularization]:
        """Return the penalties on one parameter, in the order in which they are applied; ChoiceError as above."""
        spec = self._spec_of("get_regularization_by_param", name)
        return list(self.regularization_of(spec.bias)) if spec.penalised else []

    def _spec_of(self, getter: str, name: str) -> ParamSpec:
        specs = {spec.name: spec for spec in self.param_specs()}
        return specs[check_choice(f"{type(self).__name__}: {getter}", "parameter", name, specs)]


@dataclass(frozen=True, kw_only=True)
class FeedForwardConf(BaseLayerConf):
    """A layer from n_in to n_out numbers or channels.

    Parameters
    ----------
    n_in : int, optional
        Set from the network's input type when not given.
    n_out : int
    """

    n_in: Count | None = None
    n_out: Count | None = None
    takes: ClassVar[str] = "rows"
    form: ClassVar[JavaForm] = BaseLayerConf.form.more(SIZES)
    shape_fields: ClassVar[Mapping[str, object]] = {"n_in": None, "n_out": None}

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_rows(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, series_of(label, input_type).n if self.takes == "series" else input_type.size)

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
        return (W, ParamSpec("b", (1, n_out), "c", bias=True)) if has_bias else (W,)
