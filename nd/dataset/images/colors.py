"""Conversions of colours by OpenCV's codes, of pictures of bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from backends.errors import ChoiceError, ShapeError
from nd.dataset.images.as_opencv import with_channels

_BITS = 14
_Y = (1868, 9617, 4899)  # shares of blue, green and red in 1 / 2**14
_HSV_BITS = 12


def _grey(bgr: Any) -> Any:
    return with_channels(bgr, 1)


def _colors_of(grey: Any) -> Any:
    return np.repeat(grey, 3, axis=-1)


def _luma(bgr: Any) -> tuple[Any, Any]:
    wide = bgr.astype(np.int64)
    return wide, _rounded(wide @ np.array(_Y))


def _rounded(number: Any, bits: int = _BITS) -> Any:
    return (number + (1 << (bits - 1))) >> bits


def _bytes(*channels: Any) -> Any:
    return np.clip(np.stack(channels, axis=-1), 0, 255).astype(np.uint8)


def _ycrcb(bgr: Any) -> Any:
    wide, luma = _luma(bgr)
    middle = 128 << _BITS
    red, blue = (wide[..., 2] - luma) * 11682 + middle, (wide[..., 0] - luma) * 9241 + middle
    return _bytes(luma, _rounded(red), _rounded(blue))


def _yuv(bgr: Any) -> Any:
    wide, luma = _luma(bgr)
    middle = 128 << _BITS
    blue, red = (wide[..., 0] - luma) * 8061 + middle, (wide[..., 2] - luma) * 14369 + middle
    return _bytes(luma, _rounded(blue), _rounded(red))


def _hsv(bgr: Any) -> Any:
    blue, green, red = np.moveaxis(bgr.astype(np.int64), -1, 0)
    value = np.maximum(np.maximum(blue, green), red)
    spread = value - np.minimum(np.minimum(blue, green), red)
    numbers = np.maximum(np.arange(256), 1)
    by_value = np.rint((255 << _HSV_BITS) / numbers).astype(np.int64)
    by_spread = np.rint((180 << _HSV_BITS) / (6.0 * numbers)).astype(np.int64)
    hue = np.where(
        value == red,
        green - blue,
        np.where(value == green, blue - red + 2 * spread, red - green + 4 * spread),
    )
    hue = _rounded(hue * np.where(spread == 0, 0, by_spread[spread]), _HSV_BITS)
    saturation = _rounded(spread * np.where(value == 0, 0, by_value[value]), _HSV_BITS)
    return _bytes(np.where(hue < 0, hue + 180, hue), saturation, value)


def _reversed(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda rgb: convert(rgb[..., ::-1])


_CODES: dict[int, tuple[int, Callable[[Any], Any]]] = {
    4: (3, lambda bgr: bgr[..., ::-1]),
    6: (3, _grey),
    7: (3, _reversed(_grey)),
    8: (1, _colors_of),
    36: (3, _ycrcb),
    37: (3, _reversed(_ycrcb)),
    40: (3, _hsv),
    41: (3, _reversed(_hsv)),
    82: (3, _yuv),
    83: (3, _reversed(_yuv)),
}
"""Code of cvtColor -> the channels that it takes, and the function."""


def check_code(who: str, code: int) -> None:
    """Raise ChoiceError for a code of cvtColor that is not known."""
    if code not in _CODES:
        raise ChoiceError(
            f"{who}: conversion_code must be one of {sorted(_CODES)}, got {code}: 4 exchanges blue and red, 6 and 7 "
            "make grey of BGR and RGB, 8 BGR of grey, 36 and 37 YCrCb, 40 and 41 HSV, 82 and 83 YUV. Take one of these."
        )


def converted_colors(who: str, picture: Any, code: int) -> Any:
    """Return a picture [H, W, C] of bytes in other colours. Source: OpenCV 4.5 ``cvtColor``."""
    channels, convert = _CODES[code]
    if picture.shape[-1] != channels:
        raise ShapeError(
            f"{who}: conversion {code} takes pictures of {channels} channels, got {picture.shape[-1]}. Read them so."
        )
    return convert(picture)
