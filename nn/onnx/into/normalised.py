"""Layer normalisation that exporters of older opsets write as means, differences and roots, as one node."""

from __future__ import annotations

import nd

from .composed import Match, put
from .known import Known
from .ops import Op, OpGraph


def normal(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put a LayerNormalization in the place of x - mean, divided by the root of its variance."""
    found = _normal(Match(graph, known), op)
    if found is None:
        return False
    x, axis, epsilon = found
    shape = (known.shape(x) or ())[axis:]
    if any(size[0] != size[1] for size in shape):
        return False
    ones = f"{op.output}/ones"
    with nd.use_backend("numpy"):
        known.add(ones, nd.to_host(nd.ones(*(size[0] for size in shape), dtype="float32")))
    return put(graph, known, op, "LayerNormalization", [x, ones], axis=axis, epsilon=epsilon)


def scaled_normal(graph: OpGraph, known: Known, op: Op) -> bool:
    """Give a LayerNormalization the factors that it is multiplied by."""
    match = Match(graph, known)
    for name, gamma in (op.inputs, op.inputs[::-1]):
        layer = match.writer(name, "LayerNormalization")
        if layer is None or not layer.inputs[1].endswith("/ones") or graph.only_reader(name) is not op:
            continue
        if len(layer.inputs) == 2 and known.is_settled(gamma) and known.shape(gamma) == known.shape(layer.inputs[1]):
            return put(graph, known, op, "LayerNormalization", [layer.inputs[0], gamma], **layer.attributes)
    return False


def with_bias(graph: OpGraph, known: Known, op: Op) -> bool:
    """Give a LayerNormalization the constant that is added behind it."""
    match = Match(graph, known)
    for name, beta in (op.inputs, op.inputs[::-1]) if len(op.inputs) == 2 else ():
        layer = match.writer(name, "LayerNormalization")
        if layer is None or len(layer.inputs) > 2 or graph.only_reader(name) is not op or not known.is_settled(beta):
            continue
        if known.shape(beta) == known.shape(layer.inputs[1]):
            return put(graph, known, op, "LayerNormalization", [*layer.inputs, beta], **layer.attributes)
    return False


def _normal(match: Match, quotient: Op) -> tuple[str, int, float] | None:
    """Return x, the first axis and epsilon where a quotient is x - mean by the root of variance + epsilon."""
    root = match.writer(quotient.inputs[1], "Sqrt")
    more = None if root is None else match.with_number(root.inputs[0], "Add")
    if more is None:
        return None
    centred = match.writer(quotient.inputs[0], "Sub")
    squares = _mean(match, more[0])
    mean = None if centred is None else _mean(match, centred.inputs[1])
    if centred is None or squares is None or mean is None or squares[1] != mean[1] or mean[0] != centred.inputs[0]:
        return None
    power = match.writer(squares[0], "Pow", "Mul")
    below = None if power is None else match.writer(power.inputs[0], "Sub")
    square = power is not None and (power.inputs[0] == power.inputs[1] or match.number(power.inputs[1]) == 2.0)
    if below is None or not square or below.inputs != centred.inputs:
        return None
    return mean[0], mean[1], more[1]


def _mean(match: Match, name: str) -> tuple[str, int] | None:
    """Return what a mean over the last axes is of, and the first of them; None for any other tensor."""
    op = match.writer(name, "ReduceMean")
    shape = None if op is None else match.known.shape(op.inputs[0])
    if op is None or shape is None or not op.attribute("keepdims", 1):
        return None
    told = op.attribute("axes") or [size[0] for size in match.known.sizes(op.input(1)) or []]
    axes = sorted(axis % len(shape) for axis in told)
    if not axes or axes != list(range(len(shape) - len(axes), len(shape))):
        return None
    return op.inputs[0], axes[0] - len(shape)
