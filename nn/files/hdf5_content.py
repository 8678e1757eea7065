"""The walk through a file of HDF5, which needs h5py and Python alone: a child process runs this file as a program.

Others call `nn.files.hdf5_tree.read_tree`.
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Mapping
from typing import Any, BinaryIO, NamedTuple

Attribute = str | list[str] | int | float | None
"""A text, texts, or a number; None for anything else."""
DAMAGES = (
    ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What h5py raises of damaged files, as tests with such files found."""
LENGTH = 8  # bytes of a number, big-endian
_MOST_OBJECTS = 200_000
_MOST_ATTRIBUTE = 64 << 20  # bytes of one
_MOST_ATTRIBUTES = 256 << 20  # bytes of all
_MOST_TEXT = 64 << 20  # bytes
_SPARE = 2 << 30  # bytes of a child process beside the arrays, most of them never touched


class Wrong(Exception):
    """What a file must not be."""


class Content(NamedTuple):
    """What a file holds, by path; the root is ``""``.

    Attributes
    ----------
    attributes : dict of str -> dict of str -> Attribute
        Of every group and every array.
    arrays : dict of str -> array
        Of NumPy; float32, float64 or int64.
    dtypes : dict of str -> str
        What they have in the file, as NumPy spells it; two bytes that HDF5 has no type for are ``"bfloat16"``.
    texts : dict of str -> str
        Arrays that are one text.
    others : dict of str -> str
        Arrays of anything else, and what that is.
    """

    attributes: dict[str, dict[str, Attribute]]
    arrays: dict[str, Any]
    dtypes: dict[str, str]
    texts: dict[str, str]
    others: dict[str, str]


def content_of(library: Any, source: str | BinaryIO, most: int, without: tuple[str, ...] = ()) -> Content:
    """Return the content of a file.

    Parameters
    ----------
    library : module
        h5py.
    source : str or binary file object
    most : int
        Bytes that the arrays may take together.
    without : tuple of str
        Groups of the root whose content is left out.

    Raises
    ------
    Wrong
        It is damaged, of another kind, keeps numbers in other files, or holds more than `most`.
    """
    try:
        with library.File(source, "r") as file:
            return _read(file, library, most, without)
    except DAMAGES as error:
        raise Wrong(f"expected a file of HDF5, got {error}. Is it damaged, or another kind?") from error


def _read(file: Any, library: Any, most: int, without: tuple[str, ...]) -> Content:
    objects: dict[str, Any] = {"": file}

    def note(name: str, item: Any) -> None:
        if len(objects) >= _MOST_OBJECTS:
            raise Wrong(f"it must have at most {_MOST_OBJECTS:,} groups and arrays, got more.")
        if name.partition("/")[0] not in without:
            objects[name] = item

    file.visititems(note)
    datasets = {name: item for name, item in objects.items() if hasattr(item, "nbytes")}
    _check_datasets(datasets, most)
    content = Content({}, {}, {}, {}, {})
    left = _MOST_ATTRIBUTES
    for name, item in objects.items():
        content.attributes[name] = _attributes(item, library)
        left -= sum(_size(value) for value in content.attributes[name].values())
        if left < 0:
            raise Wrong(f"attributes must take at most {_MOST_ATTRIBUTES:,} bytes, got more.")
    for name, dataset in datasets.items():
        _read_dataset(name, dataset, content, library)
    return content


def _check_datasets(datasets: Mapping[str, Any], most: int) -> None:
    """Refuse files that say more than they hold: a short file may ask for any amount of memory."""
    size = sum(int(dataset.nbytes) for dataset in datasets.values())
    if size > most:
        raise Wrong(f"arrays must take at most {most:,} bytes, which is much for a file of this length, got {size:,}.")
    for name, dataset in datasets.items():
        if dataset.external or dataset.is_virtual:
            raise Wrong(f"{name!r} must be in the file itself, got numbers in another one.")


def _size(value: Attribute) -> int:
    if isinstance(value, list):
        return sum(len(text) for text in value)
    return len(value) if isinstance(value, str) else LENGTH


def _attributes(item: Any, library: Any) -> dict[str, Attribute]:
    return {name: _attribute(item.attrs, name, library) for name in item.attrs}


def _attribute(attributes: Any, name: str, library: Any) -> Attribute:
    handle = attributes.get_id(name)
    kind, shape = handle.dtype.kind, handle.shape or ()
    size = handle.dtype.itemsize
    for length in shape:
        size *= length
    if size > _MOST_ATTRIBUTE:
        raise Wrong(f"attribute {name!r} must have at most {_MOST_ATTRIBUTE:,} bytes, got {size:,}.")
    if len(shape) > 1 or kind not in "biufSO" or (kind == "O" and not library.check_string_dtype(handle.dtype)):
        return None
    value = attributes[name]
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list):
        return [_text(text) for text in value] if all(isinstance(text, (str, bytes)) for text in value) else None
    return value if isinstance(value, (int, float)) else _text(value) if isinstance(value, (str, bytes)) else None


def _text(value: str | bytes) -> str:
    return value.decode() if isinstance(value, bytes) else value.encode("utf-8", "surrogateescape").decode()


def _read_dataset(name: str, dataset: Any, content: Content, library: Any) -> None:
    kind, size = dataset.dtype.kind, dataset.dtype.itemsize
    if library.check_string_dtype(dataset.dtype) is not None:
        if dataset.shape not in ((), (1,)):
            content.others[name] = f"texts {list(dataset.shape or ())}"
        elif size > _MOST_TEXT:
            content.others[name] = f"a text of {size:,} bytes"
        else:
            content.texts[name] = dataset.asstr()[() if dataset.shape == () else 0]
    elif kind == "V" and size == 2 and dataset.dtype.names is None and dataset.shape is not None:
        halves = dataset[...].reshape(-1).view("<u2").astype("<u4")
        _keep(name, (halves << 16).view("<f4").reshape(dataset.shape), "bfloat16", content)
    elif kind not in "fiu" or dataset.shape is None:
        content.others[name] = str(dataset.dtype)
    else:
        exact = "int64" if kind != "f" else "float64" if size >= LENGTH else "float32"
        _keep(name, dataset.astype(exact)[...], dataset.dtype.name, content)


def _keep(name: str, array: Any, dtype: str, content: Content) -> None:
    content.arrays[name], content.dtypes[name] = array, dtype


# ---- the child process


def write(content: Content, out: BinaryIO) -> None:
    """Write a header of JSON with its length before it, then the numbers of the arrays, big-endian."""
    arrays = {
        name: [list(array.shape), array.dtype.name, content.dtypes[name]] for name, array in content.arrays.items()
    }
    header = json.dumps([content.attributes, arrays, content.texts, content.others]).encode()
    out.write(len(header).to_bytes(LENGTH, "big") + header)
    for array in content.arrays.values():
        out.write(array.astype(array.dtype.newbyteorder(">")).tobytes())
    out.flush()


def main(path: str, most: str, *without: str) -> None:
    """Read a file, that of standard input for the path ``"-"``, and write its content to standard output."""
    _bound(int(most) * 2 + _SPARE)
    import h5py  # here alone: others ask for it by nd.extras

    source: str | BinaryIO = io.BytesIO(sys.stdin.buffer.read()) if path == "-" else path
    try:
        content = content_of(h5py, source, int(most), without)
    except Wrong as error:
        sys.exit(str(error))
    write(content, sys.stdout.buffer)


def _bound(most: int) -> None:
    """Let the process have no more memory, where the system knows how, and leave no file when it crashes."""
    try:
        import resource
    except ImportError:  # Windows
        return
    for name, number in (("RLIMIT_AS", most), ("RLIMIT_CORE", 0)):
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (number if hard == resource.RLIM_INFINITY else min(number, hard), hard))


if __name__ == "__main__":
    main(*sys.argv[1:])
