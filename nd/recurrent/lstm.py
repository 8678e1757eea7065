"""The time loop of LSTM layers, forward and back."""

from __future__ import annotations

from typing import NamedTuple

from nd.activations import Activation
from nd.typing import Array

from ..arrays.arithmetic import add, addi, affine_gradients, channel_sums, gemm, muli, multiply
from ..arrays.creation import assign, fill, reshape_view
from ..execution.workers import elementwise
from .gates import CANDIDATE, FORGET, INPUT, OUTPUT, Gates, block, gates_of
from .series import Buffers, Order, Step, in_c_order, rows_of, series_of, steps_of_mask

PACKED_FROM = 4  # steps, from which on a copy of the weights as the products like them costs less than it saves


class LstmWeights(NamedTuple):
    """Parameters of an LSTM layer, or their gradients: columns for candidate, forget, output and input gate."""

    W: Array
    """Of the input ``[C, 4H]``."""
    RW: Array
    """Of the output before ``[H, 4H]``."""
    b: Array
    """``[1, 4H]``."""
    peepholes: tuple[Array, Array, Array] | None = None
    """From the memory to forget, output and input gate, each ``[1, H]``; None without."""


class LstmPass(NamedTuple):
    """A forward pass through series, as the backward pass needs it."""

    x: Array
    """The input, a row for each step, ``[T * N, C]``."""
    order: Order
    z: Array
    """Sums before the activations ``[T, N, 4H]``, where the derivatives need them."""
    gates: Array
    """Their activations ``[T, N, 4H]``."""
    c: Array
    """Memory ``[T + 1, N, H]``, masked."""
    squashed: Array
    """Activations of the memory before it was masked ``[T, N, H]``."""
    h: Array
    """Output ``[T + 1, N, H]``, masked."""
    mask: Array | None
    """``[T, N, 1]``."""

    @property
    def activations(self) -> Array:
        """The output of all steps as series ``[N, H, T]``."""
        return series_of(self.h[self.order.behind(slice(0, self.order.length)), ...])

    @property
    def state(self) -> tuple[Array, Array]:
        """Output and memory behind the last step, each ``[N, H]``."""
        return self.h[self.order.end, ...], self.c[self.order.end, ...]


class Lstm:
    """LSTM cells on their way through series.

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
    the input of all steps are one product, and so are the gradients of the weights. Source: DL4J ``LSTMHelpers``.
    """

    def __init__(self, activation: Activation, gate_activation: Activation) -> None:
        self._gates: Gates = gates_of(activation, gate_activation)
        self._remember, self._peep = elementwise(_remember, scratch=(5,)), elementwise(_peep, scratch=(3,))
        self._back, self._carry = elementwise(_back), elementwise(_carry)

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
        (n, _, length), width = x.shape, weights.RW.shape[0]
        rows, packed = rows_of(x), length >= PACKED_FROM
        if packed:
            weights = self._packed(weights, buffer)
        sums = in_c_order(buffer, "z", (length * n, 4 * width))
        gemm(rows, weights.W, sums)
        z = reshape_view(sums, (length, n, 4 * width))
        gates = z if self._gates.overwrites else in_c_order(buffer, "gates", (length, n, 4 * width))
        c, h = (in_c_order(buffer, name, (length + 1, n, width)) for name in ("c", "h"))
        squashed = in_c_order(buffer, "squashed", (length, n, width))
        passed = LstmPass(rows, Order(length, reverse), z, gates, c, squashed, h, steps_of_mask(mask))
        for place, start in zip((h, c), state, strict=True):
            assign(place[passed.order.start, ...], start)
        product = in_c_order(buffer, "product", (n, 4 * width))
        for step in passed.order.steps:
            z_t = z[step.t, ...]
            gemm(h[step.before, ...], weights.RW, product)
            addi(z_t, product)
            addi(z_t, weights.b)
            if self._gates.halved and not packed:
                muli(z_t[:, width:], 0.5)
            self._run(passed, step, weights.peepholes, training)
        return passed

    def _packed(self, weights: LstmWeights, buffer: Buffers) -> LstmWeights:
        """Return copies of the weights in c order, halved for the gates where these want it so."""
        width, halved = weights.RW.shape[0], self._gates.halved
        copies = []
        for name, weight in (("W", weights.W), ("RW", weights.RW), ("b", weights.b)):
            copy = assign(in_c_order(buffer, f"packed_{name}", weight.shape), weight)
            if halved:
                muli(copy[:, width:], 0.5)
            copies.append(copy)
        peepholes = weights.peepholes
        if peepholes is not None and halved:
            halves = in_c_order(buffer, "packed_peepholes", (3, 1, width))
            forget, output, input_ = (multiply(w, 0.5, halves[k, ...]) for k, w in enumerate(peepholes))
            peepholes = (forget, output, input_)
        W, RW, b = copies
        return LstmWeights(W, RW, b, peepholes)

    def _run(self, passed: LstmPass, step: Step, peepholes: tuple[Array, ...] | None, training: bool) -> None:
        """Turn the sums of a step into its gates, memory and output."""
        z, a, squashed = passed.z[step.t, ...], passed.gates[step.t, ...], passed.squashed[step.t, ...]
        c_before, c, h = passed.c[step.before, ...], passed.c[step.behind, ...], passed.h[step.behind, ...]
        gates, output = self._gates, block(a, OUTPUT)
        if peepholes is None:
            gates.activate(z, a, CANDIDATE, INPUT, training)
            self._remember(block(a, CANDIDATE), block(a, FORGET), block(a, INPUT), c_before, c, squashed)
        else:
            of_forget, of_output, of_input = peepholes
            self._peep(block(z, FORGET), c_before, of_forget, h)  # h is free until the output comes
            self._peep(block(z, INPUT), c_before, of_input, h)
            gates.activate(z, a, CANDIDATE, FORGET, training)
            gates.activate(z, a, INPUT, INPUT, training)
            self._remember(block(a, CANDIDATE), block(a, FORGET), block(a, INPUT), c_before, c, squashed)
            self._peep(block(z, OUTPUT), c, of_output, h)
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
        masks_delta: bool = False,
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
        masks_delta : bool
            Whether the mask multiplies dL/dz, too.
        back_length : int, optional
            Go back over so many steps, the last ones; the others have no gradient.
        """
        n, width = passed.c.shape[1:]
        delta, of_memory = self._slopes(passed, buffer)
        errors = in_c_order(buffer, "errors", passed.squashed.shape)
        assign(series_of(errors), epsilon)
        dc, product = (in_c_order(buffer, name, (n, width)) for name in ("memory_error", "error_product"))
        fill(dc, 0.0)
        span, later = passed.order.last(back_length), None
        for step in reversed(passed.order.steps):
            if not span.start <= step.t < span.stop:
                continue
            dh, dz = errors[step.t, ...], delta[step.t, ...]
            if later is not None:
                gemm(delta[later, ...], weights.RW, product, transpose_b=True)
                self._carry(dh, product, dc, block(passed.gates[later, ...], FORGET))
                if weights.peepholes is not None:
                    self._peep(dc, block(delta[later, ...], FORGET), weights.peepholes[0], product)
                    self._peep(dc, block(delta[later, ...], INPUT), weights.peepholes[2], product)
            multiply(block(dz, OUTPUT), dh, block(dz, OUTPUT))
            if weights.peepholes is not None:
                self._peep(dc, block(dz, OUTPUT), weights.peepholes[1], product)
            self._back(block(dz, CANDIDATE), block(dz, FORGET), block(dz, INPUT), of_memory[step.t, ...], dh, dc)
            if masks_delta and passed.mask is not None:
                muli(dz, passed.mask[step.t, ...])
            later = step.t
        return self._of_all_steps(passed, delta, weights, grads, buffer, needs_epsilon, span)

    def _slopes(self, passed: LstmPass, buffer: Buffers) -> tuple[Array, Array]:
        """Return what the errors are multiplied by, of all steps: ``[T, N, 4H]`` and ``[T, N, H]``.

        dL/dz_o is dL/dh times its block of the first array, the rest of dL/dz is dL/dc times its blocks; the second is
        the part of dL/dc that comes through h.
        """
        slopes = in_c_order(buffer, "delta", passed.gates.shape)
        of_memory = in_c_order(buffer, "memory_slope", passed.squashed.shape)
        every = slice(0, passed.order.length)
        c_before, c = passed.c[passed.order.before(every), ...], passed.c[passed.order.behind(every), ...]
        z, a, gates, squashed = passed.z, passed.gates, self._gates, passed.squashed
        gates.candidate_slope(block(z, CANDIDATE), block(a, CANDIDATE), block(a, INPUT), block(slopes, CANDIDATE))
        for number, other in ((FORGET, c_before), (OUTPUT, squashed), (INPUT, block(a, CANDIDATE))):
            gates.gate_slope(block(z, number), block(a, number), other, block(slopes, number))
        if passed.mask is not None:  # Java takes this derivative at the memory as it was masked
            squashed = gates.squash(c, in_c_order(buffer, "squashed_again", squashed.shape), True)
        gates.candidate_slope(c, squashed, block(a, OUTPUT), of_memory)
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
        """Write the gradients of the weights from ``delta [T, N, 4H]`` of some steps; return dL/dx."""
        n, width = passed.c.shape[1:]
        rows = slice(span.start * n, span.stop * n)
        dz = reshape_view(delta, (-1, 4 * width))[rows, :]
        h_before = reshape_view(passed.h[passed.order.before(span), ...], (-1, width))
        affine_gradients(passed.x[rows, :], dz, grads.W, reshape_view(grads.b, (4 * width,)))
        gemm(h_before, dz, grads.RW, transpose_a=True)
        if grads.peepholes is not None:
            places = (passed.order.before(span), passed.order.behind(span), passed.order.before(span))
            for number, place, gradient in zip((FORGET, OUTPUT, INPUT), places, grads.peepholes, strict=True):
                c = reshape_view(passed.c[place, ...], (-1, width))
                assign(gradient, channel_sums(block(dz, number), c))
        if not needs_epsilon:
            return None
        below = in_c_order(buffer, "below", (passed.order.length, n, passed.x.shape[1]))
        if span.stop - span.start < passed.order.length:
            fill(below, 0.0)
        gemm(dz, weights.W, reshape_view(below, (-1, passed.x.shape[1]))[rows, :], transpose_b=True)
        return series_of(below)


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
