"""Data that do not fit: the remedy that a message names is done, and works."""

import pathlib
import re
import zipfile

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet
from nn import (
    LSTM,
    ComputationGraph,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    LastTimeStep,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    SimpleRnn,
)  # fmt: skip

CONF = NeuralNetConfiguration(seed=1)
CLASSES = np.eye(3, dtype=np.float32)[[0, 1, 2, 0, 1]]
OF_STEPS = np.repeat(CLASSES[:, :, None], 7, axis=2)
OUTPUT = {"n_out": 3, "activation": "softmax"}


def build(kind, layers, input_type):
    if kind == "chain":
        return MultiLayerNetwork(CONF.list(*layers, input_type=input_type)).init()
    nodes, below = {}, "in"
    for number, layer in enumerate(layers):
        nodes[f"v{number}"] = (layer, below)
        below = f"v{number}"
    return ComputationGraph(CONF.graph({"in": input_type}, nodes, [below])).init()


def zeros(*shape):
    return np.zeros((5, *shape), np.float32)


SERIES = [LSTM(n_out=2), RnnOutputLayer(**OUTPUT)]
IMAGES = [ConvolutionLayer(n_out=2, kernel_size=2), OutputLayer(**OUTPUT)]
VOLUMES = [Convolution3D(n_out=2, kernel_size=2), OutputLayer(**OUTPUT)]
ROWS = [DenseLayer(n_out=2), OutputLayer(**OUTPUT)]
TURNED = {
    "series": (SERIES, InputType.recurrent(4), zeros(7, 4), OF_STEPS),
    "series of a length": (SERIES, InputType.recurrent(4, 7), zeros(7, 4), OF_STEPS),
    "series NWC": (SERIES, InputType.recurrent(4, None, "NWC"), zeros(4, 7), OF_STEPS.transpose(0, 2, 1)),
    "simple": ([SimpleRnn(n_out=2), SERIES[1]], InputType.recurrent(4), zeros(7, 4), OF_STEPS),
    "1D": (
        [Convolution1DLayer(n_out=2, kernel_size=1), GlobalPoolingLayer(), OutputLayer(**OUTPUT)],
        InputType.recurrent(4, 7), zeros(7, 4), CLASSES,
    ),
    "images": (IMAGES, InputType.convolutional(6, 8, 3), zeros(6, 8, 3), CLASSES),
    "images NHWC": (IMAGES, InputType.convolutional(6, 8, 3, "NHWC"), zeros(3, 6, 8), CLASSES),
    "volumes": (VOLUMES, InputType.convolutional3d(4, 5, 6, 3), zeros(4, 5, 6, 3), CLASSES),
    "gray": (IMAGES, InputType.convolutional(6, 8, 1), zeros(6, 8), CLASSES),
    "pictures for rows": (ROWS, InputType.feed_forward(48), zeros(6, 8), CLASSES),
    "one example": (IMAGES, InputType.convolutional(6, 8, 3), zeros(6, 8, 3)[0].transpose(2, 0, 1), CLASSES[:1]),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["chain", "graph"])
@pytest.mark.parametrize("name", list(TURNED))
@pytest.mark.quick_rows(every=2)
def test_the_remedy_of_wrong_axes_works(kind, name):
    layers, input_type, x, y = TURNED[name]
    net = build(kind, layers, input_type)
    with pytest.raises(nd.ShapeError, match=r" x(\.\w+\(.*?\)|\[None\])") as of_output:
        net.output(x)
    if len(x) == len(y):
        with pytest.raises(nd.ShapeError, match=r" x\.\w+\(.*?\)") as of_fit:
            net.fit(x, y)
        assert str(of_fit.value) == str(of_output.value)
    call = re.search(r" (x(?:\.\w+\([^)]*\)|\[None\]))", str(of_output.value)).group(1)
    net.fit(eval(call, {"x": x}), y)
    other = re.search(r"set (InputType\.\w+\(.*?\))", str(of_output.value))
    if other:
        labels = y.transpose(0, 2, 1) if y.ndim == 3 else y  # which have the format of the features
        build(kind, layers, eval(other.group(1))).fit(x, labels)


@pytest.mark.parametrize("layer", [LSTM(n_in=4, n_out=2), SimpleRnn(n_in=4, n_out=2)])
def test_layers_without_an_input_type_name_the_order_too(layer):
    net = MultiLayerNetwork(CONF.list(layer, RnnOutputLayer(**OUTPUT))).init()
    with pytest.raises(nd.ShapeError, match=r"x\.transpose\(0, 2, 1\)"):
        net.output(zeros(7, 4))


@pytest.mark.parametrize("kind", ["chain", "graph"])
def test_labels_of_series_in_another_order(kind):
    net = build(kind, SERIES, InputType.recurrent(4))
    with pytest.raises(nd.ShapeError, match=r"got \[5, 7, 3\]\. Put its axes in order, labels\.transpose\(0, 2, 1\)"):
        net.fit(zeros(4, 7), OF_STEPS.transpose(0, 2, 1))


@pytest.mark.parametrize("kind", ["chain", "graph"])
@pytest.mark.parametrize("labels", [CLASSES, OF_STEPS], ids=["of series", "of time steps"])
def test_rows_of_time_steps_are_told_from_those_of_series(kind, labels):
    net = build(kind, [LSTM(n_out=2), OutputLayer(**OUTPUT)], InputType.recurrent(4))
    with pytest.raises(nd.ShapeError, match=r"row for every time step, \[35, 3\].*LastTimeStep\(.*RnnOutputLayer"):
        net.fit(zeros(4, 7), labels)
    last = OutputLayer(**OUTPUT) if labels is CLASSES else RnnOutputLayer(**OUTPUT)
    below = LastTimeStep(LSTM(n_out=2)) if labels is CLASSES else LSTM(n_out=2)
    build(kind, [below, last], InputType.recurrent(4)).fit(zeros(4, 7), labels)


@pytest.mark.parametrize("kind", ["chain", "graph"])
@pytest.mark.parametrize("batch_size", [None, 2])
def test_validation_data_are_named_by_their_own_shape(kind, batch_size):
    net = build(kind, ROWS, InputType.feed_forward(4))
    wrong = np.zeros((64, 3), np.float32)
    with pytest.raises(nd.ShapeError, match=r"validation_data: .*got \[64, 3\]"):
        net.fit(zeros(4), CLASSES, batch_size=batch_size, validation_data=(wrong, wrong))
    with pytest.raises(nd.ShapeError, match=r"validation_data: .*got \[64, 5\]"):
        net.fit(zeros(4), CLASSES, validation_data=(np.zeros((64, 4), "f"), np.zeros((64, 5), "f")))


def test_layers_may_come_in_a_list():
    for layers in (ROWS, tuple(ROWS)):
        assert CONF.list(layers, input_type=InputType.feed_forward(4)) == CONF.list(
            *ROWS, input_type=InputType.feed_forward(4)
        )
    with pytest.raises(nd.ConfigurationError, match="list: layer 1 must be a layer configuration, got 'dense'") as said:
        CONF.list([ROWS[0], "dense"])
    assert len(str(said.value)) < 200


# ---- NaN


@pytest.mark.parametrize("kind", ["chain", "graph"])
def test_nan_is_found_in_the_data(kind):
    net = build(kind, ROWS, InputType.feed_forward(4))
    x, y = zeros(4), CLASSES.copy()
    x[3, 2], x[4, 1] = np.nan, np.inf
    place = r"NaN in row 3, column 2 of features \[5, 4\], the first of 2"
    for data in ((x, y), (DataSet(x, y),)):
        with pytest.raises(nd.NumericError, match=place):
            net.fit(*data)
        with pytest.raises(nd.NumericError, match=place):
            net.fit(*data, batch_size=2)
    with pytest.raises(nd.NumericError, match=place):
        net.fit_batch(DataSet(x, y))
    with pytest.raises(nd.DataError, match=f"evaluate: features must be finite, got {place}"):
        net.evaluate(DataSet(x, y))
    with pytest.raises(nd.DataError, match=f"validation_data: features must be finite, got {place}"):
        net.fit(zeros(4), y, validation_data=(x, y))
    y[2, 1] = np.nan
    with pytest.raises(nd.NumericError, match=r"NaN in row 2, column 1 of labels \[5, 3\]"):
        net.fit(zeros(4), y)


def test_nan_in_an_image_has_a_place_of_its_own():
    net = build("chain", IMAGES, InputType.convolutional(6, 8, 3))
    x = zeros(3, 6, 8)
    x[4, 2, 5, 1] = np.inf
    with pytest.raises(nd.NumericError, match=r"infinity in row 4, place \[2, 5, 1\] of features \[5, 3, 6, 8\]\."):
        net.fit(x, CLASSES)


# ---- files of others


def zipped(*names):
    def write(path):
        with zipfile.ZipFile(path, "w") as archive:
            for name in names:
                archive.writestr(name, b"x")

    return write


OTHERS = {
    "net.h5": (b"\x89HDF\r\n\x1a\n" + bytes(90), "an HDF5 file without a model of Keras"),
    "weights": (b"\x89HDF\r\n\x1a\n" + bytes(90), "an HDF5 file without a model of Keras"),
    "net.pkl": (b"\x80\x04\x95" + bytes(90), "a pickle"),
    "weights.zip": ((8).to_bytes(8, "little") + b"{}      ", r"expected metadata with 'configuration'"),
    "net.caffemodel": (b"\n\x05LeNet" + bytes(90), "weights of Caffe"),
    "net.tflite": (b"\x1c\0\0\0TFL3" + bytes(90), "TensorFlow Lite"),
    "net.png": (b"\x89PNG\r\n\x1a\n" + bytes(90), "a picture"),
    "net.npy": (b"\x93NUMPY" + bytes(90), "an array of NumPy"),
    "net.json": (b'{"layers": []}', "from_json"),
    "net.gz": (b"\x1f\x8b" + bytes(90), "gzip"),
    "page.zip": (b"<!DOCTYPE html>", "HTML"),
    "pointer.zip": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "empty.zip": (b"", "an empty file"),
    "net.pt": (zipped("archive/data.pkl", "archive/version"), "a file of PyTorch"),
    "net.keras": (zipped("config.json", "metadata.json", "model.weights.h5"), "expected JSON"),
    "arrays.zip": (zipped("a.npy", "b.npy"), r"expected metadata with 'configuration'.* net\.save"),
    "net.jar": (zipped("META-INF/MANIFEST.MF"), "a Java archive"),
}


@pytest.mark.parametrize("name", list(OTHERS))
def test_files_of_others_are_told_what_they_are(name, tmp_path):
    content, kind = OTHERS[name]
    path = pathlib.Path(tmp_path, name)
    path.write_bytes(content) if isinstance(content, bytes) else content(path)
    for load in (nn.load, MultiLayerNetwork.load, ComputationGraph.load):
        with pytest.raises(nd.FormatError, match=kind) as said:
            load(path)
        assert "truncated" not in str(said.value)


def test_a_cut_model_is_still_called_so(tmp_path):
    path = pathlib.Path(tmp_path, "net.zip")
    build("chain", ROWS, InputType.feed_forward(4)).save(path)
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(nd.FormatError, match="Is it truncated"):
        nn.load(path)


@pytest.mark.parametrize("select", [nd.set_backend, nd.use_backend])
def test_the_function_that_was_called_is_blamed_for_a_backend(select):
    with pytest.raises(
        nd.ChoiceError, match=f"^{select.__name__}: unknown backend 'torch', expected one of array_api:torch"
    ):
        select("torch")
