"""Functions that exporters write as several nodes, each as the one operator that it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .known import Known
from .ops import Op, OpGraph
from .scans import scanned

CLOSE = 1e-4
"""Of constants as exporters round them."""


class Match:
    """Parts of a pattern around a node.

    Parameters
    ----------
    graph : OpGraph
    known : Known
    """

    def __init__(self, graph: OpGraph, known: Known) -> None:
        self.graph, self.known = graph, known

    def number(self, name: str) -> float | None:
        """Return a constant that is one number."""
        shape = self.known.shape(name) if name else None
        if shape is None or any(size != (1, 1) for size in shape):
            return None
        return self.known.uniform(name)

    def writer(self, name: str, *ops: str) -> Op | None:
        """Return the node that writes a tensor, if it is one of these."""
        op = self.graph.writer(name)
        return op if op is not None and op.op in ops else None

    def with_number(self, name: str, op: str) -> tuple[str, float] | None:
        """Return the other operand and the number where a tensor is written by `op` of a tensor and a number.

        A Sub of a number is an Add of its negative, a Div a Mul by its inverse.
        """
        turned = {"Add": ("Sub", lambda n: -n), "Mul": ("Div", lambda n: 1.0 / n if n else math.inf)}[op]
        found = self.writer(name, op, turned[0])
        if found is None or len(found.inputs) != 2:
            return None
        first, second = found.inputs
        number = self.number(second)
        if number is not None:
            return first, number if found.op == op else turned[1](number)
        number = self.number(first)
        return None if number is None or found.op != op else (second, number)

    def factors(self, name: str) -> tuple[list[str], float]:
        """Return the tensors, and the number, whose product a tensor is; what others read too is one of them."""
        tensors, number, waiting = [], 1.0, [name]
        while waiting:
            at = waiting.pop()
            one = self.number(at)
            if one is not None:
                number *= one
                continue
            op = self.writer(at, "Mul", "Div")
            inner = op is not None and (at == name or self.graph.only_reader(at) is not None)
            if op is not None and inner and op.op == "Mul":
                waiting += op.inputs
            elif op is not None and inner and (divisor := self.number(op.inputs[1])):
                number /= divisor
                waiting.append(op.inputs[0])
            else:
                tensors.append(at)
        return tensors, number


def put(graph: OpGraph, known: Known, last: Op, op: str, inputs: Sequence[str], **attributes: object) -> bool:
    """Put one operator in the place of a node and those that it alone needs."""
    last.op, last.inputs, last.attributes = op, list(inputs), dict(attributes)
    del last.outputs[1:]
    graph.prune()
    return True


def is_close(number: float | None, wanted: float) -> bool:
    """Tell whether a constant is that number, rounded perhaps."""
    return number is not None and abs(number - wanted) <= CLOSE * max(1.0, abs(wanted))


def gated(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put a Gelu, Swish, Mish or HardSwish in the place of a product of x and a function of x."""
    match = Match(graph, known)
    tensors, number = match.factors(op.output)
    if len(tensors) != 2:
        return False
    for x, gate in (tensors, tensors[::-1]):
        for wanted, kind, attributes in _gates(match, x, gate):
            if is_close(number, wanted):
                return put(graph, known, op, kind, [x], **attributes)
    return False


def _gates(match: Match, x: str, gate: str) -> list[tuple[float, str, dict[str, object]]]:
    """Return what a gate is: the number that goes with it, operator, attributes."""
    writer = match.writer(gate, "Sigmoid", "Tanh", "HardSigmoid", "Clip")
    if writer is None:
        more = match.with_number(gate, "Add")
        if more is None or not is_close(more[1], 1.0):
            return []
        return [(0.5, "Gelu", {"approximate": kind}) for kind in _gelus(match, x, more[0])]
    inside = writer.inputs[0]
    if writer.op == "Sigmoid":
        times = match.with_number(inside, "Mul")
        alpha = 1.0 if inside == x else times[1] if times and times[0] == x else None
        return [] if alpha is None else [(1.0, "Swish", {"alpha": alpha})]
    if writer.op == "HardSigmoid":
        usual = is_close(writer.attribute("alpha", 0.2), 1 / 6) and is_close(writer.attribute("beta", 0.5), 0.5)
        return [(1.0, "HardSwish", {})] if inside == x and usual else []
    if writer.op == "Tanh":
        soft = match.writer(inside, "Softplus")
        return [(1.0, "Mish", {})] if soft is not None and soft.inputs[0] == x else []
    more = match.with_number(inside, "Add")
    usual = more is not None and more[0] == x and is_close(more[1], 3.0) and _limits(match, writer) == (0.0, 6.0)
    return [(1 / 6, "HardSwish", {})] if usual else []


def _gelus(match: Match, x: str, name: str) -> list[str]:
    """Return "none" where a tensor is erf(x / √2), "tanh" where it is the tanh of x's polynomial."""
    erf, tanh = match.writer(name, "Erf"), match.writer(name, "Tanh")
    if erf is not None:
        times = match.with_number(erf.inputs[0], "Mul")
        return ["none"] if times and times[0] == x and is_close(times[1], math.sqrt(0.5)) else []
    if tanh is None:
        return []
    tensors, number = match.factors(tanh.inputs[0])
    if len(tensors) != 1 or not is_close(number, math.sqrt(2.0 / math.pi)):
        return []
    total = match.writer(tensors[0], "Add")
    others = [] if total is None else [name for name in total.inputs if name != x]
    return ["tanh"] if len(others) == 1 and _is_cube(match, x, others[0]) else []


def _is_cube(match: Match, x: str, name: str) -> bool:
    """Tell whether a tensor is 0.044715 x³."""
    tensors, number = match.factors(name)
    powers = 0
    for tensor in tensors:
        power = match.writer(tensor, "Pow")
        if tensor == x:
            powers += 1
        elif power is not None and power.inputs[0] == x:
            powers += int(match.number(power.inputs[1]) or 0)
        else:
            return False
    return powers == 3 and is_close(number, 0.044715)


def _limits(match: Match, op: Op) -> tuple[float | None, float | None]:
    """Return the limits of a Clip."""
    low, high = (
        op.attribute(name) if name in op.attributes else match.number(op.input(at)) if op.input(at) else None
        for at, name in ((1, "min"), (2, "max"))
    )
    return low, high


def quotient(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put a Softsign or an LRN in the place of a quotient."""
    match = Match(graph, known)
    x, below = op.inputs
    more = match.with_number(below, "Add")
    if more is not None and is_close(more[1], 1.0):
        absolute = match.writer(more[0], "Abs")
        if absolute is not None and absolute.inputs[0] == x:
            return put(graph, known, op, "Softsign", [x])
    return _lrn(match, op, x, below)


def _lrn(match: Match, op: Op, x: str, below: str) -> bool:
    """Put an LRN in the place of x / (k + alpha mean(x²))^beta, whose mean is an AveragePool over the channels."""
    power = match.writer(below, "Pow")
    beta = None if power is None else match.number(power.inputs[1])
    more = None if power is None else match.with_number(power.inputs[0], "Add")
    times = None if more is None else match.with_number(more[0], "Mul")
    if beta is None or more is None or times is None:
        return False
    name, before = _past_shapes(match, times[0])
    pool, pads = match.writer(name, "AveragePool"), None
    if pool is None:
        return False
    kernel, name = pool.attribute("kernel_shape"), pool.inputs[0]
    pads = pool.attribute("pads") or [0] * (2 * len(kernel))
    padded = match.writer(name, "Pad")
    if padded is not None:
        own = padded.attribute("pads") or [size[0] for size in match.known.sizes(padded.input(1)) or []]
        half = len(own) // 2
        pads = [a + b for a, b in zip(pads, [*own[2:half], *own[half + 2 :]], strict=False)] if half > 2 else []
        name = padded.inputs[0]
    name, _ = _past_shapes(match, name)
    size, half = kernel[0], len(kernel)
    centred = len(pads) == 2 * half and (pads[0], pads[half]) == ((size - 1) // 2, size // 2)
    counted = padded is not None or pool.attribute("count_include_pad", 0) == 1 or size == 1
    flat = set(kernel[1:]) <= {1} and set(pool.attribute("strides") or [1]) == {1} and sum(map(abs, pads)) == size - 1
    if not (centred and counted and flat) or not _is_square(match, name, x) or before is None:
        return False
    return put(match.graph, match.known, op, "LRN", [x], size=size, alpha=times[1], beta=beta, bias=more[1])


def _past_shapes(match: Match, name: str) -> tuple[str, str | None]:
    """Return what is before views of a tensor."""
    while (view := match.writer(name, "Reshape", "Squeeze", "Unsqueeze", "Flatten")) is not None:
        name = view.inputs[0]
    return name, name


def _is_square(match: Match, name: str, x: str) -> bool:
    product, power = match.writer(name, "Mul"), match.writer(name, "Pow")
    if product is not None:
        return product.inputs == [x, x]
    return power is not None and power.inputs[0] == x and match.number(power.inputs[1]) == 2.0


def chosen(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put a Softplus in the place of a Where that takes x itself where it is large."""
    match = Match(graph, known)
    condition, x, other = op.inputs
    above, soft = match.writer(condition, "Greater", "GreaterOrEqual"), match.writer(other, "Softplus")
    if above is None or soft is None or above.inputs[0] != x or soft.inputs[0] != x:
        return False
    threshold = match.number(above.inputs[1])
    return threshold is not None and threshold >= 15.0 and put(graph, known, op, "Softplus", [x])


def clipped(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put a HardSigmoid in the place of (x + 3 held in 0 .. 6) / 6."""
    match = Match(graph, known)
    tensors, number = match.factors(op.output)
    clip = match.writer(tensors[0], "Clip") if len(tensors) == 1 else None
    if clip is None or not is_close(number, 1 / 6) or _limits(match, clip) != (0.0, 6.0):
        return False
    more = match.with_number(clip.inputs[0], "Add")
    if more is None or not is_close(more[1], 3.0):
        return False
    return put(graph, known, op, "HardSigmoid", [more[0]], alpha=1 / 6, beta=0.5)


def product_of_matrices(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put a Dense in the place of a product with a constant matrix."""
    shape = known.shape(op.inputs[1])
    if known.is_constant(op.inputs[0]) or not known.is_settled(op.inputs[1]) or shape is None or len(shape) != 2:
        return False
    if op.op == "MatMul":
        return put(graph, known, op, "Dense", op.inputs)
    bias = known.shape(op.input(2)) if op.input(2) else ()
    plain = not op.attribute("transA", 0) and (not op.input(2) or known.is_settled(op.input(2)))
    if not plain or bias is None or any(size != (1, 1) for size in bias[:-1]):
        return False
    return put(graph, known, op, "Dense", op.inputs, **op.attributes)


def sum_with_bias(graph: OpGraph, known: Known, op: Op) -> bool:
    """Give a Dense the bias that is added behind it."""
    match = Match(graph, known)
    for name, bias in (op.inputs, op.inputs[::-1]) if len(op.inputs) == 2 else ():
        dense, shape = match.writer(name, "Dense"), known.shape(bias)
        if dense is None or dense.input(2) or not known.is_settled(bias) or graph.only_reader(name) is not op:
            continue
        behind = known.shape(name)
        if shape is None or behind is None or known.shape(op.output) != behind:
            continue
        if any(size != (1, 1) for size in shape[:-1]) or (shape[-1:] or ((1, 1),)) != behind[-1:]:
            continue
        return put(graph, known, op, "Dense", [*dense.inputs[:2], bias], **{**dense.attributes, "beta": 1.0})
    return False


def picked_of_several(graph: OpGraph, known: Known, op: Op) -> bool:
    """Let a Gather of one place of a Concat read what was put there."""
    sizes, shape = known.sizes(op.inputs[1]), known.shape(op.inputs[1])
    concat = graph.writer(op.inputs[0])
    if shape != () or not sizes or sizes[0][0] != sizes[0][1] or concat is None or concat.op != "Concat":
        return False
    whole = known.shape(op.inputs[0])
    if whole is None or concat.attribute("axis") % len(whole) != op.attribute("axis", 0) % len(whole):
        return False
    axis, index = op.attribute("axis", 0) % len(whole), sizes[0][0]
    index += whole[axis][0] if index < 0 else 0
    for name in concat.inputs:
        part = known.shape(name)
        if part is None or part[axis][0] != part[axis][1] or known.is_constant(name):
            return False
        if index < part[axis][0]:
            return put(graph, known, op, "Pick", [name], axis=axis, index=index)
        index -= part[axis][0]
    return False


FUSIONS: dict[str, tuple[Callable[[OpGraph, Known, Op], bool], ...]] = {
    "Add": (sum_with_bias,),
    "Div": (quotient, gated, clipped),
    "Gather": (picked_of_several,),
    "Gemm": (product_of_matrices,),
    "MatMul": (product_of_matrices,),
    "Mul": (gated, clipped),
    "Scan": (scanned,),
    "Where": (chosen,),
}
"""Last operator of a pattern -> what looks for it, sorted."""
