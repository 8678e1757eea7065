"""The division of minibatches among workers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import nd

from ..conf.input_type import InputType
from ..conf.nodes import NodeTypes
from .minibatch import StepInput

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration

MOST_PLANS = 1000  # keys that are remembered
FORWARD_ONLY, FORWARD_AND_BACKWARD = 1, 3  # products that every one of the forward pass stands for


class Plans:
    """Division of minibatches: as the backend wishes, where no part of the network minds.

    Parameters
    ----------
    conf : NetworkConfiguration
    splits : bool
        Whether examples meet nowhere.
    products : int
        Matrix products that every one of the forward pass stands for.
    """

    def __init__(self, conf: NetworkConfiguration, splits: bool, products: int) -> None:
        self.conf, self.splits, self.products = conf, splits, products
        self._known: dict[object, nd.WorkPlan] = {}

    def of(self, step: StepInput) -> nd.WorkPlan:
        """Return the plan for inputs of those shapes."""
        key = step.key
        plan = self._known.get(key)
        if plan is None:
            plan = nd.plan_work(step.examples, self._work(step) if self.splits else None)
            if len(self._known) < MOST_PLANS:
                self._known[key] = plan
        return plan

    def _work(self, step: StepInput) -> nd.Work | None:
        """Return what an example costs; None where something does not fit, which the layers then say of the whole."""
        try:
            types = self.conf.node_types([_input_type_of(x.shape) for x in step.features])
            if types is None or not self._fit(step, types):
                return None
            return work_of(self.conf, types, [x.shape for x in step.features], self.products)
        except nd.NdError:
            return None

    def _fit(self, step: StepInput, types: list[NodeTypes]) -> bool:
        """Tell whether labels and their masks fit the outputs, so that no part of them will be refused."""
        nodes = self.conf.nodes
        for output, number in enumerate(self.conf.output_nodes if step.labels else ()):
            loss = getattr(nodes[number].conf, "loss", None)
            labels, mask = step.labels[output], step.labels_mask(output)
            if loss is None:
                continue
            places = tuple(labels.shape[2:])
            expected = (step.examples, loss.label_columns(types[number].output.shape[0]), *places)
            masks = {(step.examples, 1), (step.examples, *places), expected, (step.examples, 1, *places)}
            if tuple(labels.shape) != expected or (mask is not None and tuple(mask.shape) not in masks):
                return False
        return True


def work_per_example(conf: NetworkConfiguration, shape: tuple[int, ...], passes: int) -> nd.Work | None:
    """Return what a network of one input costs on features of that shape, None where the shape does not tell."""
    types = conf.node_types([_input_type_of(shape)])
    return None if types is None else work_of(conf, types, [shape], passes)


def work_of(
    conf: NetworkConfiguration, types: list[NodeTypes], shapes: Sequence[tuple[int, ...]], passes: int
) -> nd.Work:
    """Return what a network with such activations costs on features of those shapes."""
    multiplications, largest, parameters = 0, max(math.prod(shape[1:]) for shape in shapes), 0
    for node, (_, out) in zip(conf.nodes, types, strict=True):
        specs = node.conf.param_specs()
        size = math.prod(out.sizes)
        positions = size // out.shape[0]
        multiplications += positions * sum(spec.length for spec in specs if not spec.bias)
        parameters += sum(spec.length for spec in specs)
        largest = max(largest, size)
    element_bytes = 8 if conf.dtype == "float64" else 4
    return nd.Work(passes * multiplications, largest * element_bytes, parameters if passes > FORWARD_ONLY else 0)


def _input_type_of(shape: tuple[int, ...]) -> InputType | None:
    channels, places = shape[1], shape[2:]
    makers: dict[int, Callable[..., InputType]] = {
        0: InputType.feed_forward,
        1: lambda steps, size: InputType.recurrent(size, steps),
        2: InputType.convolutional,
        3: InputType.convolutional3d,
    }
    make = makers.get(len(places))
    return None if make is None else make(*places, channels)
