"""Blob: an array of a net, and the gradient of the loss with respect to it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any

import nd
from nd.checks import describe_shape
from nd.classes import ExplainedType
from nd.typing import Array

from .blobs import MOST_AXES, MOST_ELEMENTS
from .layers.base import Shape
from .uncopied import Uncopied


class Blob(Uncopied, metaclass=ExplainedType):
    """Data and diff of one shape. What they return is the memory that the net computes with: writing it changes that.

    Parameters
    ----------
    name : str
    shape : tuple of int
    dtype : str
    on_backend : callable
        Returns a block in which the net's backend is the current one.

    Notes
    -----
    Source: BVLC Caffe, blob.hpp and pycaffe's Blob. A net keeps the arrays of its own layers where nobody has asked for
    `data` yet; whoever has it keeps seeing what later passes write.
    """

    instead = "Copy its arrays, nd.copy(blob.data)."

    def __init__(
        self, name: str, shape: Sequence[int], dtype: str, on_backend: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self.name, self.shape = name, tuple(shape)
        self._dtype, self._on_backend = dtype, on_backend
        self._arrays: dict[str, Array] = {}
        self._asked: set[str] = set()
        self.missing: str | None = None
        """Why there is nothing to read: the last pass has not kept it. None where there is."""
        self.is_rewritten = False
        """Whether a layer in place writes it: then what somebody has is no memory that other layers read."""

    # ---- for users

    @property
    def data(self) -> Array:
        """The numbers, of its shape; raise ConfigurationError where the last step has not kept them."""
        return self._asked_for("data")

    @data.setter
    def data(self, values: object) -> None:
        self.write("data", values)

    @property
    def diff(self) -> Array:
        """Gradient of the loss, of its shape; zeros where none has come. Errors as `data`."""
        return self._asked_for("diff")

    @diff.setter
    def diff(self, values: object) -> None:
        self.write("diff", values)

    @property
    def count(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def num_axes(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def num(self) -> int:
        """Length of axis 0, 1 where there is none; raise ShapeError for more than four axes."""
        return self._legacy(0)

    @property
    def channels(self) -> int:
        """Length of axis 1; as `num`."""
        return self._legacy(1)

    @property
    def height(self) -> int:
        """Length of axis 2; as `num`."""
        return self._legacy(2)

    @property
    def width(self) -> int:
        """Length of axis 3; as `num`."""
        return self._legacy(3)

    def reshape(self, *shape: Any) -> None:
        """Take another shape: ``blob.reshape(1, 3, 32, 32)``. Where the number of elements stays, so do they.

        Raises
        ------
        ShapeError
            A length is negative, or there are more than 32 axes or 2**31 - 1 elements.
        """
        given = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
        sizes = tuple(int(length) for length in given)
        if len(sizes) > MOST_AXES or any(length < 0 for length in sizes) or math.prod(sizes) > MOST_ELEMENTS:
            raise nd.ShapeError(
                f"blob {self.name!r}: a shape must have at most {MOST_AXES} axes, none negative, and {MOST_ELEMENTS:,} "
                f"elements, got {describe_shape(sizes)}."
            )
        self.resize(sizes)

    def copy_from(self, other: Blob, copy_diff: bool = False, reshape: bool = False) -> None:
        """Copy another blob's data, or its diff; raise ShapeError unless shapes are equal or `reshape` is true."""
        if reshape:
            self.reshape(*other.shape)
        name = "diff" if copy_diff else "data"
        self.write(name, getattr(other, name))

    def update(self) -> None:
        """Subtract the diff from the data."""
        with self._on_backend():
            nd.subi(self._asked_for("data"), self._asked_for("diff"))

    def scale_data(self, factor: float) -> None:
        """Multiply the data by a number."""
        with self._on_backend():
            nd.muli(self._asked_for("data"), factor)

    def scale_diff(self, factor: float) -> None:
        """Multiply the diff by a number."""
        with self._on_backend():
            nd.muli(self._asked_for("diff"), factor)

    def asum_data(self) -> float:
        """Return the sum of the absolute values of the data."""
        return self._summed("data", nd.absolute)

    def asum_diff(self) -> float:
        """Return the sum of the absolute values of the diff."""
        return self._summed("diff", nd.absolute)

    def sumsq_data(self) -> float:
        """Return the sum of the squares of the data."""
        return self._summed("data", nd.square)

    def sumsq_diff(self) -> float:
        """Return the sum of the squares of the diff."""
        return self._summed("diff", nd.square)

    # ---- for nets

    def read(self, name: str) -> Array:
        """Return the data or the diff for the net itself, which asks for nothing to be kept."""
        if name not in self._arrays:
            with self._on_backend():
                self._arrays[name] = nd.zeros(*self.shape, dtype=self._dtype)
        return self._arrays[name]

    def has(self, name: str) -> bool:
        """Tell whether there is such an array: one that was written, or asked for."""
        return name in self._arrays

    def is_asked(self, name: str) -> bool:
        """Tell whether somebody has the array."""
        return name in self._asked

    def put(self, name: str, array: Array) -> Array:
        """Take over an array that a layer has made, or copy it into the one that somebody has; return what it is now.

        On the net's backend.
        """
        shape, own = tuple(array.shape), self._arrays.get(name)
        if shape != self.shape:
            self.resize(shape)
            own = self._arrays.get(name)
        if array is own:
            return array
        if not shape:  # which may be one of the host's numbers, that cannot be written to
            return nd.assign(self.read(name), array)
        if own is None or name not in self._asked:
            self._arrays[name] = array
            return array
        return nd.assign(own, array)

    def hold(self, name: str, array: Array) -> None:
        """Show an array of the blob's shape from now on, whoever has another one."""
        self._arrays[name] = array

    def write(self, name: str, values: object) -> None:
        """Copy numbers, or one for all, into the data or the diff; raise ShapeError where they do not fit."""
        with self._on_backend():
            array = nd.as_array(values, self._dtype)
            if array.shape and tuple(array.shape) != self.shape:
                raise nd.ShapeError(
                    f"blob {self.name!r}: expected {describe_shape(self.shape)}, got {describe_shape(array.shape)}. "
                    "Reshape the blob before, and the net after it: net.reshape()."
                )
            nd.assign(self.read(name), array)
        self.missing = None

    def resize(self, shape: Shape) -> None:
        """Take another shape; arrays of as many elements stay in another shape, others are made anew."""
        if shape == self.shape:
            return
        stays = math.prod(shape) == self.count
        self.shape = shape
        with self._on_backend():
            self._arrays = {
                name: nd.reshape(array, shape) if stays else nd.zeros(*shape, dtype=self._dtype)
                for name, array in self._arrays.items()
                if stays or name in self._asked
            }

    def forget(self, name: str) -> None:
        """Make an array zeros, in its memory where somebody has it."""
        if name in self._arrays:
            with self._on_backend():
                nd.fill(self._arrays[name], 0.0)

    def check_there(self, name: str) -> None:
        """Raise ConfigurationError where the last step has not kept the data or the diff."""
        if self.missing is not None:
            raise nd.ConfigurationError(f"blob {self.name!r}: {name} {self.missing}")

    def _asked_for(self, name: str) -> Array:
        self.check_there(name)
        array = self.read(name)
        if self.is_rewritten and name not in self._asked:
            with self._on_backend():
                array = self._arrays[name] = nd.copy(array)
        self._asked.add(name)
        return array

    def _legacy(self, axis: int) -> int:
        if len(self.shape) > 4:
            raise nd.ShapeError(
                f"blob {self.name!r}: num, channels, height and width need at most four axes, got "
                f"{describe_shape(self.shape)}. Read shape."
            )
        return self.shape[axis] if axis < len(self.shape) else 1

    def _summed(self, name: str, function: Callable[[Array], Array]) -> float:
        array = self._asked_for(name)
        with self._on_backend():
            return nd.item(nd.sum(function(array)))

    def __repr__(self) -> str:
        return f"<Blob {self.name!r} {describe_shape(self.shape)}>"


class ParamBlob(Blob):
    """A parameter: views of the net's flat vectors.

    Parameters
    ----------
    data, diff : array
        Of the parameter's shape.
    before_diff : callable
        Called before somebody reads the diff, so that it is all there.
    """

    def __init__(self, name: str, data: Array, diff: Array, on_backend: Any, before_diff: Callable[[], object]) -> None:
        super().__init__(name, tuple(data.shape), nd.dtype_name(data), on_backend)
        self._arrays = {"data": data, "diff": diff}
        self._before_diff = before_diff

    def read(self, name: str) -> Array:
        if name == "diff":
            self._before_diff()
        return super().read(name)

    def share_data(self, other: Blob) -> None:
        """Take the memory of another net's parameter as data, which is then that of both."""
        self._arrays["data"] = other.read("data")

    def resize(self, shape: Shape) -> None:
        if shape != self.shape:
            raise nd.ShapeError(
                f"blob {self.name!r}: a parameter must keep its shape {describe_shape(self.shape)}, got "
                f"{describe_shape(shape)}."
            )
