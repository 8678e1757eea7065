"""Parametric rectifiers: the shape of alpha, where it starts, what is refused."""

import json

import numpy as np
import pytest

import nd
from nn import (
    ConvolutionLayer,
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    PReLULayer,
)
from optimize import L2Regularization, MaxNormConstraint, NonNegativeConstraint, Sgd
from tests.layers_at_work import forward

IMAGES = InputType.convolutional(4, 5, 3)


def one(input_type=None, **settings):
    return NeuralNetConfiguration(seed=2).list(PReLULayer(**settings), input_type=input_type)


@pytest.mark.parametrize(
    ("input_type", "shared", "shape"),
    [
        (IMAGES, None, (3, 4, 5)),
        (IMAGES, (2, 3), (3, 1, 1)),
        (IMAGES, 1, (1, 4, 5)),
        (InputType.feed_forward(7), None, (7,)),
        (InputType.recurrent(6, 4), None, (6, 4)),
        (InputType.recurrent(6), 2, (6, 1)),
        (InputType.convolutional3d(2, 3, 4, 5), [2, 3, 4], (5, 1, 1, 1)),
        (InputType.convolutional_flat(2, 3, 4), None, (24,)),
    ],
)
def test_the_shape_of_alpha_is_that_of_an_example(input_type, shared, shape):
    conf = one(input_type, shared_axes=shared)
    assert conf.layers[0].param_shapes() == {"W": shape}
    assert conf.layer_types() == [(input_type, input_type)]
    assert not conf.preprocessors


@pytest.mark.parametrize(
    "settings",
    [
        {"constrain_weights": MaxNormConstraint(0.1)},
        {"constrain_all_parameters": MaxNormConstraint(0.1)},
        {"constraints": MaxNormConstraint(0.1)},
        {"constraints": MaxNormConstraint(0.1, params=["W"])},
    ],
)
@pytest.mark.parametrize("input_type", [IMAGES, InputType.feed_forward(7)])
def test_alpha_of_an_inferred_shape_is_constrained_as_that_of_a_given_one(settings, input_type):
    inferred, given = one(input_type, **settings), one(input_type, input_shape=input_type.shape, **settings)
    axes = tuple(range(1, len(input_type.shape))) or (0,)
    assert inferred.layers == given.layers
    assert inferred.layers[0].constraints == (MaxNormConstraint(0.1, dimensions=axes, params=("W",)),)
    net = MultiLayerNetwork(inferred).init()
    net.set_params(np.ones((1, net.num_params())))
    net.updater.constraints.apply(1, 0)
    norms = np.sqrt((nd.to_host(nd.copy(net.get_param("0_W"))) ** 2).sum(axes))
    np.testing.assert_allclose(norms, 0.1, rtol=1e-5)


def test_alpha_of_an_inferred_shape_takes_the_network_s_constraints():
    layers = PReLULayer(), PReLULayer(constraints=NonNegativeConstraint())
    conf = NeuralNetConfiguration(seed=2, constrain_weights=MaxNormConstraint(0.1)).list(*layers, input_type=IMAGES)
    assert [layer.constraints for layer in conf.layers] == [
        (MaxNormConstraint(0.1, dimensions=(1, 2), params=("W",)),),
        (NonNegativeConstraint(params=("W",)),),
    ]
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(PReLULayer\): .* is for the parameters \['b'\]"):
        one(IMAGES, constraints=MaxNormConstraint(0.1, params=["b"]))


def test_alpha_starts_at_0_whatever_the_network_s_weights_do():
    net = MultiLayerNetwork(one(IMAGES)).init()
    np.testing.assert_array_equal(net.params(), np.zeros((1, 60)))
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5)).astype(np.float32)
    np.testing.assert_array_equal(net.output(x), np.maximum(x, 0.0))
    drawn = MultiLayerNetwork(one(IMAGES, weight_init="xavier")).init().params()
    assert 0.3 < np.std(drawn) < 0.9  # sqrt(2 / (3 + 3)) is 0.58


def test_the_order_in_the_vector_is_f():
    net = MultiLayerNetwork(one(InputType.recurrent(2, 3))).init()
    net.set_params(np.arange(6.0)[None])
    np.testing.assert_array_equal(net.get_param("0_W"), [[0, 2, 4], [1, 3, 5]])


def test_alpha_is_a_weight():
    layers = ConvolutionLayer(n_out=2, kernel_size=2), PReLULayer(shared_axes=(2, 3)), OutputLayer(n_out=2)
    base = NeuralNetConfiguration(seed=2, l2=0.5, l1_bias=0.25, updater=Sgd(0.1), bias_updater=Sgd(9.0))
    net = MultiLayerNetwork(base.list(*layers, input_type=IMAGES)).init()
    penalties = {(flat.shape[0], type(penalty)) for flat, penalty in net.engine.vectors.penalties}
    assert (2, L2Regularization) in penalties
    (alpha,) = [view for view in net.conf.layout().views if view.key == "1_W"]
    (block,) = [b for b in net.updater._blocks if any(s.start == alpha.start for s in b.segments)]
    assert block.updater == Sgd(0.1)


def test_a_file_of_java_says_1_for_shared_axes():
    document = json.loads(one(IMAGES, shared_axes=(2, 3)).to_json())
    layer = document["confs"][0]["layer"]
    assert (layer["inputShape"], layer["sharedAxes"]) == ([3, 4, 5], [2, 3])
    layer["inputShape"] = [3, 1, 1]  # its initializer writes into the configuration's own array
    read = MultiLayerConfiguration.from_json(json.dumps(document))
    assert read.layers[0].param_shapes() == {"W": (3, 1, 1)}
    assert tuple(MultiLayerNetwork(read).init().output(np.ones((2, 3, 4, 5))).shape) == (2, 3, 4, 5)


def test_what_does_not_fit_is_refused():
    with pytest.raises(nd.ConfigurationError, match=r"shared_axes must be axes 1\.\.2 of \(3, 4\), got \(3,\)"):
        PReLULayer(input_shape=(3, 4), shared_axes=3)
    for name in ("input_shape", "shared_axes"):
        with pytest.raises(nd.ConfigurationError, match=f"PReLULayer: {name} must be an integer >= 1 or a seq"):
            PReLULayer(**{name: (0, 2)})
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 \(PReLULayer\): input_shape is missing"):
        one()
    with pytest.raises(nd.ConfigurationError, match=r"input_shape must be \(3, 4, 5\), .*got \(3, 4\)"):
        one(IMAGES, input_shape=(3, 4))
    with pytest.raises(nd.ConfigurationError, match=r"the length of recurrent.* must be known, or alpha the same"):
        one(InputType.recurrent(6))
    layer = MultiLayerNetwork(one(IMAGES, shared_axes=2)).init().get_layer(0)
    with pytest.raises(nd.ShapeError, match=r"\(PReLULayer\): expected input \[N, 3, any, 5\], got \[2, 3, 4, 6\]"):
        forward(layer, np.ones((2, 3, 4, 6), np.float32), False)
    with pytest.raises(nd.DTypeError, match=r"\(PReLULayer\): expected an array, got list"):
        forward(layer, [1.0], False)
