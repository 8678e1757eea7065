"""ZeroPadding, Cropping and UpSampling over one to three axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...layers import (
    Cropping1D,
    Cropping2D,
    Cropping3D,
    Upsampling1D,
    Upsampling2D,
    Upsampling3D,
    ZeroPadding1DLayer,
    ZeroPadding3DLayer,
    ZeroPaddingLayer,
)
from ...onnx.vertices import OnnxVertex
from .piece import Piece, Value
from .places import Places, dimensions, entering, layer, leaving, vertex

PADDINGS: dict[int, Any] = {1: ZeroPadding1DLayer, 2: ZeroPaddingLayer, 3: ZeroPadding3DLayer}
CROPPINGS: dict[int, Any] = {1: Cropping1D, 2: Cropping2D, 3: Cropping3D}
UPSAMPLINGS: dict[int, Any] = {1: Upsampling1D, 2: Upsampling2D, 3: Upsampling3D}
Borders = Sequence[tuple[int, int]]


def zero_padding(piece: Piece) -> Value:
    """ZeroPadding1D, ZeroPadding2D, ZeroPadding3D.

    Notes
    -----
    Source: Keras, ZeroPadding2D; KerasZeroPadding2D.
    """
    count = dimensions(piece)
    borders = _borders(piece, "padding", count)
    return leaving(piece, surrounded(piece, entering(piece, count), borders, always=True))


def cropping(piece: Piece) -> Value:
    """Cropping1D, Cropping2D, Cropping3D.

    Notes
    -----
    Source: Keras, Cropping2D; KerasCropping2D.
    """
    count = dimensions(piece)
    borders, places = _borders(piece, "cropping", count), entering(piece, count)
    for size, sides in zip(places.sizes, borders, strict=True):
        piece.need(size is None or sum(sides) < size, f"cropping {sum(sides)} of {size} places")
    return leaving(piece, cropped(piece, places, borders, always=True))


def upsampling(piece: Piece) -> Value:
    """UpSampling1D, UpSampling2D, UpSampling3D.

    Notes
    -----
    Source: Keras, UpSampling2D; KerasUpsampling2D. Differs: Java repeats places whatever the interpolation.
    """
    count = dimensions(piece)
    places, times = entering(piece, count), piece.sizes("size", count, 2)
    sizes = tuple(None if size is None else size * by for size, by in zip(places.sizes, times, strict=True))
    if piece.only("interpolation", "nearest", "bilinear") == "bilinear":
        conf = OnnxVertex("Resize", {"mode": "linear"}, {1: None, 2: [1.0, 1.0, *map(float, times)]})
        return leaving(piece, vertex(piece, places, conf)._replace(sizes=sizes))
    return leaving(piece, layer(piece, places, UPSAMPLINGS[count], to=(places.channels, sizes), size=times))


def surrounded(piece: Piece, places: Places, borders: Borders, part: str = "", always: bool = False) -> Places:
    """Return places with zeros around them.

    Parameters
    ----------
    piece : Piece
    places : Places
    borders : sequence of (int, int)
        How many before and behind every axis.
    part : str
        Of the vertex' name.
    always : bool
        Whether a layer is added where there are none, too.
    """
    if not (always or any(map(sum, borders))):
        return places
    sizes = tuple(
        None if size is None else size + sum(sides) for size, sides in zip(places.sizes, borders, strict=True)
    )
    padding, to = tuple(side for sides in borders for side in sides), (places.channels, sizes)
    return layer(piece, places, PADDINGS[len(borders)], part, to=to, padding=padding)


def cropped(piece: Piece, places: Places, borders: Borders, part: str = "", always: bool = False) -> Places:
    """Return places without their borders; see `surrounded`."""
    if not (always or any(map(sum, borders))):
        return places
    sizes = tuple(
        None if size is None else size - sum(sides) for size, sides in zip(places.sizes, borders, strict=True)
    )
    cropping, to = tuple(side for sides in borders for side in sides), (places.channels, sizes)
    return layer(piece, places, CROPPINGS[len(borders)], part, to=to, cropping=cropping)


def _borders(piece: Piece, name: str, count: int) -> list[tuple[int, int]]:
    """Return a setting of two numbers for every axis: of 1, [1, 2] or [[1, 1], [2, 2]]; along time [1, 2] are two."""
    given = piece.get(name, 1 if count != 2 or name == "padding" else 0)
    axes = [given] * count if isinstance(given, int) else [given] if count == 1 else list(given)
    if count == 1 and isinstance(axes[0], list | tuple) and len(axes[0]) == 1:  # [[1, 2]]
        axes = list(axes[0])
    pairs = [(axis, axis) if isinstance(axis, int) else tuple(axis) for axis in axes]
    piece.need(len(pairs) == count and all(len(pair) == 2 and min(pair) >= 0 for pair in pairs), f"{name}={given!r}")
    return [(int(before), int(behind)) for before, behind in pairs]
