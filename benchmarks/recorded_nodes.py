"""Which kind of node the calls of a recorded step belong to, and whether on its way forward or back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from backends.cpu.recording import active_recording
from backends.errors import NotRecorded

PASSES = {
    "propagate": "forward", "loss_and_delta": "loss", "backpropagate": "backward", "backpropagate_delta": "backward",
}  # fmt: skip
"""Method of a node -> what its calls are."""
MEETING, REST = "gradients that meet, added", "others"


class Stretch(NamedTuple):
    """Calls of one node, one after the other, in the list of a recording."""

    calls: list[Callable[[], object]]
    start: int
    stop: int
    kind: str


class RecordedNodes:
    """Notes what the nodes of a network do while its steps are recorded: made before the first step.

    Parameters
    ----------
    net : MultiLayerNetwork or ComputationGraph
    """

    def __init__(self, net: Any) -> None:
        self._stretches: list[Stretch] = []
        for layer in {id(node.layer): node.layer for node in net.engine.gradients.shared.fused[0]}.values():
            for method, way in PASSES.items():
                if hasattr(layer, method):
                    kind = f"{type(layer).__name__.removesuffix('Runtime')}, {way}"
                    setattr(layer, method, self._noting(getattr(layer, method), kind))

    def _noting(self, run: Callable[..., Any], kind: str) -> Callable[..., Any]:
        def noting(*arguments: Any) -> Any:
            try:
                calls = active_recording().calls
            except NotRecorded:
                return run(*arguments)
            start = len(calls)
            found = run(*arguments)
            self._stretches.append(Stretch(calls, start, len(calls), kind))
            return found

        return noting

    def kinds(self, calls: list[Callable[[], object]]) -> list[str]:
        """Return for each call of a recording what it belongs to."""
        kinds = [MEETING if _adds_activations(call) else REST for call in calls]
        for stretch in self._stretches:
            if stretch.calls is calls:
                kinds[stretch.start : stretch.stop] = [stretch.kind] * (stretch.stop - stretch.start)
        return kinds


def _adds_activations(call: Any) -> bool:
    return call.func is np.add and call.args[0].ndim > 1
