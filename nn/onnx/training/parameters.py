"""The parameters of a network that a step changes, and their updaters' states, as inputs of a graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import nd
from nd.typing import Array
from optimize import NoOp
from optimize.regularization import merged

from ..out.node_draft import NotInOnnx
from .draft import TrainingDraft
from .tensors import Tensor
from .update import Parameter, check_penalties, normalised, updated
from .updaters import Updating, check_updater

if TYPE_CHECKING:
    from ...networks.network import Network
    from ...terms.params import ParamView

NEW = "/new"
"""What follows the name of an input in that of the output which takes its place in the next step."""


class Parameters:
    """The parameters that change, which are inputs with the network's numbers as their defaults.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    draft : TrainingDraft

    Attributes
    ----------
    all : list of Parameter
        In the order of the flat vector.
    inputs : dict of str -> tuple of int
        Names of parameters and states, and their shapes.
    refused : list of str
        Updaters and penalties that have no form as operators.
    """

    def __init__(self, network: Network, draft: TrainingDraft) -> None:
        self.network, self.draft, self.conf = network, draft, network.conf
        self.inputs: dict[str, tuple[int, ...]] = {}
        self.refused: list[str] = []
        self._layout = self.conf.layout()
        vector = network.params()
        self.all = [self._taken(view, vector) for view in self._layout.views if self._changes(view)]

    def _changes(self, view: ParamView) -> bool:
        frozen = type(self.conf.nodes[view.layer].conf).__name__.startswith("Frozen")
        return not frozen and not view.spec.pretrained and (view.spec.trainable or view.spec.running)

    def _taken(self, view: ParamView, vector: Array) -> Parameter:
        spec, label = view.spec, self.conf.nodes[view.layer].label
        updater = NoOp() if spec.running else self.conf.updater_of(view)
        penalties = merged(self.conf.regularization_of(view)) if spec.penalised and not spec.running else ()
        try:
            check_penalties(penalties)
            check_updater(updater)
        except NotInOnnx as error:
            self._refuse(f"{label}: {error}")
            updater, penalties = NoOp(), ()
        tensor = self._input(view.key, view.of(vector))
        flat = self.network.updater.states_of(view.start, view.stop) if updater.state_names else []
        states = tuple(
            self._input(f"{view.key}/{name}", nd.reshape_view(state, spec.shape, spec.order))
            for name, state in zip(updater.state_names, flat, strict=True)
        )
        return Parameter(view.key, view.layer, tensor, updater, states, penalties, spec.divided)

    def _refuse(self, reason: str) -> None:
        if reason not in self.refused:  # of another parameter of the same layer
            self.refused.append(reason)

    def _input(self, name: str, array: Array) -> Tensor:
        taken = self.draft.array(array, name)
        self.inputs[taken] = tuple(array.shape)
        return self.draft.tensor(taken)

    def of_nodes(self) -> dict[tuple[int, str], str]:
        """Return number of a node and name of a parameter that it computes with -> the input."""
        names = {each.key: each.tensor.name for each in self.all}
        numbers = range(len(self.conf.nodes))
        return {
            (number, view.spec.name): names[view.key]
            for number in numbers
            for view in self._owners(number)
            if view.key in names
        }

    def _owners(self, number: int) -> list[Any]:
        """Return the views that a node computes with; of another node's parameters the view there."""
        by_start = {(view.start, view.stop): view for view in self._layout.views}
        return [by_start[view.start, view.stop] for view in self._layout.used_by(number)]

    def after(self, at: Updating, gradients: Mapping[str, Tensor], examples: Tensor | None) -> dict[str, Tensor]:
        """Return the name of every input -> what takes its place in the next step.

        Parameters
        ----------
        at : Updating
        gradients : mapping of str -> Tensor
            Summed over the examples, by the parameters' keys; of those that follow minibatches how far they go.
        examples : Tensor, optional
            Their number, that gradients are divided by.
        """
        after: dict[str, Tensor] = {}
        divided = {}
        for each in self.all:
            gradient = gradients.get(each.key) or each.tensor.zeros()
            divided[each.key] = gradient / examples if examples is not None and each.divided else gradient
        divided = self._normalised(divided)
        for each in self.all:
            self.draft.scope = f"update/{each.key}"
            parameter, states = updated(at, each, divided[each.key])
            after[each.tensor.name] = parameter
            after |= {old.name: new for old, new in zip(each.states, states, strict=True)}
        return after

    def _normalised(self, gradients: dict[str, Tensor]) -> dict[str, Tensor]:
        self.draft.scope = "normalize"
        if self.conf.clip_norm is not None:
            return normalised("clip_l2_per_layer", self.conf.clip_norm, gradients)
        for number, node in enumerate(self.conf.nodes):
            name = getattr(node.conf, "gradient_normalization", None)
            if name not in (None, "none"):
                threshold = getattr(node.conf, "gradient_normalization_threshold", None)
                own = {each.key: gradients[each.key] for each in self.all if each.number == number}
                gradients |= normalised(str(name), 1.0 if threshold is None else float(threshold), own)
        return gradients
