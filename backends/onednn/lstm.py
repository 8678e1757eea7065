"""LSTM units through whole series by oneDNN, forward and back."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from backends.typing import NumpyArray

from ..signatures import Series
from .primitive import (
    BACKWARD,
    BIAS,
    DIFF_BIAS,
    DIFF_DST,
    DIFF_DST_1,
    DIFF_DST_2,
    DIFF_SRC,
    DIFF_SRC_1,
    DIFF_SRC_2,
    DIFF_WEIGHTS,
    DIFF_WEIGHTS_1,
    DIFF_WEIGHTS_PEEPHOLE,
    DST,
    DST_1,
    DST_2,
    INFERENCE,
    SRC,
    SRC_1,
    SRC_2,
    TRAINING,
    WEIGHTS,
    WEIGHTS_1,
    WEIGHTS_PEEPHOLE,
    WORKSPACE,
    Layout,
    Primitive,
    in_c_order,
    primitive,
)
from .running import packed, reordered, run, unpacked

FORWARDS, BACKWARDS = 1, 2
OVERWRITE = 1  # dnnl_rnn_flags_diff_weights_overwrite
GATES = (3, 1, 0, 2)
"""Places of input gate, forget gate, candidate and output gate, which is oneDNN's order, among Java's."""
PEEPHOLES = (2, 0, 1)
"""Places of those of input, forget and output gate among Java's."""


class Sizes(NamedTuple):
    """Sizes of a pass."""

    steps: int
    examples: int
    n_in: int
    n_out: int
    peepholes: bool
    reverse: bool


class Kernels:
    """The primitives for series of some sizes, made when they are first needed."""

    def __init__(self, sizes: Sizes) -> None:
        steps, n, n_in, n_out, peepholes, reverse = sizes
        self._direction = BACKWARDS if reverse else FORWARDS
        state, y = in_c_order((1, 1, n, n_out)), in_c_order((steps, n, n_out))
        self._before = (in_c_order((steps, n, n_in)), state, state)
        self._weights = (
            Layout((1, 1, n_in, 4, n_out)), Layout((1, 1, n_out, 4, n_out)),
            in_c_order((1, 1, 3, n_out)) if peepholes else None, None, in_c_order((1, 1, 4, n_out)),
        )  # fmt: skip
        self._behind = (y, state, state)

    def _forward(self, kind: int) -> Primitive:
        return primitive("lstm_forward", (kind, self._direction, *self._before, *self._weights, *self._behind, 0))

    @cached_property
    def inference(self) -> Primitive:
        """Forward, with no way back."""
        return self._forward(INFERENCE)

    @cached_property
    def training(self) -> Primitive:
        """Forward, with a workspace for the way back."""
        return self._forward(TRAINING)

    @cached_property
    def backward(self) -> Primitive:
        """All gradients."""
        arrays = (*self._before, *self._weights, *self._behind)
        return primitive("lstm_backward", (BACKWARD, self._direction, *arrays, *arrays, OVERWRITE, self.training))


@lru_cache(maxsize=256)
def _kernels(sizes: Sizes) -> Kernels:
    return Kernels(sizes)


class SeriesPass:
    """A forward pass, and its way back.

    Parameters
    ----------
    given : Series

    Attributes
    ----------
    outputs : array ``[T, N, H]``
    state : two arrays ``[N, H]``
        Behind the last step.
    """

    def __init__(self, given: Series[NumpyArray]) -> None:
        x, weights, state, training, reverse, buffers = given
        (steps, n, n_in), n_out = x.shape, weights[1].shape[2]
        self._kernels = _kernels(Sizes(steps, n, n_in, n_out, weights[3] is not None, reverse))
        self._buffers = buffers
        if not x.flags.c_contiguous:
            x = reordered(x, self._memory("x_in_order", tuple(x.shape)))
        self.outputs = self._memory("h", (steps, n, n_out))
        behind = [self._memory(name, (n, n_out)) for name in ("h_behind", "c_behind")]
        before = [self._memory(name, (n, n_out)) for name in ("h_before", "c_before")]
        for place, values in zip(before, state, strict=True):  # without them version 3.2 gives wrong gradients
            place[...] = values
        self.state = tuple(behind)
        self._ends = (
            {SRC: x, SRC_1: before[0], SRC_2: before[1]},
            {DST: self.outputs, DST_1: behind[0], DST_2: behind[1]},
        )
        self._plain = self._in_order(weights)
        kernel = self._kernels.training if training else self._kernels.inference
        writes, self._workspace = dict(self._ends[1]), None
        if training:
            self._workspace = writes[WORKSPACE] = buffers("workspace", (kernel.floats_of(WORKSPACE),))
        run(kernel, {**self._ends[0], **self._weights_for(kernel)}, writes, buffers)

    def _memory(self, name: str, shape: tuple[int, ...]) -> NumpyArray:
        return self._buffers(name, (int(np.prod(shape)),)).reshape(shape)

    def _in_order(self, weights: Any) -> dict[int, NumpyArray]:
        """Return weights in oneDNN's order: W ``[C, 4, H]``, RW ``[H, 4, H]``, b ``[4, H]``, peepholes ``[3, H]``."""
        W, RW, b, peepholes = weights
        found = {}
        for number, name, given in ((WEIGHTS, "W_in_order", W), (WEIGHTS_1, "RW_in_order", RW)):
            found[number] = self._memory(name, (given.shape[1], 4, given.shape[2]))
            for place, gate in enumerate(GATES):
                reordered(given[gate], found[number][:, place])
        found[BIAS] = self._memory("b_in_order", (4, b.shape[2]))
        for place, gate in enumerate(GATES):
            found[BIAS][place] = b[gate, 0]
        if peepholes is not None:
            found[WEIGHTS_PEEPHOLE] = self._memory("peepholes_in_order", (3, b.shape[2]))
            for place, gate in enumerate(PEEPHOLES):
                found[WEIGHTS_PEEPHOLE][place] = peepholes[gate][0]
        return found

    def _weights_for(self, kernel: Primitive) -> dict[int, NumpyArray]:
        """Return the weights in the memory order that a primitive takes."""
        found = dict(self._plain)
        for number, name in ((WEIGHTS, "W_packed"), (WEIGHTS_1, "RW_packed")):
            found[number] = packed(kernel, number, found[number][None, None], name, self._buffers)
        return found

    def backward(self, epsilon: NumpyArray, grads: Any) -> NumpyArray:
        """Write the gradients of the weights, whose order is theirs; return dL/dx ``[T, N, C]``.

        Parameters
        ----------
        epsilon : array ``[N, H, T]``
            dL/d(outputs).
        grads : as the weights
        """
        kernel, (reads, made), buffers = self._kernels.backward, self._ends, self._buffers
        errors = self._memory("errors", self.outputs.shape)
        reordered(epsilon.transpose(2, 0, 1), errors)
        nothing = self._memory("nothing", self.state[0].shape)
        nothing.fill(0.0)
        below = self._memory("below", reads[SRC].shape)
        spared = [self._memory(name, nothing.shape) for name in ("below_h", "below_c")]
        vectors = {
            number: buffers(name, (kernel.floats_of(number),))
            for number, name in ((DIFF_WEIGHTS, "W_packed"), (DIFF_WEIGHTS_1, "RW_packed"))
        }
        sums = {DIFF_BIAS: self._memory("b_gradient", self._plain[BIAS].shape)}
        if WEIGHTS_PEEPHOLE in self._plain:
            sums[DIFF_WEIGHTS_PEEPHOLE] = self._memory("peephole_gradient", self._plain[WEIGHTS_PEEPHOLE].shape)
        weights = {}
        for number, name in ((WEIGHTS, "W_back"), (WEIGHTS_1, "RW_back")):
            weights[number] = packed(kernel, number, self._plain[number][None, None], name, buffers)
        all_reads = {**reads, **made, **self._plain, **weights, WORKSPACE: self._workspace}
        all_reads.update({DIFF_DST: errors, DIFF_DST_1: nothing, DIFF_DST_2: nothing})
        writes = {DIFF_SRC: below, DIFF_SRC_1: spared[0], DIFF_SRC_2: spared[1], **vectors, **sums}
        run(kernel, all_reads, writes, buffers)
        self._hand_out(kernel, vectors, sums, grads)
        return below

    def _hand_out(self, kernel: Primitive, vectors: Any, sums: Any, grads: Any) -> None:
        W, RW, b, peepholes = grads
        for number, plain_number, gradient in ((DIFF_WEIGHTS, WEIGHTS, W), (DIFF_WEIGHTS_1, WEIGHTS_1, RW)):
            in_order = self._plain[plain_number]  # whose memory is free now
            unpacked(kernel, number, vectors[number], in_order[None, None], self._buffers)
            for place, gate in enumerate(GATES):
                reordered(in_order[:, place], gradient[gate])
        for place, gate in enumerate(GATES):
            b[gate, 0] = sums[DIFF_BIAS][place]
        for place, gate in enumerate(PEEPHOLES if peepholes is not None else ()):
            peepholes[gate][0] = sums[DIFF_WEIGHTS_PEEPHOLE][place]
