"""Score and accuracy on data that a network is not trained on, after every epoch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import nd
from nd.dataset import DataSet, DataSetIterator, ExistingDataSetIterator
from nd.evaluation import Evaluation
from nd.typing import Array

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
        batches: Iterable[DataSet] = self._sets if self._iterator is None else self._iterator
        if self._iterator is not None and self._iterator.reset_supported():
            self._iterator.reset()
        for number, batch in enumerate(batches):
            loss, output = network.loss_and_output(batch)
            total, examples = loss if total is None else total + loss, examples + batch.num_examples()
            if evaluation is not None:
                mask = batch.labels_mask if self._weights is None else self._masks[number]
                labels: Array | Any = batch.labels
                evaluation.eval(network.classes.formed(labels), nd.to_host(output), mask)
        if not examples:
            raise nd.DataError("fit: validation_data must have at least one minibatch, got none.")
        history.validation_score.append(network.score_from(total, examples))
        if evaluation is not None:
            history.validation_accuracy.append(evaluation.accuracy())
