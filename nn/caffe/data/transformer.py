"""What data layers do to pictures: mean, scale, crop, mirror."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape
from nd.dataset.java_random import JavaRandom
from nd.dataset.picture_batches import Chunk, Cut, PictureBatches, pixels_of
from nd.typing import HostArray

from ..layers.base import Shape
from ..schema import Message
from .mean_files import read_mean


class Transformer:
    """Turns pictures into minibatches as a TransformationParameter says: (x - mean) scale of a crop, mirrored or not.

    Parameters
    ----------
    settings : TransformationParameter
    phase : {"TRAIN", "TEST"}
    dtype : str
        Of the minibatches.
    random : callable
        Returns the generator; asked where pictures are mirrored, or cropped in training.
    folder : str
        What a relative `mean_file` begins from.

    Raises
    ------
    ConfigurationError
        There is a mean file and mean values, or both force_color and force_gray.
    FileNotFoundError, FormatError
        The mean file is not there, or damaged.

    Notes
    -----
    A mean file is of whole pictures, and is looked up where the crop lies in them. In training a crop lies anywhere, in
    tests in the middle: at (H - crop) // 2. Pictures are mirrored with probability 1/2, in tests too.
    Source: BVLC Caffe, data_transformer.cpp.
    """

    def __init__(
        self, settings: Message, phase: str, dtype: str, random: Callable[[], JavaRandom], folder: str = ""
    ) -> None:
        if settings.HasField("mean_file") and settings.mean_value:
            raise ConfigurationError("mean_file must stand alone, got mean_value beside it. Leave one out.")
        if settings.force_color and settings.force_gray:
            raise ConfigurationError("force_color and force_gray exclude one another, got both. Leave one out.")
        self.color = True if settings.force_color else False if settings.force_gray else None
        """How pictures in files are decoded: in colours, in shades of grey, or as they are."""
        self._crop, self._mirrors, self._moves = settings.crop_size, settings.mirror, phase == "TRAIN"
        self._draws = random() if self._mirrors or (self._crop and self._moves) else None
        self._values: list[float] = list(settings.mean_value)
        mean = self._read_mean(os.path.join(folder, settings.mean_file)) if settings.HasField("mean_file") else None
        self._of: Shape | None = None if mean is None else tuple(mean.shape)
        self._scale, self._dtype = settings.scale, dtype
        self._batches = None if self._values else PictureBatches(mean, settings.scale, dtype)

    def shape(self, picture: Shape) -> Shape:
        """Return the shape in a minibatch of a picture ``(C, H, W)``.

        Raises
        ------
        ShapeError
            It is empty, smaller than the crop, or not of the size or the channels of the mean.
        """
        channels, height, width = picture
        if min(picture) < 1:
            raise ShapeError(f"a picture must have pixels, got {describe_shape(picture)}.")
        if min(height, width) < self._crop:
            raise ShapeError(
                f"a picture must be as large as crop_size, {self._crop}, got {describe_shape(picture)}. Enlarge it."
            )
        if self._of not in (None, picture):
            raise ShapeError(
                f"a picture must be as the one of mean_file, {describe_shape(self._of)}, got {describe_shape(picture)}."
            )
        if len(self._values) not in (0, 1, channels):
            raise ShapeError(
                f"mean_value must be there once or {channels} times, for the channels of a picture "
                f"{describe_shape(picture)}, got {len(self._values)}."
            )
        return (channels, self._crop or height, self._crop or width)

    def minibatch(self, chunks: Sequence[Chunk], shapes: Sequence[Shape]) -> HostArray:
        """Return pictures ``[N, C, H, W]``.

        Parameters
        ----------
        chunks : sequence of bytes, or of sequences of float
            The pixels of each.
        shapes : sequence of tuples
            ``(C, H, W)`` of each.

        Raises
        ------
        ShapeError
            A picture does not fit the settings, or another one of the minibatch.
        """
        out = self.shape(shapes[0])
        for number, shape in enumerate(shapes):
            if shape != shapes[0] and self.shape(shape) != out:
                raise ShapeError(
                    f"pictures of a minibatch must become equally large, {describe_shape(out)}, got "
                    f"{describe_shape(self.shape(shape))} for number {number}. Set crop_size, or a size for all."
                )
        if self._batches is None:
            self._batches = PictureBatches(self._mean_of(out[0]), self._scale, self._dtype)
        return self._batches(pixels_of(chunks, shapes), self._cuts(shapes), (out[1], out[2]))

    def _cuts(self, shapes: Sequence[Shape]) -> list[Cut]:
        """Return what is taken of each picture; a generator is asked as Caffe's is: mirrored?, row, column."""
        if self._draws is None:
            return [self._centre(shapes[0])] * len(shapes) if _are_equal(shapes) else [*map(self._centre, shapes)]
        draw, crop = self._draws.next_int, self._crop
        cuts = []
        for shape in shapes:
            mirrored = self._mirrors and draw(2) == 1
            if crop and self._moves:
                cuts.append(Cut(draw(shape[1] - crop + 1), draw(shape[2] - crop + 1), mirrored))
            else:
                cuts.append(self._centre(shape)._replace(mirrored=mirrored))
        return cuts

    def _centre(self, shape: Shape) -> Cut:
        return Cut((shape[1] - self._crop) // 2, (shape[2] - self._crop) // 2) if self._crop else Cut()

    def _mean_of(self, channels: int) -> HostArray:
        """Return `mean_value` as ``[C, 1, 1]``, one of each channel."""
        values = self._values if len(self._values) > 1 else self._values * channels
        return nd.to_host(nd.reshape(nd.create(values, self._dtype), (channels, 1, 1)))

    def _read_mean(self, path: str) -> HostArray:
        return nd.to_host(read_mean(path))


def _are_equal(shapes: Sequence[Shape]) -> bool:
    return shapes.count(shapes[0]) == len(shapes)
