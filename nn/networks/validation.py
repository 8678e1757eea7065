"""Score and accuracy on data that a network is not trained on, after every epoch."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import nd
from nd.arguments import shown
from nd.dataset.iterator import is_pair
from nd.dataset.pre_processor import looked_at
from nd.evaluation import Evaluation
from nd.typing import Array

from .inference import naming_nan
from .intake import iterator_of, paired
from .output_weights import weighted

if TYPE_CHECKING:
    from .held_out import HeldOut
    from .history import History
    from .metrics import Metrics
    from .minibatch import FitSettings
    from .network import Network


class Validation:
    """The validation_data of a call of fit.

    Parameters
    ----------
    network : Network
    data : (features, labels), (features, labels, weights), DataSet, DataSetIterator or other iterable of DataSet
        For a ComputationGraph also MultiDataSets.
        Weights ``[N]`` are of the examples, in the score only.
    batch_size : int, optional
        Examples at once, of arrays and of a DataSet.
    sample_weight : array ``[N]``, optional
        Of the examples of a DataSet, in the score only.
    metrics : Metrics, optional
        Computed too.
    loss_weights : tuple of float
        Of the losses of the outputs.

    Raises
    ------
    DTypeError, DataError, ShapeError
        It is nothing of that, or does not fit the network.
    """

    def __init__(
        self,
        network: Network,
        data: Any,
        batch_size: int | None,
        sample_weight: object = None,
        metrics: Metrics | None = None,
        loss_weights: tuple[float, ...] = (),
    ) -> None:
        self.network, self._weights = network, sample_weight
        self._classes = network.engine.classes
        self._metrics, self._loss_weights = metrics, loss_weights
        self._iterator = None
        self._given: Any = None  # as one minibatch
        self._sets = []
        self._unweighted: list[Any] = []  # the same minibatches, without weights
        if is_pair(data, 3):
            dataset = paired(network, "validation_data", data[0], data[1])
            self._weights = data[2] if len(data) > 2 else None
            self._sets = self._cut(dataset, batch_size)
        elif isinstance(data, network._data_types):
            self._sets = self._cut(data, batch_size)
        else:
            self._iterator = iterator_of(network, "fit: validation_data", data)
        if self._iterator is None:
            self._check_first()
        elif getattr(data, "class_names", None) and self._classes.classes:
            self._classes.check_names("fit: validation_data", data.class_names, learn=False)

    @property
    def minimized(self) -> dict[str, bool | None]:
        """The columns of the history that are written -> whether less is better; None where that is not known."""
        columns: dict[str, bool | None] = {"validation_score": True}
        if self._classes.classes:
            columns["validation_accuracy"] = False
        return columns | ({} if self._metrics is None else self._metrics.minimized)

    def _check_first(self) -> None:
        """Raise the errors of data that do not fit, of their first example, before training begins."""
        if not self._sets:
            raise nd.DataError("fit: validation_data must have at least one example, got none.")
        data = self._sets[0]
        self._check_labelled(data)
        first = data.get_range(0, 1) if data.num_examples() else data
        with of_validation():
            network = self.network
            try:
                first = network.engine.formed(first, "fit: validation_data")
                _, outputs = network._loss_and_outputs(first)
            except nd.ShapeError:  # of which the user knows nothing: of the data that were given
                network._loss_and_outputs(network.engine.formed(self._given, "fit: validation_data"))
                raise
            if self._metrics is not None:
                self._metrics.see(first, outputs)
                self._metrics.begin()

    def _check_labelled(self, batch: Any) -> None:
        """Raise errors unless it is a minibatch with labels."""
        self.network._check_minibatch("fit: validation_data", batch)
        if not batch.multi.labels:
            raise nd.DataError("fit: validation_data must have labels, got none. Give (features, labels).")

    def _cut(self, dataset: Any, batch_size: int | None) -> list[Any]:
        """Return minibatches; with weights, these are in the masks of the labels."""
        self._given = dataset
        if self._weights is None:
            return [dataset] if batch_size is None else dataset.batch_by(batch_size)
        with_weights = weighted(self.network, "validation_data", dataset, None, self._weights)
        size = dataset.num_examples() if batch_size is None else batch_size
        self._unweighted = dataset.batch_by(size)
        return with_weights.batch_by(size)

    def add_to(self, history: History) -> None:
        """Score the network, and append score and accuracy; raise DataError where there are no data."""
        network = self.network
        evaluation = Evaluation() if self._classes.classes else None
        total: Array | Any = None
        examples = 0
        for number, batch in enumerate(self._minibatches()):
            self._check_labelled(batch)
            with naming_nan("fit: validation_data", network, batch), of_validation():
                batch = network.engine.formed(batch, "fit: validation_data")
                loss, outputs = network._loss_and_outputs(batch, False, *self._loss_weights)
                if evaluation is not None:
                    parts = (batch if self._weights is None else self._unweighted[number]).multi
                    mask = parts.labels_masks[0] if parts.labels_masks else None
                    labels = self._classes.formed(parts.labels[0])
                    evaluation.eval(*self._classes.compared(labels, nd.to_host(outputs[0]), mask))
                if self._metrics is not None:
                    self._metrics.see(batch if self._weights is None else self._unweighted[number], outputs)
            total, examples = loss if total is None else total + loss, examples + batch.num_examples()
        if not examples:
            raise nd.DataError("fit: validation_data must have at least one minibatch, got none.")
        history.validation_score.append(network._score_from(total, examples))
        if evaluation is not None:
            history.validation_accuracy.append(evaluation.accuracy())
        if self._metrics is not None:
            self._metrics.add_to(history)

    def _minibatches(self) -> Iterator[object]:
        if self._iterator is None:
            yield from self._sets
            return
        if self._iterator.reset_supported():
            self._iterator.reset()
        yield from looked_at(self._iterator)


def validation_of(
    network: Network, settings: FitSettings, held_out: HeldOut | None, loss_weights: tuple[float, ...]
) -> Validation | None:
    """Return what validates after every epoch of a call of fit, None without data for it.

    Raises
    ------
    ConfigurationError
        There are metrics without such data.
    """
    data, weights = held_out or (settings.validation_data, None)
    if hasattr(settings.metrics, "shape"):
        raise nd.ConfigurationError(
            f"fit: metrics must be names or functions, got {shown(settings.metrics)}. Name them."
        )
    if data is None and settings.metrics:
        raise nd.ConfigurationError(
            f"fit: metrics need data to validate on, got {shown(settings.metrics)} without. Give validation_data, or "
            "with arrays validation_split=0.1."
        )
    if data is None:
        return None
    metrics = None
    if settings.metrics:
        from .metrics import Metrics

        metrics = Metrics(network, settings.metrics)
    return Validation(network, data, settings.batch_size, weights, metrics, loss_weights)


@contextmanager
def of_validation() -> Iterator[None]:
    """Say in errors that the data are those to validate on."""
    try:
        yield
    except (nd.ShapeError, nd.DTypeError, nd.DataError) as error:
        raise type(error)(f"fit: validation_data: {error}") from error
