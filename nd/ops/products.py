"""Products of matrices and vectors, and weighted sums. Source: ND4J's Mmul, BatchMmul, Dot, Axpy, and level 3 BLAS."""

from __future__ import annotations

from typing import Any

from backends.base import Backend
from backends.errors import ShapeError, describe_shape
from nd.arguments import checked
from nd.arrays.arithmetic import batched_gemm, gemm

from .base import Array, Op
from .pairwise import Pairwise


class _Product(Op):
    """A product of matrices."""

    y: Array
    rank = 2

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None) -> None:
        for name, array in (("x", x), ("y", y)):
            self.check_array(name, array)
        stacks = self.rank - 2
        fits = len(x.shape) == len(y.shape) == self.rank and x.shape[-1] == y.shape[-2]
        if not fits or tuple(x.shape[:stacks]) != tuple(y.shape[:stacks]):
            axes = "[B, M, K] and [B, K, N]" if stacks else "[M, K] and [K, N]"
            raise ShapeError(
                f"{self.who}: x and y must be {axes}, got {describe_shape(x.shape)} and {describe_shape(y.shape)}. "
                "Exchange them, or transpose one."
            )
        self.check_same_dtype(x, y)
        super().__init__(x, y, z, (*x.shape[:-1], y.shape[-1]))


class Mmul(_Product):
    """Product of matrices ``x [M, K]`` and ``y [K, N]``, ``Mmul(x, y, z=None)``.

    Parameters
    ----------
    x, y, z : array
        z, where it is given, shares no memory with x or y.

    Raises
    ------
    ShapeError
        The inner axes disagree, or z is not ``[M, N]``.
    DTypeError
        x and y differ in dtype.
    """

    def _compute(self, backend: Backend) -> Array:
        return backend.matmul(self.x, self.y, self.z)


class Gemm(_Product):
    """alpha x y + beta z of matrices, ``Gemm(x, y, z=None, alpha=1.0, beta=0.0)``; without z beta means nothing.

    Parameters
    ----------
    x : array ``[M, K]``
    y : array ``[K, N]``
    z : array ``[M, N]``, optional
        Is added, and receives the result; shares no memory with x or y.
    alpha, beta : float

    Raises
    ------
    ShapeError
        The inner axes disagree, or z is not ``[M, N]``.
    DTypeError
        x and y differ in dtype.
    """

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None, alpha: float = 1.0, beta: float = 0.0) -> None:
        super().__init__(x, y, z)
        self.alpha, self.beta = alpha, beta

    @property
    def extra_args(self) -> tuple[float, ...]:
        return self.alpha, self.beta

    def _compute(self, backend: Backend) -> Array:
        return gemm(self.x, self.y, self.z, alpha=self.alpha, beta=self.beta)


class BatchMmul(_Product):
    """Products of as many matrices ``x [B, M, K]`` and ``y [B, K, N]``, ``BatchMmul(x, y, z=None)``; see `Mmul`."""

    rank = 3

    def _compute(self, backend: Backend) -> Array:
        return batched_gemm(self.x, self.y, self.z)


class Dot(Op):
    """Scalar product of vectors ``[n]``, ``Dot(x, y, z=None)``; z is an array ``[]``.

    Raises
    ------
    ShapeError
        They are not vectors of one length.
    DTypeError
        They differ in dtype.
    """

    java_number = 3
    y: Array

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None) -> None:
        for name, array in (("x", x), ("y", y)):
            self.check_array(name, array)
        if len(x.shape) != 1 or tuple(x.shape) != tuple(y.shape):
            raise ShapeError(
                f"{self.who}: x and y must be vectors of one length, got {describe_shape(x.shape)} and "
                f"{describe_shape(y.shape)}. Flatten them with nd.ravel."
            )
        self.check_same_dtype(x, y)
        super().__init__(x, y, z, ())

    def _compute(self, backend: Backend) -> Array:
        return backend.dot(self.x, self.y, self.z)


class Axpby(Pairwise):
    """alpha x + beta y of vectors ``[n]``, ``Axpby(x, y, z=None, alpha=1.0, beta=1.0)``; z may be x or y.

    Raises
    ------
    ShapeError
        They are not vectors of one length.
    DTypeError
        They differ in dtype.
    """

    y: Array
    scratch: Any = None

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None, alpha: float = 1.0, beta: float = 1.0) -> None:
        super().__init__(x, y, z)
        self.check_array("y", y)
        if len(x.shape) != 1:
            raise ShapeError(
                f"{self.who}: x and y must be vectors, got {describe_shape(x.shape)}. Flatten with nd.ravel."
            )
        self.alpha, self.beta = alpha, beta

    @property
    def extra_args(self) -> tuple[float, ...]:
        return self.alpha, self.beta

    def _compute(self, backend: Backend) -> Array:
        scratch = backend.copy(self.x) if self.scratch is None else self.scratch
        y = self.y if self.z is self.y else backend.copy(self.y)
        return backend.axpby(self.alpha, self.x, self.beta, y, scratch)


class Axpy(Axpby):
    """alpha x + y of vectors ``[n]``, ``Axpy(x, y, z=None, alpha=1.0)``; z may be x or y. Errors as `Axpby`."""

    java_number = 10

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None, alpha: float = 1.0) -> None:
        super().__init__(x, y, z, alpha)

    @property
    def extra_args(self) -> tuple[float, ...]:
        return (self.alpha,)
