"""Functions of an array and of one that lies along some of its axes. Source: org.nd4j.linalg.api.ops.impl.broadcast."""

from __future__ import annotations

from backends.base import Backend
from backends.errors import ShapeError, describe_shape
from nd.arguments import checked

from .base import Array, Dimension, Op, normal_axes


class Broadcast(Op):
    """A function of x and of y repeated along the other axes, ``Op(x, y, z=None, dimension=1)``.

    Parameters
    ----------
    x : array
    y : array
        Its axes, without those of length 1, are the axes `dimension` of x.
    z : array, optional
        See `Op`.
    dimension : int or tuple of int
        Axes of x along which y lies; 1 for a row ``[n_out]`` under ``[N, n_out]``, or channels under ``[N, C, H, W]``.

    Raises
    ------
    ShapeError
        y does not have the lengths of those axes.
    DTypeError
        x and y differ in dtype.
    """

    y: Array

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None, dimension: Dimension = 1) -> None:
        super().__init__(x, y, z)
        self.check_array("y", y)
        self.axes = normal_axes(self.who, dimension, x)
        lengths = [x.shape[axis] for axis in self.axes]
        if [n for n in y.shape if n != 1] != [n for n in lengths if n != 1]:
            raise ShapeError(
                f"{self.who}: y must be {describe_shape(lengths)} along dimension {dimension} of x "
                f"{describe_shape(x.shape)}, got {describe_shape(y.shape)}. Name the axes of x along which y lies."
            )
        self.check_same_dtype(x, y)

    def _spread(self, backend: Backend) -> Array:
        """Return y with axes of length 1 along the axes of x that it does not have."""
        return backend.reshape(self.y, tuple(n if axis in self.axes else 1 for axis, n in enumerate(self.x.shape)))


class BroadcastAdd(Broadcast):
    """x + y."""

    java_number = 0

    def _compute(self, backend: Backend) -> Array:
        return backend.add(self.x, self._spread(backend), self.z)


class BroadcastCopy(Broadcast):
    """y; x only says how large it becomes."""

    java_number = 6

    def _compute(self, backend: Backend) -> Array:
        target = backend.empty(self.x.shape, backend.dtype_name(self.x)) if self.z is None else self.z
        return backend.assign(target, self._spread(backend))


class BroadcastDiv(Broadcast):
    """x / y."""

    java_number = 3

    def _compute(self, backend: Backend) -> Array:
        return backend.divide(self.x, self._spread(backend), self.z)


class BroadcastMul(Broadcast):
    """x * y."""

    java_number = 2

    def _compute(self, backend: Backend) -> Array:
        return backend.multiply(self.x, self._spread(backend), self.z)


class BroadcastRDiv(Broadcast):
    """y / x."""

    java_number = 4

    def _compute(self, backend: Backend) -> Array:
        return backend.divide(self._spread(backend), self.x, self.z)


class BroadcastRSub(Broadcast):
    """y - x."""

    java_number = 5

    def _compute(self, backend: Backend) -> Array:
        return backend.subtract(self._spread(backend), self.x, self.z)


class BroadcastSub(Broadcast):
    """x - y."""

    java_number = 1

    def _compute(self, backend: Backend) -> Array:
        return backend.subtract(self.x, self._spread(backend), self.z)
