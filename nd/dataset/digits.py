"""The bundled handwritten digits: real data without files or network."""

from __future__ import annotations

import io
from functools import lru_cache

import numpy as np

from backends.errors import DataError
from nd.arguments import Count, checked
from nd.dataset.image_iterator import ImageDataSetIterator
from nd.dataset.java_random import JavaRandom

_SPLIT_SEED = 1797  # of its own, so that train and test never overlap, whatever the user's seeds
_SIDE = 28
_MARGIN = 4
_INK = 16  # the largest value of a pixel as stored


class DigitsDataSetIterator(ImageDataSetIterator):
    """Iterate over 1,797 real handwritten digits that come with the package, enlarged to look like MNIST's.

    Parameters
    ----------
    batch : int
        Examples in a minibatch; the last one has the rest.
    train : bool
        The examples to train on, or those held out to test on, which come in a fixed order.
    seed : int
        Seed of the training examples' order; every reset shuffles further. It has no influence on which examples are
        held out.
    test_fraction : float
        The share held out, between 0 and 1.

    Raises
    ------
    ArgumentError
        `batch` is less than 1.
    DataError
        `test_fraction` leaves nothing to train or to test on.

    Notes
    -----
    `next` returns features [N, 784] in 0 to 1 and one-hot labels [N, 10], float32, with the batch innermost in memory
    (Fortran order). The 8x8 images are enlarged to 20x20 (bilinear) and stand in the middle of 28x28, as MNIST's do.

    The same 13 people wrote both parts, so accuracy is higher than on writers never seen.

    Source: E. Alpaydin, C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository,
    CC BY 4.0, https://doi.org/10.24432/C50P49; see data/DIGITS.md.

    Examples
    --------
    >>> iterator = DigitsDataSetIterator(64)
    >>> len(iterator), iterator.next()
    (23, DataSet(features=[64, 784] float32, labels=[64, 10] float32))
    """

    @checked
    def __init__(self, batch: Count, train: bool = True, seed: int = 123, *, test_fraction: float = 0.2) -> None:
        images, labels = _enlarged_digits()
        chosen = _split(len(images), train, test_fraction)
        super().__init__(images[chosen], labels[chosen], batch, classes=10, seed=seed if train else None)


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the digits as they are stored: images [1797, 8, 8], 0 to 16, and labels [1797], 0 to 9, uint8."""
    from importlib.resources import files  # which imports a dozen modules more

    stored = files("nd.dataset").joinpath("data", "digits.npz").read_bytes()
    with np.load(io.BytesIO(stored), allow_pickle=False) as arrays:
        return arrays["images"], arrays["labels"]


@lru_cache(maxsize=1)
def _enlarged_digits() -> tuple[np.ndarray, np.ndarray]:
    """Return images [1797, 784] and labels [1797] as uint8, computed once per process and read-only."""
    small, labels = load_digits()
    # in whole tenths, so that every machine rounds the same
    weights = _bilinear_tenths(small.shape[1], _SIDE - 2 * _MARGIN)  # [20, 8]
    hundredths = weights @ small.astype(np.int64) @ weights.T  # [1797, 20, 20]
    full = 100 * _INK
    inner = (hundredths * 255 + full // 2) // full
    images = np.pad(inner.astype(np.uint8), ((0, 0), (_MARGIN, _MARGIN), (_MARGIN, _MARGIN))).reshape(len(small), -1)
    for array in (images, labels):
        array.setflags(write=False)
    return images, labels


def _bilinear_tenths(n_in: int, n_out: int) -> np.ndarray:
    """Return the weights [n_out, n_in], times 10, of linear interpolation between pixel centres from 8 to 20 pixels."""
    centres = (np.arange(n_out) + 0.5) * n_in / n_out - 0.5
    tenths = np.rint(np.clip(centres, 0, n_in - 1) * 10).astype(np.int64)
    left = np.minimum(tenths // 10, n_in - 2)
    weights = np.zeros((n_out, n_in), dtype=np.int64)
    rows = np.arange(n_out)
    weights[rows, left] = 10 - (tenths - 10 * left)
    weights[rows, left + 1] = tenths - 10 * left
    return weights


def _split(total: int, train: bool, test_fraction: float) -> np.ndarray:
    n_test = round(total * test_fraction)
    if not 0 < n_test < total:
        raise DataError(
            f"DigitsDataSetIterator: test_fraction must leave some of the {total} examples on both sides, "
            f"got {test_fraction}. Take 0.2."
        )
    order = JavaRandom(_SPLIT_SEED).permutation(total)
    return np.sort(order[n_test:] if train else order[:n_test])
