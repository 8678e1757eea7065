"""Pictures by the names of DataVec: ImageRecordReader, and NativeImageLoader, which reads single ones."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

import nd
from nd import ConfigurationError, DataError, FormatError
from nd.arguments import Count, Natural, Path, checked, shown
from nd.classes import ExplainedType
from nd.dataset.images.decoding import OpenCVDecoder, Unreadable, need_pillow
from nd.dataset.images.files import Pictures
from nd.dataset.images.iterator import PictureIterator
from nd.dataset.pre_processor import draws
from nd.files.reading import checked_path
from nd.typing import Array

from .splits import InputSplit

_FORMATS = "bmp gif jpg jpeg jp2 pbm pgm ppm pnm png tif tiff exr webp"


class NativeImageLoader(metaclass=ExplainedType):
    """Reads pictures: ``NativeImageLoader()`` as they are, ``(height, width[, channels[, crop or transform]])``.

    Parameters
    ----------
    height, width, channels : int
        0: as they are in the file.
    more : bool or transform
        Whether the middle of the longer side is taken first; or what changes the picture before all else.

    Raises
    ------
    ArgumentError, ConfigurationError
        A number is negative, or `more` is neither.

    Notes
    -----
    Numbers are 0 to 255, colours BGR, and sizes change between the nearest pixels, without smoothing: Java's numbers,
    to the last bit. Of 16 bits numbers are 0 to 65535. Differs: colours of 16 bits have 8.

    Source: DataVec ``NativeImageLoader``.
    """

    ALLOWED_FORMATS: ClassVar[list[str]] = [*_FORMATS.split(), *_FORMATS.upper().split()]

    @checked
    def __init__(self, height: Natural = 0, width: Natural = 0, channels: Natural = 0, more: Any = None) -> None:
        if not (more is None or isinstance(more, bool) or hasattr(more, "transform")):
            raise ConfigurationError(
                f"NativeImageLoader: expected height, width, channels, and crop or a transform, got {shown(more)}."
            )
        crop = isinstance(more, bool) and more
        self._decoder = OpenCVDecoder(height, width, channels, crop, None if isinstance(more, bool) else more)

    @checked
    def asMatrix(self, path: Path, nchw: bool = True) -> Array:
        """Return a picture, an array ``[1, C, H, W]``, or ``[1, H, W, C]``.

        Raises
        ------
        FormatError
            It is no picture, or a damaged one.
        OSError
            The file cannot be read.
        """
        need_pillow("NativeImageLoader")
        name = checked_path("NativeImageLoader.asMatrix", path)
        try:
            picture = self._decoder(name)
        except Unreadable as error:
            raise FormatError(
                f"NativeImageLoader.asMatrix: '{name}' must be a picture that can be decoded, got {error}."
            ) from None
        numbers = (picture.transpose(2, 0, 1) if nchw else picture)[None].astype("float32")
        return nd.create(numbers)

    @checked
    def asRowVector(self, path: Path) -> Array:
        """Return a picture, an array ``[1, C * H * W]``. The errors are those of `asMatrix`."""
        return nd.reshape(self.asMatrix(path), (1, -1))


class ImageRecordReader(metaclass=ExplainedType):
    """Reads pictures: ``ImageRecordReader(height, width[, channels][, label_generator][, transform])``.

    Parameters
    ----------
    height, width : int
    arguments
        Channels, 1 where they are left out, a label generator such as `ParentPathLabelGenerator`, and a transform,
        which changes pictures before they get their size.

    Notes
    -----
    It is for `RecordReaderDataSetIterator`, and hands out no records by itself. Numbers are those of
    `NativeImageLoader`.

    Source: DataVec ``ImageRecordReader``. Differs: Java's boolean for channels that are last is refused; a
    `PermuteDataSetPreProcessor` does that.
    """

    @checked
    def __init__(self, height: Count, width: Count, *arguments: Any) -> None:
        rest = list(arguments)
        self.height, self.width = height, width
        self.channels = rest.pop(0) if rest and isinstance(rest[0], int) and not isinstance(rest[0], bool) else 1
        if rest and rest[0] is True:
            rest.pop(0)
        labels = [each for each in rest if hasattr(each, "getLabelForPath")]
        transforms = [each for each in rest if hasattr(each, "transform")]
        given = [each for each in rest if each is not None]
        if len(given) != len(labels[:1]) + len(transforms[:1]) or self.channels not in (1, 3, 4):
            raise ConfigurationError(
                "ImageRecordReader: expected (height, width, channels, label_generator, transform), channels 1, 3 or "
                f"4, got {arguments!r} behind the width. For channels that are last set a PermuteDataSetPreProcessor."
            )
        self.label_generator = labels[0] if labels else None
        self.transform = transforms[0] if transforms else None
        self.split: InputSplit | None = None
        self._labels: list[str] = []

    def initialize(self, split: InputSplit, transform: Any = None) -> None:
        """Set the files to read, and learn their labels.

        Raises
        ------
        DataError
            There are none.
        """
        if not split.paths:
            raise DataError("ImageRecordReader.initialize: expected files, got none in the split. Look at its folder.")
        if transform is not None:
            self.transform = transform
        if self.label_generator is not None:
            self._labels = sorted({self.label_generator.getLabelForPath(path) for path in split.paths})
        self.split = split

    def getLabels(self) -> list[str]:
        """Return the names of the classes, sorted."""
        return list(self._labels)

    def setLabels(self, labels: Sequence[str]) -> None:
        """Set the names of the classes, those of a training for instance, in the order of the labels' columns."""
        self._labels = list(labels)

    def numLabels(self) -> int:
        """Return the number of classes."""
        return len(self._labels)

    def files(self) -> InputSplit:
        """Return the split that was set; raise ConfigurationError where none was."""
        if self.split is None:
            raise ConfigurationError("ImageRecordReader: the reader must have files. Call initialize(split).")
        return self.split

    def pictures(self) -> Pictures:
        """Return the files and their classes.

        Raises
        ------
        ConfigurationError
            There are no files yet.
        DataError
            A file's label is none of `getLabels`.
        """
        split = self.files()
        names = [path.removeprefix(split.root).replace(os.sep, "/") for path in split.paths]
        if self.label_generator is None:
            return Pictures(names, None, None)
        places = {label: place for place, label in enumerate(self._labels)}
        labels = [self.label_generator.getLabelForPath(path) for path in split.paths]
        unknown = sorted(set(labels) - set(places))
        if unknown:
            raise DataError(f"ImageRecordReader: labels must be among {self._labels}, got {unknown[0]!r}.")
        return Pictures(names, [places[label] for label in labels], tuple(self._labels))


class ImageRecordIterator(PictureIterator):
    """Minibatches of an ImageRecordReader: features ``[N, C, H, W]`` of 0 to 255, and one-hot labels.

    Pictures are decoded in threads; with a transform, which may draw, in the thread that asks for them.
    """

    remedy = "Delete the file, or repair it."

    def __init__(self, reader: ImageRecordReader, batch: int) -> None:
        split, transform = reader.files(), reader.transform
        self._transform = transform
        decoder = OpenCVDecoder(reader.height, reader.width, reader.channels, False, transform)
        workers = 2 if transform is None else 0
        super().__init__(
            reader.pictures(), split.root, batch, split.order(), decoder, white=1.0, damaged="raise", workers=workers
        )

    def draws(self) -> bool:
        """Tell whether the transform or a pre-processor draws random numbers: then no other thread may read ahead."""
        return super().draws() or draws(self._transform)
