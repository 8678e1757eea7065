"""Recurrent operators in full: RNN, GRU, LSTM."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import nd
from nd.typing import Array

from . import functions as f
from .call import Call
from .elements import hard_sigmoid_of, softplus_of
from .values import Value

Gate = Callable[[Value], Value]
ACTIVATIONS: dict[str, Callable[[Value, float, float], Value]] = {
    "affine": lambda x, alpha, beta: x * alpha + beta,
    "elu": lambda x, alpha, beta: f.where(nd.greater(x.array, 0.0), x, f.expm1(f.minimum(x, 0.0)) * alpha),
    "hardsigmoid": hard_sigmoid_of,
    "leakyrelu": lambda x, alpha, beta: f.where(nd.greater_equal(x.array, 0.0), x, x * alpha),
    "relu": lambda x, alpha, beta: f.relu(x),
    "scaledtanh": lambda x, alpha, beta: f.tanh(x * beta) * alpha,
    "sigmoid": lambda x, alpha, beta: f.sigmoid(x),
    "softplus": lambda x, alpha, beta: softplus_of(x),
    "softsign": lambda x, alpha, beta: x / (f.absolute(x) + 1.0),
    "tanh": lambda x, alpha, beta: f.tanh(x),
    "thresholdedrelu": lambda x, alpha, beta: f.where(nd.greater(x.array, alpha), x, 0.0),
}
"""Name in lower case -> function of a value, alpha and beta; sorted."""
DEFAULTS = {
    "affine": (1.0, 0.0), "elu": (1.0, 0.0), "hardsigmoid": (0.2, 0.5), "leakyrelu": (0.01, 0.0),
    "scaledtanh": (1.0, 1.0), "thresholdedrelu": (1.0, 0.0),
}  # fmt: skip


class Cell(NamedTuple):
    """One direction: its weights, as inputs of the operator have them, and its functions."""

    weights: Value
    """``[gates H, I]``"""
    recurrent: Value
    """``[gates H, H]``"""
    bias: Value | None
    """``[2 gates H]``"""
    peepholes: Value | None
    gates: list[Gate]
    clip: float | None
    hidden: int


Step = Callable[[Call, Cell, Value, tuple[Value, ...]], tuple[Value, ...]]


def _gates(call: Call, count: int, usual: Sequence[str], directions: int) -> list[list[Gate]]:
    """Return the functions of every direction, with their numbers, which stand in a row for those that need them."""
    names = call.texts("activations") or list(usual) * directions
    alphas, betas = iter(call.numbers("activation_alpha") or []), iter(call.numbers("activation_beta") or [])
    made: list[Gate] = []
    for name in map(str.lower, names):
        if name not in ACTIVATIONS:
            raise call.refuse(f"activation {name!r}")
        alpha, beta = DEFAULTS.get(name, (0.0, 0.0))
        if name in DEFAULTS:
            alpha = next(alphas, alpha)
        if name in ("affine", "hardsigmoid", "scaledtanh"):
            beta = next(betas, beta)
        made.append(lambda x, name=name, alpha=alpha, beta=beta: ACTIVATIONS[name](x, alpha, beta))  # type: ignore[misc]
    return [made[count * number : count * (number + 1)] for number in range(directions)]


def _direction(x: Value, number: int) -> Value:
    return f.reshape(f.stretch(x, 0, number, number + 1), x.shape[1:])


def _of_direction(x: Value | None, number: int) -> Value | None:
    return None if x is None else _direction(x, number)


def _run(call: Call, step: Step, usual: Sequence[str], states: int) -> list[Value]:
    """Return the states of all steps ``[T, directions, N, H]``, and the last ones ``[directions, N, H]``."""
    batch_first = call.whole("layout", 0)
    x = f.permute(call[0], (1, 0, 2)) if batch_first else call[0]
    direction = call.text("direction", "forward")
    directions, clip = (2 if direction == "bidirectional" else 1), call.attributes.get("clip")
    gates = _gates(call, len(usual), usual, directions)
    initial = [call.get(5), call.get(6)][:states]
    outputs, lasts = [], []
    for number in range(directions):
        weights, recurrent = _direction(call[1], number), _direction(call[2], number)
        bias, peepholes = (_of_direction(call.get(position), number) for position in (3, 7))
        cell = Cell(
            weights,
            recurrent,
            bias,
            peepholes,
            gates[number],
            None if clip is None else float(clip),
            call[2].shape[2],
        )
        begin = tuple(_begin(x, cell, one, number, bool(batch_first)) for one in initial)
        back = direction == "reverse" or number == 1
        steps, last = _through_time(call, step, cell, x, begin, back)
        outputs.append(steps)
        lasts.append(last)
    joined = f.concat([f.reshape(one, (one.shape[0], 1, *one.shape[1:])) for one in outputs], 1)
    ends = [f.concat([f.reshape(last[place], (1, *last[place].shape)) for last in lasts], 0) for place in range(states)]
    if batch_first:
        return [f.permute(joined, (2, 0, 1, 3)), *(f.permute(end, (1, 0, 2)) for end in ends)]
    return [joined, *ends]


def _begin(x: Value, cell: Cell, given: Value | None, number: int, batch_first: bool) -> Value:
    if given is None:
        return f.constant_like(0.0, x, (x.shape[1], cell.hidden))
    return _direction(f.permute(given, (1, 0, 2)) if batch_first else given, number)


def _through_time(
    call: Call, step: Step, cell: Cell, x: Value, state: tuple[Value, ...], back: bool
) -> tuple[Value, tuple[Value, ...]]:
    """Return ``[T, N, H]``, and the state after the last step of every example."""
    lengths = call.get(4)
    outputs: list[Value] = []
    for time in reversed(range(x.shape[0])) if back else range(x.shape[0]):
        now = f.reshape(f.stretch(x, 0, time, time + 1), x.shape[1:])
        after = step(call, cell, now, state)
        output = after[0]
        if lengths is not None:
            counts: Array = nd.reshape(nd.greater(lengths.array, float(time)), (-1, 1))
            after = tuple(f.where(counts, new, old) for new, old in zip(after, state, strict=True))
            output = f.where(counts, output, 0.0)
        outputs.append(f.reshape(output, (1, *output.shape)))
        state = after
    return f.concat(outputs[::-1] if back else outputs, 0), state


def _clipped(x: Value, limit: float | None) -> Value:
    return x if limit is None else f.minimum(f.maximum(x, -limit), limit)


def _weighed(x: Value, matrix: Value) -> Value:
    return f.matmul(x, f.permute(matrix, (1, 0)))


def _part(x: Value, number: int, size: int) -> Value:
    return f.stretch(x, x.ndim - 1, number * size, (number + 1) * size)


def _sums(cell: Cell, x: Value, h: Value) -> Value:
    """Return W x + R h + both biases, for all gates."""
    total = _weighed(x, cell.weights) + _weighed(h, cell.recurrent)
    if cell.bias is None:
        return total
    half = cell.bias.shape[0] // 2
    return total + (_part(cell.bias, 0, half) + _part(cell.bias, 1, half))


def _rnn_step(call: Call, cell: Cell, x: Value, state: tuple[Value, ...]) -> tuple[Value, ...]:
    return (cell.gates[0](_clipped(_sums(cell, x, state[0]), cell.clip)),)


def rnn(call: Call) -> list[Value]:
    """Simple recurrence: h = f(W x + R h + b)."""
    return _run(call, _rnn_step, ["Tanh"], 1)


def _gru_step(call: Call, cell: Cell, x: Value, state: tuple[Value, ...]) -> tuple[Value, ...]:
    (h,), size = state, cell.hidden
    own = _weighed(x, cell.weights)
    if cell.bias is not None:
        own = own + _part(cell.bias, 0, 3 * size)
    bias = None if cell.bias is None else _part(cell.bias, 1, 3 * size)
    matrix = f.stretch(cell.recurrent, 0, 0, 2 * size)
    both = f.stretch(own, 1, 0, 2 * size) + _weighed(h, matrix)
    if bias is not None:
        both = both + f.stretch(bias, 0, 0, 2 * size)
    both = cell.gates[0](_clipped(both, cell.clip))
    update, reset = _part(both, 0, size), _part(both, 1, size)
    candidate = f.stretch(cell.recurrent, 0, 2 * size, 3 * size)
    last = None if bias is None else f.stretch(bias, 0, 2 * size, 3 * size)
    if call.whole("linear_before_reset", 0):
        inner = _weighed(h, candidate)
        inner = reset * (inner if last is None else inner + last)
    else:
        inner = _weighed(reset * h, candidate)
        inner = inner if last is None else inner + last
    new = cell.gates[1](_clipped(_part(own, 2, size) + inner, cell.clip))
    return ((1.0 - update) * new + update * h,)


def gru(call: Call) -> list[Value]:
    """Gated recurrence: h = (1 - z) n + z h, with the gates z and r."""
    return _run(call, _gru_step, ["Sigmoid", "Tanh"], 1)


def _lstm_step(call: Call, cell: Cell, x: Value, state: tuple[Value, ...]) -> tuple[Value, ...]:
    (h, c), size = state, cell.hidden
    sums = _sums(cell, x, h)
    entering, out, forget, new = (_part(sums, number, size) for number in range(4))
    peep = None if cell.peepholes is None else [_part(cell.peepholes, number, size) for number in range(3)]
    if peep is not None:
        entering, forget = entering + peep[0] * c, forget + peep[2] * c
    gate, squash, finish = cell.gates
    enters = gate(_clipped(entering, cell.clip))
    forgets = 1.0 - enters if call.whole("input_forget", 0) else gate(_clipped(forget, cell.clip))
    after = forgets * c + enters * squash(_clipped(new, cell.clip))
    leaves = gate(_clipped(out if peep is None else out + peep[1] * after, cell.clip))
    return leaves * finish(after), after


def lstm(call: Call) -> list[Value]:
    """Long short-term memory, with peepholes where there are such."""
    return _run(call, _lstm_step, ["Sigmoid", "Tanh", "Tanh"], 2)
