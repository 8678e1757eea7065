"""Pretraining, as networks have it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nd.arguments import checked
from nd.rules import Natural

from .history import History
from .trainable import Trainable

if TYPE_CHECKING:
    from .training import Training


class Pretrainable(Trainable):
    """Pretraining of the layers that learn from their input alone."""

    def _pretrained_first(self, training: Training) -> History:
        """Carry out a call of fit as the configuration says: with pretraining first, or that alone."""
        from .pretraining import before_labels  # which most programs do not need

        given: Any = training.iterator if training.single is None else training.single
        if before_labels(self, given):  # type: ignore[arg-type]
            return training.run()
        return self.history or training.history

    @checked
    def pretrain(self, data: object, epochs: Natural = 1) -> Mapping[str, History]:
        """Pretrain every layer that can be, one after the other; see `pretrain_layer`.

        Returns
        -------
        dict of str -> History
            By the names of the layers, ``"layer0"`` where nobody has named the first one. Others than `AutoEncoder`,
            `RBM` and `VariationalAutoencoder` are left out.

        Notes
        -----
        Source: DL4J ``MultiLayerNetwork.pretrain``. Differs: a graph of Java's reads the data once, whatever `epochs`.
        """
        from .pretraining import pretrain  # which most programs do not need

        self._check_has_params()
        return pretrain(self, data, epochs)  # type: ignore[arg-type]

    @checked
    def pretrain_layer(self, layer: int | str, data: object, epochs: Natural = 1) -> History:
        """Train one layer to reconstruct what comes into it, layers below outside of training.

        Parameters
        ----------
        layer : int or str
            Number or name, in a graph the name.
        data : array ``[N, ...]``, DataSet, MultiDataSet, or iterator or iterable of minibatches
            As `fit` takes it; labels and masks are not looked at, and need not be there. Features and single
            minibatches give `epochs` steps, an iterator is read `epochs` times.
        epochs : int

        Returns
        -------
        History
            Scores of the reconstruction; the last one is `score()` then. One without epochs where the layer is none
            that is pretrained, as in Java.

        Raises
        ------
        ChoiceError, ConfigurationError
            There is no such layer.
        ShapeError, DTypeError, DataError
            The data do not fit the network.
        NumericError
            The score or the gradient is not finite.

        Notes
        -----
        The layer has an updater of its own, whose state and counters of iterations and epochs stay from one call to the
        next. Listeners hear of it, with a network of that layer alone as the model, as Java hands them the layer.
        Source: DL4J ``MultiLayerNetwork.pretrainLayer``. Differs: in Java 1.0 layers above the first get the raw input.
        """
        from ..layers.pretraining.base import is_pretrained
        from .pretraining import pretrain_layer

        self._check_has_params()
        number = self._checked_node("pretrain_layer", layer)  # type: ignore[attr-defined]
        if not is_pretrained(self.conf.nodes[number].conf):
            return History()
        return pretrain_layer(self, number, data, epochs)  # type: ignore[arg-type]

    def _check_has_params(self) -> None:
        if not self.is_init_called():
            self.init()
