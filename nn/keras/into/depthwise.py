"""DepthwiseConv1D and 2D, SeparableConv1D and 2D: along time as images of width 1."""

from __future__ import annotations

from typing import Any

from ...layers import DepthwiseConvolution2D, SeparableConvolution2D
from .piece import Arrays, Piece, Value
from .places import (
    Places,
    activated,
    activations,
    dimensions,
    entering,
    is_series,
    layer,
    leaving,
    moved,
    narrowed,
    not_identity,
    row,
    trained,
    widened,
)
from .windows import Windows, padded, windows_of

AS_DEPTHWISE = (0, 1, 2, 3)
AS_SEPARABLE = (3, 2, 0, 1)
"""Axes of Keras' kernels ``[kernel_h, kernel_w, in, multiplier]`` in the order of ours."""


def depthwise(piece: Piece) -> Value:
    """DepthwiseConv1D, DepthwiseConv2D.

    Notes
    -----
    Source: Keras, BaseDepthwiseConv; KerasDepthwiseConvolution2D. Differs: Java has none along time.
    """
    places, windows, is_wide = _taken(piece)
    times, has_bias = int(piece.get("depth_multiplier", 1)), bool(piece.get("use_bias", True))
    piece.only("groups", 1)
    for unused in ("filters", "kernel_initializer", "kernel_regularizer", "kernel_constraint"):
        piece.get(unused)  # of the class that Keras 2 derives it from
    arrays = piece.arrays(
        W=moved(piece.weight("depthwise_kernel", 0), AS_DEPTHWISE, is_wide),
        b=row(piece.weight("bias", 1)) if has_bias else None,
    )
    settings = {"depth_multiplier": times, "has_bias": has_bias}
    settings |= not_identity(trained(piece, "depthwise", AS_DEPTHWISE, is_wide, has_bias))
    return channelwise(piece, places, windows, DepthwiseConvolution2D, arrays, places.channels * times, settings)


def separable(piece: Piece) -> Value:
    """SeparableConv1D, SeparableConv2D.

    Notes
    -----
    Source: Keras, BaseSeparableConv; KerasSeparableConvolution2D. Differs: Java has none along time.
    """
    places, windows, is_wide = _taken(piece)
    n_out, has_bias = int(piece.get("filters")), bool(piece.get("use_bias", True))
    piece.only("groups", 1)
    for unused in ("kernel_initializer", "kernel_regularizer", "kernel_constraint"):
        piece.get(unused)
    arrays = piece.arrays(
        W=moved(piece.weight("depthwise_kernel", 0), AS_SEPARABLE, is_wide),
        pW=moved(piece.weight("pointwise_kernel", 1), AS_SEPARABLE, is_wide),
        b=row(piece.weight("bias", 2)) if has_bias else None,
    )
    settings = {"n_out": n_out, "depth_multiplier": int(piece.get("depth_multiplier", 1)), "has_bias": has_bias}
    settings |= _both(piece, trained(piece, "depthwise", AS_SEPARABLE, is_wide, has_bias), is_wide)
    return channelwise(piece, places, windows, SeparableConvolution2D, arrays, n_out, settings)


def _both(piece: Piece, settings: dict[str, Any], is_wide: bool) -> dict[str, Any]:
    """Return how both kernels start and are held: they have one initialisation and one penalty."""
    axes = (2, 1, 0) if is_wide else (2, 3, 1, 0)
    others = piece.trained("pointwise", None, ("pW",), axes)
    limits = (*settings.get("constraints", ()), *others.pop("constraints", ()))
    others.pop("weight_init", None)
    if {name: value for name, value in settings.items() if name in ("l1", "l2")} != others:
        piece.note("pointwise_regularizer is left out, as both kernels have the penalty of the first")
    return not_identity(settings | ({"constraints": limits} if limits else {}))


def _taken(piece: Piece) -> tuple[Places, Windows, bool]:
    """Return input and windows, and whether they are along time, where they become those of images."""
    count = dimensions(piece)
    places, windows = entering(piece, count), windows_of(piece, count, causal=count == 1)
    return places, windows, is_series(places)


def channelwise(
    piece: Piece, places: Places, windows: Windows, kind: Any, arrays: Arrays, n_out: int, settings: dict[str, Any]
) -> Value:
    """Add a layer over images, and for series what leads to images and back.

    Parameters
    ----------
    piece : Piece
    places : Places
    windows : Windows
    kind : class of layers
    arrays : Arrays
        With kernels of images.
    n_out : int
    settings : dict
        Of the layer, but for its windows, n_in and activation.
    """
    to, is_wide = (n_out, windows.behind(piece, places.sizes)), is_series(places)
    activation, behind = activations(piece, inside=not is_wide)
    settings |= {"activation": activation, "n_in": places.channels}
    if not is_wide:
        places, more = padded(piece, places, windows)
        return leaving(piece, layer(piece, places, kind, "", arrays, to, **settings, **more))
    images, more = padded(piece, widened(piece, places), windows.widened(), causal=False)
    settings |= more
    images = layer(piece, images, kind, "layer", arrays, (to[0], (*to[1], 1)), **settings)
    series = narrowed(piece, images, places.data_format, "series" if behind else "")
    return leaving(piece, activated(piece, series, behind))
