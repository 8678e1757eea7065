"""Operators that pick elements by their numbers, and put them there: Gather, Scatter, OneHot, TopK."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import nd
from nd.arrays import standard
from nd.typing import Array

from . import functions as f
from .call import Call
from .picking import counted, elements, indices, places, rows, spread, strides
from .values import Value, zeros


def gather(call: Call) -> Value:
    """What has these numbers along an axis; the axes of the numbers stand in its place."""
    x = call[0]
    axis = call.axis(call.whole("axis", 0), x.ndim)
    numbers = counted(indices(call, 1), x.shape[axis])
    shape, others = tuple(numbers.shape), [other for other in range(x.ndim) if other != axis]
    rest = [x.shape[other] for other in others]
    table = f.reshape(f.permute(x, (axis, *others)), (x.shape[axis], math.prod(rest)))
    picked = f.reshape(rows(table, nd.reshape(numbers, (math.prod(shape),))), (*shape, *rest))
    between = range(len(shape))
    order = (*range(len(shape), len(shape) + axis), *between, *range(len(shape) + axis, len(shape) + len(rest)))
    return f.permute(picked, order)


def gather_elements(call: Call) -> Value:
    """For every place the element of x there, but with another number along one axis."""
    x = call[0]
    axis = call.axis(call.whole("axis", 0), x.ndim)
    numbers = counted(indices(call, 1), x.shape[axis])
    return elements(x, places(tuple(numbers.shape), x.shape, {axis: numbers}))


def gather_nd(call: Call) -> Value:
    """What stands at these places, each given by its numbers along the first axes."""
    x, numbers, batch = call[0], indices(call, 1), call.whole("batch_dims", 0)
    row, deep = _rows_of(numbers, x.shape, batch)
    rest = x.shape[batch + deep :]
    table = f.reshape(x, (math.prod(x.shape[: batch + deep]), math.prod(rest)))
    picked = rows(table, nd.reshape(row, (math.prod(row.shape),)))
    return f.reshape(picked, (*numbers.shape[:-1], *rest))


def _rows_of(numbers: Array, shape: Sequence[int], batch: int = 0) -> tuple[Array, int]:
    """Return places among the first axes, for numbers ``[..., axes]``; and how many axes they are."""
    deep = numbers.shape[-1]
    steps = strides(shape[: batch + deep])
    outer = tuple(numbers.shape[:-1])
    result = nd.fill(nd.create_uninitialized(outer, dtype="int64"), 0)
    for axis in range(batch):
        position = nd.arange(0, outer[axis], "int64")
        ones = tuple(-1 if place == axis else 1 for place in range(len(outer)))
        result = nd.add(result, nd.multiply(nd.reshape(position, ones), steps[axis]))
    for axis in range(deep):
        position = counted(numbers[..., axis], shape[batch + axis])
        result = nd.add(result, nd.multiply(position, steps[batch + axis]))
    return result, deep


def _put(call: Call, table: Value, where: Callable[[], Array], updates: Value) -> Value:
    """Return a table ``[rows, columns]`` with other rows at these numbers, or with them added, multiplied and so on."""
    reduction = call.text("reduction", "none")
    if reduction not in REDUCTIONS:
        raise call.refuse(f"reduction {reduction!r}")
    if reduction == "add":
        return table + spread(updates, where(), table.shape[0])
    if reduction == "none":
        return _with_rows(table, where(), updates)
    call.host(1)  # where a place is met twice must be known
    with nd.use_backend("numpy"):
        known = nd.to_host(where()).tolist()
    for turn in _turns(known):
        own = nd.as_array([numbers_of for _, numbers_of in turn], "int64")
        news = rows(updates, nd.as_array([place for place, _ in turn], "int64"))
        table = _with_rows(table, own, REDUCTIONS[reduction](rows(table, own), news))
    return table


def _with_rows(table: Value, numbers: Array, updates: Value) -> Value:
    """Return a table with other rows at these numbers, of which none is there twice."""
    hit = zeros((table.shape[0], 1), table.dtype)
    ones = nd.fill(nd.create_uninitialized((numbers.shape[0], 1), dtype=table.dtype), 1.0)
    nd.scatter_add(hit, numbers, ones)
    return f.where(nd.greater(hit, 0.0), spread(updates, numbers, table.shape[0]), table)


def _turns(numbers: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Return (place, number) in turns, in none of which a number is there twice."""
    turns: list[list[tuple[int, int]]] = []
    seen: dict[int, int] = {}
    for place, number in enumerate(numbers):
        turn = seen.get(number, 0)
        seen[number] = turn + 1
        turns += [[]] if turn == len(turns) else []
        turns[turn].append((place, number))
    return turns


REDUCTIONS: dict[str, Callable[[Value, Value], Value]] = {
    "add": lambda x, y: x + y,
    "max": f.maximum,
    "min": f.minimum,
    "mul": lambda x, y: x * y,
    "none": lambda x, y: y,
}
"""What happens with what was there, by its name in ONNX, sorted."""


def scatter_elements(call: Call) -> Value:
    """x, with other elements at places that have these numbers along one axis."""
    x, updates = call[0], call[2]
    axis, count = call.axis(call.whole("axis", 0), x.ndim), math.prod(updates.shape)

    def where() -> Array:
        numbers = counted(indices(call, 1), x.shape[axis])
        return nd.reshape(places(updates.shape, x.shape, {axis: numbers}), (count,))

    column = f.reshape(x, (math.prod(x.shape), 1))
    return f.reshape(_put(call, column, where, f.reshape(updates, (count, 1))), x.shape)


def scatter_nd(call: Call) -> Value:
    """x, with something else at these places, each given by its numbers along the first axes."""
    x, updates = call[0], call[2]
    constant = call.constants.get(1)
    *outer, deep = constant.shape if constant is not None else call[1].shape
    count, columns = math.prod(outer), math.prod(x.shape[deep:])
    table = f.reshape(x, (math.prod(x.shape[:deep]), columns))

    def where() -> Array:
        return nd.reshape(_rows_of(indices(call, 1), x.shape)[0], (count,))

    return f.reshape(_put(call, table, where, f.reshape(updates, (count, columns))), x.shape)


def one_hot(call: Call) -> Value:
    """Along a new axis the second value at the number that stands in x, elsewhere the first."""
    x, depth, ends = call[0], int(call.real(1) or 0), call[2]
    axis = call.axis(call.whole("axis", -1), x.ndim + 1)
    f.check_size([*x.shape, depth])
    numbers = nd.reshape(x.array, (*x.shape[:axis], 1, *x.shape[axis:]))
    numbers = nd.add(numbers, nd.multiply(nd.astype(nd.greater(0.0, numbers), x.dtype), float(depth)))
    position = nd.reshape(nd.arange(0, depth, x.dtype), (depth, *(1,) * (x.ndim - axis)))
    off, on = f.stretch(ends, 0, 0, 1), f.stretch(ends, 0, 1, 2)
    return f.where(nd.equal(numbers, position), on, off)


def top_k(call: Call) -> list[Value]:
    """The largest or smallest numbers along an axis, in their order, and their places."""
    x, (count, *_) = call[0], call.ints(1, "k") or [1]
    axis = call.axis(call.whole("axis", -1), x.ndim)
    key = nd.multiply(x.array, -1.0) if call.whole("largest", 1) else x.array
    order = standard.function("argsort")(key, axis=axis, stable=True)
    numbers = nd.astype(f.part(order, axis, 0, count), "int64")
    picked = elements(x, places(tuple(numbers.shape), x.shape, {axis: numbers}))
    return [picked, Value(nd.astype(numbers, x.dtype))]


def arg_of(call: Call, smallest: bool = False) -> Value:
    """The place of the largest or smallest number along an axis: of equal ones the first, or the last."""
    x = call[0]
    axis = call.axis(call.whole("axis", 0), x.ndim)
    key = nd.multiply(x.array, -1.0) if smallest else x.array
    if call.whole("select_last_index", 0):
        found = nd.subtract(x.shape[axis] - 1, nd.argmax(standard.flip(key, axis=axis), axis))
    else:
        found = nd.argmax(key, axis)
    rest = [size for place, size in enumerate(x.shape) if place != axis]
    if call.whole("keepdims", 1):
        rest.insert(axis, 1)
    return Value(nd.reshape(nd.astype(found, x.dtype), tuple(rest)))


def arg_max(call: Call) -> Value:
    """The place of the largest number along an axis."""
    return arg_of(call)


def arg_min(call: Call) -> Value:
    """The place of the smallest number along an axis."""
    return arg_of(call, smallest=True)


def hardmax(call: Call) -> Value:
    """1 at the first of the largest numbers along an axis, else 0."""
    x = call[0]
    axis = call.axis(call.whole("axis", -1 if call.opset >= 13 else 1), x.ndim)
    best = nd.argmax(x.array, axis)
    best = nd.reshape(best, tuple(1 if place == axis else size for place, size in enumerate(x.shape)))
    position = nd.reshape(nd.arange(0, x.shape[axis], "int64"), (-1, *(1,) * (x.ndim - axis - 1)))
    return f.truth(nd.equal(position, best), x.dtype)
