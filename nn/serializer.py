"""DL4J 1.0 model zips: configuration.json, coefficients.bin, updaterState.bin."""

from __future__ import annotations

import errno
import io
import json
import lzma
import os
import pathlib
import struct
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar

import nd
from nd import FormatError, NdError, serde
from nd.files import replacing

from .conf.network import MultiLayerConfiguration
from .own_settings import ENTRY, completed, own_settings, plain, to_document

if TYPE_CHECKING:
    from .multilayer import MultiLayerNetwork

CONFIGURATION = "configuration.json"
COEFFICIENTS = "coefficients.bin"
NO_PARAMS = "noParams.marker"
UPDATER_STATE = "updaterState.bin"

_DAMAGE: tuple[type[Exception], ...] = (
    EOFError, OSError, OverflowError, RuntimeError, ValueError, lzma.LZMAError, struct.error, zipfile.BadZipFile,
    zlib.error,
)  # fmt: skip
"""What reading a damaged archive raises."""

_MOST_JSON = 64 << 20  # bytes; far above any real configuration
_ARRAY_HEADER = 4096  # bytes around the elements of a vector, generously
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the same network gives the same bytes
_Read = TypeVar("_Read")


def write_model(network: MultiLayerNetwork, path: str | os.PathLike[str], save_updater: bool = True) -> None:
    """Write a network as Java's ``ModelSerializer`` does; Deeplearning4j opens the file.

    Parameters
    ----------
    network : MultiLayerNetwork
    path : path
        Replaced only when the whole file is written.
    save_updater : bool
        Also write the updater's state, so that training can continue.

    Raises
    ------
    OSError
        The file cannot be written; one that was there before is untouched.
    NumericError
        A step that a device has not told of yet was not taken.

    Notes
    -----
    What DL4J 1.0 has no place for (`iterations`, `step_function`, `terminations`, `lbfgs_memory`) goes into an entry
    of our own, ``ndwright.json``, where it is not the default. Source: DL4J ``ModelSerializer.writeModel``.
    """
    conf = network.conf.with_counts(network.iteration_count, network.epoch_count)
    own = {ENTRY: json.dumps(to_document(conf.base)).encode()} if own_settings(conf.base) else {}
    write_entries(network, path, replace(conf, base=plain(conf.base)), save_updater, own)


def write_entries(
    network: MultiLayerNetwork,
    path: str | os.PathLike[str],
    conf: MultiLayerConfiguration,
    save_updater: bool,
    more: Mapping[str, bytes] = MappingProxyType({}),
    compressed: bool = True,
) -> None:
    """Write a network with that configuration, and more entries."""
    network.params()
    target = pathlib.Path(path)
    if not target.parent.exists():
        raise FileNotFoundError(errno.ENOENT, "save: the folder must exist, got none", str(target.parent))
    entries = {CONFIGURATION: conf.to_json().encode()}
    if network.updater.guard is not None:
        network.updater.guard.check(network)
    with nd.use_backend(network._backend):
        if network.num_params():
            entries[COEFFICIENTS] = serde.to_bytes(network.params(), "c")
        else:
            entries.update({COEFFICIENTS: b"", NO_PARAMS: b""})
        if save_updater and network.updater_state().shape[1]:
            entries[UPDATER_STATE] = serde.to_bytes(network.updater_state(), "c")
    method = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with replacing("save", target) as file, zipfile.ZipFile(file, "w") as archive:
        for name, content in {**entries, **more}.items():
            archive.writestr(zipfile.ZipInfo(name, _EPOCH), content, method)


def restore_multi_layer_network(path: str | os.PathLike[str], load_updater: bool = True) -> MultiLayerNetwork:
    """Read a network on the current backend; no weights are drawn.

    Parameters
    ----------
    path : path
    load_updater : bool
        Also take over the updater's state, if the file has it.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is no model zip, is truncated or corrupt, has unsafe entries, or does not fit its own configuration.
    ConfigurationError, ChoiceError
        The configuration asks for something that this library does not have.

    Notes
    -----
    No entry is ever unpacked to disk, and none is read past the size that the configuration calls for. Source: DL4J
    ``ModelSerializer.restoreMultiLayerNetwork``.
    """
    return reading(path, lambda archive: restore(path, archive, load_updater))


def reading(path: str | os.PathLike[str], read: Callable[[zipfile.ZipFile], _Read]) -> _Read:
    """Return what `read` makes of the archive; raise FormatError where it is damaged."""
    with open(path, "rb") as file:  # its own errors (no such file, a folder) come out as they are
        try:
            with zipfile.ZipFile(file) as archive:
                return read(archive)
        except NdError:
            raise
        except _DAMAGE as error:
            raise FormatError(
                f"{path}: expected a model zip, got {error}. Is it truncated, or another kind?"
            ) from error


def restore(path: Any, archive: zipfile.ZipFile, load_updater: bool) -> MultiLayerNetwork:
    """Read a network from an open archive."""
    from .multilayer import MultiLayerNetwork

    _check_names(path, archive)
    text = read_text(path, archive, CONFIGURATION)
    conf = MultiLayerConfiguration.from_json(text)
    own = read_own(path, archive)
    network = MultiLayerNetwork(conf if own is None else replace(conf, base=completed(conf.base, own)))
    network.init(_read_vector(path, archive, COEFFICIENTS, network.num_params(), network.dtype))
    if load_updater and UPDATER_STATE in archive.namelist():
        state = network.updater_state()
        network.set_updater_state(_read_vector(path, archive, UPDATER_STATE, state.shape[1], network.dtype))
    return network


def read_own(path: Any, archive: zipfile.ZipFile) -> Any:
    """Return what this library has added to the archive, None where there is nothing."""
    return json.loads(read_text(path, archive, ENTRY)) if ENTRY in archive.namelist() else None


def read_text(path: Any, archive: zipfile.ZipFile, name: str) -> str:
    """Return an entry of JSON."""
    with _open(path, archive, name, _MOST_JSON) as stream:
        return stream.read(archive.getinfo(name).file_size).decode()


def _check_names(path: Any, archive: zipfile.ZipFile) -> None:
    """Refuse archives that were made to do harm, whatever their other entries are."""
    for info in archive.infolist():
        parts = pathlib.PurePosixPath(info.filename.replace("\\", "/")).parts
        if info.filename.startswith(("/", "\\")) or ".." in parts or ":" in info.filename.split("/")[0]:
            raise FormatError(f"{path}: unsafe entry name {info.filename!r}, expected names relative to the archive.")


def _open(path: Any, archive: zipfile.ZipFile, name: str, most: int) -> io.BufferedReader:
    """Return an entry that claims at most `most` bytes as a stream; small reads unpack no more than they ask for."""
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise FormatError(
            f"{path}: expected an entry {name!r}, got {archive.namelist()}. Is it a Deeplearning4j model?"
        ) from None
    if info.file_size > most:
        raise FormatError(
            f"{path}: entry {name!r} must hold at most {most:,} bytes for this configuration, got {info.file_size:,}."
        )
    return io.BufferedReader(archive.open(info), 1 << 16)  # type: ignore[arg-type]


def _read_vector(path: Any, archive: zipfile.ZipFile, name: str, n: int, dtype: str) -> Any:
    """Return ``[1, n]`` in the network's dtype."""
    return read_vectors(path, archive, name, n, 1, dtype, exactly=True)


def read_vectors(
    path: Any, archive: zipfile.ZipFile, name: str, n: int, most: int, dtype: str, exactly: bool = False
) -> Any:
    """Return ``[1, k * n]``, k at most `most`, or exactly that, in the network's dtype."""
    if n == 0:
        return nd.zeros(1, 0, dtype=dtype)
    with _open(path, archive, name, 8 * n * most + _ARRAY_HEADER) as stream:
        vector = serde.read_array(stream)
    if vector.size != n * most and (exactly or vector.size % n or vector.size > n * most):
        raise FormatError(f"{path}: {name} must hold {n * most:,} numbers for this configuration, got {vector.size:,}.")
    return nd.as_array(vector.reshape(1, vector.size), dtype)
