"""Input of a layer: the kind of activations and their size per example."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import nd
from nd.arguments import Checked, Count, shown
from nd.classes import SuggestingType

from .data_formats import IMAGES, SERIES, VOLUMES, arranged, channels_last, check_format


@dataclass(frozen=True)
class InputType(Checked, metaclass=SuggestingType):
    """Kind and size of activations; make one with the functions below.

    Examples
    --------
    >>> InputType.convolutional(28, 28, 1)
    convolutional(28x28x1)
    >>> InputType.convolutional_flat(28, 28, 1).shape
    (784,)
    """

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

    @property
    def format(self) -> str | None:
        """Format of its arrays, None for rows."""
        return getattr(self, "data_format", None)

    @property
    def computed(self) -> InputType:
        """The same with the channels first, as layers compute."""
        return replace(self, data_format=None) if channels_last(self.format) else self  # type: ignore[call-arg]

    @staticmethod
    def feed_forward(size: int) -> FeedForwardType:
        """``[N, size]``."""
        return FeedForwardType(size)

    @staticmethod
    def convolutional(height: int, width: int, channels: int, data_format: str | None = "NCHW") -> ConvolutionalType:
        """``[N, channels, height, width]``, with "NHWC" ``[N, height, width, channels]``."""
        return ConvolutionalType(height, width, channels, data_format)

    @staticmethod
    def convolutional3d(
        depth: Any, height: int, width: int, channels: int, data_format: Any = "NCDHW"
    ) -> Convolutional3DType:
        """``[N, channels, depth, height, width]``, with "NDHWC" ``[N, depth, height, width, channels]``.

        As in Java the format may also come before the sizes.
        """
        if isinstance(depth, str):
            depth, height, width, channels, data_format = height, width, channels, data_format, depth
        return Convolutional3DType(depth, height, width, channels, data_format)

    @staticmethod
    def recurrent(size: int, time_series_length: Any = None, data_format: str | None = "NCW") -> RecurrentType:
        """``[N, size, time_series_length]``, with "NWC" ``[N, time_series_length, size]``.

        The length is None where it differs from minibatch to minibatch; as in Java the format may stand in its place.
        """
        if isinstance(time_series_length, str):
            time_series_length, data_format = None, time_series_length
        return RecurrentType(size, time_series_length, data_format)

    @staticmethod
    def infer_input_type(x: object) -> InputType:
        """Return the type of an array ``[N, ...]`` of 2 to 5 axes; raise ShapeError or DTypeError for anything else."""
        if not nd.is_array(x):
            raise nd.DTypeError(f"infer_input_type: expected an array, got {shown(x)}. Make one with nd.create.")
        shape = tuple(x.shape)
        if len(shape) not in (2, 3, 4, 5):
            raise nd.ShapeError(f"infer_input_type: expected 2 to 5 axes, got {list(shape)}. Reshape it.")
        _, channels, *places = shape
        kinds = (FeedForwardType, RecurrentType, ConvolutionalType, Convolutional3DType)
        sizes = (channels, *places) if len(places) < 2 else (*places, channels)
        make: Any = kinds[len(places)]
        return make(*sizes)

    @staticmethod
    def infer_input_types(*arrays: object) -> list[InputType]:
        """Return `infer_input_type` of every array."""
        return [InputType.infer_input_type(x) for x in arrays]

    @staticmethod
    def convolutional_flat(height: int, width: int, channels: int) -> ConvolutionalFlatType:
        """``[N, channels * height * width]``: images as rows."""
        return ConvolutionalFlatType(height, width, channels)


class _Formatted(InputType):
    """A kind whose channels may come last: ``data_format`` says it."""

    formats: ClassVar[tuple[str, ...]]
    data_format: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        name = check_format("InputType", self.data_format, self.formats)
        object.__setattr__(self, "data_format", name or self.formats[0])

    @property
    def _told(self) -> str:
        """The format where it is not the usual one, for repr."""
        return f", {self.data_format}" if channels_last(self.data_format) else ""


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
class ConvolutionalType(_Formatted):
    """``[N, C, H, W]``, or ``[N, H, W, C]`` with the format NHWC."""

    height: Count
    width: Count
    channels: Count
    data_format: str | None = None
    formats: ClassVar[tuple[str, ...]] = IMAGES

    @property
    def shape(self) -> tuple[int, ...]:
        return arranged((self.channels, self.height, self.width), self.data_format)

    def __repr__(self) -> str:
        return f"convolutional({self.height}x{self.width}x{self.channels}{self._told})"


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
class Convolutional3DType(_Formatted):
    """``[N, C, D, H, W]``, or ``[N, D, H, W, C]`` with the format NDHWC."""

    depth: Count
    height: Count
    width: Count
    channels: Count
    data_format: str | None = None
    formats: ClassVar[tuple[str, ...]] = VOLUMES

    @property
    def shape(self) -> tuple[int, ...]:
        return arranged((self.channels, self.depth, self.height, self.width), self.data_format)

    def __repr__(self) -> str:
        return f"convolutional3d({self.depth}x{self.height}x{self.width}x{self.channels}{self._told})"


@dataclass(frozen=True, repr=False)
class RecurrentType(_Formatted):
    """``[N, n, T]``, or ``[N, T, n]`` with the format NWC: time series, or one-dimensional images of n channels."""

    n: Count
    time_series_length: Count | None = None
    data_format: str | None = None
    formats: ClassVar[tuple[str, ...]] = SERIES

    @property
    def shape(self) -> tuple[int | None, ...]:
        return arranged((self.n, self.time_series_length), self.data_format)

    @property
    def size(self) -> int:
        return self.n

    def __repr__(self) -> str:
        length = "" if self.time_series_length is None else f"x{self.time_series_length}"
        return f"recurrent({self.n}{length}{self._told})"


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
