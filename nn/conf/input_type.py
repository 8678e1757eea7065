"""Input of a layer: the kind of activations and their size per example."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.arguments import Checked, Count, shown


@dataclass(frozen=True)
class InputType(Checked):
    """Kind and size of activations; make one with the functions below.

    Examples
    --------
    >>> InputType.convolutional(28, 28, 1)
    convolutional(28x28x1)
    >>> InputType.convolutional_flat(28, 28, 1).shape
    (784,)
    """

    java_names: ClassVar[dict[str, str]] = {"convolutional3_d": "convolutional3d"}

    @property
    def shape(self) -> tuple[Any, ...]:
        """Shape of one example; None for an axis whose length is not known."""
        raise NotImplementedError

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes in `shape` that are known."""
        return tuple(axis for axis in self.shape if axis is not None)

    @property
    def size(self) -> int:
        """Numbers in one example; in one time step where there are such."""
        return math.prod(self.shape)

    @staticmethod
    def feed_forward(size: int) -> FeedForwardType:
        """``[N, size]``."""
        return FeedForwardType(size)

    @staticmethod
    def convolutional(height: int, width: int, channels: int) -> ConvolutionalType:
        """``[N, channels, height, width]``."""
        return ConvolutionalType(height, width, channels)

    @staticmethod
    def convolutional3d(depth: int, height: int, width: int, channels: int) -> Convolutional3DType:
        """``[N, channels, depth, height, width]``."""
        return Convolutional3DType(depth, height, width, channels)

    @staticmethod
    def recurrent(size: int, time_series_length: int | None = None) -> RecurrentType:
        """``[N, size, time_series_length]``; None where the length differs from minibatch to minibatch."""
        return RecurrentType(size, time_series_length)

    @staticmethod
    def infer_input_type(x: Any) -> InputType:
        """Return the type of an array ``[N, ...]`` of 2 to 5 axes; raise ShapeError or DTypeError for anything else."""
        if not nd.is_array(x):
            raise nd.DTypeError(f"infer_input_type: expected an array, got {shown(x)}. Make one with nd.create.")
        shape = tuple(x.shape)
        if len(shape) not in (2, 3, 4, 5):
            raise nd.ShapeError(f"infer_input_type: expected 2 to 5 axes, got {list(shape)}. Reshape it.")
        _, channels, *places = shape
        kinds = (FeedForwardType, RecurrentType, ConvolutionalType, Convolutional3DType)
        return kinds[len(places)](*((channels, *places) if len(places) < 2 else (*places, channels)))

    @staticmethod
    def infer_input_types(*arrays: Any) -> list[InputType]:
        """Return `infer_input_type` of every array."""
        return [InputType.infer_input_type(x) for x in arrays]

    @staticmethod
    def convolutional_flat(height: int, width: int, channels: int) -> ConvolutionalFlatType:
        """``[N, channels * height * width]``: images as rows."""
        return ConvolutionalFlatType(height, width, channels)


@dataclass(frozen=True, repr=False)
class FeedForwardType(InputType):
    """``[N, n]``."""

    n: Count

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.n,)

    def __repr__(self) -> str:
        return f"feed_forward({self.n})"


@dataclass(frozen=True, repr=False)
class ConvolutionalType(InputType):
    """``[N, C, H, W]``."""

    height: Count
    width: Count
    channels: Count

    @property
    def shape(self) -> tuple[int, ...]:
        return self.channels, self.height, self.width

    def __repr__(self) -> str:
        return f"convolutional({self.height}x{self.width}x{self.channels})"


@dataclass(frozen=True, repr=False)
class ConvolutionalFlatType(InputType):
    """``[N, C * H * W]``, images as rows in c order."""

    height: Count
    width: Count
    channels: Count

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.channels * self.height * self.width,)

    def __repr__(self) -> str:
        return f"convolutional_flat({self.height}x{self.width}x{self.channels})"


@dataclass(frozen=True, repr=False)
class Convolutional3DType(InputType):
    """``[N, C, D, H, W]``."""

    depth: Count
    height: Count
    width: Count
    channels: Count

    @property
    def shape(self) -> tuple[int, ...]:
        return self.channels, self.depth, self.height, self.width

    def __repr__(self) -> str:
        return f"convolutional3d({self.depth}x{self.height}x{self.width}x{self.channels})"


@dataclass(frozen=True, repr=False)
class RecurrentType(InputType):
    """``[N, n, T]``: time series, or one-dimensional images of n channels."""

    n: Count
    time_series_length: Count | None = None

    @property
    def shape(self) -> tuple[int | None, ...]:
        return self.n, self.time_series_length

    @property
    def size(self) -> int:
        return self.n

    def __repr__(self) -> str:
        length = "" if self.time_series_length is None else f"x{self.time_series_length}"
        return f"recurrent({self.n}{length})"


def series_of(label: str, input_type: InputType, instead: str = "InputType.recurrent(n, t)") -> RecurrentType:
    """Return the time series that a layer receives; raise ConfigurationError, with what to use, if it is none."""
    if not isinstance(input_type, RecurrentType):
        raise nd.ConfigurationError(f"{label}: expected time series, got {input_type!r}. Use {instead}.")
    return input_type


INPUT_TYPES: dict[str, type[InputType]] = {
    "convolutional": ConvolutionalType,
    "convolutional3d": Convolutional3DType,
    "convolutional_flat": ConvolutionalFlatType,
    "feed_forward": FeedForwardType,
    "recurrent": RecurrentType,
}
"""Name of the function that creates it -> class, sorted."""
