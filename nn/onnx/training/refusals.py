"""What a training step as ONNX cannot do for a network, found before anything is written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...terms.enums import BackpropType, OptimizationAlgorithm

if TYPE_CHECKING:
    from ...conf.nodes import NetworkConfiguration

LOSS_LAYERS = frozenset(
    {
        "Cnn3DLossLayer", "CnnLossLayer", "LossLayer", "OutputLayer", "RnnLossLayer", "RnnOutputLayer",
    }
)  # fmt: skip
"""Layers whose loss is that of their activations alone."""
OPSET = 18
"""The least that has all operators of the way back: ScatterElements that adds, reductions over axes that are inputs."""


def refusals(conf: NetworkConfiguration) -> Iterator[str]:
    """Yield what a step cannot do that follows from the configuration as a whole."""
    if conf.optimization_algo != OptimizationAlgorithm.STOCHASTIC_GRADIENT_DESCENT:
        yield f"optimization_algo={str(conf.optimization_algo)!r} takes several passes. Set it to the default"
    if conf.backprop_type != BackpropType.STANDARD:
        yield f"backprop_type={str(conf.backprop_type)!r} takes several steps. Set it to 'standard'"
    if not conf.minimize:
        yield "minimize=False has no form here"
    if conf.step_function not in (None, "negative_gradient"):
        yield f"step_function={conf.step_function!r} has no form here"
    if conf.losses:
        yield "losses that are no output layers have no form here"
    for node in conf.nodes:
        if getattr(node.conf, "constraints", None):
            yield f"{node.label}: constraints have no form here. Leave them out"
    for number in conf.output_nodes:
        node, layer = conf.nodes[number], conf.nodes[number].conf.innermost
        if type(layer).__name__ not in LOSS_LAYERS:
            yield f"{node.label}: an output must be one of {', '.join(sorted(LOSS_LAYERS))}, got {_kind(layer)}"


def _kind(layer: Any) -> str:
    return type(layer).__name__
