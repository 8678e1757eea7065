"""DL4J 1.0 model zips: configuration.json, coefficients.bin, updaterState.bin."""

from __future__ import annotations

import errno
import importlib
import json
import os
import pathlib
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import nd
from nd import FormatError, serde

from .archive import has_entry, read_bytes, read_text, read_vector, reading, with_entry, write_archive
from .conf.findings import warn_of
from .conf.network import MultiLayerConfiguration
from .own_settings import ENTRY, completed, own_settings, plain, to_document

if TYPE_CHECKING:
    from .multilayer import MultiLayerNetwork

CONFIGURATION = "configuration.json"
COEFFICIENTS = "coefficients.bin"
NO_PARAMS = "noParams.marker"
UPDATER_STATE = "updaterState.bin"

NORMALIZER = "normalizer.bin"

_MOST_NORMALIZER = 64 << 20  # bytes
_NORMALIZER_HEADER = b"\x00\x0aNORMALIZER"


def write_model(
    network: MultiLayerNetwork,
    path: str | os.PathLike[str],
    save_updater: bool = True,
    normalizer: Any = None,
) -> None:
    """Write a network as Java's ``ModelSerializer`` does; Deeplearning4j opens the file.

    Parameters
    ----------
    network : MultiLayerNetwork
    path : path
        Replaced only when the whole file is written.
    save_updater : bool
        Also write the updater's state, so that training can continue.
    normalizer : normalizer of `nd.dataset`, optional
        What the network's data went through; kept beside it, see `restore_normalizer`.

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
    more = {ENTRY: json.dumps(to_document(conf.base)).encode()} if own_settings(conf.base) else {}
    if normalizer is not None:
        more[NORMALIZER] = _normalizers().normalizer_to_bytes(normalizer)
    write_entries(network, path, replace(conf, base=plain(conf.base)), save_updater, more)


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
    write_archive("save", target, {**entries, **more}, compressed)


def restore_multi_layer_network(
    path: str | os.PathLike[str], load_updater: bool = True, strict: bool = True
) -> MultiLayerNetwork:
    """Read a network on the current backend; no weights are drawn.

    Parameters
    ----------
    path : path
        Of a file that any release of Deeplearning4j since 0.5 wrote.
    load_updater : bool
        Also take over the updater's state, if the file has it.
    strict : bool
        False: what only training needs and this library does not have (a dropout, a constraint, an updater of another
        kind) is left out with a `ModelFileWarning`. What predictions depend on is always refused.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    FormatError
        It is no model zip, is truncated or corrupt, has unsafe entries, or does not fit its own configuration.
    ConfigurationError, ChoiceError
        The configuration asks for something that this library does not have. One thing has its own error; several
        are listed in one ConfigurationError, each with its path in the JSON.

    Warns
    -----
    ModelFileWarning
        The file says something that Java 1.0 drops on reading, and so does this library (learning rate schedules of
        0.x and rates of biases, say): one warning for the file.

    Notes
    -----
    The network computes in the type of the stored parameters, whatever the JSON says, as in Java. No entry is ever
    unpacked to disk, and none is read past the size that the configuration calls for. `updater.bin` and
    `preprocessor.bin`, objects of Java's own of releases before 0.5, are not read. Source: DL4J
    ``ModelSerializer.restoreMultiLayerNetwork``. Differs: parameters of 16 bits are read as float32, in which NumPy
    computes faster.
    """
    return reading(path, lambda archive: restore(path, archive, load_updater, strict))


def restore(path: Any, archive: zipfile.ZipFile, load_updater: bool, strict: bool = True) -> MultiLayerNetwork:
    """Read a network from an open archive."""
    from .multilayer import MultiLayerNetwork

    conf = MultiLayerConfiguration.from_json(read_text(path, archive, CONFIGURATION), strict)
    own = read_own(path, archive)
    conf = conf if own is None else replace(conf, base=completed(conf.base, own))
    n = conf.layout().length
    if n:
        params = read_vector(path, archive, COEFFICIENTS, n)
        conf = replace(conf, base=replace(conf.base, dtype=str(params.dtype)))
    else:
        params = nd.zeros(1, 0, dtype=conf.base.dtype)
    network = MultiLayerNetwork(conf).init(params)
    if load_updater and has_entry(archive, UPDATER_STATE):
        _restore_state(path, archive, network, strict)
    return network


def read_own(path: Any, archive: zipfile.ZipFile) -> Any:
    """Return what this library has added to the archive, None where there is nothing."""
    return json.loads(read_text(path, archive, ENTRY)) if has_entry(archive, ENTRY) else None


def _restore_state(path: Any, archive: zipfile.ZipFile, network: MultiLayerNetwork, strict: bool) -> None:
    n = network.updater_state().shape[1]
    if n == 0:
        return
    try:
        state = read_vector(path, archive, UPDATER_STATE, n)
    except FormatError as error:
        if strict:
            raise
        warn_of([str(error)], "the updater's state is left out")
    else:
        network.set_updater_state(nd.as_array(state, network.dtype))


# ---- normalizers


def add_normalizer_to_model(path: str | os.PathLike[str], normalizer: Any) -> None:
    """Put a normalizer into a model zip, in the place of one that it has.

    Parameters
    ----------
    path : path
        Of a model zip of any kind of network. Replaced only when the whole file is written; its other entries stay
        as they are.
    normalizer : normalizer of `nd.dataset`

    Raises
    ------
    FormatError
        It is no zip, or a damaged one.
    OSError
        There is no such file, or it cannot be written; it is then untouched.

    Notes
    -----
    Source: DL4J ``ModelSerializer.addNormalizerToModel``.
    """
    with_entry("add_normalizer_to_model", path, NORMALIZER, _normalizers().normalizer_to_bytes(normalizer))


def restore_normalizer(path: str | os.PathLike[str]) -> Any:
    """Return the normalizer of a model zip; None if it has none.

    Raises
    ------
    FormatError
        It is no zip, a damaged one, or its normalizer is none that this library knows.

    Notes
    -----
    Source: DL4J ``ModelSerializer.restoreNormalizerFromFile``.
    """
    content = reading(path, lambda archive: read_normalizer(path, archive))
    return None if content is None else _normalizers().normalizer_from_bytes(content)


def read_normalizer(path: Any, archive: zipfile.ZipFile, check: bool = True) -> bytes | None:
    """Return the bytes of an archive's normalizer, None if it has none; with `check` they must begin as such."""
    if not has_entry(archive, NORMALIZER):
        return None
    return read_bytes(path, archive, NORMALIZER, _MOST_NORMALIZER, _NORMALIZER_HEADER if check else b"")


def _normalizers() -> Any:
    return importlib.import_module("nd.dataset.normalizers")
