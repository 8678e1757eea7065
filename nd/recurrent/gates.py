"""Activations of an LSTM's gates, and their derivatives, of one step or of all."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from nd.activations import Activation
from nd.activations.base import Activating
from nd.activations.bounded import Sigmoid, Tanh
from nd.typing import Array

from ..arrays.arithmetic import addi, muli, multiply, subtract, tanh
from ..arrays.creation import permute
from ..state import state
from .formulas import on_stacks
from .series import Buffers, in_c_order

CANDIDATE, FORGET, OUTPUT, INPUT = range(4)
"""Places of the gates in stacks ``[4, ...]``, in Java's order."""


def stack_memory(buffer: Buffers, name: str, shape: Sequence[int], axis: int = 0) -> Array:
    """Return memory for stacks along an axis of `shape`, whose last one is innermost.

    Gates lie one behind the other in a step; row by row side by side where that makes one product of theirs.
    """
    if not state.backend.joins_products:
        return in_c_order(buffer, name, shape)
    others = [number for number in range(len(shape)) if number != axis]
    order = [*others[:-1], axis, others[-1]]
    memory = in_c_order(buffer, name, [shape[number] for number in order])
    return permute(memory, [order.index(number) for number in range(len(shape))])


class Gates:
    """The activations of the candidate and the memory, and of the gates, whatever they are.

    Attributes
    ----------
    halved : bool
        Whether the sums of the gates come as halves.
    overwrites : bool
        Whether activations may lie where the sums were.
    fixed : bool
        Whether they may be part of a formula that is compiled once.
    """

    halved = False
    plain = False
    """Whether they are tanh and sigmoid."""

    def __init__(self, activation: Activation, gate_activation: Activation) -> None:
        self.overwrites = activation.overwrites and gate_activation.overwrites
        self._activating, self._gate = Activating(activation), Activating(gate_activation)
        self.fixed = self._activating.fixed and self._gate.fixed

    def activate(self, z: Array, a: Array, first: int, last: int, training: bool) -> None:
        """Write the activations of the sums ``z [4, ...]`` of gates first .. last into `a`."""
        if first == CANDIDATE:
            self._activating.value(z[CANDIDATE, ...], a[CANDIDATE, ...], training)
        if last > CANDIDATE:
            gates = slice(max(first, FORGET), last + 1)
            on_stacks(partial(self._gate.value, training=training), z[gates, ...], a[gates, ...])

    def squash(self, c: Array, out: Array, training: bool) -> Array:
        """Write the activation of the memory into `out`."""
        return self._activating.value(c, out, training)

    def candidate_slope(self, z: Array, a: Array, other: Array, out: Array) -> None:
        """Write the derivative of the candidate's or the memory's activation, times `other`, into `out`."""
        self._activating.backprop(z, a, other, out)

    def gate_slope(self, z: Array, a: Array, other: Array, out: Array) -> None:
        """Write the derivative of a gate's activation, times `other`, into `out`."""
        self._gate.backprop(z, a, other, out)


class OneTanhGates(Gates):
    """Tanh, and sigmoid gates as sigmoid(z) = (1 + tanh(z / 2)) / 2: one pass over all gates of a step."""

    halved = plain = True

    def activate(self, z: Array, a: Array, first: int, last: int, training: bool) -> None:
        gates = slice(first, last + 1)
        tanh(z[gates, ...], a[gates, ...])
        if last > CANDIDATE:
            _open(a[max(first, FORGET) : last + 1, ...])

    def squash(self, c: Array, out: Array, training: bool) -> Array:
        return tanh(c, out)

    def candidate_slope(self, z: Array, a: Array, other: Array, out: Array) -> None:
        _tanh_slope(a, other, out)

    def gate_slope(self, z: Array, a: Array, other: Array, out: Array) -> None:
        _sigmoid_slope(a, other, out)


def _open(a: Array) -> None:
    muli(a, 0.5)
    addi(a, 0.5)


def _sigmoid_slope(a: Array, other: Array, out: Array) -> None:
    multiply(a, a, out)
    subtract(a, out, out)
    multiply(out, other, out)


def _tanh_slope(a: Array, other: Array, out: Array) -> None:
    multiply(a, a, out)
    subtract(1.0, out, out)
    multiply(out, other, out)


def gates_of(activation: Activation, gate_activation: Activation) -> Gates:
    """Return the activations at work, in the way that is fastest for them and for the backend."""
    one_tanh = type(activation) is Tanh and type(gate_activation) is Sigmoid and not state.backend.compiles
    return (OneTanhGates if one_tanh else Gates)(activation, gate_activation)
