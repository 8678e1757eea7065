"""DataSets joined along the examples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from backends.errors import DataError, DTypeError, ShapeError, describe_shape
from nd.dataset.checks import check_mergeable
from nd.typing import Array

if TYPE_CHECKING:
    from nd.dataset.dataset import DataSet

Arrays = list[Array | None]


def checked_sets(data_sets: Iterable[DataSet], kind: type[DataSet]) -> list[DataSet]:
    """Return DataSets as a list; DataError if there is none, or one without features, DTypeError for other types."""
    sets = list(data_sets)
    if not sets:
        raise DataError("DataSet.merge: expected at least one DataSet, got an empty list.")
    for i, data_set in enumerate(sets):
        if not isinstance(data_set, kind):
            raise DTypeError(
                f"DataSet.merge: element {i}: expected a DataSet, got {type(data_set).__name__}. Wrap arrays as "
                "DataSet(x, y)."
            )
        if data_set.features is None:
            raise DataError(f"DataSet.merge: element {i}: expected features, got None.")
    return sets


def merged(sets: list[DataSet], name: str) -> tuple[Array | None, Array | None]:
    """Return "features" or "labels" of all, and their mask; series are as long as the longest of them.

    Raises
    ------
    DataError
        Only some have labels.
    ShapeError, DTypeError, BackendError
        The arrays differ in the other axes, in their dtype or in their backend.
    """
    arrays = [getattr(data_set, name) for data_set in sets]
    masks = [getattr(data_set, f"{name}_mask") for data_set in sets]
    without = [array is None for array in arrays]
    if any(without):
        if all(without):
            return None, _joined(f"{name}_mask", _filled(masks, sets))
        raise DataError(f"DataSet.merge: expected {name} in all or none, got none in DataSet {without.index(True)}.")
    lengths = {array.shape[2] for array in arrays if array.ndim == 3}
    if len(lengths) > 1 and all(array.ndim == 3 for array in arrays):
        like = next((mask for mask in masks if mask is not None), None)
        masks = [_of_every_step(mask, array, like) for array, mask in zip(arrays, masks, strict=True)]
        arrays, masks = ([_padded(array, max(lengths)) for array in part] for part in (arrays, masks))
    return _joined(name, arrays), _joined(f"{name}_mask", _filled(masks, sets))


def _of_every_step(mask: Array | None, series: Array, like: Array | None) -> Array:
    """Return a mask ``[N, T]``, or ``[N, C, T]`` as other masks; a number for an example holds for its steps."""
    examples, _, steps = series.shape
    if mask is None:
        dtype, axes = (series.dtype, ()) if like is None else (like.dtype, like.shape[1:-1])
        return np.ones_like(series, dtype, shape=(examples, *axes, steps))
    if mask.ndim == 1:
        raise ShapeError(
            f"DataSet.merge: masks of series of different length must be [N, T], got {describe_shape(mask.shape)}. "
            "Reshape to [N, 1]."
        )
    return mask if mask.shape[-1] != 1 else mask * np.ones_like(series, mask.dtype, shape=(steps,))


def _padded(array: Array, length: int) -> Array:
    """Return an array with zeros at the end of its last axis, up to a length."""
    longer = np.zeros_like(array, shape=(*array.shape[:-1], length))
    longer[..., : array.shape[-1]] = array
    return longer


def _filled(masks: Arrays, sets: list[DataSet]) -> Arrays:
    """Return masks, in the place of those that are not there ones that count everything, if there is any."""
    like = next((mask for mask in masks if mask is not None), None)
    if like is None:
        return masks
    return [
        np.ones_like(like, shape=(data_set.num_examples(), *like.shape[1:])) if mask is None else mask
        for mask, data_set in zip(masks, sets, strict=True)
    ]


def _joined(name: str, parts: Arrays) -> Array | None:
    if parts[0] is None:
        return None
    for i, part in enumerate(parts):
        check_mergeable(f"DataSet.merge: {name} of DataSet {i}", part, parts[0])
    return np.concatenate(parts, axis=0)  # type: ignore[arg-type]  # NumPy hands CuPy arrays on to CuPy's own
