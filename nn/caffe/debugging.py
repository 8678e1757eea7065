"""The lines of debug_info: mean absolute values of blobs and parameters as a pass comes to them."""

from __future__ import annotations

import logging
import math
from typing import TYPE_CHECKING, Any

import nd

from .blob import Blob

if TYPE_CHECKING:
    from .running import RunningNet

LOGGER = logging.getLogger(__name__)


class DebugLines:
    """Logs what Caffe logs where a net's `debug_info` is on.

    Parameters
    ----------
    net : RunningNet

    Notes
    -----
    Source: BVLC Caffe, net.cpp, ForwardDebugInfo and BackwardDebugInfo.
    """

    def __init__(self, net: RunningNet) -> None:
        self._net, self.on = net, False

    def switch(self, on: bool) -> None:
        """Log from now on, or no longer."""
        callbacks = self._net.callbacks
        for hook, hear in (("after_forward", self._forward), ("after_backward", self._backward)):
            if on and not self.on:
                callbacks[hook].append(hear)
            elif self.on and not on:
                callbacks[hook].remove(hear)
        self.on = on

    def _forward(self, number: int) -> None:
        net, plan = self._net, self._net.assembly.layers[number]
        for blob in net.top_vecs[number]:
            _log("Forward", plan.name, f"top blob {blob.name}", f"data: {_mean(blob, 'data')}")
        for index in plan.params:
            name = net.param_display_names[index]
            _log("Forward", plan.name, f"param blob {name}", f"data: {_mean(net.param_blobs[index], 'data')}")

    def _backward(self, number: int) -> None:
        net, plan, ways = self._net, self._net.assembly.layers[number], self._net.assembly.ways_back
        if not ways.layers[number]:
            return
        for blob, goes in zip(net.bottom_vecs[number], ways.bottoms[number], strict=True):
            if goes:
                _log("Backward", plan.name, f"bottom blob {blob.name}", f"diff: {_mean(blob, 'diff')}")
        for index, goes in zip(plan.params, ways.params[number], strict=True):
            if goes:
                name = net.param_display_names[index]
                _log("Backward", plan.name, f"param blob {name}", f"diff: {_mean(net.param_blobs[index], 'diff')}")

    def after_backward(self) -> None:
        """Log the norms of all parameters and gradients, once all layers have gone backward."""
        if not self.on:
            return
        blobs = self._net.learnable_params
        sums = [math.fsum(getattr(blob, name)() for blob in blobs) for name in _SUMS]
        asum_data, asum_diff, sumsq_data, sumsq_diff = sums
        LOGGER.info(
            "    [Backward] All net params (data, diff): L1 norm = (%g, %g); L2 norm = (%g, %g)",
            asum_data,
            asum_diff,
            math.sqrt(sumsq_data),
            math.sqrt(sumsq_diff),
        )


_SUMS = ("asum_data", "asum_diff", "sumsq_data", "sumsq_diff")


def _log(way: str, layer: str, blob: str, value: str) -> None:
    LOGGER.info("    [%s] Layer %s, %s %s", way, layer, blob, value)


def _mean(blob: Blob, name: str) -> Any:
    return f"{nd.item(nd.sum(nd.absolute(blob.read(name)))) / max(blob.count, 1):g}"
