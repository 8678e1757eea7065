"""ImageFolderIterator: pictures in the folders of their classes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal

from backends.errors import ConfigurationError, DataError
from nd.arguments import Count, Fraction, Natural, Path, checked
from nd.checks import check_choice
from nd.dataset.checks import check_count
from nd.dataset.images.decoding import INTERPOLATIONS, PillowDecoder
from nd.dataset.images.files import ENDINGS, Pictures, chosen, part_for_validation, pictures_in
from nd.dataset.images.iterator import PictureIterator
from nd.dataset.java_random import JavaRandom
from nd.dataset.order import EpochOrder
from nd.files.reading import checked_path

_WHO = "ImageFolderIterator"


class ImageFolderIterator(PictureIterator):
    """Iterate over the pictures of a folder whose folders are their classes: ``pets/cat/1.jpg``, ``pets/dog/7.png``.

    Pictures are decoded ahead in threads. Needs Pillow (the extra ``images``).

    Parameters
    ----------
    folder : path
        Its folders are the classes, sorted by name, and pictures deeper in them belong to them too. A folder without
        folders has pictures without labels. Names that begin with a point are ignored.
    batch : int
        Pictures in a minibatch; the last one has the rest.
    size : (int, int) or int
        Height and width that all pictures get; one number is both.
    channels : {1, 3, 4}
        Grey, colours, or colours and opacity. With 1 or 3 opacity is left out.
    channel_order : {"rgb", "bgr"}
        Deeplearning4j's models expect BGR.
    class_names : sequence of str, optional
        The folders that are classes, in the order of the labels' columns; others are ignored. Give those of the
        training to whatever is evaluated later.
    labels : bool, optional
        Whether there are classes; by default where there are folders. False takes all pictures, without labels.
    resize : {"stretch", "crop", "pad"}
        What becomes of a picture of another shape. It is stretched; or its middle part of the wanted shape is taken;
        or all of it is, with black bars.
    interpolation : {"bilinear", "bicubic", "box", "hamming", "lanczos", "nearest"}
        Pillow's filter for another size; all but "nearest" smooth where a picture becomes smaller.
    scale : bool
        Divide by 255, to 0 to 1; without it numbers are 0 to 255.
    seed : int
        Seed of the order. Every reset shuffles further; a new iterator with the same seed starts anew.
    shuffle : bool
        False keeps the order of `paths`.
    subset : {"train", "validation"}, optional
        Take that part of the pictures. Their names alone decide which they are, so that two iterators share none,
        whatever their seeds are.
    validation_fraction : float
        The part of every class that is for the validation; without labels that of all pictures, which are others.
    num_examples : int, optional
        Number of pictures that are used: without `shuffle` the first ones, else some that the seed chooses.
    damaged : {"raise", "skip"}
        Whether a file that is no picture, is damaged or cannot be opened is an error, or is skipped, with a warning in
        the log. A minibatch that misses pictures is smaller; so a training goes on the same after a checkpoint.
    endings : sequence of str
        Files whose names end otherwise are ignored.
    workers : int
        Threads that decode, up to three minibatches ahead; 0 decodes within `next`. Numbers and order do not depend
        on it.

    Attributes
    ----------
    paths : list of str
        All pictures, in the order without `shuffle`.
    batch_paths : list of str
        Those of the minibatch handed out last, in the order of its rows.
    skipped : dict of str to str
        Path of a file that was skipped, and why.

    Raises
    ------
    ArgumentError
        An argument is of another type or out of its range.
    ChoiceError
        A word is none of those that are listed.
    ConfigurationError
        Pillow is not installed, or arguments contradict each other.
    DataError
        There are no pictures, a class has none, pictures lie beside the classes, or `num_examples` is too large.
    OSError
        The folder cannot be read.

    Notes
    -----
    `next` returns features ``[N, channels, height, width]`` and one-hot labels ``[N, classes]``, float32.
    Pre-processors run in the thread that calls `next`.

    The first picture of a file is taken, turned upright as its Exif says. Of 16 bits a channel the upper 8 are taken;
    pictures of 32 bits are refused, as damaged ones are. Pillow's ``Image.MAX_IMAGE_PIXELS`` bounds their size.

    Files are listed when the iterator is made. `restore` refuses the state of an iterator over other files.

    Source: Keras' ``image_dataset_from_directory``, DataVec's ``ParentPathLabelGenerator``. Differs from DataVec's
    ``ImageRecordReader``, which `nn.dl4j` has: RGB, in 0 to 1, smoothed where it becomes smaller.
    """

    @checked
    def __init__(
        self,
        folder: Path,
        batch: Count,
        size: tuple[Count, Count] | Count,
        *,
        channels: Literal[1, 3, 4] = 3,
        channel_order: str = "rgb",
        class_names: Sequence[str] | None = None,
        labels: bool | None = None,
        resize: str = "stretch",
        interpolation: str = "bilinear",
        scale: bool = True,
        seed: int = 0,
        shuffle: bool = True,
        subset: str | None = None,
        validation_fraction: Fraction = 0.0,
        num_examples: Count | None = None,
        damaged: str = "raise",
        endings: Sequence[str] = ENDINGS,
        workers: Natural = 2,
    ) -> None:
        for name, value, choices in (
            ("channel_order", channel_order, ("bgr", "rgb")),
            ("resize", resize, ("crop", "pad", "stretch")),
            ("interpolation", interpolation, INTERPOLATIONS),
            ("damaged", damaged, ("raise", "skip")),
        ):
            check_choice(_WHO, name, value, choices)
        root = checked_path(_WHO, folder)
        pictures = pictures_in(_WHO, root, [ending.lower() for ending in endings], labels, class_names)
        pictures = _part(pictures, subset, validation_fraction, root)
        pictures = _some(pictures, num_examples, seed if shuffle else None)
        height, width = (size, size) if isinstance(size, int) else size
        super().__init__(
            pictures,
            os.path.join(os.path.abspath(root), ""),  # so that it is found from another working directory too
            batch,
            EpochOrder(len(pictures.names), seed if shuffle else None),
            PillowDecoder(channels, channel_order, (height, width), resize, interpolation),
            white=255.0 if scale else 1.0,
            damaged=damaged,
            workers=workers,
        )


def _part(pictures: Pictures, subset: str | None, fraction: float, folder: str) -> Pictures:
    """Return the pictures to train with, or those to validate with."""
    if subset is None:
        if fraction:
            raise ConfigurationError(
                f"{_WHO}: validation_fraction must come with subset='train' or 'validation', got {fraction} alone."
            )
        return pictures
    check_choice(_WHO, "subset", subset, ("train", "validation"))
    if not 0 < fraction < 1:
        raise ConfigurationError(f"{_WHO}: subset needs a validation_fraction between 0 and 1, got {fraction}.")
    held_out = part_for_validation(pictures, fraction)
    part = chosen(
        pictures, [place for place in range(len(pictures.names)) if (place in held_out) == (subset == "validation")]
    )
    if not part.names:
        raise DataError(
            f"{_WHO}: '{folder}': subset {subset!r} must have pictures, got none of {len(pictures.names)} with "
            f"validation_fraction {fraction}. Choose another one."
        )
    return part


def _some(pictures: Pictures, count: int | None, seed: int | None) -> Pictures:
    """Return so many pictures, the first ones, or with a seed some that it draws, in their order."""
    if count is None:
        return pictures
    total = len(pictures.names)
    check_count(_WHO, "num_examples", count, 1, total)
    drawn = range(count) if seed is None else sorted(JavaRandom(seed).permutation(total)[:count].tolist())
    return chosen(pictures, drawn)
