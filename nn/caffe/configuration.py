"""The configuration of the nodes that a net of Caffe's is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self, cast

from optimize import NoOp, Regularization, Updater

from ..conf.network import NeuralNetConfiguration
from ..conf.nodes import NetworkConfiguration, NodeConf, NodeTypes, Source
from ..terms.params import ParamLayout, ParamView
from .layers.base import CaffeLayerConf

if TYPE_CHECKING:
    from ..terms.input_type import InputType
    from .assembly import Assembly, LayerPlan
    from .layers.base import Shape


class Rule(NamedTuple):
    """How a parameter is trained."""

    updater: Updater
    penalties: tuple[Regularization, ...] = ()


class Training(NamedTuple):
    """How a solver trains the parameters of a net.

    Attributes
    ----------
    rule_of : callable (lr_mult, decay_mult) -> Rule
    clip : float, optional
        Norm to which the gradient is cut, once it is divided.
    """

    rule_of: Callable[[float, float], Rule]
    clip: float | None = None


class BlobType(NamedTuple):
    """The shape of a blob, as what a layer costs is worked out from it."""

    sizes: tuple[int, ...]
    """Of an example."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Channels first."""
        return self.sizes


@dataclass(frozen=True, kw_only=True, eq=False)
class CaffeConfiguration(NetworkConfiguration):
    """The nodes of a net: its layers but for those that bring data, whose tops are the inputs.

    Parameters
    ----------
    base : NeuralNetConfiguration
        The dtype; gradients are not divided, as layers of losses do so themselves.
    nodes_of_net : tuple of NodeConf
    names : tuple of str
        Of the inputs.
    input_shapes : tuple of shapes
    weights : dict of Source -> float
        Tops that are losses, and their weights.
    ways : tuple of (tuple of bool, bool)
        Of every node to which bottoms it goes back, and whether it does.
    owners : dict of (int, str) -> (int, str)
        Node and name of a parameter that shares memory, and of the one that owns it.
    rules : tuple of Rule
        Of the parameters that own their memory, in their order; none without a solver.
    clip : float, optional
        Norm to which the whole gradient is cut.
    """

    nodes_of_net: tuple[NodeConf, ...]
    names: tuple[str, ...]
    input_shapes: tuple[Any, ...]
    weights: Mapping[Source, float]
    ways: tuple[tuple[tuple[bool, ...], bool], ...]
    owners: Mapping[tuple[int, str], tuple[int, str]]
    rules: tuple[Rule, ...] = ()
    clip: float | None = None
    scores_penalties: ClassVar[bool] = False
    compared: ClassVar[tuple[str, ...]] = ("names", "input_shapes", "weights", "ways", "owners", "rules", "clip")

    @property
    def nodes(self) -> tuple[NodeConf, ...]:
        return self.nodes_of_net

    @property
    def output_nodes(self) -> tuple[int, ...]:
        return ()

    @property
    def input_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def losses(self) -> Mapping[Source, float]:
        return self.weights

    @property
    def clip_norm(self) -> float | None:
        return self.clip

    def ways_back(self) -> Sequence[tuple[tuple[bool, ...], bool]]:
        return self.ways

    def layout(self) -> ParamLayout:
        return ParamLayout([node.conf.param_specs() for node in self.nodes], self._node_names(), self.owners)

    def _node_names(self) -> list[str]:
        return [node.name for node in self.nodes]

    def updater_of(self, view: ParamView) -> Updater:
        return self._rule_of(view).updater

    def regularization_of(self, view: ParamView) -> Sequence[Regularization]:
        return self._rule_of(view).penalties

    @cached_property
    def _rules(self) -> dict[int, Rule]:
        """Where a parameter begins -> its rule."""
        return {view.start: rule for view, rule in zip(self.layout().views, self.rules, strict=True)}

    def _rule_of(self, view: ParamView) -> Rule:
        return self._rules[view.start] if self.rules else Rule(NoOp())

    def network_input_types(self) -> tuple[InputType | None, ...]:
        return (None,) * len(self.names)

    def with_confs(self, confs: Sequence[Any]) -> Self:
        nodes = (node._replace(conf=conf) for node, conf in zip(self.nodes, confs, strict=True))
        return replace(self, nodes_of_net=tuple(nodes))

    def types_for(self, shapes: Sequence[Shape]) -> list[NodeTypes] | None:
        known = [shape[1:] for shape in shapes] == [shape[1:] for shape in self.input_shapes]
        if not known or len({shape[:1] for shape in shapes}) != 1:  # of other shapes, or not of as many examples each
            return None
        return [NodeTypes(_types(node.conf.bottoms), _types(node.conf.tops or ((1,),))) for node in self.nodes]  # type: ignore[union-attr]


def _types(shapes: Sequence[Shape]) -> tuple[Any, ...]:
    return tuple(BlobType(tuple(shape[1:]) or (1,)) for shape in shapes)


def configuration_of(net: Assembly, dtype: str, training: Training | None = None) -> CaffeConfiguration:
    """Return the configuration of a net's nodes; without `training` no updates are possible."""
    nodes = [(number, plan) for number, plan in enumerate(net.layers) if plan.conf is not None]
    ways = [
        (tuple(goes and bottom for bottom in bottoms), goes)
        for goes, bottoms, plan in zip(net.ways_back.layers, net.ways_back.bottoms, net.layers, strict=True)
        if plan.conf is not None
    ]
    seen: Counter[str] = Counter()
    confs = tuple(_node(net, number, plan, seen) for number, plan in nodes)
    places = {index: (net.layers[param.layer].node or 0, param.spec.name) for index, param in enumerate(net.params)}
    return CaffeConfiguration(
        base=NeuralNetConfiguration(seed=1, dtype=dtype, mini_batch=False, updater="noop"),
        nodes_of_net=confs,
        names=tuple(net.blobs[blob].name for blob in net.inputs),
        input_shapes=tuple(shape for plan in net.layers if plan.data is not None for shape in plan.shapes),
        weights={
            Source(plan.node or 0, top): weight
            for _, plan in nodes
            for top, weight in enumerate(plan.loss_weights)
            if weight != 0.0
        },
        ways=tuple(ways),
        owners={
            places[index]: places[param.owner] for index, param in enumerate(net.params) if param.owner is not None
        },
        rules=()
        if training is None
        else tuple(training.rule_of(param.lr_mult, param.decay_mult) for param in net.params if param.owner is None),
        clip=None if training is None else training.clip,
    )


def _node(net: Assembly, number: int, plan: LayerPlan, seen: Counter[str]) -> NodeConf:
    """Return a layer as a node; of several with one name the later ones are numbered."""
    seen[plan.name] += 1
    name = plan.name if seen[plan.name] == 1 else f"{plan.name}#{number}"
    params = zip(plan.params, net.ways_back.params[number], strict=True)
    fixed = frozenset(net.params[index].spec.name for index, trained in params if not trained)
    conf = replace(cast(CaffeLayerConf, plan.conf), fixed=fixed)
    return NodeConf(name, plan.label, conf, plan.inputs, None, plan.node or 0)
