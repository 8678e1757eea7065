"""What a model of Keras is compiled with: losses and the optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nd.activations import Identity

from ..terms import losses, optimizers
from .draft import Config

if TYPE_CHECKING:
    from .drawing import Drawing

_CLIPS = {"clip_element_wise_absolute_value": "clipvalue", "clip_l2_per_param_type": "clipnorm"}
"""Gradient normalisation -> the setting of Keras' optimizers."""


def compile_config(drawing: Drawing) -> Config | None:
    """Return Keras' ``compile_config`` of a network that was drawn; None where Keras cannot say it, which is noted."""
    said = [_loss(drawing, number) for number in range(len(drawing.outputs))]
    optimizer = _optimizer(drawing)
    if optimizer is None or all(loss is None for loss in said):
        return None
    loss = said[0] if len(said) == 1 else said
    return {
        "optimizer": optimizer, "loss": loss, "loss_weights": None, "metrics": None, "weighted_metrics": None,
        "run_eagerly": False, "steps_per_execution": 1, "jit_compile": "auto",
    }  # fmt: skip


def _loss(drawing: Drawing, number: int) -> Any:
    """Return the loss of an output; None where it has none, or Keras has not."""
    node = drawing.conf.nodes[drawing.conf.output_nodes[number]]
    conf: Any = node.conf.innermost
    own = getattr(conf, "loss", None)
    if own is None:
        return None
    said = losses.keras_of(own, getattr(conf, "activation", None) or Identity())
    permuted = drawing.draft.layers[drawing.outputs[number].layer].class_name == "Permute"
    if said is None or permuted:
        why = ", as its classes are not along the last axis" if said is not None else ""
        drawing.draft.lost.append(f"{node.label}: its loss, {own!r}{why}")
        return None
    return said


def _optimizer(drawing: Drawing) -> Config | None:
    """Return the optimizer: that of the first layer which has an updater."""
    layers: list[Any] = [node.conf.innermost for node in drawing.conf.nodes]
    layers = [conf for conf in layers if getattr(conf, "updater", None) is not None]
    if not layers:
        return None
    first = layers[0].updater
    said = optimizers.keras_of(first)
    others = {repr(conf.updater) for conf in layers} | {repr(conf.bias_updater or first) for conf in layers}
    if said is None or len(others) > 1:
        lost = sorted(others - ({repr(first)} if said is not None else set()))
        drawing.draft.lost.append(f"updaters: {', '.join(lost)}")
    clips = {(conf.gradient_normalization, conf.gradient_normalization_threshold) for conf in layers}
    for name, threshold in sorted(clips, key=repr):
        if said is not None and str(name) in _CLIPS and len(clips) == 1:
            said["config"][_CLIPS[str(name)]] = float(threshold)
        elif name is not None and str(name) != "none":
            drawing.draft.lost.append(f"updaters: the gradient normalisation {str(name)!r}")
    return said
