"""Series, time first: LSTM and RNN, and LSTMUnit, one step of the former."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import nd
from nd import ConfigurationError, ShapeError
from nd.activations.base import Activating
from nd.checks import describe_shape
from nd.recurrent.gates import CANDIDATE, FORGET, INPUT, OUTPUT
from nd.recurrent.lstm import Lstm, LstmPass, LstmWeights, WholePass
from nd.recurrent.series import in_c_order
from nd.typing import Array

from ...layers.runtime import Params
from ...vertices.runtime import VertexContext
from .base import BlobSpec, CaffeLayer, Shape, count

CAFFES_GATES = (INPUT, FORGET, OUTPUT, CANDIDATE)
"""The gates in the order in which Caffe's rows of weights have them, by their places in nd's stacks."""


class Given(NamedTuple):
    """The bottoms of a recurrent layer, as its loop takes them."""

    x: Array
    """``[T, N, C]``."""
    carried: Array
    """Whether a step goes on with the series of the one before: `cont` ``[T, N]``."""
    fixed: Array | None
    """The static input, one row for each series, ``[N, D]``."""
    start: tuple[Array, ...]
    """Exposed states before the first step, each ``[N, H]``; none where they are 0."""
    shapes: tuple[Shape, ...]


class RecurrentLayer(CaffeLayer):
    """Shared by layers that go through series step by step, ``[T, N, ...]``.

    Raises
    ------
    ConfigurationError
        num_output is below 1; in the way back: `cont` needs a gradient.
    ShapeError
        The bottoms do not fit one another.
    """

    not_forced: ClassVar[tuple[int, ...]] = (1,)
    states: ClassVar[int]
    """Arrays that go from step to step, and with `expose_hidden` come in as bottoms and out as tops."""

    def setup(self) -> None:
        self.settings = self.message.recurrent_param
        self.width: int = self.settings.num_output
        if self.width < 1:
            raise ConfigurationError(f"{self.label}: num_output must be >= 1, got {self.width}.")
        exposed = self.states if self.settings.expose_hidden else 0
        self.bottoms = (2 + exposed, 3 + exposed)  # type: ignore[misc]
        self.tops = (1 + exposed, 1 + exposed)  # type: ignore[misc]
        self.exposed = exposed

    def has_static(self, bottoms: Sequence[Any]) -> bool:
        """Tell whether bottom 2 is an input that is the same in all steps."""
        return len(bottoms) > 2 + self.exposed

    def top_shapes(self, bottoms: Sequence[Shape]) -> list[Shape]:
        x, cont = bottoms[:2]
        if len(x) < 3 or cont != x[:2]:
            raise ShapeError(
                f"{self.label}: bottoms 0 and 1 must be [T, N, ...] and [T, N], got {describe_shape(x)} and "
                f"{describe_shape(cont)}."
            )
        state = (1, x[1], self.width)
        for number, shape in enumerate(bottoms[2:], 2):
            fits = shape[:1] == x[1:2] if number == 2 and self.has_static(bottoms) else shape == state
            if not fits:
                wanted = f"[{x[1]}, ...]" if number == 2 and self.has_static(bottoms) else describe_shape(state)
                raise ShapeError(f"{self.label}: bottom {number} must be {wanted}, got {describe_shape(shape)}.")
        return [(x[0], x[1], self.width), *[state] * self.exposed]

    def matrix(self, name: str, rows: int, columns: int) -> BlobSpec:
        """Return a blob of weights."""
        return BlobSpec(name, (rows, columns), self.settings.weight_filler)

    def input_blobs(self, bottoms: Sequence[Shape], rows: int, names: tuple[str, str]) -> list[BlobSpec]:
        """Return the blobs that inputs are multiplied by, and the bias: W, b, and W_static where there is one."""
        first, b = names
        specs = [
            self.matrix(first, rows, count(bottoms[0], 2)),
            BlobSpec(b, (rows,), self.settings.bias_filler),
        ]
        if self.has_static(bottoms):
            specs.append(self.matrix(f"{first}_static", rows, count(bottoms[2], 1)))
        return specs

    def given(self, xs: Sequence[Array]) -> Given:
        """Return the bottoms as the loop takes them."""
        shapes = tuple(tuple(x.shape) for x in xs)
        self.top_shapes(shapes)
        length, n = shapes[0][:2]
        x = nd.reshape(xs[0], (length, n, count(shapes[0], 2)))
        fixed = nd.reshape(xs[2], (n, count(shapes[2], 1))) if self.has_static(xs) else None
        start = [one[0, ...] for one in xs[len(xs) - self.exposed :]] if self.exposed else []
        return Given(x, xs[1], fixed, tuple(start), shapes)

    def tops_of(self, h: Array, states: Sequence[Array]) -> Any:
        """Return the tops: the outputs of all steps, and with `expose_hidden` the states behind the last."""
        return (h, *(one[None, ...] for one in states)) if self.exposed else h

    def below_of(self, dx: Array | None, dfixed: Array | None, given: Given, ctx: VertexContext) -> list[Array | None]:
        """Return dL/dx of all bottoms: as in Caffe none goes over the exposed states, which get 0."""
        below: list[Array | None] = [None] * len(given.shapes)
        below[0] = None if dx is None else nd.reshape(dx, given.shapes[0])
        if given.fixed is not None:
            below[2] = None if dfixed is None else nd.reshape(dfixed, given.shapes[2])
        for number in range(len(below) - self.exposed, len(below)):
            if ctx.needs_epsilons[number]:
                below[number] = nd.fill(ctx.buffer(f"below{number}", given.shapes[number]), 0.0)
        return below

    def coming(self, epsilon: Any, given: Given, ctx: VertexContext) -> Array:
        """Return dL/d(outputs); of the exposed states, from which as in Caffe nothing comes back, there is none."""
        first = epsilon[0] if self.exposed else epsilon
        self.refuse_gradient(1, ctx)
        if first is None:
            first = nd.fill(ctx.buffer("nothing", (*given.shapes[0][:2], self.width)), 0.0)
        return first


class Unrolled(NamedTuple):
    """What the way back of LSTM needs."""

    given: Given
    passed: LstmPass | WholePass
    weights: LstmWeights


class LSTM(RecurrentLayer):
    """Long short-term memory; where `cont` is 0 output and memory before the step count as 0.

    Notes
    -----
    ::

        z = W_xc x_t + b_c + W_xc_static x_static + W_hc (cont_t h_(t-1))
        i, f, o, g = σ(z_i), σ(z_f), σ(z_o), tanh(z_g)
        c_t = f cont_t c_(t-1) + i g
        h_t = o tanh(c_t)

    Bottoms x ``[T, N, ...]``, cont ``[T, N]``, perhaps x_static ``[N, ...]``, and with `expose_hidden` h_0 and c_0
    ``[1, N, H]``. Tops h ``[T, N, H]``, and h_T and c_T. Blobs, with rows in the order i, f, o, g: W_xc ``[4 H, C]``,
    b_c ``[4 H]``, W_xc_static, W_hc ``[4 H, H]``. Source: BVLC Caffe, lstm_layer.cpp and recurrent_layer.cpp; Donahue
    et al. 2015. Differs: without `expose_hidden` a pass begins with h_0 = c_0 = 0, also where cont_1 is not 0; Caffe
    goes on with the states of the pass before.
    """

    pure = True
    states = 2

    def setup(self) -> None:
        super().setup()
        self.units = Lstm(nd.activations.Tanh(), nd.activations.Sigmoid())

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        rows = 4 * self.width
        return (*self.input_blobs(bottoms, rows, ("W_xc", "b_c")), self.matrix("W_hc", rows, self.width))

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Unrolled]:
        given, width = self.given(xs), self.width
        n = given.x.shape[1]
        b = self._stacked(nd.reshape(params["b_c"], (4 * width, 1)), "stacked b", ctx)
        if given.fixed is not None:
            of_fixed = nd.gemm(params["W_xc_static"], given.fixed, ctx.buffer("of_fixed", (4 * width, n)), False, True)
            b = nd.add(b, self._stacked(of_fixed, "stacked fixed", ctx), in_c_order(ctx.buffer, "b's", (4, n, width)))
        weights = LstmWeights(
            self._stacked(params["W_xc"], "stacked W", ctx), self._stacked(params["W_hc"], "stacked RW", ctx), b
        )
        start = given.start or tuple(
            nd.fill(in_c_order(ctx.buffer, f"start{number}", (n, width)), 0.0) for number in range(2)
        )
        x, carried = nd.permute(given.x, (1, 2, 0)), nd.permute(given.carried, (1, 0))
        passed = self.units.forward(x, weights, start, None, ctx.buffer, ctx.training, carried=carried)
        return self.tops_of(nd.permute(passed.outputs, (2, 0, 1)), passed.state), Unrolled(given, passed, weights)

    def backward(
        self, epsilon: Any, cache: Unrolled, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        given, passed, weights = cache
        coming = nd.permute(self.coming(epsilon, given, ctx), (1, 2, 0))
        W, RW, b = (in_c_order(ctx.buffer, f"gradient{k}", tuple(one.shape)) for k, one in enumerate(weights[:3]))
        gradients = LstmWeights(W, RW, b)
        dx = self.units.backward(coming, passed, weights, gradients, ctx.buffer, ctx.needs_epsilons[0])
        self._unstacked(W, grads["W_xc"])
        self._unstacked(RW, grads["W_hc"])
        dfixed = None
        if given.fixed is not None:
            of_rows = self._unstacked(b, ctx.buffer("of_rows", (4 * self.width, b.shape[1])))
            nd.gemm(of_rows, given.fixed, grads["W_xc_static"])
            if ctx.needs_epsilons[2]:
                dfixed = nd.gemm(of_rows, params["W_xc_static"], ctx.buffer("dfixed", tuple(given.fixed.shape)), True)
            nd.sum_into(of_rows, 1, grads["b_c"])
        else:
            self._unstacked(b, nd.reshape(grads["b_c"], (4 * self.width, 1)))
        return self.below_of(None if dx is None else nd.permute(dx, (2, 0, 1)), dfixed, given, ctx)

    def _stacked(self, rows: Array, name: str, ctx: VertexContext) -> Array:
        """Return rows ``[4 H, M]`` as a stack ``[4, M, H]`` in nd's order."""
        stack = in_c_order(ctx.buffer, name, (4, rows.shape[1], self.width))
        for place, gate in enumerate(CAFFES_GATES):
            nd.assign(stack[gate, ...], nd.transpose(rows[place * self.width : (place + 1) * self.width, :]))
        return stack

    def _unstacked(self, stack: Array, rows: Array) -> Array:
        """Write a stack ``[4, M, H]`` into rows ``[4 H, M]``; return these."""
        for place, gate in enumerate(CAFFES_GATES):
            nd.assign(rows[place * self.width : (place + 1) * self.width, :], nd.transpose(stack[gate, ...]))
        return rows


class Stepped(NamedTuple):
    """What the way back of RNN needs; all in the order of time, ``[T, N, H]``."""

    given: Given
    entered: Array
    h: Array
    o: Array


class RNN(RecurrentLayer):
    """A simple recurrent layer with an output of its own; where `cont` is 0 the state before the step counts as 0.

    Notes
    -----
    ::

        h_t = tanh(W_hh (cont_t h_(t-1)) + W_xh x_t + b_h + W_xh_static x_static)
        o_t = tanh(W_ho h_t + b_o)

    Bottoms x ``[T, N, ...]``, cont ``[T, N]``, perhaps x_static ``[N, ...]``, and with `expose_hidden` h_0
    ``[1, N, H]``. Tops o ``[T, N, H]``, and h_T. Blobs: W_xh ``[H, C]``, b_h, W_xh_static, W_hh ``[H, H]``, W_ho
    ``[H, H]``, b_o. Source: BVLC Caffe, rnn_layer.cpp and recurrent_layer.cpp. Differs: as LSTM.
    """

    pure = True
    states = 1

    def setup(self) -> None:
        super().setup()
        self.activating = Activating(nd.activations.Tanh())

    def blobs(self, bottoms: Sequence[Shape]) -> tuple[BlobSpec, ...]:
        square = [self.matrix(name, self.width, self.width) for name in ("W_hh", "W_ho")]
        b_o = BlobSpec("b_o", (self.width,), self.settings.bias_filler)
        return (*self.input_blobs(bottoms, self.width, ("W_xh", "b_h")), *square, b_o)

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Any, Stepped]:
        given = self.given(xs)
        length, n = given.carried.shape
        shape = (length, n, self.width)
        entered, z, h, o = (in_c_order(ctx.buffer, name, shape) for name in ("entered", "z", "h", "o"))
        nd.gemm(_rows(given.x), params["W_xh"], _rows(z), transpose_b=True)
        nd.addi(z, params["b_h"])
        if given.fixed is not None:
            of_fixed = in_c_order(ctx.buffer, "of_fixed", (n, self.width))
            nd.addi(z, nd.gemm(given.fixed, params["W_xh_static"], of_fixed, transpose_b=True))
        before = given.start[0] if given.start else nd.fill(in_c_order(ctx.buffer, "start", (n, self.width)), 0.0)
        for t in range(length):
            nd.multiply(h[t - 1, ...] if t else before, given.carried[t, :, None], entered[t, ...])
            nd.gemm(entered[t, ...], params["W_hh"], z[t, ...], transpose_b=True, beta=1.0)
            self.activating.value(z[t, ...], h[t, ...], ctx.training)
        nd.addi(nd.gemm(_rows(h), params["W_ho"], _rows(o), transpose_b=True), params["b_o"])
        self.activating.value(o, o, ctx.training)
        return self.tops_of(o, [h[length - 1, ...]]), Stepped(given, entered, h, o)

    def backward(
        self, epsilon: Any, cache: Stepped, params: Params, grads: Params, ctx: VertexContext
    ) -> list[Array | None]:
        given, entered, h, o = cache
        length, n = given.carried.shape
        delta, dh = (in_c_order(ctx.buffer, name, tuple(o.shape)) for name in ("delta", "dh"))
        self.activating.backprop(o, o, nd.assign(delta, self.coming(epsilon, given, ctx)))
        nd.gemm(_rows(delta), _rows(h), grads["W_ho"], transpose_a=True)
        nd.sum_into(_rows(delta), 0, grads["b_o"])
        nd.gemm(_rows(delta), params["W_ho"], _rows(dh))
        later = in_c_order(ctx.buffer, "later", (n, self.width))
        for t in reversed(range(length)):
            if t < length - 1:
                nd.gemm(dh[t + 1, ...], params["W_hh"], later)
                nd.addi(dh[t, ...], nd.muli(later, given.carried[t + 1, :, None]))
            self.activating.backprop(h[t, ...], h[t, ...], dh[t, ...])
        nd.gemm(_rows(dh), _rows(entered), grads["W_hh"], transpose_a=True)
        nd.gemm(_rows(dh), _rows(given.x), grads["W_xh"], transpose_a=True)
        nd.sum_into(_rows(dh), 0, grads["b_h"])
        dfixed = self._back_to_static(dh, given, params, grads, ctx)
        dx = None
        if ctx.needs_epsilons[0]:
            dx = in_c_order(ctx.buffer, "dx", tuple(given.x.shape))
            nd.gemm(_rows(dh), params["W_xh"], _rows(dx))
        return self.below_of(dx, dfixed, given, ctx)

    def _back_to_static(
        self, dz: Array, given: Given, params: Params, grads: Params, ctx: VertexContext
    ) -> Array | None:
        if given.fixed is None:
            return None
        of_series = nd.sum_into(dz, 0, in_c_order(ctx.buffer, "of_series", tuple(dz.shape[1:])))
        nd.gemm(of_series, given.fixed, grads["W_xh_static"], transpose_a=True)
        if not ctx.needs_epsilons[2]:
            return None
        return nd.gemm(of_series, params["W_xh_static"], ctx.buffer("dfixed", tuple(given.fixed.shape)))


def _rows(steps: Array) -> Array:
    """View steps ``[T, N, C]`` as rows ``[T N, C]``."""
    return nd.reshape(steps, (steps.shape[0] * steps.shape[1], steps.shape[2]))
