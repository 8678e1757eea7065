"""All of a file of HDF5 as it lies there: groups with their attributes, and arrays that are read when asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NamedTuple

from nd import FormatError
from nd.interrupts import Held
from nd.typing import HostArray

Attribute = str | list[str] | int | float | None
"""A text, texts, or a number; None for anything else."""
DAMAGES = (
    ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What h5py raises of damaged files, as tests with such files found."""
_MOST_OBJECTS = 200_000
_MOST_ATTRIBUTE = 64 << 20  # bytes


class StoredArray(NamedTuple):
    """An array of a file.

    Attributes
    ----------
    shape : tuple of int
    dtype : str
        As NumPy spells it, ``"bfloat16"`` where Keras wrote that.
    read : callable
        Returns it, of float32, float64 or int64, on the host.
    """

    shape: tuple[int, ...]
    dtype: str
    read: Callable[[], HostArray]


class Hdf5Tree(NamedTuple):
    """What a file holds, by path; the root is ``""``.

    Attributes
    ----------
    attributes : mapping of str -> mapping of str -> Attribute
        Of every group and every array.
    arrays : mapping of str -> StoredArray
    """

    attributes: Mapping[str, Mapping[str, Attribute]]
    arrays: Mapping[str, StoredArray]


def read_tree(library: Any, name: str, source: str | BinaryIO, most: int, without: tuple[str, ...] = ()) -> Hdf5Tree:
    """Return the content of a file, all of it in memory.

    Parameters
    ----------
    library : module
        h5py.
    name : str
        Of the file, in messages.
    source : str or binary file object
    most : int
        Bytes that the arrays may take together.
    without : tuple of str
        Groups of the root whose content is left out.

    Raises
    ------
    FormatError
        It is damaged, of another kind, keeps numbers in other files, or holds more than `most`.
    """
    try:
        with Held(), library.File(source, "r") as file:  # h5py drops a Ctrl-C that comes as it lets go of its handles
            return _content(file, library, most, without)
    except FormatError as error:
        raise FormatError(f"{name}: {error}") from error
    except DAMAGES as error:
        raise FormatError(f"{name}: expected a file of HDF5, got {error}. Is it damaged, or another kind?") from error


def _content(file: Any, library: Any, most: int, without: tuple[str, ...]) -> Hdf5Tree:
    objects: dict[str, Any] = {"": file}

    def note(name: str, item: Any) -> None:
        if len(objects) > _MOST_OBJECTS:
            raise FormatError(f"it must have at most {_MOST_OBJECTS:,} groups and arrays, got more.")
        if name.partition("/")[0] not in without:
            objects[name] = item

    file.visititems(note)
    attributes = {name: _attributes(item, library) for name, item in objects.items()}
    datasets = {name: item for name, item in objects.items() if hasattr(item, "nbytes")}
    size = sum(int(dataset.nbytes) for dataset in datasets.values())
    if size > most:
        raise FormatError(
            f"arrays must take at most {most:,} bytes, which is much for a file of this length, got {size:,}."
        )
    arrays = {name: _array(name, item, attributes[name], library) for name, item in datasets.items()}
    return Hdf5Tree(attributes, {name: array for name, array in arrays.items() if array is not None})


def _attributes(item: Any, library: Any) -> dict[str, Attribute]:
    return {name: _attribute(item.attrs, name, library) for name in item.attrs}


def _attribute(attributes: Any, name: str, library: Any) -> Attribute:
    handle = attributes.get_id(name)
    size = handle.dtype.itemsize
    for length in handle.shape or ():
        size *= length
    if size > _MOST_ATTRIBUTE:
        raise FormatError(f"attribute {name!r} must have at most {_MOST_ATTRIBUTE:,} bytes, got {size:,}.")
    if handle.dtype.kind not in "biufSO" or len(handle.shape or ()) > 1:
        return None
    if handle.dtype.kind == "O" and library.check_string_dtype(handle.dtype) is None:
        return None
    value = attributes[name]
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_text(text) for text in value] if all(isinstance(text, (str, bytes)) for text in value) else None
    return value if isinstance(value, (int, float)) else _text(value) if isinstance(value, (str, bytes)) else None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value


def _array(name: str, dataset: Any, attributes: Mapping[str, Attribute], library: Any) -> StoredArray | None:
    """Return an array of numbers; None for texts and other things."""
    if dataset.external or dataset.is_virtual:
        raise FormatError(f"{name!r} must be in the file itself, got numbers in another one.")
    if dataset.shape is None:
        return None
    kind, size = dataset.dtype.kind, dataset.dtype.itemsize
    if kind == "V" and size == 2 and attributes.get("dtype") == "bfloat16":
        return StoredArray(dataset.shape, "bfloat16", _kept(_of_bfloat16(dataset[()])))
    if kind not in "biuf":
        return None
    exact = "int64" if kind != "f" else "float64" if size >= 8 else "float32"
    return StoredArray(dataset.shape, dataset.dtype.name, _kept(dataset.astype(exact)[()]))


def _of_bfloat16(array: Any) -> HostArray:
    """Return numbers of 16 bits, the upper halves of those of 32, as float32."""
    halves = array.reshape(-1).view("<u2").astype("<u4")
    return (halves << 16).view("<f4").reshape(array.shape)


def _kept(array: Any) -> Callable[[], HostArray]:
    return lambda: array
