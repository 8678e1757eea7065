"""Files of HDF5, through h5py: all their arrays and texts by path.

libhdf5 can crash on damaged files. A file that is not one's own can be read by a child process: its crash is an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import nd
from nd import FormatError
from nd.extras import optional
from nd.files.reading import regular_file
from nd.files.writing import FileKind, Target, replacing
from nd.interrupts import Held
from nd.typing import Array

from .hdf5_tree import Hdf5Tree, read_tree

ENDINGS = (".h5", ".hdf5")
_KIND = FileKind("a file of HDF5", ENDINGS)


class Hdf5Content(NamedTuple):
    """What a file of HDF5 holds, by path: ``"data/conv1/0"``."""

    arrays: dict[str, Array]
    """float64 and whole numbers as they are, other numbers as float32."""
    texts: dict[str, str]


def read_hdf5(path: str | os.PathLike[str], isolated: bool = False) -> Hdf5Content:
    """Return all arrays and texts of a file, on the current backend.

    Parameters
    ----------
    path : path
    isolated : bool
        Read it in a child process, for files that are not one's own. It takes a second longer.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is damaged, of another kind, keeps numbers in other files, or holds more than its length allows; or the child
        process crashed on it.
    ConfigurationError
        The package h5py is not installed.
    """
    checked_path = regular_file("read_hdf5", path)
    tree = read_tree(optional("read_hdf5", "h5py", "h5py", "caffe"), checked_path, isolated)
    try:
        return _content(tree)
    except FormatError as error:
        raise FormatError(f"{checked_path}: {error}") from error


def write_hdf5(target: Target, arrays: Mapping[str, Array], texts: Mapping[str, str] | None = None) -> None:
    """Write arrays and texts by path, whole or not at all; groups are made as paths need them."""
    library = optional("write_hdf5", "h5py", "h5py", "caffe")
    with replacing("write_hdf5", target, _KIND) as file, Held():
        _write(file, arrays, texts or {}, library)


def _write(file: Any, arrays: Mapping[str, Array], texts: Mapping[str, str], library: Any) -> None:
    with library.File(file, "w") as content:
        for path, array in arrays.items():
            content.create_dataset(path, data=nd.to_host(array))
        for path, text in texts.items():
            encoded = text.encode()
            content.create_dataset(path, data=encoded, dtype=library.string_dtype("utf-8", len(encoded) + 1))  # C's 0


def _content(tree: Hdf5Tree) -> Hdf5Content:
    """Return the arrays on the current backend."""
    for name, what in tree.others.items():
        expected = "be one text" if what.startswith("texts") else "hold numbers or a text"
        raise FormatError(f"{name!r} must {expected}, got {what}.")
    return Hdf5Content({name: nd.create(stored.array) for name, stored in tree.arrays.items()}, dict(tree.texts))
