"""Layer normalisation that exporters of older opsets write as means, differences and roots, as one node."""

from __future__ import annotations

from .composed import Match, put
from .known import Known
from .ops import Op, OpGraph


def scaled_normal(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put a LayerNormalization in the place of gamma times what has mean 0 and variance 1."""
    match = Match(graph, known)
    for name, gamma in (op.inputs, op.inputs[::-1]):
        found = _normal(match, name) if known.is_settled(gamma) else None
        if found is not None and _is_of_last_axes(known, gamma, name, found[1]):
            x, axis, epsilon = found
            return put(graph, known, op, "LayerNormalization", [x, gamma], axis=axis, epsilon=epsilon)
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


def _normal(match: Match, name: str) -> tuple[str, int, float] | None:
    """Return x, the first axis and epsilon where a tensor is x - mean, divided by the root of variance + epsilon."""
    quotient = match.writer(name, "Div")
    root = None if quotient is None else match.writer(quotient.inputs[1], "Sqrt")
    more = None if root is None else match.with_number(root.inputs[0], "Add")
    if quotient is None or more is None:
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


def _is_of_last_axes(known: Known, gamma: str, name: str, axis: int) -> bool:
    shape, whole = known.shape(gamma), known.shape(name)
    return shape is not None and whole is not None and shape == whole[axis:]
