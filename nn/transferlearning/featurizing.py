"""TransferLearningHelper: the activations of frozen layers, computed once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import nd
from nd.arguments import Natural, checked
from nd.dataset import DataSet, DataSetIterator, ListDataSetIterator
from nd.java_names import JavaNames
from nd.typing import Array

from ..layers import FrozenLayer
from ..networks.history import History
from ..networks.multilayer import MultiLayerNetwork


class TransferLearningHelper(JavaNames):
    """Trains the layers above the frozen ones on the frozen ones' activations.

    Parameters
    ----------
    network : MultiLayerNetwork
        After `init`. Its parameters follow those of the part that this helper trains.
    frozen_till : int, optional
        The last layer that is not trained; by default the highest `FrozenLayer`.

    Raises
    ------
    ConfigurationError
        There is no such layer, no frozen one, or none above.

    Notes
    -----
    The part starts from the network's parameters, counts and, where all that has state is in it, updater state, and
    hands them back after training, with the score. As in Java, this seeds the network's generator and draws its
    weights, which are overwritten. Source: DL4J ``TransferLearningHelper``. Differs: `network` keeps its configuration,
    where Java freezes its layers; preprocessors above the border stay with their layers.
    """

    @checked
    def __init__(self, network: MultiLayerNetwork, frozen_till: Natural | None = None) -> None:
        self.network, self.conf = network, network.conf
        self.frozen_till = self._checked(frozen_till)
        layout, border = self.conf.layout(), self.frozen_till + 1
        self._split = next((view.start for view in layout.views if view.layer >= border), layout.length)
        params = network.params()
        with network.on_backend():
            below = self._part(0, border)
            below = replace(below, layers=tuple(layer.innermost for layer in below.layers))  # which may run as one
            self._frozen = MultiLayerNetwork(below).init(nd.copy(params[:, : self._split]))
            self._tail = MultiLayerNetwork(self._part(border, len(self.conf.layers))).init()
            network.random.set_state(self._tail.random.get_state())
            self._tail.random = network.random  # both are the one network that is trained
            self._tail.class_names = network.class_names
            nd.random.set_random(network.random)
            self._tail.set_params(params[:, self._split :])
            if self._shares_state():
                self._tail.set_updater_state(network.updater_state())

    def _checked(self, frozen_till: Natural | None) -> int:
        layers = self.conf.layers
        if frozen_till is None:
            frozen = [index for index, layer in enumerate(layers) if isinstance(layer, FrozenLayer)]
            if not frozen:
                raise nd.ConfigurationError(
                    "TransferLearningHelper: a layer must be frozen, got none. Pass frozen_till, or a network made "
                    "with TransferLearning(net, feature_extractor=...)."
                )
            return frozen[-1]
        if not 0 <= frozen_till < len(layers) - 1:
            raise nd.ConfigurationError(
                f"TransferLearningHelper: frozen_till must be 0..{len(layers) - 2}, got {frozen_till!r}."
            )
        return frozen_till

    def _part(self, start: int, stop: int) -> Any:
        """Return the configuration of some of the layers."""
        conf, types = self.conf, self.conf.layer_types()
        border_type = conf.input_type if start == 0 or types is None else types[start - 1][1]
        return replace(
            conf,
            layers=conf.layers[start:stop],
            preprocessors={i - start: conf.preprocessors[i] for i in conf.preprocessors if start <= i < stop},
            input_type=border_type,
            iteration_count=self.network.iteration_count,
            epoch_count=self.network.epoch_count,
        )

    def _shares_state(self) -> bool:
        return tuple(self._tail.updater_state().shape) == tuple(self.network.updater_state().shape)

    def unfrozen_mln(self) -> MultiLayerNetwork:
        """Return the layers above the border as a network of their own; it takes listeners."""
        return self._tail

    @checked
    def featurize(self, data: DataSet | Iterable[DataSet]) -> Any:
        """Return data whose features are the border's activations, outside of training.

        Parameters
        ----------
        data : DataSet, or DataSetIterator or other iterable of them

        Returns
        -------
        DataSet, or ListDataSetIterator over as many minibatches
            Its features lie on the host, with the mask that reaches the border, None if none does. Labels and their
            mask stay.

        Raises
        ------
        DataError
            The iterator is empty.
        """
        if isinstance(data, DataSet):
            features, mask = self._features(data)
            return DataSet(features, data.labels, mask, data.labels_mask)
        if not isinstance(data, Iterable) or hasattr(data, "shape"):
            raise nd.DTypeError(f"featurize: expected a DataSet or an iterator of them, got {data!r}.")
        batches = [self.featurize(batch) for batch in data]
        if not batches:
            raise nd.DataError("featurize: the iterator must have at least one minibatch, got none.")
        return ListDataSetIterator(batches)

    def _features(self, data: DataSet) -> tuple[Array, Array | None]:
        net = self._frozen
        with net.on_backend():
            if data.features_mask is None:
                return nd.to_host(net.output(data.features)), None
            (mask,) = net.masks_of_outputs(data)
            batch = net.batch.another(nd.fresh_buffers(net.dtype))
            batch.set_features((data.features,))
            batch.set_masks((data.features_mask,), ())
            batch.check_features()
            result = net.forward(batch.features, False, batch.features_masks)
            return nd.to_host(nd.copy(result.outputs[-1])), mask

    @checked
    def fit_featurized(self, data: DataSet | DataSetIterator | Iterable[DataSet], epochs: Natural = 1) -> History:
        """Train the layers above the border, and hand their parameters to the network.

        Parameters, errors and the return value as in `MultiLayerNetwork.fit`; the data are from `featurize`.
        """
        network, tail = self.network, self._tail
        try:
            return tail.fit(data, epochs=epochs)
        finally:
            with network.on_backend():
                nd.assign(network.params()[:, self._split :], tail.params())
                if self._shares_state():
                    network.set_updater_state(tail.updater_state())
            network.iteration_count, network.epoch_count = tail.iteration_count, tail.epoch_count
            network.last, network.history, network.class_names = tail.last, tail.history, tail.class_names

    def output_from_featurized(self, features: Any) -> Array:
        """Return the network's output for features ``[N, ...]`` from `featurize`."""
        return self._tail.output(features)
