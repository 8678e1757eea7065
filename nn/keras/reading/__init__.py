"""Files of Keras as `KerasModel`."""

from __future__ import annotations

from nd import ConfigurationError, FormatError
from nd.files.reading import Source

from ..model import KerasModel, Weight
from .axes import Origin, is_theano, weights_of
from .document import part_of
from .flattening import Flattening
from .older import plain
from .sources import Stored, name_in_messages, stored
from .store import named, numbered
from .structure import Entry, Part, layers_of


def read_keras(source: Source, configuration: Source | None = None, isolated: bool = True) -> KerasModel:
    """Return the model of a file of Keras 1, 2 or 3.

    Parameters
    ----------
    source : path, binary file object, or text
        A ``.keras`` archive, an ``.h5``, weights alone with their configuration beside them, or a configuration alone:
        a file, or its JSON. The content tells which.
    configuration : path, binary file object, str or bytes, optional
        What ``model.to_json()`` returned, or a file of it, for a file of weights.
    isolated : bool
        Read HDF5 in a child process, which costs a quarter of a second: libhdf5 can crash on damaged files, and what
        crashes is then the child. False for files of one's own.

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
    name = name_in_messages(source)
    try:
        return _model(name, stored(source, configuration, isolated))
    except (FormatError, ConfigurationError) as error:
        if str(error).startswith(name):
            raise
        raise type(error)(f"{name}: {error}") from error
    except RecursionError as error:
        raise FormatError(f"{name}: a model's layers must not lie so deep in one another. Is it damaged?") from error


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
        content.backend,
    )


def _weights(part: Part, content: Stored) -> dict[Entry, tuple[Weight, ...]] | None:
    tree = content.tree
    if tree is None:
        return None
    by_names = content.root or any(name.startswith(("layer_names", "nb_layers")) for name in tree.attributes[""])
    raw = named(part, tree, content.root) if by_names else numbered(part, tree)
    origin = Origin(content.version, is_theano(content.version, content.backend, part))
    return {entry: weights_of(entry, raw.get(entry, ()), origin) for entry in layers_of(part)}


def _dtype(content: Stored) -> str:
    tree = content.tree
    if tree is not None and tree.arrays:
        return "float64" if any(array.dtype == "float64" for array in tree.arrays.values()) else "float32"
    return "float32"


__all__ = ["read_keras"]
