"""Fashion-MNIST: 70,000 pictures of clothes."""

from __future__ import annotations

import numpy as np

from nd.arguments import Count, checked
from nd.dataset.fetch import IdxFile, Source, load_set
from nd.dataset.image_iterator import ImageDataSetIterator

FASHION_MNIST = Source(
    "Fashion-MNIST",
    "fashion-mnist",
    (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://storage.googleapis.com/cvdf-datasets/fashion-mnist/",
    ),
)
_PACKED = {
    "t10k-images-idx3-ubyte": "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073",
    "t10k-labels-idx1-ubyte": "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5",
    "train-images-idx3-ubyte": "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84",
    "train-labels-idx1-ubyte": "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845",
}
CLASS_NAMES = ["T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot"]


class FashionMnistDataSetIterator(ImageDataSetIterator):
    """Iterate over Fashion-MNIST, in the order in which `MnistDataSetIterator` goes over MNIST.

    The files ``...-ubyte.gz`` are looked for in ``fashion-mnist/`` of the folder that ``ND_DATA_DIR`` names, then in
    the user's cache folder, else downloaded into the latter; every file is checked against its SHA-256.

    Parameters
    ----------
    batch, train, seed, shuffle, num_examples
        As of `MnistDataSetIterator`.

    Raises
    ------
    DataError
        `batch` or `num_examples` is out of range, or the files are missing and cannot be downloaded.
    FormatError
        A file is damaged.

    Notes
    -----
    `next` returns features [N, 784] in 0 to 1 and one-hot labels [N, 10], float32, with the batch innermost in memory
    (Fortran order). `class_names` are known. Source: Xiao, Rasul, Vollgraf 2017, Fashion-MNIST. Checksums are those
    that are published for the compressed files; Deeplearning4j has no such iterator.
    """

    @checked
    def __init__(
        self,
        batch: Count,
        train: bool = True,
        seed: int = 0,
        *,
        shuffle: bool = True,
        num_examples: Count | None = None,
    ) -> None:
        images, labels = load_set(_files("train" if train else "t10k", 60000 if train else 10000), _rows)
        super().__init__(images, labels, batch, classes=10, seed=seed if shuffle else None, num_examples=num_examples)
        self.class_names = CLASS_NAMES


def _files(part: str, n: int) -> list[IdxFile]:
    shapes = {"images-idx3": (n, 28, 28), "labels-idx1": (n,)}
    names = {f"{part}-{kind}-ubyte": shape for kind, shape in shapes.items()}
    return [IdxFile(name, shape, source=FASHION_MNIST, packed=_PACKED[name]) for name, shape in names.items()]


def _rows(images: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return images.reshape(len(images), -1), labels
