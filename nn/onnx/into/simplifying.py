"""Nodes that say together what one operator says, as that one, and nodes that hand on what comes in left out.

Exporters write a GELU as Div, Erf, Add and Mul, each in an order of its own. Here it becomes a Gelu whatever the order.
"""

from __future__ import annotations

from collections.abc import Callable

from .composed import FUSIONS
from .known import Known
from .normalised import normal, scaled_normal, with_bias
from .ops import Op, OpGraph

MORE = {"Add": (with_bias,), "Div": (normal,), "Mul": (scaled_normal,)}
"""Beside `FUSIONS`: last operator of a pattern -> what looks for it."""
REAL = frozenset({1, 10, 11, 16})
"""TensorProto's numbers of real types."""
INTEGRAL = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13})
"""Those of whole numbers and truths."""


def simplify(graph: OpGraph, known: Known) -> None:
    """Change a graph until no rule finds anything."""
    graph.prune()
    changed = True
    while changed:
        changed = False
        for op in list(graph.ops):
            if op not in graph.ops:
                continue
            if hands_on(op, known):
                graph.rename(op.output, op.inputs[0])
                graph.ops.remove(op)
                changed = True
                continue
            changed |= any(rule(graph, known, op) for rule in (*FUSIONS.get(op.op, ()), *MORE.get(op.op, ())))
        graph.prune()


def hands_on(op: Op, known: Known) -> bool:
    """Tell whether a node's output is its first input."""
    rule = HANDING_ON.get(op.op)
    if rule is None or not op.inputs or known.is_constant(op.inputs[0]):
        return False
    before, behind = known.shape(op.inputs[0]), known.shape(op.output)
    return before is not None and before == behind and rule(op, known)


def _always(op: Op, known: Known) -> bool:
    return True


def _alone(op: Op, known: Known) -> bool:
    return len(op.inputs) == 1


def _cast(op: Op, known: Known) -> bool:
    before, behind = known.kind(op.inputs[0]), op.attribute("to")
    return behind in REAL or (before in INTEGRAL and behind in INTEGRAL - {9}) or before == behind


def _dropout(op: Op, known: Known) -> bool:
    return not op.input(2) or known.uniform(op.input(2)) == 0.0


def _not_reversed(op: Op, known: Known) -> bool:
    steps = known.sizes(op.input(4)) if op.input(4) else []
    return steps is not None and all(step[0] > 0 for step in steps)


def _no_pads(op: Op, known: Known) -> bool:
    pads = op.attribute("pads") or [0]
    told = known.sizes(op.input(1)) if op.input(1) else []
    return told is not None and not any(pads) and all(set(pad) == {0} for pad in told)


def _neutral(number: float) -> Callable[[Op, Known], bool]:
    """Return what tells a neutral number; an array of such is a parameter that a training has not yet begun with."""

    def is_neutral(op: Op, known: Known) -> bool:
        shape = known.shape(op.input(1)) if op.input(1) else None
        return shape is not None and all(size == (1, 1) for size in shape) and known.uniform(op.input(1)) == number

    return is_neutral


HANDING_ON: dict[str, Callable[[Op, Known], bool]] = {
    "Add": _neutral(0.0),
    "Cast": _cast,
    "CastLike": lambda op, known: known.kind(op.input(1)) in REAL,
    "Concat": _alone,
    "Div": _neutral(1.0),
    "Dropout": _dropout,
    "Expand": _always,
    "Identity": _always,
    "Max": _alone,
    "Mean": _alone,
    "Min": _alone,
    "Mul": _neutral(1.0),
    "Pad": _no_pads,
    "Pow": _neutral(1.0),
    "Resize": _always,
    "Slice": _not_reversed,
    "Sub": _neutral(0.0),
    "Sum": _alone,
    "Tile": _always,
    "Upsample": _always,
}
"""Operator that may hand on its input, whose shape it keeps -> when it does, sorted."""
