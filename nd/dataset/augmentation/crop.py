"""RandomCrop and RandomShift: windows of pictures, which may reach over their edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, cast

import numpy as np

from backends.errors import ConfigurationError, ShapeError
from nd.arguments import Count, Natural, Range, checked
from nd.dataset.augmentation.base import Augmentation

if TYPE_CHECKING:
    from nd.typing import HostArray

Fill = float | Literal["edge", "reflect"]
Share = Annotated[float, Range("with 0 <= it < 1", lambda value: 0 <= value < 1)]


class _Windows(Augmentation):
    """Shared by what shows a window of each picture, at a place of its own."""

    moves_pixels: ClassVar[bool] = True
    numbers: int = 2

    def __init__(self, fill: Any) -> None:
        super().__init__()
        self.fill = fill

    def window(self, size: tuple[int, int]) -> tuple[int, int]:
        """Return height and width of the window on pictures of a size."""
        return size

    def reach(self, size: tuple[int, int]) -> tuple[int, int]:
        """Return how many pixels above and left of a picture of that size windows may begin."""
        raise NotImplementedError

    def check_size(self, who: str, channels: int, size: tuple[int, int]) -> None:
        reach, window = self.reach(size), self.window(size)
        for axis, name in enumerate(("height", "width")):
            if window[axis] > size[axis] + 2 * reach[axis]:
                raise ShapeError(
                    f"{who}: the {name} to cut out must be at most that of the pictures with their padding, "
                    f"{size[axis] + 2 * reach[axis]}, got {window[axis]}. Give more padding, or a smaller size."
                )
            if self.fill == "reflect" and reach[axis] >= size[axis]:
                raise ShapeError(
                    f"{who}: padding with reflections must be less than the pictures' {name}, {size[axis]}, got "
                    f"{reach[axis]}. Give less, or fill='edge'."
                )

    def changed(self, x: HostArray, drawn: HostArray) -> HostArray:
        return self._windows(x, drawn, self.fill)

    def moved(self, x: HostArray, drawn: HostArray) -> HostArray:
        return self._windows(x, drawn, 0.0 if isinstance(self.fill, float) else self.fill)

    def _windows(self, x: HostArray, drawn: HostArray, fill: Any) -> HostArray:
        size = cast("tuple[int, int]", x.shape[2:])
        reach, window = self.reach(size), self.window(size)
        starts = [
            ((u * np.float32(size[axis] + 2 * reach[axis] - window[axis] + 1)).astype(np.int64) - reach[axis]).tolist()
            for axis, u in enumerate(drawn)
        ]
        out = self.empty((*x.shape[:2], *window), x.dtype)
        for picture, source, top, left in zip(out, x, *starts, strict=True):
            if isinstance(fill, str):
                show_padded(picture, source, top, left, fill)
            else:
                show(picture, source, top, left, fill)
        return out


class RandomCrop(_Windows):
    """Cut a window out of each picture, at a place of its own; with padding it may reach over the edges.

    Parameters
    ----------
    size : int or (height, width), optional
        Of the window, in pixels. Without it that of the pictures, for which there must be padding.
    padding : int
        Pixels around each picture before the window is cut out.
    fill : float, "edge" or "reflect"
        What the padding has: a number, the pixels of the edge, or the picture reflected. Labels and masks have 0 where
        pictures have a number.

    Raises
    ------
    ArgumentError
        `size` is less than 1, `padding` is negative, or `fill` is none of these.
    ConfigurationError
        There is neither a size nor padding.
    ShapeError
        From `pre_process` and `transform`: the window is larger than a picture with its padding.

    Notes
    -----
    All places are equally likely. Source: torchvision.transforms.RandomCrop.

    Examples
    --------
    >>> import numpy as np
    >>> RandomCrop((2, 2)).transform(np.zeros((8, 3, 4, 4))).shape
    (8, 3, 2, 2)
    """

    @checked
    def __init__(self, size: Count | tuple[Count, Count] | None = None, padding: Natural = 0, fill: Fill = 0.0) -> None:
        super().__init__(fill)
        if size is None and not padding:
            raise ConfigurationError(
                "RandomCrop: expected a size or padding, got neither, with which pictures stay as they are. Give one."
            )
        self.size = (size, size) if isinstance(size, int) else size
        self.padding = padding

    def window(self, size: tuple[int, int]) -> tuple[int, int]:
        return self.size or size

    def reach(self, size: tuple[int, int]) -> tuple[int, int]:
        return self.padding, self.padding


class RandomShift(_Windows):
    """Shift each picture by whole pixels, up or down and left or right.

    Parameters
    ----------
    height : float
        Largest shift up and down, as a share of the height, 0 to below 1; it is rounded down to pixels.
    width : float
        Largest shift left and right, as a share of the width.
    fill : float, "edge" or "reflect"
        Outside of the picture: a number, the edge's pixels, or the picture reflected. Labels and masks have 0 where
        pictures have a number.

    Raises
    ------
    ArgumentError
        A share is not in 0 to below 1, or `fill` is none of these.

    Notes
    -----
    All shifts are equally likely. Source: keras.layers.RandomTranslation. Differs: there shifts are of fractions of
    pixels, which blurs.
    """

    @checked
    def __init__(self, height: Share = 0.1, width: Share = 0.1, fill: Fill = 0.0) -> None:
        super().__init__(fill)
        self.height, self.width = height, width

    def reach(self, size: tuple[int, int]) -> tuple[int, int]:
        return int(self.height * size[0] + _ROUNDING), int(self.width * size[1] + _ROUNDING)


_ROUNDING = 1e-9  # 0.29 of 100 pixels are 29, though their product is less


def show(out: HostArray, picture: HostArray, top: int, left: int, fill: float) -> None:
    """Write the window of a picture ``[C, H, W]`` that begins at (top, left), with `fill` outside of the picture."""
    height, width = out.shape[1:]
    first, last = max(0, -top), min(height, picture.shape[1] - top)
    begin, end = max(0, -left), min(width, picture.shape[2] - left)
    if first >= last or begin >= end:
        out[...] = fill
        return
    out[:, first:last, begin:end] = picture[:, first + top : last + top, begin + left : end + left]
    if first:
        out[:, :first] = fill
    if last < height:
        out[:, last:] = fill
    if begin:
        out[:, :, :begin] = fill
    if end < width:
        out[:, :, end:] = fill


def show_padded(out: HostArray, picture: HostArray, top: int, left: int, mode: str) -> None:
    """Write the same, with the edge or the reflected picture outside."""
    rows, columns = (
        outside(np.arange(start, start + length), full, mode)
        for start, length, full in zip((top, left), out.shape[1:], picture.shape[1:], strict=True)
    )
    out[...] = picture[:, rows][:, :, columns]


def outside(places: HostArray, length: int, mode: str) -> HostArray:
    """Return the places 0 to length - 1 that stand for any: those of the edge, or those of the reflection."""
    if mode == "edge" or length == 1:
        return np.clip(places, 0, length - 1)
    period = 2 * length - 2
    around = places % period
    return np.minimum(around, period - around)
