"""ColorJitter and RandomGrayscale: other colours at the same places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import numpy as np

from backends.errors import DataError
from nd.arguments import Fraction, NonNegative, Positive, Range, checked
from nd.dataset.augmentation.base import Augmentation, check_channels
from nd.serde import as_host

if TYPE_CHECKING:
    from nd.typing import HostArray

Order = Literal["rgb", "bgr"]
Hue = Annotated[float, Range("in 0..0.5", lambda value: 0 <= value <= 0.5)]
_LUMA = (0.2989, 0.587, 0.114)  # shares of red, green and blue in grey, as torchvision has them


class ColorJitter(Augmentation):
    """Change brightness, contrast, saturation and hue of each picture, in this order.

    Parameters
    ----------
    brightness, contrast, saturation : float
        A picture's factor is uniform between ``max(0, 1 - value)`` and ``1 + value``; 0 leaves out the change. The
        last two mix the picture with its mean grey, and with its own grey.
    hue : float
        A picture's hue is turned by a share of the circle, uniform between -hue and hue; at most 0.5.
    white : float
        The largest number of a pixel: 1, or 255. What gets larger becomes it, and what gets negative becomes 0.
    channel_order : "rgb" or "bgr"
        Order of the channels.

    Raises
    ------
    ArgumentError
        A value is negative or too large, or the order is another one.
    ShapeError, DTypeError
        From `pre_process` and `transform`: pictures have neither 1 nor 3 channels, or hold integers.
    DataError
        From the same: pixels are not in 0 to `white`.

    Notes
    -----
    Grey pictures have no saturation and no hue. Set it before what subtracts a mean. Source:
    torchvision.transforms.ColorJitter. Differs: there the four changes are in a random order.
    """

    numbers: int = 4
    takes_integers: ClassVar[bool] = False

    @checked
    def __init__(
        self,
        brightness: NonNegative = 0.0,
        contrast: NonNegative = 0.0,
        saturation: NonNegative = 0.0,
        hue: Hue = 0.0,
        *,
        white: Positive = 1.0,
        channel_order: Order = "rgb",
    ) -> None:
        super().__init__()
        self.brightness, self.contrast, self.saturation, self.hue = brightness, contrast, saturation, hue
        self.white, self.channel_order = white, channel_order

    def check_size(self, who: str, channels: int, size: tuple[int, int]) -> None:
        check_channels(who, channels)

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        out = self.empty(x.shape, x.dtype)
        np.copyto(out, x)
        u = drawn.astype(x.dtype)[:, :, None, None, None]  # [4, N, 1, 1, 1]
        if self.brightness:
            out *= _factor(u[0], self.brightness)
            np.clip(out, 0, self.white, out=out)
        if self.contrast:
            mean = grey(out, self.channel_order).mean(axis=(2, 3), keepdims=True, dtype=np.float64).astype(x.dtype)
            self._blend(out, mean, _factor(u[1], self.contrast))
        if self.saturation and x.shape[1] == 3:
            self._blend(out, grey(out, self.channel_order), _factor(u[2], self.saturation))
        if self.hue and x.shape[1] == 3:
            colors = out if self.channel_order == "rgb" else out[:, ::-1]
            colors[...] = turned(colors, (2 * u[3, :, 0] - 1) * self.hue)
        return out

    def _check_pixels(self, who: str, array: Any, size: tuple[int, ...]) -> None:
        super()._check_pixels(who, array, size)
        x, spare = as_host(array), self.white / 100  # for the rounding of what comes before
        least, most = (float(x.min()), float(x.max())) if x.size else (0.0, 0.0)
        if least < -spare or most > self.white + spare:
            raise DataError(
                f"{who}: pixels must be in 0 to white={self.white:g}, got {least:.6g} to {most:.6g}. Set it before "
                "what subtracts a mean, and say what the largest number of a pixel is, as white=255."
            )

    def _blend(self, out: HostArray, other: HostArray, factor: HostArray) -> None:
        out *= factor
        out += (1 - factor) * other
        np.clip(out, 0, self.white, out=out)


class RandomGrayscale(Augmentation):
    """Make some pictures grey; their three channels are then alike.

    Parameters
    ----------
    probability : float
        That a picture becomes grey.
    channel_order : "rgb" or "bgr"
        Order of the channels.

    Raises
    ------
    ArgumentError
        The probability is not in 0 to 1, or the order is another one.
    ShapeError, DTypeError
        From `pre_process` and `transform`: pictures have neither 1 nor 3 channels, or hold integers.

    Notes
    -----
    Grey is 0.2989 R + 0.587 G + 0.114 B. Source: torchvision.transforms.RandomGrayscale.
    """

    takes_integers: ClassVar[bool] = False

    @checked
    def __init__(self, probability: Fraction = 0.1, *, channel_order: Order = "rgb") -> None:
        super().__init__()
        self.probability, self.channel_order = probability, channel_order

    def check_size(self, who: str, channels: int, size: tuple[int, int]) -> None:
        check_channels(who, channels)

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        out = self.empty(x.shape, x.dtype)
        np.copyto(out, x)
        chosen = np.flatnonzero(drawn[0] < self.probability)
        out[chosen] = grey(out[chosen], self.channel_order)
        return out


def _factor(u: HostArray, value: float) -> HostArray:
    low = max(0.0, 1.0 - value)
    return low + u * (1.0 + value - low)


def grey(x: HostArray, order: str) -> HostArray:
    """Return the grey ``[N, 1, H, W]`` of pictures; those of one channel as they are."""
    if x.shape[1] == 1:
        return x.copy()
    red, green, blue = (x[:, channel : channel + 1] for channel in (range(3) if order == "rgb" else (2, 1, 0)))
    result = red * _LUMA[0]
    result += green * _LUMA[1]
    result += blue * _LUMA[2]
    return result


def turned(x: HostArray, shift: HostArray) -> HostArray:
    """Return pictures ``[N, 3, H, W]``, red, green and blue, with the hue turned by shares ``[N, 1, 1]``.

    In a hexagon of colours, as HSV has them: value and saturation stay.
    """
    value, least = x.max(axis=1), x.min(axis=1)
    spread = value - least
    divisor = np.where(spread == 0, 1, spread)
    red, green, blue = (x[:, channel] for channel in range(3))
    sextant = np.where(
        value == red,
        (green - blue) / divisor,
        np.where(value == green, 2 + (blue - red) / divisor, 4 + (red - green) / divisor),
    )
    hue = sextant + 6 * shift
    # a channel is high within a sextant of its own corner, low beyond two, and goes from one to the other between
    channels = [value - spread * _fall(hue + corner) for corner in (5, 3, 1)]
    return np.stack(channels, axis=1)


def _fall(place: HostArray) -> HostArray:
    around = place % 6
    return np.clip(np.minimum(around, 4 - around), 0, 1)
