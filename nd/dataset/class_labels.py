"""Classes as people write them: numbers, texts, categories; and the one-hot labels that they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from backends.errors import DataError, DTypeError, ShapeError, describe_shape
from nd.checks import check_memory
from nd.dataset.checks import as_array, check_count
from nd.intake import column_names, column_values, only_column
from nd.serde import as_host

_MOST_CLASSES = 2**31 - 1  # Java's int
_SHOWN = 8  # classes in a message
_NUMBERED = re.compile(r"column_\d+")
"""Names that polars gives columns which have none."""


class ColumnNames(tuple[str, ...]):
    """Names of the classes of one-hot columns, which have an order without them too.

    A network that knows no names takes such columns as they lie, where it refuses texts.
    """

    __slots__ = ()


def one_hot(labels: object, n: int) -> np.ndarray:
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


def class_columns(labels: object) -> ColumnNames | None:
    """Return the names of a table's one-hot columns; None where it is no table, or its columns have no names."""
    names = column_names(labels)
    if names is None or len(names) < 2 or not all(isinstance(name, str) for name in names):
        return None
    return None if all(map(_NUMBERED.fullmatch, names)) else ColumnNames(names)


def numbers_as_names(names: Sequence[str]) -> dict[float, int] | None:
    """Return number -> class where the names of the classes are numbers, others than the classes' own; else None.

    >>> numbers_as_names(["1", "2"]), numbers_as_names(["0", "1"]), numbers_as_names(["no", "yes"])
    ({1.0: 0, 2.0: 1}, None, None)
    """
    try:
        values = [_SWITCHES[name] if name in _SWITCHES else float(name) for name in names]
    except ValueError:
        return None
    own = values == list(range(len(names)))
    return None if own or len(set(values)) < len(names) else {value: place for place, value in enumerate(values)}


_SWITCHES = {"False": 0.0, "True": 1.0}


def places_of_numbers(labels: object, places: Mapping[float, int]) -> np.ndarray:
    """Return the classes ``[N, ...]`` that numbers name; raise DataError where one names none."""
    host = host_labels(labels)
    values, numbers = np.unique(host, return_inverse=True)
    unknown = [value for value in values.tolist() if float(value) not in places]
    if unknown:
        raise DataError(
            f"labels: the names of the classes are numbers, {', '.join(f'{place:g}' for place in [*places][:_SHOWN])}, "
            f"and labels must be among them, got {name_list(unknown)}. Give the names, or one-hot labels."
        )
    return np.array([places[float(value)] for value in values.tolist()])[numbers].reshape(host.shape)


def text_classes(labels: object) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Return class numbers and the names of the classes, where labels are texts or categories; else None.

    Texts are in a list or an array of any shape, categories in pandas' Categorical or a column. The names of texts are
    sorted, those of categories in the order of the categories.

    Raises
    ------
    DataError, DTypeError
        A label is missing, or is no text where other labels are.

    Examples
    --------
    >>> numbers, names = text_classes(["dog", "cat", "dog"])
    >>> numbers.tolist(), names
    ([1, 0, 1], ('cat', 'dog'))
    """
    plain = isinstance(labels, np.ndarray)
    labels = labels if plain else only_column(labels)
    holder = getattr(labels, "cat", labels)
    if hasattr(holder, "categories") and hasattr(holder, "codes"):
        codes = np.asarray(holder.codes)
        missing = (codes < 0).reshape(-1)
        if missing.any():
            row = int(np.argmax(missing))
            raise DataError(
                f"labels: every example must have a class, got none at {row}. Fill or drop what is missing."
            )
        return codes, tuple(str(category) for category in holder.categories)
    if not plain and column_names(labels) is not None:
        return None
    texts = _texts(column_values(labels) if hasattr(labels, "to_numpy") else labels)
    if texts is None:
        return None
    names, numbers = np.unique(texts.astype(str), return_inverse=True)
    return numbers.reshape(texts.shape), tuple(names.tolist())


def named_labels(labels: object) -> tuple[object, Sequence[str] | None]:
    """Return labels and the names of their classes: numbers ``[N]`` of texts, columns as they are; None without names.

    Raises as `text_classes`.
    """
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "biuf":  # the usual case
        return labels, None
    columns = class_columns(labels)
    texts = text_classes(labels) if columns is None else None
    if texts is None or texts[0].ndim > 2 or texts[0].shape[1:] not in ((), (1,)):
        return labels, columns
    return texts[0].reshape(-1), texts[1]


def class_numbers(who: str, labels: object, names: Sequence[str]) -> np.ndarray | None:
    """Return the places of texts or categories among the names of the classes; None where labels are neither.

    DataError where one of them is no class.
    """
    numbers_and_names = text_classes(labels)
    if numbers_and_names is None:
        return None
    numbers, present = numbers_and_names
    places = {name: place for place, name in enumerate(names)}
    unknown = [name for place, name in enumerate(present) if name not in places and bool((numbers == place).any())]
    if unknown:
        raise DataError(
            f"{who}: labels must be of the classes {name_list(names)}, got {name_list(unknown)}. Correct the "
            "labels, or give all classes."
        )
    return np.array([places.get(name, -1) for name in present])[numbers]


def renumbered(who: str, labels: object, names: Sequence[str], order: Sequence[str], rank: int) -> np.ndarray:
    """Return labels of classes with these names as those of the same names in another order, on the host.

    Labels are one-hot ``[N, len(names), ...]`` of that rank, or class numbers ``[N, ...]``, ``[N, 1, ...]``; `order`
    may have more names. DataError where it lacks one, or labels are no class numbers.

    >>> renumbered("fit", [[1, 0], [0, 1]], ["dog", "cat"], ["ant", "cat", "dog"], 2).tolist()
    [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    unknown = [name for name in names if name not in order]
    if unknown:
        raise DataError(
            f"{who}: labels must be of the classes {name_list(order)}, got {name_list(unknown)}. Correct the "
            "labels, or train with all classes."
        )
    host = host_labels(labels)
    places = np.array([list(order).index(name) for name in names])
    if host.ndim == rank and host.shape[1] == len(names) > 1:
        moved = np.zeros((len(host), len(order), *host.shape[2:]), host.dtype)
        moved[:, places] = host
        return moved
    check_class_numbers(who, host, len(names))
    return places[host.astype(np.int64)].astype(host.dtype)


def check_class_numbers(who: str, labels: object, classes: int) -> None:
    """Raise DataError unless every label is a whole number below the number of classes."""
    host = as_host(as_array(f"{who} labels", labels))
    wrong = (host < 0) | (host >= classes) | (host != np.floor(host))
    if wrong.any():
        place = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise DataError(
            f"{who}: class numbers must be whole numbers from 0 to {classes - 1}, got {host[place]} at "
            f"{place[0] if len(place) == 1 else list(place)}. Number the classes from 0, or give one-hot labels."
        )


def one_hot_places(labels: object, classes: int) -> np.ndarray:
    """Return class numbers ``[N, ...]`` as one-hot labels ``[N, classes, ...]``, on the host; else DataError."""
    host = as_host(as_array("one_hot labels", labels))
    encoded = one_hot(host.reshape(-1), classes)
    return encoded if host.ndim == 1 else np.moveaxis(encoded.reshape(*host.shape, classes), -1, 1)


def host_labels(labels: object) -> np.ndarray:
    """Return numeric labels as an array on the host."""
    return as_host(as_array("labels", labels))


def name_list(names: Sequence[object]) -> str:
    """Write the first few names for a message."""
    more = f", ... ({len(names)} in all)" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def _texts(labels: object) -> np.ndarray | None:
    """Return an array of texts, None for other labels."""
    if isinstance(labels, (list, tuple)):
        if not labels or not isinstance(labels[0], str):
            return None
    elif not hasattr(labels, "shape") or str(getattr(getattr(labels, "dtype", None), "kind", "f")) not in "OUS":
        return None
    array = np.asarray(labels)
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind == "U":
        return array
    elements = array.reshape(-1).tolist()
    if not any(isinstance(element, str) for element in elements):
        return None
    for row, element in enumerate(elements):
        if not isinstance(element, str):
            raise DTypeError(f"labels: expected texts, as others are, got {element!r} at {row}. Fill or drop it.")
    return array
