"""NumpyDataSetIterator: arrays in memory, or mapped from files."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import Count, checked
from nd.dataset.class_labels import one_hot
from nd.dataset.dataset import DataSet, gathered
from nd.dataset.iterator import Batch, DataSetIterator, State
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
        multi, classes = gathered(who, (features, labels, features_mask, labels_mask))
        if multi.class_names is not None:
            self.class_names, num_classes = multi.class_names, classes or num_classes
        self._data = DataSet._viewing(multi)
        total = check_examples(who, self._data.features)
        classes = check_classes(who, num_classes, self._data.labels)
        super().__init__(total, batch, EpochOrder(total, seed if shuffle else None), classes)

    def _examples(self, start: int, stop: int) -> DataSet:
        picked = pick(self._data, self.order.select(start, stop), self.classes)
        picked.class_names = self.class_names
        return picked

    def column_counts(self) -> tuple[int, int | None]:
        features, outcomes = self._data.column_counts()
        return features, self.classes or outcomes

    def __setstate__(self, state: State) -> None:
        if "_arrays" in state:  # in a pickle of an older release, by their names
            state["_data"] = DataSet(**state.pop("_arrays"))
        super().__setstate__(state)


def check_examples(who: str, features: Any) -> int:
    """Return the number of examples; raise DataError where there are none."""
    if not features.shape[0]:
        raise DataError(f"{who}: expected examples, got features {describe_shape(features.shape)}.")
    return int(features.shape[0])


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


def pick(data: Batch, selection: Selection, classes: int | None = None) -> Batch:
    """Return some examples, with one-hot labels where `classes` is given; those of a file in memory are read now."""

    def rows_of(array: Any) -> Any:
        return np.array(array[selection]) if isinstance(array, np.memmap) else array[selection, ...]

    picked = data.map_arrays(rows_of)
    if classes is not None:
        picked.multi.labels = [one_hot(picked.multi.labels[0], classes)]
    return picked
