"""Operators that give numbers another shape or order: Reshape, Transpose, Concat, Slice and others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import nd
from nd.arrays import standard
from nd.typing import Array

from . import functions as f
from .call import Call
from .picking import along, whole_numbers
from .values import Value, zeros


def reshape(call: Call) -> Value:
    """The numbers in another shape: 0 is the length that was there, -1 what fits."""
    x, wanted = call[0], call.ints(1, "shape") or []
    if not call.whole("allowzero", 0):
        wanted = [x.shape[axis] if size == 0 else size for axis, size in enumerate(wanted)]
    known = math.prod(size for size in wanted if size != -1)
    if -1 in wanted and known:
        wanted = [math.prod(x.shape) // known if size == -1 else size for size in wanted]
    if math.prod(wanted) != math.prod(x.shape):
        raise call.misfit(f"as many numbers as the shape {wanted} has", x.shape)
    return f.reshape(x, wanted)


def flatten(call: Call) -> Value:
    """A matrix: the axes before `axis`, and those from it on."""
    x, axis = call[0], call.whole("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return f.reshape(x, (math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


def squeeze(call: Call) -> Value:
    """Without axes of length 1: those that are named, or all."""
    x, axes = call[0], call.ints(1, "axes")
    gone = [axis for axis, size in enumerate(x.shape) if size == 1] if axes is None else call.axes(axes, x.ndim)
    if any(x.shape[axis] != 1 for axis in gone):
        raise call.misfit(f"length 1 along the axes {list(gone)}", x.shape)
    return f.reshape(x, [size for axis, size in enumerate(x.shape) if axis not in gone])


def unsqueeze(call: Call) -> Value:
    """With new axes of length 1, numbered as in the result."""
    x, axes = call[0], call.ints(1, "axes") or []
    new = call.axes(axes, x.ndim + len(axes))
    if len(set(new)) < len(new):
        raise call.misfit(f"new axes that differ, not {list(axes)}", x.shape)
    sizes = iter(x.shape)
    return f.reshape(x, [1 if axis in new else next(sizes) for axis in range(x.ndim + len(axes))])


def transpose(call: Call) -> Value:
    """The axes in another order, by default the reverse one."""
    x = call[0]
    order = call.wholes("perm")
    return f.permute(x, call.axes(order, x.ndim) if order is not None else tuple(reversed(range(x.ndim))))


def concat(call: Call) -> Value:
    """The inputs side by side."""
    values = call.inputs()
    return f.concat(values, call.axis(call.whole("axis", 0), values[0].ndim))


def split(call: Call) -> list[Value]:
    """Stretches of an axis, of lengths that are given, or as equal ones as can be."""
    x = call[0]
    axis = call.axis(call.whole("axis", 0), x.ndim)
    lengths, size = call.ints(1, "split"), x.shape[axis]
    if lengths is None:
        count = call.whole("num_outputs", call.outputs)
        if not 1 <= count <= max(size, 1):
            raise call.misfit(f"an axis {axis} that {count} outputs divide", x.shape)
        each = -(-size // count)
        lengths = [min(each, size - each * number) for number in range(count)]
    ends = [sum(lengths[:number]) for number in range(len(lengths) + 1)]
    return [f.stretch(x, axis, start, stop) for start, stop in pairwise(ends)]


def slice_of(call: Call) -> Value:
    """Elements from a start to an end, in steps, which may go back."""
    x = call[0]
    starts, ends = call.ints(1, "starts") or [], call.ints(2, "ends") or []
    axes = call.ints(3, "axes")
    axes = list(range(len(starts))) if axes is None else list(call.axes(axes, x.ndim))
    steps = call.ints(4) or [1] * len(starts)
    for axis, start, end, step in zip(axes, starts, ends, steps, strict=True):
        first, stop, step = slice(start, end, step).indices(x.shape[axis])
        x = _stepped(x, axis, range(first, stop, step))
    return x


def _stepped(x: Value, axis: int, numbers: range) -> Value:
    """Return the elements with these numbers along an axis."""
    back = numbers.step < 0
    ahead = numbers[::-1] if back else numbers
    key = (
        *(slice(None),) * axis,
        slice(ahead.start, min(ahead.stop, x.shape[axis]), ahead.step) if len(ahead) else slice(0, 0),
        ...,
    )
    shape = x.shape

    def turned(e: Array) -> Array:
        return standard.flip(e, axis=axis) if back else e

    def pull(e: Array) -> Array:
        below = zeros(shape, nd.dtype_name(e))
        nd.assign(below[key], turned(e))
        return below

    return Value(turned(x.array[key]), [(x, pull)])


def expand(call: Call) -> Value:
    """Repeated along axes of length 1, so that it has a shape, which itself may have length 1 there."""
    x, wanted = call[0], call.ints(1) or []
    own = (1,) * (len(wanted) - x.ndim) + x.shape
    wanted = [1] * (len(own) - len(wanted)) + wanted
    shape = [there if size == 1 else size for there, size in zip(own, wanted, strict=True)]
    return f.expand(x, shape)


def tile(call: Call) -> Value:
    """Several times, side by side along every axis."""
    x, repeats = call[0], call.ints(1) or []
    f.check_size([size * times for size, times in zip(x.shape, repeats, strict=True)])
    for axis, times in enumerate(repeats):
        if times != 1:
            x = f.concat([x] * times, axis) if times else f.stretch(x, axis, 0, 0)
    return x


def pad(call: Call) -> Value:
    """More elements at both ends of axes: a number, copies of the edge, reflections or the other end."""
    x, pads = call[0], call.ints(1, "pads") or []
    axes = call.ints(3)
    axes = list(range(x.ndim)) if axes is None else list(call.axes(axes, x.ndim))
    mode, value = call.text("mode", "constant"), call.real(2, "value", 0.0) or 0.0
    if mode not in PADDINGS:
        raise call.refuse(f"mode {mode!r}")
    for axis, before, behind in zip(axes, pads[: len(axes)], pads[len(axes) :], strict=True):
        x = padded(x, axis, (before, behind), mode, value)
    return x


def padded(x: Value, axis: int, pads: Sequence[int], mode: str = "constant", value: float = 0.0) -> Value:
    """Return x with more elements before and behind along an axis; with fewer where the number is negative."""
    size = x.shape[axis]
    inside = [max(0, -pads[0]), size - max(0, -pads[1])]
    if inside != [0, size]:
        x, size = f.stretch(x, axis, *inside), inside[1] - inside[0]
    before, behind = (max(0, number) for number in pads)
    f.check_size([*x.shape[:axis], before + size + behind, *x.shape[axis + 1 :]])
    if not before and not behind:
        return x
    if mode == "constant":
        return _within(x, axis, before, before + size + behind, value)
    numbers = [PADDINGS[mode](number, size) for number in range(-before, size + behind)]
    return along(x, axis, whole_numbers(numbers))


def _within(x: Value, axis: int, before: int, length: int, value: float) -> Value:
    """Return x inside of an axis of one number."""
    shape = (*x.shape[:axis], length, *x.shape[axis + 1 :])
    stop = before + x.shape[axis]
    result = f.constant_like(value, x, shape).array
    nd.assign(f.part(result, axis, before, stop), x.array)
    return Value(result, [(x, lambda e: f.part(e, axis, before, stop))])


def _reflected(number: int, size: int) -> int:
    if size == 1:
        return 0
    number %= 2 * (size - 1)
    return min(number, 2 * (size - 1) - number)


PADDINGS = {
    "constant": lambda number, size: number,
    "edge": lambda number, size: min(max(number, 0), size - 1),
    "reflect": _reflected,
    "wrap": lambda number, size: number % size,
}
"""Mode -> which element stands at a place before or behind an axis of that length, sorted."""


def depth_to_space(call: Call) -> Value:
    """Channels as blocks of places."""
    x, block = call[0], call.whole("blocksize", 1)
    n, c, h, w = x.shape
    inner = c // block**2
    if call.text("mode", "DCR") == "DCR":
        apart, order = (n, block, block, inner, h, w), (0, 3, 4, 1, 5, 2)
    else:
        apart, order = (n, inner, block, block, h, w), (0, 1, 4, 2, 5, 3)
    return f.reshape(f.permute(f.reshape(x, apart), order), (n, inner, h * block, w * block))


def space_to_depth(call: Call) -> Value:
    """Blocks of places as channels."""
    x, block = call[0], call.whole("blocksize", 1)
    n, c, h, w = x.shape
    order = (0, 3, 5, 1, 2, 4) if call.text("mode", "DCR") == "DCR" else (0, 1, 3, 5, 2, 4)
    apart = f.permute(f.reshape(x, (n, c, h // block, block, w // block, block)), order)
    return f.reshape(apart, (n, c * block**2, h // block, w // block))


def trilu(call: Call) -> Value:
    """The upper triangle of matrices, or the lower one; zeros elsewhere."""
    x, k = call[0], (call.ints(1) or [0])[0]
    if x.ndim < 2:
        raise call.misfit("matrices", x.shape)
    keep = standard.triu if call.whole("upper", 1) else standard.tril
    return Value(keep(x.array, k=k), [(x, lambda e: keep(e, k=k))])


def center_crop_pad(call: Call) -> Value:
    """The middle of axes, or zeros around them, so that they have given lengths."""
    x, wanted = call[0], call.ints(1) or []
    axes = call.wholes("axes")
    axes = list(range(x.ndim)) if axes is None else list(call.axes(axes, x.ndim))
    for axis, size in zip(axes, wanted, strict=True):
        more = size - x.shape[axis]
        before = more // 2 if more > 0 else -(-more // 2)
        x = padded(x, axis, (before, more - before))
    return x


def reverse_sequence(call: Call) -> Value:
    """The first so many steps of every example in the opposite order."""
    x, lengths = call[0], call.host(1)
    time, batch = call.whole("time_axis", 0), call.whole("batch_axis", 1)
    size, parts = x.shape[time], []
    if any(not 0 <= length <= size for length in lengths):
        raise call.misfit(f"as many steps as {lengths} say", x.shape)
    for number, length in enumerate(lengths):
        order = [*reversed(range(int(length))), *range(int(length), size)]
        parts.append(along(f.stretch(x, batch, number, number + 1), time, whole_numbers(order)))
    return f.concat(parts, batch)


def shape_of(call: Call) -> Value:
    """The lengths of axes."""
    x = call[0]
    start, end = call.whole("start", 0), call.whole("end", x.ndim)
    return Value(nd.as_array(list(x.shape[slice(start, end)]), x.dtype))


def size_of(call: Call) -> Value:
    """The number of elements."""
    return Value(nd.as_array(math.prod(call[0].shape), call.dtype))


def compress(call: Call) -> Value:
    """Those elements along an axis for which a constant is true."""
    x, truths, axis = call[0], call.host(1), call.attributes.get("axis")
    if axis is None:
        x, axis = f.reshape(x, (math.prod(x.shape),)), 0
    return along(x, call.axis(int(axis), x.ndim), whole_numbers([at for at, true in enumerate(truths) if true]))


def eye_like(call: Call) -> Value:
    """Ones on a diagonal of a matrix of that shape, zeros elsewhere."""
    (n, m), k = call[0].shape, call.whole("k", 0)
    row, column = nd.reshape(nd.arange(0, n, "int64"), (n, 1)), nd.reshape(nd.arange(0, m, "int64"), (1, m))
    return f.truth(nd.equal(nd.add(row, k), column), call.dtype)
