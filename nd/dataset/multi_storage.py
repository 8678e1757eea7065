"""MultiDataSets in files, in the form of ND4J's ``MultiDataSet.save``."""

from __future__ import annotations

import struct
from typing import BinaryIO

import numpy as np

from backends.errors import DataError, FormatError, ShapeError
from nd import serde
from nd.dataset.multi_data_set import MultiDataSet
from nd.dataset.storage import KIND, warn_of_names
from nd.files.reading import Source, name_of, opening
from nd.files.serde_buffers import CORRUPT, read_number
from nd.files.writing import Target, replacing
from nd.typing import Array

_NO_MASK = np.array([-1], np.float32)
"""Stands for a mask that is not there where others are."""
_METADATA_FOLLOW = struct.pack(">i", 1)


def save_multi_data_set(data_set: MultiDataSet, path: Target) -> None:
    """Write a MultiDataSet to a file that is there whole or not at all, or to an open one; see `MultiDataSet.save`."""
    warn_of_names("MultiDataSet", data_set)
    with replacing("MultiDataSet.save", path, KIND) as stream:
        write_multi_data_set(stream, data_set)


def load_multi_data_set(path: Source) -> MultiDataSet:
    """Read the MultiDataSet of a file; see `MultiDataSet.load`."""
    with opening("MultiDataSet.load", path) as stream:
        try:
            return read_multi_data_set(stream)
        except FormatError as error:
            raise FormatError(f"MultiDataSet.load: '{name_of(path)}': {error}") from error


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

    Raises
    ------
    FormatError
        The bytes are no MultiDataSet. No more than the stream delivers is allocated.
    """
    names = ("features", "labels", "features masks", "labels masks")
    counts = [read_number(stream, ">i", f"the number of {name}") for name in names]
    if min(counts) < 0 or counts[0] < 1:
        raise FormatError(f"expected the numbers of features (at least 1), labels and masks of both, got {counts}.")
    if any(counts[2 + i] not in (0, counts[i]) for i in range(2)):
        raise FormatError(f"expected no masks, or one an array, got {counts} features, labels and masks. {CORRUPT}")
    groups = [[_read(stream, position > 1) for _ in range(count)] for position, count in enumerate(counts)]
    left = stream.read(len(_METADATA_FOLLOW))
    if left not in (b"", _METADATA_FOLLOW):
        raise FormatError(f"expected the end after {sum(counts)} arrays, got more bytes. {CORRUPT}")
    try:
        return MultiDataSet(groups[0], groups[1], *(group or None for group in groups[2:]))
    except (DataError, ShapeError) as error:
        raise FormatError(f"{error} {CORRUPT}") from error


def _read(stream: BinaryIO, is_mask: bool) -> Array | None:
    array = serde.read_array(stream)
    return None if is_mask and array.size == 1 and array.reshape(-1)[0] == -1 else array
