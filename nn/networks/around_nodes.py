"""Calls of listeners around the nodes of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optimize.api import AROUND_NODES

from ..step.node_calls import NodeArrays, NodeCalls
from ..terms.data_formats import outward

if TYPE_CHECKING:
    from ..step.worker import OnForward


def calls_around(network: Any, on_forward: OnForward | None) -> OnForward | None:
    """Return what runs a step node by node and calls the listeners that want it; `on_forward` where none does.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
    on_forward : callable, optional
        Shown all activations.
    """
    iteration, listeners = network.iteration_count, network.engine.around_nodes
    present = [listener for listener in network.listeners if listener in listeners]
    wanted = {hook: [one for one in present if one.wants(hook, iteration)] for hook in AROUND_NODES}
    hooks = [hook for hook, hearing in wanted.items() if hearing]
    if not hooks:
        return on_forward
    conf, names = network.conf, network._node_names()

    def hear(hook: str, number: int, arrays: NodeArrays) -> None:
        formats = conf.formats
        before = [source.node for source in conf.nodes[number].inputs]
        inputs = [formats.behind[node] if node >= 0 else formats.inputs[-1 - node] for node in before]
        turned = NodeArrays(
            tuple(map(outward, arrays.inputs, inputs)),
            tuple(outward(array, formats.behind[number]) for array in arrays.outputs),
        )
        for listener in wanted[hook]:
            getattr(listener, hook)(network, names[number], turned)

    return NodeCalls(hear, hooks, on_forward)
