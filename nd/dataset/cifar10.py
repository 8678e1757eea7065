"""CIFAR-10: 60,000 pictures of ten kinds of things."""

from __future__ import annotations

from typing import Literal

import numpy as np

from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet
from nd.dataset.fetch import BinaryFile, Source, load_set
from nd.dataset.image_iterator import ImageDataSetIterator

CIFAR_10 = Source(
    "CIFAR-10",
    "cifar-10",
    ("https://www.cs.toronto.edu/~kriz/",),
    archive="cifar-10-binary.tar.gz",
    digest="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
    members=r"(data_batch_[1-5]|test_batch)\.bin",
    within=("cifar-10-batches-bin",),
)
_SHA256 = {
    "data_batch_1.bin": "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5",
    "data_batch_2.bin": "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed",
    "data_batch_3.bin": "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67",
    "data_batch_4.bin": "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48",
    "data_batch_5.bin": "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add",
    "test_batch.bin": "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b",
}
CLASS_NAMES = ["airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
_SHAPE = (3, 32, 32)
_PIXELS = 3 * 32 * 32
_PER_FILE = 10_000


class Cifar10DataSetIterator(ImageDataSetIterator):
    """Iterate over CIFAR-10: 50,000 pictures to train on, and 10,000 to test on.

    The files ``*.bin`` of the archive "CIFAR-10 binary version" are looked for in ``cifar-10/`` of the folder that
    ``ND_DATA_DIR`` names, also in its ``cifar-10-batches-bin/``, then in the user's cache folder, else downloaded into
    the latter; every file is checked against its SHA-256.

    Parameters
    ----------
    batch : int
        Examples in a minibatch; the last one has the rest.
    train : bool
        The 50,000 to train on, or the 10,000 to test on.
    seed : int
        Seed of the order. Every reset shuffles further; a new iterator with the same seed starts anew.
    shuffle : bool
        False keeps the order of the files.
    num_examples : int, optional
        Number of examples handed out. Without `shuffle` the first ones, else those that the first shuffle chose.
    scale : bool
        Pixels in 0 to 1; False leaves them in 0 to 255.
    channel_order : "rgb" or "bgr"
        Order of the channels.

    Raises
    ------
    ArgumentError
        The order is another one.
    DataError
        `batch` or `num_examples` is out of range, or the files are missing and cannot be downloaded.
    FormatError
        A file is damaged.

    Notes
    -----
    `next` returns features [N, 3, 32, 32] and one-hot labels [N, 10], float32, with the batch innermost in memory.
    `class_names` are known.

    Source: org.deeplearning4j.datasets.iterator.impl.Cifar10DataSetIterator; Krizhevsky 2009, Learning Multiple Layers
    of Features from Tiny Images. Differs: Java reads the same pictures from PNG files of its own, so in another order,
    as blue, green and red in 0 to 255.
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
        scale: bool = True,
        channel_order: Literal["rgb", "bgr"] = "rgb",
    ) -> None:
        names = [name for name in _SHA256 if name.startswith("data" if train else "test")]
        shape = (_PER_FILE, 1 + _PIXELS)
        images, labels = load_set([BinaryFile(name, shape, _SHA256[name], CIFAR_10) for name in names], _divided)
        self.channel_order = channel_order
        super().__init__(
            images,
            labels,
            batch,
            classes=10,
            white=255 if scale else 1,
            seed=seed if shuffle else None,
            num_examples=num_examples,
        )
        self.class_names = CLASS_NAMES

    def _examples(self, start: int, stop: int) -> DataSet:
        data_set = super()._examples(start, stop)
        pictures = data_set.features.T.reshape(*_SHAPE, -1).transpose(3, 0, 1, 2)  # a view, the batch innermost
        data_set.features = pictures if self.channel_order == "rgb" else pictures[:, ::-1]
        return data_set

    def column_counts(self) -> tuple[int, int]:
        return 3, 10


def _divided(*records: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return pixels and labels of records, each a label and the red, green and blue pixels."""
    joined = np.concatenate(records)
    return np.ascontiguousarray(joined[:, 1:]), joined[:, 0].copy()
