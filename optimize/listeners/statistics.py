"""StatisticsListener."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import nd
from nd.arguments import Count, checked
from nd.typing import Array

from ..api import Listener, Model


@dataclass(frozen=True)
class ArrayStatistics:
    """Of all elements of an array, in float64; `norm` is the Euclidean one, `std` that of the population."""

    mean: float
    std: float
    min: float
    max: float
    norm: float

    @staticmethod
    def of(array: Array) -> ArrayStatistics:
        """Bring an array to the host and look at it; of one that is not finite all are NaN."""
        host = nd.to_host(array).astype("float64")
        largest = float(abs(host).max()) if host.size else math.nan
        if not math.isfinite(largest):
            return ArrayStatistics(*[math.nan] * 5)
        scale = largest or 1.0  # so that no square overflows
        norm = scale * math.sqrt(float(((host / scale) ** 2).sum()))
        return ArrayStatistics(float(host.mean()), float(host.std()), float(host.min()), float(host.max()), norm)


@dataclass
class StatisticsRecord:
    """One iteration.

    Attributes
    ----------
    iteration, epoch : int
        0-based.
    score : float
    parameters, gradients, updates : dict of key ("0_W") -> ArrayStatistics
        Parameters after the update; the gradient as a sum over the examples, before the updater; the update.
    activations : dict of layer number -> ArrayStatistics
        In training, of all of the minibatch; of a ComputationGraph by the vertices' names.
    ratios : dict of key -> float
        Norm of the update : norm of the parameter; about 1e-3 is usual.
    """

    iteration: int
    epoch: int
    score: float = math.nan
    parameters: dict[str, ArrayStatistics] = field(default_factory=dict)
    gradients: dict[str, ArrayStatistics] = field(default_factory=dict)
    updates: dict[str, ArrayStatistics] = field(default_factory=dict)
    activations: dict[int | str, ArrayStatistics] = field(default_factory=dict)
    ratios: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return nested dicts of numbers."""
        return asdict(self)


class StatisticsListener(Listener):
    """Keeps mean, standard deviation, smallest, largest and norm of parameters, gradients, updates and activations.

    Parameters
    ----------
    frequency : int
        Look at every so many iterations, those that it divides; the rest cost nothing and wait for nothing.
    activations : bool
        Also look at the layers' activations. Such a step is computed in one piece, not split over threads or recorded,
        which may change its last bits.
    most : int, optional
        Keep only the last so many records.

    Attributes
    ----------
    records : list of StatisticsRecord

    Raises
    ------
    ConfigurationError
        A number is less than 1.

    Notes
    -----
    Source: the idea of DL4J ``StatsListener``, whose records go to a web page.
    """

    @checked
    def __init__(self, frequency: Count = 10, activations: bool = True, most: Count | None = None) -> None:
        self.frequency, self.most = frequency, most
        self._hooks = {"on_gradient_calculation", "on_forward_pass"} if activations else {"on_gradient_calculation"}
        self.records: list[StatisticsRecord] = []
        self._record: StatisticsRecord | None = None

    def wants(self, hook: str, iteration: int) -> bool:
        return hook in self._hooks and iteration % self.frequency == 0

    def _of(self, model: Model) -> StatisticsRecord:
        """Return the record of the step that runs; one that was not completed is dropped."""
        if self._record is None or self._record.iteration != model.iteration_count:
            self._record = StatisticsRecord(model.iteration_count, model.epoch_count)
        return self._record

    def on_forward_pass(self, model: Any, activations: Any) -> None:
        if self.wants("on_forward_pass", model.iteration_count):
            of_layers = enumerate(activations[1:]) if isinstance(activations, list) else activations.items()
            inputs = () if isinstance(activations, list) else model.conf.input_names
            self._of(model).activations = {
                layer: ArrayStatistics.of(array) for layer, array in of_layers if layer not in inputs
            }

    def on_gradient_calculation(self, model: Any) -> None:
        if self.wants("on_gradient_calculation", model.iteration_count):
            self._of(model).gradients = _described(model.gradient().gradient_for_variable())

    def iteration_done(self, model: Any, iteration: int, epoch: int) -> None:
        record, self._record = self._record, None
        if record is None or record.iteration != iteration:
            return
        record.score = model.score()
        record.parameters = _described(model.param_table())
        record.updates = _described(model.gradient().gradient_for_variable())  # the vector holds the update by now
        record.ratios = {
            key: update.norm / norm if (norm := record.parameters[key].norm) else math.nan
            for key, update in record.updates.items()
        }
        self.records.append(record)
        if self.most is not None:
            del self.records[: -self.most]

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the records as nested dicts of numbers."""
        return [record.to_dict() for record in self.records]


def _described(arrays: Mapping[str, Array]) -> dict[str, ArrayStatistics]:
    return {key: ArrayStatistics.of(array) for key, array in arrays.items()}
