"""Files of Keras as `KerasModel`."""

from __future__ import annotations

from typing import Any

from nd import NdError
from nd.files.reading import Source, name_of

from ..model import KerasModel, Weight
from .axes import Origin, weights_of
from .document import part_of
from .flattening import Flattening
from .older import plain
from .sources import Stored, stored
from .store import named, numbered
from .structure import Entry, Part


def read_keras(source: Source | str | bytes, configuration: Any = None) -> KerasModel:
    """Return the model of a file of Keras 1, 2 or 3.

    Parameters
    ----------
    source : path, binary file object, or text
        A ``.keras`` archive, an ``.h5``, weights alone with their configuration beside them, or a configuration alone:
        a file, or its JSON. The content tells which.
    configuration : path, binary file object, str or bytes, optional
        What ``model.to_json()`` returned, or a file of it, for a file of weights.

    Raises
    ------
    FileNotFoundError, IsADirectoryError, PermissionError
        As `nd.files.reading.opening`.
    FormatError
        It is damaged, of another kind, or its weights are not those of its layers.
    ConfigurationError
        The package h5py is missing, or a model of a class of its author's does not tell its layers.

    Notes
    -----
    Nothing is unpickled or unmarshalled, and no code of the file is run. Source: Keras, saving_lib.py,
    legacy_h5_format.py.
    """
    name = name_of(source) if not (isinstance(source, (str, bytes)) and source.lstrip()[:1] in ("{", b"{")) else "JSON"
    content = stored(source, configuration)
    try:
        return _model(name, content)
    except NdError as error:
        raise type(error)(f"{name}: {error}") from error


def _model(name: str, content: Stored) -> KerasModel:
    part = part_of(content.document, content.version)
    flat = Flattening(part, _weights(part, content))
    return KerasModel(
        name,
        content.version,
        flat.inputs,
        tuple(flat.calls),
        flat.outputs,
        part.is_sequential,
        None if content.training is None else plain(content.training),
        _dtype(content),
    )


def _weights(part: Part, content: Stored) -> dict[Entry, tuple[Weight, ...]] | None:
    tree = content.tree
    if tree is None:
        return None
    is_numbered = "layers" in tree.attributes or "_layer_checkpoint_dependencies" in tree.attributes
    by_names = content.root or any(name.startswith("layer_names") for name in tree.attributes[""])
    raw = named(part, tree, content.root) if by_names or not is_numbered else numbered(part, tree)
    origin = Origin(content.version, content.backend)
    return {entry: weights_of(entry, arrays, origin) for entry, arrays in raw.items()}


def _dtype(content: Stored) -> str:
    tree = content.tree
    if tree is not None and tree.arrays:
        return "float64" if any(array.dtype == "float64" for array in tree.arrays.values()) else "float32"
    return "float32"


__all__ = ["read_keras"]
