"""EMNIST: letters and digits of handwriting, in six sets."""

from __future__ import annotations

import string
from typing import ClassVar

import numpy as np

from nd.arguments import Count, checked
from nd.checks import check_choice
from nd.dataset.fetch import IdxFile, Source, load_set
from nd.dataset.image_iterator import ImageDataSetIterator
from nd.dataset.mnist import BINARIZE_ABOVE
from nd.java_enums import JavaEnum

EMNIST = Source(
    "EMNIST",
    "emnist",
    ("https://biometrics.nist.gov/cs_links/EMNIST/",),
    archive="gzip.zip",
    digest="58c8d27c78d21e728a6bc7b3cc06412e",
    members=r"emnist-[a-z]+-(train|test)-(images-idx3|labels-idx1)-ubyte\.gz",
    within=("gzip",),
)


class EmnistSet(JavaEnum):
    """Sets of EMNIST. Source: org.deeplearning4j.datasets.iterator.impl.EmnistDataSetIterator.Set."""

    BALANCED = "balanced"
    COMPLETE = "complete"
    DIGITS = "digits"
    LETTERS = "letters"
    MERGE = "merge"
    MNIST = "mnist"


_MERGED = set("cijklmopsuvwxyz")  # small letters that are counted as their capitals
_ALL = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SETS = {
    EmnistSet.BALANCED: ("balanced", 112_800, 18_800, [name for name in _ALL if name not in _MERGED]),
    EmnistSet.COMPLETE: ("byclass", 697_932, 116_323, [*_ALL]),
    EmnistSet.DIGITS: ("digits", 240_000, 40_000, [*string.digits]),
    EmnistSet.LETTERS: ("letters", 124_800, 20_800, [*string.ascii_uppercase]),
    EmnistSet.MERGE: ("bymerge", 697_932, 116_323, [name for name in _ALL if name not in _MERGED]),
    EmnistSet.MNIST: ("mnist", 60_000, 10_000, [*string.digits]),
}
"""Set -> its name in those of files, the numbers of examples to train and to test on, and the classes."""


class EmnistDataSetIterator(ImageDataSetIterator):
    """Iterate over a set of EMNIST, in the order in which `MnistDataSetIterator` goes over MNIST.

    The files ``emnist-*-ubyte[.gz]`` are looked for in ``emnist/`` of the folder that ``ND_DATA_DIR`` names, also in
    its ``gzip/``, then in the user's cache folder, else the archive of all sets, 536 MB, is downloaded and unpacked
    into the latter.

    Parameters
    ----------
    data_set : {"balanced", "complete", "digits", "letters", "merge", "mnist"}
        Complete, 62 classes of digits and letters; merge, 47, in which 15 small letters count as their capitals;
        balanced, the same classes with 2,800 examples each; letters, 26 of both sizes; digits and mnist, 10.
        Or a member of `EmnistDataSetIterator.Set`.
    batch, train, seed, shuffle, binarize, num_examples
        As of `MnistDataSetIterator`.

    Raises
    ------
    ChoiceError
        There is no such set.
    DataError
        `batch` or `num_examples` is out of range, or the files are missing and cannot be downloaded.
    FormatError
        A file is damaged.

    Notes
    -----
    `next` returns upright pictures, features [N, 784] in 0 to 1, and one-hot labels, float32, with the batch innermost
    in memory (Fortran order). `class_names` are known.

    What is downloaded is checked against the MD5 of the archive that torchvision has; of the files themselves no
    checksums are published, so those of one's own are checked by their headers, lengths and gzip's CRC-32.

    Source: org.deeplearning4j.datasets.iterator.impl.EmnistDataSetIterator; Cohen, Afshar, Tapson, van Schaik 2017,
    EMNIST. Differs: of the letters Java takes the first 88,800 and 14,800, here all 124,800 and 20,800 are there.
    """

    Set: ClassVar = EmnistSet

    @staticmethod
    def num_labels(data_set: str) -> int:
        """Return the number of classes of a set; raise ChoiceError if there is no such set."""
        return len(_SETS[_checked_set(data_set)][3])

    @checked
    def __init__(
        self,
        data_set: str,
        batch: Count,
        train: bool = True,
        seed: int = 0,
        *,
        shuffle: bool = True,
        binarize: bool = False,
        num_examples: Count | None = None,
    ) -> None:
        name = _checked_set(data_set)
        called, to_train, to_test, classes = _SETS[name]
        files = _files(f"emnist-{called}-{'train' if train else 'test'}", to_train if train else to_test)
        images, labels = load_set(files, _letters if name == EmnistSet.LETTERS else _upright)
        if binarize:
            images = (images > BINARIZE_ABOVE).view(np.uint8)
        super().__init__(
            images,
            labels,
            batch,
            classes=len(classes),
            white=1 if binarize else 255,
            seed=seed if shuffle else None,
            num_examples=num_examples,
        )
        self.class_names = classes


def _checked_set(data_set: object) -> EmnistSet:
    name = check_choice("EmnistDataSetIterator", "data_set", str(data_set).lower(), [*EmnistSet])
    return EmnistSet(name)


def _files(prefix: str, n: int) -> list[IdxFile]:
    shapes = {"images-idx3": (n, 28, 28), "labels-idx1": (n,)}
    return [IdxFile(f"{prefix}-{kind}-ubyte", shape, source=EMNIST) for kind, shape in shapes.items()]


def _upright(images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows of pixels of the pictures, whose files have rows and columns exchanged, and class numbers."""
    return np.ascontiguousarray(images.transpose(0, 2, 1)).reshape(len(images), -1), labels


def _letters(images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the same of the set of letters, whose labels are 1 to 26."""
    return _upright(images, labels - np.uint8(1))
