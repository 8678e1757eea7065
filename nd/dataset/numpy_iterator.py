"""NumpyDataSetIterator: arrays in memory, or mapped from files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import Count, checked
from nd.dataset.dataset import DataSet, check_lengths, gathered, one_hot
from nd.dataset.examples import second_axis
from nd.dataset.iterator import DataSetIterator
from nd.dataset.order import EpochOrder, Selection
from nd.dataset.ordered import OrderedIterator


class NumpyDataSetIterator(OrderedIterator[DataSet], DataSetIterator):
    """Iterate over arrays, in their order or shuffled anew in every epoch.

    Parameters
    ----------
    features : array, shape [N, ...]
        Never written. A memory map (``numpy.load(path, mmap_mode="r")``) is read minibatch by minibatch.
    labels : array, shape [N, ...] or [N], optional
        With `num_classes` class numbers [N]. Classes as texts or categories [N], and the names of a table's columns,
        are the `class_names`.
    batch : int
        Examples in a minibatch; the last one has the rest.
    features_mask, labels_mask : array, shape [N, ...], optional
        1 where a time step (or output) counts, 0 where it does not.
    num_classes : int, optional
        Make one-hot labels [N, num_classes] of class numbers, minibatch by minibatch.
    shuffle : bool
        Take another order in every epoch; a new iterator with the same seed has the same ones.
    seed : int
        Of the order.

    Raises
    ------
    ArgumentError
        `batch` or `num_classes` is less than 1, `shuffle` is no bool, or `seed` no whole number.
    DataError
        There are no examples, or `num_classes` is given without labels.
    ShapeError
        The arrays hold different numbers of examples, or class numbers have more than one axis.
    DTypeError
        An array does not hold numbers.

    Notes
    -----
    Without `shuffle` the minibatches are views of the arrays, except those of memory maps, which are read when they
    are handed out. Orders are those of ``Collections.shuffle`` with one continuing ``new Random(seed)``.

    Examples
    --------
    >>> iterator = NumpyDataSetIterator(np.arange(6.0).reshape(3, 2), np.array([0, 1, 1]), 2, num_classes=2)
    >>> [data_set.labels.tolist() for data_set in iterator]
    [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0]]]
    """

    order: EpochOrder

    @checked
    def __init__(
        self,
        features: Any,
        labels: object = None,
        batch: Count = 32,
        *,
        features_mask: object = None,
        labels_mask: object = None,
        num_classes: Count | None = None,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        who = type(self).__name__
        self._arrays, names, classes = gathered(who, (features, labels, features_mask, labels_mask))
        if names is not None:
            self.class_names, num_classes = names, classes or num_classes
        total = check_arrays(who, self._arrays)
        classes = check_classes(who, num_classes, self._arrays.get("labels"))
        super().__init__(total, batch, EpochOrder(total, seed if shuffle else None), classes)

    def _examples(self, start: int, stop: int) -> DataSet:
        picked = pick(self._arrays, self.order.select(start, stop), self.classes)
        picked.class_names = self.class_names
        return picked

    def column_counts(self) -> tuple[int | None, int | None]:
        return columns_of(self._arrays, self.classes)


def check_arrays(who: str, arrays: dict[str, Any]) -> int:
    """Return the number of examples of named arrays; raise unless all hold as many, at least one."""
    check_lengths(who, arrays)
    total = int(arrays["features"].shape[0])
    if total == 0:
        raise DataError(f"{who}: expected examples, got features {describe_shape(arrays['features'].shape)}.")
    return total


def check_classes(who: str, num_classes: int | None, labels: Any) -> int | None:
    """Return the number of classes, None where labels come as they are; raise for labels that are no class numbers."""
    if num_classes is None:
        return None
    if labels is None:
        raise DataError(f"{who}: num_classes needs labels, got num_classes {num_classes!r} without. Pass labels.")
    if len(labels.shape) != 1:
        raise ShapeError(
            f"{who}: num_classes needs class numbers [N] as labels, got {describe_shape(labels.shape)}. "
            "Leave num_classes out where they are one-hot already."
        )
    return num_classes


def columns_of(arrays: Mapping[str, object], classes: int | None) -> tuple[int, int | None]:
    """Return the second axes of named features, and of their labels where there are any: as many as classes."""
    outcomes = (classes or second_axis(arrays["labels"])) if "labels" in arrays else None
    return second_axis(arrays["features"]), outcomes


def pick(arrays: dict[str, Any], selection: Selection, classes: int | None) -> DataSet:
    """Return some examples of named arrays, with one-hot labels where `classes` is given.

    Labels that are the features, of an autoencoder, stay so.
    """
    shared = arrays.get("labels") is arrays["features"]
    picked = {name: rows_of(array, selection) for name, array in arrays.items() if name != "labels" or not shared}
    if shared:
        picked["labels"] = picked["features"]
    if classes is not None:
        picked["labels"] = one_hot(picked["labels"], classes)
    return DataSet(**picked)


def rows_of(array: Any, selection: Selection) -> Any:
    """Return some examples of an array; those of a file in memory are read now, where the reading ahead is."""
    return np.array(array[selection]) if isinstance(array, np.memmap) else array[selection, ...]
