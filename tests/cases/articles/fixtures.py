"""Networks and data that the items of the articles share."""

import re

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, DigitsDataSetIterator, ListDataSetIterator
from nn import (
    Activation,
    ConvolutionLayer,
    DenseLayer,
    InputType,
    LossFunction,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SubsamplingLayer,
    WeightInit,
)
from optimize import Listener, Sgd

X1 = np.linspace(0.0, 1.0, 4)[:, None]
Y1 = 0.5 * X1 + 0.1
"""A line, for the network of article 0."""
X, Y = np.array([[0.5, -1.0, 0.25], [1.0, 0.5, -0.5]]), np.array([[1.0], [-1.0]])
"""Two examples, for the network of article 1."""
CAFFE_TEXT = """
name: "small"
layer { name: "data" type: "Input" top: "x" top: "y"
  input_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 1 } } }
layer { name: "ip1" type: "InnerProduct" bottom: "x" top: "z" param { lr_mult: 1 } param { lr_mult: 2 }
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } bias_filler { value: 0.1 } } }
layer { name: "tanh" type: "TanH" bottom: "z" top: "a" }
layer { name: "ip2" type: "InnerProduct" bottom: "a" top: "out"
  inner_product_param { num_output: 1 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "out" bottom: "y" top: "loss" }
"""
"""A net of Caffe's for the same examples: 3 - 4 - 1."""


def builder(**calls):
    """The article's Builder up to list(), and further calls by name."""
    made = NeuralNetConfiguration.Builder().seed(12345).learningRate(0.01).weightInit(WeightInit.XAVIER)
    for name, value in calls.items():
        made = getattr(made, name)(value)
    return made


def small(loss=LossFunction.MSE, retain=1.0, **calls):
    """The network of article 0: 1 - 2 - 1."""
    hidden = DenseLayer.Builder().nIn(1).nOut(2).activation(Activation.RELU).dropOut(retain).build()
    last = OutputLayer.Builder(loss).activation(Activation.IDENTITY).nIn(2).nOut(1).build()
    return MultiLayerNetwork(builder(**calls).list().layer(0, hidden).layer(1, last).build()).init()


def two_layers(*, loss="mse", hidden=None, n_out=1, output="identity", **settings):
    """The network of article 1: 3 - 2 - 1, in double precision."""
    conf = NeuralNetConfiguration(**{"seed": 12345, "updater": Sgd(0.1), "dtype": "float64", **settings})
    hidden = hidden or DenseLayer(n_in=3, n_out=2, activation="tanh")
    return MultiLayerNetwork(conf.list(hidden, OutputLayer(n_out=n_out, loss=loss, activation=output))).init()


def by_hand(net, x=X, y=Y):
    """The arrays of article 1's step: gradients by key, epsilons "epsilon0" and "x"; "delta1", "a0", "z0", "z1"."""
    W0, b0, W1, b1 = (host(net.get_param(key)) for key in ("0_W", "0_b", "1_W", "1_b"))
    z0 = x @ W0 + b0
    a0 = np.tanh(z0)
    z1 = a0 @ W1 + b1
    delta1 = 2.0 * (z1 - y)
    epsilon0 = delta1 @ W1.T
    delta0 = epsilon0 * (1.0 - a0**2)
    arrays = {"z0": z0, "a0": a0, "z1": z1, "delta1": delta1, "epsilon0": epsilon0, "x": delta0 @ W0.T}
    of_params = {"1_W": a0.T @ delta1, "1_b": delta1.sum(0), "0_W": x.T @ delta0, "0_b": delta0.sum(0)}
    return arrays | of_params


def computed(net, x=X, y=Y):
    """The same network, after a forward and a backward pass."""
    net.set_input(x)
    net.set_labels(y)
    net.compute_gradient_and_score()
    return net


def lenet(n_out=(3, 4), dense=16, **settings):
    """LeNet of articles 2 and 4, with fewer filters."""
    conf = NeuralNetConfiguration(**{"seed": 123, "updater": Sgd(0.01), **settings})
    made = conf.list(
        ConvolutionLayer(n_out=n_out[0], kernel_size=(5, 5), activation="identity", name="conv1"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2), name="pool1"),
        ConvolutionLayer(n_out=n_out[1], kernel_size=(5, 5), activation="identity", name="conv2"),
        SubsamplingLayer("max", kernel_size=(2, 2), stride=(2, 2), name="pool2"),
        DenseLayer(n_out=dense, activation="relu", name="dense"),
        OutputLayer(n_out=10, loss="negativeloglikelihood", activation="softmax", name="output"),
        input_type=InputType.convolutional_flat(28, 28, 1),
    )
    return MultiLayerNetwork(made).init()


def line(size=4):
    """The line as an iterator."""
    return ListDataSetIterator(DataSet(X1, Y1), size)


def one_filter(**settings):
    """A convolution of 3 by 3 images by one 2 by 2 filter, with a linear output."""
    conf = NeuralNetConfiguration(seed=1, dtype="float64", updater=Sgd(0.1)).list(
        ConvolutionLayer(n_out=1, kernel_size=(2, 2), activation="identity", **settings),
        OutputLayer(n_out=1, loss="mse", activation="identity"),
        input_type=InputType.convolutional(3, 3, 1),
    )
    return MultiLayerNetwork(conf).init()


def digits(count=8):
    return DigitsDataSetIterator(count, train=True, seed=123).next()


class Hears(Listener):
    """Notes what it hears: names in `names`, arguments in `heard`."""

    def __init__(self):
        self.names, self.heard = [], {}

    def _note(self, name, *arguments):
        self.names.append(name)
        self.heard.setdefault(name, []).append(arguments)

    def on_epoch_start(self, model):
        self._note("on_epoch_start", model)

    def on_epoch_end(self, model):
        self._note("on_epoch_end", model)

    def on_forward_pass(self, model, activations):
        self._note("on_forward_pass", model, [tuple(a.shape) for a in activations])

    def on_backward_pass(self, model):
        self._note("on_backward_pass", model)

    def on_gradient_calculation(self, model):
        self._note("on_gradient_calculation", model, host(model.params()).copy())

    def iteration_done(self, model, iteration, epoch):
        self._note("iteration_done", model, iteration, model.iteration_count)


def heard_by(net, *fit, **settings):
    """What a listener hears of a call of fit."""
    listener = Hears()
    net.set_listeners(listener)
    net.fit(*fit, **settings)
    return listener


def caffe():
    """nn.caffe, where its packages are installed."""
    pytest.importorskip("google.protobuf")
    import nn.caffe

    return nn.caffe


def caffe_net(text=CAFFE_TEXT, **settings):
    """Caffe's net of a text, in training and in double precision."""
    return caffe().Net(text, **{"phase": "TRAIN", "dtype": "float64", "seed": 1, **settings})


def host(x):
    return np.array(nd.to_host(x))


def near(a, b, tolerance=1e-6):
    np.testing.assert_allclose(host(a), host(b), rtol=tolerance, atol=tolerance)


def refused(error, text):
    """A block that must end with this error, whose message has this text."""
    return pytest.raises(error, match=re.escape(text))
