"""DataSet: features with their labels and masks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.arguments import Natural, checked
from nd.checks import check_memory
from nd.dataset.by_class import ByClass
from nd.dataset.by_value import ByValue
from nd.dataset.checks import AnyArray, as_array, check_count

if TYPE_CHECKING:
    from nd.dataset.multi_data_set import MultiDataSet


_MOST_CLASSES = 2**31 - 1  # Java's int
_FIELDS = ("features", "labels", "features_mask", "labels_mask")


class DataSet(ByClass, ByValue):
    """Examples: features, and where there are any, their labels and masks.

    Parameters
    ----------
    features : array or nested list, shape [N, ...]
        N examples along the first axis. Arrays are kept as they are, lists become NumPy float32 arrays.
    labels : array or nested list, shape [N, ...], optional
        Or classes ``[N]``, texts or categories: they become one-hot, with `class_names`. Of a table with columns for
        the classes these are the columns' names.
    features_mask, labels_mask : array or nested list, shape [N, ...], optional
        1 where a time step (or output) counts, 0 where it does not.

    Attributes
    ----------
    class_names : sequence of str or None
        Of the columns of `labels`, where they are known. Networks bring labels into their own order by them.

    Raises
    ------
    ShapeError
        The arrays hold different numbers of examples.
    DTypeError
        An array does not hold numbers.

    Notes
    -----
    Source: org.nd4j.linalg.dataset.DataSet. Differs: in Java names of classes are set apart, and labels are numbers.

    Examples
    --------
    >>> DataSet([[0, 1], [2, 3], [4, 5]], [[1, 0], [0, 1], [1, 0]])
    DataSet(features=[3, 2] float32, labels=[3, 2] float32)
    """

    def __init__(
        self,
        features: Any,
        labels: Any = None,
        features_mask: Any = None,
        labels_mask: Any = None,
    ) -> None:
        if features is None:
            raise DataError("DataSet: features must be an array or a list, got None.")
        names: Any = None
        if labels is not features:
            labels, names, classes = named(labels)
            labels = labels if classes is None else one_hot(labels, classes)
        given = (features, labels, features_mask, labels_mask)
        arrays: list[Any] = [
            None if value is None else as_array(f"DataSet {name}", value)
            for name, value in zip(_FIELDS, given, strict=True)
        ]
        if labels is features:  # of an autoencoder, also where both are one list
            arrays[1] = arrays[0]
        for name, array in zip(_FIELDS, arrays, strict=True):
            if array is not None and array.shape[0] != arrays[0].shape[0]:
                raise ShapeError(
                    f"DataSet: expected as many {name} as features, got {name} {describe_shape(array.shape)} "
                    f"and features {describe_shape(arrays[0].shape)}."
                )
        self.features: AnyArray = arrays[0]
        self.labels: AnyArray | None = arrays[1]
        self.features_mask: AnyArray | None = arrays[2]
        self.labels_mask: AnyArray | None = arrays[3]
        if names is not None:
            self.class_names = names

    java_names: ClassVar[dict[str, str]] = {
        "features_mask_array": "features_mask", "label_names": "class_names", "label_names_list": "class_names",
        "labels_mask_array": "labels_mask",
    }  # fmt: skip

    @checked
    def get_label_name(self, number: Natural) -> str:
        """Return the name of a class; its number where the names are not known. DataError if there is no such class."""
        if self.class_names is None:
            return str(number)
        if number >= len(self.class_names):
            raise DataError(f"get_label_name: number must be 0..{len(self.class_names) - 1}, got {number}.")
        return self.class_names[number]

    def normalize_zero_mean_zero_unit_variance(self) -> None:
        """Take the mean of every feature away and divide by its standard deviation (of N - 1) and 1e-9, as Java."""
        x = as_array("features", self.features)
        deviation = np.std(x, 0, ddof=1, keepdims=True) + 1e-9
        self.features = ((x - x.mean(0, keepdims=True)) / deviation).astype(x.dtype)

    def num_examples(self) -> int:
        """Return N, the length of the first axis."""
        return int(self.features.shape[0])

    def num_inputs(self) -> int:
        """Return the length of the features' second axis (1 if there is none)."""
        return second_axis(self.features)

    def column_counts(self) -> tuple[int, int | None]:
        """Return the features' and the labels' second axis, None for labels that are not there."""
        return self.num_inputs(), None if self.labels is None else second_axis(self.labels)

    def num_outcomes(self) -> int:
        """Return the length of the labels' second axis (1 if there is none).

        Raises
        ------
        DataError
            There are no labels.
        """
        if self.labels is None:
            raise DataError(f"DataSet.num_outcomes: expected labels, got none in {self!r}.")
        return second_axis(self.labels)

    @staticmethod
    @checked
    def merge(data_sets: Iterable[DataSet]) -> DataSet:
        """Join DataSets along the first axis. Where only some have a mask, that of the rest counts everything.

        Series ``[N, C, T]`` of different lengths end with zeros, which masks ``[N, T]`` leave out. Labels that are the
        features in all of them, as of autoencoders, are so in the result.

        Raises
        ------
        DataError
            There is no DataSet, or only some have labels.
        ShapeError, DTypeError, BackendError
            The arrays differ in the other axes, in their dtype or in their backend.
        """
        from nd.dataset.merging import merged_sets

        return merged_sets(DataSet, data_sets)

    def as_multi(self) -> MultiDataSet:
        """Return a MultiDataSet of one input and at most one output that shares these arrays."""
        from nd.dataset.multi_data_set import MultiDataSet

        labels, masks = (None, None) if self.labels is None else ([self.labels], [self.labels_mask])
        same = MultiDataSet([self.features], labels, [self.features_mask], masks)
        same.class_names = self.class_names
        return same

    def to_multi_data_set(self) -> MultiDataSet:
        """Return a MultiDataSet of one input and one output, with these arrays; see `MultiDataSet.to_data_set`."""
        return self.as_multi()

    def set_arrays(self, features: Sequence[AnyArray], labels: Sequence[AnyArray]) -> None:
        self.features = features[0]
        if labels:
            self.labels = labels[0]

    def named_arrays(self) -> list[tuple[str, AnyArray | None]]:
        return [(name, getattr(self, name)) for name in _FIELDS]

    def with_arrays(self, arrays: list[AnyArray | None]) -> DataSet:
        data_set = DataSet(*arrays)
        if self.class_names is not None:
            data_set.class_names = self.class_names
        return data_set


def one_hot(labels: Any, n: int) -> np.ndarray:
    """Encode class numbers as rows with a single 1.

    Parameters
    ----------
    labels : array or list of whole numbers, shape [N]
        Numbers from 0 to `n` - 1.
    n : int
        Number of classes.

    Returns
    -------
    numpy.ndarray, shape [N, n]
        float32, Fortran order (the batch innermost in memory, as the CPU likes it).

    Raises
    ------
    ShapeError
        `labels` has more than one axis.
    DataError
        A label is not a whole number from 0 to `n` - 1.

    Examples
    --------
    >>> one_hot([2, 0], 3).tolist()
    [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    check_count("one_hot", "n", n, 1, _MOST_CLASSES)
    classes = as_array("one_hot labels", labels)
    if len(classes.shape) != 1:
        raise ShapeError(f"one_hot: expected labels [N], got {describe_shape(classes.shape)}.")
    wrong = (classes < 0) | (classes >= n) | (classes != np.floor(classes))
    if wrong.any():
        i = int(np.argmax(wrong))
        raise DataError(
            f"one_hot: labels must be whole numbers from 0 to {n - 1}, got {classes[i]} at index {i}. "
            "Raise n, or correct the labels."
        )
    check_memory("one_hot", 4 * n * len(classes), f"{len(classes)} rows of {n} classes", "Name fewer at once.")
    encoded = np.zeros((n, len(classes)), dtype=np.float32).T
    encoded[np.arange(len(classes)), classes.astype(np.int64)] = 1
    return encoded


def _may_have_names(labels: Any) -> bool:
    """Tell whether labels may be texts, categories or a table, by a look that costs next to nothing."""
    kind = getattr(getattr(labels, "dtype", None), "kind", None)
    if isinstance(kind, str) and kind in "biuf":  # an array or a column of numbers
        return False
    return isinstance(labels[0], str) if isinstance(labels, list) and labels else hasattr(labels, "__getitem__")


def named(labels: Any) -> tuple[Any, Sequence[str] | None, int | None]:
    """Return labels, the names of their classes, and how many there are where labels were texts: then they are numbers.

    Raises
    ------
    DataError, DTypeError
        A label is missing, or is no text where other labels are.
    """
    if not _may_have_names(labels):
        return labels, None, None
    from nd.dataset.class_labels import ColumnNames, named_labels

    labels, names = named_labels(labels)
    return labels, names, None if names is None or isinstance(names, ColumnNames) else len(names)


def second_axis(array: AnyArray) -> int:
    """Return the length of the second axis, 1 where there is none."""
    return int(array.shape[1]) if len(array.shape) > 1 else 1
