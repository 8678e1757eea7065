"""RandomRotation and RandomZoom: pictures sampled at other places than those of their pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from backends.errors import ConfigurationError
from nd.arguments import Positive, Range, checked
from nd.dataset.augmentation.base import Augmentation
from nd.dataset.augmentation.crop import Fill, outside

if TYPE_CHECKING:
    from nd.typing import HostArray

Interpolation = Literal["bilinear", "nearest"]
Angle = Annotated[float, Range("in 0..180", lambda value: 0 <= value <= 180)]


class _Resampling(Augmentation):
    """Shared by what maps each picture by a matrix of its own about its center."""

    moves_pixels: ClassVar[bool] = True

    def __init__(self, interpolation: str, fill: Any) -> None:
        super().__init__()
        self.interpolation, self.fill = interpolation, fill

    def matrices(self, drawn: HostArray) -> HostArray:
        """Return ``[N, 2, 2]``: from a place in the result, (y, x) from the center, to that in the picture."""
        raise NotImplementedError

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        return self._sampled(x, drawn, self.interpolation, self.fill)

    def moved(self, x: HostArray, drawn: HostArray) -> HostArray:
        return self._sampled(x, drawn, "nearest", 0.0 if isinstance(self.fill, float) else self.fill)

    def _sampled(self, x: HostArray, drawn: HostArray, interpolation: str, fill: Any) -> HostArray:
        out, (height, width) = self.empty(x.shape, x.dtype), x.shape[2:]
        y = np.arange(height)[:, None] - (height - 1) / 2
        across = np.arange(width) - (width - 1) / 2
        sample = _bilinear if interpolation == "bilinear" else _nearest
        for result, picture, matrix in zip(out, x, self.matrices(drawn.astype(np.float64)), strict=True):
            rows = matrix[0, 0] * y + matrix[0, 1] * across + (height - 1) / 2
            columns = matrix[1, 0] * y + matrix[1, 1] * across + (width - 1) / 2
            result[...] = sample(_Pixels(picture, fill), rows, columns)
        return out


class RandomRotation(_Resampling):
    """Rotate each picture about its center.

    Parameters
    ----------
    degrees : float or (low, high)
        Angles are uniform between these, counterclockwise; one number stands for (-degrees, degrees).
    interpolation : "bilinear" or "nearest"
        How pictures are read between pixels. Labels and masks are read at the nearest pixel.
    fill : float, "edge" or "reflect"
        Outside of the picture: a number, the edge's pixels, or the picture reflected. Labels and masks have 0 where
        pictures have a number.

    Raises
    ------
    ArgumentError
        An angle is no finite number, or the one for both is not in 0 to 180.
    ConfigurationError
        `low` is larger than `high`.

    Notes
    -----
    Source: torchvision.transforms.RandomRotation.
    """

    @checked
    def __init__(
        self,
        degrees: Angle | tuple[float, float] = 15.0,
        interpolation: Interpolation = "bilinear",
        fill: Fill = 0.0,
    ) -> None:
        super().__init__(interpolation, fill)
        self.degrees = (-degrees, degrees) if isinstance(degrees, float) else degrees
        check_ordered("RandomRotation", "degrees", self.degrees)

    def matrices(self, drawn: HostArray) -> HostArray:
        low, high = self.degrees
        angle = np.deg2rad(low + drawn[0] * (high - low))
        sine, cosine = np.sin(angle), np.cos(angle)
        return np.moveaxis(np.array([[cosine, sine], [-sine, cosine]]), 2, 0)


class RandomZoom(_Resampling):
    """Enlarge each picture about its center, or make it smaller.

    Parameters
    ----------
    low, high : float
        Factors are uniform between these; 2 shows the middle half of the picture at twice its size.
    interpolation, fill
        As in `RandomRotation`.

    Raises
    ------
    ArgumentError
        A factor is not positive.
    ConfigurationError
        `low` is larger than `high`.

    Notes
    -----
    Source: torchvision.transforms.RandomAffine, its scale.
    """

    @checked
    def __init__(
        self,
        low: Positive = 0.8,
        high: Positive = 1.2,
        interpolation: Interpolation = "bilinear",
        fill: Fill = 0.0,
    ) -> None:
        super().__init__(interpolation, fill)
        self.low, self.high = low, high
        check_ordered("RandomZoom", "low and high", (low, high))

    def matrices(self, drawn: HostArray) -> HostArray:
        return np.eye(2) / (self.low + drawn[0] * (self.high - self.low))[:, None, None]


def check_ordered(who: str, name: str, bounds: tuple[float, float]) -> None:
    """Raise ConfigurationError unless the lower bound is the first."""
    if bounds[0] > bounds[1]:
        raise ConfigurationError(
            f"{who}: {name} must be the lower one and the higher one, got {bounds[0]} and {bounds[1]}. Exchange them."
        )


class _Pixels:
    """A picture ``[C, H, W]`` that has something at every place, also outside."""

    def __init__(self, picture: HostArray, fill: Any) -> None:
        channels, self.height, self.width = picture.shape
        self.dtype = picture.dtype
        self._mode = fill if isinstance(fill, str) else None
        if self._mode is None:
            framed = np.full((channels, self.height + 2, self.width + 2), fill, picture.dtype)
            framed[:, 1:-1, 1:-1] = picture
            picture = framed
        self._stride = picture.shape[2]
        self._flat = picture.reshape(channels, -1)

    def at(self, rows: HostArray, columns: HostArray) -> HostArray:
        """Return the pixels ``[C, h, w]`` at whole places ``[h, w]``."""
        y, x = self._placed(rows, self.height), self._placed(columns, self.width)
        return self._flat.take(y * self._stride + x, axis=1)

    def _placed(self, places: HostArray, length: int) -> HostArray:
        whole = places.astype(np.int64)
        return np.clip(whole, -1, length) + 1 if self._mode is None else outside(whole, length, self._mode)


def _nearest(pixels: _Pixels, rows: HostArray, columns: HostArray) -> HostArray:
    return pixels.at(np.rint(rows), np.rint(columns))


def _bilinear(pixels: _Pixels, rows: HostArray, columns: HostArray) -> HostArray:
    top, left = np.floor(rows), np.floor(columns)
    precision = np.float64 if pixels.dtype == np.float64 else np.float32
    down, right = (rows - top).astype(precision), (columns - left).astype(precision)
    upper = (1 - right) * pixels.at(top, left) + right * pixels.at(top, left + 1)
    lower = (1 - right) * pixels.at(top + 1, left) + right * pixels.at(top + 1, left + 1)
    between = (1 - down) * upper + down * lower
    return np.rint(between).astype(pixels.dtype) if pixels.dtype.kind in "iu" else between
