"""Predictions of a network, by several workers, recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import nd
from nd.typing import Array

from ..conf.activation_memory import Keeping
from ..conf.work import FORWARD_ONLY
from .plans import Plans
from .shared_nodes import SharedNodes, State
from .worker import Arrays, StepArrays, StepInput, Worker, copied, joined


class Outputs(NamedTuple):
    """The activations of the outputs, and the state after the pass, none where nobody wants it."""

    arrays: Arrays
    state: State


class Predictor(Worker):
    """The nodes of a network at work for predictions."""

    def outputs(self, step: StepInput, rows: Sequence[slice], keeps_state: bool) -> list[Outputs]:
        """Return the activations of every output for each part, new arrays, and where wanted the state after it.

        A state of the whole lies where the next computation of these shapes goes on from it without a copy.
        """
        computed = []
        for part in map(step.part, rows):
            key = (part.key, keeps_state)
            if keeps_state and not self.recordings.holds(key):  # may fail in the middle: what is stored must stay
                part = replace(part, state=copied(part.state))
            outputs, state = self.recordings.run(key, partial(self._output, part, keeps_state), part.arrays)
            # Another part, or the next computation, may be given its inputs in that memory.
            stays = len(rows) == 1 and self.recordings.holds(key)
            computed.append(Outputs(copied(outputs), state if stays else copied(state)))
        return computed

    def _output(self, step: StepInput, keeps_state: bool, arrays: StepArrays) -> Outputs:
        """Compute; the state after it takes the place of the one before."""
        state = arrays.state if keeps_state else ()
        outputs = self.propagation().output(step.with_arrays(arrays), state_into=state)
        return Outputs(tuple(outputs), state)


class OutputComputer:
    """The activations of the outputs outside of training."""

    def __init__(self, shared: SharedNodes) -> None:
        self.shared = shared
        self.plans = Plans(shared.conf, shared.splits(training=False), FORWARD_ONLY, keeping=Keeping.NOTHING)
        self._whole = Plans(shared.conf, False, FORWARD_ONLY, keeping=Keeping.EVERYTHING)
        self.workers: list[Predictor] = []

    def check_whole(self, features: Sequence[Array]) -> None:
        """Raise SizeError where the activations of all nodes for such features fit into no memory of this size."""
        self._whole.of(StepInput(tuple(features)))

    def outputs(self, step: StepInput, keeps_state: bool = False) -> Outputs:
        """Return a new array ``[N, ...]`` for every output, and where wanted the state after it.

        That lies in memory that a step with the next state of these shapes reuses.
        """
        plan = self.plans.of(step)
        while len(self.workers) < len(plan.workers):
            self.workers.append(Predictor(self.shared, self.shared.vectors.gradient))
        tasks = [
            partial(worker.outputs, step, parts, keeps_state)
            for worker, parts in zip(self.workers, plan.workers, strict=False)
        ]
        # Workers with several parts say nothing of their weight: only an undivided minibatch is known to be light.
        return joined([part for of_worker in nd.run_tasks(tasks, plan.undivided and plan.light) for part in of_worker])
