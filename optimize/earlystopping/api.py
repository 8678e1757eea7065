"""Protocols of early stopping: its networks, and its parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from nd.classes import ExplainedType, overridable

from ..api import Listener, Model

if TYPE_CHECKING:
    import os

    from nd.dataset import DataSet, MultiDataSet
    from nd.evaluation import Evaluation, IEvaluation

    from .configuration import EarlyStoppingConfiguration, EarlyStoppingResult


@runtime_checkable
class EarlyStoppingModel(Model, Protocol):
    """A network as early stopping needs it, beside the needs of a solver."""

    conf: Any
    listeners: list[Listener]

    def fit_batch(self, data: DataSet | MultiDataSet) -> None:
        """Train on one minibatch."""

    def stoppable(self) -> AbstractContextManager[Callable[[], str | None]]:
        """Let listeners stop the training of a block; yield a function that returns their reason, None before."""

    def end_epoch(self, count: bool = True) -> None:
        """Tell the listeners that an epoch is over and, by default, count it."""

    def score(self, data: DataSet | MultiDataSet | None = None, *, training: bool = False) -> float:
        """Return the score of the last minibatch, or of `data`."""

    def evaluate(self, data: Any) -> Evaluation:
        """Compare predictions with labels."""

    def do_evaluation(self, data: Any, *evaluations: Any) -> tuple[IEvaluation, ...]:
        """Show the predictions to evaluations, or to one of an output in a dict, and return them."""

    def clone(self) -> Self:
        """Return an independent copy."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the network to a file, completely or not at all."""

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a network that `save` wrote."""


@overridable
class StoppingCondition(metaclass=ExplainedType):
    """Decides whether training ends. Shown as in Java: ``MaxEpochsTerminationCondition(5)``."""

    def initialize(self) -> None:
        """Forget the last training: another starts."""

    def arguments(self) -> Sequence[object]:
        """Return the arguments that are shown in the brackets."""
        return ()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(str, self.arguments()))})"


class EpochTerminationCondition(StoppingCondition):
    """Decides after an epoch whether training ends. Override `terminate`."""

    def terminate(self, epoch: int, score: float, minimize: bool) -> bool:
        """Tell whether training ends.

        Parameters
        ----------
        epoch : int
            0-based, counted from the start of this training.
        score : float
            Of the model after this epoch.
        minimize : bool
            Whether a smaller score is better.
        """
        raise NotImplementedError


class IterationTerminationCondition(StoppingCondition):
    """Decides after every minibatch whether training ends. Override `terminate`."""

    needs_score: ClassVar[bool] = True
    """False where `terminate` does not look at the score; then nobody waits for a device to know it."""

    def terminate(self, last_score: float) -> bool:
        """Tell whether training ends; `last_score` is that of the minibatch, NaN if the step could not be taken."""
        raise NotImplementedError


@runtime_checkable
class ScoreCalculator(Protocol):
    """Scores a model."""

    minimize_score: bool
    """Whether a smaller score is better."""

    def calculate_score(self, model: Any) -> float:
        """Return the model's score."""


@runtime_checkable
class EarlyStoppingModelSaver(Protocol):
    """Keeps models."""

    def save_best_model(self, model: Any, score: float) -> None:
        """Keep a copy of the best model so far."""

    def save_latest_model(self, model: Any, score: float) -> None:
        """Keep a copy of the model as it is now; `score` is NaN where it was not calculated."""

    def get_best_model(self) -> Any:
        """Return the best model, None if there is none."""

    def get_latest_model(self) -> Any:
        """Return the latest model, None if there is none."""


@overridable
class EarlyStoppingListener(metaclass=ExplainedType):
    """Hooks into training with early stopping; override what you need.

    Notes
    -----
    Source: DL4J ``EarlyStoppingListener``.
    """

    def on_start(self, conf: EarlyStoppingConfiguration, model: Any) -> None:
        """Before the first epoch."""

    def on_epoch(self, epoch: int, score: float, conf: EarlyStoppingConfiguration, model: Any) -> None:
        """After an epoch whose score was calculated."""

    def on_completion(self, result: EarlyStoppingResult) -> None:
        """When training has ended, for whatever reason but an exception that comes out of `fit`."""
