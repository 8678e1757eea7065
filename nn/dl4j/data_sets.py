"""Methods of data sets that exist for Java's sake. Source: org.nd4j.linalg.dataset.DataSet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from nd import DataError, ShapeError
from nd.arguments import Count, Natural, checked, shown
from nd.dataset import DataSet, MultiDataSet
from nd.dataset.checks import as_array
from nd.dataset.dataset import check_lengths

_COLUMN_NAMES = "column_names"


@checked
def add_feature_vector(data: DataSet, array: object, example: Natural | None = None) -> None:
    """Append columns ``[N, n]`` to the features; with an example's number put a row in the place of its features.

    Raises
    ------
    ShapeError, DataError
        They do not fit, or there is no such example.
    """
    array = as_array("addFeatureVector", array)
    features = data.features
    if example is not None:
        _check_example("addFeatureVector", data, example)
        changed = features.copy()
        changed[example] = array.reshape(features.shape[1:])
    elif array.ndim != features.ndim or array.shape[:1] + array.shape[2:] != features.shape[:1] + features.shape[2:]:
        raise ShapeError(
            f"addFeatureVector: columns must be {[features.shape[0], 'n', *features.shape[2:]]}, got "
            f"{list(array.shape)}. Give a row for every example."
        )
    else:
        columns = features.shape[1]
        changed = features[:, [*range(columns), *[0] * array.shape[1]]]
        changed[:, columns:] = array
    data.features = changed


@checked
def add_row(data: DataSet, row: DataSet, example: Natural) -> None:
    """Put the only example of another data set in the place of one; raise DataError if there is no such example."""
    _check_example("addRow", data, example)
    features, labels = data.features.copy(), data.labels.copy()
    features[example], labels[example] = row.features[0], row.labels[0]
    data.features, data.labels = features, labels


def batch_by_num_labels(data: DataSet) -> list[DataSet]:
    """Cut into minibatches of as many examples as there are classes."""
    return data.batch_by(data.num_outcomes())


def sort_and_batch_by_num_labels(data: DataSet) -> list[DataSet]:
    """Sort by label, so that minibatches hold all classes, and cut: Java's DataSet of 1.0.0-M2.1 fails in it."""
    data.sort_by_label()
    return batch_by_num_labels(data)


def example_maxs(data: DataSet) -> Any:
    """Return the largest feature of every example, ``[N]``; of series that of every time step."""
    return data.features.max(axis=1)


def example_means(data: DataSet) -> Any:
    """Return the mean of every example's features, ``[N]``; of series that of every time step."""
    return data.features.mean(axis=1)


def example_sums(data: DataSet) -> Any:
    """Return the sum of every example's features, ``[N]``; of series that of every time step."""
    return data.features.sum(axis=1)


def get_column_names(data: DataSet) -> list[str]:
    """Return the names of the features' columns, an empty list before they are set."""
    return list(vars(data).get(_COLUMN_NAMES, ()))


@checked
def set_column_names(data: DataSet, names: Sequence[str]) -> None:
    """Name the features' columns."""
    vars(data)[_COLUMN_NAMES] = list(names)


def id_of(data: DataSet) -> str:
    """Return an empty text, as Java does."""
    return ""


def is_empty(data: DataSet | MultiDataSet) -> bool:
    """Tell whether there is no example."""
    return data.num_examples() == 0


def iterator(data: DataSet) -> Iterator[DataSet]:
    """Return an iterator over the examples, each by itself."""
    return iter(data.as_list())


def do_nothing(data: DataSet | MultiDataSet) -> None:
    """Do nothing: there are no workspaces that arrays could leave."""


def normalize(data: DataSet) -> None:
    """Subtract each column's mean from the features, and divide by its deviation, of N; columns of one number are 0."""
    features = data.features
    centred = features - features.mean(axis=0)
    deviation = centred.std(axis=0)
    deviation[deviation == 0] = 1
    data.features = (centred / deviation).astype(features.dtype)


def outcome(data: DataSet) -> int:
    """Return the place of the label of the largest absolute value: the class, of a single example."""
    return int(abs(data.labels).reshape(-1).argmax())


@checked
def reshape(data: DataSet, rows: Count, columns: Count) -> DataSet:
    """Return a data set with features of another shape and the same labels, as Java: of as many rows, to be of use.

    Raises
    ------
    ShapeError
        There are not so many numbers, or another number of rows.
    """
    features = data.features
    if rows * columns != features.size or rows != features.shape[0]:
        raise ShapeError(
            f"DataSet.reshape: rows and columns must hold {features.size} numbers of {features.shape[0]} examples, got "
            f"{rows} and {columns}. Reshape data.features by itself."
        )
    return DataSet(features.reshape(rows, columns), data.labels, data.features_mask, data.labels_mask)


@checked
def round_to_the_nearest(data: DataSet, digits: Natural) -> None:
    """Round the features to so many decimal places, halves up."""
    tens = 10.0**digits
    data.features = (data.features * tens + 0.5) // 1 / tens


@checked
def scale_min_and_max(data: DataSet, low: float, high: float) -> None:
    """Scale every column of the features to a range; raise DataError for a column of one number, which has none."""
    features = data.features
    smallest, largest = features.min(axis=0), features.max(axis=0)
    if (smallest == largest).any():
        raise DataError(
            f"scaleMinAndMax: every column must have two different numbers, got {smallest[smallest == largest][0]} "
            "alone in one. Leave it out, or use NormalizerMinMaxScaler."
        )
    data.features = ((features - smallest) / (largest - smallest) * (high - low) + low).astype(features.dtype)


@checked
def set_new_number_of_labels(data: DataSet, classes: Count) -> None:
    """Put zeros for so many classes in the place of the labels; `setOutcome` then says which is which."""
    labels = data.features.reshape(data.num_examples(), -1)[:, [0] * classes]
    labels[...] = 0
    data.labels = labels


@checked
def set_outcome(data: DataSet, example: Natural, label: Natural) -> None:
    """Set the class of an example; raise DataError if there is no such example or class."""
    _check_example("setOutcome", data, example)
    if label >= data.num_outcomes():
        raise DataError(
            f"setOutcome: label must be 0..{data.num_outcomes() - 1}, got {label}. Call setNewNumberOfLabels first."
        )
    labels = data.labels.copy()
    labels[example] = 0
    labels[example, label] = 1
    data.labels = labels


@checked
def squish_to_range(data: DataSet, low: float, high: float) -> None:
    """Bring features outside of a range to its nearest end."""
    data.features = data.features.clip(low, high)


def validate(data: DataSet) -> None:
    """Raise ShapeError unless all arrays hold as many examples."""
    check_lengths("DataSet", {name: array for name, array in data.named_arrays() if array is not None})


def _check_example(who: str, data: DataSet, example: int) -> None:
    if example >= data.num_examples():
        raise DataError(f"{who}: example must be 0..{data.num_examples() - 1}, got {shown(example)}.")
