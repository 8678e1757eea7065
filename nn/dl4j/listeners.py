"""Listeners that Java's programs make another way."""

from __future__ import annotations

import pathlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

from nd import ConfigurationError
from nd.arguments import Count, Natural, checked, shown
from nd.checks import check_choice
from nd.classes import ExplainedType
from nd.evaluation.java_text import shortest
from nd.files.writing import TEXT, Target, replacing
from nd.java_enums import JavaEnum
from optimize import CollectScoresListener, Listener, listeners
from optimize.builder import Builder
from optimize.earlystopping.iteration_conditions import SECONDS
from optimize.listeners.checkpoint_folder import Checkpoint, find_checkpoint

from ..networks.graph import ComputationGraph
from ..networks.multilayer import MultiLayerNetwork

if TYPE_CHECKING:
    import os

    from optimize.api import Model


class ScoreStat(metaclass=ExplainedType):
    """Scores and their iterations: `effective_indexes` and `effective_scores`."""

    BUCKET_LENGTH = 10000

    def __init__(self) -> None:
        self.effective_indexes: list[int] = []
        self.effective_scores: list[float] = []

    def add_score(self, index: int, score: float) -> None:
        """Keep a score."""
        self.effective_indexes.append(index)
        self.effective_scores.append(score)

    @property
    def indexes(self) -> list[list[int]]:
        """The iterations in one list, which zeros fill up to a multiple of `BUCKET_LENGTH`, as in Java."""
        return [self.effective_indexes + [0] * self._free()]

    @property
    def scores(self) -> list[list[float]]:
        """The scores in one list, as `indexes`."""
        return [self.effective_scores + [0.0] * self._free()]

    def _free(self) -> int:
        count = len(self.effective_indexes)
        return -count % self.BUCKET_LENGTH if count else self.BUCKET_LENGTH


class CollectScoresIterationListener(CollectScoresListener):
    """Keeps the score of every `frequency`-th call with its iteration: of 2, 5, 8, ... where that is 3; 0 is 1.

    Source: DL4J ``CollectScoresIterationListener``.
    """

    def __init__(self, frequency: int = 1) -> None:
        super().__init__(max(frequency, 1))
        self.statistics = ScoreStat()
        self.iterations, self.scores = self.statistics.effective_indexes, self.statistics.effective_scores
        self._calls = 0

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        self._calls += 1
        if self._calls % self.frequency == 0:
            self.statistics.add_score(iteration, model.score())

    @checked
    def export_scores(self, target: Target, delimiter: str = "\t") -> None:
        """Write lines "Iteration<delimiter>Score" in UTF-8, with numbers as Java writes them.

        Parameters
        ----------
        target : path or binary file object
        delimiter : str

        Raises
        ------
        OSError
            The file cannot be written.
        """
        kept = zip(self.iterations, self.scores, strict=True)
        lines = [("Iteration", "Score"), *((str(iteration), shortest(score)) for iteration, score in kept)]
        with replacing("exportScores", target, TEXT) as file:
            file.write("\n".join(delimiter.join(line) for line in lines).encode())


class PerformanceListener(listeners.PerformanceListener):
    """Prints throughput: ``(frequency[, report_score[, report_gc]])``, or built by its `Builder`.

    Garbage collection is not reported; the rest of a line is printed even if the Builder turns it off. Source: DL4J
    ``PerformanceListener``.
    """

    builder_fields = ("frequency", "report_score")
    builder_ignored = ("report_batch", "report_etl", "report_iteration", "report_sample", "report_time")

    @checked
    def __init__(self, frequency: Count = 100, report_score: bool = False, report_gc: bool = False) -> None:
        super().__init__(frequency, report_score)

    @classmethod
    def Builder(cls) -> Builder:
        """Start with a line for every iteration."""
        return Builder(cls, frequency=1)


def _save_every_n_iterations(builder: Builder, n: int, since_last: bool = False) -> Builder:
    builder.given |= {"save_every_n_iterations": n, "since_last": since_last}
    return builder


class CheckpointListener(listeners.CheckpointListener):
    """Writes checkpoints, built by its `Builder`. Source: DL4J ``CheckpointListener``.

    Minutes are counted since the last checkpoint, also where ``saveEvery(5, TimeUnit.MINUTES, false)`` says otherwise.
    """

    builder_fields = (
        "folder", "save_every_n_iterations", "save_every_n_epochs", "save_every_minutes", "keep_last", "keep_every",
        "save_updater", "delete_existing", "log_saving", "since_last",
    )  # fmt: skip
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        "keep_all": lambda builder: builder,
        "keep_last_and_every": lambda builder, last, every: builder.keep_last(last).keep_every(every),
        "save_every": lambda builder, time, unit, since_last=True: builder.save_every_minutes(
            time * SECONDS[str(unit).lower()] / SECONDS["minutes"]
        ),
        "save_every_epoch": lambda builder: builder.save_every_n_epochs(1),
        "save_every_n_iterations": _save_every_n_iterations,
    }

    def __init__(self, folder: str | os.PathLike[str], *, since_last: bool = False, **settings: Any) -> None:
        super().__init__(folder, **settings)
        self._steps: int | None = None
        if since_last:  # not at the multiples of a number of steps
            self._steps, self.every_iterations = self.every_iterations, None
        self._saved_after: int | None = None

    @classmethod
    def Builder(cls, folder: str | os.PathLike[str]) -> Builder:
        """Start with the folder."""
        return Builder(cls, folder=folder)

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        if self._saved_after is None:
            self._saved_after = iteration
        if self._steps is not None and model.iteration_count - self._saved_after >= self._steps:
            self._save(model, model.epoch_count)
        else:
            super().iteration_done(model, iteration, epoch)

    def _save(self, model: Model, epochs: int) -> None:
        super()._save(model, epochs)
        self._saved_after = model.iteration_count

    def available_checkpoints(self: Any) -> list[Checkpoint]:  # type: ignore[override]
        """Return the checkpoints of this listener, or of a folder, oldest first."""
        own = isinstance(self, CheckpointListener)
        return list(self.checkpoints) if own else listeners.CheckpointListener.available_checkpoints(self)

    def last_checkpoint(self: Any) -> Checkpoint | None:  # type: ignore[override]
        """Return the newest checkpoint of this listener, or the newest complete one of a folder."""
        if isinstance(self, CheckpointListener):
            return self.checkpoints[-1] if self.checkpoints else None
        return listeners.CheckpointListener.last_checkpoint(self)

    def get_file_for_checkpoint(self: Any, *arguments: object) -> pathlib.Path:
        """Return the file of a checkpoint, or of its number, of this listener's folder; or of ``(folder, number)``.

        Raises
        ------
        FileNotFoundError
            There is none.
        """
        own = isinstance(self, CheckpointListener)
        if len(arguments) not in ((1, 2) if own else (1,)):
            raise ConfigurationError(
                "CheckpointListener.getFileForCheckpoint: expected a checkpoint or its number, of a class the folder "
                f"before it, got {[shown(argument) for argument in (arguments if own else (self, *arguments))]}."
            )
        folder, checkpoint = (self, *arguments)[-2:]
        place = folder.folder if isinstance(folder, CheckpointListener) else pathlib.Path(folder)
        return find_checkpoint(place, checkpoint.number if isinstance(checkpoint, Checkpoint) else checkpoint)

    def loadCheckpointMLN(self: Any, *which: object) -> MultiLayerNetwork:
        """Read a checkpoint, as `get_file_for_checkpoint` finds it."""
        return MultiLayerNetwork.load(CheckpointListener.get_file_for_checkpoint(self, *which))

    @staticmethod
    def loadLastCheckpointMLN(folder: str | os.PathLike[str]) -> MultiLayerNetwork:
        """Read the newest complete checkpoint of a folder. FileNotFoundError if there is none."""
        return MultiLayerNetwork.load_checkpoint(folder)

    def loadCheckpointCG(self: Any, *which: object) -> ComputationGraph:
        """Read a graph's checkpoint, as `get_file_for_checkpoint` finds it."""
        return ComputationGraph.load(CheckpointListener.get_file_for_checkpoint(self, *which))

    @staticmethod
    def loadLastCheckpointCG(folder: str | os.PathLike[str]) -> ComputationGraph:
        """Read the newest complete checkpoint of a folder, a graph's. FileNotFoundError if there is none."""
        return ComputationGraph.load_checkpoint(folder)


class SleepMode(JavaEnum):
    """Java's ways of waiting, all the same in ndwright."""

    PARK = "park"
    SLEEP = "sleep"
    BUSY = "busy"


class TimeMode(JavaEnum):
    """Whether the time since the last such event counts."""

    ADDITIVE = "additive"
    SIMPLE = "simple"


class SleepyTrainingListener(Listener):
    """Waits milliseconds at events of the training; in TimeMode.ADDITIVE less the time since the last one.

    Parameters
    ----------
    timer_ee, timer_es, timer_ff, timer_bp, timer_iteration : int
        At the end and the start of an epoch, after the forward and the backward pass, after an iteration.

    Notes
    -----
    Source: DL4J ``SleepyTrainingListener``.
    """

    SleepMode, TimeMode = SleepMode, TimeMode
    builder_fields = (
        "timer_ee", "timer_es", "timer_ff", "timer_bp", "timer_iteration", "sleep_mode", "time_mode",
    )  # fmt: skip

    @checked
    def __init__(
        self,
        timer_ee: Natural = 0,
        timer_es: Natural = 0,
        timer_ff: Natural = 0,
        timer_bp: Natural = 0,
        timer_iteration: Natural = 0,
        sleep_mode: str = SleepMode.PARK,
        time_mode: str = TimeMode.SIMPLE,
    ) -> None:
        self.timer_ee, self.timer_es, self.timer_ff, self.timer_bp = timer_ee, timer_es, timer_ff, timer_bp
        self.timer_iteration = timer_iteration
        self.sleep_mode = SleepMode(check_choice("SleepyTrainingListener", "sleep_mode", sleep_mode, SleepMode))
        self.time_mode = TimeMode(check_choice("SleepyTrainingListener", "time_mode", time_mode, TimeMode))
        self._last: dict[str, float] = {}

    @classmethod
    def Builder(cls) -> Builder:
        """Start without any waiting."""
        return Builder(cls)

    def wants(self, hook: str, iteration: int) -> bool:
        """Tell whether it waits there."""
        timers = {"on_forward_pass": self.timer_ff, "on_backward_pass": self.timer_bp}
        return timers.get(hook, self.timer_iteration if hook == "iteration_done" else 0) > 0

    def on_epoch_start(self, model: object) -> None:
        self._wait("es", self.timer_es)

    def on_epoch_end(self, model: object) -> None:
        self._wait("ee", self.timer_ee)

    def on_forward_pass(self, model: object, activations: list[Any]) -> None:
        self._wait("ff", self.timer_ff)

    def on_backward_pass(self, model: object) -> None:
        self._wait("bp", self.timer_bp)

    def iteration_done(self, model: Model, iteration: int, epoch: int) -> None:
        self._wait("iteration", self.timer_iteration)

    def _wait(self, event: str, milliseconds: int) -> None:
        passed = time.monotonic() - self._last.get(event, float("-inf"))
        counts = self.time_mode == TimeMode.ADDITIVE and event in self._last
        time.sleep(max(milliseconds / 1000.0 - (passed if counts else 0.0), 0.0))
        self._last[event] = time.monotonic()
