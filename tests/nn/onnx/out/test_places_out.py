"""Layers over places as operators of ONNX: windows over images of every size, formats, opsets, double precision."""

import itertools

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

import nd
from nn import (
    BatchNormalization,
    Convolution1D,
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    GlobalPoolingLayer,
    InputType,
    LocallyConnected2D,
    LocalResponseNormalization,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    SeparableConvolution2D,
    SpaceToBatchLayer,
    SpaceToDepthLayer,
    Subsampling1DLayer,
    Subsampling3DLayer,
    SubsamplingLayer,
    Upsampling2D,
    Upsampling3D,
    Yolo2OutputLayer,
    ZeroPaddingLayer,
)
from nn.onnx.out import LAYERS
from tests.cases.layers import LAYER_CASES, make_features
from tests.nn.layers.test_every_layer import make_network
from tests.onnx_at_work import CLOSE, Written

FAMILIES = {"capsules", "convolutions", "detection", "normalizations", "places", "poolings"}
"""Modules whose layers are looked at here."""
ROWS = [
    (f"{kind}-{case.variant}", case)
    for kind, rows in LAYER_CASES.items()
    for case in rows
    if LAYERS.get(type(case.layer).__name__, "").partition(":")[0] in FAMILIES
]
SINGLE = {"AveragePool", "Conv", "ConvTranspose", "GlobalAveragePool", "GlobalMaxPool", "LRN", "LpPool", "Resize"}
"""Operators that onnxruntime has in single precision alone."""
OPSETS = (13, 14, 15, 17, 19, 21, 24)
IMAGES = ((2, 3, 9, 10), (1, 3, 12, 9), (4, 3, 11, 13))
SERIES = ((2, 3, 9), (1, 3, 14), (5, 3, 8))
VOLUMES = ((2, 3, 6, 7, 8), (1, 3, 5, 9, 6))


def network(*layers, dtype="float32", **settings):
    base = NeuralNetConfiguration(seed=3, dtype=dtype, bias_init=0.1, validate_output_layer_config=False)
    return MultiLayerNetwork(base.list(*layers, **settings)).init()


def written(net, opset=18):
    """Return a network at an opset, with the IR version that it needs."""
    least = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", opset)])
    return Written(net, opset=opset, ir_version=max(least, 10))


def check_sizes(net, shapes, opset=18):
    model = written(net, opset)
    for number, shape in enumerate(shapes):
        model.check(np.random.default_rng(number).normal(0.0, 0.8, shape))


# ---- windows over inputs whose size no configuration says


def window(kernel, stride, padding=0, dilation=1, mode="truncate"):
    names = ("kernel_size", "stride", "padding", "dilation", "convolution_mode")
    return dict(zip(names, (kernel, stride, padding, dilation, mode), strict=True))


PLANES = {
    "usual": ((3, 3), (2, 2), (1, 1)),
    "gaps": ((2, 1), (3, 2), (1, 0)),
    "dilated": ((2, 3), (2, 1), (1, 2), (2, 3)),
    "one-way": ((4, 2), (1, 3), (1, 1)),
    "more-padding-than-kernel": ((2, 2), (1, 1), (2, 3), (3, 4)),
}
LINES = {"usual": (3, 2, 1), "gaps": (2, 3), "dilated": (2, 2, 1, 3), "step-by-step": (3, 1, 2, 2)}
SOLIDS = {
    "usual": ((3, 2, 1), (2, 2, 2), (1, 1, 0)),
    "gaps": ((2, 2, 2), (1, 3, 1), 0, (1, 1, 2)),
    "dilated": ((2, 2, 2), 1, (1, 2, 0), (2, 3, 1)),
}


def windows(table, *modes):
    """Return every window of a table in every mode; without the mode that pads by the size most are slow tests."""
    rows = []
    for (name, numbers), mode in itertools.product(table.items(), modes):
        kept = mode == "same" or name in ("more-padding-than-kernel", "step-by-step")
        numbers = (*numbers, *(0, 1)[len(numbers) - 2 :])
        marks = () if kept else pytest.mark.slow
        rows.append(pytest.param(window(*numbers, mode), id=f"{name}-{mode}", marks=marks))
    return rows


def convolutions(window):
    yield ConvolutionLayer(n_in=3, n_out=2, activation="tanh", **window)
    yield DepthwiseConvolution2D(n_in=3, depth_multiplier=2, activation="tanh", **window)
    yield SeparableConvolution2D(n_in=3, n_out=2, activation="softmax", **window)
    yield Deconvolution2D(n_in=3, n_out=2, activation="tanh", **window)


def poolings(kind, window, **settings):
    yield kind("max", **window)
    yield kind("avg", **window)
    if kind is not Subsampling3DLayer:
        yield kind("avg", avg_pool_include_pad_in_divisor=True, **window)
        yield kind("pnorm", pnorm=3, **window)


def check_planes(window, dtype="float32", opset=18):
    for layer in convolutions(window):
        check_sizes(network(layer, dtype=dtype), IMAGES, opset)
    below = ConvolutionLayer(n_in=3, n_out=3, kernel_size=1, activation="tanh")
    for layer in poolings(SubsamplingLayer, window):
        check_sizes(network(below, layer, dtype=dtype), IMAGES, opset)


def check_lines(window, dtype="float32", opset=18):
    kind = InputType.recurrent(3)
    layer = Convolution1D(n_out=2, activation="softmax", **window)
    for each in (layer, *poolings(Subsampling1DLayer, window)):
        check_sizes(network(each, dtype=dtype, input_type=kind), SERIES, opset)


def check_solids(window, dtype="float32", opset=18):
    check_sizes(network(Convolution3D(n_in=3, n_out=2, activation="tanh", **window), dtype=dtype), VOLUMES, opset)
    check_sizes(network(Deconvolution3D(n_in=3, n_out=2, activation="tanh", **window), dtype=dtype), VOLUMES, opset)
    below = Convolution3D(n_in=3, n_out=3, kernel_size=1, activation="tanh")
    for layer in poolings(Subsampling3DLayer, window):
        check_sizes(network(below, layer, dtype=dtype), VOLUMES, opset)


@pytest.mark.parametrize("window", windows(PLANES, "truncate", "same"))
@pytest.mark.quick_rows(every=3)
def test_images_of_every_size(window):
    check_planes(window)


@pytest.mark.parametrize("window", windows(LINES, "truncate", "same", "causal"))
def test_series_of_every_length(window):
    check_lines(window)


@pytest.mark.parametrize("window", windows(SOLIDS, "truncate", "same"))
def test_volumes_of_every_size(window):
    check_solids(window)


@pytest.mark.slow
@pytest.mark.parametrize("opset", [13, 19])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_windows_of_other_opsets_and_in_double_precision(dtype, opset):
    for check, table, modes in (
        (check_planes, PLANES, ("truncate", "same")),
        (check_lines, LINES, ("truncate", "same", "causal")),
        (check_solids, SOLIDS, ("truncate", "same")),
    ):
        for case in windows(table, *modes):
            check(*case.values, dtype, opset)


# ---- other layers over inputs of unknown size, and with the channels last


def _unsized():
    yield from (GlobalPoolingLayer(kind) for kind in ("avg", "max", "sum"))
    yield from (GlobalPoolingLayer(kind, collapse_dimensions=False) for kind in ("avg", "max", "sum"))
    yield from (GlobalPoolingLayer("pnorm", pnorm=p, collapse_dimensions=p > 1) for p in (1, 2, 3))
    yield from (Upsampling2D((2, 3)), SpaceToDepthLayer(2), SpaceToBatchLayer((4, 2)), ZeroPaddingLayer((1, 2, 0, 3)))
    yield from (LocalResponseNormalization(n=3, alpha=0.2), LocalResponseNormalization(n=4, beta=-0.5))
    yield from (LocalResponseNormalization(alpha=0.0), BatchNormalization(n_in=12, n_out=12))
    yield from (Yolo2OutputLayer([[1.0, 2.0], [0.5, 0.7]]), Yolo2OutputLayer([[1.0, 2.0]]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("layer", list(_unsized()), ids=lambda layer: type(layer).__name__)
@pytest.mark.quick_rows(every=3)
def test_other_layers_over_images_of_every_size(layer, dtype):
    below = ConvolutionLayer(n_in=3, n_out=12, kernel_size=1, activation="tanh")
    check_sizes(network(below, layer, dtype=dtype), ((2, 3, 8, 12), (1, 3, 12, 4)))


CHANNELS_LAST = [
    (InputType.convolutional(7, 5, 3, "NHWC"), layer)
    for layer in (
        ConvolutionLayer(n_out=4, activation="softmax", **window((3, 3), (2, 2), mode="same")),
        Deconvolution2D(n_out=4, activation="softmax", **window((2, 1), (3, 2), mode="same")),
        DepthwiseConvolution2D(depth_multiplier=2, activation="softmax", kernel_size=2),
        LocallyConnected2D(n_out=2),
        SubsamplingLayer("avg", **window((2, 2), (3, 2), mode="same")),
        SpaceToBatchLayer((7, 1)),
        Upsampling2D(2),
        BatchNormalization(),
        LocalResponseNormalization(),
        GlobalPoolingLayer("pnorm", pnorm=3, collapse_dimensions=False),
        GlobalPoolingLayer("sum"),
    )
] + [
    (InputType.recurrent(3, None, "NWC"), Convolution1D(n_out=4, activation="softmax", **window(3, 2, mode="same"))),
    (InputType.recurrent(3, None, "NWC"), GlobalPoolingLayer("avg")),
    (InputType.convolutional3d(5, 6, 7, 2, "NDHWC"), Convolution3D(n_out=2, **window(2, 2, mode="same"))),
    (InputType.convolutional3d(5, 6, 7, 2, "NDHWC"), Upsampling3D(2)),
]


@pytest.mark.parametrize(("kind", "layer"), CHANNELS_LAST, ids=lambda each: type(each).__name__)
def test_channels_last_are_turned_at_the_ends_alone(kind, layer):
    model = written(network(layer, input_type=kind))
    for n in (2, 5):
        model.check(np.random.default_rng(n).normal(0.0, 0.8, (n, *(size or 9 for size in kind.shape))))
    ends = 1 + (len(model.session.get_outputs()[0].shape) > 2)
    inside = 2 * (type(layer) is LocallyConnected2D)  # of its windows
    assert model.ops.count("Transpose") == ends + inside


def test_rows_have_no_channels_last():
    net = network(BatchNormalization(data_format="NHWC"), input_type=InputType.feed_forward(5))
    written(net).check(np.random.default_rng(1).normal(0.0, 0.8, (3, 5)))


# ---- every row: in double precision, at other opsets, by ONNX's own reference


@pytest.mark.parametrize("kind", sorted({name.partition("-")[0] for name, _ in ROWS}))
def test_double_precision(kind):
    check_row(next(case for name, case in ROWS if name.partition("-")[0] == kind), "float64")


@pytest.mark.slow
@pytest.mark.parametrize("opset", OPSETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_row_at_every_opset(dtype, opset):
    for _, case in ROWS:
        check_row(case, dtype, opset)


def check_row(case, dtype, opset=18):
    layer_alone = network(case.layer, dtype=dtype, input_type=case.input_type)
    model = written(layer_alone, opset)
    assert dtype == "float32" or not SINGLE & set(model.ops)
    for n in (3, 1):
        model.check(make_features(case, n=n))


FAULTY = ("global_pooling-max", "local_response_normalization")
"""Rows whose operators have faults in onnx.reference 1.23, which takes other axes for GlobalMaxPool and LRN."""
COMPUTED_BY_REFERENCE = [
    pytest.param(case, dtype, id=f"{name}-{dtype}")
    for name, case in ROWS
    for dtype in ("float32", "float64")
    if dtype == "float64" or not name.startswith(FAULTY)
]


@pytest.mark.slow
@pytest.mark.parametrize(("case", "dtype"), COMPUTED_BY_REFERENCE)
def test_the_reference_of_onnx_computes_the_same(case, dtype):
    net = make_network(case, dtype)
    model = Written(net).model
    x = make_features(case).astype(dtype)
    (found,) = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: x})
    np.testing.assert_allclose(found, nd.to_host(net.output(x)), **CLOSE)
