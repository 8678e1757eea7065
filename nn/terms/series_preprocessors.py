"""Preprocessors between time series and rows or images: row n + t * N is example n at time t."""

from __future__ import annotations

from dataclasses import dataclass

import nd
from nd.checks import check_shape
from nd.typing import Array

from .data_formats import IMAGES, ROWS, SERIES
from .input_type import FeedForwardType, InputType, RecurrentType
from .preprocessors import Buffers, OfImage, WithFormat, memory


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
class RnnToFeedForwardPreProcessor(WithFormat):
    """Time series ``[N, C, T]`` to rows ``[T * N, C]``: row ``t * N + n`` is example n at time t; rows pass.

    Parameters
    ----------
    data_format : {"NCW", "NWC"}, optional
        Of the series, which makes no difference to the rows. None where a network is to find out.

    Notes
    -----
    Source: DL4J ``RnnToFeedForwardPreProcessor``.
    """

    data_format: str | None = SERIES[0]
    pure = splits = True
    takes, gives = SERIES, ROWS
    key = "rnnDataFormat"
    draw_axes = (1, 0)  # of a dropout behind it: Java's rows lie column by column

    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return x if x.ndim == 2 else _series_to_rows(x, buffers)

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return _rows_to_series(epsilon, examples)

    def output_type(self, input_type: InputType) -> InputType:
        return FeedForwardType(input_type.size)

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        return nd.reshape(nd.copy(nd.transpose(mask)), (mask.shape[0] * mask.shape[1], 1))


@dataclass(frozen=True)
class FeedForwardToRnnPreProcessor(WithFormat):
    """Rows ``[T * N, C]`` to time series ``[N, C, T]``; see `RnnToFeedForwardPreProcessor`. Series pass.

    Notes
    -----
    Source: DL4J ``FeedForwardToRnnPreProcessor``.
    """

    data_format: str | None = SERIES[0]
    pure = splits = True
    takes, gives = ROWS, SERIES
    key = "rnnDataFormat"

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
class CnnToRnnPreProcessor(WithFormat, OfImage):
    """Images of time steps ``[T * N, C, H, W]`` to time series ``[N, C * H * W, T]``.

    Parameters
    ----------
    input_height, input_width, num_channels : int
    data_format : {"NCW", "NWC"}, optional
        Of the series; the images have the channels first, as Java knows no others here.

    Notes
    -----
    In a mask a time step counts where a place of its image does. Source: DL4J ``CnnToRnnPreProcessor``.
    """

    data_format: str | None = SERIES[0]
    pure = splits = True
    takes, gives = IMAGES[:1], SERIES
    key = "rnnDataFormat"

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
class RnnToCnnPreProcessor(WithFormat, OfImage):
    """Time series ``[N, C * H * W, T]`` to images of time steps ``[T * N, C, H, W]``.

    Parameters
    ----------
    input_height, input_width, num_channels : int
    data_format : {"NCW", "NWC"}, optional
        Of the series.

    Notes
    -----
    Source: DL4J ``RnnToCnnPreProcessor``.
    """

    data_format: str | None = SERIES[0]
    pure = splits = True
    takes, gives = SERIES, IMAGES[:1]
    key = "rnnDataFormat"

    def pre_process(self, x: Array, examples: int, buffers: Buffers | None = None) -> Array:
        check_shape("RnnToCnnPreProcessor", x.shape, ("N", self.features, "T"))
        return nd.reshape(_series_to_rows(x, buffers), (x.shape[0] * x.shape[2], *self.image))

    def backprop(self, epsilon: Array, examples: int, buffers: Buffers | None = None) -> Array:
        return _rows_to_series(nd.reshape(epsilon, (epsilon.shape[0], self.features)), examples)

    def output_type(self, input_type: InputType) -> InputType:
        return self._image_type

    def feed_forward_mask(self, mask: Array, examples: int) -> Array | None:
        return nd.reshape(nd.copy(nd.transpose(mask)), (mask.shape[0] * mask.shape[1], 1, 1, 1))
