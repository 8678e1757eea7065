"""Losses and updaters of what was compiled, and what stands in where nothing was."""

import numpy as np
import pytest

import nd
from nd.activations import Identity, Softmax
from nd.dataset import DataSet
from nn import CnnLossLayer, LossLayer, OutputLayer, RnnOutputLayer
from nn.keras.into.recognition import network_of
from optimize import Adam, Sgd
from tests.keras_models import call, functional, layer, sequential

RNG = np.random.default_rng(13)


def dense(n_in, units, activation="linear", name=None):
    weights = {"kernel": RNG.normal(size=(n_in, units)), "bias": RNG.normal(size=units)}
    return layer("Dense", {"units": units, "activation": activation}, name, **weights)


def last(model):
    return network_of(model).conf.layers[-1]


@pytest.mark.parametrize(
    ("activation", "loss"), [("softmax", "LossMCXENT"), ("sigmoid", "LossBinaryXENT"), ("linear", "LossMSE")]
)
def test_a_model_that_was_not_compiled_has_the_loss_of_its_activation(activation, loss):
    conf = last(sequential((4,), dense(4, 3, activation)))
    assert isinstance(conf, OutputLayer)
    assert type(conf.loss).__name__ == loss
    behind = last(sequential((4,), dense(4, 3), layer("Activation", {"activation": activation})))
    assert isinstance(behind, LossLayer)
    assert type(behind.loss).__name__ == loss


def test_series_and_images_have_layers_with_a_loss_of_their_own():
    conf = last(sequential((6, 4), dense(4, 3, "softmax")))
    assert isinstance(conf, RnnOutputLayer)
    assert conf.data_format == "NWC"
    net = network_of(sequential((3, 3, 4), dense(4, 3, "softmax")))
    assert isinstance(net.conf.layers[-1], CnnLossLayer)
    assert isinstance(net.conf.layers[-1].activation, Softmax)
    assert isinstance(net.conf.layers[0].activation, Identity)


def test_the_updater_and_the_default_of_one_that_there_is_none_of():
    adam = {"class_name": "Adam", "config": {"learning_rate": 0.003, "beta_1": 0.8}}
    made = dense(4, 3)
    assert last(sequential((4,), made, training={"loss": "mse", "optimizer": adam})).updater == Adam(
        0.003, 0.8, 0.999, 1e-7
    )
    assert isinstance(last(sequential((4,), made)).updater, Sgd)


def of_two(training):
    return functional(
        {"x": (4,)},
        call(dense(4, 3, "softmax", "a"), "x"),
        call(dense(4, 2, "tanh", "b"), "x"),
        outputs=("a", "b"),
        training=training,
    )


@pytest.mark.parametrize(
    ("loss", "weights"),
    [
        ({"a": "categorical_crossentropy", "b": "mae"}, {"a": 0.5, "b": 2.0}),
        (["categorical_crossentropy", "mae"], [0.5, 2.0]),
    ],
)
def test_losses_of_several_outputs_by_name_and_by_number(loss, weights):
    net = network_of(of_two({"loss": loss, "loss_weights": weights, "optimizer": "sgd"}))
    x, labels = RNG.normal(size=(5, 4)), (np.eye(3)[RNG.integers(0, 3, 5)], RNG.normal(size=(5, 2)))
    p, q = map(nd.to_host, net.output(x))
    expected = 0.5 * -(labels[0] * np.log(p)).sum(1).mean() + 2.0 * np.abs(labels[1] - q).mean()
    net.fit([x], list(labels))
    assert net.score() == pytest.approx(expected, rel=1e-9)


def test_one_loss_for_all_outputs():
    net = network_of(of_two({"loss": "mse", "optimizer": "sgd"}))
    names = {name: type(net.conf.vertices[name].loss).__name__ for name in ("a", "b")}
    assert names == {"a": "LossMSE", "b": "LossMSE"}


@pytest.mark.parametrize("activation", ["softmax", "sigmoid"])
def test_the_score_and_the_step_of_series_are_means_over_steps_too(activation):
    loss = "categorical_crossentropy" if activation == "softmax" else "binary_crossentropy"
    made = dense(4, 3, activation)
    rate = 0.05
    optimizer = {"class_name": "SGD", "config": {"learning_rate": rate}}
    net = network_of(sequential((6, 4), made, training={"loss": loss, "optimizer": optimizer}))
    x, y = RNG.normal(size=(5, 6, 4)), np.eye(3)[RNG.integers(0, 3, (5, 6))]
    kernel, bias = (weight.read() for weight in made.weights)

    def score(kernel):
        z = x @ kernel + bias
        p = np.exp(z) / np.exp(z).sum(-1, keepdims=True) if activation == "softmax" else 1 / (1 + np.exp(-z))
        if activation == "softmax":
            return -(y * np.log(p)).sum(-1).mean()
        return -(y * np.log(p) + (1 - y) * np.log(1 - p)).mean()

    net.fit(DataSet(x, y))
    assert net.score() == pytest.approx(score(kernel), rel=1e-9)
    moved = np.zeros_like(kernel)
    moved[1, 2] = 1e-6
    slope = (score(kernel + moved) - score(kernel - moved)) / 2e-6
    assert nd.to_host(net.get_param("0_W"))[1, 2] == pytest.approx(kernel[1, 2] - rate * slope, rel=1e-7)


def test_a_loss_that_does_not_go_with_its_activation_is_taken_as_the_file_has_it():
    conf = last(
        sequential((4,), dense(4, 1, "relu"), training={"loss": "categorical_crossentropy", "optimizer": "sgd"})
    )
    assert type(conf.loss).__name__ == "KerasLoss"
