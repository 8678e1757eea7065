"""Single arrays in NumPy's own files."""

from __future__ import annotations

import numpy as np

from backends.errors import FormatError

from ..arguments import checked
from .reading import Source, opening
from .writing import FileKind, Target, replacing


@checked
def read_npy(path: Source) -> np.ndarray:
    """Return the array of a ``.npy`` file, on the host.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is no such file, is damaged, or holds Python objects.
    """
    with opening("read_npy", path) as file:
        try:
            return np.load(file, allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise FormatError(f"{path}: expected an array as NumPy saves it, got {error}") from error


def write_npy(path: Target, array: np.ndarray) -> None:
    """Write an array to a ``.npy`` file; one that was there is replaced when the new one is complete."""
    with replacing("write_npy", path, FileKind("an array of NumPy", (".npy",))) as file:
        np.save(file, array, allow_pickle=False)
