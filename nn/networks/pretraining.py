"""Pretraining: layers that learn from their input alone, one after the other."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import nd
from nd.dataset import DataSet
from nd.dataset.examples import Examples
from nd.dataset.iterator import DataSetIterator, MinibatchIterator, WrappingIterator, iterator_over
from nd.intake import is_holder
from nd.state import Restoring
from nd.typing import Array
from optimize import OptimizerState
from optimize.step import StepResult

from ..layers.pretraining.base import is_pretrained, unsupervised
from .history import History
from .intake import feature_batches, features_in, unmasked_inputs_of
from .multilayer import MultiLayerNetwork
from .progress import second_call

if TYPE_CHECKING:
    from .network import Network
    from .training import Training

_LOG = logging.getLogger(__name__)


class LayerLearner(MultiLayerNetwork):
    """One layer of a network as a network of its own, which reconstructs its input: in the network's own parameters.

    It has an updater, a state of it and counters of its own, which stay from one call to the next. Listeners are handed
    this network, as Java's are handed the layer; what they save is the whole network.
    """

    def __init__(self, network: Network, number: int) -> None:
        node, base = network.conf.nodes[number], network.conf.base
        layer, before = node.conf, node.inputs[0].node
        ascends = layer.ascends_since_1 and not base.pretrain
        source = network.conf.nodes[before].conf if before >= 0 and node.preprocessor is None else None
        super().__init__(
            replace(base, pretrain=False, backprop=True).list(unsupervised(layer, node.label, ascends, source))
        )
        self.network, self.number = network, number
        start, stop = network.conf.layout().place_of(number)
        engine, memory = network.engine, network.engine.vectors.params[:, start:stop]
        self.random = network.random
        self.engine.lock = engine.lock
        with Restoring(), engine.on_backend():
            self.engine.make(self.conf, memory, self.random, memory)

    def _begin_fit(self, call: Training) -> None:
        fits = self.network.engine.progress
        with self.lock:
            if fits.call is not None or fits.of_layer is not None:
                raise second_call("pretrain_layer")
            super()._begin_fit(call)
            fits.of_layer = call

    def _end_fit(self, call: Training) -> None:
        super()._end_fit(call)
        fits = self.network.engine.progress
        if fits.of_layer is call:
            fits.of_layer = None

    def save(self, *arguments: Any, **named: Any) -> None:
        """Save the whole network, see `Network.save`."""
        self.network.save(*arguments, **named)

    def save_checkpoint(self, *arguments: Any, **named: Any) -> None:
        """Save the whole network, see `Network.save_checkpoint`."""
        self.network.save_checkpoint(*arguments, **named)

    def check_saveable(self) -> None:
        """Raise what `save` of the whole network would, see `Network.check_saveable`."""
        self.network.check_saveable()

    def do_evaluation(self, *arguments: Any, **named: Any) -> Any:  # type: ignore[override]
        """Evaluate the whole network, see `Network.do_evaluation`."""
        return self.network.do_evaluation(*arguments, **named)

    def training_state(self) -> dict[str, Any]:
        """Return what a copy of the network needs to go on pretraining, on the host: parameters are the network's."""
        engine = self.engine
        with Restoring(), engine.on_backend():
            self.updater.guard.settle(self)
            learned = OptimizerState() if engine.solver is None else engine.solver.optimizer.get_state()
            return {
                "counts": (self.iteration_count, self.epoch_count),
                "learned": learned._replace(vectors=tuple(map(nd.to_host, learned.vectors))),
                "progress": (engine.progress.awaited, engine.progress.now()),
                "updater_state": nd.to_host(nd.copy(self.updater_state())),
            }

    def set_training_state(self, kept: dict[str, Any]) -> None:
        """Go on from what another network's `training_state` returned."""
        self.iteration_count, self.epoch_count = kept["counts"]
        progress = self.engine.progress
        progress.awaited, progress.last = kept["progress"]
        self.set_updater_state(kept["updater_state"])
        learned = kept["learned"]
        if learned.numbers or learned.vectors:
            vectors = tuple(nd.as_array(vector, self.dtype) for vector in learned.vectors)
            self.get_optimizer().set_state(learned._replace(vectors=vectors))

    def batch_for(self, data: Any) -> DataSet:
        """Return a minibatch of the network's as one of the layer's: what comes into it, outside of training."""
        x = self._arriving(data)
        return DataSet(x, x)

    def _arriving(self, data: Any) -> Array:
        network, engine = self.network, self.network.engine
        node = engine.shared_nodes.nodes[self.number]
        features = unmasked_inputs_of(network, "pretrain", (features_alone(data, len(network.conf.input_names)),))
        with engine.lock, Restoring(), engine.on_backend(), nd.random.drawing(network.random):
            batch = engine.batch.another(nd.fresh_buffers(network.dtype))
            batch.set_features(features)
            batch.check_features()
            passed = engine.forward(
                (network.iteration_count, network.epoch_count), batch.features, False, stop=self.number
            )
            x, _, examples = passed.arrivals[node.inputs[0]]
            if node.preprocessor is not None:
                x = node.preprocessor.pre_process(x, examples, nd.fresh_buffers(network.dtype))
            return nd.copy(x)


def features_alone(data: Any, inputs: int) -> Any:
    """Return the features of a minibatch for so many inputs: labels and masks have no part in pretraining."""
    if not isinstance(data, Examples):
        labelled = isinstance(data, tuple) and bool(data) and (inputs == 1 or not is_holder(data[0]))  # else features
        return data[0] if labelled else data
    features = list(data.multi.features)
    return features[0] if len(features) == 1 else features


class LayerInputs(WrappingIterator[DataSet], DataSetIterator):
    """Hand out what comes into a layer, for every minibatch of another iterator.

    Parameters
    ----------
    base : iterator
        Over minibatches of the network.
    learner : LayerLearner
    """

    def __init__(self, base: MinibatchIterator[Any], learner: LayerLearner) -> None:
        self.base, self._learner = base, learner

    def handed_on(self, minibatch: Any) -> DataSet:
        return self._learner.batch_for(minibatch)

    def async_supported(self) -> bool:
        return False  # the network computes them


def before_labels(network: Network, data: Any) -> bool:
    """Pretrain where the configuration says so; return whether `fit` has to train on labels, and say if not."""
    base, awaited = network.conf.base, network.engine.progress.awaited
    if base.pretrain and (awaited is None or not awaited.fitting):
        pretrain(network, data, 1)
    if not base.backprop:
        _LOG.warning("fit: finetune is not applied, as the configuration says backprop=False.")
    return base.backprop


def pretrain(network: Network, data: Any, epochs: int) -> dict[str, History]:
    """Train all layers that can be pretrained, one after the other; a checkpoint's call goes on where it was."""
    first, histories = network.engine.pretraining or 0, {}
    names = [node.name for node in network.conf.nodes]
    if isinstance(network, MultiLayerNetwork):
        names = network.layer_names
    try:
        for number in pretrained_layers(network):
            if number >= first:
                network.engine.pretraining = number
                histories[names[number]] = pretrain_layer(network, number, data, epochs)
    finally:
        network.engine.pretraining = None  # also after an error: the next call begins with the first layer
    return histories


def pretrained_layers(network: Network) -> Iterator[int]:
    """Yield the numbers of the layers that can be pretrained."""
    for number, node in enumerate(network.conf.nodes):
        if is_pretrained(node.conf):
            yield number


def pretrain_layer(network: Network, number: int, data: Any, epochs: int) -> History:
    """Train one layer on what comes into it."""
    learner = learner_of(network, number)
    if learner.conf.layers[0].ascends and not learner.iteration_count:  # type: ignore[attr-defined]
        _LOG.warning(
            "%s: pretraining goes away from the input, as in Deeplearning4j 1.0, which lost a minus sign. For 0.9.1's "
            "way, towards it, say pretrain=True in the configuration.",
            network.conf.nodes[number].label,
        )
    learner.set_listeners(*network.listeners)
    batches = feature_batches(data)
    if batches is None:
        given: Any = learner.batch_for(data)
    elif isinstance(data, MinibatchIterator):
        given = LayerInputs(data, learner)
    else:
        given = iterator_over(data, convert=lambda item: learner.batch_for(features_in(item)))
    try:
        return learner.fit(given, epochs=epochs)
    finally:
        if learner.engine.last is not None:
            score = learner.score()
            network.engine.last = StepResult(score, 0.0, 0, network.engine.vectors.gradients, known_score=score)


def learner_of(network: Network, number: int) -> LayerLearner:
    """Return the network of one layer, the same one for every call."""
    learners = network.engine.learners
    with network.lock:  # two threads whose first call this is have one, too
        if number not in learners:
            learners[number] = LayerLearner(network, number)
        return learners[number]
