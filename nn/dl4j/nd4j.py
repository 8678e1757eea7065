"""Nd4j's factory methods, Transforms and java.util.Random for ported programs; arrays are the backend's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd import npy
from nd.dataset.java_random import JavaRandom as Random

from .constants import DataType

if TYPE_CHECKING:
    from nd.random import Random as Generator

Array = Any


_ORDERS = ("c", "f")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _type_and_shape(arguments: Sequence[Any]) -> tuple[str | None, tuple[int, ...]]:
    """Return the dtype, None for the default, and the shape that ``(DataType.FLOAT, 2, 3)`` or ``(2, 3)`` say."""
    dtype = None
    arguments = [
        each for each in arguments if not (isinstance(each, str) and each in _ORDERS)
    ]  # of elements in memory, which is ours
    if arguments and isinstance(arguments[0], DataType):
        dtype, arguments = str(arguments[0]), arguments[1:]
    if len(arguments) == 1 and not _is_number(arguments[0]):
        arguments = arguments[0]
    return dtype, tuple(int(axis) for axis in arguments)


class Nd4j:
    """ND4J's factory: every method returns an array of the current backend.

    Notes
    -----
    Vectors ``[n]`` that Java makes have one axis here too. Source: ND4J ``Nd4j``.
    """

    @staticmethod
    def create(*arguments: Any) -> Array:
        """Return an array: ``create(data)``, ``create(data, shape)``, ``create(data, rows, columns)``; zeros of a shape
        for ``create(rows, columns)`` and ``create(DataType.DOUBLE, rows, columns)``. An order of elements, 'c' or
        'f', may be the last."""
        if _is_number(arguments[0]) or isinstance(arguments[0], DataType):
            return Nd4j.zeros(*arguments)
        data, *shape = arguments
        made, order = nd.create(data), shape.pop() if shape and isinstance(shape[-1], str) else "c"
        if not shape:
            return made
        axes = tuple(shape) if _is_number(shape[0]) else tuple(shape[0])
        return nd.reshape(made, axes) if order == "c" else nd.transpose(nd.reshape(made, axes[::-1]))

    createFromArray = create

    @staticmethod
    def zeros(*arguments: Any) -> Array:
        """Return zeros of a shape, ``zeros(2, 3)`` or ``zeros(DataType.DOUBLE, 2, 3)``."""
        dtype, shape = _type_and_shape(arguments)
        return nd.zeros(*shape, dtype=dtype)

    @staticmethod
    def ones(*arguments: Any) -> Array:
        """Return ones of a shape, as `zeros`."""
        dtype, shape = _type_and_shape(arguments)
        return nd.ones(*shape, dtype=dtype)

    createUninitialized = zeros

    @staticmethod
    def zerosLike(x: Array) -> Array:
        """Return zeros of an array's shape and type."""
        return nd.zeros(*x.shape, dtype=nd.dtype_name(x))

    @staticmethod
    def onesLike(x: Array) -> Array:
        """Return ones of an array's shape and type."""
        return nd.ones(*x.shape, dtype=nd.dtype_name(x))

    @staticmethod
    def valueArrayOf(shape: Any, *rest: Any) -> Array:
        """Return an array of one value: ``valueArrayOf(shape, value)`` or ``valueArrayOf(rows, columns, value)``."""
        *more, value = rest
        if isinstance(value, DataType):
            return nd.full(*Nd4j._shape(shape, more[:-1]), value=more[-1], dtype=str(value))
        return nd.full(*Nd4j._shape(shape, more), value=value)

    @staticmethod
    def _shape(shape: Any, more: Sequence[int]) -> tuple[int, ...]:
        return (shape, *more) if _is_number(shape) else tuple(shape)

    @staticmethod
    def scalar(value: float) -> Array:
        """Return a scalar array."""
        return nd.create(value)

    @staticmethod
    def eye(n: int) -> Array:
        """Return the identity matrix."""
        return nd.eye(n)

    @staticmethod
    def linspace(*arguments: Any) -> Array:
        """Return numbers at equal distances, both ends included: ``linspace(first, last, count)``."""
        arguments = tuple(each for each in arguments if not isinstance(each, DataType))
        first, last, count = arguments
        steps = nd.arange(0, int(count), dtype=nd.default_dtype())
        return nd.add(nd.multiply(steps, (last - first) / max(int(count) - 1, 1)), float(first))

    @staticmethod
    def arange(*ends: float) -> Array:
        """Return whole numbers: ``arange(stop)`` or ``arange(start, stop)``."""
        first, last = (0.0, ends[0]) if len(ends) == 1 else ends
        return nd.arange(int(first), int(last), nd.default_dtype())

    @staticmethod
    def rand(*arguments: Any) -> Array:
        """Return numbers uniform in 0..1 from this thread's generator: a shape, perhaps after a DataType."""
        dtype, shape = _type_and_shape(arguments)
        return nd.rand(*shape, dtype=dtype)

    @staticmethod
    def randn(*arguments: Any) -> Array:
        """Return standard normal numbers from this thread's generator, as `rand`."""
        dtype, shape = _type_and_shape(arguments)
        return nd.randn(*shape, dtype=dtype)

    @staticmethod
    def hstack(*arrays: Any) -> Array:
        """Join arrays along their last axis of two, vectors end to end."""
        several = Nd4j._several(arrays)
        return nd.concat(several, 0 if several[0].ndim == 1 else 1)

    @staticmethod
    def vstack(*arrays: Any) -> Array:
        """Put rows below each other."""
        return nd.concat([each[None] if each.ndim == 1 else each for each in Nd4j._several(arrays)], 0)

    @staticmethod
    def concat(axis: int, *arrays: Any) -> Array:
        """Join arrays along an axis."""
        return nd.concat(Nd4j._several(arrays), axis)

    @staticmethod
    def toFlattened(*arrays: Any) -> Array:
        """Return all elements one after the other, ``[n]``, in c order; after ``"f"`` or ``'f'`` in f order."""
        order, rest = (arrays[0], arrays[1:]) if isinstance(arrays[0], str) else ("c", arrays)
        return nd.to_flattened(order, Nd4j._several(rest))

    @staticmethod
    def _several(arrays: Sequence[Any]) -> Sequence[Any]:
        return arrays[0] if len(arrays) == 1 and isinstance(arrays[0], (list, tuple)) else arrays

    @staticmethod
    def argMax(x: Array, axis: int = 1) -> Array:
        """Return the places of the first largest elements along an axis."""
        return nd.argmax(x, axis)

    @staticmethod
    def gemm(a: Array, b: Array, *rest: Any) -> Array:
        """Return the product: ``gemm(a, b, transpose_a, transpose_b)``, or into c: ``gemm(a, b, c, ...)``."""
        c = rest[0] if rest and nd.is_array(rest[0]) else None
        flags = rest if c is None else rest[1:]
        return nd.gemm(a, b, c, **dict(zip(("transpose_a", "transpose_b", "alpha", "beta"), flags, strict=False)))

    @staticmethod
    def createFromNpyFile(path: Any) -> Array:
        """Read a ``.npy`` file."""
        return nd.create(npy.read_npy(path))

    @staticmethod
    def writeAsNumpy(x: Array, path: Any) -> None:
        """Write a ``.npy`` file."""
        npy.write_npy(path, nd.to_host(x))

    @staticmethod
    def getRandom() -> Generator:
        """Return this thread's generator; ``setSeed(seed)`` starts it anew."""
        return nd.random.get_random()

    @staticmethod
    def setDefaultDataTypes(first: DataType, second: DataType | None = None) -> None:
        """Set the type of arrays and networks that do not say theirs, of this thread."""
        nd.set_default_dtype(str(first))

    setDataType = setDefaultDataTypes

    @staticmethod
    def getMemoryManager() -> Any:
        """Return what takes Java's calls about memory."""
        return nd.get_memory_manager()


class Collections:
    """java.util.Collections, of it `shuffle`."""

    @staticmethod
    def shuffle(values: list[Any], random: Random) -> None:
        """Shuffle a list in place."""
        random.shuffle(values)


class Arrays:
    """java.util.Arrays, of it `asList`."""

    @staticmethod
    def asList(*values: Any) -> list[Any]:
        """Return a list."""
        return list(values)
