"""Files of Keras: what each holds of the configuration and of the weights."""

from __future__ import annotations

import io
import json
import os
import sys
import zipfile
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from nd import FormatError
from nd.arguments import shown
from nd.extras import optional
from nd.files.reading import Source, name_of, opening_to_seek

from ...files.archive import has_entry, read_bytes, read_text, reading
from ...files.hdf5_tree import BEGINS, Hdf5Tree, read_tree
from ...files.json_fields import parse
from .fields import mapping

CONFIG, METADATA, WEIGHTS = "config.json", "metadata.json", "model.weights.h5"
"""Entries of an archive."""
_MOST_TEXT = 64 << 20  # bytes of a configuration
_WITHOUT = ("optimizer_weights", "optimizer")
"""Groups of the optimizer's state, which is not read."""
_KERAS_3_FIELDS = ("module", "registered_name", "build_config")
_OF_KERAS_2 = ("kernel_initializer", "units", "filters", "data_format", "rate", "use_bias")


class Stored(NamedTuple):
    """What was read of a model, before anybody has looked at its layers.

    Attributes
    ----------
    document : mapping
        The configuration: ``{"class_name": "Sequential", "config": ...}``.
    version : int
        Of Keras.
    backend : str
        Which computed the weights; "" where the file does not say.
    training : mapping or None
        The loss and the optimizer.
    tree : Hdf5Tree or None
        The file of the weights.
    root : str
        The group of it that has them.
    """

    document: Mapping[str, Any]
    version: int
    backend: str
    training: Mapping[str, Any] | None
    tree: Hdf5Tree | None
    root: str


def stored(source: Source, configuration: Any, isolated: bool) -> Stored:
    """Return what a file, or a file of weights with its configuration, holds."""
    if configuration is not None:
        return _with_configuration(document_of(configuration), _tree(source, isolated))
    if _is_text(source):
        return _configuration_alone(document_of(source))
    with opening_to_seek("load", source, b"") as file:
        given = source if isinstance(source, (str, bytes, os.PathLike)) else file
        file.seek(0)
        head = file.read(len(BEGINS))
        file.seek(0)
        if head[:2] == b"PK":
            return reading("load", given, partial(_archive, isolated))
        return _of_hdf5(_tree(given, isolated)) if head == BEGINS else _configuration_alone(document_of(given))


def _is_text(source: object) -> bool:
    """Tell whether a source is the JSON itself."""
    return isinstance(source, (str, bytes)) and source.lstrip()[:1] in ("{", b"{")


def name_in_messages(source: object) -> str:
    """Return the name of a source."""
    return "the configuration" if _is_text(source) else name_of(source)


def _tree(source: Source, isolated: bool, name: str = "") -> Hdf5Tree:
    library = optional("load", "h5py", "h5py", "keras")
    return read_tree(library, source, isolated, _WITHOUT, name)


# ---- archives of Keras 3


def _archive(isolated: bool, name: str, archive: zipfile.ZipFile) -> Stored:
    document = mapping(parse(read_text(name, archive, CONFIG)), CONFIG)
    metadata = parse(read_text(name, archive, METADATA)) if has_entry(archive, METADATA) else {}
    version = _number(mapping(metadata, METADATA).get("keras_version")) or 3
    if not has_entry(archive, WEIGHTS):
        raise FormatError(f"expected an entry {WEIGHTS!r}, got {shown(archive.namelist())}. Other stores are not read.")
    content = io.BytesIO(read_bytes(name, archive, WEIGHTS, sys.maxsize, BEGINS))
    tree = _tree(content, isolated, WEIGHTS)
    return Stored(document, version, "", _training(document.get("compile_config")), tree, "")


# ---- HDF5


def _of_hdf5(tree: Hdf5Tree) -> Stored:
    attributes = tree.attributes[""]
    config = attributes.get("model_config")
    if not isinstance(config, str):
        raise FormatError(
            "expected an attribute model_config, got a file of weights alone. Give the model's configuration, too: "
            'nn.load(weights, configuration="config.json").'
        )
    document = mapping(parse(config), "model_config")
    group = tree.attributes.get("model_weights", {})
    written = attributes.get("keras_version", group.get("keras_version", document.get("keras_version")))
    version = _version_of(document, _number(written))
    backend = group.get("backend", attributes.get("backend"))
    training = attributes.get("training_config")
    return Stored(
        document,
        version,
        backend if isinstance(backend, str) else "",
        _training(parse(training) if isinstance(training, str) else None),
        tree,
        "model_weights",
    )


# ---- configurations


def _with_configuration(document: Mapping[str, Any], tree: Hdf5Tree) -> Stored:
    attributes = tree.attributes[""]
    root = "model_weights" if "model_weights" in tree.attributes else ""
    of_weights = tree.attributes[root]
    number = _number(document.get("keras_version")) or _number(
        of_weights.get("keras_version", attributes.get("keras_version"))
    )
    backend = of_weights.get("backend", document.get("backend"))
    training = _training(document.get("compile_config"))
    return Stored(
        document, _version_of(document, number), backend if isinstance(backend, str) else "", training, tree, root
    )


def _configuration_alone(document: Mapping[str, Any]) -> Stored:
    version = _version_of(document, _number(document.get("keras_version")))
    return Stored(document, version, "", _training(document.get("compile_config")), None, "")


def document_of(source: Any) -> dict[str, Any]:
    """Return a configuration: its JSON as text or bytes, parsed, or a file of it."""
    if isinstance(source, Mapping):
        return dict(source)
    content: str | bytes
    if _is_text(source):
        content = source
    else:
        with opening_to_seek("load", source, b"") as file:
            file.seek(0)
            content = file.read(_MOST_TEXT + 1)
    if len(content) > _MOST_TEXT:
        raise FormatError(f"a configuration must have at most {_MOST_TEXT:,} bytes, got more.")
    try:
        decoded = content if isinstance(content, str) else content.decode()
    except UnicodeDecodeError as error:
        raise FormatError("expected a model of Keras, or its JSON, got neither.") from error
    if not decoded.strip():
        raise FormatError("expected a model of Keras, or its JSON, got an empty file. Is it truncated?")
    document = parse(decoded)
    if isinstance(document, str):  # what model.to_json() returned was written as JSON once more
        document = parse(document)
    return mapping(document, "a configuration")


def _number(version: Any) -> int | None:
    """Return the first number of "2.4.0", "2.2.4-tf"; None for anything else."""
    if not isinstance(version, str):
        return None
    first = version.partition(".")[0]
    return int(first) if first in ("0", "1", "2", "3") else None


def _version_of(document: Mapping[str, Any], number: int | None) -> int:
    """Return the version of Keras, which files before 1.1 do not say: 0 and 1 are read alike."""
    if number is not None:
        return max(number, 1)
    written = json.dumps(document)
    if any(f'"{name}"' in written for name in _KERAS_3_FIELDS):
        return 3
    return 2 if any(f'"{name}"' in written for name in _OF_KERAS_2) else 1


def _training(config: Any) -> dict[str, Any] | None:
    """Return loss, optimizer and weights of losses of what a model was compiled with."""
    if not isinstance(config, dict):
        return None
    return {
        "loss": config.get("loss"),
        "optimizer": config.get("optimizer_config", config.get("optimizer")),
        "loss_weights": config.get("loss_weights"),
    }
