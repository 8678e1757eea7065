"""Numbers of an updater that Java has written as NaN: it has lost the schedule that they followed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError
from optimize import Schedule

from .findings import warn_of

if TYPE_CHECKING:
    from ..conf.nodes import NodeConf


@dataclass(frozen=True)
class LostSchedule(Schedule):
    """Stands for a schedule that a file had and has no more: a network with it predicts, and is not trained.

    Parameters
    ----------
    updater, name : str
        Class of the updater, and the number of it.

    Notes
    -----
    Differs: Java trains with NaN, after which all parameters are NaN. Source: ND4J ``AdaGrad.clone``.
    """

    updater: str
    name: str

    def value_at(self, iteration: int, epoch: int) -> float:
        """Raise ConfigurationError."""
        by_rate = "net.set_learning_rate(0.01), say, or of a bias_updater " if self.name == "learning_rate" else ""
        raise ConfigurationError(
            f"{self.updater}: to train, {self.name} must be known, got NaN: Java lost its schedule when it wrote the "
            f"file, and would train to NaN. Set it with {by_rate}"
            "TransferLearning's FineTuneConfiguration(updater=..., bias_updater=...)."
        )


def warn_of_lost(nodes: Sequence[NodeConf]) -> None:
    """Warn once of the schedules that a file has lost."""
    lost = []
    for node in nodes:
        innermost = getattr(node.conf, "innermost", node.conf)
        for updater in (getattr(innermost, "updater", None), getattr(innermost, "bias_updater", None)):
            lost += [f"{node.label}: {value.name} of {value.updater} is NaN" for value in _lost_in(updater)]
    warn_of(lost, "Java has lost schedules, without which the network predicts but cannot be trained")


def _lost_in(updater: Any) -> list[LostSchedule]:
    values = [getattr(updater, field.name) for field in fields(updater)] if updater is not None else []
    return [value for value in values if isinstance(value, LostSchedule)]
