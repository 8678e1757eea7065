"""DataFrameDataSetIterator: tables of pandas, polars, Arrow and others with their protocols."""

from __future__ import annotations

import importlib
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from backends.errors import ConfigurationError, DataError, DTypeError
from nd.arguments import Count, checked
from nd.dataset.class_labels import ColumnNames, class_numbers, name_list, text_classes
from nd.dataset.numpy_iterator import NumpyDataSetIterator
from nd.intake import checked_names, column_values
from nd.state import default_dtype

_WHO = "DataFrameDataSetIterator"
_NUMERIC_KINDS = "biuf"


class DataFrameDataSetIterator(NumpyDataSetIterator):
    """Iterate over the rows of a table whose columns have names.

    Parameters
    ----------
    frame : data frame
        Columns by ``frame[name].to_numpy()`` with the names in ``frame.columns`` (pandas, polars) or
        ``frame.column_names`` (pyarrow), or else ``__arrow_c_stream__`` or ``__dataframe__``, which pyarrow then
        reads. The columns that are used are copied once.
    batch : int
        Rows in a minibatch; the last one has the rest.
    labels : str or sequence of str, optional
        Columns of labels. One alone with `num_classes` has class numbers; one of texts or categories has classes.
    features : str or sequence of str, optional
        Columns of features; all that are no labels if not given.
    num_classes : int, optional
        Make one-hot labels [N, num_classes].
    classes : sequence of str, optional
        Of a label column of texts, in the order of the one-hot labels; without it texts are sorted, and categories in
        their own order.
    shuffle, seed
        As of `NumpyDataSetIterator`, with the same orders.

    Attributes
    ----------
    class_names : tuple of str or None
        Of texts and categories; of several label columns these columns' names.

    Raises
    ------
    DataError
        There are no rows, a column is missing or twice there, or one that is used has a missing or infinite value.
    DTypeError
        A column that is used does not hold numbers, or `frame` is no data frame.
    ConfigurationError
        `num_classes` needs exactly one label column, a label is also a feature, or pyarrow is needed and not installed.

    Notes
    -----
    Features [N, columns] and labels [N, columns or classes] in the default dtype; true and false become 1 and 0.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"x": [1.0, 2.0], "y": [5.0, 6.0], "kind": [1, 0]})
    >>> DataFrameDataSetIterator(frame, 2, labels="kind", num_classes=2).next().features.tolist()
    [[1.0, 5.0], [2.0, 6.0]]
    """

    @checked
    def __init__(
        self,
        frame: Any,
        batch: Count = 32,
        *,
        labels: Hashable | Sequence[Hashable] | None = None,
        features: Hashable | Sequence[Hashable] | None = None,
        num_classes: Count | None = None,
        classes: Sequence[str] | None = None,
        shuffle: bool = False,
        seed: int = 0,
    ) -> None:
        frame = _with_columns(frame)
        names = checked_names(_WHO, frame)
        label_names = _listed(labels)
        feature_names = [name for name in names if name not in label_names] if features is None else _listed(features)
        if shared := [name for name in feature_names if name in label_names]:
            raise ConfigurationError(
                f"{_WHO}: a column must be a label or a feature, got {shared} as both. Leave out one of the two."
            )
        if not feature_names:
            raise DataError(f"{_WHO}: expected columns of features, got none beside the labels {label_names}.")
        if num_classes is not None and len(label_names) != 1:
            raise ConfigurationError(
                f"{_WHO}: num_classes needs one label column, got {label_names}. Leave it out for numbers."
            )
        x = _matrix(frame, names, feature_names)
        y: np.ndarray | None
        named = _classes(frame, names, label_names[0], classes, num_classes) if len(label_names) == 1 else None
        if named is None and classes is not None:
            raise ConfigurationError(f"{_WHO}: classes need one label column of texts, got the labels {label_names}.")
        if named is not None:
            y, self.class_names = named
            num_classes = len(self.class_names)
        elif num_classes is not None:
            y = _column(frame, names, label_names[0], "float64")  # no rounding makes a class number
        else:
            y = _matrix(frame, names, label_names) if label_names else None
            if len(label_names) > 1 and all(isinstance(name, str) for name in label_names):
                self.class_names = ColumnNames(label_names)
        super().__init__(x, y, batch, num_classes=num_classes, shuffle=shuffle, seed=seed)


def _with_columns(frame: object) -> Any:
    """Return a table that hands out columns by name."""
    if hasattr(frame, "__getitem__") and (hasattr(frame, "column_names") or hasattr(frame, "columns")):
        return frame
    if not hasattr(frame, "__arrow_c_stream__") and not hasattr(frame, "__dataframe__"):
        raise DTypeError(
            f"{_WHO}: expected a data frame (columns with to_numpy, __arrow_c_stream__ or __dataframe__), got "
            f"{type(frame).__name__}. For arrays take NumpyDataSetIterator."
        )
    try:
        arrow = importlib.import_module("pyarrow")
        interchange = importlib.import_module("pyarrow.interchange")
    except ImportError as error:
        raise ConfigurationError(
            f"{_WHO}: a {type(frame).__name__} needs pyarrow to be read, got: {error}. Run: pip install pyarrow"
        ) from error
    try:
        return arrow.table(frame) if hasattr(frame, "__arrow_c_stream__") else interchange.from_dataframe(frame)
    except (TypeError, ValueError) as error:  # a single column, for instance; pyarrow's own errors are of these types
        raise DTypeError(
            f"{_WHO}: expected a data frame, got a {type(frame).__name__}, which pyarrow does not read: {error}. Pass "
            "columns with names."
        ) from error


def _listed(names: object) -> list[Any]:
    """Return one name, which may be any object, or several of them, as a list."""
    if names is None:
        return []
    return [names] if isinstance(names, str) or not isinstance(names, Iterable) else list(names)


def _matrix(frame: object, names: list[str], wanted: list[str]) -> np.ndarray:
    """Return columns as an array [N, len(wanted)], the rows innermost in memory."""
    columns = [_column(frame, names, name) for name in wanted]
    return np.stack(columns).T


def _classes(
    frame: Any, names: list[str], name: str, classes: Sequence[str] | None, num_classes: int | None
) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Return class numbers and their names where a column has texts or categories; else None."""
    values = _values(frame, names, name)
    labels = frame[name] if hasattr(getattr(frame[name], "cat", None), "categories") else values
    numbers_and_names = text_classes(labels)
    if numbers_and_names is None:
        return None
    numbers: Any
    numbers, present = numbers_and_names
    if classes is not None:
        numbers, present = class_numbers(f"{_WHO}: column {name!r}", labels, classes), tuple(map(str, classes))
    if num_classes not in (None, len(present)):
        raise DataError(
            f"{_WHO}: column {name!r}: expected {num_classes} classes, got {len(present)}: {name_list(present)}. Give "
            "the texts of all with classes=[...]."
        )
    return numbers, present


def _values(frame: Any, names: list[str], name: str) -> np.ndarray:
    if name not in names:
        raise DataError(f"{_WHO}: expected a column {name!r}, got the columns {names}.")
    return column_values(frame[name])


def _column(frame: object, names: list[str], name: str, dtype: str | None = None) -> np.ndarray:
    values = _values(frame, names, name)
    if values.dtype.kind not in _NUMERIC_KINDS:
        example = next((value for value in values.tolist() if not isinstance(value, (int, float))), None)
        raise DTypeError(
            f"{_WHO}: column {name!r}: expected numbers, got {example!r} among elements of dtype {values.dtype}. Fill "
            "what is missing, give categories numbers, or leave the column out with features=[...]."
        )
    with np.errstate(over="ignore"):  # infinite numbers are refused below
        numbers = values.astype(dtype or default_dtype())
    finite = np.isfinite(numbers)
    if not finite.all():
        row = int(np.argmin(finite))
        raise DataError(
            f"{_WHO}: column {name!r}: expected finite numbers, got {values[row].item()!r} in row {row}. Fill what is "
            "missing, or drop the rows."
        )
    return numbers
