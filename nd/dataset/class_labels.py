"""Classes as people write them: numbers, texts, categories; and the one-hot labels that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from backends.errors import DataError, DTypeError
from nd.dataset.checks import as_array
from nd.dataset.dataset import one_hot
from nd.serde import as_host

_SHOWN = 8  # classes in a message


def text_classes(labels: Any) -> tuple[np.ndarray, tuple[str, ...]] | None:
    """Return class numbers and the names of the classes, where labels are texts or categories; else None.

    Parameters
    ----------
    labels : object
        Texts in a list or an array of any shape, or a pandas Categorical or column of categories.

    Returns
    -------
    tuple of (array of integers, names), or None
        The names of texts are sorted, those of categories in the order of the categories.

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
    texts = _texts(labels.to_numpy() if hasattr(labels, "to_numpy") else labels)
    if texts is None:
        return None
    names, numbers = np.unique(texts.astype(str), return_inverse=True)
    return numbers.reshape(texts.shape), tuple(names.tolist())


def class_numbers(who: str, labels: Any, names: Sequence[str]) -> np.ndarray | None:
    """Return the places of texts or categories among the names of the classes; None where labels are neither.

    Raises
    ------
    DataError
        One of them is no class.
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


def check_class_numbers(who: str, labels: Any, classes: int) -> None:
    """Raise DataError unless every label is a whole number below the number of classes."""
    host = as_host(as_array(f"{who} labels", labels))
    wrong = (host < 0) | (host >= classes) | (host != np.floor(host))
    if wrong.any():
        place = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise DataError(
            f"{who}: class numbers must be whole numbers from 0 to {classes - 1}, got {host[place]} at "
            f"{place[0] if len(place) == 1 else list(place)}. Number the classes from 0, or give one-hot labels."
        )


def one_hot_places(labels: Any, classes: int) -> np.ndarray:
    """Return class numbers ``[N, ...]`` as one-hot labels ``[N, classes, ...]``, on the host.

    Raises
    ------
    DataError
        A label is no class number.
    """
    host = as_host(as_array("one_hot labels", labels))
    encoded = one_hot(host.reshape(-1), classes)
    return encoded if host.ndim == 1 else np.moveaxis(encoded.reshape(*host.shape, classes), -1, 1)


def host_labels(labels: Any) -> np.ndarray:
    """Return numeric labels as an array on the host."""
    return as_host(as_array("labels", labels))


def name_list(names: Sequence[str]) -> str:
    """Write the first few names for a message."""
    more = f", ... ({len(names)} in all)" if len(names) > _SHOWN else ""
    return ", ".join(map(repr, names[:_SHOWN])) + more


def _texts(labels: Any) -> np.ndarray | None:
    """Return an array of texts, None for other labels."""
    if isinstance(labels, (list, tuple)):
        if not labels or not isinstance(labels[0], str):
            return None
    elif not hasattr(labels, "shape") or getattr(getattr(labels, "dtype", None), "kind", "f") not in "OUS":
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
