"""Capsule networks."""

from __future__ import annotations

from nd.activations import LeakyReLU, ReLU

from ...layers.capsules.capsules import EPSILON
from .convolutions import convolved
from .functions import activated
from .node_draft import NodeDraft


def primary_capsules(layer: NodeDraft) -> str:
    """PrimaryCapsules: a convolution, perhaps a rectifier, and squash."""
    conf = layer.conf
    z = convolved(layer, layer.params["W"].transpose(3, 2, 0, 1))
    if conf.use_relu:
        rectifier = LeakyReLU(alpha=conf.leak) if conf.leak else ReLU()
        z = activated(layer.draft, rectifier, z, layer.name)
    return _squashed(layer, layer.node("Reshape", z, layer.draft.ints(0, -1, conf.capsule_dimensions)))


def capsules(layer: NodeDraft) -> str:
    """CapsuleLayer: all iterations of its routing, one after the other."""
    conf, draft = layer.conf, layer.draft
    predictions, logits, v = _predictions(layer), "", ""
    b = layer.param("b", shape=(1, conf.capsules, conf.capsule_dimensions)) if "b" in layer.params else None
    for number in range(conf.routings):
        if number:
            ups = layer.node("Unsqueeze", v, draft.ints(1))
            agreement = layer.reduced("ReduceSum", layer.node("Mul", predictions, ups), [3])
            logits = layer.node("Add", agreement, logits) if logits else agreement
            coupling = layer.node("Unsqueeze", layer.node("Softmax", logits, axis=2), draft.ints(3))
            s = layer.reduced("ReduceSum", layer.node("Mul", predictions, coupling), [1])
        else:
            s = layer.reduced("ReduceSum", predictions, [1])
            s = layer.node("Div", s, float(conf.capsules))
        v = _squashed(layer, s if b is None else layer.node("Add", s, b))
    return v


def _predictions(layer: NodeDraft) -> str:
    """Return ``[N, I, J, D]``, what every capsule below predicts for every one above."""
    conf, perm = layer.conf, [1, 0, 2]
    shape = (conf.input_capsules, conf.capsules * conf.capsule_dimensions, conf.input_capsule_dimensions)
    W = layer.params["W"].reshape(shape).transpose(0, 2, 1)
    below = layer.node("Transpose", layer.x, perm=perm)  # [I, N, K]
    matrices = layer.node("MatMul", below, layer.draft.array(W, f"{layer.name}/W"))
    above = layer.draft.ints(0, conf.input_capsules, conf.capsules, conf.capsule_dimensions)
    return layer.node("Reshape", layer.node("Transpose", matrices, perm=perm), above)


def _squashed(layer: NodeDraft, s: str) -> str:
    """Return ``s q / ((1 + q) sqrt(q + EPSILON))``, q the sum of squares along the last axis."""
    q = layer.reduced("ReduceSum", layer.node("Mul", s, s), [2], True)
    root = layer.node("Sqrt", layer.node("Add", q, EPSILON))
    below = layer.node("Mul", layer.node("Add", q, 1.0), root)
    return layer.node("Mul", s, layer.node("Div", q, below))


def strength(layer: NodeDraft) -> str:
    """CapsuleStrengthLayer: the length of every capsule."""
    return layer.reduced("ReduceL2", layer.x, [2])
