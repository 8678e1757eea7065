"""Values of a computation that remember what they were made of, so that derivatives can go back through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import nd
from nd.typing import Array

Pull = Callable[[Array], Array]
"""From dL/d(result) to dL/d(source), in the source's shape."""
Shape = tuple[int, ...]


class Value:
    """An array, and how its gradient goes back to the values that it was made of.

    Parameters
    ----------
    array : array
        Of the network's dtype.
    sources : sequence of (Value, callable)
        Values that it was made of, and of each how dL/d(this) becomes dL/d(that). Those that nobody wants are left out.
    wanted : bool
        Whether somebody asks for dL/d(this). A value with sources is wanted if one of them is.

    Notes
    -----
    Values are used where one operator of ONNX is a formula of several steps: it is written once, forward, and the way
    back follows from the derivatives of the steps.
    """

    __slots__ = ("array", "depth", "sources", "wanted")
    wanted: bool

    def __init__(self, array: Array, sources: Sequence[tuple[Value, Pull]] = (), wanted: bool = False) -> None:
        self.array = array
        self.sources = [(source, pull) for source, pull in sources if source.wanted]
        self.wanted = wanted or bool(self.sources)
        self.depth: int = 1 + max((source.depth for source, _ in self.sources), default=0)

    @property
    def shape(self) -> Shape:
        """Lengths of the axes."""
        return tuple(self.array.shape)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self.array.ndim

    @property
    def dtype(self) -> str:
        """Name of the dtype."""
        return nd.dtype_name(self.array)

    def __add__(self, other: Value | float) -> Value:
        return self._with(other, nd.add(self.array, plain(other)), lambda e: e, lambda e: e)

    def __sub__(self, other: Value | float) -> Value:
        return self._with(other, nd.subtract(self.array, plain(other)), lambda e: e, lambda e: nd.multiply(e, -1.0))

    def __mul__(self, other: Value | float) -> Value:
        x, y = self.array, plain(other)
        return self._with(other, nd.multiply(x, y), lambda e: nd.multiply(e, y), lambda e: nd.multiply(e, x))

    def __truediv__(self, other: Value | float) -> Value:
        x, y = self.array, plain(other)
        result = nd.divide(x, y)
        return self._with(
            other, result, lambda e: nd.divide(e, y), lambda e: nd.multiply(nd.divide(nd.multiply(e, result), y), -1.0)
        )

    def __radd__(self, other: float) -> Value:
        return self + other

    def __rmul__(self, other: float) -> Value:
        return self * other

    def __rsub__(self, other: float) -> Value:
        return Value(nd.subtract(other, self.array), [(self, lambda e: nd.multiply(e, -1.0))])

    def __rtruediv__(self, other: float) -> Value:
        x = self.array
        result = nd.divide(other, x)
        return Value(result, [(self, lambda e: nd.multiply(nd.divide(nd.multiply(e, result), x), -1.0))])

    def __neg__(self) -> Value:
        return self * -1.0

    def _with(self, other: Value | float, result: Array, own: Pull, others: Pull) -> Value:
        sources = [(self, summed(own, self.shape))]
        if isinstance(other, Value):
            sources.append((other, summed(others, other.shape)))
        return Value(result, sources)


def plain(value: Value | float) -> Array | float:
    """Return the array of a value; a number as it is."""
    return value.array if isinstance(value, Value) else value


def zeros(shape: Shape, dtype: str) -> Array:
    """Return zeros in memory that a recording fills anew."""
    return nd.fill(nd.create_uninitialized(shape, dtype=dtype), 0.0)


def summed(pull: Pull, shape: Shape) -> Pull:
    """Return a way back that sums over the axes along which a source of that shape was repeated."""
    return lambda e: sum_to(pull(e), shape)


def sum_to(x: Array, shape: Shape) -> Array:
    """Sum an array over the axes along which one of that shape was repeated."""
    if tuple(x.shape) == shape:
        return x
    more = x.ndim - len(shape)
    axes = (*range(more), *(more + axis for axis, size in enumerate(shape) if size == 1 != x.shape[more + axis]))
    return nd.reshape(nd.sum(x, axes, True) if axes else x, shape)


def gradients(
    results: Sequence[Value], epsilons: Sequence[Array | None], wanted: Sequence[Value]
) -> list[Array | None]:
    """Return dL/d(value) of every wanted value, each in memory of its own.

    Parameters
    ----------
    results : sequence of Value
    epsilons : sequence of array or None
        dL/d(result) of each; None where no loss knows of it.
    wanted : sequence of Value
        Sources of the results. One that no result with an epsilon depends on gets zeros, one that is not wanted None.
    """
    waiting: dict[int, Array] = {}
    for result, epsilon in zip(results, epsilons, strict=True):
        if epsilon is not None and result.wanted:
            _hand(waiting, result, epsilon)
    for value in _from_the_end(results):
        epsilon = waiting.get(id(value))
        if epsilon is None or not value.sources:
            continue
        del waiting[id(value)]
        for source, pull in value.sources:
            _hand(waiting, source, pull(epsilon))
    return _apart(wanted, waiting, [epsilon for epsilon in epsilons if epsilon is not None])


def _hand(waiting: dict[int, Array], value: Value, epsilon: Array) -> None:
    before = waiting.get(id(value))
    waiting[id(value)] = epsilon if before is None else nd.add(before, epsilon)


def _from_the_end(results: Sequence[Value]) -> list[Value]:
    """Return all values above the results, every one before those that it was made of."""
    seen: dict[int, Value] = {}
    new = list(results)
    while new:
        value = new.pop()
        if id(value) not in seen:
            seen[id(value)] = value
            new += [source for source, _ in value.sources]
    return sorted(seen.values(), key=lambda value: -value.depth)


def _apart(wanted: Sequence[Value], waiting: dict[int, Array], lent: list[Array]) -> list[Array | None]:
    """Return the gradients, copied where two share memory: those who get them may overwrite each."""
    given: list[Array | None] = []
    for value in wanted:
        if not value.wanted:
            given.append(None)
            continue
        own = waiting.get(id(value))
        if own is None:
            own = zeros(value.shape, value.dtype)
        elif any(nd.may_share_memory(own, other) for other in lent):
            own = nd.copy(own)
        lent.append(own)
        given.append(own)
    return given
