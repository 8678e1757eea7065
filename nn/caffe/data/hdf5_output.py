"""HDF5Output: what comes in, in a file of HDF5."""

from __future__ import annotations

import os
from typing import Any

import nd
from nd import ConfigurationError, FormatError, ShapeError
from nd.checks import describe_shape
from nd.extras import optional
from nd.typing import Array

from ..schema import Message

_NAMES = ("data", "label")


class HDF5Output:
    """Writes data and labels of every pass into a file, behind those of the passes before.

    Parameters
    ----------
    message : LayerParameter
        ``message.hdf5_output_param`` has the name of the file.
    label : str
        Of the layer in messages.
    folder : str
        What a relative name begins from; without one the working directory.

    Raises
    ------
    ConfigurationError
        No file is named, or the package h5py is not installed.

    Notes
    -----
    The file has the arrays ``data`` and ``label``, with the shapes and dtypes of what comes in. The first `write` makes
    it, in place of one that is there. After each call it is whole, and others may read it.
    Source: BVLC Caffe, hdf5_output_layer.cpp. Differs: Caffe makes the file with the net, and fails at the second pass.
    """

    def __init__(self, message: Message, label: str, folder: str = "") -> None:
        self.label = label
        self._library = optional(label, "h5py", "h5py", "caffe")
        name = message.hdf5_output_param.file_name
        if not name:
            raise ConfigurationError(f"{label}: file_name must be the name of a file, got ''. Set it.")
        self._path, self._is_new = os.path.join(folder, name), True

    def write(self, data: Array, labels: Array) -> None:
        """Append arrays ``[N, ...]`` of equally many rows.

        Raises
        ------
        ShapeError
            They have not equally many rows, or their rows are not as those before.
        FormatError
            What was written before is not there as it was.
        OSError
            The file cannot be written.
        """
        arrays = [nd.to_host(data), nd.to_host(labels)]
        shapes = [describe_shape(array.shape) for array in arrays]
        if any(not array.shape for array in arrays) or len(arrays[0]) != len(arrays[1]):
            raise ShapeError(f"{self.label}: data and label must have equally many rows, got {' and '.join(shapes)}.")
        pairs = dict(zip(_NAMES, arrays, strict=True))
        with self._library.File(self._path, "w" if self._is_new else "r+") as file:
            if self._is_new:
                for name, array in pairs.items():
                    file.create_dataset(name, data=array, maxshape=(None, *array.shape[1:]))
            else:
                self._append(file, pairs)
        self._is_new = False

    def _append(self, file: Any, arrays: dict[str, Any]) -> None:
        for name, array in arrays.items():
            if name not in file:
                raise FormatError(f"{self._path}: must have {name!r}, as written before. Let others only read it.")
            if file[name].shape[1:] != array.shape[1:]:
                raise ShapeError(
                    f"{self.label}: rows of {name} must be as those before, {describe_shape(file[name].shape[1:])}, "
                    f"got {describe_shape(array.shape[1:])}."
                )
        for name, array in arrays.items():
            start = len(file[name])
            file[name].resize(start + len(array), axis=0)
            file[name][start:] = array
