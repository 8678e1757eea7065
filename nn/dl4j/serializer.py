"""ModelSerializer, by Java's names."""

from __future__ import annotations

from typing import Any

from nd.java_names import Pair

from ..multilayer import MultiLayerNetwork
from ..serializer import add_normalizer_to_model, restore_normalizer


class ModelSerializer:
    """Writes and reads model zips. Source: DL4J ``ModelSerializer``."""

    @staticmethod
    def writeModel(model: MultiLayerNetwork, path: Any, save_updater: bool = True, normalizer: Any = None) -> None:
        """Write a network, as `MultiLayerNetwork.save`."""
        model.save(path, save_updater, normalizer)

    @staticmethod
    def restoreMultiLayerNetwork(path: Any, load_updater: bool = True) -> MultiLayerNetwork:
        """Read a network, as `MultiLayerNetwork.load`."""
        return MultiLayerNetwork.load(path, load_updater)

    @staticmethod
    def addNormalizerToModel(path: Any, normalizer: Any) -> None:
        """Put a normalizer into a model zip."""
        add_normalizer_to_model(path, normalizer)

    @staticmethod
    def restoreNormalizerFromFile(path: Any) -> Any:
        """Return the normalizer of a model zip, None if it has none."""
        return restore_normalizer(path)

    @staticmethod
    def restoreMultiLayerNetworkAndNormalizer(path: Any, load_updater: bool = True) -> Pair:
        """Return both."""
        return Pair(MultiLayerNetwork.load(path, load_updater), restore_normalizer(path))
