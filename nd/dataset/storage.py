"""DataSets and MultiDataSets in files, in the forms of ND4J's ``DataSet.save`` and ``MultiDataSet.save``."""

from __future__ import annotations

import struct
import warnings
from typing import Any, BinaryIO

import numpy as np

from backends.errors import DataError, FormatError, ShapeError
from nd import serde
from nd.dataset.dataset import DataSet
from nd.dataset.examples import Examples
from nd.dataset.multi_data_set import MultiDataSet
from nd.files.reading import Source, name_of, opening
from nd.files.serde_buffers import CORRUPT, read_number
from nd.files.writing import FileKind, Target, replacing
from nd.typing import Array

_BITS = {"features": 1, "labels": 2, "features_mask": 8, "labels_mask": 16}
_LABELS_ARE_FEATURES = 4
_HAS_METADATA = 32
_ALL_BITS = 63
_ARRAYS = "Arrays alone are written by numpy.savez, of nd.to_host(array). "
_KIND = FileKind("a data set in ND4J's form", (".bin",), {".npz": _ARRAYS, ".npy": _ARRAYS, ".csv": _ARRAYS})
_NO_MASK = np.array([-1], np.float32)
"""Stands for a mask of a MultiDataSet that is not there where others are."""
_METADATA_FOLLOW = struct.pack(">i", 1)


def save_data_set(data_set: Examples, path: Target) -> None:
    """Write a data set to a file that is there whole or not at all, or to an open one; see `DataSet.save`."""
    kind = _kind_of(type(data_set))
    if data_set.class_names is not None:
        warnings.warn(
            f"{kind}.save: ND4J's form has no place for class_names, got {list(data_set.class_names)!r:.200}. Set "
            f"them again after {kind}.load.",
            stacklevel=3,
        )
    with replacing(f"{kind}.save", path, _KIND) as stream:
        _FORMS[kind][0](stream, data_set)


def load_data_set(kind: type[Examples], path: Source) -> Any:
    """Read the data set of a file; see `DataSet.load`."""
    who = f"{_kind_of(kind)}.load"
    with opening(who, path) as stream:
        try:
            return _FORMS[_kind_of(kind)][1](stream)
        except FormatError as error:
            raise FormatError(f"{who}: '{name_of(path)}': {error}") from error


def _kind_of(kind: type[Examples]) -> str:
    return "DataSet" if issubclass(kind, DataSet) else "MultiDataSet"


def write_data_set(stream: BinaryIO, data_set: DataSet) -> None:
    """Write a DataSet as ND4J does: a byte that says which arrays follow, then features, labels and masks."""
    there = {name: array for name, array in data_set.named_arrays() if array is not None}
    bits = sum(_BITS[name] for name in there)
    if data_set.labels is data_set.features:
        del there["labels"]
        bits ^= _BITS["labels"] | _LABELS_ARE_FEATURES
    stream.write(bytes([bits]))
    for array in there.values():
        serde.write_array(stream, array)


def read_data_set(stream: BinaryIO) -> DataSet:
    """Read a DataSet that `write_data_set`, or Java, wrote, to the end of the stream.

    FormatError: the bytes are no DataSet. No more than the stream delivers is allocated.
    """
    first = stream.read(1)
    if not first:
        raise FormatError("expected a DataSet, got an empty file.")
    bits = first[0]
    if bits & ~_ALL_BITS or not bits & _BITS["features"]:
        raise FormatError(f"expected a first byte of 1 to 63 with bit 0 (features) set, got {bits}.")
    shared = bool(bits & _LABELS_ARE_FEATURES)
    follow = [name for name, bit in _BITS.items() if bits & bit and not (shared and name == "labels")]
    arrays = {name: serde.read_array(stream) for name in follow}
    if not bits & _HAS_METADATA and stream.read(1):
        raise FormatError(f"expected the end after {len(arrays) + shared} fields, got more bytes.")
    if shared:
        arrays["labels"] = arrays["features"]
    try:
        return DataSet(**arrays)
    except ShapeError as error:
        raise FormatError(f"{error} {CORRUPT}") from error


def write_multi_data_set(stream: BinaryIO, data_set: MultiDataSet) -> None:
    """Write a MultiDataSet as ND4J does: how many features, labels and masks of both there are, then the arrays."""
    masks = [
        group if any(mask is not None for mask in group) else []
        for group in (data_set.features_masks, data_set.labels_masks)
    ]
    groups: list[list[Array | None]] = [[*data_set.features], [*data_set.labels], *masks]
    stream.write(struct.pack(">4i", *map(len, groups)))
    for group in groups:
        for array in group:
            serde.write_array(stream, _NO_MASK if array is None else array)


def read_multi_data_set(stream: BinaryIO) -> MultiDataSet:
    """Read a MultiDataSet that `write_multi_data_set`, or Java, wrote, to the end of the stream.

    FormatError: the bytes are no MultiDataSet. No more than the stream delivers is allocated.
    """
    names = ("features", "labels", "features masks", "labels masks")
    counts = [read_number(stream, ">i", f"the number of {name}") for name in names]
    if min(counts) < 0 or counts[0] < 1:
        raise FormatError(f"expected the numbers of features (at least 1), labels and masks of both, got {counts}.")
    if any(counts[2 + i] not in (0, counts[i]) for i in range(2)):
        raise FormatError(f"expected no masks, or one an array, got {counts} features, labels and masks. {CORRUPT}")
    groups = [[_read_or_no_mask(stream, position > 1) for _ in range(count)] for position, count in enumerate(counts)]
    left = stream.read(len(_METADATA_FOLLOW))
    if left not in (b"", _METADATA_FOLLOW):
        raise FormatError(f"expected the end after {sum(counts)} arrays, got more bytes. {CORRUPT}")
    try:
        return MultiDataSet(groups[0], groups[1], *(group or None for group in groups[2:]))
    except (DataError, ShapeError) as error:
        raise FormatError(f"{error} {CORRUPT}") from error


def _read_or_no_mask(stream: BinaryIO, is_mask: bool) -> Array | None:
    array = serde.read_array(stream)
    return None if is_mask and array.size == 1 and array.reshape(-1)[0] == -1 else array


_FORMS: dict[str, tuple[Any, Any]] = {
    "DataSet": (write_data_set, read_data_set),
    "MultiDataSet": (write_multi_data_set, read_multi_data_set),
}
"""What writes and what reads a kind of data sets."""
