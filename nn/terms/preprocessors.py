"""Preprocessors between layers of different kinds: changes of shape, forward and back.

All are views of arrays in the backend's preferred memory order, or copies where the order of numbers has to change.
Those of time series are in `series_preprocessors`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import nd
from nd.arguments import Checked, Count
from nd.checks import check_shape
from nd.on_demand import ClassTable
from nd.part import Part, undefined
from nd.typing import Array

from .data_formats import (
    IMAGES,
    ROWS,
    VOLUMES,
    agreed_format,
    channels_last,
    check_format,
    rows_of,
    same_kind,
)
from .input_type import (
    Convolutional3DType,
    ConvolutionalFlatType,
    ConvolutionalType,
    FeedForwardType,
    InputType,
    RecurrentType,
)

Buffers = Callable[..., Array]


def memory(buffers: Buffers | None, x: Array) -> Buffers:
    """Return a network's memory, or an allocator of arrays of x's dtype where there is none."""
    return buffers or (lambda name, shape: nd.create_uninitialized(*shape, dtype=nd.dtype_name(x)))


@dataclass(frozen=True)
class InputPreProcessor(Part, Checked):
    """Changes the shape of activations before a layer, and that of epsilon after it.

    It gets activations with the channels first, whatever the network's format: one that makes rows of them, or them of
    rows, orders the numbers of a row as the format says. `takes` and `gives` are the formats of its input and its
    output; where there are two the data_format says which.
    """

    takes: ClassVar[tuple[str, ...]] = ()
    gives: ClassVar[tuple[str, ...]] = ()

    @property
    def said_format(self) -> str | None:
        """The format of the input that the settings say, None where they say none."""
        return getattr(self, "data_format", None)

    def in_format(self, who: str, incoming: str | None, wanted: str | None = None) -> tuple[Self, str | None]:
        """Return a copy in the format of what comes in, and the format of its output.

        Where rows come in, a format that is not said is the one that the layer behind wants.

        Raises
        ------
        ConfigurationError
            Something else comes in than the settings say.
        """
        if not self.gives:  # one of the user's own, which tells nothing
            return self, None
        own = self.said_format
        if len(self.takes) > 1 and self.takes is not ROWS:
            own = agreed_format(who, own, self.takes, incoming if same_kind(incoming, self.takes[0]) else None)
            out = rows_of(own) if self.gives is ROWS else self.gives[0]
            return self._said(own), out if incoming != ROWS[0] or self.gives is not ROWS else incoming
        agreed_format(who, None, self.takes, incoming)
        if same_kind(incoming, self.gives[0]):  # which passes
            own = agreed_format(who, own, self.gives, incoming)
        likely = wanted if wanted in self.gives else self.gives[min(incoming == ROWS[1], len(self.gives) - 1)]
        own = own or likely
        return self._said(own), own

    def _said(self, data_format: str | None) -> Self:
        """Return a copy of that format, where it has one."""
        return self

    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        """Return the layer's input.

        Parameters
        ----------
        x : array
            Activations of the layer before.
        examples : int
            N of the minibatch: rows that are time steps do not tell it.
        buffers : callable (name, shape) -> array, optional
            Memory where they have to be copied; by default it is allocated.
        """
        undefined(self, "pre_process(x, examples, buffers=None)", "the input of the layer")

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        """Return epsilon in the shape that `pre_process` received."""
        undefined(self, "backprop(epsilon, examples, buffers=None)", "epsilon in the shape that came in")

    def output_type(self, input_type: InputType) -> InputType:
        """Return the type of the layer's input."""
        undefined(self, "output_type(input_type)", "the type of the layer's input")

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        """Return the mask of the layer's input, from that of the preprocessor's."""
        return mask


class WithFormat(InputPreProcessor):
    """With a format of images, or of series, under `key` in Java's JSON."""

    key: ClassVar[str]
    data_format: str | None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "data_format", check_format(type(self).__name__, self.data_format, self.formats))

    @property
    def formats(self) -> tuple[str, ...]:
        """Those that it can have, the usual one first."""
        return self.takes if len(self.takes) > 1 and self.takes is not ROWS else self.gives

    def _said(self, data_format: str | None) -> Self:
        return self if data_format == self.data_format else replace(self, data_format=data_format)  # type: ignore[call-arg]


@dataclass(frozen=True)
class OfShape(InputPreProcessor):
    """Between rows and examples of one fixed shape; an input that has the other side's shape already passes."""

    @property
    def image(self) -> tuple[int, ...]:
        """Shape of one example that is no row, the channels first."""
        raise NotImplementedError

    @property
    def last(self) -> bool:
        """Whether a row has the channels of a place beside each other."""
        return channels_last(self.said_format)

    @property
    def features(self) -> int:
        """Numbers in one example."""
        return math.prod(self.image)

    def from_row(self, rows: Array) -> Array:
        """View rows ``[N, features]`` as ``[N, *image]``."""
        channels, *places = self.image
        if not self.last:
            return nd.reshape(rows, (rows.shape[0], channels, *places))
        axes = len(places)
        return nd.permute(nd.reshape(rows, (rows.shape[0], *places, channels)), (0, axes + 1, *range(1, axes + 1)))

    @property
    def _image_type(self) -> InputType:
        """The type of such examples."""
        raise NotImplementedError


@dataclass(frozen=True)
class OfImage(OfShape):
    """Between images of one shape and something else."""

    input_height: Count
    input_width: Count
    num_channels: Count

    @property
    def image(self) -> tuple[int, ...]:
        return self.num_channels, self.input_height, self.input_width

    @property
    def _image_type(self) -> InputType:
        return ConvolutionalType(self.input_height, self.input_width, self.num_channels)


@dataclass(frozen=True)
class _ToRows(OfShape):
    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        if x.ndim == 2:
            check_shape(type(self).__name__, x.shape, ("N", self.features))
            return x
        check_shape(type(self).__name__, x.shape, ("N", *self.image))
        x = nd.permute(x, (0, *range(2, x.ndim), 1)) if self.last else x
        return nd.reshape(nd.to_activation_order(x, memory(buffers, x)), (x.shape[0], self.features))

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return nd.to_image_order(self.from_row(epsilon), memory(buffers, epsilon))

    def output_type(self, input_type: InputType) -> InputType:
        return FeedForwardType(self.features)

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        if mask.ndim == 2:
            return mask
        if math.prod(mask.shape[1:]) > 1:
            raise nd.ShapeError(
                f"{type(self).__name__}: a mask must say which examples count, [N{', 1' * (mask.ndim - 1)}], got "
                f"{list(mask.shape)}: rows have no places. Pool globally before, or mask whole examples."
            )
        return nd.reshape(mask, (mask.shape[0], 1))


@dataclass(frozen=True)
class _FromRows(OfShape):
    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        if x.ndim == len(self.image) + 1:
            check_shape(type(self).__name__, x.shape, ("N", *self.image))
            return x
        check_shape(type(self).__name__, x.shape, ("N", self.features))
        return self.from_row(nd.to_activation_order(x, memory(buffers, x)))

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        if self.last:
            epsilon = nd.permute(epsilon, (0, *range(2, epsilon.ndim), 1))
        return nd.reshape(epsilon, (epsilon.shape[0], self.features))

    def output_type(self, input_type: InputType) -> InputType:
        return self._image_type

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        return nd.reshape(mask, (mask.shape[0], *(1 for _ in self.image))) if mask.ndim == 2 else mask


@dataclass(frozen=True)
class _Volume(OfShape):
    input_depth: Count
    input_height: Count
    input_width: Count
    num_channels: Count
    ncdhw: bool | None = True

    @property
    def image(self) -> tuple[int, ...]:
        return self.num_channels, self.input_depth, self.input_height, self.input_width

    @property
    def said_format(self) -> str | None:
        return None if self.ncdhw is None else VOLUMES[not self.ncdhw]

    def _said(self, data_format: str | None) -> Self:
        return replace(self, ncdhw=data_format == VOLUMES[0])

    @property
    def _image_type(self) -> InputType:
        return Convolutional3DType(self.input_depth, self.input_height, self.input_width, self.num_channels)


@dataclass(frozen=True)
class FeedForwardToCnnPreProcessor(_FromRows, OfImage):
    """Rows ``[N, C * H * W]`` to images ``[N, C, H, W]``, in c order; images pass.

    Notes
    -----
    Source: DL4J ``FeedForwardToCnnPreProcessor``.
    """

    pure = splits = True
    takes, gives = ROWS, IMAGES[:1]


@dataclass(frozen=True)
class CnnToFeedForwardPreProcessor(WithFormat, _ToRows, OfImage):
    """Images ``[N, C, H, W]`` to rows ``[N, C * H * W]``, in c order; rows pass.

    Parameters
    ----------
    input_height, input_width, num_channels : int
    data_format : {"NCHW", "NHWC"}, optional
        With NHWC the images are ``[N, H, W, C]`` and the rows ``[N, H * W * C]``. None where a network is to find out.

    Notes
    -----
    Source: DL4J ``CnnToFeedForwardPreProcessor``.
    """

    data_format: str | None = IMAGES[0]
    pure = splits = True
    takes, gives = IMAGES, ROWS
    key = "format"


@dataclass(frozen=True)
class FeedForwardToCnn3DPreProcessor(_FromRows, _Volume):
    """Rows ``[N, C * D * H * W]`` to volumes ``[N, C, D, H, W]``, in c order; volumes pass.

    Parameters
    ----------
    input_depth, input_height, input_width, num_channels : int
    ncdhw : bool, optional
        False: the volumes are ``[N, D, H, W, C]`` and the rows ``[N, D * H * W * C]``. None where a network is to find
        out.

    Notes
    -----
    Source: DL4J ``FeedForwardToCnn3DPreProcessor``.
    """

    pure = splits = True
    takes, gives = ROWS, VOLUMES


@dataclass(frozen=True)
class Cnn3DToFeedForwardPreProcessor(_ToRows, _Volume):
    """Volumes ``[N, C, D, H, W]`` to rows ``[N, C * D * H * W]``, in c order; rows pass.

    Parameters are those of `FeedForwardToCnn3DPreProcessor`.

    Notes
    -----
    Source: DL4J ``Cnn3DToFeedForwardPreProcessor``.
    """

    pure = splits = True
    takes, gives = VOLUMES, ROWS


PREPROCESSORS: ClassTable[type[InputPreProcessor]] = ClassTable(
    "nn",
    {
        "cnn3d_to_feed_forward": "Cnn3DToFeedForwardPreProcessor",
        "cnn_to_feed_forward": "CnnToFeedForwardPreProcessor",
        "cnn_to_rnn": "CnnToRnnPreProcessor",
        "feed_forward_to_cnn": "FeedForwardToCnnPreProcessor",
        "feed_forward_to_cnn3d": "FeedForwardToCnn3DPreProcessor",
        "feed_forward_to_rnn": "FeedForwardToRnnPreProcessor",
        "rnn_to_cnn": "RnnToCnnPreProcessor",
        "rnn_to_feed_forward": "RnnToFeedForwardPreProcessor",
    },
)
"""Name -> class, sorted."""


def to_images(input_type: InputType) -> InputPreProcessor | None:
    """Return the preprocessor from that input to images; None where it is images already, or cannot be."""
    if isinstance(input_type, ConvolutionalFlatType):
        return FeedForwardToCnnPreProcessor(input_type.height, input_type.width, input_type.channels)
    return None


def to_series(input_type: InputType) -> InputPreProcessor | None:
    """Return the preprocessor from that input to time series; None where it is such already, or cannot be."""
    from .series_preprocessors import CnnToRnnPreProcessor, FeedForwardToRnnPreProcessor

    if isinstance(input_type, FeedForwardType):
        return FeedForwardToRnnPreProcessor(None)
    if isinstance(input_type, ConvolutionalType):
        return CnnToRnnPreProcessor(input_type.height, input_type.width, input_type.channels, None)
    return None


def to_rows(input_type: InputType) -> InputPreProcessor | None:
    """Return the preprocessor from that input to rows; None where it is rows already."""
    if isinstance(input_type, ConvolutionalType):
        return CnnToFeedForwardPreProcessor(input_type.height, input_type.width, input_type.channels, None)
    if isinstance(input_type, Convolutional3DType):
        return Cnn3DToFeedForwardPreProcessor(
            input_type.depth, input_type.height, input_type.width, input_type.channels, None
        )
    if not isinstance(input_type, RecurrentType):
        return None
    from .series_preprocessors import RnnToFeedForwardPreProcessor  # which networks of images alone do not need

    return RnnToFeedForwardPreProcessor(None)
