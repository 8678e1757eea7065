"""Conv1DTranspose, Conv2DTranspose and Conv3DTranspose: along time as images of width 1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...layers import Deconvolution2D, Deconvolution3D
from ...terms.data_formats import channels_last
from .padding import cropped, surrounded
from .piece import Piece, Value
from .places import (
    Places,
    Sizes,
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
from .windows import Windows, windows_of

KINDS: dict[int, Any] = {1: Deconvolution2D, 2: Deconvolution2D, 3: Deconvolution3D}
ORDERS = {1: (3, 2, 0, 1), 2: (3, 2, 0, 1), 3: (0, 1, 2, 3, 4)}
"""Axes of places -> axes of Keras' kernel ``[*kernel, out, in]`` in the order of ours."""
Cuts = list[tuple[int, int]]


def transposed_convolution(piece: Piece) -> Value:
    """Conv1DTranspose, Conv2DTranspose, Conv3DTranspose.

    Notes
    -----
    Source: Keras, BaseConvTranspose; KerasDeconvolution2D. Differs: Java has none along time, and leaves out
    output_padding.
    """
    count = dimensions(piece)
    places, windows = entering(piece, count), windows_of(piece, count)
    piece.only("groups", 1)
    more = _more(piece, places, windows)
    is_odd = all(reach % 2 for reach in windows.reach)
    piece.need(windows.padding != "half" or is_odd, "its kernel is even, and padded by Theano")
    cuts = [_cut(windows.padding, *of_axis) for of_axis in zip(windows.reach, windows.stride, more, strict=True)]
    sizes = _behind(windows, places.sizes, cuts)
    n_out, is_wide, has_bias = int(piece.get("filters")), is_series(places), bool(piece.get("use_bias", True))
    activation, behind = activations(piece, inside=not is_wide)
    settings = {"n_in": places.channels, "n_out": n_out, "has_bias": has_bias, "activation": activation}
    settings |= not_identity(trained(piece, "kernel", ORDERS[count], is_wide, has_bias))
    arrays = piece.arrays(
        W=moved(piece.weight("kernel", 0), ORDERS[count], is_wide),
        b=row(piece.weight("bias", 1)) if has_bias else None,
    )
    inner = places
    if is_wide:
        inner, windows, cuts = widened(piece, places), windows.widened(), [*cuts, (0, 0)]
    part = "layer" if is_wide else ""
    to = (n_out, (*sizes, 1) if is_wide else sizes)
    if None in more and windows.padding == "same":
        made = layer(piece, inner, KINDS[count], part, arrays, to, **settings, **windows.settings())
    else:
        made = _cut_layer(piece, inner, windows, cuts, KINDS[count], part, (arrays, to, settings))
    if is_wide:
        made = narrowed(piece, made, places.data_format, "series" if behind else "")
    return leaving(piece, activated(piece, made, behind))


def _more(piece: Piece, places: Places, windows: Windows) -> Sizes:
    """Return output_padding for every axis, None where nothing says it; Keras 1 says the shape of the output."""
    count, shape = len(places.sizes), piece.get("output_shape")
    if shape is None:
        return (None,) * count if piece.get("output_padding") is None else piece.sizes("output_padding", count)
    piece.need(len(shape) == count + 2 and None not in places.sizes, f"output_shape={shape!r}")
    wanted = shape[1:-1] if channels_last(places.data_format) else shape[2:]
    if None in wanted:
        return (None,) * count
    more = []
    for size, length, stride, reach in zip(places.sizes, wanted, windows.stride, windows.reach, strict=True):
        longer = int(length) - (int(size or 0) - 1) * stride - reach
        more.append(longer if windows.padding == "valid" else longer + reach - reach % 2)
    return tuple(more)


def _cut(padding: str, reach: int, stride: int, more: int | None) -> tuple[int, int]:
    """Return what is taken away before and behind an axis of ``(in - 1) stride + reach`` places, below 0 added.

    Notes
    -----
    Source: Keras, compute_conv_transpose_padding_args_for_jax; as TensorFlow's.
    """
    if padding == "valid":
        return 0, -(max(stride - reach, 0) if more is None else more)
    total = reach - stride if more is None else reach - reach % 2 - more
    before = reach // 2 if padding == "half" else max(total, 0) // 2
    return before, total - before


def _behind(windows: Windows, sizes: Sizes, cuts: Cuts) -> Sizes:
    """Return the sizes of the output."""
    return tuple(
        None if size is None else (size - 1) * stride + reach - sum(cut)
        for size, stride, reach, cut in zip(sizes, windows.stride, windows.reach, cuts, strict=True)
    )


def _cut_layer(
    piece: Piece, places: Places, windows: Windows, cuts: Cuts, kind: Any, part: str, told: Sequence[Any]
) -> Places:
    """Add a layer whose output is cut; where it has to be longer, its input has zeros behind it."""
    arrays, (n_out, sizes), settings = told
    longer = [-(min(behind, 0) // stride) for (_, behind), stride in zip(cuts, windows.stride, strict=True)]
    cuts = [
        (before, behind + times * stride)
        for (before, behind), times, stride in zip(cuts, longer, windows.stride, strict=True)
    ]
    places = surrounded(piece, places, [(0, times) for times in longer], "zeros")
    even = tuple(min(cut) for cut in cuts)
    rest = [(before - least, behind - least) for (before, behind), least in zip(cuts, even, strict=True)]
    name = (part + "/uncut" if part else "uncut") if any(map(sum, rest)) else part
    whole = tuple(None if size is None else size + sum(cut) for size, cut in zip(sizes, rest, strict=True))
    settings |= {**windows.settings(), "convolution_mode": "truncate", "padding": even}
    made = layer(piece, places, kind, name, arrays, (n_out, whole), **settings)
    return cropped(piece, made, rest, part)
