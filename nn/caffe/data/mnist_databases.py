"""MNIST as the databases that Caffe's LeNet reads."""

from __future__ import annotations

import os
from collections.abc import Iterator

from nd.arguments import checked
from nd.dataset.fetch import load_mnist

from ..schema import Message, new
from .databases import write_database

SIZE = 28  # pixels, of both sides
DATABASES = {"mnist_test_lmdb": False, "mnist_train_lmdb": True}
"""Name of a database -> whether it is the examples to train on."""


@checked
def write_mnist_databases(folder: str | os.PathLike[str]) -> dict[str, int]:
    """Write MNIST into two databases in a folder, and return how many examples each has.

    Parameters
    ----------
    folder : path
        Made where it is missing. BVLC's ``lenet_train_test.prototxt`` reads ``examples/mnist``.

    Raises
    ------
    DataError
        MNIST is not there and cannot be downloaded: see `MnistDataSetIterator`.
    ConfigurationError
        A database is there already, or the package lmdb is not installed.
    OSError
        It cannot be written.

    Notes
    -----
    Keys count from ``b"00000000"``, pixels are bytes of 0 to 255.
    Source: BVLC Caffe, examples/mnist/convert_mnist_data.cpp.
    """
    os.makedirs(folder, exist_ok=True)
    return {
        name: write_database(os.path.join(folder, name), _records(is_for_training))
        for name, is_for_training in DATABASES.items()
    }


def _records(is_for_training: bool) -> Iterator[tuple[bytes, Message]]:
    images, labels = load_mnist(is_for_training)
    for number, (image, label) in enumerate(zip(images, labels, strict=True)):
        datum = new("Datum", channels=1, height=SIZE, width=SIZE, data=image.tobytes(), label=int(label))
        yield b"%08d" % number, datum
