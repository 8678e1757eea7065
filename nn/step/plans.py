"""How minibatches are divided among workers, and what a network costs on an example."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import nd

from ..terms.input_type import InputType
from .pass_memory import Keeping, check_activations
from .step_input import StepInput

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration, NodeTypes

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
    meetings : int
        How often workers have to meet.
    """

    def __init__(self, conf: NetworkConfiguration, splits: bool, products: int, meetings: int = 0) -> None:
        self.conf, self.splits, self.products, self.meetings = conf, splits, products, meetings
        self.keeping = Keeping.INPUTS if products > FORWARD_ONLY else Keeping.NOTHING
        self.known: dict[object, nd.WorkPlan] = {}

    def of(self, step: StepInput) -> nd.WorkPlan:
        """Return the plan for inputs of those shapes; raise SizeError where no memory of this size holds them."""
        plan = self.known.get(step.key)
        if plan is None:
            types = self.types_of(step)
            plan = nd.plan_work(step.examples, self._work(step, types) if self.splits else None)
            if types is not None:
                rows = sum(max(part.stop - part.start for part in parts) for parts in plan.workers)
                check_activations(self.conf, step, types, rows, self.keeping)
            if len(self.known) < MOST_PLANS:
                self.known[step.key] = plan
        return plan

    def types_of(self, step: StepInput) -> list[NodeTypes] | None:
        """Return the types of all nodes; None where something does not fit, which the layers then say of the whole."""
        try:
            return self.conf.node_types([input_type_of(x.shape) for x in step.features])
        except nd.NdError:
            return None

    def _work(self, step: StepInput, types: list[NodeTypes] | None) -> nd.Work | None:
        """Return what an example costs; None where something does not fit."""
        if types is None or not self._fit(step, types):
            return None
        work = work_of(self.conf, types, [x.shape for x in step.features], self.products)
        return work._replace(meetings=self.meetings)

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


def work_of(
    conf: NetworkConfiguration, types: list[NodeTypes], shapes: Sequence[tuple[int, ...]], passes: int
) -> nd.Work:
    """Return what a network with such activations costs on features of those shapes."""
    multiplications, looked_up, largest, parameters = 0, 0, max(math.prod(shape[1:]) for shape in shapes), 0
    loops: dict[bool, list[int]] = {False: [], True: []}  # multiplications of a time step, of LSTM units or not
    for node, (came, outputs) in zip(conf.nodes, types, strict=True):
        out = outputs[0]
        specs = node.conf.param_specs()
        size = math.prod(out.sizes)
        positions = size // out.shape[0]
        recurrent = [spec for spec in specs if spec.recurrent]
        for spec in recurrent:
            loops[spec.lstm].append(spec.length)
        if recurrent:
            positions = math.prod(came[0].sizes) // came[0].shape[0]
        if getattr(node.conf, "takes_indices", False):
            looked_up += size
        else:
            multiplications += positions * sum(spec.length for spec in specs if not spec.bias)
        parameters += sum(spec.length for spec in specs)
        largest = max(largest, size)
    element_bytes = 8 if conf.dtype == "float64" else 4
    gradient = parameters if passes > FORWARD_ONLY else 0
    per_step, per_lstm_step = (min(loops[of_lstm], default=0) for of_lstm in (False, True))
    return nd.Work(
        passes * multiplications,
        largest * element_bytes,
        gradient,
        per_step,
        looked_up=passes * looked_up,
        per_lstm_step=per_lstm_step,
    )


def input_type_of(shape: tuple[int, ...]) -> InputType | None:
    """Return the type of features of that shape; None where there is none."""
    channels, places = shape[1], shape[2:]
    makers: dict[int, Callable[..., InputType]] = {
        0: InputType.feed_forward,
        1: lambda steps, size: InputType.recurrent(size, steps),
        2: InputType.convolutional,
        3: InputType.convolutional3d,
    }
    make = makers.get(len(places))
    return None if make is None else make(*places, channels)
