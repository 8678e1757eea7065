"""Layers behind a size that transfer learning replaces: what follows from it, up to the next number of their own."""

import numpy as np
import pytest

import nd
from nn import (
    BatchNormalization,
    CapsuleLayer,
    CapsuleStrengthLayer,
    Convolution1DLayer,
    DenseLayer,
    DepthwiseConvolution2D,
    ElementWiseMultiplicationLayer,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    PReLULayer,
    PrimaryCapsules,
    SpaceToDepthLayer,
    TransferLearning,
)
from tests.nn.transferlearning.test_editing import RNG, Y, image_network, table

BEHIND = {
    "depthwise": ((DepthwiseConvolution2D(kernel_size=3, depth_multiplier=2),), {"1_W": (3, 3, 6, 2), "2_W": (12, 3)}),
    "alpha": ((PReLULayer(),), {"1_W": (6, 6, 6), "2_W": (6, 3)}),
    "alpha-of-channels": ((PReLULayer(shared_axes=(2, 3)),), {"1_W": (6, 1, 1), "2_W": (6, 3)}),
    "blocks": ((SpaceToDepthLayer(2), BatchNormalization()), {"2_gamma": (1, 24), "3_W": (24, 3)}),
    "series": ((Convolution1DLayer(n_out=2, kernel_size=1),), {"1_W": (1, 216, 2), "2_W": (2, 3)}),
    "capsules": (
        (
            PrimaryCapsules(capsule_dimensions=2, channels=2, kernel_size=3),
            CapsuleLayer(capsules=2, capsule_dimensions=3),
        ),
        {"1_W": (3, 3, 6, 4), "2_W": (1, 8, 6, 2, 1), "3_W": (2, 3)},
    ),
}
"""Name -> layers between a convolution and the output, and shapes of parameters after six channels, where four were."""


@pytest.mark.parametrize("name", BEHIND)
def test_what_stands_behind_another_number_of_channels(name):
    between, shapes = BEHIND[name]
    ends = (CapsuleStrengthLayer(),) if name == "capsules" else (GlobalPoolingLayer("avg"),)
    net = image_network(*between, *ends, dense=False)
    new = TransferLearning(net, n_out_replace={0: 6}).build()
    found = {key: view.shape for key, view in table(new).items()}
    last = f"{len(new.conf.layers) - 1}_W"
    expected = {key if index < len(shapes) - 1 else last: shape for index, (key, shape) in enumerate(shapes.items())}
    assert {key: found[key] for key in expected} == expected
    new.fit(RNG.normal(size=(4, 128)), np.eye(3)[[0, 1, 1, 2]])


@pytest.mark.parametrize("first", [BatchNormalization(), ElementWiseMultiplicationLayer()])
def test_other_inputs_of_a_layer_that_is_as_wide_as_they_are(first):
    layers = first, DenseLayer(n_out=4), OutputLayer(n_out=3, activation="softmax")
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers, input_type=InputType.feed_forward(5))).init()
    new = TransferLearning(net, n_in_replace={0: 7}).build()
    assert [(layer.n_in, layer.n_out) for layer in new.conf.layers] == [(7, 7), (7, 4), (4, 3)]
    assert table(new)["2_W"].tobytes() == table(net)["2_W"].tobytes()
    new.fit(RNG.normal(size=(6, 7)), Y)


def test_a_frozen_layer_behind_a_replaced_size_is_named():
    net = image_network(FrozenLayer(BatchNormalization()), dense=False)
    with pytest.raises(nd.ConfigurationError, match=r"n_out_replace: layer 1 \(FrozenLayer\) must .* remove_layers"):
        TransferLearning(net, n_out_replace={0: 6}).build()
