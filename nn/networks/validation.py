"""Score and accuracy on data that a network is not trained on, after every epoch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import nd
from nd.dataset import DataSet
from nd.dataset.iterator import MinibatchIterator
from nd.evaluation import Evaluation
from nd.typing import Array

from ..step.minibatch import parts_of_data
from .class_labels import paired
from .inference import naming_nan
from .training_data import existing, weighted

if TYPE_CHECKING:
    from .history import History
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

    Raises
    ------
    DTypeError, DataError, ShapeError
        It is nothing of that, or does not fit the network.
    """

    def __init__(self, network: Network, data: Any, batch_size: int | None) -> None:
        self.network, self._weights = network, None
        self._iterator: MinibatchIterator[Any] | None = None
        self._sets: list[Any] = []
        self._unweighted: list[Any] = []  # the same minibatches, without weights
        if isinstance(data, tuple) and 2 <= len(data) <= 3 and not isinstance(data[0], DataSet):
            inputs = len(network.conf.input_names)
            dataset = paired("validation_data", network.classes_of, inputs, data[0], data[1])
            self._weights = data[2] if len(data) > 2 else None
            self._sets = self._cut(dataset, batch_size)
        elif isinstance(data, network.data_types):
            self._sets = self._cut(data, batch_size)
        elif isinstance(data, MinibatchIterator):
            self._iterator = data
        elif isinstance(data, Iterable) and not hasattr(data, "shape"):
            self._iterator = existing(network, data)
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
        self._check_labelled(data)
        with of_validation():
            self.network.loss_and_outputs(data.get_range(0, 1) if data.num_examples() else data)

    def _check_labelled(self, batch: Any) -> None:
        """Raise errors unless it is a minibatch with labels."""
        self.network.check_minibatch("fit: validation_data", batch)
        if not parts_of_data(batch).labels:
            raise nd.DataError("fit: validation_data must have labels, got none. Give (features, labels).")

    def _cut(self, dataset: Any, batch_size: int | None) -> list[Any]:
        """Return minibatches; with weights, these are in the masks of the labels."""
        if self._weights is None:
            return [dataset] if batch_size is None else dataset.batch_by(batch_size)
        with_weights = weighted(self.network, "validation_data", dataset, None, self._weights)
        size = dataset.num_examples() if batch_size is None else batch_size
        self._unweighted = dataset.batch_by(size)
        return with_weights.batch_by(size)

    def add_to(self, history: History) -> None:
        """Score the network, and append score and accuracy; raise DataError where there are no data."""
        network = self.network
        evaluation = Evaluation() if network.classes.classes else None
        total: Array | Any = None
        examples = 0
        for number, batch in enumerate(self._minibatches()):
            self._check_labelled(batch)
            with naming_nan("fit: validation_data", network, batch), of_validation():
                loss, outputs = network.loss_and_outputs(batch)
                if evaluation is not None:
                    parts = parts_of_data(batch if self._weights is None else self._unweighted[number])
                    mask = parts.labels_masks[0] if parts.labels_masks else None
                    labels = network.classes.formed(parts.labels[0])
                    evaluation.eval(*network.classes.compared(labels, nd.to_host(outputs[0]), mask))
            total, examples = loss if total is None else total + loss, examples + batch.num_examples()
        if not examples:
            raise nd.DataError("fit: validation_data must have at least one minibatch, got none.")
        history.validation_score.append(network.score_from(total, examples))
        if evaluation is not None:
            history.validation_accuracy.append(evaluation.accuracy())

    def _minibatches(self) -> Iterator[Any]:
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
