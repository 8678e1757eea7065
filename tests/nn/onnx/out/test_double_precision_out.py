"""Activation functions in double precision as operators that onnxruntime has in it, at every opset."""

import numpy as np
import onnx
import pytest

import nd
from nd.activations import ELU, SELU, LeakyReLU, ThresholdedReLU
from nn import ActivationLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration
from nn.onnx.out.double import DOUBLE
from nn.onnx.out.functions import FUNCTIONS
from tests.onnx_at_work import Written

WITH_SETTINGS = [ELU(alpha=0.7), LeakyReLU(alpha=0.3), SELU(), ThresholdedReLU(theta=0.4)]
CLOSE = {"rtol": 1e-12, "atol": 1e-14}
Z = np.concatenate([np.linspace(-3.0, 3.0, 61), [-800.0, -40.0, 40.0, 800.0]])[:, None]


def written(activation, opset=18):
    conf = NeuralNetConfiguration(seed=1, dtype="float64").list(
        ActivationLayer(activation), input_type=InputType.feed_forward(1)
    )
    least = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)])
    return Written(MultiLayerNetwork(conf).init(), opset=opset, ir_version=max(least, 10))


def test_the_table_is_of_functions_that_are_written():
    assert list(DOUBLE) == sorted(DOUBLE)
    assert set(DOUBLE) < set(FUNCTIONS)


@pytest.mark.parametrize("opset", [18, *(pytest.param(opset, marks=pytest.mark.slow) for opset in (13, 24))])
@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_every_function(name, opset):
    model = written(getattr(nd.activations, name)(), opset)
    (found,) = model.outputs(Z)
    np.testing.assert_allclose(found, nd.to_host(model.net.output(Z)), **CLOSE)


@pytest.mark.parametrize("activation", WITH_SETTINGS, ids=lambda activation: type(activation).__name__)
def test_settings_are_those_of_the_activation(activation):
    model = written(activation)
    (found,) = model.outputs(Z)
    np.testing.assert_allclose(found, nd.to_host(model.net.output(Z)), **CLOSE)
