"""Which operators of ONNX layers over places become, with which attributes and tensors."""

import numpy as np
import onnx
import pytest
from onnx.numpy_helper import to_array

import nd
from nn import (
    BatchNormalization,
    Convolution1D,
    ConvolutionLayer,
    Deconvolution2D,
    DepthwiseConvolution2D,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    LocalResponseNormalization,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    SeparableConvolution2D,
    SubsamplingLayer,
    Upsampling2D,
)
from tests.cases.layers import LAYER_CASES
from tests.nn.layers.test_every_layer import make_network
from tests.nn.onnx.out.test_places_out import network
from tests.onnx_at_work import Written

IMAGES = InputType.convolutional(7, 5, 3)


def drawn(layer, input_type=IMAGES, **settings):
    """Return the nodes of a layer alone, and its tensors by name."""
    model = Written(network(layer, input_type=input_type), **settings).model
    tensors = {tensor.name: to_array(tensor) for tensor in model.graph.initializer}
    return [node for node in model.graph.node if node.op_type != "Identity"], tensors


def attributes(node):
    return {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}


def window(kernel, stride, **settings):
    return {"n_out": 2, "kernel_size": kernel, "stride": stride, "activation": "identity", **settings}


@pytest.mark.parametrize(
    ("layer", "op", "expected"),
    [
        (
            ConvolutionLayer(**window((3, 2), (2, 1), padding=(1, 0), dilation=(1, 2))),
            "Conv",
            {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 0], "dilations": [1, 2]},
        ),
        (
            ConvolutionLayer(**window((2, 3), (2, 2), convolution_mode="same")),
            "Conv",
            {"kernel_shape": [2, 3], "strides": [2, 2], "auto_pad": b"SAME_UPPER"},
        ),
        (
            ConvolutionLayer(**window((2, 1), (3, 2), convolution_mode="same")),  # of 7 by 5
            "Conv",
            {"kernel_shape": [2, 1], "strides": [3, 2], "pads": [0, 0, 1, 0]},
        ),
        (
            DepthwiseConvolution2D(depth_multiplier=2, kernel_size=2, activation="identity"),
            "Conv",
            {"kernel_shape": [2, 2], "strides": [1, 1], "pads": [0] * 4, "group": 3},
        ),
        (
            Deconvolution2D(**window((1, 5), (3, 2), convolution_mode="same")),
            "ConvTranspose",
            {"kernel_shape": [1, 5], "strides": [3, 2], "pads": [0, 1, 0, 2], "output_padding": [2, 0]},
        ),
        (
            SubsamplingLayer("avg", kernel_size=3, stride=2, padding=1, avg_pool_include_pad_in_divisor=True),
            "AveragePool",
            {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1] * 4, "count_include_pad": 1},
        ),
        (
            SubsamplingLayer("pnorm", kernel_size=2, stride=1, pnorm=4),
            "LpPool",
            {"kernel_shape": [2, 2], "strides": [1, 1], "pads": [0] * 4, "p": 4},
        ),
        (
            Upsampling2D((2, 3)),
            "Resize",
            {"mode": b"nearest", "nearest_mode": b"floor", "coordinate_transformation_mode": b"asymmetric"},
        ),
    ],
)
def test_a_layer_is_one_operator(layer, op, expected):
    (node,), _ = drawn(layer)
    assert node.op_type == op
    assert attributes(node) == expected


def test_parameters_keep_the_names_of_their_layers():
    (first, second), tensors = drawn(SeparableConvolution2D(name="apart", **window(2, 1), depth_multiplier=2))
    assert [first.op_type, second.op_type] == ["Conv", "Conv"]
    assert {name: array.shape for name, array in tensors.items()} == {
        "apart/W": (6, 1, 2, 2),
        "apart/pW": (2, 6, 1, 1),
        "apart/b": (2,),
    }


def test_what_is_frozen_is_the_layer_inside():
    (node,), tensors = drawn(FrozenLayer(ConvolutionLayer(name="kept", **window(2, 1))))
    assert node.op_type == "Conv"
    assert sorted(tensors) == ["kept/W", "kept/b"]


@pytest.mark.parametrize(
    ("settings", "ops"),
    [
        ({"kernel_size": 3, "stride": 1}, ["Conv"]),
        ({"kernel_size": 3, "stride": 2}, ["Conv"]),
        (
            {"kernel_size": 2, "stride": 3},
            ["Shape", "Sub", "Div", "Mul", "Add", "Sub", "Max", "Div", "Sub", "Concat", "Pad", "Conv"],
        ),
    ],
)
def test_mode_same_over_series_of_any_length(settings, ops):
    layer = Convolution1D(n_out=2, activation="identity", convolution_mode="same", **settings)
    nodes, _ = drawn(layer, InputType.recurrent(3))
    assert [node.op_type for node in nodes] == ops
    padding = {1: {"auto_pad": b"SAME_UPPER"}, 2: {"auto_pad": b"SAME_UPPER"}, 3: {"pads": [0, 0]}}[settings["stride"]]
    found = attributes(nodes[-1])
    assert {name: found.get(name) for name in padding} == padding


def test_a_running_deviation_becomes_a_variance():
    conf = NeuralNetConfiguration(seed=1).list(BatchNormalization(eps=1e-3), input_type=IMAGES)
    net = MultiLayerNetwork(conf).init()
    values = {
        "gamma": [1.5, 0.5, -1.0],
        "beta": [0.0, 1.0, 2.0],
        "mean": [3.0, 4.0, 5.0],
        "log10stdev": [0.0, 0.5, -1.0],
    }
    net.set_params(np.concatenate(list(values.values()))[None])
    model = Written(net).model
    (node, *_) = model.graph.node
    tensors = {tensor.name: to_array(tensor) for tensor in model.graph.initializer}
    scale, shift, mean, variance = (tensors[name] for name in node.input[1:])
    for found, name in ((scale, "gamma"), (shift, "beta"), (mean, "mean")):
        np.testing.assert_array_equal(found, np.float32(values[name]))
    np.testing.assert_allclose(variance, [1.0, 10.0, 0.01], rtol=1e-6)
    assert attributes(node) == {"epsilon": pytest.approx(1e-3)}


@pytest.mark.parametrize(("gamma", "beta", "kept"), [(1.5, 0.25, (1.5, 0.25)), (2.0, 0.0, (1.0, 0.0))])
def test_locked_scale_and_shift_are_constants(gamma, beta, kept):
    (node,), tensors = drawn(BatchNormalization(gamma=gamma, beta=beta, lock_gamma_beta=True, use_log_std=False))
    for name, expected in zip(node.input[1:3], kept, strict=True):
        np.testing.assert_array_equal(tensors[name], [expected] * 3)


def test_the_operator_divides_alpha_by_the_number_of_channels():
    (node,), _ = drawn(LocalResponseNormalization(n=4, k=1.5, alpha=0.2, beta=0.5))
    expected = {"size": 5, "bias": 1.5, "alpha": pytest.approx(1.0), "beta": 0.5}
    assert (node.op_type, attributes(node)) == ("LRN", expected)


@pytest.mark.parametrize(
    ("kind", "ops"),
    [("avg", ["GlobalAveragePool", "Flatten"]), ("max", ["GlobalMaxPool", "Flatten"]), ("sum", ["ReduceSum"])],
)
def test_global_pooling(kind, ops):
    nodes, _ = drawn(GlobalPoolingLayer(kind))
    assert [node.op_type for node in nodes] == ops


@pytest.mark.parametrize("opset", [17, 18, 19])
def test_poolings_with_a_dilation_are_operators_from_the_opset_that_has_it(opset):
    for kind, op, since in (("avg", "AveragePool", 19), ("pnorm", "LpPool", 18), ("max", "MaxPool", 13)):
        nodes, _ = drawn(SubsamplingLayer(kind, kernel_size=2, stride=1, dilation=2, pnorm=2), opset=opset)
        assert (op in [node.op_type for node in nodes]) == (opset >= since)


def test_parameters_of_a_network_are_those_at_the_time():
    case = LAYER_CASES["convolution"][0]
    net = make_network(case, "float32")
    tensors = {tensor.name: to_array(tensor) for tensor in Written(net).model.graph.initializer}
    np.testing.assert_array_equal(tensors["layer0/W"], nd.to_host(net.get_layer(0).params["W"]))
