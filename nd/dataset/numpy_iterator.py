"""NumpyDataSetIterator: arrays in memory, or mapped from files."""

from __future__ import annotations

from typing import Any

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.dataset.checks import as_array, check_count
from nd.dataset.dataset import DataSet, one_hot
from nd.dataset.iterator import DataSetIterator, State, check_same, restored_count
from nd.dataset.order import EpochOrder, Rows, check_seed

_FIELDS = ("features", "labels", "features_mask", "labels_mask")


class NumpyDataSetIterator(DataSetIterator):
    """Iterate over arrays, in their order or shuffled anew in each epoch.

    Parameters
    ----------
    features : array, shape [N, ...]
        Never written. A memory map (``numpy.load(path, mmap_mode="r")``) is read minibatch by minibatch.
    labels : array, shape [N, ...] or [N], optional
        With `num_classes` class numbers [N].
    batch : int
        Examples in a minibatch; the last one has what is left.
    features_mask, labels_mask : array, shape [N, ...], optional
        1 where a time step (or output) counts, 0 where it does not.
    num_classes : int, optional
        Make one-hot labels [N, num_classes] of class numbers, minibatch by minibatch.
    shuffle : bool
        Take another order in each epoch; a new iterator with the same seed has the same ones.
    seed : int
        Of the order.

    Raises
    ------
    DataError
        There are no examples, `batch` is less than 1, or `num_classes` is given without labels.
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

    def __init__(
        self,
        features: Any,
        labels: Any = None,
        batch: int = 32,
        *,
        features_mask: Any = None,
        labels_mask: Any = None,
        num_classes: int | None = None,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        who = type(self).__name__
        if features is None:
            raise DataError(f"{who}: features must be an array, got None.")
        given = zip(_FIELDS, (features, labels, features_mask, labels_mask), strict=True)
        self._arrays = {name: as_array(f"{who} {name}", value) for name, value in given if value is not None}
        if labels is features:  # of an autoencoder, also where both are one list
            self._arrays["labels"] = self._arrays["features"]
        self._total = check_arrays(who, self._arrays)
        self._classes = check_classes(who, num_classes, self._arrays.get("labels"))
        self._batch = check_count(who, "batch", batch, 1)
        self._order = EpochOrder(self._total, check_seed(who, shuffle, seed))
        self._cursor = 0
        self._order.begin()

    def has_next(self) -> bool:
        """Tell whether examples are left."""
        return self._cursor < self._total

    def next(self, num: int | None = None) -> DataSet:
        """Return the next minibatch, of `num` examples if given.

        Raises
        ------
        DataError
            No examples are left, `num` is less than 1, or a label is no class number below `num_classes`.
        """
        self._check_has_next()
        count = self._batch if num is None else check_count(f"{type(self).__name__}.next", "num", num, 1)
        stop = min(self._cursor + count, self._total)
        rows = self._order.rows(self._cursor, stop)
        found = pick(self._arrays, rows, self._classes)
        self._cursor = stop
        return self._pre_processed(found)

    def reset(self) -> None:
        """Begin the next epoch, in another order if this iterator shuffles."""
        self._cursor = 0
        self._order.begin()

    def state(self) -> State:
        return {"cursor": self._cursor, "examples": self._total, "order": self._order.state()}

    def restore(self, state: State) -> None:
        check_same(self, state, examples=self._total)
        cursor = restored_count(self, state, "cursor", self._total)
        self._order.restore(state.get("order"))
        self._cursor = cursor

    def batch(self) -> int:
        """Return the number of examples in a minibatch."""
        return self._batch

    def total_outcomes(self) -> int:
        """Return `num_classes`, else the length of the labels' second axis.

        Raises
        ------
        DataError
            There are no labels.
        """
        if "labels" not in self._arrays:
            return super().total_outcomes()
        return self._classes or _second_axis(self._arrays["labels"])

    def input_columns(self) -> int:
        """Return the length of the features' second axis."""
        return _second_axis(self._arrays["features"])

    def __len__(self) -> int:
        return -(-self._total // self._batch)


def check_arrays(who: str, arrays: dict[str, Any]) -> int:
    """Return how many examples named arrays hold; raise unless all hold as many, at least one."""
    total = int(arrays["features"].shape[0])
    for name, array in arrays.items():
        if array.shape[0] != total:
            raise ShapeError(
                f"{who}: expected as many {name} as features, got {name} {describe_shape(array.shape)} and features "
                f"{describe_shape(arrays['features'].shape)}."
            )
    if total == 0:
        raise DataError(f"{who}: expected examples, got features {describe_shape(arrays['features'].shape)}.")
    return total


def check_classes(who: str, num_classes: Any, labels: Any) -> int | None:
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
    return check_count(who, "num_classes", num_classes, 1)


def pick(arrays: dict[str, Any], rows: Rows, classes: int | None) -> DataSet:
    """Return some examples of named arrays, with one-hot labels where `classes` is given.

    Labels that are the features, of an autoencoder, stay so.
    """
    shared = arrays.get("labels") is arrays["features"]
    found = {name: _part(array, rows) for name, array in arrays.items() if name != "labels" or not shared}
    if shared:
        found["labels"] = found["features"]
    if classes is not None:
        found["labels"] = one_hot(found["labels"], classes)
    return DataSet(**found)


def _part(array: Any, rows: Rows) -> Any:
    if isinstance(array, np.memmap):  # read now, where the reading ahead is
        return np.array(array[rows])
    return array[rows]


def _second_axis(array: Any) -> int:
    return int(array.shape[1]) if len(array.shape) > 1 else 1
