"""How minibatches are divided among workers."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import nd

from ..conf.activation_memory import Keeping, check_activations
from ..conf.work import work_of

if TYPE_CHECKING:
    from ..conf.nodes import NetworkConfiguration, NodeTypes
    from .worker import StepInput

MOST_PLANS = 1000  # keys that are remembered


@dataclass(eq=False)
class Plans:
    """Division of minibatches: as the backend wishes, where no part of the network minds."""

    conf: NetworkConfiguration
    splits: bool  # whether examples meet nowhere
    products: int  # matrix products that every one of the forward pass stands for
    meetings: int = 0  # how often workers have to meet
    keeping: Keeping = Keeping.INPUTS  # of the activations
    known: dict[object, nd.WorkPlan] = field(default_factory=dict)

    def of(self, step: StepInput) -> nd.WorkPlan:
        """Return the plan for inputs of those shapes; raise SizeError where no memory of this size holds them."""
        plan = self.known.get(step.key)
        if plan is None:
            shapes, types, work = [x.shape for x in step.features], None, None
            with suppress(nd.NdError):  # where something does not fit, which the layers then say of the whole
                types = self.conf.types_for(shapes)
            if self.splits and types is not None and self._fit(step, types):
                work = work_of(self.conf, types, shapes, self.products)._replace(meetings=self.meetings)
            plan = nd.plan_work(step.examples, work)
            if types is not None:
                rows = sum(max(part.stop - part.start for part in parts) for parts in plan.workers)
                check_activations(self.conf, shapes, types, rows, self.keeping)
            if len(self.known) < MOST_PLANS:
                self.known[step.key] = plan
        return plan

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
