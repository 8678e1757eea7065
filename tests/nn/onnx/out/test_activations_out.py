"""Every activation function as operators, at numbers near its kinks and far away, in both precisions."""

import numpy as np
import onnx
import pytest

import nd
from nd.activations import ACTIVATIONS, GELU, LeakyReLU, ReLU, RReLU, ThresholdedReLU
from nd.activations import ELU as Elu
from nn import ActivationLayer, InputType, LossLayer, MultiLayerNetwork, NeuralNetConfiguration, RnnLossLayer
from tests.onnx_at_work import Written

SET = [
    Elu(0.3), GELU(precise=True), LeakyReLU(0.2), RReLU(0.1, 0.5), ReLU(6.0), ReLU(4.0, 1.0, 0.1), ReLU(None, 0.5),
    ReLU(None, None, 0.3), ReLU(None, -0.5, 0.2), ThresholdedReLU(0.4), ThresholdedReLU(-1.5),
]  # fmt: skip
"""With other settings than the defaults."""
ROWS = [pytest.param(ACTIVATIONS[name](), id=name) for name in ACTIVATIONS]
ROWS += [pytest.param(one, id=repr(one)) for one in SET]
NEAR = [-700.0, -90.0, -20.0, -2.5, -1.0, -0.5, -1e-3, 0.0, 1e-3, 0.4, 0.5, 1.0, 1.0001, 2.5, 6.0, 20.0, 90.0, 700.0]
NEWEST = onnx.defs.onnx_opset_version()


def network(layer, dtype, kind):
    base = NeuralNetConfiguration(seed=1, dtype=dtype, validate_output_layer_config=False)
    return MultiLayerNetwork(base.list(layer, input_type=kind)).init()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("activation", ROWS)
@pytest.mark.quick_rows(every=3)
def test_near_and_far(activation, dtype):
    net = network(ActivationLayer(activation), dtype, InputType.feed_forward(3))
    x = np.asarray(NEAR, dtype).reshape(-1, 3)
    expected = nd.to_host(net.output(x))
    assert np.isfinite(expected).all()
    for opset in (13, 18, NEWEST):
        written = Written(net, opset=opset, ir_version=10 if opset < NEWEST else onnx.IR_VERSION)
        written.check(x)


IMAGES, LAST = InputType.convolutional(4, 5, 3), InputType.convolutional(4, 5, 3, "NHWC")
SERIES = InputType.recurrent(3, 5)


@pytest.mark.parametrize(
    ("layer", "kind", "axis"),
    [
        (ActivationLayer("softmax"), IMAGES, 3),  # as in Java
        (ActivationLayer("softmax"), LAST, 3),
        (ActivationLayer("softmax"), SERIES, 2),
        (LossLayer(activation="softmax"), InputType.feed_forward(4), 1),
        (RnnLossLayer(activation="softmax"), SERIES, 1),
    ],
)
def test_a_softmax_goes_along_the_axis_that_it_goes_along_here(layer, kind, axis):
    written = Written(network(layer, "float32", kind))
    x = np.random.default_rng(0).normal(0.0, 1.0, (2, *kind.shape))
    written.check(x)
    (found,) = written.outputs(x)
    np.testing.assert_allclose(found.sum(axis), 1.0, rtol=1e-5)
