"""DataSets and MultiDataSets joined along the examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from backends.errors import DataError, ShapeError, describe_shape
from nd.dataset.checks import check_mergeable
from nd.dataset.examples import Examples
from nd.dataset.iterator import check_data_set
from nd.typing import Array

Arrays = list[Array | None]


Merged = TypeVar("Merged", bound=Examples)


def merged_sets(kind: type[Merged], data_sets: Iterable[Merged]) -> Merged:
    """Return sets of a kind joined; see `DataSet.merge`."""
    sets = checked_sets(data_sets, kind)
    named = [dict(data_set.named_arrays()) for data_set in sets]
    counts = [data_set.num_examples() for data_set in sets]
    joined: dict[str, Array | None] = {}
    for group in ("features", "labels"):
        _check_same_number(kind.__name__, group, named)
        inputs = [key for key in joined if key.partition("[")[0] == "features"]
        for name in (name for name in named[0] if name.partition("[")[0] == group):
            mask_name = f"{name}_mask" if name == group else name.replace(group, f"{group}_masks")
            arrays, masks = ([each[key] for each in named] for key in (name, mask_name))
            array, joined[mask_name] = merged(Parts(kind.__name__, name, mask_name, arrays, masks, counts))
            # labels that are the features of an input in all of them stay so
            same = (key for key in inputs if all(each[key] is each[name] for each in named))
            joined[name] = joined.get(next(same, ""), array)
    whole = sets[0].with_arrays([joined[name] for name in named[0]])
    whole.class_names = names_of(kind.__name__, sets)
    return whole


def _check_same_number(kind: str, group: str, named: Sequence[dict[str, object]]) -> None:
    """Raise DataError where MultiDataSets have different numbers of inputs or outputs."""
    counts = [sum(name.startswith(f"{group}[") for name in each) for each in named]
    for i, count in enumerate(counts):
        if count != counts[0]:
            raise DataError(
                f"{kind}.merge: expected {counts[0]} arrays of {group}, as in the first, got {count} in {kind} {i}."
            )


class Parts(NamedTuple):
    """Arrays that are to be joined, one of each set."""

    kind: str
    """"DataSet" or "MultiDataSet"."""
    name: str
    mask_name: str
    arrays: list[Any]
    masks: list[Any]
    counts: list[int]
    """Examples of each set."""


def checked_sets(data_sets: Iterable[Merged], kind: type[Merged]) -> list[Merged]:
    """Return sets as a list; DataError if there is none, or one without features, DTypeError for other types."""
    sets, name = list(data_sets), kind.__name__
    if not sets:
        raise DataError(f"{name}.merge: expected at least one {name}, got an empty list.")
    for i, data_set in enumerate(sets):
        check_data_set(f"{name}.merge: element {i}", data_set, kind)
        if data_set.features is None:  # type: ignore[attr-defined]
            raise DataError(f"{name}.merge: element {i}: expected features, got None.")
    return sets


def names_of(kind: str, sets: Sequence[Examples]) -> Sequence[str] | None:
    """Return the names of the classes of all sets; DataError where they are not the same, in one order."""
    names = [None if each.class_names is None else list(each.class_names) for each in sets]
    for i, other in enumerate(names):
        if other != names[0]:
            raise DataError(
                f"{kind}.merge: element {i}: expected the classes {names[0]}, as in the first, got {other}. Number "
                "them alike, and set class_names of all."
            )
    return sets[0].class_names


def merged(parts: Parts) -> tuple[Array | None, Array | None]:
    """Return arrays joined, and their mask; series are as long as the longest of them.

    DataError where only some are there; ShapeError, DTypeError, BackendError where arrays differ in the other axes, in
    their dtype or in their backend.
    """
    arrays, masks, kind, name = parts.arrays, parts.masks, parts.kind, parts.name
    without = [array is None for array in arrays]
    if any(without):
        if all(without):
            return None, _joined(parts.kind, parts.mask_name, _filled(masks, parts.counts))
        raise DataError(f"{kind}.merge: expected {name} in all or none, got none in {kind} {without.index(True)}.")
    lengths = {array.shape[2] for array in arrays if array.ndim == 3}
    if len(lengths) > 1 and all(array.ndim == 3 for array in arrays):
        like = next((mask for mask in masks if mask is not None), None)
        masks = [_of_every_step(kind, mask, array, like) for array, mask in zip(arrays, masks, strict=True)]
        arrays, masks = ([_padded(array, max(lengths)) for array in part] for part in (arrays, masks))
    return _joined(kind, name, arrays), _joined(parts.kind, parts.mask_name, _filled(masks, parts.counts))


def _of_every_step(kind: str, mask: Array | None, series: Array, like: Array | None) -> Array:
    """Return a mask ``[N, T]``, or ``[N, C, T]`` as other masks; a number for an example holds for its steps."""
    examples, _, steps = series.shape
    if mask is None:
        dtype, axes = (series.dtype, ()) if like is None else (like.dtype, like.shape[1:-1])
        return np.ones_like(series, dtype, shape=(examples, *axes, steps))
    if mask.ndim == 1:
        raise ShapeError(
            f"{kind}.merge: masks of series of different length must be [N, T], got {describe_shape(mask.shape)}. "
            "Reshape to [N, 1]."
        )
    return mask if mask.shape[-1] != 1 else mask * np.ones_like(series, mask.dtype, shape=(steps,))


def _padded(array: Array, length: int) -> Array:
    """Return an array with zeros at the end of its last axis, up to a length."""
    longer = np.zeros_like(array, shape=(*array.shape[:-1], length))
    longer[..., : array.shape[-1]] = array
    return longer


def _filled(masks: Arrays, counts: list[int]) -> Arrays:
    """Return masks, in the place of those that are not there ones that count everything, if there is any."""
    like = next((mask for mask in masks if mask is not None), None)
    if like is None:
        return masks
    return [
        np.ones_like(like, shape=(count, *like.shape[1:])) if mask is None else mask
        for mask, count in zip(masks, counts, strict=True)
    ]


def _joined(kind: str, name: str, arrays: Arrays) -> Array | None:
    if arrays[0] is None:
        return None
    for i, array in enumerate(arrays):
        check_mergeable(f"{kind}.merge: {name} of {kind} {i}", array, arrays[0])
    return np.concatenate(arrays, axis=0)  # type: ignore[arg-type]  # NumPy hands CuPy arrays on to CuPy's own
