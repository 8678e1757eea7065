"""Recurrent layers: ONNX's LSTM and RNN where these can say them, else a Scan over the time steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import nd
from nd.activations import ELU, HardSigmoid, LeakyReLU, ReLU, Sigmoid, SoftSign, Tanh
from nd.typing import HostArray

from .cells import CELLS, Cell
from .node_draft import NodeDraft

OPERATORS_OWN: Mapping[Any, str] = {
    ELU(): "Elu",
    HardSigmoid(): "HardSigmoid",
    LeakyReLU(): "LeakyRelu",
    ReLU(): "Relu",
    Sigmoid(): "Sigmoid",
    SoftSign(): "Softsign",
    Tanh(): "Tanh",
}
"""Activation -> name in ONNX's recurrent operators, which have it with these settings unless others are given.

Softplus and ThresholdedRelu are left out: onnxruntime's are infinite from 89 on, and have another threshold.
"""


class Side(NamedTuple):
    """A direction of time: parameters, and whether the last step comes first."""

    params: Mapping[str, HostArray]
    reverse: bool = False


def recurrent(layer: NodeDraft) -> str:
    """LSTM, GravesLSTM and SimpleRnn."""
    return in_directions(layer, [Side(layer.params)])


def both_directions(layer: NodeDraft) -> str:
    """GravesBidirectionalLSTM: the sum of both directions; a mask multiplies the states of both."""
    sides = [
        Side({name: layer.params[name + suffix] for name in ("W", "RW", "b")}, suffix == "B") for suffix in ("F", "B")
    ]
    return in_directions(layer.around(layer.conf, layer.params, masks_steps=True), sides, "add")


def in_directions(layer: NodeDraft, sides: Sequence[Side], mode: str = "") -> str:
    """Add units in one direction of time or in both; return their activations ``[N, C, T]``.

    Parameters
    ----------
    layer : NodeDraft
        Its configuration is that of the units.
    sides : sequence of Side
    mode : str
        How two sides become one; see `Bidirectional`.
    """
    draft, cell = layer.draft, CELLS[type(layer.conf).__name__]
    mask = layer.mask if layer.masks_steps or not cell.passes_masks else None
    x = layer.node("Transpose", layer.x, perm=[2, 0, 1])
    names = _operators_activations(layer, cell)
    if mask is None and names is not None:
        steps = _operator(layer, cell, x, sides, names, mode)
    else:
        series = [] if mask is None else [_mask_steps(layer, mask)]
        outs = [_scan(layer, cell, x, side, series) for side in sides]
        steps = outs[0] if len(outs) == 1 else joined(layer, outs, mode, -1)
    return draft.node("Transpose", [steps], f"{layer.name}/Transpose", perm=[1, 2, 0])


def joined(layer: NodeDraft, parts: Sequence[str], mode: str, axis: int) -> str:
    """Make one of the activations of both directions; `axis` is that of the channels."""
    if mode == "concat":
        return layer.node("Concat", *parts, axis=axis)
    if mode == "mul":
        return layer.node("Mul", *parts)
    total = layer.node("Add", *parts)
    return total if mode == "add" else layer.node("Mul", total, 0.5)


# ---- ONNX's own operators


def _operators_activations(layer: NodeDraft, cell: Cell) -> list[str] | None:
    """Return the names of the units' activations in ONNX's operator, None where it cannot say these units.

    onnxruntime has no such operators for float64.
    """
    activations = cell.activations(layer.conf)
    names = [OPERATORS_OWN[activation] for activation in activations if activation in OPERATORS_OWN]
    possible = len(names) == len(activations) and layer.draft.dtype == "float32" and cell.is_operators(layer.conf)
    return names if possible else None


def _operator(layer: NodeDraft, cell: Cell, x: str, sides: Sequence[Side], names: list[str], mode: str) -> str:
    """Add an LSTM or RNN over ``x [T, N, C]``; return ``[T, N, C]``.

    Notes
    -----
    Gates lie in the order i, o, f, c, peepholes i, o, f. Source: ONNX operators, LSTM and RNN.
    """
    draft, both = layer.draft, len(sides) == 2
    inputs = [x]
    with nd.use_backend("numpy"):
        for name, arrays in cell.operator_weights([side.params for side in sides]).items():
            inputs.append(draft.array(nd.concat(arrays, 0), f"{layer.name}/{name}"))
    if len(inputs) > 4:  # peepholes come behind lengths and states
        inputs[4:4] = ["", "", ""]
    direction = "bidirectional" if both else "reverse" if sides[0].reverse else None
    usual = names == list(cell.usual)
    y = layer.node(
        cell.op, *inputs, direction=direction, hidden_size=cell.width(sides[0].params),
        activations=None if usual else names * len(sides),
    )  # fmt: skip
    if not both:
        return layer.node("Squeeze", y, draft.ints(1))
    if mode == "concat":
        turned = layer.node("Transpose", y, perm=[0, 2, 1, 3])
        return layer.node("Reshape", turned, draft.ints(0, 0, -1))
    parts = [layer.node("Gather", y, draft.integer(side), axis=1) for side in (0, 1)]
    return joined(layer, parts, mode, -1)


# ---- step by step


def _mask_steps(layer: NodeDraft, mask: str) -> str:
    """Return a mask ``[N, T]`` as ``[T, N, 1]``."""
    steps = layer.node("Transpose", mask, perm=[1, 0])
    return layer.node("Unsqueeze", steps, layer.draft.ints(2))


def _scan(layer: NodeDraft, cell: Cell, x: str, side: Side, masks: Sequence[str]) -> str:
    """Add a Scan over ``x [T, N, C]``; return the outputs ``[T, N, C]``."""
    layer = layer.around(layer.conf, side.params)
    draft, width = layer.draft, cell.width(side.params)
    sums = cell.of_input(layer, x)
    shape = draft.node(
        "Concat", [draft.lengths(x, 1, 2, f"{layer.name}/Shape"), draft.ints(width)], f"{layer.name}/shape", axis=0
    )
    start = draft.node("Expand", [0.0, shape], f"{layer.name}/start")
    step = cell.step(layer)
    states = [start] * cell.states
    *_, out = draft.scan(step, states, [sums, *masks], f"{layer.name}/Scan", side.reverse)
    return out
