"""Listeners and trainers that Java's programs make another way."""

from __future__ import annotations

from typing import Any, ClassVar

from nd.java_names import JavaNames
from optimize import CollectScoresListener, listeners
from optimize import earlystopping as stopping
from optimize.builder import Builder
from optimize.earlystopping.iteration_conditions import SECONDS
from optimize.listeners.checkpoint_folder import Checkpoint

from ..conf.network import MultiLayerConfiguration
from ..multilayer import MultiLayerNetwork


class ScoreStat(JavaNames):
    """Scores and their iterations."""

    java_names: ClassVar[dict[str, str]] = {"effective_indexes": "indexes"}

    def __init__(self, iterations: list[int], scores: list[float]) -> None:
        self.indexes, self.effective_scores = iterations, scores


class CollectScoresIterationListener(CollectScoresListener):
    """Keeps scores with their iterations. Source: DL4J ``CollectScoresIterationListener``."""

    def __init__(self, frequency: int = 1) -> None:
        super().__init__(frequency)

    def get_score_vs_iter(self) -> ScoreStat:
        """Return what was kept."""
        return ScoreStat(self.iterations, self.scores)


def _save_every(builder: Builder, time: float, unit: str) -> Builder:
    return builder.save_every_minutes(time * SECONDS[str(unit).lower()] / SECONDS["minutes"])


class CheckpointListener(listeners.CheckpointListener):
    """Writes checkpoints, made by its `Builder`. Source: DL4J ``CheckpointListener``."""

    builder_fields = (
        "folder", "save_every_n_iterations", "save_every_n_epochs", "save_every_minutes", "keep_last", "keep_every",
        "save_updater", "delete_existing", "log_saving",
    )  # fmt: skip
    builder_verbs: ClassVar[dict[str, Any]] = {
        "keep_all": lambda builder: builder,
        "keep_last_and_every": lambda builder, last, every: builder.keep_last(last).keep_every(every),
        "save_every": _save_every,
    }

    @classmethod
    def Builder(cls, folder: Any) -> Builder:
        """Start with the folder."""
        return Builder(cls, folder=folder)

    def available_checkpoints(self: Any) -> list[Checkpoint]:  # type: ignore[override]
        """Return the checkpoints of this listener, or of a folder, oldest first."""
        own = isinstance(self, CheckpointListener)
        return list(self.checkpoints) if own else listeners.CheckpointListener.available_checkpoints(self)

    def last_checkpoint(self: Any) -> Checkpoint | None:  # type: ignore[override]
        """Return the newest checkpoint of this listener, or the newest whole one of a folder."""
        if isinstance(self, CheckpointListener):
            return self.checkpoints[-1] if self.checkpoints else None
        return listeners.CheckpointListener.last_checkpoint(self)

    @staticmethod
    def loadCheckpointMLN(folder: Any, checkpoint: Checkpoint | int) -> MultiLayerNetwork:
        """Read a checkpoint of a folder, by itself or by its number."""
        number = checkpoint.number if isinstance(checkpoint, Checkpoint) else checkpoint
        return MultiLayerNetwork.load_checkpoint(folder, number)


class EarlyStoppingTrainer(stopping.EarlyStoppingTrainer):
    """Trains a network, or one that is made from a configuration. Source: DL4J ``EarlyStoppingTrainer``."""

    def __init__(self, conf: Any, model: Any, train_iterator: Any, listener: Any = None) -> None:
        network = MultiLayerNetwork(model).init() if isinstance(model, MultiLayerConfiguration) else model
        if not network.is_init_called():
            network.init()
        super().__init__(conf, network, train_iterator, listener)
