"""Nd4j's factory methods for ported programs; arrays are the backend's own."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import shown
from nd.arrays import standard
from nd.files import npy
from nd.typing import Array

from .constants import DataType
from .java_util import Arrays, Collections, Random
from .joined import JoinedArrays
from .ops import Blas, OpFactory
from .random_arrays import ORDERS, RandomArrays, is_integer
from .reductions import Reductions

if TYPE_CHECKING:
    import os

    from nd.execution.memory_manager import MemoryManager


__all__ = ["Arrays", "Collections", "Nd4j", "Random"]


def _type_and_shape(arguments: Sequence[object]) -> tuple[str | None, tuple[int, ...]]:
    """Return the dtype, None for the default, and the shape that ``(DataType.FLOAT, 2, 3)`` or ``([2, 3], 'f')`` say.

    The order of elements in memory is ours.
    """
    dtype = next((str(argument) for argument in arguments if isinstance(argument, DataType)), None)
    shape = [argument for argument in arguments if not (isinstance(argument, str) and argument in (*ORDERS, dtype))]
    axes = shape[0] if len(shape) == 1 and not is_integer(shape[0]) else shape
    if not isinstance(axes, (list, tuple)) or not all(map(is_integer, axes)):
        raise nd.ShapeError(f"Nd4j: a shape must be of whole numbers, got {axes!r}.")
    return dtype, tuple(operator.index(axis) for axis in axes)


def _says_a_shape(data: object, rest: Sequence[object]) -> bool:
    """Tell whether ``create`` makes zeros: ``create(2, 3)``, ``create([2, 3], 'f')``, ``create(x.shape)``."""
    if isinstance(data, (list, tuple)):
        followed = len(rest) == 1 and isinstance(rest[0], str)
        return (followed or (isinstance(data, tuple) and not rest)) and all(map(is_integer, data))
    return is_integer(data) or isinstance(data, DataType)


def _kind(data: Any) -> str | None:
    """Return the dtype of Java's double, int, long or boolean; None of an array, which has its own."""
    if isinstance(data, (list, tuple)):
        kinds = {_kind(element) for element in data}
        return next((kind for kind in ("float64", "int64", "int32", "bool") if kind in kinds), None)
    if hasattr(data, "dtype"):
        return None
    if not is_integer(data):
        return "bool" if isinstance(data, bool) else "float64"
    return "int32" if -(1 << 31) <= data < 1 << 31 else "int64"


def _check_count(who: str, arguments: Sequence[object], least: int, most: int, expected: str) -> None:
    """Raise ArgumentError unless there are as many arguments as Java's methods of that name have."""
    if not least <= len(arguments) <= most:
        raise nd.ArgumentError(f"Nd4j.{who}: expected {expected}, got {[shown(argument) for argument in arguments]}.")


class Nd4j(JoinedArrays, RandomArrays, Reductions):
    """ND4J's factory: every method returns an array of the current backend.

    Notes
    -----
    Vectors ``[n]`` have one axis, as Java's. Source: ND4J ``Nd4j``.
    """

    EPS_THRESHOLD = 1e-5

    @staticmethod
    def create(*arguments: Any) -> Array:
        """Return an array of the default type, of True and False one of bool: ``create(data)``, ``create(data,
        shape)``, ``create(data, rows, columns)``; zeros of a shape for ``create(rows, columns)``,
        ``create(DataType.DOUBLE, rows, columns)``, ``create([rows, columns], 'f')`` and ``create(x.shape)``. An order
        of elements, 'c' or 'f', and a type may follow.
        """
        if not arguments:
            raise nd.ArgumentError("Nd4j.create: expected numbers or a shape, got nothing.")
        data, *rest = arguments
        if _says_a_shape(data, rest):
            return Nd4j.zeros(*arguments)
        if isinstance(data, (list, tuple)) and data and all(map(nd.is_array, data)):  # Java's list of arrays
            data = nd.to_flattened("c", data)
        dtype = next((str(argument) for argument in rest if isinstance(argument, DataType)), None)
        array = nd.create(data, "bool" if dtype is None and _kind(data) == "bool" else dtype)
        shape = [argument for argument in rest if not isinstance(argument, str)]
        if not shape:
            return array
        axes = _type_and_shape(shape)[1]
        return nd.transpose(nd.reshape(array, axes[::-1])) if "f" in rest else nd.reshape(array, axes)

    @staticmethod
    def createFromArray(*values: object) -> Array:
        """Return an array of numbers, ``createFromArray(1.0, 2.0)``, or of nested lists, of the type that Java takes:
        float64, of whole numbers int32 or int64, bool; an array keeps its own."""
        is_list = len(values) == 1 and (isinstance(values[0], (list, tuple)) or hasattr(values[0], "shape"))
        data = values[0] if is_list else values
        return nd.create(data, _kind(data))

    @staticmethod
    def scalar(*type_and_value: Any) -> Array:
        """Return a scalar array ``[]``: ``scalar(2.5)`` of a type as `createFromArray`, ``scalar(DataType.INT, 2)``."""
        _check_count("scalar", type_and_value, 1, 2, "a value, perhaps behind a type")
        *dtype, value = type_and_value
        kind = str(dtype[0]) if dtype else _kind(value)
        return nd.create(int(value) if str(kind).startswith("int") and not hasattr(value, "shape") else value, kind)

    @staticmethod
    def empty(dtype: DataType | None = None) -> Array:
        """Return an array without elements, ``[0]``."""
        return nd.zeros(0, dtype=None if dtype is None else str(dtype))

    @staticmethod
    def zeros(*arguments: object) -> Array:
        """Return zeros of a shape, ``zeros(2, 3)``, ``zeros(DataType.DOUBLE, 2, 3)`` or ``zeros([2, 3], 'f')``."""
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
    def valueArrayOf(shape: object, *rest: Any) -> Array:
        """Return an array of one value: ``valueArrayOf(shape, value)`` or ``valueArrayOf(rows, columns, value)``."""
        numbers = [argument for argument in rest if not isinstance(argument, DataType)]
        types = [argument for argument in rest if isinstance(argument, DataType)]
        if not numbers:
            raise nd.ArgumentError(f"Nd4j.valueArrayOf: expected a shape and a value, got {shown(shape)} alone.")
        *more, value = numbers
        dtype, axes = _type_and_shape([shape, *more, *types])
        return nd.full(*axes, value=value, dtype=dtype)

    @staticmethod
    def eye(n: int) -> Array:
        """Return the identity matrix ``[n, n]``."""
        return nd.eye(n)

    @staticmethod
    def linspace(*arguments: Any) -> Array:
        """Return numbers at equal distances: ``linspace(first, last, count)``, both ends included, of a type that may
        follow; a single one as a scalar ``[]``.

        Notes
        -----
        With the type first Java takes something else: ``linspace(DataType.FLOAT, first, step, count)`` where one of the
        numbers has a point, and ``linspace(DataType.FLOAT, first, count, step)`` where all are integers.
        """
        numbers = [argument for argument in arguments if not isinstance(argument, DataType)]
        _check_count("linspace", numbers, 3, 3, "first, last and count, or with a type before them first, step, count")
        first, second, third = numbers
        dtype = next((str(argument) for argument in arguments if isinstance(argument, DataType)), nd.default_dtype())
        computed = dtype if dtype.startswith("float") else "float64"
        if isinstance(arguments[0], DataType):
            all_integers = all(map(is_integer, (first, second, third)))
            step, count = (third, second) if all_integers else (second, third)
            spaced = nd.add(nd.multiply(nd.arange(0, int(count), computed), float(step)), float(first))
        else:
            count = int(third)
            part = nd.divide(nd.arange(0, count, computed), float(max(count - 1, 1)))
            spaced = nd.add(nd.multiply(nd.subtract(1.0, part), float(first)), nd.multiply(part, float(second)))
        return nd.astype(nd.reshape(spaced, ()) if count == 1 else spaced, dtype)

    @staticmethod
    def arange(*ends_and_step: float) -> Array:
        """Return numbers from the first up to, not including, the last: ``arange(stop)``, ``arange(start, stop)``,
        ``arange(start, stop, step)``. Downwards Java ends early: ``arange(5, 0, -2)`` is 5 and 3."""
        _check_count("arange", ends_and_step, 1, 3, "a stop, start and stop, or start, stop and step")
        start, stop, step = {1: (0.0, *ends_and_step, 1.0), 2: (*ends_and_step, 1.0)}.get(
            len(ends_and_step), ends_and_step
        )
        if not (stop - start) * step >= 0 or step == 0:
            raise nd.ArgumentError(f"Nd4j.arange: the step must lead from {start} to {stop}, got {step}.")
        count = int((stop - start) / step)
        count += start + count * step < stop
        return nd.add(nd.multiply(nd.arange(0, count, nd.default_dtype()), float(step)), float(start))

    @staticmethod
    def diag(x: Array) -> Array:
        """Return the matrix ``[n, n]`` with a vector's elements on its diagonal, or a matrix's diagonal ``[n]``."""
        if x.ndim < 2 or 1 in x.shape:
            n = math.prod(x.shape)
            return nd.where(nd.eye(n, "bool"), nd.reshape(x, (1, n)), nd.zeros(1, 1, dtype=nd.dtype_name(x)))
        if x.ndim != 2 or x.shape[0] != x.shape[1]:
            raise nd.ShapeError(f"Nd4j.diag: expected a vector or a square matrix, got {list(x.shape)}.")
        return nd.copy(standard.diagonal(x))

    @staticmethod
    def tri(n: int, *columns_and_diagonal: int) -> Array:
        """Return ones up to the diagonal and zeros above: ``tri(n)``, ``tri(n, k)``, ``tri(rows, columns, k)``."""
        _check_count("tri", columns_and_diagonal, 0, 2, "n, n and k, or rows, columns and k")
        columns, k = {0: (n, 0), 1: (n, *columns_and_diagonal)}.get(len(columns_and_diagonal), columns_and_diagonal)
        return standard.tril(nd.ones(n, columns), k=k)

    @staticmethod
    def triu(x: Array, k: int) -> Array:
        """Return a matrix with zeros below the k-th diagonal."""
        return standard.triu(x, k=k)

    @staticmethod
    def meshgrid(x: Array, y: Array) -> list[Array]:
        """Return x in every row and y in every column, both ``[len(y), len(x)]``."""
        return [nd.copy(grid) for grid in standard.meshgrid(x, y)]

    @staticmethod
    def copy(source: Array, target: Array) -> None:
        """Write the elements of one array into another of as many."""
        nd.assign(target, nd.reshape(source, target.shape))

    @staticmethod
    def clearNans(x: Array) -> None:
        """Write 1e-5 where there is NaN."""
        nd.assign(x, nd.where(nd.equal(x, x), x, Nd4j.EPS_THRESHOLD))

    @staticmethod
    def gemm(a: Array, b: Array, *rest: Any) -> Array:
        """Return the product: ``gemm(a, b, transpose_a, transpose_b)``, or into c: ``gemm(a, b, c, ...)``."""
        c = rest[0] if rest and nd.is_array(rest[0]) else None
        flags = rest if c is None else rest[1:]
        _check_count("gemm", flags, 0, 4, "a, b, perhaps c, then transpose_a, transpose_b, alpha and beta")
        return nd.gemm(a, b, c, **dict(zip(("transpose_a", "transpose_b", "alpha", "beta"), flags, strict=False)))

    @staticmethod
    def matmul(a: Array, b: Array, *rest: Any) -> Array:
        """Return the product of matrices, of vectors or of stacks of matrices: ``matmul(a, b)``, into c where it is
        given, ``matmul(a, b, c)``, then perhaps whether a, b and the result are transposed."""
        c = rest[0] if rest and nd.is_array(rest[0]) else None
        flags = rest if c is None else rest[1:]
        _check_count("matmul", flags, 0, 3, "a, b, perhaps c, then whether a, b and the result are transposed")
        flags = (*flags, False, False, False)[:3]
        a, b = (_turned(matrix, turn) for matrix, turn in zip((a, b), flags, strict=False))
        product = _turned(standard.matmul(a, b), flags[2])
        return product if c is None else nd.assign(c, product)

    @staticmethod
    def tensorMmul(a: Array, b: Array, axes: Sequence[Sequence[int]]) -> Array:
        """Return the sums of products over axes of a and as many of b: ``tensorMmul(a, b, [[1], [0]])``."""
        return standard.tensordot(a, b, axes=(tuple(axes[0]), tuple(axes[1])))

    @staticmethod
    def exec(op: Any, rng: Any = None) -> Array:
        """Run an op of `nd.ops`; one that draws with this thread's generator where none is given."""
        return nd.execRandom(op, rng) if op.random else nd.exec(op)

    @staticmethod
    def getExecutioner() -> type[Nd4j]:
        """Return the object with `exec`."""
        return Nd4j

    @staticmethod
    def getBlasWrapper() -> type[Blas]:
        """Return the object with Java's operations of BLAS."""
        return Blas

    @staticmethod
    def getOpFactory() -> type[OpFactory]:
        """Return the object with `createTransform`."""
        return OpFactory

    @staticmethod
    def createFromNpyFile(path: str | os.PathLike[str]) -> Array:
        """Read a ``.npy`` file."""
        return nd.create(npy.read_npy(path))

    readNpy = createFromNpyFile

    @staticmethod
    def writeAsNumpy(x: Array, path: str | os.PathLike[str]) -> None:
        """Write a ``.npy`` file."""
        npy.write_npy(path, nd.to_host(x))

    @staticmethod
    def setDefaultDataTypes(first: DataType, second: DataType | None = None) -> None:
        """Set the type of arrays and networks that do not say theirs, of this thread."""
        nd.set_default_dtype(str(first))

    setDataType = setDefaultDataTypes

    @staticmethod
    def dataType() -> DataType:
        """Return the type of arrays that do not say theirs."""
        return DataType(nd.default_dtype())

    defaultFloatingPointType = dataType

    @staticmethod
    def order() -> str:
        """Return 'c', the default order of elements."""
        return "c"

    @staticmethod
    def getMemoryManager() -> MemoryManager:
        """Return the object that takes Java's calls about memory."""
        return nd.get_memory_manager()


def _turned(x: Array, turn: bool) -> Array:
    """Return x with its last two axes exchanged, where it is to be turned and has two."""
    if not turn or x.ndim < 2:
        return x
    return nd.permute(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))
