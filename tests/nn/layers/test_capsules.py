"""Capsules: routing beyond the rows, shapes, configuration, a network that learns."""

import json

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import (
    CapsuleLayer,
    CapsuleStrengthLayer,
    ConvolutionLayer,
    InputType,
    LossLayer,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    NormalDistribution,
    OutputLayer,
    PrimaryCapsules,
)
from nn.layers.capsules.capsules import squash, squash_backward
from optimize import Adam
from tests.cases.layers.capsules import _squashed
from tests.cells import every_row
from tests.layers_at_work import backprop, forward
from tests.nn.layers.test_every_layer import check_derivative
from tests.stand_ins import TOLERANCE

RNG = np.random.default_rng(31)
IMAGES = InputType.convolutional(9, 7, 2)


def make_network(*layers, input_type=IMAGES, **settings):
    conf = NeuralNetConfiguration(**{"seed": 4, "dtype": "float64", **settings})
    return MultiLayerNetwork(conf.list(*layers, input_type=input_type)).init()


def capsule_network(**settings):
    return make_network(
        ConvolutionLayer(n_out=4, kernel_size=3, activation="relu"),
        PrimaryCapsules(capsule_dimensions=4, channels=3, kernel_size=3, stride=2),
        CapsuleLayer(capsules=2, capsule_dimensions=5),
        CapsuleStrengthLayer(),
        LossLayer(loss="mse", activation="identity"),
        **settings,
    )


# ---- squash


@pytest.mark.parametrize("scale", [0.0, 1e-4, 1.0, 30.0])
def test_squash_and_its_gradient(scale, backend):
    values, weights = scale * RNG.normal(size=(3, 4, 2)), RNG.normal(size=(3, 4, 2))
    s, epsilon = nd.create(values, "float64"), nd.create(weights, "float64")
    found = nd.to_host(squash(s, 2, nd.zeros(3, 4, 2, dtype="float64")))
    expected = [[_squashed(capsule) for capsule in each] for each in values]
    np.testing.assert_allclose(found, expected, **TOLERANCE["float64"])
    gradient = squash_backward(s, epsilon, 2, nd.zeros(3, 4, 2, dtype="float64"))
    if not scale:
        assert not nd.to_host(gradient).any()
        return

    def weighted():
        host = nd.to_host(s)
        return sum(_squashed(host[n, i]) @ weights[n, i] for n, i in np.ndindex(3, 4)) / scale

    gradient = gradient / scale
    if scale == 1e-4:  # differences of 1e-5 are as large as the values: as q / sqrt(1e-5), exactly
        q = (values**2).sum(2, keepdims=True)
        plain = (q * weights + 2.0 * values * (values * weights).sum(2, keepdims=True)) / np.sqrt(1e-5) / scale
        np.testing.assert_allclose(nd.to_host(gradient), plain, rtol=1e-2)
    else:
        check_derivative(weighted, s, gradient, 8)


# ---- the whole


@pytest.mark.numpy_first
def test_gradients_through_a_network_of_capsules(backend):
    net = capsule_network()
    x, y = RNG.normal(size=(2, 2, 9, 7)), RNG.uniform(size=(2, 2))
    net.set_input(x)
    net.set_labels(y)

    def summed_loss():
        net.compute_gradient_and_score()
        return net.score() * 2

    summed_loss()
    gradients = {key: nd.copy(g) for key, g in net.gradient().gradient_for_variable().items()}
    assert list(gradients) == ["0_b", "0_W", "1_W", "1_b", "2_W"]
    for key, gradient in gradients.items():
        check_derivative(summed_loss, net.get_param(key), gradient, 3)


def test_routing_prefers_those_who_agree():
    """Two capsules below that predict the same outvote one that predicts the opposite, the more, the longer."""
    lengths = []
    for routings in (1, 3, 6):
        net = make_network(
            CapsuleLayer(capsules=2, capsule_dimensions=2, routings=routings), input_type=InputType.recurrent(3, 2)
        )
        W = np.zeros((1, 3, 4, 2, 1))
        W[0, :, :2, :, 0] = np.eye(2)
        W[0, :, 2:, :, 0] = 0.1 * np.eye(2)
        nd.assign(net.get_param("0_W"), nd.create(W, "float64"))
        out = nd.to_host(net.output([[[1.0, 0.0], [1.0, 0.0], [-1.0, 0.0]]]))
        assert not out[..., 1].any()
        lengths.append(out[0, 0, 0])
    assert 0.0 < lengths[0] < lengths[1] < lengths[2]


def test_a_network_learns_where_the_line_is():
    """Horizontal or vertical bars in noise."""
    labels = RNG.integers(0, 2, 96)
    x = 0.2 * RNG.normal(size=(96, 1, 8, 8))
    for image, label, at in zip(x[:, 0], labels, RNG.integers(0, 8, 96), strict=True):
        image[(slice(None), at) if label else (at, slice(None))] += 1.0
    net = make_network(
        PrimaryCapsules(capsule_dimensions=4, channels=4, kernel_size=4, stride=2, use_relu=True),
        CapsuleLayer(capsules=2, capsule_dimensions=4),
        CapsuleStrengthLayer(),
        LossLayer(loss="mse", activation="identity"),
        input_type=InputType.convolutional(8, 8, 1),
        updater=Adam(0.02),
        dtype="float32",
    )
    data = DataSet(x[:64], np.eye(2)[labels[:64]])
    before = net.score(data)
    net.fit(data, epochs=60)
    assert net.score(data) < 0.2 * before
    assert net.evaluate(DataSet(x[64:], np.eye(2)[labels[64:]])).accuracy() > 0.9


# ---- configuration


def test_shapes_and_sizes_that_are_inferred():
    net = capsule_network()
    assert [str(out) for _, out in net.conf.layer_types()] == [
        "convolutional(7x5x4)", "recurrent(18x4)", "recurrent(2x5)", "feed_forward(2)", "feed_forward(2)",
    ]  # fmt: skip
    primary, capsules = net.conf.layers[1:3]
    assert (primary.input_channels, primary.capsules) == (4, 18)
    assert (capsules.input_capsules, capsules.input_capsule_dimensions) == (18, 4)
    assert primary.param_shapes() == {"W": (3, 3, 4, 12), "b": (12,)}
    fans = {spec.name: (spec.fan_in, spec.fan_out) for spec in primary.param_specs()}
    assert fans["W"] == (4 * 9, 12 * 9 / 4)
    assert [(spec.fan_in, spec.fan_out) for spec in capsules.param_specs()] == [(18 * 4, 2 * 5)]


def test_without_an_input_type_sizes_are_given():
    conf = NeuralNetConfiguration(seed=1).list(
        ConvolutionLayer(n_in=2, n_out=4, kernel_size=3),
        PrimaryCapsules(capsule_dimensions=4, channels=3, kernel_size=3, stride=2),
        CapsuleLayer(capsules=2, capsule_dimensions=5, input_capsules=18, input_capsule_dimensions=4),
        CapsuleStrengthLayer(),
        LossLayer(loss="mse", activation="identity"),
    )
    assert conf.layers[1].input_channels == 4
    assert tuple(MultiLayerNetwork(conf).init().output(np.ones((3, 2, 9, 7))).shape) == (3, 2)


def test_fields_in_dl4js_json():
    net = capsule_network(l2=0.1)
    primary, capsules, strength = (conf["layer"] for conf in json.loads(net.conf.to_json())["confs"][1:4])
    package = "org.deeplearning4j.nn.conf.layers."
    names = [layer["@class"] for layer in (primary, capsules, strength)]
    assert names == [package + name for name in ("PrimaryCapsules", "CapsuleLayer", "CapsuleStrengthLayer")]
    assert (primary["inputChannels"], primary["capsules"], primary["capsuleDimensions"]) == (4, 18, 4)
    assert (primary["kernelSize"], primary["convolutionMode"], primary["useRelu"]) == ([3, 3], "Truncate", False)
    assert (capsules["inputCapsules"], capsules["inputCapsuleDimensions"], capsules["routings"]) == (18, 4, 3)
    assert [layer["weightInit"] for layer in (primary, capsules, strength)] == ["XAVIER", "XAVIER", None]  # as Java
    for layer in (primary, capsules, strength):
        assert layer["paramWeightInit"] is None
        assert layer["updater"]["@class"].endswith("Sgd")
        assert layer["regularization"][0]["l2"]["value"] == 0.1
        assert not {"activationFn", "biasInit", "iupdater", "weightInitFn", "weightNoise"} & set(layer)
    assert MultiLayerConfiguration.from_json(net.conf.to_json()).layers == net.conf.layers


def test_defaults_and_builder_of_dl4j():
    built = PrimaryCapsules.Builder(8, 16).useLeakyReLU(0.1).kernelSize(5, 5).build()
    assert built == PrimaryCapsules(capsule_dimensions=8, channels=16, use_relu=True, leak=0.1, kernel_size=5)
    assert PrimaryCapsules.Builder(8, 16).useReLU().build() == PrimaryCapsules(
        capsule_dimensions=8, channels=16, use_relu=True
    )
    plain = PrimaryCapsules(capsule_dimensions=8)
    assert (plain.kernel_size, plain.stride, plain.channels, plain.has_bias) == ((9, 9), (2, 2), 32, True)
    assert CapsuleLayer.Builder(10, 16, 2).build() == CapsuleLayer(capsules=10, capsule_dimensions=16, routings=2)


def test_networks_defaults_that_are_not_for_capsules():
    net = capsule_network(activation="tanh", bias_init=0.5, drop_out=0.5)
    assert net.conf.layers[2].activation is None
    assert not nd.to_host(net.get_param("1_b")).any()
    net.set_input(np.ones((1, 2, 9, 7)))
    x = nd.create(np.ones((1, 18, 4)), "float64")
    layer = net.get_layer(2)
    np.testing.assert_array_equal(nd.to_host(forward(layer, x, True)[0]), nd.to_host(forward(layer, x, False)[0]))


@every_row(
    ("make", "message"),
    [
        (lambda: CapsuleLayer(capsules=0), "CapsuleLayer: capsules must be an integer >= 1 or None, got 0"),
        (lambda: CapsuleLayer(routings=None), r"CapsuleLayer: routings must be an integer >= 1, got None"),
        (lambda: CapsuleLayer(activation="tanh"), "CapsuleLayer: has no activation, got Tanh"),
        (lambda: PrimaryCapsules(bias_init=1.0), r"PrimaryCapsules: has no bias_init, got 1\.0"),
        (lambda: PrimaryCapsules(leak=-1.0), r"PrimaryCapsules: leak must be a number >= 0, got -1\.0"),
        (lambda: PrimaryCapsules(leak=0.1), r"PrimaryCapsules: leak 0\.1 needs use_relu=True"),
        (
            lambda: make_network(PrimaryCapsules(kernel_size=3)),
            r"layer 0 \(PrimaryCapsules\): capsule_dimensions is missing\. Give",
        ),
        (
            lambda: make_network(CapsuleLayer(capsules=2, capsule_dimensions=2)),
            r"layer 0 \(CapsuleLayer\): expected capsules, got convolutional\(9x7x2\)\. Put a PrimaryCapsules",
        ),
        (
            lambda: make_network(CapsuleStrengthLayer(), input_type=InputType.recurrent(3)),
            r"layer 0 \(CapsuleStrengthLayer\): expected capsules, got recurrent\(3\)",
        ),
        (
            lambda: make_network(
                CapsuleLayer(capsules=2, capsule_dimensions=2, input_capsules=5), input_type=InputType.recurrent(3, 2)
            ),
            r"layer 0 \(CapsuleLayer\): input_capsules must be 3, as the input is, got 5",
        ),
        (
            lambda: NeuralNetConfiguration(seed=1).list(CapsuleLayer(capsules=2, capsule_dimensions=2)),
            r"layer 0 \(CapsuleLayer\): input_capsules is missing\. Give it, or pass input_type",
        ),
        (
            lambda: make_network(
                PrimaryCapsules(capsule_dimensions=2, channels=2, kernel_size=3, dist=NormalDistribution(0, 1)),
                input_type=InputType.convolutional(9, 7, 2),
            ),
            r"layer 0 \(PrimaryCapsules\): weight_init must be the name of a formula, .* got NormalDistribution",
        ),
        (
            lambda: make_network(
                CapsuleLayer(capsules=2, capsule_dimensions=2, weight_init=NormalDistribution(0, 1)),
                input_type=InputType.recurrent(3, 2),
            ),
            r"layer 0 \(CapsuleLayer\): weight_init must be the name of a formula, .* got NormalDistribution",
        ),
        (
            lambda: make_network(
                CapsuleStrengthLayer(weight_init=NormalDistribution(0, 1)), input_type=InputType.recurrent(3, 2)
            ),
            r"layer 0 \(CapsuleStrengthLayer\): weight_init must be the name of a formula",
        ),
    ],
)
def test_settings_that_make_no_sense(make, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


def test_inputs_that_do_not_fit():
    net = make_network(CapsuleLayer(capsules=2, capsule_dimensions=2), input_type=InputType.recurrent(3, 2))
    with pytest.raises(nd.ShapeError, match=r"layer 0 \(CapsuleLayer\): expected input \[N, 3, 2\], got \[1, 2, 3\]"):
        net.output(np.ones((1, 2, 3)))
    with pytest.raises(nd.DTypeError, match=r"layer 0 \(CapsuleLayer\): expected an array, got list"):
        forward(net.get_layer(0), [[1.0]], False)
    strength = make_network(CapsuleStrengthLayer(), input_type=InputType.recurrent(3, 2))
    with pytest.raises(nd.ShapeError, match=r"\(CapsuleStrengthLayer\): expected input \[N, 3, 2\], got \[3, 2\]"):
        strength.output(np.ones((3, 2)))


def test_a_capsule_of_zeros_has_the_gradient_zero(backend):
    layer = make_network(CapsuleStrengthLayer(), input_type=InputType.recurrent(2, 2)).get_layer(0)
    a, cache = forward(layer, nd.create([[[0.0, 0.0], [3.0, 4.0]]], "float64"), True)
    np.testing.assert_allclose(nd.to_host(a), [[0.0, 5.0]], **TOLERANCE["float64"])
    epsilon = backprop(layer, nd.ones(1, 2, dtype="float64"), cache)
    np.testing.assert_allclose(nd.to_host(nd.copy(epsilon)), [[[0.0, 0.0], [0.6, 0.8]]], **TOLERANCE["float64"])


@pytest.mark.parametrize("shape", [(3, 1, 1, 1), (3, 1, 5, 4)])
def test_masks_end_at_primary_capsules(shape):
    layers = (
        PrimaryCapsules(capsule_dimensions=2, channels=2, kernel_size=2),
        CapsuleLayer(capsules=2, capsule_dimensions=2),
        CapsuleStrengthLayer(),
    )
    net, x = make_network(*layers, input_type=InputType.convolutional(5, 4, 1)), np.ones((3, 1, 5, 4))
    assert all(net.get_layer(i).feed_forward_mask(nd.ones(*shape)) is None for i in range(3))
    np.testing.assert_array_equal(net.output(x, features_mask=np.zeros(shape)), net.output(x))


def test_masks_of_time_steps_end_at_capsules():
    """A mask of as many steps as there are strengths is not one of strengths, nor of the loss behind."""
    layers = (
        CapsuleLayer(capsules=6, capsule_dimensions=2),
        CapsuleStrengthLayer(),
        OutputLayer(n_out=2, loss="mse", activation="identity"),
    )
    net = make_network(*layers, input_type=InputType.recurrent(3, 6))
    x, y = np.random.default_rng(3).normal(size=(2, 3, 6)), np.eye(2)
    assert net.score(DataSet(x, y, np.zeros((2, 6)))) == net.score(DataSet(x, y)) > 0.0
