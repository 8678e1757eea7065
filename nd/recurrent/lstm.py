"""The time loop of LSTM layers, forward and back."""

from __future__ import annotations

from typing import NamedTuple

from nd.activations import Activation
from nd.typing import Array

from ..arrays.arithmetic import add, addi, affine_gradients, channel_sums, gemm, muli, multiply
from ..arrays.creation import assign, fill, permute, reshape_view
from ..execution.workers import elementwise
from ..state import state as current
from .gates import CANDIDATE, FORGET, INPUT, OUTPUT, Gates, gates_of
from .series import Buffers, Order, Step, in_c_order, rows_of, series_of, steps_of_mask

PACKED_FROM = 4  # steps, from which on copies of the weights as the products like them cost less than they save


class LstmWeights(NamedTuple):
    """Parameters of an LSTM layer, or their gradients: of candidate, forget, output and input gate."""

    W: Array
    """Of the input ``[4, C, H]``."""
    RW: Array
    """Of the output before ``[4, H, H]``."""
    b: Array
    """``[4, 1, H]``."""
    peepholes: tuple[Array, Array, Array] | None = None
    """From the memory to forget, output and input gate, each ``[1, H]``; None without."""


class LstmPass(NamedTuple):
    """A forward pass through series, as the backward pass needs it."""

    x: Array
    """The input, a row for each step, ``[T * N, C]``."""
    order: Order
    z: Array
    """Sums before the activations ``[T, 4, N, H]``, where the derivatives need them."""
    gates: Array
    """Their activations ``[T, 4, N, H]``."""
    c: Array
    """Memory ``[T + 1, N, H]``, masked."""
    squashed: Array
    """Activations of the memory before it was masked ``[T, N, H]``."""
    h: Array
    """Output ``[T + 1, N, H]``, masked."""
    mask: Array | None
    """``[T, N, 1]``."""

    @property
    def state(self) -> tuple[Array, Array]:
        """Output and memory behind the last step, each ``[N, H]``."""
        return self.h[self.order.end, ...], self.c[self.order.end, ...]


class Lstm:
    """LSTM units on their way through series.

    Parameters
    ----------
    activation : Activation
        Of the candidate and of the memory.
    gate_activation : Activation

    Notes
    -----
    ::

        z = x_t W + h_(t-1) RW + b
        i, f, o, g = act(z_i), gate(z_f), gate(z_o), gate(z_g)
        c_t = f c_(t-1) + g i
        h_t = o act(c_t)

    With peepholes p c_(t-1) is added to z_f and z_g, and p c_t to z_o. A mask multiplies h_t and c_t. The products with
    the input of all steps are one for each gate, and so are the gradients of the weights. What belongs to one gate lies
    together in a step, so that it is gone over in one stretch. Source: DL4J ``LSTMHelpers``.
    """

    def __init__(self, activation: Activation, gate_activation: Activation) -> None:
        self._gates: Gates = gates_of(activation, gate_activation)
        self._remember, self._peep = elementwise(_remember, scratch=(5,)), elementwise(_peep, scratch=(3,))
        self._sum, self._back, self._carry = elementwise(_sum), elementwise(_back), elementwise(_carry)

    # ---- forward

    def forward(
        self,
        x: Array,
        weights: LstmWeights,
        state: tuple[Array, ...],
        mask: Array | None,
        buffer: Buffers,
        training: bool = False,
        reverse: bool = False,
    ) -> LstmPass:
        """Run all steps.

        Parameters
        ----------
        x : array ``[N, C, T]``
        weights : LstmWeights
        state : two arrays ``[N, H]``
            Output and memory before the first step.
        mask : array ``[N, T]``, optional
        buffer : callable (name, shape) -> array
        training : bool
            For activations that ask for it.
        reverse : bool
            Whether the last step comes first.
        """
        (n, _, length), width = x.shape, weights.RW.shape[2]
        rows, halved_later = rows_of(x), self._gates.halved and length < PACKED_FROM
        weights = self._prepared(weights, buffer, copied=length >= PACKED_FROM)
        z = in_c_order(buffer, "z", (length, 4, n, width))
        gates = z if self._gates.overwrites else in_c_order(buffer, "gates", (length, 4, n, width))
        c, h = (in_c_order(buffer, name, (length + 1, n, width)) for name in ("c", "h"))
        squashed = in_c_order(buffer, "squashed", (length, n, width))
        passed = LstmPass(rows, Order(length, reverse), z, gates, c, squashed, h, steps_of_mask(mask))
        for place, start in zip((h, c), state, strict=True):
            assign(place[passed.order.start, ...], start)
        of_input = in_c_order(buffer, "delta", (4, length, n, width))  # where later the errors are
        current.backend.products_with(rows, weights.W, reshape_view(of_input, (4, length * n, width)))
        of_output, b = (in_c_order(buffer, name, (4, n, width)) for name in ("product", "b"))
        assign(b, weights.b)
        for step in passed.order.steps:
            current.backend.products_with(h[step.before, ...], weights.RW, of_output)
            self._sum(of_input[:, step.t, ...], of_output, b, z[step.t, ...])
            if halved_later:
                muli(z[step.t, FORGET:, ...], 0.5)
            self._run(passed, step, weights.peepholes, training)
        return passed

    def _prepared(self, weights: LstmWeights, buffer: Buffers, copied: bool) -> LstmWeights:
        """Return the weights, in copies in c order for many steps, where those of gates are halved if these want it."""
        W, RW, b, peepholes = weights
        halved = self._gates.halved
        if copied:
            W, RW, b = (assign(in_c_order(buffer, f"c_{n}", w.shape), w) for n, w in (("W", W), ("RW", RW), ("b", b)))
        if copied and halved:
            for copy in (W, RW, b):
                muli(copy[FORGET:, ...], 0.5)
        if peepholes is not None and halved:
            halves = in_c_order(buffer, "peepholes", (3, 1, RW.shape[2]))
            forget, output, entry = (multiply(w, 0.5, halves[k, ...]) for k, w in enumerate(peepholes))
            peepholes = (forget, output, entry)
        return LstmWeights(W, RW, b, peepholes)

    def _run(self, passed: LstmPass, step: Step, peepholes: tuple[Array, ...] | None, training: bool) -> None:
        """Turn the sums of a step into its gates, memory and output."""
        z, a, squashed = passed.z[step.t, ...], passed.gates[step.t, ...], passed.squashed[step.t, ...]
        c_before, c, h = passed.c[step.before, ...], passed.c[step.behind, ...], passed.h[step.behind, ...]
        gates, (candidate, forget, output, entry) = self._gates, (a[k, ...] for k in range(4))
        if peepholes is None:
            gates.activate(z, a, CANDIDATE, INPUT, training)
            self._remember(candidate, forget, entry, c_before, c, squashed)
        else:
            of_forget, of_output, of_entry = peepholes
            self._peep(z[FORGET, ...], c_before, of_forget, h)  # h is free until the output comes
            self._peep(z[INPUT, ...], c_before, of_entry, h)
            gates.activate(z, a, CANDIDATE, FORGET, training)
            gates.activate(z, a, INPUT, INPUT, training)
            self._remember(candidate, forget, entry, c_before, c, squashed)
            self._peep(z[OUTPUT, ...], c, of_output, h)
            gates.activate(z, a, OUTPUT, OUTPUT, training)
        gates.squash(c, squashed, training)
        multiply(output, squashed, h)
        if passed.mask is not None:
            mask = passed.mask[step.t, ...]
            muli(h, mask)
            muli(c, mask)

    # ---- back

    def backward(
        self,
        epsilon: Array,
        passed: LstmPass,
        weights: LstmWeights,
        grads: LstmWeights,
        buffer: Buffers,
        needs_epsilon: bool,
        back_length: int | None = None,
    ) -> Array | None:
        """Write the gradients of the weights; return dL/dx ``[N, C, T]``, None where nobody needs it.

        Parameters
        ----------
        epsilon : array ``[N, H, T]``
            dL/dh.
        passed : LstmPass
        weights, grads : LstmWeights
        buffer : callable (name, shape) -> array
        needs_epsilon : bool
        back_length : int, optional
            Go back over so many steps, the last ones; the others have no gradient.
        """
        _, n, width = passed.c.shape
        delta, of_memory = self._slopes(passed, buffer)
        errors = in_c_order(buffer, "errors", passed.squashed.shape)
        assign(series_of(errors), epsilon)
        dc, product = (in_c_order(buffer, name, (n, width)) for name in ("memory_error", "error_product"))
        products, RW_T = in_c_order(buffer, "product", (4, n, width)), permute(weights.RW, (0, 2, 1))
        fill(dc, 0.0)
        span, later = passed.order.last(back_length), None
        for step in reversed(passed.order.steps):
            if not span.start <= step.t < span.stop:
                continue
            dh, dz = errors[step.t, ...], delta[:, step.t, ...]
            if later is not None:
                of_later = delta[:, later, ...]
                current.backend.sum_of_products(of_later, RW_T, product, products)
                self._carry(dh, product, dc, passed.gates[later, FORGET, ...])
                if weights.peepholes is not None:
                    self._peep(dc, of_later[FORGET, ...], weights.peepholes[0], product)
                    self._peep(dc, of_later[INPUT, ...], weights.peepholes[2], product)
            if passed.mask is not None:
                mask = passed.mask[step.t, ...]
                muli(dh, mask)
                muli(dc, mask)
            muli(dz[OUTPUT, ...], dh)
            if weights.peepholes is not None:
                self._peep(dc, dz[OUTPUT, ...], weights.peepholes[1], product)
            self._back(*(dz[k, ...] for k in (CANDIDATE, FORGET, INPUT)), of_memory[step.t, ...], dh, dc)
            later = step.t
        return self._of_all_steps(passed, delta, weights, grads, buffer, needs_epsilon, span)

    def _slopes(self, passed: LstmPass, buffer: Buffers) -> tuple[Array, Array]:
        """Return what the errors are multiplied by, of all steps: ``[4, T, N, H]`` and ``[T, N, H]``.

        dL/dz_o is dL/dh times its part of the first array, the rest of dL/dz is dL/dc times its parts; the second is
        the part of dL/dc that comes through h.
        """
        length, _, n, width = passed.gates.shape
        slopes = in_c_order(buffer, "delta", (4, length, n, width))
        of_memory = in_c_order(buffer, "memory_slope", passed.squashed.shape)
        every = slice(0, passed.order.length)
        c_before, c = passed.c[passed.order.before(every), ...], passed.c[passed.order.behind(every), ...]
        z, a = (permute(steps, (1, 0, 2, 3)) for steps in (passed.z, passed.gates))
        gates, squashed = self._gates, passed.squashed
        gates.candidate_slope(z[CANDIDATE, ...], a[CANDIDATE, ...], a[INPUT, ...], slopes[CANDIDATE, ...])
        for k, other in ((FORGET, c_before), (OUTPUT, squashed), (INPUT, a[CANDIDATE, ...])):
            gates.gate_slope(z[k, ...], a[k, ...], other, slopes[k, ...])
        gates.candidate_slope(c, squashed, a[OUTPUT, ...], of_memory)
        return slopes, of_memory

    def _of_all_steps(
        self,
        passed: LstmPass,
        delta: Array,
        weights: LstmWeights,
        grads: LstmWeights,
        buffer: Buffers,
        needs_epsilon: bool,
        span: slice,
    ) -> Array | None:
        """Write the gradients of the weights from ``delta [4, T, N, H]`` of some steps; return dL/dx."""
        _, n, width = passed.c.shape
        rows, places = slice(span.start * n, span.stop * n), passed.order
        deltas = [reshape_view(delta[k, span, ...], (-1, width)) for k in range(4)]
        h_before = reshape_view(passed.h[places.before(span), ...], (-1, width))
        x = passed.x[rows, :]
        for k, dz in enumerate(deltas):
            affine_gradients(x, dz, grads.W[k, ...], grads.b[k, 0, :])
            gemm(h_before, dz, grads.RW[k, ...], transpose_a=True)
        if grads.peepholes is not None:
            seen = (places.before(span), places.behind(span), places.before(span))
            for k, steps, gradient in zip((FORGET, OUTPUT, INPUT), seen, grads.peepholes, strict=True):
                assign(gradient, channel_sums(deltas[k], reshape_view(passed.c[steps, ...], (-1, width))))
        if not needs_epsilon:
            return None
        below = in_c_order(buffer, "below", (places.length, n, x.shape[1]))
        if span.stop - span.start < places.length:
            fill(below, 0.0)
        dx = reshape_view(below, (-1, x.shape[1]))[rows, :]
        more = in_c_order(buffer, "below_of_a_gate", tuple(x.shape))
        for k, dz in enumerate(deltas):
            part = gemm(dz, weights.W[k, ...], more if k else dx, transpose_b=True)
            if k:
                addi(dx, part)
        return series_of(below)


def _sum(of_input: Array, of_output: Array, b: Array, z: Array) -> None:
    add(of_input, of_output, z)
    addi(z, b)


def _remember(i: Array, f: Array, g: Array, c_before: Array, c: Array, scratch: Array) -> None:
    multiply(f, c_before, c)
    multiply(g, i, scratch)
    add(c, scratch, c)


def _peep(target: Array, seen: Array, peephole: Array, scratch: Array) -> None:
    multiply(seen, peephole, scratch)
    addi(target, scratch)


def _carry(dh: Array, product: Array, dc: Array, f: Array) -> None:
    addi(dh, product)
    muli(dc, f)


def _back(i: Array, f: Array, g: Array, of_memory: Array, dh: Array, dc: Array) -> None:
    muli(of_memory, dh)
    addi(dc, of_memory)
    for slope in (i, f, g):
        muli(slope, dc)
