"""MNIST: 70,000 handwritten digits."""

from __future__ import annotations

import numpy as np

from nd.arguments import Count, checked
from nd.dataset.fetch import load_mnist
from nd.dataset.image_iterator import ImageDataSetIterator

BINARIZE_ABOVE = 30


class MnistDataSetIterator(ImageDataSetIterator):
    """Iterate over MNIST, in exactly the order in which Deeplearning4j's iterator of that name does.

    The files are looked for in ``mnist/`` of the folder that ``ND_DATA_DIR`` names, then in the user's cache folder,
    else downloaded into the latter; every file is checked against its SHA-256.

    Parameters
    ----------
    batch : int
        Examples in a minibatch; the last one has the rest.
    train : bool
        The 60,000 to train on, or the 10,000 to test on. Not a number of examples, as in Java: see `num_examples`.
    seed : int
        Seed of the order. Every reset shuffles further, as in Java; a new iterator with the same seed starts anew.
    shuffle : bool
        False keeps the order of the files.
    binarize : bool
        Make a pixel 1 if its byte is above 30, else 0, instead of byte / 255.
    num_examples : int, optional
        Number of examples handed out. Without `shuffle` the first ones, else those that the first shuffle chose.

    Raises
    ------
    DataError
        `batch` or `num_examples` is out of range, or the files are missing and cannot be downloaded.
    FormatError
        A file is damaged.

    Notes
    -----
    `next` returns features [N, 784] in 0 to 1 and one-hot labels [N, 10], float32, with the batch innermost in memory
    (Fortran order).

    Source: org.deeplearning4j.datasets.iterator.impl.MnistDataSetIterator, MnistDataFetcher. Differs: Java's last
    minibatch runs past `num_examples` when the batch does not divide it; ours ends there.
    """

    @checked
    def __init__(
        self,
        batch: Count,
        train: bool = True,
        seed: int = 0,
        *,
        shuffle: bool = True,
        binarize: bool = False,
        num_examples: Count | None = None,
    ) -> None:
        images, labels = load_mnist(train)
        if binarize:
            images = (images > BINARIZE_ABOVE).view(np.uint8)
        super().__init__(
            images,
            labels,
            batch,
            classes=10,
            white=1 if binarize else 255,
            seed=seed if shuffle else None,
            num_examples=num_examples,
        )
