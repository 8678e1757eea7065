"""Preprocessors between layers of different kinds: changes of shape, forward and back.

All are views of arrays in the backend's preferred memory order, or copies where the order of numbers has to change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import nd
from nd.arguments import Checked, Count
from nd.checks import check_shape
from nd.part import Part, undefined
from nd.typing import Array

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
    """Changes the shape of activations before a layer, and that of epsilon after it."""

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


@dataclass(frozen=True)
class _OfShape(InputPreProcessor):
    """Between rows and examples of one fixed shape; an input that has the other side's shape already passes."""

    @property
    def image(self) -> tuple[int, ...]:
        """Shape of one example that is no row."""
        raise NotImplementedError

    @property
    def features(self) -> int:
        """Numbers in one example."""
        return math.prod(self.image)

    @property
    def _image_type(self) -> InputType:
        raise NotImplementedError


@dataclass(frozen=True)
class _ToRows(_OfShape):
    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        if x.ndim == 2:
            check_shape(type(self).__name__, x.shape, ("N", self.features))
            return x
        check_shape(type(self).__name__, x.shape, ("N", *self.image))
        return nd.reshape(nd.to_activation_order(x, memory(buffers, x)), (x.shape[0], self.features))

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return nd.reshape(epsilon, (epsilon.shape[0], *self.image))

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
class _FromRows(_OfShape):
    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        if x.ndim == len(self.image) + 1:
            check_shape(type(self).__name__, x.shape, ("N", *self.image))
            return x
        check_shape(type(self).__name__, x.shape, ("N", self.features))
        return nd.reshape(nd.to_activation_order(x, memory(buffers, x)), (x.shape[0], *self.image))

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return nd.reshape(epsilon, (epsilon.shape[0], self.features))

    def output_type(self, input_type: InputType) -> InputType:
        return self._image_type

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        return nd.reshape(mask, (mask.shape[0], *(1 for _ in self.image))) if mask.ndim == 2 else mask


@dataclass(frozen=True)
class _Image(_OfShape):
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
class _Volume(_OfShape):
    input_depth: Count
    input_height: Count
    input_width: Count
    num_channels: Count
    ncdhw: bool = True

    @property
    def image(self) -> tuple[int, ...]:
        sizes = self.input_depth, self.input_height, self.input_width
        return (self.num_channels, *sizes) if self.ncdhw else (*sizes, self.num_channels)

    @property
    def _image_type(self) -> InputType:
        return Convolutional3DType(self.input_depth, self.input_height, self.input_width, self.num_channels)


@dataclass(frozen=True)
class FeedForwardToCnnPreProcessor(_FromRows, _Image):
    """Rows ``[N, C * H * W]`` to images ``[N, C, H, W]``, in c order; images pass.

    Notes
    -----
    Source: DL4J ``FeedForwardToCnnPreProcessor``.
    """

    pure = splits = True


@dataclass(frozen=True)
class CnnToFeedForwardPreProcessor(_ToRows, _Image):
    """Images ``[N, C, H, W]`` to rows ``[N, C * H * W]``, in c order; rows pass.

    Notes
    -----
    Source: DL4J ``CnnToFeedForwardPreProcessor``.
    """

    pure = splits = True


@dataclass(frozen=True)
class FeedForwardToCnn3DPreProcessor(_FromRows, _Volume):
    """Rows ``[N, C * D * H * W]`` to volumes ``[N, C, D, H, W]``, in c order; volumes pass.

    Parameters
    ----------
    input_depth, input_height, input_width, num_channels : int
    ncdhw : bool
        False: the volumes are ``[N, D, H, W, C]``, which no layer of this library takes unless the sizes are equal.
        Files of Java's say so where its own inference put the preprocessor there.

    Notes
    -----
    Source: DL4J ``FeedForwardToCnn3DPreProcessor``.
    """

    pure = splits = True


@dataclass(frozen=True)
class Cnn3DToFeedForwardPreProcessor(_ToRows, _Volume):
    """Volumes ``[N, C, D, H, W]`` to rows ``[N, C * D * H * W]``, in c order; rows pass.

    Parameters are those of `FeedForwardToCnn3DPreProcessor`.

    Notes
    -----
    Source: DL4J ``Cnn3DToFeedForwardPreProcessor``.
    """

    pure = splits = True


# ---- time series: row n + t * N is example n at time t


def _series_to_rows(x: Array, buffers: Buffers | None) -> Array:
    steps = memory(buffers, x)("steps", (x.shape[2], x.shape[0], x.shape[1]))
    nd.assign(steps, nd.permute(x, (2, 0, 1)))
    return nd.reshape(steps, (x.shape[2] * x.shape[0], x.shape[1]))


def _rows_to_series(x: Array, examples: int) -> Array:
    return nd.permute(nd.reshape(x, (x.shape[0] // examples, examples, x.shape[1])), (1, 2, 0))


def _check_steps(who: str, x: Array, examples: int) -> None:
    if x.shape[0] % examples:
        raise nd.ShapeError(f"{who}: rows must be time steps of {examples} examples, got {x.shape[0]} rows.")


@dataclass(frozen=True)
class RnnToFeedForwardPreProcessor(InputPreProcessor):
    """Time series ``[N, C, T]`` to rows ``[T * N, C]``: row ``t * N + n`` is example n at time t; rows pass.

    Notes
    -----
    Source: DL4J ``RnnToFeedForwardPreProcessor``.
    """

    pure = splits = True

    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return x if x.ndim == 2 else _series_to_rows(x, buffers)

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return _rows_to_series(epsilon, examples)

    def output_type(self, input_type: InputType) -> InputType:
        return FeedForwardType(input_type.size)

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        return nd.reshape(nd.copy(nd.transpose(mask)), (mask.shape[0] * mask.shape[1], 1))


@dataclass(frozen=True)
class FeedForwardToRnnPreProcessor(InputPreProcessor):
    """Rows ``[T * N, C]`` to time series ``[N, C, T]``; see `RnnToFeedForwardPreProcessor`. Series pass.

    Notes
    -----
    Source: DL4J ``FeedForwardToRnnPreProcessor``.
    """

    pure = splits = True

    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        if x.ndim == 3:
            return x
        _check_steps("FeedForwardToRnnPreProcessor", x, examples)
        return _rows_to_series(x, examples)

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return nd.reshape(nd.copy(nd.permute(epsilon, (2, 0, 1))), (-1, epsilon.shape[1]))

    def output_type(self, input_type: InputType) -> InputType:
        return RecurrentType(input_type.size)

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        return nd.transpose(nd.reshape(mask, (mask.shape[0] // examples, examples)))


@dataclass(frozen=True)
class CnnToRnnPreProcessor(_Image):
    """Images of time steps ``[T * N, C, H, W]`` to time series ``[N, C * H * W, T]``.

    Notes
    -----
    In a mask a time step counts where a place of its image does. Source: DL4J ``CnnToRnnPreProcessor``.
    """

    pure = splits = True

    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        check_shape("CnnToRnnPreProcessor", x.shape, ("T * N", *self.image))
        _check_steps("CnnToRnnPreProcessor", x, examples)
        rows = nd.reshape(nd.to_activation_order(x, memory(buffers, x)), (x.shape[0], self.features))
        return _rows_to_series(rows, examples)

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return nd.reshape(nd.copy(nd.permute(epsilon, (2, 0, 1))), (-1, *self.image))

    def output_type(self, input_type: InputType) -> InputType:
        return RecurrentType(self.features)

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        counts = nd.max(nd.reshape(mask, (mask.shape[0], -1)), 1)  # of a time step any place
        return nd.transpose(nd.reshape(counts, (mask.shape[0] // examples, examples)))


@dataclass(frozen=True)
class RnnToCnnPreProcessor(_Image):
    """Time series ``[N, C * H * W, T]`` to images of time steps ``[T * N, C, H, W]``.

    Notes
    -----
    Source: DL4J ``RnnToCnnPreProcessor``.
    """

    pure = splits = True

    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        check_shape("RnnToCnnPreProcessor", x.shape, ("N", self.features, "T"))
        return nd.reshape(_series_to_rows(x, buffers), (x.shape[0] * x.shape[2], *self.image))

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return _rows_to_series(nd.reshape(epsilon, (epsilon.shape[0], self.features)), examples)

    def output_type(self, input_type: InputType) -> InputType:
        return self._image_type

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        return nd.reshape(nd.copy(nd.transpose(mask)), (mask.shape[0] * mask.shape[1], 1, 1, 1))


PREPROCESSORS: dict[str, type[InputPreProcessor]] = {
    "cnn3d_to_feed_forward": Cnn3DToFeedForwardPreProcessor,
    "cnn_to_feed_forward": CnnToFeedForwardPreProcessor,
    "cnn_to_rnn": CnnToRnnPreProcessor,
    "feed_forward_to_cnn": FeedForwardToCnnPreProcessor,
    "feed_forward_to_cnn3d": FeedForwardToCnn3DPreProcessor,
    "feed_forward_to_rnn": FeedForwardToRnnPreProcessor,
    "rnn_to_cnn": RnnToCnnPreProcessor,
    "rnn_to_feed_forward": RnnToFeedForwardPreProcessor,
}
"""Name -> class, sorted."""


def to_images(input_type: InputType) -> InputPreProcessor | None:
    """Return the preprocessor from that input to images; None where it is images already, or cannot be."""
    if isinstance(input_type, ConvolutionalFlatType):
        return FeedForwardToCnnPreProcessor(input_type.height, input_type.width, input_type.channels)
    return None


def to_series(input_type: InputType) -> InputPreProcessor | None:
    """Return the preprocessor from that input to time series; None where it is such already, or cannot be."""
    if isinstance(input_type, FeedForwardType):
        return FeedForwardToRnnPreProcessor()
    if isinstance(input_type, ConvolutionalType):
        return CnnToRnnPreProcessor(input_type.height, input_type.width, input_type.channels)
    return None


def to_rows(input_type: InputType) -> InputPreProcessor | None:
    """Return the preprocessor from that input to rows; None where it is rows already."""
    if isinstance(input_type, ConvolutionalType):
        return CnnToFeedForwardPreProcessor(input_type.height, input_type.width, input_type.channels)
    if isinstance(input_type, Convolutional3DType):
        return Cnn3DToFeedForwardPreProcessor(
            input_type.depth, input_type.height, input_type.width, input_type.channels
        )
    return RnnToFeedForwardPreProcessor() if isinstance(input_type, RecurrentType) else None
