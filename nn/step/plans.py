"""How minibatches are divided among workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import nd

from ..conf.activation_memory import Keeping, check_activations
from ..conf.work import FORWARD_ONLY, input_type_of, work_of
from .step_input import StepInput

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration, NodeTypes

MOST_PLANS = 1000  # keys that are remembered


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
                check_activations(self.conf, [x.shape for x in step.features], types, rows, self.keeping)
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
