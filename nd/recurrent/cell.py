"""A step of LSTM units, forward and back: its sums come in, everything else is arithmetic number by number."""

from __future__ import annotations

from typing import Any, NamedTuple

from nd.typing import Array

from ..arrays.arithmetic import add, addi, muli, multiply
from ..state import state
from .formulas import on_stacks, one_launch
from .gates import CANDIDATE, FORGET, INPUT, OUTPUT, Gates

Peepholes = tuple[Array, Array, Array]


class Slopes(NamedTuple):
    """What the slopes of a step are written from, or those of all steps, whose arrays have an axis more."""

    dz: Array
    """For the slopes, later dL/dz ``[4, T, N, H]``: dL/dz_o is dL/dh times its slope, the others dL/dc times theirs."""
    z: Array
    a: Array
    """Sums and activations of the gates ``[4, T, N, H]``."""
    c_before: Array
    c: Array
    squashed: Array
    """Memory before and behind the step, and its activation before it was masked ``[T, N, H]``."""
    of_memory: Array
    """For the slope by which dL/dh becomes a part of dL/dc ``[T, N, H]``."""

    def at(self, t: int) -> Slopes:
        """Return what belongs to one of all steps."""
        stacks, arrays = self[:3], self[3:]
        return Slopes(*(x[:, t, ...] for x in stacks), *(x[t, ...] for x in arrays))


class Errors(NamedTuple):
    """What comes back to a step and goes on to the one before."""

    dh: Array
    """dL/dh ``[N, H]``, without what the step after adds."""
    dc: Array
    """dL/dc ``[N, H]``, afterwards that of the step before."""
    of_later: Array | None
    """What the step after adds to dL/dh."""
    scratch: Array
    """Memory that matters neither before nor after; may be that of `of_later`."""
    peepholes: Peepholes | None
    mask: Array | None
    """``[N, 1]``."""


class Cell:
    """A step of LSTM units.

    Parameters
    ----------
    gates : Gates
    """

    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self.fused = state.backend.compiles and gates.fixed
        """Whether a step is one launch forward, and one back."""
        self._forward, self._backward = self._compute, self._slopes_and_errors
        if self.fused:
            self._forward, self._backward = one_launch(self._compute), one_launch(self._slopes_and_errors, (6, 10))

    def forward(
        self,
        sums: tuple[Array, Array, Array],
        z: Array,
        a: Array,
        memory: tuple[Array, Array, Array, Array],
        peepholes: Peepholes | None,
        mask: Array | None,
        training: bool,
        halves: bool,
    ) -> None:
        """Run a step.

        Parameters
        ----------
        sums : three stacks ``[4, N, H]``
            What z is the sum of: the products with input and output, and biases, which broadcast where steps are fused.
        z, a : stack ``[4, N, H]``
            For the sums of the gates and their activations; may be the same memory where the gates overwrite.
        memory : four arrays ``[N, H]``
            c_(t-1), and memory for c_t, its activation and h_t.
        peepholes : three arrays ``[1, H]``, optional
        mask : array ``[N, 1]``, optional
        training : bool
        halves : bool
            Whether the sums of the gates are to be halved.
        """
        self._forward(*sums, z, a, *memory, peepholes, mask, training and not self.gates.fixed, halves)

    def _compute(
        self,
        of_input: Array,
        of_output: Array,
        b: Array,
        z: Array,
        a: Array,
        c_before: Array,
        c: Array,
        squashed: Array,
        h: Array,
        peepholes: Peepholes | None,
        mask: Array | None,
        training: bool,
        halves: bool,
    ) -> None:
        gates = self.gates
        on_stacks(_sum, of_input, of_output, b, z)
        if halves:
            muli(z[FORGET:, ...], 0.5)
        if peepholes is None:
            gates.activate(z, a, CANDIDATE, INPUT, training)
            _remember(a, c_before, c, squashed)
        else:
            of_forget, of_output_gate, of_entry = peepholes
            _peep(z[FORGET, ...], c_before, of_forget, h)  # h is free until the output comes
            _peep(z[INPUT, ...], c_before, of_entry, h)
            gates.activate(z, a, CANDIDATE, FORGET, training)
            gates.activate(z, a, INPUT, INPUT, training)
            _remember(a, c_before, c, squashed)
            _peep(z[OUTPUT, ...], c, of_output_gate, h)
            gates.activate(z, a, OUTPUT, OUTPUT, training)
        gates.squash(c, squashed, training)
        multiply(a[OUTPUT, ...], squashed, h)
        if mask is not None:
            muli(h, mask)
            muli(c, mask)

    # ---- back

    def begin_back(self, every: Slopes) -> None:
        """Prepare the way back through all steps: where steps are not fused, write their slopes at once."""
        if not self.fused:
            self._slopes(*every)

    def back(self, every: Slopes, t: int, errors: Errors) -> None:
        """Go back through a step: write dL/dz, and what goes on."""
        if self.fused:
            self._backward(*every.at(t), *errors)
        else:
            _errors(every.dz[:, t, ...], every.a[FORGET, t, ...], every.of_memory[t, ...], *errors)

    def _slopes(
        self,
        dz: Array,
        z: Array,
        a: Array,
        c_before: Array,
        c: Array,
        squashed: Array,
        of_memory: Array,
    ) -> None:
        gates = self.gates
        gates.candidate_slope(z[CANDIDATE, ...], a[CANDIDATE, ...], a[INPUT, ...], dz[CANDIDATE, ...])
        for k, other in ((FORGET, c_before), (OUTPUT, squashed), (INPUT, a[CANDIDATE, ...])):
            gates.gate_slope(z[k, ...], a[k, ...], other, dz[k, ...])
        gates.candidate_slope(c, squashed, a[OUTPUT, ...], of_memory)

    def _slopes_and_errors(self, *arguments: Any) -> None:
        slopes, errors = Slopes(*arguments[:7]), arguments[7:]
        self._slopes(*slopes)
        _errors(slopes.dz, slopes.a[FORGET, ...], slopes.of_memory, *errors)


def _sum(of_input: Array, of_output: Array, b: Array, z: Array) -> None:
    add(of_input, of_output, z)
    addi(z, b)


def _remember(a: Array, c_before: Array, c: Array, scratch: Array) -> None:
    multiply(a[FORGET, ...], c_before, c)
    multiply(a[INPUT, ...], a[CANDIDATE, ...], scratch)
    add(c, scratch, c)


def _peep(target: Array, seen: Array, peephole: Array, scratch: Array) -> None:
    multiply(seen, peephole, scratch)
    addi(target, scratch)


def _errors(
    dz: Array,
    forget: Array,
    of_memory: Array,
    dh: Array,
    dc: Array,
    of_later: Array | None,
    scratch: Array,
    peepholes: Peepholes | None,
    mask: Array | None,
) -> None:
    """Turn the slopes of a step into dL/dz, and dL/dc into that of the step before."""
    if of_later is not None:
        addi(dh, of_later)
    if mask is not None:
        muli(dh, mask)
        muli(dc, mask)
    muli(dz[OUTPUT, ...], dh)
    if peepholes is not None:
        _peep(dc, dz[OUTPUT, ...], peepholes[1], scratch)
    muli(of_memory, dh)
    addi(dc, of_memory)
    for k in (CANDIDATE, FORGET, INPUT):
        muli(dz[k, ...], dc)
    muli(dc, forget)
    if peepholes is not None:
        _peep(dc, dz[FORGET, ...], peepholes[0], scratch)
        _peep(dc, dz[INPUT, ...], peepholes[2], scratch)
