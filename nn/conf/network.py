"""Settings of a network, and the defaults of its layers."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd.activations import Activation
from nd.arguments import Checked, Count, Fraction, IntCount, Long, NonNegative, called, converted
from nd.checks import check_choice
from nd.rules import SWITCH
from optimize import LayerConstraint, Regularization, Schedule, Sgd, Updater, get_updater
from optimize.builder import Builder
from optimize.gradient_normalization import check_gradient_normalization
from optimize.solvers import OPTIMIZERS
from optimize.step import STEP_FUNCTIONS
from optimize.terminations import TerminationCondition, as_terminations

from ..layers.base import LayerConf, label_of
from ..terms.builder_names import IGNORED_BY_NETWORKS, SETTING_NAMES, UNUSED_OF_NETWORKS
from ..terms.constraints import FIELDS as CONSTRAINT_FIELDS
from ..terms.constraints import normalise_constraints
from ..terms.distributions import Distribution
from ..terms.dropout import IDropout
from ..terms.enums import OF_SERIES, BackpropType, OptimizationAlgorithm
from ..terms.input_type import InputType
from ..terms.older import VERBS_OF_NETWORKS, OlderSettings, settle_network
from ..terms.penalties import Decay, Penalty, settle_penalties
from ..terms.preprocessors import InputPreProcessor
from ..terms.weight_noise import IWeightNoise
from ..terms.weights import settle_weight_init
from .list_builder import list_verb
from .output_layers import check_output_layers
from .stacking import stack

if TYPE_CHECKING:
    from .graph import ComputationGraphConfiguration
    from .multilayer import MultiLayerConfiguration

Constraints = LayerConstraint | Sequence[LayerConstraint] | None


JAVAS_DEFAULT = Sgd()
"""The updater of those who choose none: this very object, which nobody else has."""


@dataclass(frozen=True, kw_only=True)
class NeuralNetConfiguration(Checked):
    """Settings of a network, and the defaults of its layers.

    Parameters
    ----------
    seed : int, optional
        Of the weights and of dropout; without it, and with 0, as in ND4J, the current time.
    dtype : {"float32", "float64"}, optional
        Of parameters and arithmetic; without it the facade's default.
    updater : str or Updater
        With a name, `learning_rate` and `momentum` are its hyper-parameters.
    learning_rate, momentum : float or Schedule, optional
        DL4J 0.x's way to set them: in the updater that is named, or in one that has its defaults for them.
    iterations : int
        Steps per minibatch, as in DL4J 0.x.
    mini_batch : bool
        Divide gradient and score by the number of examples.
    optimization_algo, step_function : str
        Names from `optimize`.
    terminations : TerminationCondition or several, optional
        Conditions that end the steps on a minibatch early, for optimizers that search along lines; without it DL4J
        0.x's `ZeroDirection` and `EpsTermination`, none with ``()``.
    lbfgs_memory : int
        Steps that LBFGS remembers.
    validate_output_layer_config : bool
        Refuse output layers whose loss and activation do not fit together, and evaluations as a classifier of
        outputs that are no probabilities; see `nn.conf.output_layers`.
    pretrain : bool
        Let `fit` pretrain every layer that can be before it trains on labels, as DL4J 0.9's ``pretrain(true)``.
    backprop : bool
        False: `fit` does not train on labels at all.
    weight_init : str or Distribution, optional
        Default of the layers; without it and `dist` Xavier's.
    activation, dist, bias_init, drop_out, l1, l2, l1_bias, l2_bias, weight_decay, weight_decay_bias,
    bias_updater, gradient_normalization, gradient_normalization_threshold, convolution_mode
        Defaults of the layers, see `nn.layers`.
    weight_noise, constrain_weights, constrain_bias, constrain_all_parameters, regularization, regularization_bias
        Defaults of the layers, see `nn.layers`.
    layer : LayerConf, optional
        Of a configuration of one layer, ``Builder().layer(...).build()``; `list` does not look at it.
    older : OlderSettings, optional
        What the Builder of DL4J 0.9 sets, until the layers have it: decay policies, `biasLearningRate` and others.
    unused : dict
        Java's settings of memory, under their names in its JSON: they have no effect in this library, and are written
        again.

    Notes
    -----
    Source: DL4J ``NeuralNetConfiguration``; defaults are its Builder's.
    """

    seed: Long | None = None
    dtype: str | None = None
    updater: str | Updater = JAVAS_DEFAULT
    bias_updater: str | Updater | None = None
    learning_rate: NonNegative | Schedule | None = None
    momentum: Fraction | Schedule | None = None
    iterations: IntCount = 1
    mini_batch: bool = True
    minimize: bool = True
    optimization_algo: str = "stochastic_gradient_descent"
    step_function: str | None = None
    max_num_line_search_iterations: Count = 5
    terminations: TerminationCondition | Sequence[TerminationCondition] | None = None
    lbfgs_memory: IntCount = 4
    validate_output_layer_config: bool = True
    pretrain: bool = False
    backprop: bool = True
    activation: str | Activation = "sigmoid"
    weight_init: str | Distribution | None = None
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
    regularization: Sequence[Regularization] | None = None
    regularization_bias: Sequence[Regularization] | None = None
    gradient_normalization: str = "none"
    gradient_normalization_threshold: float = 1.0
    convolution_mode: str = "truncate"
    layer: LayerConf | None = None
    older: OlderSettings | None = None
    unused: Mapping[str, Any] = field(default_factory=dict, repr=False)
    builder_names: ClassVar[dict[str, str]] = SETTING_NAMES
    builder_unused: ClassVar[dict[str, str]] = UNUSED_OF_NETWORKS
    builder_ignored: ClassVar[frozenset[str]] = IGNORED_BY_NETWORKS

    def __post_init__(self) -> None:
        super().__post_init__()
        who = "NeuralNetConfiguration"
        algorithm = check_choice(who, "optimization_algo", str(self.optimization_algo).lower(), OPTIMIZERS)
        object.__setattr__(self, "optimization_algo", OptimizationAlgorithm(algorithm))
        dtype = check_choice(who, "dtype", self.dtype or nd.default_dtype(), ("float32", "float64"))
        object.__setattr__(self, "dtype", dtype)
        if self.step_function is not None:
            check_choice(who, "step_function", str(self.step_function).lower(), STEP_FUNCTIONS)
        if self.seed is None:
            object.__setattr__(self, "seed", time.time_ns() // 1_000_000)
        object.__setattr__(self, "terminations", as_terminations(who, self.terminations))
        normalise_constraints(self, *CONSTRAINT_FIELDS)
        given = {key: value for key in ("learning_rate", "momentum") if (value := getattr(self, key)) is not None}
        object.__setattr__(self, "updater", get_updater(self.updater, **given))
        object.__setattr__(self, "learning_rate", None)  # 0.x's separate rate and momentum are the updater's now
        object.__setattr__(self, "momentum", None)
        if self.weight_init is None and self.dist is None:
            object.__setattr__(self, "weight_init", "xavier")
        settle_weight_init(self)
        settle_penalties(self)
        normalization = (self.gradient_normalization, self.gradient_normalization_threshold)
        object.__setattr__(self, "gradient_normalization", check_gradient_normalization(who, *normalization))
        if self.older is not None and not self.older.settled:
            settle_network(self)

    def of_all_layers(self) -> NeuralNetConfiguration:
        """Return a copy without what is a single layer's, or has gone over to the layers."""
        return self if self.layer is None and self.older is None else replace(self, layer=None, older=None)

    @property
    def num_iterations(self) -> int:
        """Steps per minibatch: Java's name of `iterations`."""
        return self.iterations

    def variables(self) -> Sequence[str]:
        """Return the names of the parameters of the `layer` that the configuration is of, as `get_conf` gives it."""
        return [] if self.layer is None else [spec.name for spec in self.layer.param_specs()]

    @classmethod
    def Builder(cls) -> Builder:
        """Start DL4J's fluent style."""
        return Builder(cls)

    @called
    def list(
        self,
        *layers: LayerConf | Sequence[LayerConf],
        input_type: InputType | None = None,
        preprocessors: Mapping[int, InputPreProcessor] | None = None,
        backprop_type: str = "standard",
        tbptt_fwd_length: Count = 20,
        tbptt_back_length: Count = 20,
        tbptt_exact: bool = False,
        validate_tbptt_config: bool = True,
    ) -> MultiLayerConfiguration:
        """Stack layers into a network.

        Parameters
        ----------
        layers : LayerConf
            Only the last may have a loss; names differ.
        input_type : InputType, optional
            Type of the features: sets every n_in that is not given, and puts preprocessors where the kind changes.
            Features must fit it then.
        preprocessors : dict of layer index -> InputPreProcessor, optional
            Your own, in the place of those that the input type would put there.
        backprop_type : {"standard", "truncated_bptt"}
            Train on series in one piece, or on segments of `tbptt_fwd_length` time steps, one after the other: each is
            a step, and layers carry their state from one to the next.
        tbptt_fwd_length, tbptt_back_length : int
            Time steps of a segment, and the last ones of it that gradients go back over in layers with a state: where
            `tbptt_exact` is set, as Java goes back over the segment, whatever it is told. A longer way back than the
            segment is as long as the segment.
        tbptt_exact : bool
            False: on the way back layers compute a segment anew, as if no other had come before it, which is Java's
            way: its gradients are approximate from the second segment on. True: they are the derivatives of the
            segment's loss, with the state that was carried into it as a constant. Kept in model files where Java does
            not look.
        validate_tbptt_config : bool
            Refuse layers that make a row of a whole series where truncated backprop would give them segments.

        Raises
        ------
        ConfigurationError, ShapeError
            The layers do not fit on each other; the message names the layer.

        Notes
        -----
        Differs: Java builds networks with a loss in the middle, which cannot be trained, and with two layers of one
        name, of which it finds the last; it takes images of other sizes than the input type's where the layers do not
        notice.
        """
        from .multilayer import MultiLayerConfiguration

        given: Any = layers[0] if len(layers) == 1 and isinstance(layers[0], (list, tuple)) else layers
        stacked, placed = stack(self, given, input_type, {} if preprocessors is None else preprocessors)
        named = [(label_of(index, layer), layer) for index, layer in enumerate(stacked)]
        if self.validate_output_layer_config:
            check_output_layers(named)
        _check_truncated("list", validate_tbptt_config, backprop_type, named)
        base = self.of_all_layers()
        series = (backprop_type, tbptt_fwd_length, tbptt_back_length, tbptt_exact)
        more: Any = dict(zip(OF_SERIES, series, strict=True))
        conf = MultiLayerConfiguration(base=base, layers=stacked, preprocessors=placed, input_type=input_type, **more)
        conf.check_training()
        return conf

    @called
    def graph(
        self,
        inputs: Mapping[str, InputType | None] | Sequence[str] | str,
        nodes: Mapping[str, Any],
        outputs: Sequence[str] | str,
        *,
        preprocessors: Mapping[str, InputPreProcessor] | None = None,
        allow_disconnected: bool = False,
        backprop_type: str = "standard",
        tbptt_fwd_length: Count = 20,
        tbptt_back_length: Count = 20,
        tbptt_exact: bool = False,
        validate_tbptt_config: bool = True,
    ) -> ComputationGraphConfiguration:
        """Connect layers and vertices to a network that is a graph.

        Parameters
        ----------
        inputs : dict of str -> InputType, or sequence of str
            Names of the network's inputs; their types set every n_in that is not given, and put preprocessors where
            the kind changes. Features must fit them then.
        nodes : dict of str -> (layer or vertex, input, ...)
            By name: what it is, and the names of what comes in. Several inputs of a layer are merged, by a MergeVertex
            of the name "<layer>-merge". Weights are drawn in this order.
        outputs : sequence of str
            Names of the nodes whose activations are the outputs; to train on, each needs a loss.
        preprocessors : dict of str -> InputPreProcessor, optional
            Your own, in the place of those that the input types would put there.
        allow_disconnected : bool
            Allow inputs and vertices that nothing reads.
        backprop_type, tbptt_fwd_length, tbptt_back_length, tbptt_exact, validate_tbptt_config
            As for `list`.

        Raises
        ------
        ConfigurationError, ShapeError, ChoiceError
            A name is taken or unknown, there is a circle, something is read by nothing, or does not fit what comes in.

        Notes
        -----
        Source: DL4J ``ComputationGraphConfiguration.GraphBuilder``. Differs: where a given n_in is another than that
        of what comes in, Java overwrites it.
        """
        from .graph import labelled
        from .graph_assembly import assemble, graph_of

        graph = graph_of(nodes, {} if preprocessors is None else preprocessors)
        _check_truncated("graph", validate_tbptt_config, backprop_type, labelled(graph.vertices))
        series = (backprop_type, tbptt_fwd_length, tbptt_back_length, tbptt_exact)
        more: Any = dict(zip(OF_SERIES, series, strict=True))
        return assemble(self, inputs, graph, outputs, allow_disconnected, **more)


def _check_truncated(who: str, validate: bool, backprop_type: str, named: Iterable[tuple[str, object]]) -> None:
    """Refuse what truncated backprop cannot train, given with its labels, unless that is not to be looked at."""
    if validate is not True:
        validate = converted(who, "validate_tbptt_config", SWITCH, validate, True)
    if validate and str(backprop_type) != BackpropType.STANDARD:
        from .truncated import check_truncated  # which programs without series do not need

        check_truncated(backprop_type, named)


def graph_verb(builder: Builder) -> Builder:
    """Go on with a graph of layers and vertices."""
    from .graph import ComputationGraphConfiguration

    return ComputationGraphConfiguration.GraphBuilder(builder)


OF_NETWORKS = (
    "seed", "dtype", "iterations", "mini_batch", "minimize", "optimization_algo", "step_function",
    "max_num_line_search_iterations", "terminations", "lbfgs_memory", "pretrain", "backprop", "unused",
)  # fmt: skip
"""Fields of `NeuralNetConfiguration` that are no defaults of layers and say how the network trains."""


_VERBS = {"graph_builder": graph_verb, "list": list_verb, **VERBS_OF_NETWORKS}
NeuralNetConfiguration.builder_verbs = _VERBS  # type: ignore[attr-defined]
