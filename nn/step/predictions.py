"""Predictions of a network, by several workers, recorded."""

from __future__ import annotations

from functools import partial

import nd
from nd.typing import Array

from .minibatch import StepInput
from .worker import FORWARD_ONLY, Plans, SharedNodes, Worker


class OutputComputer:
    """The activations of the outputs outside of training.

    Parameters
    ----------
    shared : SharedNodes
    """

    def __init__(self, shared: SharedNodes) -> None:
        self.shared = shared
        self.plans = Plans(shared.conf, shared.splits(training=False), FORWARD_ONLY)
        self.workers: list[Worker] = []

    def outputs(self, step: StepInput) -> tuple[Array, ...]:
        """Return a new array ``[N, ...]`` for every output."""
        plan = self.plans.of(step)
        while len(self.workers) < len(plan.workers):
            self.workers.append(Worker(self.shared, self.shared.vectors.gradient))
        tasks = [
            partial(worker.outputs, step, parts) for worker, parts in zip(self.workers, plan.workers, strict=False)
        ]
        # Workers with several parts say nothing of their weight: only an undivided minibatch is known to be light.
        parts = [part for of_worker in nd.run_tasks(tasks, plan.undivided and plan.light) for part in of_worker]
        return parts[0] if len(parts) == 1 else tuple(nd.concat(arrays) for arrays in zip(*parts, strict=True))
