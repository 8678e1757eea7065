"""Nodes of a configuration, and what the configurations of all kinds of networks share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from nd.arguments import Checked, Count, Natural
from nd.checks import check_choice
from optimize.terminations import TerminationCondition

from ..layers.base import LayerConf
from ..terms import late
from ..terms.enums import OF_SERIES, BackpropType, OptimizationAlgorithm
from ..terms.input_type import InputType, RecurrentType
from ..terms.params import ParamLayout
from ..terms.preprocessors import InputPreProcessor
from .network import OF_NETWORKS, NeuralNetConfiguration
from .network_formats import NetworkFormats
from .work import input_type_of

if TYPE_CHECKING:
    from optimize import Regularization, Updater

    from ..terms.params import ParamView
    from ..vertices.base import VertexConf


class Source(NamedTuple):
    """Where what comes into a node comes from: an output of another node, or an input of the network."""

    node: int
    """Number of the node; ``-1 - k`` for input k of the network."""
    output: int = 0
    """Number among those of that node, of which most have one."""


def sources_of(node: Any) -> tuple[int, ...]:
    """Return the numbers of the nodes and inputs that come into a node, whichever of their outputs it is."""
    return tuple(source.node for source in node.inputs)


def sources_by_names(
    inputs: Sequence[str], nodes: Sequence[tuple[Sequence[str], Sequence[str]]]
) -> list[tuple[Source, ...]]:
    """Return what every node reads, where nodes, in their order, say names of what they read and of what they write.

    A name stands for what was last written under it. So a node may write "in place", under a name that it reads: nodes
    before it have read what was there, those behind it read what it gives. These are Caffe's bottoms and tops.
    """
    written = {name: Source(-1 - number) for number, name in enumerate(inputs)}
    sources = []
    for number, (bottoms, tops) in enumerate(nodes):
        for name in bottoms:
            check_choice(f"node {number}", "bottom", name, written)
        sources.append(tuple(written[name] for name in bottoms))
        written |= {name: Source(number, output) for output, name in enumerate(tops)}
    return sources


class NodeTypes(NamedTuple):
    """Types of what comes into a node, behind its preprocessor, and of its activations."""

    inputs: tuple[InputType, ...]
    outputs: tuple[InputType, ...]
    """One, but of vertices that have several."""

    @property
    def output(self) -> InputType:
        """The type of the activations, of several those of the first output."""
        return self.outputs[0]


class NodeConf(NamedTuple):
    """A layer or vertex in its place.

    Attributes
    ----------
    name : str
        The beginning of its parameters' names: ``"0"``, in a graph the vertex's name.
    label : str
        In messages.
    conf : LayerConf or VertexConf
    inputs : tuple of Source
        A layer has one.
    preprocessor : InputPreProcessor or None
        Of a layer.
    draw_index : int
        In the order in which Java draws weights.
    params_of : int or None
        Number of the node whose parameters this one uses too; None for its own.
    """

    name: str
    label: str
    conf: LayerConf | VertexConf
    inputs: tuple[Source, ...]
    preprocessor: InputPreProcessor | None
    draw_index: int
    params_of: int | None = None

    @property
    def own_name(self) -> str:
        """The name that the layer was given, else the node's."""
        return getattr(self.conf, "name", None) or self.name

    def types(self, arriving: Sequence[InputType]) -> NodeTypes:
        """Return the types of the inputs, behind the preprocessor, and of the output; errors if they do not fit."""
        conf = self.conf
        if not isinstance(conf, LayerConf):
            return NodeTypes(tuple(arriving), conf.output_types(self.label, arriving))
        (kind,) = arriving
        if self.preprocessor is not None:
            kind = self.preprocessor.output_type(kind)
        return NodeTypes((kind,), (conf.output_type(self.label, kind),))


@dataclass(frozen=True, kw_only=True)
class NetworkConfiguration(Checked):
    """Shared by the configurations of all kinds of networks, which are complete: every default is taken over.

    Parameters
    ----------
    base : NeuralNetConfiguration
    iteration_count, epoch_count : int
        State of the training, for networks that are saved and loaded.
    backprop_type, tbptt_fwd_length, tbptt_back_length, tbptt_exact
        As in `NeuralNetConfiguration.list`.

    Notes
    -----
    Everything else that computes, saves or trains knows a network by `nodes`, `output_nodes` and `input_names`. The
    kinds say ``eq=False`` to dataclass: they are compared here.
    """

    base: NeuralNetConfiguration
    iteration_count: Natural = 0
    epoch_count: Natural = 0
    backprop_type: str = "standard"
    tbptt_fwd_length: Count = 20
    tbptt_back_length: Count = 20
    tbptt_exact: bool = False
    compared: ClassVar[tuple[str, ...]] = ()
    """Fields that two configurations of equal networks share, beside those of the training."""
    scores_penalties: ClassVar[bool] = True
    """Whether the score has the penalties on the parameters in it."""
    needs_series: ClassVar[bool] = False
    """Whether truncated backprop needs all features and labels to be series."""

    def __post_init__(self) -> None:
        super().__post_init__()
        kind = check_choice(type(self).__name__, "backprop_type", str(self.backprop_type).lower(), BackpropType)
        object.__setattr__(self, "backprop_type", kind)

    def __eq__(self, other: object) -> bool:
        """Tell whether both give the same networks: the defaults of layers and the input types apart, as in Java."""
        if not isinstance(other, type(self)):
            return NotImplemented
        names = (*self.compared, "iteration_count", "epoch_count", *OF_SERIES)
        return all(getattr(self, name) == getattr(other, name) for name in names) and all(
            getattr(self.base, name) == getattr(other.base, name) for name in OF_NETWORKS
        )

    __hash__ = None  # type: ignore[assignment]

    @property
    def nodes(self) -> tuple[NodeConf, ...]:
        """The layers and vertices in the order in which they run, which is that of their parameters."""
        raise NotImplementedError

    @property
    def output_nodes(self) -> tuple[int, ...]:
        """Numbers of the nodes whose activations are the network's outputs."""
        raise NotImplementedError

    @property
    def input_names(self) -> tuple[str, ...]:
        """Names of the network's inputs."""
        raise NotImplementedError

    @cached_property
    def formats(self) -> NetworkFormats:
        """Orders of the axes of features, activations and labels."""
        return NetworkFormats(self)

    def network_input_types(self) -> tuple[InputType | None, ...]:
        """Return the type of every input, None where it is not known."""
        raise NotImplementedError

    def with_confs(self, confs: Sequence[object]) -> Self:
        """Return a copy with other layers and vertices in the place of those of `nodes`."""
        raise NotImplementedError

    def node_types(self, input_types: Sequence[InputType | None]) -> list[NodeTypes] | None:
        """Return the types of every node's inputs, behind its preprocessor, and output; None where one is not known.

        They have the channels first, as nodes compute.

        `input_types` stand in for those that the configuration does not have, and for lengths that it leaves open.
        """
        own = self.network_input_types()
        known: dict[Source, Any] = {
            Source(-1 - number): _completed(kind, given)
            for number, (kind, given) in enumerate(zip(own, input_types, strict=True))
        }
        known = {source: None if kind is None else kind.computed for source, kind in known.items()}
        types = []
        for number, node in enumerate(self.nodes):
            arriving = [known[source] for source in node.inputs]
            if any(kind is None for kind in arriving):
                return None
            types.append(node.types(arriving))
            known |= {Source(number, place): kind for place, kind in enumerate(types[-1].outputs)}
        return types

    def updater_of(self, view: ParamView) -> Updater:
        """Return the updater of a parameter."""
        layer: Any = self.nodes[view.layer].conf
        return layer.updater_of(view.spec.bias)

    def regularization_of(self, view: ParamView) -> Sequence[Regularization]:
        """Return the penalties on a parameter, in the order in which they are applied."""
        layer: Any = self.nodes[view.layer].conf
        return layer.regularization_of(view.spec.bias)

    @property
    def clip_norm(self) -> float | None:
        """Norm to which the gradient of all parameters is cut as one, in the place of layers' own normalisation."""
        return None

    def ways_back(self) -> Sequence[tuple[tuple[bool, ...], bool]] | None:
        """Return for every node to which of its inputs something has to come back, and whether it goes back at all.

        None where that follows from what there is to train, as in all of Java's networks.
        """
        return None

    def types_for(self, shapes: Sequence[tuple[int, ...]]) -> list[NodeTypes] | None:
        """Return the types of every node for features of those shapes; None where one is not known."""
        return self.node_types(list(map(input_type_of, shapes)))

    @property
    def losses(self) -> Mapping[Source, float]:
        """Activations that are losses themselves, and their weights, beside the layers of outputs; Java has none."""
        return {}

    @property
    def dtype(self) -> str:
        """Of parameters and arithmetic."""
        return self.base.dtype  # type: ignore[return-value]

    @property
    def seed(self) -> int:
        """Of the weights and of dropout."""
        return self.base.seed  # type: ignore[return-value]

    def __call__(self) -> Self:
        """Return itself: in Java ``net.conf()`` is a method."""
        return self

    def layout(self) -> ParamLayout:
        """Return the place of every parameter in the flat vector."""
        nodes = self.nodes
        specs = [node.conf.param_specs() for node in nodes]
        owners = {
            (number, spec.name): (node.params_of, spec.name)
            for number, node in enumerate(nodes)
            if node.params_of is not None
            for spec in specs[number]
        }
        return ParamLayout(specs, [node.name for node in nodes], owners)

    def with_counts(self, iteration_count: int, epoch_count: int) -> Self:
        """Return a copy with those counts of the training."""
        return replace(self, iteration_count=iteration_count, epoch_count=epoch_count)

    def as_initialised(self) -> Self:
        """Return the configuration as that of a network that was initialised, which files have."""
        return self

    def check_training(self) -> None:
        """Raise where the first step of training would, whatever the data are; see `nn.conf.training_checks`."""
        plain = self.optimization_algo == OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT
        plain = plain and self.backprop_type == BackpropType.STANDARD
        for node in self.nodes if plain else ():
            loss, drop_out = (getattr(node.conf, name, None) for name in ("loss", "drop_out"))
            plain = plain and drop_out is None and not getattr(loss, "limits_outputs", False)
            plain = plain and getattr(loss, "weights", None) is None
        if plain:
            return
        from .training_checks import check_training  # which most programs do not need

        check_training(self)

    def to_json(self) -> str:
        """Return DL4J 1.0's JSON: all settings of every layer; input types and the defaults have no place in it."""
        return late("network_to_json")(self)

    # ---- read by a solver

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
    def num_iterations(self) -> int:
        """Steps per minibatch: Java's name of `iterations`."""
        return self.base.iterations

    def is_pretrain(self) -> bool:
        """Return whether `fit` pretrains every layer that can be, before it trains on labels."""
        return self.base.pretrain

    def is_backprop(self) -> bool:
        """Return whether `fit` trains on labels."""
        return self.base.backprop

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
        """Conditions that end the steps on a minibatch early; None for DL4J 0.x's."""
        return self.base.terminations  # type: ignore[return-value]

    @property
    def lbfgs_memory(self) -> int:
        """Steps that LBFGS remembers."""
        return self.base.lbfgs_memory

    @property
    def mini_batch(self) -> bool:
        """Whether gradient and score are divided by the number of examples."""
        return self.base.mini_batch


def _completed(kind: InputType | None, given: InputType | None) -> InputType | None:
    """Return the configuration's type of an input, with the length of given series where it says none."""
    if isinstance(kind, RecurrentType) and isinstance(given, RecurrentType) and kind.time_series_length is None:
        return replace(kind, time_series_length=given.time_series_length)
    return kind or given
