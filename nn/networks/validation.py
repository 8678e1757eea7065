"""Score and accuracy on data that a network is not trained on, after every epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import nd
from nd.dataset import DataSet, DataSetIterator, ExistingDataSetIterator
from nd.dataset.iterator import check_data_set
from nd.evaluation import Evaluation
from nd.typing import Array

from .inference import naming_nan
from .training_data import weighted

if TYPE_CHECKING:
    from .history import History
    from .multilayer import MultiLayerNetwork


class Validation:
    """The validation_data of a call of fit.

    Parameters
    ----------
    network : MultiLayerNetwork
    data : (features, labels), (features, labels, weights), DataSet, DataSetIterator or other iterable of DataSet
        Weights ``[N]`` are of the examples, in the score only.
    batch_size : int, optional
        Examples at once, of arrays and of a DataSet.

    Raises
    ------
    DTypeError, DataError, ShapeError
        It is nothing of that, or does not fit the network.
    """

    def __init__(self, network: MultiLayerNetwork, data: Any, batch_size: int | None) -> None:
        self.network, self._weights = network, None
        self._iterator: DataSetIterator | None = None
        self._sets: list[DataSet] = []
        self._masks: list[Any] = []  # of the labels, without weights
        if isinstance(data, tuple) and 2 <= len(data) <= 3 and not isinstance(data[0], DataSet):
            dataset = network.classes.data_set("validation_data", data[0], data[1])
            self._weights = data[2] if len(data) > 2 else None
            self._sets = self._cut(dataset, batch_size)
        elif isinstance(data, DataSet):
            self._sets = self._cut(data, batch_size)
        elif isinstance(data, DataSetIterator):
            self._iterator = data
        elif isinstance(data, Iterable) and not hasattr(data, "shape"):
            self._iterator = ExistingDataSetIterator(data)
        else:
            raise nd.DTypeError(
                f"fit: validation_data must be (features, labels), a DataSet or an iterator, got {type(data).__name__}."
            )
        if self._iterator is None:
            self._check_first()

    def _check_first(self) -> None:
        """Raise the errors of data that do not fit, of their first example, before training begins."""
        if not self._sets:
            raise nd.DataError("fit: validation_data must have at least one example, got none.")
        data = self._sets[0]
        check_labelled(data)
        parts = data.features, data.labels, data.features_mask, data.labels_mask
        with of_validation():
            self.network.loss_and_output(DataSet(*(None if part is None else part[:1, ...] for part in parts)))

    def _cut(self, dataset: DataSet, batch_size: int | None) -> list[DataSet]:
        """Return minibatches; with weights, these are in the masks of the labels."""
        if self._weights is None:
            return [dataset] if batch_size is None else dataset.batch_by(batch_size)
        with_weights = weighted(self.network, "validation_data", dataset, None, self._weights)
        size = dataset.num_examples() if batch_size is None else batch_size
        self._masks = [batch.labels_mask for batch in dataset.batch_by(size)]
        return with_weights.batch_by(size)

    def add_to(self, history: History) -> None:
        """Score the network, and append score and accuracy; raise DataError where there are no data."""
        network = self.network
        evaluation = Evaluation() if network.classes.classes else None
        total: Array | Any = None
        examples = 0
        for number, batch in enumerate(self._minibatches()):
            check_labelled(batch)
            with naming_nan("fit: validation_data", network, batch.features), of_validation():
                loss, output = network.loss_and_output(batch)
                if evaluation is not None:
                    mask = batch.labels_mask if self._weights is None else self._masks[number]
                    labels: Array | Any = batch.labels
                    evaluation.eval(*network.classes.compared(network.classes.formed(labels), nd.to_host(output), mask))
            total, examples = loss if total is None else total + loss, examples + batch.num_examples()
        if not examples:
            raise nd.DataError("fit: validation_data must have at least one minibatch, got none.")
        history.validation_score.append(network.score_from(total, examples))
        if evaluation is not None:
            history.validation_accuracy.append(evaluation.accuracy())

    def _minibatches(self) -> Iterator[DataSet]:
        if self._iterator is None:
            yield from self._sets
            return
        if self._iterator.reset_supported():
            self._iterator.reset()
        yield from self._iterator


@contextmanager
def of_validation() -> Iterator[None]:
    """Say in errors that the data are those to validate on."""
    try:
        yield
    except (nd.ShapeError, nd.DTypeError, nd.DataError) as error:
        raise type(error)(f"fit: validation_data: {error}") from error


def check_labelled(batch: Any) -> None:
    """Raise errors unless it is a DataSet with labels."""
    check_data_set("fit: validation_data", batch)
    if batch.labels is None:
        raise nd.DataError("fit: validation_data must have labels, got none. Give (features, labels).")
