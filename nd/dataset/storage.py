"""DataSets in files, in the form of ND4J's ``DataSet.save``."""

from __future__ import annotations

import warnings
from typing import BinaryIO

from backends.errors import FormatError, ShapeError
from nd import serde
from nd.dataset.dataset import DataSet
from nd.dataset.examples import Examples
from nd.files.reading import Source, name_of, opening
from nd.files.serde_buffers import CORRUPT
from nd.files.writing import FileKind, Target, replacing
from nd.typing import Array

_HAS_FEATURES = 1
_HAS_LABELS = 2
_LABELS_ARE_FEATURES = 4
_HAS_FEATURES_MASK = 8
_HAS_LABELS_MASK = 16
_HAS_METADATA = 32
_ALL_BITS = 63
_ARRAYS = "Arrays alone are written by numpy.savez, of nd.to_host(array). "
KIND = FileKind("a data set in ND4J's form", (".bin",), {".npz": _ARRAYS, ".npy": _ARRAYS, ".csv": _ARRAYS})


def save_data_set(data_set: DataSet, path: Target) -> None:
    """Write a DataSet to a file that is there whole or not at all, or to an open one; see `DataSet.save`."""
    warn_of_names("DataSet", data_set)
    with replacing("DataSet.save", path, KIND) as stream:
        write_data_set(stream, data_set)


def warn_of_names(kind: str, data_set: Examples) -> None:
    """Warn where a data set that is saved has names of its classes."""
    if data_set.class_names is not None:
        warnings.warn(
            f"{kind}.save: ND4J's form has no place for class_names, got {list(data_set.class_names)!r:.200}. Set "
            f"them again after {kind}.load.",
            stacklevel=4,
        )


def load_data_set(path: Source) -> DataSet:
    """Read the DataSet of a file; see `DataSet.load`."""
    who = f"DataSet.load: '{name_of(path)}'"
    with opening("DataSet.load", path) as stream:
        try:
            return read_data_set(stream)
        except FormatError as error:
            raise FormatError(f"{who}: {error}") from error


def write_data_set(stream: BinaryIO, data_set: DataSet) -> None:
    """Write a DataSet as ND4J does: a byte that says which arrays follow, then features, labels and masks."""
    shared = data_set.labels is data_set.features
    bits = _HAS_FEATURES
    if data_set.labels is not None:
        bits |= _LABELS_ARE_FEATURES if shared else _HAS_LABELS
    bits |= 0 if data_set.features_mask is None else _HAS_FEATURES_MASK
    bits |= 0 if data_set.labels_mask is None else _HAS_LABELS_MASK
    stream.write(bytes([bits]))
    labels = None if shared else data_set.labels
    for array in (data_set.features, labels, data_set.features_mask, data_set.labels_mask):
        if array is not None:
            serde.write_array(stream, array)


def read_data_set(stream: BinaryIO) -> DataSet:
    """Read a DataSet that `write_data_set`, or Java, wrote, to the end of the stream.

    Raises
    ------
    FormatError
        The bytes are no DataSet. No more than the stream delivers is allocated.
    """
    first = stream.read(1)
    if not first:
        raise FormatError("expected a DataSet, got an empty file.")
    bits = first[0]
    if bits & ~_ALL_BITS or not bits & _HAS_FEATURES:
        raise FormatError(f"expected a first byte of 1 to 63 with bit 0 (features) set, got {bits}.")
    arrays = _read_arrays(stream, bits)
    if not bits & _HAS_METADATA and stream.read(1):
        raise FormatError(f"expected the end after {len(arrays)} fields, got more bytes.")
    try:
        return DataSet(**arrays)
    except ShapeError as error:
        raise FormatError(f"{error} {CORRUPT}") from error


def _read_arrays(stream: BinaryIO, bits: int) -> dict[str, Array]:
    arrays: dict[str, Array] = {"features": serde.read_array(stream)}
    if bits & _LABELS_ARE_FEATURES:
        arrays["labels"] = arrays["features"]
    elif bits & _HAS_LABELS:
        arrays["labels"] = serde.read_array(stream)
    if bits & _HAS_FEATURES_MASK:
        arrays["features_mask"] = serde.read_array(stream)
    if bits & _HAS_LABELS_MASK:
        arrays["labels_mask"] = serde.read_array(stream)
    return arrays
