"""GradientCheckUtil: gradients against numeric derivatives of the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import nd
from nd.dataset import DataSet, MultiDataSet
from nd.java_enums import JavaEnum
from nd.state import Restoring
from nd.typing import Array
from optimize.builder import Builder

from ..networks.network import Network


class PrintMode(JavaEnum):
    """Choice of the lines printed."""

    ALL = "all"
    FAILURES_ONLY = "failures_only"
    ZEROS = "zeros"


@dataclass(frozen=True, kw_only=True)
class _Check:
    net: Network
    input: Any = None
    inputs: Any = None
    labels: Any
    epsilon: float = 1e-6
    max_rel_error: float = 1e-3
    min_absolute_error: float = 1e-8
    print: Any = PrintMode.ZEROS
    exit_on_first_error: bool = False
    input_mask: Any = None
    label_mask: Any = None
    subset: bool = False
    max_per_param: int | None = None

    def run(self) -> bool:
        """Compare every parameter's derivative; True where all agree."""
        if self.net.dtype != "float64":
            raise nd.DTypeError(f"checkGradients: the network must compute in float64, got {self.net.dtype}.")
        data: DataSet | MultiDataSet
        if self.inputs is None:
            data = DataSet(self.input, self.labels, self.input_mask, self.label_mask)
        else:
            data = MultiDataSet(self.inputs, self.labels, self.input_mask, self.label_mask)
        gradient, params = self._gradient(data), self.net.params()
        failures = 0
        for at in range(params.shape[1]):
            numeric = self._derivative(data, params, at)
            distance, largest = abs(gradient[at] - numeric), abs(gradient[at]) + abs(numeric)
            wrong = distance > self.min_absolute_error and distance > self.max_rel_error * largest
            failures += wrong
            if wrong or self.print == PrintMode.ALL:
                print(f"Param {at} {'FAILED' if wrong else 'passed'}: grad={gradient[at]}, numericalGrad={numeric}")
            if wrong and self.exit_on_first_error:
                break
        return failures == 0

    def _gradient(self, data: object) -> list[float]:
        """Return the gradient of the score: divided by the examples, with the penalties."""
        net = self.net
        result = net.compute_gradient_and_score(net.step_input(data))
        divisor = result.examples if net.conf.mini_batch else 1
        with Restoring(), net.engine.on_backend():
            return nd.to_host(net.updater.objective_gradient(divisor, net.iteration_count, net.epoch_count)).tolist()

    def _derivative(self, data: object, params: Array, at: int) -> float:
        scores = []
        before = float(nd.item(params[0, at]))
        for sign in (1.0, -1.0):
            nd.fill(params[0, at : at + 1], before + sign * self.epsilon)
            scores.append(self.net.score(data, training=True))
        nd.fill(params[0, at : at + 1], before)
        return (scores[0] - scores[1]) / (2.0 * self.epsilon)


class GradientCheckUtil:
    """Compares gradients with differences of the score. Source: DL4J ``GradientCheckUtil``."""

    PrintMode = PrintMode

    @staticmethod
    def MLNConfig() -> Builder:
        """Start the settings of a check: ``.net(net).input(x).labels(y)`` and how exact it is."""
        return Builder(_Check)

    @staticmethod
    def GraphConfig() -> Builder:
        """Start the same of a graph: ``.net(graph).inputs([x]).labels([y])``, lists all, also of masks."""
        return Builder(_Check)

    @staticmethod
    def checkGradients(first: Any, *more: Any) -> bool:
        """Check as `MLNConfig` says, or in Java's older way ``(net, epsilon, max_rel_error, min_absolute_error, print,
        exit_on_first_error, input, labels)``."""
        if isinstance(first, Builder):
            return first.build().run()
        names = ("epsilon", "max_rel_error", "min_absolute_error", "print", "exit_on_first_error", "input", "labels")
        return _Check(net=first, **dict(zip(names, more, strict=False))).run()
