"""What is recorded and what is run as it is written: parts of the user's own keep their freedom."""

import pathlib
from dataclasses import replace

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from nd.dataset import DataSet
from nd.execution.recording import IDLE, MOST_KEYS
from nd.losses import LOSSES
from nn import (
    ConvolutionLayer,
    DenseLayer,
    GaussianNoise,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    WeightNoise,
)
from nn.layers.core.dense import DenseRuntime
from nn.step.propagation import Propagation
from nn.step.shared_nodes import is_pure
from nn.terms.dropout import Dropout
from nn.terms.preprocessors import CnnToFeedForwardPreProcessor
from optimize import L2Regularization, Listener, NetworkUpdater, Sgd, network_updater
from optimize.chunks import Segment
from optimize.step import negative_gradient_step
from tests.step_plans import recorded, recorded_updates, workers_of
from tests.updates import run_update

RNG = np.random.default_rng(6)
Y = np.eye(3)[RNG.integers(0, 3, 256)]


ROWS = InputType.feed_forward(6)


def network(*layers, shape=ROWS, output=None, preprocessors=None):
    output = output or OutputLayer(n_out=3, loss="mse", activation="identity")
    base = NeuralNetConfiguration(seed=3, dtype="float64", updater=Sgd(0.1))
    conf = base.list(*layers, output, input_type=shape)
    return MultiLayerNetwork(replace(conf, preprocessors={**conf.preprocessors, **(preprocessors or {})})).init()


class MyRuntime(DenseRuntime):
    """A layer at work of the user's own."""


class Mine(DenseLayer):
    """A layer of the user's own."""

    runtime = MyRuntime


class OfTheLibrary(DenseLayer):
    """A configuration of the user's own for a layer of the library's."""


class MyNormal(NormalDistribution):
    """A distribution of the user's own."""


class MyNoise(WeightNoise):
    """A weight noise of the user's own."""


class Alternating(Dropout):
    """Dropout that keeps every other input, these and those in turn, drawing nothing."""

    def mask(self, shape, dtype):
        object.__setattr__(self, "calls", getattr(self, "calls", 0) + 1)
        return nd.full(*shape, value=float(self.calls), dtype=dtype)


class PerBatch(LOSSES["mse"]):
    """Weighs by the largest label of the minibatch."""

    def weigh(self, values):
        return values / float(nd.item(nd.max(nd.absolute(values))))


class Scaling(CnnToFeedForwardPreProcessor):
    """Multiplies by a number that may change."""

    factor = [1.0]

    def pre_process(self, x, examples, buffers):
        return super().pre_process(x, examples, buffers) * self.factor[0]


def test_everything_of_the_library_is_its_own_and_nothing_else():
    assert is_pure(network(DenseLayer(n_out=4, drop_out=0.5)).conf)
    noise = WeightNoise(NormalDistribution())
    assert is_pure(network(DenseLayer(n_out=4, drop_out=GaussianNoise(0.5), weight_noise=noise)).conf)
    assert not is_pure(network(DenseLayer(n_out=4, weight_noise=WeightNoise(MyNormal()))).conf)
    assert not is_pure(network(DenseLayer(n_out=4, weight_noise=MyNoise(NormalDistribution()))).conf)
    assert not is_pure(network(Mine(n_out=4)).conf)
    assert is_pure(network(OfTheLibrary(n_out=4)).conf)
    assert not is_pure(network(DenseLayer(n_out=4, drop_out=Alternating(0.5))).conf)
    assert not is_pure(network(DenseLayer(n_out=4), output=OutputLayer(n_out=3, loss=PerBatch())).conf)
    images = {"shape": InputType.convolutional(5, 5, 2)}
    assert is_pure(network(ConvolutionLayer(n_out=2, kernel_size=2), **images).conf)
    scaled = network(ConvolutionLayer(n_out=2, kernel_size=2), **images, preprocessors={1: Scaling(4, 4, 2)})
    assert not is_pure(scaled.conf)


def test_a_dropout_of_ones_own_is_asked_every_time():
    dropout = Alternating(0.5)
    net = network(DenseLayer(n_out=4, drop_out=dropout))
    for _ in range(4):
        net.fit_batch(DataSet(RNG.normal(size=(8, 6)), Y[:8]))
    assert dropout.calls == 4


def test_a_preprocessor_of_ones_own_may_change_its_mind():
    layers, shape = ConvolutionLayer(n_out=2, kernel_size=2), InputType.convolutional(5, 5, 2)
    net = network(layers, shape=shape, preprocessors={1: Scaling(4, 4, 2)})
    x = RNG.normal(size=(4, 2, 5, 5))
    first = net.output(x)
    try:
        Scaling.factor[0] = 2.0
        second = net.output(x)
        np.testing.assert_allclose(second, net.feed_forward(x)[-1])
    finally:
        Scaling.factor[0] = 1.0
    assert np.abs(first - second).max() > 1e-3


def test_a_loss_of_ones_own_sees_the_whole_minibatch():
    conv = ConvolutionLayer(n_out=16, kernel_size=3, activation="relu")
    with nd.use_backend(NumpyBackend(threads=2)):
        output = OutputLayer(n_out=3, loss=PerBatch(), activation="identity")
        net = network(conv, output=output, shape=InputType.convolutional(12, 12, 8))
        x = RNG.normal(size=(256, 8, 12, 12))
        labels = Y * np.arange(1, 257)[:, None]
        own = network(conv, shape=InputType.convolutional(12, 12, 8))
        assert len(workers_of(own, x.shape)) == 2  # what would have been split
        net.set_input(x)
        net.set_labels(labels)
        net.compute_gradient_and_score()
        assert net.score() == pytest.approx(net.score(DataSet(x, labels)), rel=1e-9)


class Doubling(L2Regularization):
    """Its gradient is twice what it was the time before."""

    factor = 0.5

    def apply(self, params, gradient, scratch, coefficient):
        object.__setattr__(self, "factor", 2 * self.factor)
        nd.addi(gradient, self.factor)


def test_a_penalty_of_ones_own_is_asked_every_time():
    params, gradient = nd.zeros(1, 3), nd.zeros(1, 3)
    updater = NetworkUpdater([Segment(0, 3, Sgd(1.0), (Doubling(1.0),))], params, gradient)
    for iteration, expected in enumerate((-1.0, -3.0, -7.0)):
        nd.fill(gradient, 0.0)
        run_update(updater, 1, iteration, 0, negative_gradient_step)
        np.testing.assert_array_equal(nd.to_host(params), np.full((1, 3), expected, np.float32))


def test_many_shapes_in_turn_are_not_recorded_again_and_again(monkeypatch):
    net = network(DenseLayer(n_out=4))
    made = []
    record = nd.record
    monkeypatch.setattr("nd.execution.recording.record", lambda run: made.append(1) or record(run))
    for _ in range(5):
        for n in range(1, MOST_KEYS + 4):
            net.output(RNG.normal(size=(n, 6)))
    assert len(made) == MOST_KEYS
    for _ in range(IDLE + 2):
        net.output(RNG.normal(size=(50, 6)))  # the others no longer come
    assert len(made) == MOST_KEYS + 1


class Held(Listener):
    """Looks at a gradient vector that it was given before."""

    def __init__(self):
        self.vector, self.seen = None, []

    def on_gradient_calculation(self, model):
        self.seen.append(np.array(self.vector))


@pytest.mark.parametrize("threads", [1, 2])
def test_a_gradient_vector_that_is_held_is_the_whole_gradient(threads):
    shape = InputType.convolutional(12, 12, 8)
    data = DataSet(RNG.normal(size=(256, 8, 12, 12)), Y)
    with nd.use_backend(NumpyBackend(threads=threads)):
        net = network(ConvolutionLayer(n_out=16, kernel_size=3, activation="relu"), shape=shape)
        assert len(workers_of(net, data.features.shape)) == threads
        net.set_input(data.features)
        net.set_labels(data.labels)
        net.compute_gradient_and_score()
        listener = Held()
        listener.vector = net.flattened_gradients()
        expected = np.array(listener.vector)
        net.set_listeners(listener)
        net.fit_batch(data)
    np.testing.assert_allclose(listener.seen[0], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("threads", [1, 2])
def test_rows_that_are_too_many_or_too_wide_are_refused_as_they_were_given(threads):
    shape = InputType.convolutional(12, 12, 8)
    x = RNG.normal(size=(256, 8, 12, 12))
    with nd.use_backend(NumpyBackend(threads=threads)):
        net = network(ConvolutionLayer(n_out=16, kernel_size=3), shape=shape)
        net.set_input(x)
        net.set_labels(np.zeros((300, 3)))
        with pytest.raises(nd.ShapeError, match=r"labels: expected \[256, \.\.\.\] for 256 examples, got \[300, 3\]"):
            net.compute_gradient_and_score()
        net.set_labels(Y)
        net.set_masks(None, np.ones((300, 1)))
        with pytest.raises(nd.ShapeError, match=r"labels' mask: expected \[256, \.\.\.\] for 256 examples, got"):
            net.compute_gradient_and_score()
        net.set_masks(None, None)
        net.set_labels(np.zeros((256, 4)))
        with pytest.raises(nd.ShapeError, match=r"layer 1 \(OutputLayer\).*got \[256, 4\]\. The output is \[256, 3\]"):
            net.compute_gradient_and_score()
        with pytest.raises(nd.ShapeError, match=r"got \[256, 7, 12, 12\]"):
            net.output(x[:, :7])


def test_lenet_runs_from_its_records(monkeypatch):
    monkeypatch.syspath_prepend(str(pathlib.Path(__file__).parent.parent.parent.parent / "examples"))
    from lenet_mnist import lenet

    x, y = RNG.random((64, 784), np.float32), np.eye(10, dtype=np.float32)[RNG.integers(0, 10, 64)]
    with nd.use_backend(NumpyBackend(threads=2)):
        net = MultiLayerNetwork(lenet(1)).init()
        net.fit_batch(DataSet(x, y))
        net.output(x)
        assert recorded(net.engine.gradients) == [1, 1]
        assert recorded(net.engine.outputs) == [1, 1]
        assert recorded_updates(net.updater) == [1, 1]
        monkeypatch.setattr(Propagation, "forward", lambda *_, **__: pytest.fail("computed layer by layer"))
        monkeypatch.setattr(network_updater, "update_chunk", lambda *_: pytest.fail("updated chunk by chunk"))
        net.fit_batch(DataSet(x, y))
        net.output(x)
