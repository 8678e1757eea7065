"""Configuration of whole networks."""

from __future__ import annotations

import operator
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import nd
from nd.activations import Activation
from nd.checks import check_choice
from optimize import LayerConstraint, Schedule, Sgd, Updater, get_updater
from optimize.builder import Builder
from optimize.gradient_normalization import check_gradient_normalization
from optimize.solvers import OPTIMIZERS
from optimize.step_functions import STEP_FUNCTIONS
from optimize.terminations import TerminationCondition, as_terminations

from ..layers.base import LayerConf, label_of
from ..params import ParamLayout
from ..preprocessors import InputPreProcessor
from .constraints import FIELDS as CONSTRAINT_FIELDS
from .constraints import normalise_constraints
from .distributions import Distribution
from .dropout import IDropout
from .enums import OptimizationAlgorithm
from .input_type import InputType
from .penalties import PENALTY_VERBS, Decay, Penalty, settle_penalties
from .weight_noise import IWeightNoise

Constraints = LayerConstraint | Sequence[LayerConstraint] | None


@dataclass(frozen=True, kw_only=True)
class NeuralNetConfiguration:
    """What holds for a whole network, and the defaults of its layers.

    Parameters
    ----------
    seed : int, optional
        Of the weights and of dropout; without it, and with 0, as in ND4J, the current time.
    dtype : {"float32", "float64"}, optional
        Of parameters and arithmetic; without it the facade's default.
    updater : str or Updater
        With a name, `learning_rate` and `momentum` are its hyper-parameters.
    learning_rate, momentum : float or Schedule, optional
        DL4J 0.x's way to set them; an updater made by hand carries its own.
    iterations : int
        Steps per minibatch, as in DL4J 0.x.
    mini_batch : bool
        Divide gradient and score by the number of examples.
    optimization_algo, step_function : str
        Names from `optimize`.
    terminations : TerminationCondition or several, optional
        What ends the steps on a minibatch early, for optimizers that search along lines; without it DL4J 0.x's
        `ZeroDirection` and `EpsTermination`, none with ``()``.
    lbfgs_memory : int
        Steps that LBFGS remembers.
    activation, weight_init, dist, bias_init, drop_out, l1, l2, l1_bias, l2_bias, weight_decay, weight_decay_bias,
    bias_updater, gradient_normalization, gradient_normalization_threshold, convolution_mode
        Defaults of the layers, see `nn.layers`.
    weight_noise, constrain_weights, constrain_bias, constrain_all_parameters
        Defaults of the layers, see `nn.layers`.

    Notes
    -----
    Source: DL4J ``NeuralNetConfiguration``; defaults are its Builder's.
    """

    seed: int | None = None
    dtype: str | None = None
    updater: str | Updater = field(default_factory=Sgd)
    bias_updater: str | Updater | None = None
    learning_rate: float | Schedule | None = None
    momentum: float | Schedule | None = None
    iterations: int = 1
    mini_batch: bool = True
    minimize: bool = True
    optimization_algo: str = "stochastic_gradient_descent"
    step_function: str | None = None
    max_num_line_search_iterations: int = 5
    terminations: TerminationCondition | Sequence[TerminationCondition] | None = None
    lbfgs_memory: int = 4
    activation: str | Activation = "sigmoid"
    weight_init: str | Distribution = "xavier"
    dist: Distribution | None = None
    bias_init: float = 0.0
    drop_out: float | IDropout | None = None
    weight_noise: IWeightNoise | None = None
    constrain_weights: Constraints = None
    constrain_bias: Constraints = None
    constrain_all_parameters: Constraints = None
    l1: Penalty = None
    l2: Penalty = None
    l1_bias: Penalty = None
    l2_bias: Penalty = None
    weight_decay: Decay = None
    weight_decay_bias: Decay = None
    gradient_normalization: str = "none"
    gradient_normalization_threshold: float = 1.0
    convolution_mode: str = "truncate"

    def __post_init__(self) -> None:
        who = "NeuralNetConfiguration"
        algorithm = check_choice(who, "optimization_algo", str(self.optimization_algo).lower(), OPTIMIZERS)
        object.__setattr__(self, "optimization_algo", OptimizationAlgorithm(algorithm))
        dtype = check_choice(who, "dtype", self.dtype or nd.default_dtype(), ("float32", "float64"))
        object.__setattr__(self, "dtype", dtype)
        if self.step_function is not None:
            check_choice(who, "step_function", str(self.step_function).lower(), STEP_FUNCTIONS)
        if self.seed is None:
            object.__setattr__(self, "seed", time.time_ns() // 1_000_000)
        if not hasattr(self.seed, "__index__"):
            raise nd.ConfigurationError(f"{who}: seed must be an integer, got {self.seed!r}.")
        object.__setattr__(self, "seed", operator.index(self.seed))  # type: ignore[arg-type]
        if not isinstance(self.minimize, bool):
            raise nd.ConfigurationError(f"{who}: minimize must be True or False, got {self.minimize!r}.")
        for name in ("iterations", "lbfgs_memory", "max_num_line_search_iterations"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise nd.ConfigurationError(f"{who}: {name} must be an integer >= 1, got {getattr(self, name)!r}.")
        object.__setattr__(self, "terminations", as_terminations(who, self.terminations))
        normalise_constraints(self, *CONSTRAINT_FIELDS)
        self._settle_updater()
        settle_penalties(self)
        normalization = (self.gradient_normalization, self.gradient_normalization_threshold)
        object.__setattr__(self, "gradient_normalization", check_gradient_normalization(who, *normalization))

    def _settle_updater(self) -> None:
        """Turn an updater's name into an updater; 0.x's separate rate and momentum go into it."""
        given = {key: value for key in ("learning_rate", "momentum") if (value := getattr(self, key)) is not None}
        if isinstance(self.updater, Updater) and given and self.updater != Sgd():
            raise nd.ConfigurationError(
                f"NeuralNetConfiguration: {', '.join(given)} given beside {self.updater!r}. "
                "Give hyper-parameters to the updater itself."
            )
        name = "sgd" if isinstance(self.updater, Updater) and given else self.updater
        object.__setattr__(self, "updater", get_updater(name, **given))
        object.__setattr__(self, "learning_rate", None)
        object.__setattr__(self, "momentum", None)

    @classmethod
    def Builder(cls) -> Builder:
        """Start DL4J's fluent style."""
        return Builder(cls)

    def list(self, *layers: LayerConf, input_type: InputType | None = None) -> MultiLayerConfiguration:
        """Stack layers into a network.

        Parameters
        ----------
        layers : LayerConf
        input_type : InputType, optional
            What comes in: sets every n_in that is not given, and puts preprocessors where the kind changes.

        Raises
        ------
        ConfigurationError, ShapeError
            The layers do not fit on each other; the message names the layer.
        """
        return MultiLayerConfiguration.assemble(self, layers, input_type)


def _list_verb(builder: Builder) -> Builder:
    return Builder(_ListSettings, base=builder.build(), layers={}, preprocessors={})


def _layer_verb(builder: Builder, *arguments: Any) -> Builder:
    layers = builder._values["layers"]
    index, layer = arguments if len(arguments) == 2 else (len(layers), arguments[0])
    layers[index] = layer.build() if isinstance(layer, Builder) else layer
    return builder


def _preprocessor_verb(builder: Builder, index: int, preprocessor: InputPreProcessor) -> Builder:
    builder._values["preprocessors"][index] = preprocessor
    return builder


@dataclass(frozen=True, kw_only=True)
class _ListSettings:
    """What DL4J's ``.list()`` collects until ``.build()``."""

    base: NeuralNetConfiguration
    layers: dict[int, LayerConf]
    input_type: InputType | None = None
    set_input_type: InputType | None = None
    preprocessors: dict[int, Any]
    pretrain: bool = False
    backprop: bool = True

    builder_verbs: ClassVar[dict[str, Any]] = {"input_pre_processor": _preprocessor_verb, "layer": _layer_verb}

    def finish(self) -> MultiLayerConfiguration:
        """Make the network's configuration."""
        if self.pretrain or not self.backprop:
            raise nd.ConfigurationError(
                f"ListBuilder: only backprop training exists, got pretrain={self.pretrain}, backprop={self.backprop}."
            )
        if sorted(self.layers) != list(range(len(self.layers))):
            raise nd.ConfigurationError(f"ListBuilder: layers must be 0..n-1, got {sorted(self.layers)}.")
        ordered = [self.layers[index] for index in range(len(self.layers))]
        conf = self.base.list(*ordered, input_type=self.input_type or self.set_input_type)
        return replace(conf, preprocessors={**conf.preprocessors, **self.preprocessors})


NeuralNetConfiguration.builder_verbs = {"list": _list_verb, **PENALTY_VERBS}  # type: ignore[attr-defined]


@dataclass(frozen=True, kw_only=True)
class MultiLayerConfiguration:
    """A stack of layers, complete: every n_in known, every default taken over.

    Parameters
    ----------
    base : NeuralNetConfiguration
    layers : tuple of LayerConf
    preprocessors : dict of layer index -> InputPreProcessor
    input_type : InputType, optional
        Not kept in files: DL4J's JSON has no place for it.
    iteration_count, epoch_count : int
        Where training stands, for networks that are saved and loaded.

    Notes
    -----
    Source: DL4J ``MultiLayerConfiguration``.
    """

    base: NeuralNetConfiguration
    layers: tuple[LayerConf, ...]
    preprocessors: Mapping[int, InputPreProcessor] = field(default_factory=dict)
    input_type: InputType | None = None
    iteration_count: int = 0
    epoch_count: int = 0

    @classmethod
    def assemble(
        cls, base: NeuralNetConfiguration, layers: Sequence[LayerConf], input_type: InputType | None
    ) -> MultiLayerConfiguration:
        """Take over defaults, infer sizes, insert preprocessors; see `NeuralNetConfiguration.list`."""
        if not layers:
            raise nd.ConfigurationError("list: a network needs at least one layer, got none.")
        for index, layer in enumerate(layers):
            if not isinstance(layer, LayerConf):
                raise nd.ConfigurationError(f"list: layer {index} must be a layer configuration, got {layer!r}.")
        resolved = [layer.resolved(base, index) for index, layer in enumerate(layers)]
        preprocessors: dict[int, InputPreProcessor] = {}
        if input_type is None:
            resolved = cls._chained(resolved)
        elif isinstance(input_type, InputType):
            resolved = cls._inferred(resolved, input_type, preprocessors)
        else:
            raise nd.ConfigurationError(f"list: input_type must be made by InputType, got {input_type!r}.")
        for index, layer in enumerate(resolved):
            layer.check(label_of(index, layer))
        return cls(base=base, layers=tuple(resolved), preprocessors=preprocessors, input_type=input_type)

    @staticmethod
    def _chained(layers: list[LayerConf]) -> list[LayerConf]:
        """Without an input type, check and set every n_in that follows from the layer before."""
        chained = []
        before: tuple[str, int] | None = None
        for index, layer in enumerate(layers):
            layer, before = layer.following(label_of(index, layer), before)
            chained.append(layer)
        return chained

    @staticmethod
    def _inferred(
        layers: list[LayerConf], input_type: InputType, preprocessors: dict[int, InputPreProcessor]
    ) -> list[LayerConf]:
        sized = []
        for index, layer in enumerate(layers):
            label = label_of(index, layer)
            preprocessor = layer.preprocessor_for(input_type)
            if preprocessor is not None:
                preprocessors[index] = preprocessor
                input_type = preprocessor.output_type(input_type)
            layer = layer.with_inputs(label, input_type)
            input_type = layer.output_type(label, input_type)
            sized.append(layer)
        return sized

    def layer_types(self, input_type: InputType | None = None) -> list[tuple[InputType, InputType]] | None:
        """Return what comes into and out of every layer, if the network's input type is known, or that one is given."""
        current = self.input_type or input_type
        if current is None:
            return None
        types = []
        for index, layer in enumerate(self.layers):
            if index in self.preprocessors:
                current = self.preprocessors[index].output_type(current)
            out = layer.output_type(label_of(index, layer), current)
            types.append((current, out))
            current = out
        return types

    @property
    def rows_are_series(self) -> bool:
        """Whether features ``[N, T]`` are series of T time steps, as an EmbeddingSequenceLayer reads them."""
        return 0 not in self.preprocessors and getattr(self.layers[0].innermost, "takes", None) == "series"

    def layout(self) -> ParamLayout:
        """Return where every parameter lies in the flat vector."""
        return ParamLayout([layer.param_specs() for layer in self.layers])

    def with_counts(self, iteration_count: int, epoch_count: int) -> MultiLayerConfiguration:
        """Return a copy that says where training stands."""
        return replace(self, iteration_count=iteration_count, epoch_count=epoch_count)

    def to_json(self) -> str:
        """Return DL4J 1.0's JSON: every layer whole; `input_type` and the defaults have no place in it."""
        from .json import network_to_json

        return network_to_json(self)

    @staticmethod
    def from_json(text: str, strict: bool = True) -> MultiLayerConfiguration:
        """Read the JSON of any DL4J release since 0.5.

        Parameters
        ----------
        text : str
        strict : bool
            False: leave out, with a warning, what only training needs and this library does not have.

        Raises
        ------
        FormatError
            It is not such a configuration.
        ConfigurationError, ChoiceError
            It asks for something that this library does not have.
        """
        from .json import network_from_json

        return network_from_json(text, strict)

    # ---- what a solver reads

    @property
    def optimization_algo(self) -> str:
        """Name of the optimizer."""
        return self.base.optimization_algo

    @property
    def step_function(self) -> str | None:
        """Name of the step function, None for the optimizer's default."""
        return self.base.step_function

    @property
    def iterations(self) -> int:
        """Steps per minibatch."""
        return self.base.iterations

    @property
    def minimize(self) -> bool:
        """Whether the score is to become smaller; else larger."""
        return self.base.minimize

    @property
    def max_num_line_search_iterations(self) -> int:
        """Evaluations of a line search, at most."""
        return self.base.max_num_line_search_iterations

    @property
    def terminations(self) -> tuple[TerminationCondition, ...] | None:
        """What ends the steps on a minibatch early; None for DL4J 0.x's."""
        return self.base.terminations  # type: ignore[return-value]

    @property
    def lbfgs_memory(self) -> int:
        """Steps that LBFGS remembers."""
        return self.base.lbfgs_memory

    @property
    def mini_batch(self) -> bool:
        """Whether gradient and score are divided by the number of examples."""
        return self.base.mini_batch
