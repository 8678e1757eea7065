"""Scans whose steps are those of an LSTM or a simple recurrent layer, as that operator.

`nn.onnx.out` writes units so whose activations ONNX's own operators have not, and all in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import nd
from nd.activations import ACTIVATIONS
from nd.extras import optional
from nd.typing import HostArray

from ..draft import WORDS, OnnxDraft
from ..out.functions import activated
from .ops import Op, OpGraph, ops_of

if TYPE_CHECKING:
    from .known import Known

OPERATORS_OWN = {
    "hardsigmoid": "HardSigmoid", "relu": "Relu", "sigmoid": "Sigmoid", "softsign": "Softsign", "tanh": "Tanh",
}  # fmt: skip
"""Activation -> its name in ONNX's operators; others have one that no file has."""
_SMALL, _MOST_NODES = 16, 100
"""Elements of a constant that may belong to a function; nodes of a step."""
_LARGEST_BODY = 1 << 20
"""Bytes of a step whose shapes are looked for."""
Term = tuple[Any, ...]


class Gate(NamedTuple):
    """A function of a sum in the body of a Scan."""

    function: str
    block: int
    """Of the sum, among those that are split."""
    peephole: str
    """What the memory is multiplied by in the sum; "" without."""


class Body:
    """The nodes of a step.

    Parameters
    ----------
    graph : GraphProto
    opset : int
    dtype : str
    """

    def __init__(self, graph: Any, opset: int, dtype: str) -> None:
        onnx = optional("load", "onnx", "onnx", "onnx")
        self.ops = OpGraph(ops_of(graph, onnx.helper), [value.name for value in graph.output])
        self.inputs = [value.name for value in graph.input]
        self.numbers = _numbers(onnx, graph.initializer)
        self.functions = _functions(opset, dtype)

    def written(self, name: str, op: str) -> list[str] | None:
        """Return the inputs of the node that writes a tensor, if it is of that operator."""
        writer = self.ops.writer(name)
        return list(writer.inputs) if writer is not None and writer.op == op else None

    def end(self, position: int) -> str:
        """Return the tensor that an output hands on."""
        name = self.ops.outputs[position]
        return (self.written(name, "Identity") or [name])[0]

    def function(self, name: str, leaf: str) -> str | None:
        """Return the activation that a tensor is of another; None where it is none."""
        terms, names = self.functions
        return names.get(terms.of(self.ops, self.numbers, name, leaf))

    def product(self, name: str, other: str) -> str | None:
        """Return what a tensor is multiplied by where another one is its product; None where it is not."""
        factors = self.written(name, "Mul") or []
        return factors[1 - factors.index(other)] if len(factors) == 2 and other in factors else None


def scanned(graph: OpGraph, known: Known, op: Op) -> bool:
    """Put an LSTM or RNN in the place of a Scan of its steps."""
    states, ways = _states(op), _set(op, "scan_input_directions", "scan_output_directions")
    dense = graph.writer(op.inputs[-1]) if states else None
    if dense is None or dense.op != "Dense" or len(dense.inputs) != 3 or len(ways) > 1:
        return False
    zero = all(known.uniform(name) == 0.0 for name in op.inputs[:-1])
    unread = not any(graph.readers(name) or name in graph.outputs for name in op.outputs[:-1])
    dtype = next((name for name, word in WORDS.items() if word == known.kind(dense.inputs[1])), "")
    if not (zero and unread and known.shape(op.outputs[-1])) or dtype not in ("float32", "float64"):
        return False
    step = Body(op.attribute("body"), known.file.opset, dtype)
    found = _lstm(step, known) if states == 2 else _simple(step, known)
    if found is None or not _fits(known, dense, found):
        return False
    _put(graph, known, op, dense, found, ways == {1})
    return True


def _states(op: Op) -> int:
    """Return how many states a Scan of one series and one output has, 1 or 2; 0 for any other."""
    body, states = op.attribute("body"), len(op.inputs) - 1
    plain = op.attribute("num_scan_inputs") == 1 and _set(op, "scan_input_axes", "scan_output_axes") == {0}
    sizes = {len(op.inputs), len(op.outputs), len(body.input), len(body.output)} if body is not None else set()
    return states if plain and states in (1, 2) and sizes == {states + 1} and len(body.node) <= _MOST_NODES else 0


def _set(op: Op, *names: str) -> set[int]:
    """Return the numbers that attributes say, 0 where they are left out."""
    return {number for name in names for number in op.attribute(name) or [0]}


class Units(NamedTuple):
    """What a Scan computes."""

    op: str
    functions: list[str]
    recurrent: str
    """Name of the recurrent weights."""
    blocks: list[int]
    """Of their columns, in the order of ONNX's gates."""
    peepholes: list[str]


def _simple(step: Body, known: Known) -> Units | None:
    h, x = step.inputs
    out = step.end(0)
    total = next((op.output for op in step.ops.ops if op.op == "Add" and x in op.inputs), "")
    recurrent, function = _recurrent(step, known, total, x, h), step.function(out, total)
    if recurrent is None or function is None or step.end(1) != out:
        return None
    return Units("RNN", [function], recurrent, [0], [])


def _lstm(step: Body, known: Known) -> Units | None:
    """Find ``h = gate(o) act(c')`` and ``c' = gate(f) c + gate(g) act(i)``."""
    h, c, x = step.inputs
    out, after = step.end(0), step.end(1)
    total = next((op.output for op in step.ops.ops if op.op == "Add" and x in op.inputs), "")
    recurrent = _recurrent(step, known, total, x, h)
    split = next((op for op in step.ops.ops if op.op == "Split" and op.inputs[0] == total), None)
    if recurrent is None or split is None or len(split.outputs) != 4 or step.end(2) != out:
        return None
    opened = _product_of(step, out, lambda name: step.function(name, after))
    kept, entered = (step.written(after, "Add") or ["", ""])[:2]
    forgets = step.product(kept, c)
    enters = _product_of(step, entered, lambda name: _plain(step, split, name))
    if opened is None or forgets is None or enters is None:
        return None
    gates = [_gate(step, split, enters[0], c), _gate(step, split, opened[0], after), _gate(step, split, forgets, c)]
    activation, block = enters[1]
    if None in gates or opened[1] != activation or len({gate.function for gate in gates if gate}) != 1:
        return None
    known_gates = [gate for gate in gates if gate is not None]
    peepholes = [gate.peephole for gate in known_gates]
    if any(peepholes) and not all(known.array(name) is not None for name in peepholes):
        return None
    functions = [known_gates[0].function, activation, activation]
    blocks = [*(gate.block for gate in known_gates), block]
    return Units("LSTM", functions, recurrent, blocks, peepholes if any(peepholes) else [])


def _recurrent(step: Body, known: Known, total: str, x: str, h: str) -> str | None:
    """Return the weights where a sum is x + h RW."""
    terms = step.written(total, "Add") or []
    others = [name for name in terms if name != x]
    factors = step.written(others[0], "MatMul") if len(others) == 1 else None
    if factors is None or factors[0] != h or known.array(factors[1]) is None:
        return None
    return factors[1]


def _product_of(step: Body, name: str, second: Any) -> tuple[str, Any] | None:
    """Return the factors of a product, the second as a function says what it is; None where it says nothing."""
    factors = step.written(name, "Mul") or []
    for one, other in (factors, factors[::-1]) if len(factors) == 2 else ():
        said = second(other)
        if said is not None:
            return one, said
    return None


def _plain(step: Body, split: Op, name: str) -> tuple[str, int] | None:
    """Return function and block where a tensor is an activation of a block without a peephole, the candidate's."""
    found = [(step.function(name, leaf), block) for block, leaf in enumerate(split.outputs)]
    return next(((function, block) for function, block in found if function and block == 0), None)


def _gate(step: Body, split: Op, name: str, memory: str) -> Gate | None:
    for block, leaf in enumerate(split.outputs):
        function = step.function(name, leaf)
        if function is not None:
            return Gate(function, block, "")
        for op in step.ops.readers(leaf):
            others = [term for term in op.inputs if term != leaf] if op.op == "Add" else []
            peephole = step.product(others[0], memory) if len(others) == 1 else None
            function = step.function(name, op.output) if peephole else None
            if peephole and function is not None:
                return Gate(function, block, peephole)
    return None


# ---- shapes


def shapes_behind(op: Op, opset: int, type_of: Callable[[str], Any]) -> dict[str, tuple[int, ...]]:
    """Return the shapes of a Scan's outputs; none where they are not known.

    Parameters
    ----------
    op : Op
        Over the first axis of what comes in.
    opset : int
    type_of : callable (str) -> TypeProto or None
        Of a tensor outside of it.
    """
    states = _states(op)
    found = _typed_body(op, type_of) if states else None
    if found is None:
        return {}
    onnx, (body, length) = optional("load", "onnx", "onnx", "onnx"), found
    model = onnx.helper.make_model(body, opset_imports=[onnx.helper.make_opsetid("", opset)])
    outputs = onnx.shape_inference.infer_shapes(model).graph.output
    shapes = [tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim) for value in outputs]
    if not all(shape and all(shape) for shape in shapes):
        return {}
    behind = [shape if place < states else (length, *shape) for place, shape in enumerate(shapes)]
    return dict(zip(op.outputs, behind, strict=True))


def _typed_body(op: Op, type_of: Callable[[str], Any]) -> tuple[Any, int] | None:
    """Return a body whose inputs, also those from outside, have types, and the number of steps; None where one has not.

    A copy.
    """
    onnx, given = optional("load", "onnx", "onnx", "onnx"), op.attribute("body")
    if given.ByteSize() > _LARGEST_BODY:
        return None
    body = onnx.GraphProto()
    body.CopyFrom(given)
    made = {name for node in body.node for name in node.output} | {one.name for one in body.initializer}
    own = [value.name for value in body.input]
    read = sorted({name for node in body.node for name in node.input if name} - made - {*own})
    kinds = [type_of(name) for name in [*op.inputs, *read]]
    ranks = [len(kind.tensor_type.shape.dim) if kind is not None else 0 for kind in kinds]
    if None in kinds or not ranks[len(own) - 1]:
        return None
    del body.input[:]
    for place, (name, kind) in enumerate(zip([*own, *read], kinds, strict=True)):
        sizes = [dim.dim_value for dim in kind.tensor_type.shape.dim]
        sizes = sizes[1:] if place == len(own) - 1 else sizes
        body.input.append(onnx.helper.make_tensor_value_info(name, kind.tensor_type.elem_type, sizes))
    return body, kinds[len(own) - 1].tensor_type.shape.dim[0].dim_value


# ---- functions


class Terms:
    """Numbers for how tensors follow from another one, the same for what is computed in the same way."""

    def __init__(self) -> None:
        self._numbers: dict[Term, int] = {}

    def of(self, ops: OpGraph, constants: Mapping[str, Term], name: str, leaf: str, grows: bool = False) -> int:
        """Return the number of a tensor; -1 where no tensor with `grows` was computed so."""
        return self._of(ops, constants, name, {leaf: 0}, grows)

    def _of(self, ops: OpGraph, constants: Mapping[str, Term], name: str, done: dict[str, int], grows: bool) -> int:
        if name in done:
            return done[name]
        done[name] = -1  # also of what depends on itself
        op = ops.writer(name)
        if name in constants:
            key: Term = ("constant", constants[name])
        elif op is None:
            return -1
        else:
            inside = tuple(self._of(ops, constants, one, done, grows) for one in op.inputs)
            if -1 in inside:
                return -1
            key = (op.op, tuple(sorted((key, repr(value)) for key, value in op.attributes.items())), inside)
        done[name] = self._numbers.get(key, -1)
        if grows and done[name] < 0:
            done[name] = self._numbers[key] = 1 + len(self._numbers)
        return done[name]


class Functions(NamedTuple):
    """How every activation is written."""

    terms: Terms
    names: Mapping[int, str]


@lru_cache(maxsize=8)
def _functions(opset: int, dtype: str) -> Functions:
    onnx, made = optional("load", "onnx", "onnx", "onnx"), Functions(Terms(), {})
    names: dict[int, str] = {}
    for name in ACTIVATIONS:
        activation = ACTIVATIONS[name]()
        if activation.over_rows:
            continue
        draft = OnnxDraft(opset, dtype)
        out = activated(draft, activation, "leaf", "f")
        nodes = onnx.helper.make_graph(draft.nodes, "f", [], [])
        constants = _numbers(onnx, draft.tensors.values())
        number = made.terms.of(OpGraph(ops_of(nodes, onnx.helper), [out]), constants, out, "leaf", grows=True)
        names.setdefault(number, name)
    return made._replace(names=names)


def _numbers(onnx: Any, tensors: Iterable[Any]) -> dict[str, Term]:
    """Return the numbers of small constants."""
    arrays = ((one.name, onnx.numpy_helper.to_array(one)) for one in tensors if math.prod(one.dims) <= _SMALL)
    return {name: tuple(array.reshape(-1).tolist()) for name, array in arrays}


# ---- the operator


def _fits(known: Known, dense: Op, units: Units) -> bool:
    """Tell whether the weights have the shapes of such units."""
    _, weights, bias = dense.inputs
    arrays = [known.array(name) for name in (weights, units.recurrent, bias, *units.peepholes)]
    shapes = [() if array is None else tuple(array.shape) for array in arrays]
    if len(shapes[0]) != 2 or len(shapes[1]) != 2 or sorted(units.blocks) != list(range(len(units.blocks))):
        return False
    width, columns = shapes[1]
    fits = columns == width * len(units.blocks) == shapes[0][1] == math.prod(shapes[2])
    return fits and all(math.prod(shape) == width for shape in shapes[3:])


def _put(graph: OpGraph, known: Known, op: Op, dense: Op, units: Units, reverse: bool) -> None:
    """Put an operator, and a Squeeze behind it, in the place of a Scan."""
    name, out = op.name, op.outputs[-1]
    steps, examples, width = known.shape(out) or ()
    x, weights, bias = dense.inputs
    with nd.use_backend("numpy"):
        blank = nd.to_host(nd.zeros(1, len(units.blocks) * width[0]))
        arrays: list[HostArray] = [
            _rows(known.read(weights), units.blocks)[None],
            _rows(known.read(units.recurrent), units.blocks)[None],
            nd.to_host(nd.concat([_rows(known.read(bias).reshape(1, -1), units.blocks).reshape(1, -1), blank], 1)),
        ]
        if units.peepholes:
            arrays.append(nd.to_host(nd.concat([known.read(one).reshape(1, -1) for one in units.peepholes], 1)))
        one = nd.to_host(nd.astype(nd.ones(1), "int64"))
    names = [f"{name}/{part}" for part in "WRBP"[: len(arrays)]]
    for key, array in zip([*names, f"{name}/axes"], [*arrays, one], strict=True):
        known.add(key, array)
    inputs = [x, *names[:3], *(["", "", "", names[3]] if units.peepholes else [])]
    functions = [OPERATORS_OWN.get(function, f"Own::{function}") for function in units.functions]
    settings = {"activations": functions, "hidden_size": width[0], "direction": "reverse" if reverse else "forward"}
    y = f"{name}/Y"
    known.set_shape(y, (steps, tuple(1 for _ in width), examples, width))
    graph.ops.insert(graph.ops.index(op), Op(units.op, inputs, [y], settings, name))
    op.op, op.inputs, op.outputs, op.attributes = "Squeeze", [y, f"{name}/axes"], [out], {}
    graph.prune()


def _rows(weights: HostArray, blocks: Sequence[int]) -> HostArray:
    """Return weights ``[n, gates * units]`` as ``[gates * units, n]``, with the gates in that order."""
    rows = weights.transpose().reshape(len(blocks), -1, weights.shape[0])
    return rows[list(blocks)].reshape(-1, weights.shape[0])
