"""The time loop of LSTM layers, forward and back."""

from __future__ import annotations

from typing import Any, NamedTuple

from nd.activations import Activation
from nd.typing import Array

from ..arrays.arithmetic import channel_sums, muli, multiply, sum_into
from ..arrays.creation import assign, fill, permute, reshape, reshape_view
from ..state import state as current
from .cell import Cell, Errors, Peepholes, Slopes
from .gates import FORGET, INPUT, OUTPUT, gates_of, stack_memory
from .series import Buffers, Order, in_c_order, rows_of, series_of, steps_of_mask

PACKED_FROM = 4  # steps, from which on copies of the weights as the products like them cost less than they save


class LstmWeights(NamedTuple):
    """Parameters of an LSTM layer, or their gradients: of candidate, forget, output and input gate."""

    W: Array
    """Of the input ``[4, C, H]``."""
    RW: Array
    """Of the output before ``[4, H, H]``."""
    b: Array
    """``[4, 1, H]``, or ``[4, N, H]`` where every example has its own."""
    peepholes: Peepholes | None = None
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
    carried: Array | None = None
    """What output and memory are multiplied by before each step ``[T, N, 1]``."""
    entered: Array | None = None
    """Output and memory after that ``[2, T, N, H]``; None where nothing is multiplied."""

    def before(self, steps: slice) -> tuple[Array, Array]:
        """Return output and memory that come into such steps, each ``[T, N, H]``."""
        if self.entered is not None:
            return self.entered[0, steps, ...], self.entered[1, steps, ...]
        places = self.order.before(steps)
        return self.h[places, ...], self.c[places, ...]

    @property
    def outputs(self) -> Array:
        """Series ``[N, H, T]``."""
        return self.order.outputs(self.h)

    @property
    def state(self) -> tuple[Array, Array]:
        """Output and memory behind the last step, each ``[N, H]``."""
        return self.h[self.order.end, ...], self.c[self.order.end, ...]


class WholePass(NamedTuple):
    """A forward pass that the backend has made in one go."""

    x: Array
    """The input, step by step ``[T, N, C]``."""
    start: tuple[Array, ...]
    """Output and memory before the first step."""
    reverse: bool
    training: bool
    ran: Any
    """What the backend has returned: see `backends.base.Backend.lstm`."""

    @property
    def outputs(self) -> Array:
        """Series ``[N, H, T]``."""
        return series_of(self.ran.outputs)

    @property
    def state(self) -> tuple[Array, Array]:
        """Output and memory behind the last step, each ``[N, H]``."""
        return self.ran.state


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

    With peepholes p c_(t-1) is added to z_f and z_g, and p c_t to z_o. A mask multiplies h_t and c_t, and `carried`
    h_(t-1) and c_(t-1) on their way into a step, not as outputs. The products with the input of all steps are one for
    each gate, and so are the gradients of the weights. What belongs to one gate lies together in a step, so that it is
    gone over in one stretch. Source: DL4J ``LSTMHelpers``.
    """

    def __init__(self, activation: Activation, gate_activation: Activation) -> None:
        self._cell = Cell(gates_of(activation, gate_activation))

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
        carried: Array | None = None,
    ) -> LstmPass | WholePass:
        """Run all steps, in one go where the backend has a way for these units.

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
        carried : array ``[N, T]``, optional
            What output and memory before each step are multiplied by: 0 where another series begins.
        """
        if mask is carried is None and self._cell.gates.plain:
            steps = reshape(rows_of(x), (x.shape[2], *x.shape[:2]))
            ran = current.backend.lstm(steps, weights, state, training, reverse, buffer)
            if ran is not None:
                return WholePass(steps, state, reverse, training, ran)
        return self._step_by_step(x, weights, state, (mask, carried), buffer, training, reverse)

    def _step_by_step(
        self,
        x: Array,
        weights: LstmWeights,
        state: tuple[Array, ...],
        masks: tuple[Array | None, Array | None],
        buffer: Buffers,
        training: bool,
        reverse: bool,
    ) -> LstmPass:
        (n, _, length), width = x.shape, weights.RW.shape[2]
        gates, packed = self._cell.gates, length >= PACKED_FROM and not current.backend.joins_products
        rows, halves = rows_of(x), gates.halved and not packed
        weights = self._prepared(weights, buffer, packed)
        z = stack_memory(buffer, "z", (length, 4, n, width), 1)
        a = z if gates.overwrites else stack_memory(buffer, "gates", (length, 4, n, width), 1)
        c, h = (in_c_order(buffer, name, (length + 1, n, width)) for name in ("c", "h"))
        squashed = in_c_order(buffer, "squashed", (length, n, width))
        mask, carried = (steps_of_mask(one) for one in masks)
        entered = None if carried is None else in_c_order(buffer, "entered", (2, length, n, width))
        passed = LstmPass(rows, Order(length, reverse), z, a, c, squashed, h, mask, carried, entered)
        for place, start in zip((h, c), state, strict=True):
            assign(place[passed.order.start, ...], start)
        of_input = stack_memory(buffer, "delta", (4, length, n, width))  # where later the errors are
        current.backend.products_with(rows, weights.W, reshape_view(of_input, (4, length * n, width)))
        of_output = stack_memory(buffer, "product", (4, n, width))
        b = weights.b if self._cell.fused else assign(stack_memory(buffer, "b", (4, n, width)), weights.b)
        for t, before, behind in passed.order.steps:
            h_before, c_before = h[before, ...], c[before, ...]
            if carried is not None and entered is not None:
                h_before = multiply(h_before, carried[t, ...], entered[0, t, ...])
                c_before = multiply(c_before, carried[t, ...], entered[1, t, ...])
            current.backend.products_with(h_before, weights.RW, of_output)
            self._cell.forward(
                (of_input[:, t, ...], of_output, b),
                z[t, ...],
                a[t, ...],
                (c_before, c[behind, ...], squashed[t, ...], h[behind, ...]),
                weights.peepholes,
                None if mask is None else mask[t, ...],
                training,
                halves,
            )
        return passed

    def _prepared(self, weights: LstmWeights, buffer: Buffers, copied: bool) -> LstmWeights:
        """Return the weights, in copies in c order for many steps, where those of gates are halved if these want it."""
        W, RW, b, peepholes = weights
        halved = self._cell.gates.halved
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

    # ---- back

    def backward(
        self,
        epsilon: Array,
        passed: LstmPass | WholePass,
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
        passed : LstmPass or WholePass
        weights, grads : LstmWeights
        buffer : callable (name, shape) -> array
        needs_epsilon : bool
        back_length : int, optional
            Go back over so many steps, the last ones; the others have no gradient.
        """
        if isinstance(passed, WholePass):
            if passed.training and (back_length is None or back_length >= passed.x.shape[0]):
                below = current.backend.lstm_back(passed.ran, epsilon, grads)
                return series_of(below) if needs_epsilon else None
            x, start = series_of(passed.x), passed.start
            passed = self._step_by_step(x, weights, start, (None, None), buffer, passed.training, passed.reverse)
        _, n, width = passed.c.shape
        every, span = self._slopes(passed, buffer), passed.order.last(back_length)
        self._cell.begin_back(every)
        errors = in_c_order(buffer, "errors", passed.squashed.shape)
        assign(series_of(errors), epsilon)
        dc, of_later = (in_c_order(buffer, name, (n, width)) for name in ("memory_error", "error_product"))
        products, RW_T = stack_memory(buffer, "product", (4, n, width)), permute(weights.RW, (0, 2, 1))
        fill(dc, 0.0)
        later = None
        for t in (step.t for step in reversed(passed.order.steps) if span.start <= step.t < span.stop):
            added, mask = None, None if passed.mask is None else passed.mask[t, ...]
            if later is not None:
                added = current.backend.sum_of_products(every.dz[:, later, ...], RW_T, of_later, products)
                if passed.carried is not None:
                    muli(added, passed.carried[later, ...])
                    muli(dc, passed.carried[later, ...])
            self._cell.back(every, t, Errors(errors[t, ...], dc, added, of_later, weights.peepholes, mask))
            later = t
        return self._of_all_steps(passed, every.dz, weights, grads, buffer, needs_epsilon, span)

    def _slopes(self, passed: LstmPass, buffer: Buffers) -> Slopes:
        """Return what the slopes of all steps are written from, and memory for them."""
        length, _, n, width = passed.gates.shape
        all_steps = slice(0, length)
        c_before, c = passed.before(all_steps)[1], passed.c[passed.order.behind(all_steps), ...]
        z, a = (permute(steps, (1, 0, 2, 3)) for steps in (passed.z, passed.gates))
        delta, shape = stack_memory(buffer, "delta", (4, length, n, width)), passed.squashed.shape
        return Slopes(delta, z, a, c_before, c, passed.squashed, in_c_order(buffer, "memory_slope", shape))

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
        deltas = reshape_view(delta[:, span, ...], (4, -1, width))
        h_before = reshape_view(passed.before(span)[0], (-1, width))
        x = passed.x[rows, :]
        of_examples = grads.b.shape[1] != 1
        current.backend.gradients_of_products(x, deltas, grads.W, None if of_examples else grads.b)
        if of_examples:
            sum_into(delta[:, span, ...], 1, grads.b)
        current.backend.gradients_of_products(h_before, deltas, grads.RW, None)
        if grads.peepholes is not None:
            before, behind = passed.before(span)[1], passed.c[places.behind(span), ...]
            for k, seen, gradient in zip(
                (FORGET, OUTPUT, INPUT), (before, behind, before), grads.peepholes, strict=True
            ):
                assign(gradient, channel_sums(deltas[k, ...], reshape_view(seen, (-1, width))))
        if not needs_epsilon:
            return None
        below = in_c_order(buffer, "below", (places.length, n, x.shape[1]))
        if span.stop - span.start < places.length:
            fill(below, 0.0)
        dx = reshape_view(below, (-1, x.shape[1]))[rows, :]
        more = in_c_order(buffer, "below_of_a_gate", (1, *x.shape))
        current.backend.sum_of_products(deltas, permute(weights.W, (0, 2, 1)), dx, more)
        return series_of(below)
