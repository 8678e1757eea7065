"""Pools, over windows and over all places."""

from __future__ import annotations

from typing import Any

from ...layers import GlobalPoolingLayer, Subsampling1DLayer, Subsampling3DLayer, SubsamplingLayer
from ...terms.data_formats import channels_last
from .masking import average_of_counted, mask_for
from .padding import cropped
from .piece import Piece, Value
from .places import Sizes, dimensions, entering, layer, leaving
from .windows import Numbers, Windows, pool_windows_of

KINDS: dict[int, Any] = {1: Subsampling1DLayer, 2: SubsamplingLayer, 3: Subsampling3DLayer}


def pooling(piece: Piece) -> Value:
    """MaxPooling1D to 3D, AveragePooling1D to 3D.

    Notes
    -----
    Padding is no part of an average. Source: Keras, BasePooling; KerasPooling2D.
    """
    count = dimensions(piece)
    places, windows = entering(piece, count), pool_windows_of(piece, count)
    sizes = windows.behind(piece, places.sizes)
    settings = {"pooling_type": _kind(piece), **windows.settings()}
    if windows.padding != "half":
        return leaving(piece, layer(piece, places, KINDS[count], to=(places.channels, sizes), **settings))
    padding, more = _of_theano(piece, windows, places.sizes)
    whole = tuple(None if size is None else size + extra for size, extra in zip(sizes, more, strict=True))
    part, to = ("windows" if any(more) else ""), (places.channels, whole)
    made = layer(piece, places, KINDS[count], part, to=to, padding=padding, **settings)
    return leaving(piece, cropped(piece, made, [(0, extra) for extra in more]))


def _of_theano(piece: Piece, windows: Windows, sizes: Sizes) -> tuple[Numbers, Numbers]:
    """Return Theano's padding on both sides, and how many windows there are then beyond those that Keras keeps."""
    padding = tuple(cells - 2 if cells > 2 and cells % 2 else cells - 1 for cells in windows.kernel)
    more = []
    for size, cells, stride, pad in zip(sizes, windows.kernel, windows.stride, padding, strict=True):
        piece.need(size is not None or stride == 1, "Theano pads an open size")
        length = size or 0
        more.append((length + 2 * pad - cells) // stride + 1 - -(-length // stride))
    return padding, tuple(more)


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
