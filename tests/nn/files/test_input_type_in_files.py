"""The input type in model files: a network that was read refuses the features that it refused before."""

import io
import json
import zipfile

import numpy as np
import pytest

import nd
from nn import (
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)

CASES = {
    "convolutional": (InputType.convolutional(5, 5, 1), ConvolutionLayer(n_out=2, kernel_size=(2, 2)), (1, 9, 40)),
    "convolutional3d": (InputType.convolutional3d(4, 5, 6, 1), Convolution3D(n_out=2), (1, 4, 5, 9)),
    "convolutional_flat": (InputType.convolutional_flat(5, 5, 1), ConvolutionLayer(n_out=2), (1, 9, 40)),
    "feed_forward": (InputType.feed_forward(4), DenseLayer(n_out=3), (5,)),
    "recurrent": (InputType.recurrent(3, 7), Convolution1DLayer(n_out=2, kernel_size=2), (3, 8)),
}


def network(kind):
    input_type, layer, _ = CASES[kind]
    pooling = [] if kind == "feed_forward" else [GlobalPoolingLayer()]
    conf = NeuralNetConfiguration(seed=1).list(
        layer, *pooling, OutputLayer(n_out=2, loss="mcxent"), input_type=input_type
    )
    return MultiLayerNetwork(conf).init()


def saved(net, write="save"):
    file = io.BytesIO()
    getattr(net, write)(file)
    return file


def with_input_type(value):
    """Return a file whose entry says another input type."""
    file, changed = zipfile.ZipFile(saved(network("convolutional"))), io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name in file.namelist():
            content = file.read(name)
            if name == "ndwright.json":
                content = json.dumps({**json.loads(content), "input_type": value}).encode()
            archive.writestr(name, content)
    return changed


@pytest.mark.parametrize("write", ["save", "save_checkpoint"])
@pytest.mark.parametrize("kind", sorted(CASES))
def test_a_network_that_was_read_refuses_other_sizes(kind, write):
    net = network(kind)
    read = getattr(MultiLayerNetwork, write.replace("save", "load"))(saved(net, write))
    assert read.conf.input_type == CASES[kind][0]
    x = np.random.default_rng(0).random((2, *CASES[kind][0].shape), dtype=np.float32)
    np.testing.assert_array_equal(read.output(x), net.output(x))
    with pytest.raises(nd.ShapeError, match="The network's input type is"):
        read.output(np.zeros((2, *CASES[kind][2]), np.float32))


def test_a_file_without_input_type_is_as_before():
    conf = NeuralNetConfiguration(seed=1).list(DenseLayer(n_in=4, n_out=3), OutputLayer(n_out=2, loss="mcxent"))
    file = saved(MultiLayerNetwork(conf).init())
    assert "ndwright.json" not in zipfile.ZipFile(file).namelist()
    assert MultiLayerNetwork.load(file).conf.input_type is None
    assert MultiLayerNetwork.load(with_input_type(None)).conf.input_type is None


@pytest.mark.parametrize(
    "value",
    [
        5,
        [],
        {},
        {"kind": "circular", "n": 4},
        {"kind": "feed_forward"},
        {"kind": "feed_forward", "n": 4, "more": 1},
        {"kind": "feed_forward", "n": -4},
        {"kind": "feed_forward", "n": True},
        {"kind": "feed_forward", "n": "4"},
        {"kind": [], "n": 4},
    ],
)
def test_a_malformed_input_type_is_refused(value):
    with pytest.raises(nd.FormatError, match=r"ndwright\.json"):
        MultiLayerNetwork.load(with_input_type(value))
