"""Shared by the iterators over images in memory: the order, the shuffling, the minibatches."""

from __future__ import annotations

import sys

import numpy as np

from backends.errors import DataError
from nd.dataset.checks import check_count
from nd.dataset.class_labels import one_hot
from nd.dataset.dataset import DataSet
from nd.dataset.iterator import DataSetIterator, State, restored_count
from nd.dataset.java_random import JavaRandom
from nd.dataset.ordered import CountingIterator

_MOST_SHUFFLED = 1 << 31  # examples: the order of 35,000 epochs of MNIST takes half an hour to find again
MOST_KEPT = 8


class ImageDataSetIterator(CountingIterator[DataSet], DataSetIterator):
    """Iterate over images held as bytes.

    A minibatch has features [N, pixels] in 0 to 1 and one-hot labels [N, classes], float32, both with the batch
    innermost in memory (Fortran order). Its arrays are filled anew only once it is let go.

    Parameters
    ----------
    images : numpy.ndarray, shape [N, pixels]
        uint8, C order.
    labels : numpy.ndarray, shape [N]
        Class numbers.
    batch : int
        Examples in a minibatch; the last one has the rest.
    classes : int
        Number of classes.
    white : int
        The byte that becomes 1.0.
    seed : int or None
        Seed of the order; None leaves the images in theirs.
    num_examples : int or None
        Number of examples handed out; None for all.

    Raises
    ------
    DataError
        `batch` or `num_examples` is out of range.

    Notes
    -----
    Every `reset`, and the constructor, shuffles the order that the one before left, with the same continuing
    `JavaRandom`. With fewer than N examples the first shuffle chooses them among all, later ones reorder only those.

    Source: org.deeplearning4j.datasets.fetchers.MnistDataFetcher.
    """

    def __init__(
        self,
        images: np.ndarray,
        labels: np.ndarray,
        batch: int,
        *,
        classes: int,
        white: int = 255,
        seed: int | None = None,
        num_examples: int | None = None,
    ) -> None:
        who = type(self).__name__
        total = len(images)
        self._images = images
        self._labels = labels
        self._classes = classes
        self._white = np.float32(white)
        self.per_batch = check_count(who, "batch", batch, 1)
        self._limit = total if num_examples is None else check_count(who, "num_examples", num_examples, 1, total)
        self._pool = ArrayPool()
        self._start(seed)
        self.reset()

    def _start(self, seed: int | None) -> None:
        """Put the order and the generator to where they are before the first reset."""
        self._seed = seed
        self._random = None if seed is None else JavaRandom(seed)
        self._order = np.arange(len(self._images))
        self._reach = len(self._order)  # how many of them the next reset shuffles
        self.cursor = self._resets = 0

    def end(self) -> int:
        return self._limit

    def _examples(self, start: int, stop: int) -> DataSet:
        places = self._order[start:stop]
        pixels = np.ascontiguousarray(self._images[places].T)  # [pixels, N]; turned as bytes, 4 times less to move
        features = np.divide(pixels, self._white, out=self._pool.take(pixels.shape)).T
        return DataSet(features, one_hot(self._labels[places], self._classes))

    def reset(self) -> None:
        super().reset()
        self._resets += 1
        if self._random is not None:
            self._random.shuffle(self._order[: self._reach])
            self._reach = self._limit

    def _signature(self) -> State:
        return {"examples": len(self._images), "num_examples": self._limit}

    def state(self) -> State:
        """Return the position in the epoch, the seed of the order, and the number of resets that have shuffled."""
        return {"cursor": self.cursor, "resets": self._resets, "seed": self._seed, **self._signature()}

    def restore(self, state: State) -> None:
        """Stand where another iterator over these images stood, in its order: shuffle as often as it has."""
        cursor = self.checked_cursor(state)
        resets = restored_count(self, state, "resets", _MOST_SHUFFLED // len(self._images))
        seed = state.get("seed")
        if type(seed) not in (int, type(None)):
            raise DataError(f"{type(self).__name__}.restore: seed must be a whole number or None, got {seed!r}.")
        if seed != self._seed or self._resets > resets:
            self._start(seed)
        while self._resets < resets:
            self.reset()
        self.cursor = cursor

    def column_counts(self) -> tuple[int, int]:
        return int(self._images.shape[1]), self._classes


class ArrayPool:
    """Hands out arrays, float32 by default, and one again when whoever had it, or a view of it, has let it go.

    A minibatch handed out belongs to its reader; one that keeps minibatches gets new memory for every one.
    """

    _dtype = "float32"  # of pools in pickles of older releases

    def __init__(self, dtype: str = "float32") -> None:
        self._dtype = dtype
        self._arrays: list[np.ndarray] = []

    def take(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return an array of that shape, contents undefined."""
        for index in range(len(self._arrays)):
            if self._arrays[index].shape == shape and _references(self._arrays, index) == _UNHELD:
                return self._arrays[index]
        self._arrays = [np.empty(shape, self._dtype), *self._arrays[: MOST_KEPT - 1]]
        return self._arrays[0]


def _references(arrays: list[np.ndarray], index: int) -> int:
    return sys.getrefcount(arrays[index])


_UNHELD = _references([np.empty(0, np.float32)], 0)
"""The reference count of an array that only the list holds, in this Python."""
