"""Pictures changed as OpenCV changes those of bytes: warped, in other colours, with an even histogram."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.dataset.augmentation.crop import show
from nd.serde import as_host

_BITS = 5  # places between pixels are whole numbers of 1 / 32
_STEPS = 1 << _BITS
_PLACE_BITS = 10  # of affine places, before they are rounded to 1 / 32
_WEIGHT_BITS = 15


def each_picture(who: str, images: object, change: Callable[[Any], Any]) -> Any:
    """Return a picture ``[C, H, W]``, or those of a batch ``[N, C, H, W]``, changed one after the other.

    ShapeError where it is neither, or a batch has no pictures, or they get different sizes.
    """
    pictures = as_host(images)
    if pictures.ndim == 3:
        return change(pictures)
    if pictures.ndim != 4:
        raise ShapeError(
            f"{who}: expected a picture [C, H, W] or a batch [N, C, H, W], got {describe_shape(pictures.shape)}."
        )
    if not len(pictures):
        raise ShapeError(f"{who}: a batch must have pictures, got {describe_shape(pictures.shape)}. Leave it out.")
    changed = [change(picture) for picture in pictures]
    sizes = {picture.shape for picture in changed}
    if len(sizes) > 1:
        shown = " and ".join(map(describe_shape, sorted(sizes)[:2]))
        raise ShapeError(
            f"{who}: pictures of a batch must get one size, got {shown}. End with a ResizeImageTransform, in a "
            "PipelineImageTransform."
        )
    return np.stack(changed)


def on_bytes(who: str, picture: Any, change: Callable[[Any], Any]) -> Any:
    """Return a picture ``[C, H, W]`` changed as one of bytes ``[H, W, C]``, in its dtype.

    DataError where its numbers are no whole ones of 0 to 255.
    """
    with np.errstate(invalid="ignore"):  # NaN is no byte, which the next line says
        numbers = picture.astype(np.uint8)
    if picture.dtype != np.uint8 and not np.array_equal(numbers, picture):
        raise DataError(
            f"{who}: pixels must be whole numbers, 0 to 255, got others, {picture.min():.6g} to {picture.max():.6g}. "
            "Set it before what scales them, or take nd.dataset.augmentation."
        )
    changed = change(numbers.transpose(1, 2, 0))
    return changed.transpose(2, 0, 1).astype(picture.dtype)


def single(number: float) -> float:
    """Return a number as Java's float has it."""
    return float(np.float32(number))


def rotation(center: tuple[float, float], angle: float, scale: float) -> Any:
    """Return the matrix ``[2, 3]`` of a rotation, in degrees counterclockwise, about (x, y), as getRotationMatrix2D."""
    x, y = center
    cosine, sine = np.cos(angle * np.pi / 180) * scale, np.sin(angle * np.pi / 180) * scale
    return np.array([
        [cosine, sine, (1 - cosine) * x - sine * y],
        [-sine, cosine, sine * x + (1 - cosine) * y],
    ])  # fmt: skip


def warped_affine(picture: Any, matrix: Any) -> Any:
    """Return a picture [H, W, C] of bytes whose pixels a matrix [2, 3] moves, (x, y, 1) to (x, y), black outside.

    Source: OpenCV 4.5 ``warpAffine`` with INTER_LINEAR.
    """
    height, width = picture.shape[:2]
    inverse = np.linalg.inv(matrix[:, :2])
    shift = -inverse @ matrix[:, 2]
    x, y = np.arange(width), np.arange(height)[:, None]
    one = 1 << _PLACE_BITS
    half = one // _STEPS // 2
    places = [
        (np.rint((inverse[axis, 1] * y + shift[axis]) * one) + half + np.rint(inverse[axis, 0] * x * one)).astype(
            np.int64
        )
        >> (_PLACE_BITS - _BITS)
        for axis in (0, 1)
    ]
    return _between(picture, *places)


def corners_moved(picture: Any, deltas: Sequence[float]) -> Any:
    """Return a picture [H, W, C] of bytes whose corners are moved, (x, y) each, clockwise from the top left.

    Source: OpenCV 4.5 ``getPerspectiveTransform``, ``warpPerspective`` with INTER_LINEAR.
    """
    height, width = picture.shape[:2]
    corners = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float64)
    moved = (corners.astype(np.float32) + np.asarray(deltas, np.float32).reshape(4, 2)).astype(np.float64)
    rows, ends = [], []
    for (x, y), (to_x, to_y) in zip(corners, moved, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -x * to_x, -y * to_x], [0, 0, 0, x, y, 1, -x * to_y, -y * to_y]]
        ends += [to_x, to_y]
    inverse = np.linalg.inv(np.append(np.linalg.solve(np.array(rows), np.array(ends)), 1).reshape(3, 3))
    y, x = np.mgrid[:height, :width]
    across, down, divisor = (row[0] * x + row[1] * y + row[2] for row in inverse)
    factor = np.where(divisor == 0, 0, _STEPS / np.where(divisor == 0, 1, divisor))
    places = np.rint(np.clip(np.stack([across, down]) * factor, -(2**31), 2**31 - 1)).astype(np.int64)
    return _between(picture, *places)


def _between(picture: Any, x: Any, y: Any) -> Any:
    """Return the pixels at places in units of 1 / 32, black outside."""
    height, width = picture.shape[:2]
    framed = np.zeros((height + 2, width + 2, picture.shape[2]), np.int64)
    framed[1:-1, 1:-1] = picture
    part_x, part_y = (x & (_STEPS - 1))[..., None], (y & (_STEPS - 1))[..., None]
    left, right = (np.clip((x >> _BITS) + step, -1, width) + 1 for step in (0, 1))
    top, bottom = (np.clip((y >> _BITS) + step, -1, height) + 1 for step in (0, 1))
    upper = (_STEPS - part_x) * framed[top, left] + part_x * framed[top, right]
    lower = (_STEPS - part_x) * framed[bottom, left] + part_x * framed[bottom, right]
    total = ((_STEPS - part_y) * upper + part_y * lower) << (_WEIGHT_BITS - 2 * _BITS)
    return ((total + (1 << (_WEIGHT_BITS - 1))) >> _WEIGHT_BITS).astype(np.uint8)


def equalized(picture: Any) -> Any:
    """Return a picture [H, W, C] of bytes whose first channel has an even histogram. Source: ``equalizeHist``."""
    channel = picture[:, :, 0]
    counts = np.bincount(channel.ravel(), minlength=256)
    first = int(np.flatnonzero(counts)[0])
    if counts[first] == channel.size:
        return picture
    scale = np.float32(255) / np.float32(channel.size - counts[first])
    sums = np.cumsum(counts) - counts[: first + 1].sum()
    table = np.clip(np.rint(sums.astype(np.float32) * scale), 0, 255).astype(np.uint8)
    result = picture.copy()
    result[:, :, 0] = table[channel]
    return result


def boxed(picture: Any, height: int, width: int) -> Any:
    """Return a picture ``[C, H, W]`` in a size, with the same middle: cut off, or with 0 around."""
    result = np.zeros((picture.shape[0], height, width), picture.dtype)
    top, left = (int((length - wanted) / 2) for length, wanted in zip(picture.shape[1:], (height, width), strict=True))
    show(result, picture, top, left, 0)
    return result
