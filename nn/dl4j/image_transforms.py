"""DataVec's transforms of pictures: for an ImageRecordReader, or set on an iterator as a pre-processor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import nd
from nd import ConfigurationError, ShapeError
from nd.arguments import converted, shown
from nd.classes import ExplainedType
from nd.dataset.images.as_opencv import resized
from nd.dataset.images.colors import check_code, converted_colors
from nd.dataset.images.warping import (
    boxed,
    corners_moved,
    each_picture,
    equalized,
    on_bytes,
    rotation,
    single,
    warped_affine,
)
from nd.dataset.java_random import JavaRandom
from nd.rules import INTEGER, NUMBER
from nd.typing import Array


class ImageTransform(metaclass=ExplainedType):
    """Shared by transforms: of a picture ``[C, H, W]``, those of a batch ``[N, C, H, W]``, or a DataSet's features.

    Numbers are Java's to the last bit, on bytes or on floats that are whole numbers of 0 to 255. With a `Random` in
    front, a transform draws for each picture what Java's draws. Such a generator is the transform's own, and not in
    checkpoints: what goes on after them to the bit is `nd.dataset.augmentation`.

    Source: DataVec ``ImageTransform``, ``BaseImageTransform``.
    """

    def __init__(self, random: JavaRandom | None = None) -> None:
        self.random = random

    @property
    def draws(self) -> bool:
        """Whether it draws random numbers, so that nothing is read ahead behind it."""
        return self.random is not None

    def transform(self, image: Any, random: JavaRandom | None = None) -> Array:
        """Return the picture, or the pictures of a batch, changed, as a new array.

        Raises
        ------
        ShapeError
            It is neither, pictures of a batch get different sizes, or one is too small.
        DataError
            Numbers are others than those of bytes, for what computes with them.
        """
        used = self.random if random is None else random
        return each_picture(type(self).__name__, image, lambda picture: self.changed(picture, used))

    def pre_process(self, data_set: Any) -> Any:
        """Change the features of a DataSet; return it. Errors as `transform`."""
        data_set.features = self.transform(data_set.features)
        return data_set

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        """Return a picture ``[C, H, W]`` changed, by numbers of a generator where there is one."""
        raise NotImplementedError


def with_random(
    who: str, given: Sequence[Any], counts: Sequence[int], rule: Any
) -> tuple[JavaRandom | None, list[Any]]:
    """Return a generator, which may stand in front, and the numbers behind it, of which there may be so many."""
    has_random = bool(given) and isinstance(given[0], (JavaRandom, type(None)))
    numbers = given[has_random:]
    if len(numbers) not in counts:
        raise ConfigurationError(
            f"{who}: expected {' or '.join(map(str, counts))} numbers, which a Random may precede, got "
            f"{len(numbers)}: {shown(list(given))}."
        )
    return given[0] if has_random else None, [converted(who, "an argument", rule, number) for number in numbers]


def _spread(number: float, random: JavaRandom | None) -> float:
    """Return a number as it is, or without a sign of its own: times a number of -1 to 1, as Java's floats have it."""
    return number if random is None else single(number * (2 * random.next_float() - 1))


class FlipImageTransform(ImageTransform):
    """Flips pictures: ``()`` and ``(0)`` up and down, ``(1)`` left and right, ``(-1)`` both, ``(random)`` any or none.

    Source: DataVec ``FlipImageTransform``.
    """

    def __init__(self, mode: int | JavaRandom | None = None) -> None:
        random, numbers = with_random(type(self).__name__, [mode], [0, 1], INTEGER)
        super().__init__(random)
        self.flip_mode = numbers[0] if numbers else 0

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        mode = self.flip_mode if random is None else random.next_int(4) - 2
        if random is not None and mode < -1:
            return picture.copy()
        return picture[:, :: -1 if mode <= 0 else 1, :: -1 if mode else 1].copy()


class CropImageTransform(ImageTransform):
    """Cuts edges off: ``([random,] crop)`` or ``([random,] top, left, bottom, right)``, with `random` up to so much.

    Source: DataVec ``CropImageTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        random, numbers = with_random(type(self).__name__, arguments, [1, 4], INTEGER)
        super().__init__(random)
        if min(numbers) < 0:
            raise ConfigurationError(f"CropImageTransform: edges must be at least 0, got {min(numbers)}. Give pixels.")
        self.edges = numbers * (4 // len(numbers))

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        top, left, bottom, right = (edge if random is None else random.next_int(edge + 1) for edge in self.edges)
        height, width = picture.shape[1:]
        y, x = min(top, height - 1), min(left, width - 1)
        return picture[:, y : y + max(1, height - bottom - y), x : x + max(1, width - right - x)].copy()


class RandomCropTransform(ImageTransform):
    """Cuts out a window at a random place: ``([random,] [seed,] height, width)``.

    Differs: Java seeds the generator of the whole thread, with 1234 where no seed is given. Here a seed makes a
    generator of the transform's own, and without one places are drawn from `nd.random.get_random()`, which in ``fit``
    is the network's. Source: DataVec ``RandomCropTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        random, numbers = with_random(type(self).__name__, arguments, [2, 3], INTEGER)
        super().__init__(random)
        self.rng = nd.random.Random(numbers[0]) if len(numbers) == 3 else None
        self.height, self.width = numbers[-2:]
        if min(self.height, self.width) < 1:
            raise ConfigurationError(
                f"RandomCropTransform: height and width must be at least 1, got {self.height} and {self.width}."
            )

    @property
    def draws(self) -> bool:
        """True: it draws places."""
        return True

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        spare = [length - cut for length, cut in zip(picture.shape[1:], (self.height, self.width), strict=True)]
        if min(spare) < 0:
            raise ShapeError(
                f"RandomCropTransform: pictures must be at least {self.height} x {self.width}, got "
                f"{picture.shape[1]} x {picture.shape[2]}. Resize them before, or cut out less."
            )
        drawn = nd.to_host((self.rng or nd.random.get_random()).uniform(2)).tolist()
        y, x = (min(int(u * (left + 1)), left) for u, left in zip(drawn, spare, strict=True))
        return picture[:, y : y + self.height, x : x + self.width].copy()


class ResizeImageTransform(ImageTransform):
    """Brings pictures to a size: ``([random,] width, height)``. Source: DataVec ``ResizeImageTransform``."""

    def __init__(self, *arguments: Any) -> None:
        random, numbers = with_random(type(self).__name__, arguments, [2], INTEGER)
        super().__init__(random)
        self.width, self.height = numbers
        if min(numbers) < 1:
            raise ConfigurationError(f"ResizeImageTransform: width and height must be at least 1, got {numbers}.")

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        return on_bytes(type(self).__name__, picture, lambda x: resized(x, self.height, self.width))


class ScaleImageTransform(ImageTransform):
    """Makes pictures larger by pixels: ``([random,] delta)`` or ``([random,] dx, dy)``, with `random` up to so many.

    Source: DataVec ``ScaleImageTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        random, numbers = with_random(type(self).__name__, arguments, [1, 2], NUMBER)
        super().__init__(random)
        self.dx, self.dy = (single(number) for number in (numbers * 2)[:2])

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        height, width = (
            int((single(length + _spread(delta, random)) + 0.5) // 1)  # Math.round
            for length, delta in zip(picture.shape[1:], (self.dy, self.dx), strict=True)
        )
        if min(height, width) < 1:
            raise ShapeError(
                f"ScaleImageTransform: pictures must have pixels left, got {height} x {width} of "
                f"{picture.shape[1]} x {picture.shape[2]}. Scale by less."
            )
        return on_bytes(type(self).__name__, picture, lambda x: resized(x, height, width))


class RotateImageTransform(ImageTransform):
    """Rotates pictures, in degrees counterclockwise: ``([random,] angle)`` or ``([random,] centerx, centery, angle,
    scale)``, the center from the picture's, the scale from 1, and with `random` all up to so much either way.

    Outside is black. Source: DataVec ``RotateImageTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        random, numbers = with_random(type(self).__name__, arguments, [1, 4], NUMBER)
        super().__init__(random)
        single_ones = [single(number) for number in numbers]
        self.center_x, self.center_y, self.angle, self.scale = (
            single_ones if len(numbers) == 4 else (0.0, 0.0, *single_ones, 0.0)
        )

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        height, width = picture.shape[1:]
        y = single(height // 2 + _spread(self.center_y, random))
        x = single(width // 2 + _spread(self.center_x, random))
        angle = _spread(self.angle, random)
        matrix = rotation((x, y), angle, single(1 + _spread(self.scale, random)))
        return on_bytes(type(self).__name__, picture, lambda pixels: warped_affine(pixels, matrix))


class BoxImageTransform(ImageTransform):
    """Brings pictures to ``([random,] width, height)`` without scaling: cuts off around the middle, or adds black.

    Source: DataVec ``BoxImageTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        random, numbers = with_random(type(self).__name__, arguments, [2], INTEGER)
        super().__init__(random)
        self.width, self.height = numbers
        if min(numbers) < 1:
            raise ConfigurationError(f"BoxImageTransform: width and height must be at least 1, got {numbers}.")

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        return boxed(picture, self.height, self.width)


class WarpImageTransform(ImageTransform):
    """Moves the corners of pictures: ``([random,] delta)`` or ``([random,] dx1, dy1, dx2, dy2, dx3, dy3, dx4, dy4)``.

    Clockwise from the top left, in pixels; with `random` up to so many either way. Outside is black. Source: DataVec
    ``WarpImageTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        random, numbers = with_random(type(self).__name__, arguments, [1, 8], NUMBER)
        super().__init__(random)
        self.deltas = [single(number) for number in numbers * (8 // len(numbers))]

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        deltas = [_spread(delta, random) for delta in self.deltas]
        return on_bytes(type(self).__name__, picture, lambda pixels: corners_moved(pixels, deltas))


class ColorConversionTransform(ImageTransform):
    """Converts colours by a code of OpenCV's: ``([random,] code)``, ``(4)`` exchanges blue and red.

    Differs: Java's default, BGR to Luv, is refused, as are all codes but 4, 6 to 8, 36, 37, 40, 41, 82 and 83. Source:
    DataVec ``ColorConversionTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        who = type(self).__name__
        random, numbers = with_random(who, arguments, [1], INTEGER)
        super().__init__(random)
        self.conversion_code = numbers[0]
        check_code(who, self.conversion_code)

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        who = type(self).__name__
        return on_bytes(who, picture, lambda pixels: converted_colors(who, pixels, self.conversion_code))


class EqualizeHistTransform(ImageTransform):
    """Makes the histogram of the first channel even: ``([random,] [code])``; the code changes nothing, as in Java.

    Source: DataVec ``EqualizeHistTransform``.
    """

    def __init__(self, *arguments: Any) -> None:
        random, _ = with_random(type(self).__name__, arguments, [0, 1], INTEGER)
        super().__init__(random)

    def changed(self, picture: Any, random: JavaRandom | None) -> Any:
        return on_bytes(type(self).__name__, picture, equalized)
