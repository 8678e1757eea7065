"""TransferLearningHelper: training on the activations of frozen layers, computed once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import nd
from nd.arguments import Natural, checked, converted, shown
from nd.classes import ExplainedType
from nd.dataset import (
    DataSet,
    DataSetIterator,
    ExistingMultiDataSetIterator,
    ListDataSetIterator,
    MultiDataSet,
    MultiDataSetIterator,
)
from nd.rules import rule_of
from nd.state import Restoring
from nd.typing import Array

from ..networks.graph import ComputationGraph
from ..networks.history import History
from ..networks.multilayer import MultiLayerNetwork
from ..terms.params import ParamView
from .border import border_of_graph, border_of_layers

Data = DataSet | MultiDataSet
_TILL: Any = rule_of(Natural | None)


class TransferLearningHelper(metaclass=ExplainedType):
    """Trains the layers above the frozen ones on the frozen ones' activations.

    Parameters
    ----------
    network : MultiLayerNetwork or ComputationGraph
        After `init`. Its parameters follow those of the part that this helper trains.
    frozen_till : int or str, optional
        The last layer that is not trained, by default the highest `FrozenLayer`; of a graph the name of a vertex, which
        is not trained, nor is what leads to it, nor what is frozen.
    *more : str
        More vertices.

    Raises
    ------
    ConfigurationError, ChoiceError
        There is no such layer, no frozen one, or none above.

    Notes
    -----
    The part starts from the network's parameters, counts and updater state, and hands them back after training, with
    the score. As in Java, this seeds the network's generator and draws its weights, which are overwritten. The inputs
    of a graph's part are the vertices and inputs that it reads, sorted by name. Source: DL4J
    ``TransferLearningHelper``. Differs: `network` keeps its configuration, where Java freezes its layers; preprocessors
    above the border stay with their layers; masks of features are handed on, where Java refuses them; of several
    inputs Java trains on another order than it featurises.
    """

    @checked
    def __init__(self, network: MultiLayerNetwork | ComputationGraph, frozen_till: Any = None, *more: str) -> None:
        self.network, self.conf = network, network.conf
        if isinstance(network, ComputationGraph):
            kind: Any = ComputationGraph
            border = border_of_graph(network.configuration, () if frozen_till is None else (frozen_till, *more))
        else:
            kind = MultiLayerNetwork
            if more:
                raise nd.ConfigurationError(
                    f"TransferLearningHelper: a MultiLayerNetwork has one last layer that is frozen, got {shown(more)} "
                    "beside it. Leave them out."
                )
            border = border_of_layers(
                network.configuration, converted(type(self).__name__, "frozen_till", _TILL, frozen_till)
            )
            self.frozen_till = border.nodes_below[-1]
        self._border, layout, params = border, self.conf.layout(), network.params()
        with Restoring(), network.engine.on_backend():
            below = [view.flat(params) for number in border.nodes_below for view in layout.of_layer(number)]
            self._frozen = kind(border.below).init(nd.concat(below) if below else nd.zeros(1, 0))
            self._tail = kind(border.above).init()
            network.random.set_state(self._tail.random.get_state())
            self._tail.random = network.random  # both are the one network that is trained
            self._tail.class_names = network.class_names
            nd.random.set_random(network.random)
            of_tail = self._tail.conf.layout()
            self._pairs: list[tuple[ParamView, ParamView]] = [
                pair
                for own, number in enumerate(border.nodes_above)
                for pair in zip(of_tail.of_layer(own), layout.of_layer(number), strict=True)
            ]
            for own, whole in self._pairs:
                _copy(network, whole, self._tail, own)

    def unfrozen_mln(self) -> MultiLayerNetwork:
        """Return the layers above the border as a network of their own; it takes listeners."""
        return self._tail_of(MultiLayerNetwork, "unfrozen_graph")

    def unfrozen_graph(self) -> ComputationGraph:
        """Return the vertices above the border as a graph of their own; it takes listeners."""
        return self._tail_of(ComputationGraph, "unfrozen_mln")

    def _tail_of(self, kind: type, other: str) -> Any:
        if not isinstance(self._tail, kind):
            raise nd.ConfigurationError(
                f"TransferLearningHelper: the network must be a {kind.__name__}, got a {type(self._tail).__name__}. "
                f"Call {other}()."
            )
        return self._tail

    @checked
    def featurize(self, data: Data | Iterable[Data]) -> Any:
        """Return data whose features are the border's activations, outside of training.

        Parameters
        ----------
        data : DataSet or MultiDataSet, or iterator or other iterable of them

        Returns
        -------
        DataSet or MultiDataSet, or an iterator over as many minibatches
            Its features lie on the host, with the masks that reach the border, None where none does. Labels and their
            masks stay. A DataSet where one was given and the part above has one input.

        Raises
        ------
        DataError
            The iterator is empty.
        """
        if isinstance(data, (DataSet, MultiDataSet) if isinstance(self.network, ComputationGraph) else DataSet):
            return self._featurized(data)
        if not isinstance(data, Iterable) or hasattr(data, "shape") or isinstance(data, MultiDataSet):
            raise nd.DTypeError(f"featurize: expected a DataSet or an iterator of them, got {data!r}.")
        batches = [self.featurize(batch) for batch in data]
        if not batches:
            raise nd.DataError("featurize: the iterator must have at least one minibatch, got none.")
        if isinstance(batches[0], MultiDataSet):
            return ExistingMultiDataSetIterator(batches)
        return ListDataSetIterator(batches)

    def _featurized(self, data: Any) -> object:
        parts, border, count = data.multi, self._border, len(self.conf.input_names)
        if len(parts.features) != count:
            raise nd.DataError(f"featurize: expected features of {count} inputs, got {len(parts.features)}.")
        given = parts.features_masks or (None,) * count
        activations = self._activations(
            [parts.features[number] for number in border.inputs_below],
            [given[number] for number in border.inputs_below],
        )
        features, masks = zip(
            *((parts.features[-1 - at], given[-1 - at]) if at < 0 else activations[at] for at in border.sources),
            strict=True,
        )
        if isinstance(data, DataSet) and len(features) == 1:
            same: Any = DataSet(features[0], data.labels, masks[0], data.labels_mask)
        else:
            labels = None if not parts.labels else list(parts.labels)
            masked = any(mask is not None for mask in masks)
            same = MultiDataSet(list(features), labels, list(masks) if masked else None, _listed(parts.labels_masks))
        same.class_names = data.class_names
        return same

    def _activations(self, features: list[object], masks: list[object]) -> list[tuple[Array, Array | None]]:
        """Return the activations at the border, and the masks that reach it, on the host."""
        net = self._frozen
        with Restoring(), net.engine.on_backend():
            if all(mask is None for mask in masks):
                return [(nd.to_host(array), None) for array in net.engine.predicted(features)]
            reached = net.engine.masks_of_outputs(MultiDataSet(features, None, masks))
            batch = net.engine.batch.another(nd.fresh_buffers(net.dtype))
            batch.set_features(features)
            batch.set_masks(masks, ())
            batch.check_features()
            counts = net.iteration_count, net.epoch_count
            result = net.engine.forward(counts, batch.features, False, batch.features_masks)
            arrays = [nd.to_host(nd.copy(result.outputs[number])) for number in net.conf.output_nodes]
            return list(zip(arrays, reached, strict=True))

    @checked
    def fit_featurized(
        self, data: Data | DataSetIterator | MultiDataSetIterator | Iterable[Data], epochs: Natural = 1
    ) -> History:
        """Train the layers above the border, and hand their parameters to the network.

        Parameters, errors and the return value as in the network's `fit`; the data are from `featurize`.
        """
        network, tail = self.network, self._tail
        try:
            return tail.fit(data, epochs=epochs)
        finally:
            with Restoring(), network.engine.on_backend():
                for own, whole in self._pairs:
                    _copy(tail, own, network, whole)
            network.iteration_count, network.epoch_count = tail.iteration_count, tail.epoch_count
            network.history, network.class_names = tail.history, tail.class_names
            network.engine.last = tail.engine.last

    def output_from_featurized(self, *features: object) -> Any:
        """Return the network's output for features ``[N, ...]`` from `featurize`.

        Of a graph, for features of every input of the part above, one by one or as a list, a list of its outputs; for a
        single array the only output.
        """
        single = len(features) == 1 and hasattr(features[0], "shape")
        if isinstance(self._tail, ComputationGraph) and single:
            return self._tail.output_single(*features)
        return self._tail.output(*features)


def _listed(masks: Any) -> list[Any] | None:
    return list(masks) if any(mask is not None for mask in masks or ()) else None


def _copy(
    source: ComputationGraph | MultiLayerNetwork,
    view: ParamView,
    target: ComputationGraph | MultiLayerNetwork,
    to: ParamView,
) -> None:
    """Copy a parameter and the updater's states of it."""
    nd.assign(to.flat(target.params()), view.flat(source.params()))
    theirs = source.updater.states_of(view.start, view.stop), target.updater.states_of(to.start, to.stop)
    for state, place in zip(*theirs, strict=True):
        nd.assign(place, state)
