"""What HDF5Data layers read: a list of files, each with an array for every top."""

from __future__ import annotations

import os
from collections.abc import Sequence

import nd
from nd import DataError
from nd.arguments import checked
from nd.checks import describe_shape
from nd.files.reading import Source
from nd.typing import Array

from ...files.hdf5 import read_hdf5
from .pictures import read_lines


@checked
def read_hdf5_list(source: Source) -> list[str]:
    """Return the paths in a list of HDF5 files, one a line, as an HDF5Data layer has it as `source`."""
    return [line for _, line in read_lines("read_hdf5_list", source)]


@checked
def read_hdf5_data(
    path: str | os.PathLike[str], tops: Sequence[str], isolated: bool = False, dtype: str = "float32"
) -> list[Array]:
    """Return the arrays of a file that tops are named after, with their examples along the first axis.

    Parameters
    ----------
    path : path
    tops : sequence of str
        ``("data", "label")``.
    isolated : bool
        Read it in a child process: see `read_weights`.
    dtype : str
        Of what is returned.

    Raises
    ------
    FileNotFoundError, FormatError
        There is no such file; it is damaged, or another kind of file.
    DataError
        It has no such array, or they are not equally long.
    """
    arrays = read_hdf5(path, isolated).arrays
    missing = [top for top in tops if top not in arrays]
    if missing:
        raise DataError(
            f"{os.fspath(path)}: expected an array for every top, got none for {missing}; there are {sorted(arrays)}."
        )
    shapes = {top: tuple(arrays[top].shape) for top in tops}
    if any(not shape for shape in shapes.values()) or len({shape[0] for shape in shapes.values()}) > 1:
        listed = ", ".join(f"{top} {describe_shape(shape)}" for top, shape in shapes.items())
        raise DataError(f"{os.fspath(path)}: arrays must have equally many rows, got {listed}.")
    return [nd.astype(arrays[top], dtype) for top in tops]
