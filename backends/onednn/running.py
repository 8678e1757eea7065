"""Runs primitives on arrays of the NumPy backend: noted where a recording is made, with one thread, scratch memory."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from backends.typing import NumpyArray

from ..cpu.recording import note_held, plain, writable
from ..signatures import Like
from .library import library_there
from .primitive import (
    DIFF_DST,
    DIFF_SRC,
    DST,
    RELU,
    RELU_FROM_VALUE,
    SCRATCHPAD,
    SRC,
    TRAINING,
    Primitive,
    layout_of,
    primitive,
)

Arrays = Mapping[int, NumpyArray]
Buffers = Any


def run(kernel: Primitive, reads: Arrays, writes: Arrays, buffers: Buffers) -> None:
    """Run a primitive now, and whenever the recording that is made is replayed.

    Parameters
    ----------
    kernel : Primitive
    reads, writes : dict of argument -> array
        In the memory orders that it takes.
    buffers : callable
        Hands out its scratch memory.
    """
    arrays = {number: plain(x) for number, x in reads.items()}
    arrays.update((number, writable(x)) for number, x in writes.items())
    if kernel.scratch_bytes:
        arrays[SCRATCHPAD] = plain(buffers("onednn_scratch", (-(-kernel.scratch_bytes // 4),), "float32"))
    call, held = kernel.bound(arrays), library_there().single_threaded
    note_held(call, held)
    held(call)


def packed(kernel: Primitive, argument: int, x: NumpyArray, name: str, buffers: Buffers) -> NumpyArray:
    """Return an array in the memory order that a primitive takes for an argument, as a vector."""
    vector = buffers(name, (kernel.floats_of(argument),), "float32")
    if not _has_layout(x):
        x = reordered(x, buffers(f"{name}_plain", (x.size,), "float32").reshape(x.shape))
    run(kernel.reorder(argument, layout_of(x)), {SRC: x}, {DST: vector}, buffers)
    return vector


def unpacked(kernel: Primitive, argument: int, vector: NumpyArray, out: NumpyArray, buffers: Buffers) -> None:
    """Write an argument's vector into an array of any memory order."""
    if not _has_layout(out):
        between = buffers("onednn_plain", (out.size,), "float32").reshape(out.shape)
        unpacked(kernel, argument, vector, between, buffers)
        out[...] = between
        return
    run(kernel.reorder(argument, layout_of(out), back=True), {SRC: vector}, {DST: out}, buffers)


def channels_innermost(buffers: Buffers, name: str, shape: tuple[int, ...], dtype: str | None = None) -> NumpyArray:
    """Return scratch memory ``[N, C, ...]`` that lies as ``N, ..., C``."""
    axes = (shape[0], *shape[2:], shape[1])
    length = (math.prod(shape),)
    memory = (buffers(name, length) if dtype is None else buffers(name, length, dtype)).reshape(axes)
    return memory.transpose(0, len(axes) - 1, *range(1, len(axes) - 1))


def in_a_row(x: NumpyArray, buffers: Buffers, name: str, copy: bool = True) -> NumpyArray:
    """Return an array as a vector in c order: a view, or where strides allow none, memory for it or with `copy` one."""
    if x.flags.c_contiguous:
        return x.reshape(-1)
    vector = buffers(name, (x.size,), "float32")
    if copy:
        vector.reshape(x.shape)[...] = x
    return vector


def in_float32(x: NumpyArray) -> NumpyArray:
    """Return an array, or its copy, in float32."""
    return x if x.dtype == "float32" else np.astype(x, np.float32)


def is_channels_innermost(x: NumpyArray) -> bool:
    """Tell whether ``[N, C, ...]`` lies as ``N, ..., C``."""
    return bool(x.transpose(0, *range(2, x.ndim), 1).flags.c_contiguous)


def copied(x: NumpyArray, out: NumpyArray) -> None:
    """Copy an array into one of another memory order, now alone."""
    call = primitive("reorder", (layout_of(x), layout_of(out))).bound({SRC: x, DST: out})
    library_there().single_threaded(call)


def reordered(x: NumpyArray, out: NumpyArray) -> NumpyArray:
    """Copy an array into one of another memory order, which is returned."""
    if _has_layout(x):
        run(primitive("reorder", (layout_of(x), layout_of(out))), {SRC: x}, {DST: out}, None)
    else:
        out[...] = x
    return out


def _has_layout(x: NumpyArray) -> bool:
    """Tell whether an array lies as oneDNN can be told: not broadcast, turned round, with elements that overlap."""
    end = x.itemsize
    for step, length in sorted(zip(x.strides, x.shape, strict=True)):
        if step < end or step % x.itemsize:
            return False
        end = step * length
    return True


def with_channels_innermost(x: NumpyArray, buffers: Buffers, name: str) -> NumpyArray:
    """Return ``[N, C, ...]``, or its copy, as ``N, ..., C``."""
    return x if is_channels_innermost(x) else reordered(x, channels_innermost(buffers, name, tuple(x.shape)))


def in_image_order(x: NumpyArray, buffers: Buffers) -> NumpyArray:
    """Return an array, or its copy, channels innermost."""
    return with_channels_innermost(x, buffers, "image")


def like(given: Like[NumpyArray]) -> NumpyArray:
    """Return scratch memory, channels innermost."""
    return channels_innermost(given.buffers, *given[2:])


def rectified_back(a: NumpyArray, epsilon: NumpyArray, out: NumpyArray | None = None) -> NumpyArray:
    """Write epsilon, or 0 where ``a = relu(z)`` is none; three arrays of the same dense memory order."""
    out = epsilon if out is None else out
    layout = layout_of(a)
    forward = primitive("eltwise_forward", (TRAINING, RELU, layout, layout, 0.0, 0.0))
    kernel = primitive("eltwise_backward", (RELU_FROM_VALUE, layout, layout, layout, 0.0, 0.0, forward))
    run(kernel, {DST: a, DIFF_DST: epsilon}, {DIFF_SRC: out}, None)
    return out
