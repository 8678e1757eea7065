"""Find, check and decode the files of MNIST and of other sets of pictures; download them if need be."""

from __future__ import annotations

import gzip
import hashlib
import logging
import math
import os
import re
import shutil
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, Any, BinaryIO, cast

import numpy as np

from backends.errors import DataError, FormatError, NdError, describe_shape
from backends.extras import install_command
from nd.arguments import shown
from nd.files.writing import remove_leftover_folders
from nd.rules import can_be_a_path

MIRRORS = (
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
)
DOWNLOAD_TIMEOUT = 10  # seconds without an answer: an offline machine should fail soon
_DOWNLOAD = ".download-"
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """A set of files: where it is published, and where it is looked for.

    Attributes
    ----------
    name : str
        In messages.
    folder : str
        Of ``ND_DATA_DIR``, and of the cache.
    mirrors : tuple of str
        Addresses, to which a file's name is added.
    otherwise : str
        The end of the remedy where a file is missing.
    archive : str
        Name of the zip or tar file that is downloaded and has all the files; "" where they are published one by one.
    digest : str
        SHA-256 or MD5 of the archive, as it is published.
    members : str
        Regular expression for the names of the files in the archive.
    within : tuple of str
        Folders in which archives have the files: they may lie there, too.
    """

    name: str
    folder: str
    mirrors: tuple[str, ...]
    otherwise: str = ""
    archive: str = ""
    digest: str = ""
    members: str = ""
    within: tuple[str, ...] = ()

    @property
    def remedy(self) -> str:
        """What to do about a file that is not good."""
        return (
            f"Delete it, so that it is downloaded, or set ND_DATA_DIR to a folder whose {self.folder}/ has a good copy."
        )


MNIST = Source("MNIST", "mnist", MIRRORS, ", or use DigitsDataSetIterator, which needs no files")


@dataclass(frozen=True)
class IdxFile:
    """Required content of an IDX file of unsigned bytes: its shape, and checksums as they are published.

    Attributes
    ----------
    sha256 : str
        Of the uncompressed file; "" where nobody has published one.
    packed : str
        SHA-256 of the file that is compressed with gzip, which is then the one to have; "" where any will do.
    """

    name: str
    shape: tuple[int, ...]
    sha256: str = ""
    source: Source = MNIST
    packed: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Names that the file may have."""
        return (f"{self.name}.gz",) if self.packed else (self.name, f"{self.name}.gz")

    @property
    def header(self) -> bytes:
        """The magic number (type 8, unsigned byte; number of axes) and the lengths of the axes."""
        return struct.pack(f">{1 + len(self.shape)}I", 0x800 + len(self.shape), *self.shape)

    @property
    def size(self) -> int:
        """The length of the uncompressed file in bytes."""
        return len(self.header) + math.prod(self.shape)


class BinaryFile(IdxFile):
    """The same of a file of unsigned bytes without a header, which is not compressed."""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name,)

    @property
    def header(self) -> bytes:
        return b""


MNIST_FILES = {
    "test images": IdxFile(
        "t10k-images-idx3-ubyte",
        (10000, 28, 28),
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "test labels": IdxFile(
        "t10k-labels-idx1-ubyte",
        (10000,),
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
    "train images": IdxFile(
        "train-images-idx3-ubyte",
        (60000, 28, 28),
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train labels": IdxFile(
        "train-labels-idx1-ubyte",
        (60000,),
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
}


def load_mnist(train: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return MNIST's images [N, 784] and labels [N], 0 to 9, uint8, decoded once per process and read-only.

    N is 60,000 to train and 10,000 to test. DataError where a file is missing and cannot be downloaded, FormatError
    where one is there, but damaged or another one.
    """
    part = "train" if train else "test"
    images, labels = (_load(MNIST_FILES[f"{part} {kind}"]) for kind in ("images", "labels"))
    return images.reshape(len(images), -1), labels


def mnist_available(download: bool = True) -> bool:
    """Tell whether all MNIST files are at hand, after downloading those that are missing if `download`."""
    missing = [file for file in MNIST_FILES.values() if find_file(file) is None]
    if missing and not download:
        return False
    try:
        for file in missing:
            download_file(file)
    except DataError as error:
        _LOG.info("%s", error)
        return False
    return True


def find_file(file: IdxFile) -> Path | None:
    """Return where the file lies, compressed or not: in `ND_DATA_DIR`, else in the cache; None if in neither."""
    folders = (top / place for top in search_folders(file.source) for place in ("", *file.source.within))
    candidates = (folder / name for folder in folders for name in file.names)
    return next((path for path in candidates if path.is_file()), None)


def search_folders(source: Source = MNIST) -> list[Path]:
    """Return the folders that may hold the files, the preferred one first."""
    folders = []
    if given := os.environ.get("ND_DATA_DIR"):
        if not can_be_a_path(Path(given) / source.folder / ("x" * _LONGEST)):
            raise DataError(f"ND_DATA_DIR: must be a folder, got {shown(given)}. Unset it, or give a folder's name.")
        folders.append(Path(given) / source.folder)
    if (cache := _cache_folder(source.folder)) is not None:
        folders.append(cache)
    return folders


_LONGEST = 80  # characters of a file's name, with the folder in which an archive has it


def download_file(file: IdxFile) -> Path:
    """Download the file into the cache, from the first mirror that has a good copy, and return where it lies.

    DataError where no mirror delivered it: where it was looked for, and why the mirrors failed.
    """
    source = file.source
    cache = _cache_folder(source.folder)
    failures: dict[str, list[str]] = {}  # text of an error -> the hosts that caused it
    for mirror in source.mirrors if cache is not None else ():
        try:
            if source.archive:
                return _download_archive(mirror + source.archive, cast(Path, cache), file)
            return _download_checked(f"{mirror}{file.name}.gz", cast(Path, cache), file)
        except (OSError, ValueError) as error:  # requests' errors are OSErrors; a bad copy is a FormatError
            failures.setdefault(_reason(error), []).append(mirror.split("/")[2])
    reasons = "; ".join(f"{' and '.join(hosts)}: {reason}" for reason, hosts in failures.items())
    if cache is None:
        reasons = f"the package pooch is not installed ({install_command('download')})"
    looked = ", ".join(f"'{folder}'" for folder in search_folders(source)) or "nowhere, as ND_DATA_DIR is not set"
    expected = " or ".join(f"'{name}'" for name in file.names)
    origin = f", from {source.archive}" if source.archive else ""
    raise DataError(
        f"{source.name}: expected {expected}{origin}, got no such file in {looked}, and no download ({reasons}). "
        f"Set ND_DATA_DIR to a folder that has it in {source.folder}/{source.otherwise}."
    )


def _reason(error: BaseException) -> str:
    """Return the first cause of an error: around it, requests and urllib3 tell their own insides."""
    while not isinstance(error, NdError) and (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).rstrip(".")


def read_idx(path: Path, file: IdxFile, remedy: str | None = None) -> np.ndarray:
    """Return the bytes of an IDX file, compressed with gzip or not, in the shape of `file`, read-only.

    FormatError where it is truncated, damaged, or another file.
    """
    who = f"{file.source.name}: '{path}'"
    remedy = file.source.remedy if remedy is None else remedy
    if file.packed:
        _check_digest(who, path, file.packed, remedy)
    try:
        content = _read_bounded(path, file.size + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise FormatError(f"{who}: expected a whole gzip file, got a damaged one: {error}. {remedy}") from error
    header = file.header
    if content[: len(header)] != header[: len(content)]:
        expected, got = header.hex(" ", 4), content[: len(header)].hex(" ", 4)
        raise FormatError(
            f"{who}: expected the IDX header {expected} of {describe_shape(file.shape)} bytes, got {got}. {remedy}"
        )
    if len(content) != file.size:
        got = f"only {len(content)} (truncated)" if len(content) < file.size else "more"
        raise FormatError(f"{who}: expected {file.size} bytes, uncompressed, got {got}. {remedy}")
    digest = hashlib.sha256(content).hexdigest() if file.sha256 else ""
    if digest != file.sha256:
        raise FormatError(
            f"{who}: expected SHA-256 {file.sha256} of the uncompressed file, got {digest}. It is damaged, or of "
            f"another data set that uses the same names (Fashion-MNIST does). {remedy}"
        )
    return np.frombuffer(content, dtype=np.uint8, offset=len(header)).reshape(file.shape)


def _check_digest(who: str, path: Path, expected: str, remedy: str) -> None:
    """Raise FormatError unless a file as it lies there has a checksum."""
    kind = "SHA-256" if len(expected) == _SHA256 else "MD5"
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, lambda: hashlib.new(kind.replace("-", ""), usedforsecurity=False))
    if digest.hexdigest() != expected:
        raise FormatError(
            f"{who}: expected {kind} {expected}, got {digest.hexdigest()}. It is damaged, or another file. {remedy}"
        )


_SHA256 = 64  # digits


def load_set(files: Sequence[IdxFile], arrange: Callable[..., Any]) -> Any:
    """Return what `arrange` makes of the arrays of files, once per process and set of files. Errors as `load_mnist`."""
    paths = [find_file(file) or download_file(file) for file in files]
    return _arranged(tuple((path.resolve(), path.stat().st_mtime_ns) for path in paths), tuple(files), arrange)


@lru_cache(maxsize=4)
def _arranged(paths: Sequence[tuple[Path, int]], files: Sequence[IdxFile], arrange: Callable[..., Any]) -> Any:
    return arrange(*(read_idx(path, file) for (path, _), file in zip(paths, files, strict=True)))


def _load(file: IdxFile) -> np.ndarray:
    path = find_file(file) or download_file(file)
    return _decoded(path.resolve(), path.stat().st_mtime_ns, file)


@lru_cache(maxsize=len(MNIST_FILES))
def _decoded(path: Path, modified: int, file: IdxFile) -> np.ndarray:
    """Read the file once per process; `modified` makes a file that was replaced a new one."""
    return read_idx(path, file)


def _read_bounded(path: Path, limit: int) -> bytes:
    """Return at most `limit` bytes of the uncompressed content: a small file cannot fill the memory."""
    with path.open("rb") as raw:
        compressed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        if not compressed:
            return raw.read(limit)
        with gzip.open(raw) as stream:
            return cast(BinaryIO, stream).read(limit)


def _download_checked(url: str, cache: Path, file: IdxFile) -> Path:
    """Download beside the final place, and move there only a file that passes the checks."""
    target = cache / f"{file.name}.gz"
    cache.mkdir(parents=True, exist_ok=True)
    remove_leftover_folders(cache, f"{_DOWNLOAD}*")
    with TemporaryDirectory(prefix=_DOWNLOAD, dir=cache) as folder:  # whose name no other process guesses
        partial = Path(folder) / file.name
        fetch_url(url, partial)
        read_idx(partial, file, remedy="")
        partial.replace(target)
    return target


def _download_archive(url: str, cache: Path, file: IdxFile) -> Path:
    """Download an archive beside the final place, check it, and move all its files there; return where one lies."""
    source = file.source
    cache.mkdir(parents=True, exist_ok=True)
    remove_leftover_folders(cache, f"{_DOWNLOAD}*")
    with TemporaryDirectory(prefix=_DOWNLOAD, dir=cache) as folder:
        archive, unpacked = Path(folder) / "archive", Path(folder) / "unpacked"
        fetch_url(url, archive)
        _check_digest(f"{source.name}: '{source.archive}'", archive, source.digest, "")
        unpacked.mkdir()
        for name, stream in _members(archive):
            if re.fullmatch(source.members, name):
                with (unpacked / name).open("wb") as target:
                    shutil.copyfileobj(stream, target)
        for path in unpacked.iterdir():
            path.replace(cache / path.name)
    unpacked_file = find_file(file)
    if unpacked_file is None:
        raise FormatError(f"{source.name}: '{source.archive}' must have {file.names[-1]!r}, got no such file.")
    return unpacked_file


def _members(archive: Path) -> Iterator[tuple[str, IO[bytes]]]:
    """Yield name, without folders, and content of every file of a zip or tar file."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as opened:
            for info in opened.infolist():
                with opened.open(info) as stream:
                    yield info.filename.rpartition("/")[2], stream
        return
    with tarfile.open(archive) as opened_tar:
        for member in opened_tar:
            content = opened_tar.extractfile(member)
            if content is not None:
                yield member.name.rpartition("/")[2], content


def fetch_url(url: str, target: Path) -> None:
    """Download `url` as `target`.

    pooch's downloader alone, not ``pooch.retrieve``: that can check only the compressed file, of which mirrors have
    different ones.
    """
    pooch = import_module("pooch")
    _LOG.info("downloading %s", url)
    pooch.HTTPDownloader(timeout=DOWNLOAD_TIMEOUT)(url, str(target), None)


def _cache_folder(folder: str = MNIST.folder) -> Path | None:
    """Return the user's cache folder, or None without pooch, which knows where it is."""
    try:
        pooch = import_module("pooch")
    except ImportError:
        return None
    return Path(pooch.os_cache("ndwright")) / folder
