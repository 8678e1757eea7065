"""Pools, over windows and over all places."""

from __future__ import annotations

from typing import Any

from ...layers import GlobalPoolingLayer, Subsampling1DLayer, Subsampling3DLayer, SubsamplingLayer
from ...terms.data_formats import channels_last
from .masking import average_of_counted, mask_for
from .piece import Piece, Value
from .places import dimensions, entering, layer, leaving
from .windows import pool_windows_of

KINDS: dict[int, Any] = {1: Subsampling1DLayer, 2: SubsamplingLayer, 3: Subsampling3DLayer}


def pooling(piece: Piece) -> Value:
    """MaxPooling1D to 3D, AveragePooling1D to 3D.

    Notes
    -----
    Padding is no part of an average. Source: Keras, BasePooling; KerasPooling2D.
    """
    count = dimensions(piece)
    places, windows = entering(piece, count), pool_windows_of(piece, count)
    to = (places.channels, windows.behind(piece, places.sizes))
    made = layer(piece, places, KINDS[count], to=to, pooling_type=_kind(piece), **windows.settings())
    return leaving(piece, made)


def global_pooling(piece: Piece) -> Value:
    """GlobalMaxPooling1D to 3D, GlobalAveragePooling1D to 3D.

    Notes
    -----
    Source: Keras, BaseGlobalPooling; KerasGlobalPooling.
    """
    count, kind = dimensions(piece), _kind(piece)
    places, keeps = entering(piece, count), bool(piece.get("keepdims", False))
    mask = mask_for(piece) if kind == "avg" and count == 1 else None
    if mask is not None:
        piece.need(not keeps, "keepdims=True of the steps that a mask leaves")
        return piece.give(average_of_counted(piece, piece.value, mask), (places.channels,))
    first = 1 if channels_last(places.data_format) else 2
    conf = GlobalPoolingLayer(
        kind, collapse_dimensions=not keeps, pooling_dimensions=tuple(range(first, first + count))
    )
    node = piece.add(conf, places.node)
    if keeps:
        return leaving(piece, places._replace(node=node, sizes=(1,) * count))
    return piece.give(node, (places.channels,))._replace(mask=None)


def _kind(piece: Piece) -> str:
    return "max" if "Max" in piece.layer.class_name else "avg"
