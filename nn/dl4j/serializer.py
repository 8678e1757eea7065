"""ModelSerializer, by Java's names."""

from __future__ import annotations

import zipfile
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError, DataError, FormatError
from nd.files.reading import Source
from nd.java_names import Pair

from ..files.archive import has_entry, read_bytes, reading, with_entry
from ..files.serializer import add_normalizer_to_model, restore_normalizer
from ..networks.graph import ComputationGraph
from ..networks.multilayer import MultiLayerNetwork
from ..networks.network import Network
from ..networks.tasks import Task, task_by_model
from .java_input import from_java
from .java_output import to_java

if TYPE_CHECKING:
    import os


_FOLDER = "objects/"
_MOST_OBJECT = 16 << 20  # bytes
_MOST_NAME = (1 << 16) - 1  # bytes of an entry's name in a zip
_RESERVED = (
    "coefficients.bin", "configuration.json", "normalizer.bin", "noparams.marker", "preprocessor.bin",
    "updaterstate.bin",
)  # fmt: skip


class ModelSerializer:
    """Writes and reads model zips. Source: DL4J ``ModelSerializer``."""

    @staticmethod
    def writeModel(
        model: Network, path: str | os.PathLike[str], save_updater: bool = True, normalizer: object = None
    ) -> None:
        """Write a network of either kind, as its `save`."""
        model.save(path, save_updater, normalizer)

    @staticmethod
    def taskByModel(model: Network) -> Task:
        """Return what kind of network it is, see `nn.task_by_model`."""
        return task_by_model(model)

    @staticmethod
    def restoreMultiLayerNetwork(path: str | os.PathLike[str], load_updater: bool = True) -> MultiLayerNetwork:
        """Read a network, as `MultiLayerNetwork.load`."""
        return MultiLayerNetwork.load(path, load_updater)

    @staticmethod
    def restoreComputationGraph(path: str | os.PathLike[str], load_updater: bool = True) -> ComputationGraph:
        """Read a graph, as `ComputationGraph.load`."""
        return ComputationGraph.load(path, load_updater)

    @staticmethod
    def addNormalizerToModel(path: str | os.PathLike[str], normalizer: object) -> None:
        """Put a normalizer into a model zip."""
        add_normalizer_to_model(path, normalizer)

    @staticmethod
    def restoreNormalizerFromFile(path: str | os.PathLike[str]) -> Any:
        """Return the normalizer of a model zip, None if it has none."""
        return restore_normalizer(path)

    restoreNormalizerFromInputStream = restoreNormalizerFromFile

    @staticmethod
    def restoreMultiLayerNetworkAndNormalizer(path: str | os.PathLike[str], load_updater: bool = True) -> Pair:
        """Return both."""
        return Pair(MultiLayerNetwork.load(path, load_updater), restore_normalizer(path))

    @staticmethod
    def restoreComputationGraphAndNormalizer(path: str | os.PathLike[str], load_updater: bool = True) -> Pair:
        """Return both of a graph's file."""
        return Pair(ComputationGraph.load(path, load_updater), restore_normalizer(path))

    @staticmethod
    def addObjectToFile(path: str | os.PathLike[str], key: str, value: object) -> None:
        """Put an object into a model zip, under a key that it has not yet; Java's ``getObjectFromFile`` reads it.

        Parameters
        ----------
        path : path
        key : str
        value : str, bool, int, float, bytes, or a list or dict of these and of None

        Raises
        ------
        DTypeError
            The object is another one, for which Java has no class.
        DataError
            The key is taken, or the object is larger than `getObjectFromFile` reads: 16 MiB, a million values.
        ConfigurationError
            The key is empty or reserved, or could not be the name of an entry.
        """
        name = _entry("addObjectToFile", key)
        content = to_java(value)
        if len(content) > _MOST_OBJECT:
            raise DataError(
                f"addObjectToFile: the object must be of at most {_MOST_OBJECT:,} bytes, got {len(content):,}. Save it "
                "in a file of its own."
            )
        try:  # what reading refuses, by its values, is not written
            from_java(content)
        except FormatError as error:
            raise DataError(f"addObjectToFile: the object must be one that can be read again: {error}") from error
        if key in ModelSerializer.listObjectsInFile(path):
            raise DataError(f"addObjectToFile: the key must be new, got {key!r}, which is there. Take another key.")
        with_entry("addObjectToFile", path, name, content)

    @staticmethod
    def getObjectFromFile(path: Source, key: str) -> Any:
        """Return an object that Java's or our `addObjectToFile` put in: str, bool, int, float, bytes, list or dict.

        Raises
        ------
        DataError
            There is none of that key.
        FormatError
            It is an object of another class of Java's, or the file is damaged.
        """
        name = _entry("getObjectFromFile", key)

        def read(file_name: object, archive: zipfile.ZipFile) -> Any:
            if not has_entry(archive, name):
                raise DataError(f"getObjectFromFile: the key must be one of {_keys(archive)}, got {key!r}.")
            try:
                return from_java(read_bytes(file_name, archive, name, _MOST_OBJECT))
            except FormatError as error:
                raise FormatError(f"getObjectFromFile: {key!r} of {file_name}: {error}") from error

        return reading("getObjectFromFile", path, read)

    @staticmethod
    def listObjectsInFile(path: Source) -> list[str]:
        """Return the keys of the objects that were put into a model zip."""
        return reading("listObjectsInFile", path, lambda _, archive: _keys(archive))


def _keys(archive: zipfile.ZipFile) -> list[str]:
    names = (name for name in archive.namelist() if name.startswith(_FOLDER) and not name.endswith("/"))
    return [name.removeprefix(_FOLDER) for name in names]


def _entry(who: str, key: str) -> str:
    """Return the name of an object's entry."""
    if not isinstance(key, str) or not key or key.endswith("/") or key.lower() in _RESERVED:
        raise ConfigurationError(f"{who}: key must be a text, not reserved and without a / at its end, got {key!r}.")
    if ".." in key.replace("\\", "/").split("/") or "\0" in key:
        raise ConfigurationError(
            f"{who}: key must stay within its folder of the archive, got {key!r}. Leave out the .."
        )
    name = _FOLDER + key
    try:
        length = len(name.encode())
    except UnicodeEncodeError:
        raise ConfigurationError(
            f"{who}: key must be a text that UTF-8 can hold, got {key!r}. Leave out the half of a character."
        ) from None
    if length > _MOST_NAME:
        raise ConfigurationError(
            f"{who}: key must be of at most {_MOST_NAME - len(_FOLDER):,} bytes in UTF-8, got "
            f"{length - len(_FOLDER):,}. Take a shorter one."
        )
    return name
