"""OwnLoop: what fit does beside its steps, for loops around `fit_batch`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .history import History
from .output_weights import weighted

if TYPE_CHECKING:
    from .network import Network


class OwnLoop:
    """Class names, class weights and the history of a loop around `fit_batch`, such as that of early stopping.

    Parameters
    ----------
    network : Network
        Gets the names of the classes that the data know, if it has none, and a new `history`.
    data : iterator
    class_weight : dict of class -> weight, optional
        As of `fit` with an iterator.

    Raises
    ------
    ConfigurationError
        The weights do not fit the network.
    """

    def __init__(self, network: Network, data: Any, class_weight: Mapping[Any, Any] | str | None = None) -> None:
        self._network = network
        names = getattr(data, "class_names", None)
        classes = network.engine.classes
        if names and classes.classes:
            classes.check_names("fit", names, learn=network.iteration_count == 0)
        self._weights = None
        if class_weight is not None:
            from .output_weights import class_weights

            self._weights = class_weights(network, class_weight)
        self.history = network.history = History()

    def fit_batch(self, batch: object) -> None:
        """Train on one minibatch, and add its score, of series in segments that of the last one."""
        network = self._network
        network.fit_batch(batch if self._weights is None else weighted(network, "fit", batch, self._weights))
        self.history._add_step(network.engine.last)  # type: ignore[arg-type]

    def end_epoch(self) -> None:
        """Close an epoch of the history."""
        network = self._network
        self.history._end_epoch(network.updater.learning_rate_at(network.iteration_count - 1, network.epoch_count))
