"""Dense, on the last axis of whatever comes in."""

from __future__ import annotations

from typing import Any

from ...layers import Convolution3D, ConvolutionLayer, DenseLayer, ElementWiseMultiplicationLayer, TimeDistributed
from ...terms.data_formats import IMAGES, SERIES, VOLUMES
from .piece import Piece, Value
from .places import Reader, changed, row


def dense(piece: Piece) -> Value:
    """Rows: DenseLayer; series: TimeDistributed around one; images and volumes: a convolution of one place."""
    value = piece.value
    n_out, has_bias = int(piece.get("units")), bool(piece.get("use_bias", True))
    piece.need(value.shape and value.shape[-1] is not None, f"an input of shape {value.shape}")
    piece.need(len(value.shape) < 5, f"an input of {len(value.shape)} axes")
    settings: dict[str, Any] = {"n_in": value.shape[-1], "n_out": n_out, "has_bias": has_bias}
    kernel, bias = piece.weight("kernel"), piece.weight("bias") if has_bias else None
    shape = (*value.shape[:-1], n_out)
    if len(shape) == 1:
        return piece.add_layer(DenseLayer, shape, None, piece.arrays(W=kernel, b=row(bias)), **settings)
    if len(shape) == 2:
        arrays = piece.arrays(W=kernel, b=row(bias))
        return piece.add_layer(DenseLayer, shape, SERIES[1], arrays, around=_at_steps, **settings)
    kind: Any = ConvolutionLayer if len(shape) == 3 else Convolution3D
    tag = (IMAGES if len(shape) == 3 else VOLUMES)[1]
    arrays = piece.arrays(W=_of_one_place(kernel, len(shape) - 1), b=row(bias))
    ones = (1,) * (len(shape) - 1)
    return piece.add_layer(kind, shape, tag, arrays, kernel_size=ones, stride=ones, **settings)


def einsum_dense(piece: Piece) -> Value:
    """EinsumDense with a factor for every number of a row, as an ElementWiseMultiplicationLayer is written."""
    value, equation, axes = piece.value, piece.get("equation"), piece.get("bias_axes")
    piece.need(equation == "...x,x->...x" and axes in ("x", None), f"equation={equation!r}, bias_axes={axes!r}")
    piece.need(len(value.shape) == 1, f"an input of shape {value.shape}")
    piece.get("output_shape")
    bias = piece.weight("bias") if axes else None
    arrays = piece.arrays(W=row(piece.weight("kernel")), b=row(bias))
    return piece.add_layer(ElementWiseMultiplicationLayer, value.shape, None, arrays, n_in=value.shape[0])


def _at_steps(conf: DenseLayer) -> TimeDistributed:
    return TimeDistributed(conf, data_format=SERIES[1])


def _of_one_place(read: Reader | None, places: int) -> Reader | None:
    """Return what reads a kernel ``[n_in, n_out]`` as ``[n_out, n_in, 1, 1]``, with as many ones as places."""
    return changed(read, lambda W: W.transpose(1, 0).reshape(W.shape[1], W.shape[0], *(1,) * places))
