"""CnnLossLayer, Cnn3DLossLayer, RnnLossLayer: a loss at every pixel, voxel or time step, without parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import nd
from nd.activations import Activation
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import Convolutional3DType, ConvolutionalType, InputType, RecurrentType
from ...terms.java_form import JavaForm
from ...terms.preprocessors import InputPreProcessor, to_images, to_series
from ..core.dense import Cache
from ..runtime import Context, Kept, Params
from .output import LossLayer, LossRuntime, OutputMixin, WithLoss


def rows_of_places(x: Array) -> Array:
    """Return ``[N, C, ...]`` as one row for each place of each example, ``[places * N, C]``, examples fastest.

    A view where the batch is innermost in memory.
    """
    return nd.reshape(nd.permute(x, (*range(2, x.ndim), 0, 1)), (-1, x.shape[1]))


def from_rows_of_places(rows: Array, shape: tuple[int, ...]) -> Array:
    """Return rows of `rows_of_places` as a view ``[N, C, ...]``; C is the number of their columns."""
    places = nd.reshape_view(rows, (*shape[2:], shape[0], rows.shape[1]))
    rank = len(shape)
    return nd.permute(places, (rank - 2, rank - 1, *range(rank - 2)))


class OfPlacesMixin(OutputMixin):
    """A loss whose rows are the places of all examples.

    Labels are ``[N, C, ...]`` as the activations are. A mask is ``[N, 1, ...]`` with a number for each place or 1 for
    all of an axis, for time series also ``[N, T]``, for all places of an example ``[N, 1]``, and ``[N, C, ...]`` for
    each output.
    """

    activating: Any
    axes: tuple[str, ...]
    """Names of the axes of places, for messages."""

    def loss_and_delta(self, labels: Array, kept: Kept, mask: Array | None) -> tuple[Array, Array]:
        """Return the summed loss and its gradient ``dL/dz [places * N, C]``; parameters as for `summed_loss`."""
        return super().loss_and_delta(*self._as_rows(labels, kept, mask))

    def summed_loss(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss summed over the places of the minibatch, a scalar array; it is not divided by their number.

        Raises
        ------
        ShapeError
            The labels or the mask do not fit the output.
        """
        return super().summed_loss(*self._as_rows(labels, kept, mask))

    def score_array(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss of each example, ``[N]``, summed over its places. Parameters as for `summed_loss`."""
        of_rows = super().score_array(*self._as_rows(labels, kept, mask))
        return nd.sum(nd.reshape(of_rows, (-1, kept.cache.a.shape[0])), 0)

    def with_epsilon(self, delta: Any, epsilon: Array, kept: Kept) -> Array:
        """Do as every layer with a loss; the delta's rows are places."""
        return nd.addi(delta, rows_of_places(self.delta_of(epsilon, kept.cache, kept.context)))

    def delta_of(self, epsilon: Array, cache: Cache, ctx: Context) -> Array:
        """Return dL/dz for ``epsilon = dL/da``, both of the activations' shape; the activation is over channels."""
        if not self.activation.over_rows:
            return self.activating.backprop(cache.z, cache.a, epsilon)
        shape = tuple(cache.a.shape)
        rows = nd.copy(rows_of_places(epsilon))
        self.activating.backprop(rows_of_places(cache.z), rows_of_places(cache.a), rows)
        return from_rows_of_places(rows, shape)

    def _as_rows(self, labels: Array, kept: Kept, mask: Array | None) -> tuple[Array, Kept, Array | None]:
        cache = kept.cache
        shape, given = tuple(cache.a.shape), tuple(labels.shape)
        if len(given) != len(shape) or (given[0], *given[2:]) != (shape[0], *shape[2:]):
            from ...terms.axis_order import remedy  # which data that fit do not need

            places = "Give every place of every example its labels, one-hot or a class number."
            raise nd.ShapeError(
                f"{self.label}: labels must be {describe_shape(('N', 'C', *self.axes))}, here {describe_shape(shape)}, "
                f"got {describe_shape(given)}. "
                f"{remedy('labels', given, shape[1:]) or places}"
            )
        rows = kept._replace(cache=Cache(cache.x, rows_of_places(cache.z), rows_of_places(cache.a)))
        masks = None
        if mask is not None:  # [places * N, 1] or [places * N, C]
            full = self.over_places(mask, shape)
            masks = kept.context.buffer("mask_rows", (math.prod(shape) // shape[1], full.shape[1]))
            nd.assign(from_rows_of_places(masks, shape), full)
        return rows_of_places(labels), rows, masks

    def over_places(self, mask: Array, shape: tuple[int, ...]) -> Array:
        """Return a mask as a view of the rank of the activations, which it broadcasts to.

        Raises
        ------
        ShapeError
            It does not.
        """
        given, full = tuple(mask.shape), mask
        if len(shape) == 3 and given == (shape[0], shape[2]):
            full = nd.reshape(mask, (shape[0], 1, shape[2]))
        elif len(given) == 2 and given[1] == 1:
            full = nd.reshape(mask, (given[0], *(1 for _ in shape[1:])))
        fits = full.ndim == len(shape) and full.shape[0] == shape[0]
        if not fits or any(size not in (1, places) for size, places in zip(full.shape[1:], shape[1:], strict=True)):
            allowed = describe_shape(("N", "T") if len(shape) == 3 else ("N", 1, *self.axes))
            raise nd.ShapeError(
                f"{self.label}: mask must be {allowed}, or {describe_shape(shape)} for each output, got "
                f"{describe_shape(given)}. The output is {describe_shape(shape)}."
            )
        return full


class LossOfPlacesRuntime(OfPlacesMixin, LossRuntime):
    """An activation over the channels of every place, and a loss."""

    pure = splits = True
    masks_output = False

    def setup(self) -> None:
        self.axes = self.conf.axes

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim != 2 + len(self.axes):
            raise nd.ShapeError(
                f"{self.label}: expected input {describe_shape(('N', 'C', *self.axes))}, got "
                f"{describe_shape(x.shape)}. Set the network's input type, or use a LossLayer for rows."
            )
        if not (ctx.activates and self.activation.over_rows):
            return super().forward(x, params, ctx)
        rows = rows_of_places(x)
        a = self.activating.value(rows, ctx.buffer("a", tuple(rows.shape)), ctx.training)
        a = from_rows_of_places(a, tuple(x.shape))
        return a, Cache(x, x, a)

    def backward_delta(self, delta: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Hand dL/dz on, rows as places."""
        return super().backward_delta(from_rows_of_places(delta, cache.x.shape), cache, params, grads, ctx)

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        return super().backward_delta(self.delta_of(epsilon, cache, ctx), cache, params, grads, ctx)


@dataclass(frozen=True, kw_only=True)
class _LossOfPlaces(WithLoss):
    runtime: ClassVar = LossOfPlacesRuntime
    axes: ClassVar[tuple[str, ...]]
    taken: ClassVar[tuple[type[InputType], str]]
    """The kind of input, and the call that makes it."""

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        kind, creator = self.taken
        if not isinstance(input_type, kind):
            raise nd.ConfigurationError(
                f"{label}: expected input {describe_shape(('N', 'C', *self.axes))}, got {input_type!r}. "
                f"Use InputType.{creator}, or another loss layer."
            )
        return self


@dataclass(frozen=True, kw_only=True)
class CnnLossLayer(_LossOfPlaces):
    """Activation and loss at every pixel, without parameters: for segmentation and images as outputs.

    Parameters
    ----------
    loss : str or Loss
    activation : str or Activation
        Identity unless the layer is given another; None takes the network's.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Input, output and labels ``[N, C, H, W]``; the activation goes over the channels of each pixel. Labels' masks are
    ``[N, 1, H, W]`` for pixels, ``[N, 1, 1, 1]`` or ``[N, 1]`` for examples, ``[N, C, H, W]`` for single outputs. The
    score is the sum over all pixels divided by N. Source: DL4J ``CnnLossLayer``.
    """

    activation: str | Activation | None = "identity"
    data_format: str | None = None
    axes: ClassVar[tuple[str, ...]] = ("H", "W")
    taken: ClassVar = (ConvolutionalType, "convolutional(h, w, c)")
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = LossLayer.form.formatted("format")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)


@dataclass(frozen=True, kw_only=True)
class Cnn3DLossLayer(_LossOfPlaces):
    """Activation and loss at every voxel, without parameters.

    Parameters
    ----------
    loss : str or Loss
    activation : str or Activation
        Identity unless the layer is given another; None takes the network's.
    data_format : {"NCDHW", "NDHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Input, output and labels ``[N, C, D, H, W]``, labels' masks ``[N, 1, D, H, W]``, ``[N, 1, 1, 1, 1]``, ``[N, 1]`` or
    ``[N, C, D, H, W]``; else as `CnnLossLayer`. Source: DL4J ``Cnn3DLossLayer``.
    """

    activation: str | Activation | None = "identity"
    data_format: str | None = None
    axes: ClassVar[tuple[str, ...]] = ("D", "H", "W")
    taken: ClassVar = (Convolutional3DType, "convolutional3d(d, h, w, c)")
    formats: ClassVar[tuple[str, ...]] = data_formats.VOLUMES
    form: ClassVar[JavaForm] = LossLayer.form.formatted("dataFormat")


@dataclass(frozen=True, kw_only=True)
class RnnLossLayer(_LossOfPlaces):
    """Activation and loss at every time step, without parameters.

    Parameters
    ----------
    loss : str or Loss
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Input, output and labels ``[N, C, T]``; labels' masks ``[N, T]``, ``[N, 1]`` for examples, or ``[N, C, T]``
    for single outputs. The score is the sum over all time steps divided by N, not by T. Source: DL4J
    ``RnnLossLayer``. Differs: the score of series NWC is that of the labels, in Java they are taken from the input.
    """

    data_format: str | None = None
    axes: ClassVar[tuple[str, ...]] = ("T",)
    taken: ClassVar = (RecurrentType, "recurrent(size)")
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    form: ClassVar[JavaForm] = LossLayer.form.formatted("rnnDataFormat")

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_series(input_type)
