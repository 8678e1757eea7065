"""The time loop of simple recurrent layers, forward and back."""

from __future__ import annotations

from typing import NamedTuple

from nd.activations import Activation
from nd.activations.base import Activating
from nd.typing import Array

from ..arrays.arithmetic import addi, channel_sums, gemm, muli, multiply, sum_into
from ..arrays.creation import assign, fill, reshape_view
from ..arrays.layer_norm import normalize_rows, normalize_rows_back
from .formulas import one_launch
from .series import Buffers, Order, in_c_order, rows_of, series_of, steps_of_mask


class SimpleWeights(NamedTuple):
    """Parameters of a simple recurrent layer, or their gradients."""

    W: Array
    """Of the input ``[C, H]``."""
    RW: Array
    """Of the output before ``[H, H]``."""
    b: Array
    """``[1, H]``."""
    gains: tuple[Array, Array] | None = None
    """Of the normalised products with W and with RW, each ``[1, H]``; None without layer normalisation."""


class Normal(NamedTuple):
    """Products of all steps after layer normalisation."""

    rows: Array
    """``[T * N, H]``."""
    inverse: Array
    """1 / standard deviation ``[T * N, 1]``."""


class SimplePass(NamedTuple):
    """A forward pass through series, as the backward pass needs it."""

    x: Array
    """The input, a row for each step, ``[T * N, C]``."""
    order: Order
    z: Array
    """Sums before the activation ``[T, N, H]``."""
    a: Array
    """Activations before the mask ``[T, N, H]``."""
    h: Array
    """Output ``[T + 1, N, H]``, masked."""
    mask: Array | None
    """``[T, N, 1]``."""
    normals: tuple[Normal, Normal] | None
    """Of the products with W and with RW, with layer normalisation."""

    @property
    def outputs(self) -> Array:
        """Series ``[N, H, T]``."""
        return self.order.outputs(self.h)

    @property
    def state(self) -> tuple[Array]:
        """Output behind the last step ``[N, H]``."""
        return (self.h[self.order.end, ...],)


class SimpleRnnLoop:
    """Simple recurrent units on their way through series.

    Parameters
    ----------
    activation : Activation

    Notes
    -----
    ::

        h_t = act(x_t W + h_(t-1) RW + b)

    With layer normalisation both products are normalised, row by row, and multiplied by their gains. A mask multiplies
    h_t, and the errors on their way back. Source: DL4J ``SimpleRnn``.
    """

    def __init__(self, activation: Activation) -> None:
        self._activating, self._forward, self._backward = Activating(activation), self._compute, _errors
        if self._activating.fixed:
            self._forward, self._backward = one_launch(self._compute), one_launch(_errors)

    def forward(
        self,
        x: Array,
        weights: SimpleWeights,
        state: tuple[Array, ...],
        mask: Array | None,
        buffer: Buffers,
        training: bool = False,
    ) -> SimplePass:
        """Run all steps; parameters as for `nd.recurrent.lstm.Lstm.forward`, with one array of state."""
        (n, _, length), width, rows = x.shape, weights.RW.shape[0], rows_of(x)
        sums = gemm(rows, weights.W, in_c_order(buffer, "z", (length * n, width)))
        normals = None
        if weights.gains is not None:
            normals = self._normals(sums, weights.gains[0], buffer)
        z = reshape_view(sums, (length, n, width))
        h = in_c_order(buffer, "h", (length + 1, n, width))
        a = h[1:, ...] if mask is None else in_c_order(buffer, "a", (length, n, width))
        passed = SimplePass(rows, Order(length, False), z, a, h, steps_of_mask(mask), normals)
        assign(h[0, ...], state[0])
        product = in_c_order(buffer, "product", (n, width))
        for t, before, behind in passed.order.steps:
            z_t = z[t, ...]
            gemm(h[before, ...], weights.RW, product)
            normal, gain = None, None
            if normals is not None and weights.gains is not None:
                here = slice(t * n, (t + 1) * n)
                normal, gain = normals[1].rows[here, :], weights.gains[1]
                normalize_rows(product, normal, normals[1].inverse[here, :])
            mask_t, h_t = (None, None) if passed.mask is None else (passed.mask[t, ...], h[behind, ...])
            drawing = training and not self._activating.fixed
            self._forward(z_t, product, normal, gain, weights.b, a[t, ...], mask_t, h_t, drawing)
        return passed

    def _compute(
        self,
        z: Array,
        product: Array,
        normal: Array | None,
        gain: Array | None,
        b: Array,
        a: Array,
        mask: Array | None,
        h: Array | None,
        training: bool,
    ) -> None:
        if normal is not None and gain is not None:
            multiply(normal, gain, product)
        addi(z, product)
        addi(z, b)
        self._activating.value(z, a, training)
        if mask is not None:
            multiply(a, mask, h)

    def _normals(self, sums: Array, gain: Array, buffer: Buffers) -> tuple[Normal, Normal]:
        """Normalise the products with the input, in their memory; return them, and memory for those with the output."""
        of_input, of_output = (
            Normal(
                in_c_order(buffer, f"normal_{name}", sums.shape),
                in_c_order(buffer, f"inverse_{name}", (sums.shape[0], 1)),
            )
            for name in ("W", "RW")
        )
        normalize_rows(sums, of_input.rows, of_input.inverse)
        multiply(of_input.rows, gain, sums)
        return of_input, of_output

    def backward(
        self,
        epsilon: Array,
        passed: SimplePass,
        weights: SimpleWeights,
        grads: SimpleWeights,
        buffer: Buffers,
        needs_epsilon: bool,
        back_length: int | None = None,
    ) -> Array | None:
        """Write the gradients of the weights; return dL/dx; parameters as for `nd.recurrent.lstm.Lstm.backward`."""
        length, n, width = passed.z.shape
        delta, slopes = (in_c_order(buffer, name, (length, n, width)) for name in ("delta", "slopes"))
        assign(series_of(delta), epsilon)
        self._activating.backprop(passed.z, passed.a, fill(slopes, 1.0))
        through = delta if passed.normals is None else in_c_order(buffer, "through", (length, n, width))
        product = in_c_order(buffer, "error_product", (n, width))
        span, later = passed.order.last(back_length), None
        for t in reversed(range(span.start, span.stop)):
            dz = delta[t, ...]
            added, mask = None, None if passed.mask is None else passed.mask[t, ...]
            if later is not None:
                added = gemm(through[later, ...], weights.RW, product, transpose_b=True)
            if passed.normals is None or weights.gains is None:
                self._backward(dz, added, slopes[t, ...], mask, None, None)
            else:
                self._backward(dz, added, slopes[t, ...], mask, weights.gains[1], through[t, ...])
                normal, inverse = (x[t * n : (t + 1) * n, :] for x in passed.normals[1])
                normalize_rows_back(through[t, ...], normal, inverse, product)
            later = t
        return self._of_all_steps(passed, delta, through, weights, grads, buffer, needs_epsilon, span)

    def _of_all_steps(
        self,
        passed: SimplePass,
        delta: Array,
        through: Array,
        weights: SimpleWeights,
        grads: SimpleWeights,
        buffer: Buffers,
        needs_epsilon: bool,
        span: slice,
    ) -> Array | None:
        """Write the gradients of the weights from the errors of some steps; return dL/dx.

        `delta` are those of the sums ``[T, N, H]``, `through` those of the products with RW.
        """
        length, n, width = delta.shape
        rows = slice(span.start * n, span.stop * n)
        dz, dr = (reshape_view(errors, (-1, width))[rows, :] for errors in (delta, through))
        sum_into(dz, 0, reshape_view(grads.b, (width,)))
        if passed.normals is not None and weights.gains is not None and grads.gains is not None:
            for normals, gradient in zip(passed.normals, grads.gains, strict=True):
                assign(gradient, channel_sums(dz, normals.rows[rows, :]))
            of_input = passed.normals[0]
            muli(dz, weights.gains[0])
            normal = of_input.rows[rows, :]
            normalize_rows_back(dz, normal, of_input.inverse[rows, :], normal)
        gemm(passed.x[rows, :], dz, grads.W, transpose_a=True)
        gemm(reshape_view(passed.h[span, ...], (-1, width)), dr, grads.RW, transpose_a=True)
        if not needs_epsilon:
            return None
        below = in_c_order(buffer, "below", (length, n, passed.x.shape[1]))
        if span.stop - span.start < length:
            fill(below, 0.0)
        gemm(dz, weights.W, reshape_view(below, (-1, passed.x.shape[1]))[rows, :], transpose_b=True)
        return series_of(below)


def _errors(
    dz: Array, of_later: Array | None, slope: Array, mask: Array | None, gain: Array | None, through: Array | None
) -> None:
    """Turn dL/dh of a step, without what the step after adds, into dL/dz; write that times a gain into `through`."""
    if of_later is not None:
        addi(dz, of_later)
    muli(dz, slope)
    if mask is not None:
        muli(dz, mask)
    if gain is not None:
        multiply(dz, gain, through)
