"""LSTM and RNN in one direction or both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nd
from nd.activations import ACTIVATIONS
from nd.typing import HostArray

from ....layers import LSTM, Bidirectional, GravesLSTM, SimpleRnn
from ....vertices import LastTimeStepVertex, MergeVertex, ReverseTimeSeriesVertex
from ..draft import Arrays
from ..layout import Value
from ..piece import Piece

IOFC = (3, 2, 1, 0)
"""Blocks of ONNX's gates i, o, f, c in the order of DL4J's columns: candidate, forget, output, input."""
PEEPHOLES = (2, 1, 0)
"""ONNX's peepholes i, o, f in the order of DL4J's columns: forget, output, input."""
FUNCTIONS = {
    "Relu": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid", "HardSigmoid": "hardsigmoid", "Softsign": "softsign",
    "Softplus": "softplus", "Elu": "elu", "LeakyRelu": "leakyrelu", **{f"Own::{name}": name for name in ACTIVATIONS},
}  # fmt: skip
"""Activation of a node, without settings -> that of a layer; those of a Scan that is taken for a node all have one."""


def lstm(piece: Piece) -> list[Value | None]:
    """LSTM, with peepholes a GravesLSTM."""
    op = piece.op
    piece.need(not op.attribute("input_forget", 0), "its input and forget gate are one")
    given = [name.capitalize() if name.islower() else name for name in op.attribute("activations") or []]
    functions = given[:3] or ["Sigmoid", "Tanh", "Tanh"]
    directions = 2 if op.attribute("direction", "forward") == "bidirectional" else 1
    piece.need(not given or given == functions * directions, "its directions have several functions")
    gate, candidate, out = (FUNCTIONS.get(name) for name in functions)
    piece.need(gate and candidate and candidate == out, "its functions are others than DL4J's")
    piece.need("activation_alpha" not in op.attributes and "activation_beta" not in op.attributes, "it sets functions")
    kind: Any = GravesLSTM if op.input(7) else LSTM
    settings = {"activation": candidate, "gate_activation": gate}
    return _recurrent(piece, kind, settings, 4)


def rnn(piece: Piece) -> list[Value | None]:
    """RNN."""
    given = piece.op.attribute("activations") or ["Tanh"]
    piece.need(len(set(given)) == 1 and given[0] in FUNCTIONS, "its functions are others than DL4J's")
    return _recurrent(piece, SimpleRnn, {"activation": FUNCTIONS[given[0]]}, 1)


def _recurrent(piece: Piece, kind: Any, settings: dict[str, Any], gates: int) -> list[Value | None]:
    """Add the layers of a node; return the tensors Y, Y_h and, where nothing reads it, no Y_c."""
    op, value = piece.op, piece.value()
    _check(piece)
    directions, _, n_in = (size[0] for size in piece.shape(op.inputs[1]))
    width = piece.shape(op.inputs[2])[2][0]
    layout = op.attribute("layout", 0)
    steps, examples = value.axes[layout], value.axes[1 - layout]
    piece.need(piece.draft.are_examples(examples, value), "its examples are not the first axis of an input")
    value = piece.arranged(value, (examples, value.axes[2], steps))
    conf = {"n_in": n_in, "n_out": width, **settings}
    series, last, tag = _layers(piece, kind, conf, value, gates)
    new = [(piece.factors.new((size, size)),) for size in (directions, width)]
    channels = (*new[0], *new[1])
    order = (steps, new[0], examples, new[1]) if not layout else (examples, steps, *new)
    made: list[Value | None] = [Value(series, order, (examples, channels, steps), tag) if series else None]
    if last:
        order = (new[0], examples, new[1]) if not layout else (examples, *new)
        made.append(Value(last, order, (examples, channels), None))
    return made


def _check(piece: Piece) -> None:
    """Raise NotSaid where a node is no recurrent layer of DL4J's."""
    op, known = piece.op, piece.known
    piece.need("clip" not in op.attributes, "it clips")
    for position in (1, 2):
        piece.need(known.is_settled(op.input(position)), "its weights are no constants")
    piece.need(not op.input(3) or known.is_settled(op.input(3)), "its biases are no constants")
    if op.input(4):
        lengths, length = known.sizes(op.input(4)), piece.shape(op.inputs[0])[op.attribute("layout", 0)]
        piece.need(lengths is not None and all(size == length for size in lengths), "it has lengths of series")
    for position in (5, 6):
        piece.need(not op.input(position) or known.uniform(op.input(position)) == 0.0, "its state starts elsewhere")
    if len(op.outputs) > 2 and op.outputs[2]:
        piece.need(not _is_read(piece, 2), "its memory is read")


def _is_read(piece: Piece, output: int) -> bool:
    graph, names = piece.recognition.graph, piece.op.outputs
    if output >= len(names) or not names[output]:
        return False
    return bool(graph.readers(names[output])) or names[output] in graph.outputs


def _layers(
    piece: Piece, kind: Any, conf: dict[str, Any], value: Value, gates: int
) -> tuple[str | None, str | None, str | None]:
    """Add the layers; return the vertices with all steps and with the last one, each if it is read, and the format."""
    direction, wants_last = piece.op.attribute("direction", "forward"), _is_read(piece, 1)
    if direction == "forward":
        node, tag = piece.layer(kind, value, arrays_of(piece, gates, 0), **conf)
        return node, _last(piece, node) if wants_last else None, tag
    if direction == "bidirectional" and not wants_last:
        tag = value.tag or piece.usual_series(value)
        inside = kind(**conf, data_format=tag)
        arrays = {
            side + name: read for at, side in enumerate("fb") for name, read in arrays_of(piece, gates, at).items()
        }
        return piece.add(Bidirectional(inside, "concat"), value.node, arrays), None, tag
    turned = piece.add(ReverseTimeSeriesVertex(), value.node, part="turned")
    at = 0 if direction == "reverse" else 1
    behind, tag = piece.layer(kind, value._replace(node=turned), arrays_of(piece, gates, at), "backward", **conf)
    back = piece.add(ReverseTimeSeriesVertex(), behind, part="" if direction == "reverse" else "back")
    if direction == "reverse":
        return back, _last(piece, behind) if wants_last else None, tag
    ahead, tag = piece.layer(kind, value, arrays_of(piece, gates, 0), "forward", **conf)
    both = piece.add(MergeVertex(), [ahead, back])
    ends = [_last(piece, ahead, "forward_last"), _last(piece, behind, "backward_last")]
    return both, piece.add(MergeVertex(), ends, part="last"), tag


def _last(piece: Piece, node: str, part: str = "last") -> str:
    return piece.add(LastTimeStepVertex(piece.any_input()), node, part=part)


def arrays_of(piece: Piece, gates: int, direction: int) -> Arrays:
    """Return what reads W ``[n_in, gates * n_out]``, RW and b of one direction."""
    op, known = piece.op, piece.known

    def read(position: int) -> HostArray:
        return known.read(op.inputs[position])[direction]

    def bias() -> HostArray:
        width = known.shape(op.inputs[2])[2][0]  # type: ignore[index]
        if not op.input(3):
            with nd.use_backend("numpy"):
                return nd.to_host(nd.zeros(1, gates * width))
        both = read(3).reshape(2, -1)
        return in_order((both[0] + both[1]).reshape(-1, 1), gates)

    def recurrent() -> HostArray:
        kernel = in_order(read(2), gates)
        return side_by_side([kernel, *_peepholes(read(7))]) if op.input(7) else kernel

    arrays: dict[str, Callable[[], HostArray]] = {"W": lambda: in_order(read(1), gates), "RW": recurrent, "b": bias}
    return arrays


def _peepholes(array: HostArray) -> list[HostArray]:
    blocks = array.reshape(3, -1)
    return [blocks[at].reshape(-1, 1) for at in PEEPHOLES]


def in_order(array: HostArray, gates: int) -> HostArray:
    """Return ``[gates * n_out, n]``, blocks of gates one below the other, as columns ``[n, gates * n_out]``."""
    if gates == 1:
        return array.T
    blocks = array.reshape(gates, -1, array.shape[-1])
    return side_by_side([blocks[at].T for at in IOFC])


def side_by_side(columns: list[HostArray]) -> HostArray:
    """Return arrays of the host side by side."""
    with nd.use_backend("numpy"):
        return nd.to_host(nd.concat(columns, 1))
