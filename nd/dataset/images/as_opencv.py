"""Pictures as OpenCV has them, with which DataVec reads: BGR, grey by its weights, resized without smoothing."""

from __future__ import annotations

from typing import Any

import numpy as np

_ONE = 1 << 11  # OpenCV's unit of weights of bytes
_GREY = np.array([3735, 19235, 9798])  # of B, G and R, in 1 / 2**15
_GREY_BITS = 15


def with_channels(picture: Any, channels: int) -> Any:
    """Return a picture [H, W, C] in grey (1), as BGR (3), or as RGBA (4), whichever it was; others as they are.

    A picture of one or three channels is grey, or BGR.
    """
    have = picture.shape[-1]
    if channels == have:
        return picture
    if channels == 1:
        grey = (picture.astype(np.int64) @ _GREY + (1 << (_GREY_BITS - 1))) >> _GREY_BITS
        return grey[..., None].astype(picture.dtype)
    colours = np.repeat(picture, 3, axis=-1) if have == 1 else picture
    if channels == 3:
        return colours
    opaque = np.full_like(picture[..., :1], np.iinfo(picture.dtype).max)
    return np.concatenate([colours[..., ::-1], opaque], axis=-1)


def cropped(picture: Any) -> Any:
    """Return the middle of a picture [H, W, C], of the longer side half of what it is longer on either side.

    Where that is no whole number it is one pixel longer than the shorter side, as in DataVec.
    """
    height, width = picture.shape[:2]
    less = abs(width - height) // 2
    if width > height:
        return picture[:, less : less + width - less]
    return picture[less : less + height - less] if height > width else picture


def resized(picture: Any, height: int, width: int) -> Any:
    """Return a picture [H, W, C] of bytes or of 16 bits in another size.

    Notes
    -----
    Between the four nearest pixels, ``x (W / width)`` apart, counted from the middles of pixels; where a side becomes
    shorter the pixels between are left out, but for exact halves, which are means of four.

    Source: OpenCV 4.5 ``resize`` with INTER_LINEAR: weights of bytes are whole numbers of 1 / 2048, and the sum loses
    bits twice on its way.
    """
    rows, columns = picture.shape[:2]
    if (rows, columns) == (height, width):
        return picture
    if (rows, columns) == (2 * height, 2 * width):
        four = picture.reshape(height, 2, width, 2, -1).astype(np.int64).sum(axis=(1, 3))
        return ((four + 2) >> 2).astype(picture.dtype)
    is_bytes = picture.dtype == np.uint8
    left, right, across = _places(columns, width, is_bytes)
    top, bottom, down = _places(rows, height, is_bytes, beyond=True)
    numbers = picture.astype(np.int64 if is_bytes else np.float32)
    lines = numbers[:, left] * across[0][:, None] + numbers[:, right] * across[1][:, None]
    upper, lower = lines[top], lines[bottom]
    above, below = down[0][:, None, None], down[1][:, None, None]
    if is_bytes:
        sums = (((above * (upper >> 4)) >> 16) + ((below * (lower >> 4)) >> 16) + 2) >> 2
        return np.clip(sums, 0, 255).astype(np.uint8)
    return np.clip(np.rint(upper * above + lower * below), 0, 65535).astype(picture.dtype)


def _places(length: int, wanted: int, is_bytes: bool, beyond: bool = False) -> tuple[Any, Any, Any]:
    """Return for every pixel of a side the two that it lies between, and their weights [2, wanted].

    `beyond`: those at the ends keep two weights, for the same pixel twice, which rounds otherwise.
    """
    at = ((np.arange(wanted) + 0.5) * (length / wanted) - 0.5).astype(np.float32)
    first = np.floor(at).astype(np.int64)
    part = (at - first).astype(np.float32)
    if not beyond:
        part[(first < 0) | (first >= length - 1)] = 0
    weights = np.stack([np.float32(1) - part, part])
    if is_bytes:
        weights = np.rint(weights * np.float32(_ONE)).astype(np.int64)
    return np.clip(first, 0, length - 1), np.clip(first + 1, 0, length - 1), weights
