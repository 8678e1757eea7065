"""Predictions of a network, by several workers, recorded."""

from __future__ import annotations

from functools import partial

import nd
from nd.typing import Array

from .minibatch import StepInput
from .worker import FORWARD_ONLY, NetworkParts, Plans, Worker


class OutputComputer:
    """The last layer's activations outside of training.

    Parameters
    ----------
    parts : NetworkParts
    """

    def __init__(self, parts: NetworkParts) -> None:
        self.parts = parts
        self.plans = Plans(parts.conf, parts.splits(training=False), FORWARD_ONLY)
        self.workers: list[Worker] = []

    def output(self, step: StepInput) -> Array:
        """Return a new array ``[N, ...]``."""
        plan = self.plans.of(step)
        while len(self.workers) < len(plan.workers):
            self.workers.append(Worker(self.parts, self.parts.vectors.gradient))
        tasks = [partial(worker.outputs, step, rows) for worker, rows in zip(self.workers, plan.workers, strict=False)]
        arrays = [array for made in nd.run_tasks(tasks, plan.is_whole and plan.light) for array in made]
        return arrays[0] if len(arrays) == 1 else nd.concat(arrays)
