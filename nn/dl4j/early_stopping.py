"""Early stopping, by Java's names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from optimize import earlystopping as stopping

from ..conf.graph import ComputationGraphConfiguration
from ..conf.multilayer import MultiLayerConfiguration
from ..networks.graph import ComputationGraph
from ..networks.multilayer import MultiLayerNetwork

if TYPE_CHECKING:
    import os


_KINDS: dict[type, type] = {
    ComputationGraphConfiguration: ComputationGraph, MultiLayerConfiguration: MultiLayerNetwork,
}  # fmt: skip


class EarlyStoppingTrainer(stopping.EarlyStoppingTrainer):
    """Trains a network, or one that is built from a configuration. Source: DL4J ``EarlyStoppingTrainer``."""

    def __init__(
        self, conf: Any, model: Any, train_iterator: Any, listener: Any = None, *, class_weight: Any = None
    ) -> None:
        network = _KINDS[type(model)](model).init() if type(model) in _KINDS else model
        if not network.is_init_called():
            network.init()
        super().__init__(conf, network, train_iterator, listener, class_weight=class_weight)


class EarlyStoppingGraphTrainer(EarlyStoppingTrainer):
    """The same, under the name that Java has for graphs. Source: DL4J ``EarlyStoppingGraphTrainer``."""


class LocalFileGraphSaver(stopping.LocalFileModelSaver):
    """Keeps graphs in files. Source: DL4J ``LocalFileGraphSaver``. Differs: files are named as `LocalFileModelSaver`'s.

    Parameters
    ----------
    directory : path
    encoding : object
        Java's; not used.
    """

    def __init__(self, directory: str | os.PathLike[str], encoding: object = None) -> None:
        super().__init__(directory, ComputationGraph)


class DataSetLossCalculatorCG(stopping.DataSetLossCalculator):
    """`DataSetLossCalculator`, under the name that Java had for graphs. Source: DL4J ``DataSetLossCalculatorCG``."""
