"""What a network answers beside training: is it made, can it be saved, the last gradient, a loop of one's own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, InputType, LayerConf, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.layers import ActivationLayer
from optimize import CollectScoresListener

RNG = np.random.default_rng(3)
X = RNG.normal(size=(12, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 12)]
BATCHES = [DataSet(X[:6], Y[:6]), DataSet(X[6:], Y[6:])]


def network(*layers):
    return MultiLayerNetwork(
        NeuralNetConfiguration(seed=1, updater="adam").list(
            *layers, OutputLayer(n_out=3, activation="softmax"), input_type=InputType.feed_forward(4)
        )
    )


def test_it_has_parameters_after_init():
    net = network()
    assert not net.is_init_called()
    for ask in (lambda: net.layers, lambda: net.backend, net.params, net.get_labels, net.get_optimizer, net.clear):
        with pytest.raises(
            nd.ConfigurationError, match=r"MultiLayerNetwork: init\(\) must come first. Call net.init\(\)"
        ):
            ask()
    assert net.init().is_init_called()


def test_gradient_and_score_are_those_of_the_last_minibatch():
    net = network().init()
    result = net.compute_gradient_and_score(net.step_input(X, Y))
    gradient, score = net.gradient_and_score()
    assert score == net.score() == result.score
    np.testing.assert_array_equal(gradient.gradient(), net.flattened_gradients())


def test_the_types_of_the_inputs():
    chain = network().conf
    assert chain.network_input_types() == (InputType.feed_forward(4),)
    graph = network().init().to_computation_graph().conf
    assert graph.network_input_types() == (InputType.feed_forward(4),)


@dataclass(frozen=True, kw_only=True)
class Own(ActivationLayer):
    runtime: ClassVar = ActivationLayer.runtime


def test_what_cannot_be_saved_says_so_before_it_is_trained():
    assert issubclass(Own, LayerConf)
    network(DenseLayer(n_out=5)).init().check_saveable()
    net = network(DenseLayer(n_out=5), Own(activation="tanh")).init()
    with pytest.raises(nd.ConfigurationError, match="Own") as told:
        net.check_saveable()
    with pytest.raises(nd.ConfigurationError, match="Own") as saved:
        net.save("never-written.zip")
    assert str(told.value) == str(saved.value)


def test_a_loop_of_ones_own_is_fit_with_its_history():
    own, fitted, scores = network().init(), network().init(), CollectScoresListener()
    own.set_listeners(scores)
    loop = own.own_loop(BATCHES)
    for _ in range(3):
        for batch in BATCHES:
            loop.fit_batch(batch)
        loop.end_epoch()
        own.end_epoch()
    history = fitted.fit(BATCHES, epochs=3)
    assert own.history.to_dict() == history.to_dict()
    assert (own.epoch_count, len(scores.scores)) == (3, 6)
    np.testing.assert_array_equal(own.params(), fitted.params())
