"""Files of HDF5, through h5py: all their arrays and texts by path.

libhdf5 can crash on damaged files. A file that is not one's own can be read by a child process: its crash is an error.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import nd
from nd import FormatError, NdError
from nd.extras import optional
from nd.files.archives import reading_arrays, write_arrays
from nd.files.reading import most_unpacked, regular_file
from nd.files.writing import FileKind, Target, replacing
from nd.interrupts import Held
from nd.typing import Array

ENDINGS = (".h5", ".hdf5")
_KIND = FileKind("a file of HDF5", ENDINGS)
_DAMAGES = (
    ArithmeticError, AttributeError, LookupError, MemoryError, OSError, RuntimeError, TypeError, ValueError,
)  # fmt: skip
"""What h5py raises of damaged files, as tests with such files found."""
_SECONDS, _BYTES_A_SECOND = 60, 1 << 20  # how long a child process may take: it may be in an endless loop
_SHAPES, _TEXTS = "shapes", "texts"


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
    library = optional("read_hdf5", "h5py", "h5py", "caffe")
    if isolated:
        return _read_isolated(checked_path)
    with Held():  # h5py drops a Ctrl-C that comes as it lets go of its handles, the last ones behind the file's end
        return _read(checked_path, library)


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


def _read(path: str, library: Any) -> Hdf5Content:
    content = Hdf5Content({}, {})
    try:
        with library.File(path, "r") as file:
            datasets: dict[str, Any] = {}
            file.visititems(lambda name, item: datasets.update({name: item}) if hasattr(item, "nbytes") else None)
            _check_sizes(path, datasets)
            for name, dataset in datasets.items():
                _read_dataset(name, dataset, content, library)
    except NdError as error:
        raise type(error)(f"{path}: {error}") from error
    except _DAMAGES as error:
        raise FormatError(f"{path}: expected a file of HDF5, got {error}. Is it damaged, or another kind?") from error
    return content


def _check_sizes(path: str, datasets: Mapping[str, Any]) -> None:
    """Refuse files that say more than they hold: a short file may ask for any amount of memory."""
    size, most = sum(int(dataset.nbytes) for dataset in datasets.values()), most_unpacked(os.path.getsize(path))
    if size > most:
        raise FormatError(
            f"arrays must take at most {most:,} bytes, which is much for a file of this length, got {size:,}."
        )
    for name, dataset in datasets.items():
        if dataset.external or dataset.is_virtual:
            raise FormatError(f"{name!r} must be in the file itself, got numbers in another one.")


def _read_dataset(name: str, dataset: Any, content: Hdf5Content, library: Any) -> None:
    kind = dataset.dtype.kind
    if library.check_string_dtype(dataset.dtype) is not None:
        if dataset.shape not in ((), (1,)):
            raise FormatError(f"{name!r} must be one text, got texts {list(dataset.shape)}.")
        content.texts[name] = dataset.asstr()[() if dataset.shape == () else 0]
        return
    if kind not in "fiu":
        raise FormatError(f"{name!r} must hold numbers or a text, got {dataset.dtype}.")
    exact = "float64" if dataset.dtype.itemsize >= 8 else "float32"
    content.arrays[name] = nd.create(dataset.astype(exact if kind == "f" else "int64")[()])


# ---- in a child process


def _read_isolated(path: str) -> Hdf5Content:
    """Have a child process write the content into an .npz file, whose reader is safe."""
    root = str(Path(__file__).parents[2])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }
    folder = tempfile.mkdtemp()
    try:
        return _received(_written_by_child(path, folder, environment))
    finally:
        shutil.rmtree(folder)


def _written_by_child(path: str, folder: str, environment: dict[str, str]) -> str:
    """Return the path of the .npz file that a child process has written into a folder."""
    out = os.path.join(folder, "content.npz")
    seconds = _SECONDS + os.path.getsize(path) // _BYTES_A_SECOND
    command = [sys.executable, "-c", f"from {__name__} import child; child()", path, out]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as error:
        raise FormatError(f"{path}: libhdf5 must read the file, got no end in {seconds} seconds.") from error
    if done.returncode < 0:
        raise FormatError(
            f"{path}: libhdf5 must read the file, got a crash (signal {-done.returncode}). It is damaged."
        )
    if done.returncode:
        raise FormatError(done.stderr.decode(errors="replace").strip() or f"{path}: could not be read.")
    return out


def _received(path: str) -> Hdf5Content:
    with reading_arrays(path) as file:
        shapes, texts = (json.loads(file.metadata[key]) for key in (_SHAPES, _TEXTS))
        return Hdf5Content(
            {name: file.read(name, tuple(shape), dtype) for name, (shape, dtype) in shapes.items()}, texts
        )


def child() -> None:
    """Read the file that the command line names, and write its content where that says; for the child process."""
    path, out = sys.argv[1:]
    try:
        content = _read(path, optional("read_hdf5", "h5py", "h5py", "caffe"))
    except NdError as error:
        sys.exit(str(error))
    shapes = {name: (list(array.shape), nd.dtype_name(array)) for name, array in content.arrays.items()}
    write_arrays(out, content.arrays, {_SHAPES: json.dumps(shapes), _TEXTS: json.dumps(content.texts)})
