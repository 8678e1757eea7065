"""Inputs and outputs of models of ONNX: names, lengths that are free, sizes that nobody says, and what is refused."""

import io
import os

import numpy as np
import onnx
import pytest

import nd
from nd.activations import Activation
from nn import (
    ActivationLayer,
    CnnToFeedForwardPreProcessor,
    ComputationGraph,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    EmbeddingLayer,
    EmbeddingSequenceLayer,
    FeedForwardToCnn3DPreProcessor,
    FeedForwardToCnnPreProcessor,
    FeedForwardToRnnPreProcessor,
    GlobalPoolingLayer,
    InputType,
    L2NormalizeVertex,
    LastTimeStepVertex,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    RnnToCnnPreProcessor,
    RnnToFeedForwardPreProcessor,
    SimpleRnn,
    StackVertex,
    UnstackVertex,
)
from nn.onnx import onnx_model, write_onnx
from tests.onnx_at_work import Written

BASE = NeuralNetConfiguration(seed=5, dtype="float32", activation="tanh", bias_init=0.2)
SOFTMAX = {"n_out": 3, "activation": "softmax"}
SMALL = {"n_out": 3, "kernel_size": (2, 2)}


def chain(*layers, **settings):
    return MultiLayerNetwork(BASE.list(*layers, **settings)).init()


def graph(inputs, nodes, outputs, **settings):
    return ComputationGraph(BASE.graph(inputs, nodes, outputs, **settings)).init()


def signature(written):
    """Return the shapes of all inputs and outputs by their names."""
    ends = [*written.session.get_inputs(), *written.session.get_outputs()]
    return {end.name: end.shape for end in ends}


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(0.0, 1.0, shape)


# ---- what a model says of itself


def test_names_and_free_lengths_of_a_chain():
    series = InputType.recurrent(4)
    written = Written(chain(SimpleRnn(n_out=5), RnnOutputLayer(name="answer", **SOFTMAX), input_type=series))
    assert signature(written) == {"input": ["N", 4, "T"], "answer": ["N", 3, "T"]}
    for n, steps in ((2, 3), (1, 7)):
        written.check(numbers(n, 4, steps))
    assert (written.model.ir_version, written.model.opset_import[0].version) == (10, 18)
    assert written.model.producer_name == "ndwright"
    assert {one.name for one in written.model.graph.initializer} >= {"answer/W", "answer/b"}
    assert all(one.name.startswith(("layer0", "answer")) for one in written.model.graph.node)


def test_names_and_free_lengths_of_a_graph():
    inputs = {"a": InputType.recurrent(4), "b": InputType.recurrent(2)}
    nodes = {
        "ra": (SimpleRnn(n_out=5), "a"),
        "rb": (SimpleRnn(n_out=3), "b"),
        "la": (LastTimeStepVertex("a"), "ra"),
        "lb": (LastTimeStepVertex("b"), "rb"),
        "both": (MergeVertex(), "la", "lb"),
        "out": (OutputLayer(**SOFTMAX), "both"),
    }
    written = Written(graph(inputs, nodes, ["out", "both"]))
    assert signature(written) == {"a": ["N", 4, "T_a"], "b": ["N", 2, "T_b"], "out": ["N", 3], "both": ["N", 8]}
    written.check(numbers(2, 4, 3), numbers(2, 2, 5))


def test_an_output_that_is_an_input_has_a_name_of_its_own():
    nodes = {"same": (ActivationLayer("identity"), "x"), "out": (OutputLayer(**SOFTMAX), "same")}
    written = Written(graph({"x": InputType.feed_forward(4)}, nodes, ["same", "out"]))
    assert signature(written) == {"x": ["N", 4], "same": ["N", 4], "out": ["N", 3]}
    written.check(numbers(3, 4))


def test_a_layer_of_the_inputs_name_gives_another_output():
    written = Written(
        chain(DenseLayer(n_out=3), OutputLayer(name="input", **SOFTMAX), input_type=InputType.feed_forward(4))
    )
    assert signature(written) == {"input": ["N", 4], "input_out": ["N", 3]}
    written.check(numbers(2, 4))


def test_rows_that_are_no_examples_are_not_called_n():
    nodes = {
        "s": (StackVertex(), "x", "y"),
        "d": (DenseLayer(n_out=3), "s"),
        "u": (UnstackVertex(1, 2), "d"),
    }
    kinds = dict.fromkeys("xy", InputType.feed_forward(4))
    written = Written(graph(kinds, nodes, ["d", "u"]))
    shapes = signature(written)
    assert "N" not in (shapes["d"][0], shapes["u"][0])
    written.check(numbers(2, 4), numbers(2, 4, seed=1))


# ---- networks without input types, as Java's files have them


@pytest.mark.parametrize(
    ("layers", "shape", "x"),
    [
        ((DenseLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2)), ["N", 4], numbers(2, 4)),
        ((ActivationLayer("relu"), OutputLayer(n_in=3, n_out=2)), ["N", "C"], numbers(2, 3)),
        ((SimpleRnn(n_in=4, n_out=3), RnnOutputLayer(n_in=3, n_out=2)), ["N", 4, "T"], numbers(2, 4, 3)),
        ((EmbeddingLayer(n_in=4, n_out=3), OutputLayer(n_in=3, n_out=2)), ["N", 1], np.ones((2, 1))),
        (
            (EmbeddingSequenceLayer(n_in=4, n_out=3), RnnOutputLayer(n_in=3, n_out=2)),
            ["N", "T"],
            np.ones((2, 5)),
        ),
        (
            (ConvolutionLayer(n_in=2, **SMALL), GlobalPoolingLayer("avg"), OutputLayer(n_in=3, n_out=2)),
            ["N", 2, "H", "W"],
            numbers(2, 2, 4, 5),
        ),
        (
            (
                ConvolutionLayer(n_in=2, n_out=3, kernel_size=(2, 2), data_format="NHWC"),
                GlobalPoolingLayer("avg"),
                OutputLayer(n_in=3, n_out=2),
            ),
            ["N", "H", "W", 2],
            numbers(2, 4, 5, 2),
        ),
    ],
)  # fmt: skip
def test_sizes_that_layers_tell(layers, shape, x):
    written = Written(chain(*layers))
    assert signature(written)["input"] == shape
    written.check(x)


def test_input_types_may_be_given():
    layers = (
        ConvolutionLayer(n_in=2, **SMALL),
        GlobalPoolingLayer("avg"),
        OutputLayer(n_in=3, n_out=2),
    )
    written = Written(chain(*layers), input_types=[InputType.convolutional(4, 5, 2)])
    assert signature(written)["input"] == ["N", 2, 4, 5]
    with pytest.raises(nd.ConfigurationError, match=r"input_types must be one for each of the 1 inputs, got 2"):
        onnx_model(chain(*layers), input_types=[None, None])


def test_axes_that_nothing_tells_are_asked_for():
    net = graph(["x"], {"v": (L2NormalizeVertex(), "x")}, ["v"])
    with pytest.raises(nd.ConfigurationError, match=r"number of axes of input 'x' must be known.*Give input_types"):
        onnx_model(net)
    Written(net, input_types=[InputType.convolutional(4, 5, 2)]).check(numbers(2, 2, 4, 5))


# ---- preprocessors, with the channels in both places, and rows that are time steps


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_rows_of_images(data_format):
    kind = InputType.convolutional(4, 5, 2, data_format)
    written = Written(chain(ConvolutionLayer(**SMALL), DenseLayer(n_out=4), OutputLayer(**SOFTMAX), input_type=kind))
    written.check(numbers(2, *kind.shape))


@pytest.mark.parametrize("ncdhw", [True, False])
def test_volumes_of_rows(ncdhw):
    before = FeedForwardToCnn3DPreProcessor(2, 3, 2, 2, ncdhw)
    nodes = {"r": (ActivationLayer("tanh"), "x")}
    net = graph(["x"], nodes, ["r"], preprocessors={"r": before})
    Written(net, input_types=[InputType.feed_forward(24)]).check(numbers(3, 24))


def test_images_of_rows():
    kind = InputType.convolutional_flat(4, 5, 2)
    written = Written(chain(ConvolutionLayer(**SMALL), OutputLayer(**SOFTMAX), input_type=kind))
    assert signature(written)["input"] == ["N", 40]
    written.check(numbers(2, 40))


@pytest.mark.parametrize("data_format", ["NCW", "NWC"])
def test_rows_that_are_time_steps(data_format):
    kind = InputType.recurrent(4, 6, data_format)
    layers = (Convolution1DLayer(n_out=3, kernel_size=2), DenseLayer(n_out=5), RnnOutputLayer(**SOFTMAX))
    preprocessors = {1: RnnToFeedForwardPreProcessor(data_format), 2: FeedForwardToRnnPreProcessor(data_format)}
    written = Written(chain(*layers, input_type=kind, preprocessors=preprocessors))
    for n in (1, 3):
        written.check(numbers(n, *kind.shape))


def test_images_that_are_time_steps():
    layers = (ConvolutionLayer(n_out=2, kernel_size=(2, 2)), SimpleRnn(n_out=4), RnnOutputLayer(**SOFTMAX))
    net = chain(*layers, input_type=InputType.recurrent(12), preprocessors={0: RnnToCnnPreProcessor(3, 2, 2)})
    written = Written(net)
    assert signature(written) == {"input": ["N", 12, "T"], "layer2": ["N", 3, "layer2_2"]}
    for n, steps in ((2, 5), (3, 1)):
        written.check(numbers(n, 12, steps))


def test_preprocessors_that_let_pass():
    nodes = {
        "a": (DenseLayer(n_in=4, n_out=3), "x"),
        "b": (DenseLayer(n_in=3, n_out=2), "a"),
    }
    preprocessors = {"b": CnnToFeedForwardPreProcessor(1, 1, 3)}
    Written(graph(["x"], nodes, ["b"], preprocessors=preprocessors)).check(numbers(2, 4))
    images = {"c": (ConvolutionLayer(n_in=2, **SMALL), "x")}
    net = graph(["x"], images, ["c"], preprocessors={"c": FeedForwardToCnnPreProcessor(4, 5, 2)})
    Written(net, input_types=[InputType.convolutional(4, 5, 2)]).check(numbers(2, 2, 4, 5))


# ---- what is refused


class Sine(Activation):
    """One of a user's own."""

    def value(self, z, out=None, training=False):
        return nd.sin(z, out)

    def slope(self, z, a):
        return nd.cos(z)


def test_everything_that_onnx_cannot_say_is_named_at_once():
    layers = (
        DenseLayer(n_out=3, activation=Sine()),
        DenseLayer(name="fine", n_out=3),
        OutputLayer(n_out=2, activation=Sine()),
    )
    with pytest.raises(
        nd.ConfigurationError,
        match=r"got 2 that it cannot: layer 0 \(DenseLayer\): its activation Sine is .*; layer 2 \(OutputLayer\): its",
    ):
        onnx_model(
            chain(
                *layers,
                input_type=InputType.feed_forward(4),
            )
        )


def test_what_follows_from_a_refusal_is_not_named():
    class OwnConvolution(ConvolutionLayer):
        """One of a user's own."""

    layers = (OwnConvolution(n_in=2, n_out=3), DenseLayer(n_in=60, n_out=2), OutputLayer(n_in=2, n_out=2))
    net = chain(*layers, preprocessors={1: CnnToFeedForwardPreProcessor(4, 5, 3)})
    with pytest.raises(nd.ConfigurationError, match=r"got 1 that it cannot: layer 0 \(OwnConvolution\): [^;]*$"):
        onnx_model(net)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opset": 12}, "save: opset must be 13 to "),
        ({"opset": onnx.defs.onnx_opset_version() + 1}, "save: opset must be 13 to "),
        ({"ir_version": 7}, "save: ir_version must be 8, which opset 18 needs, to "),
    ],
)
def test_versions_are_those_of_the_package(settings, message):
    net = chain(DenseLayer(n_out=3), OutputLayer(**SOFTMAX), input_type=InputType.feed_forward(4))
    with pytest.raises(nd.ConfigurationError, match=message):
        onnx_model(net, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"opset": "18"}, r"opset must be an integer .*, got '18'\. Write it without quotes"),
        ({"opsett": 18}, r"unknown argument 'opsett', expected .*Did you mean 'opset'"),
        ({"masks": 1}, "masks must be True or False, got 1"),
        ({"training_step": "yes"}, "training_step must be True or False, got 'yes'"),
        ({"input_types": InputType.feed_forward(4)}, "input_types must be a sequence of an InputType or None"),
        ({"input_types": [InputType.feed_forward(5)]}, "shapes of all layers must fit on each other, got"),
    ],
)
def test_wrong_settings(settings, message, tmp_path):
    net = chain(DenseLayer(n_in=4, n_out=3), OutputLayer(**SOFTMAX))
    with pytest.raises(nd.NdError, match=message):
        net.save(tmp_path / "net.onnx", **settings)
    assert os.listdir(tmp_path) == []


def test_an_opset_has_the_form_of_files_that_it_needs(tmp_path):
    net, newest = chain(DenseLayer(n_in=4, n_out=3), OutputLayer(**SOFTMAX)), onnx.defs.onnx_opset_version()
    least = onnx.helper.find_min_ir_version_for([onnx.helper.make_opsetid("", newest)])
    for settings in ({}, {"training_step": True}):
        net.save(tmp_path / "net.onnx", opset=newest, **settings)
        assert onnx.load(tmp_path / "net.onnx").ir_version == max(10, least)
    with pytest.raises(nd.ConfigurationError, match=rf"got {least - 1}\. Leave it out for {max(10, least)}\."):
        onnx_model(net, opset=newest, ir_version=least - 1)


# ---- files


def test_a_file_has_less_than_two_gigabytes(tmp_path, monkeypatch):
    monkeypatch.setattr("nn.onnx.writing.MOST_BYTES", 100)
    with pytest.raises(nd.ConfigurationError, match=r"must have less than 100 bytes, got 108 of parameters alone"):
        chain(DenseLayer(n_in=4, n_out=3), OutputLayer(**SOFTMAX)).save(tmp_path / "net.onnx")


def test_a_file_is_replaced_when_the_new_one_is_complete(tmp_path):
    net = chain(DenseLayer(n_out=3), OutputLayer(**SOFTMAX), input_type=InputType.feed_forward(4))
    path = tmp_path / "net.onnx"
    net.save(path, opset=15, ir_version=8)
    kept = path.read_bytes()
    assert onnx.load(path).opset_import[0].version == 15
    with pytest.raises(nd.ConfigurationError, match="opset must be"):
        net.save(path, opset=1)
    assert path.read_bytes() == kept
    assert os.listdir(tmp_path) == ["net.onnx"]
    with io.BytesIO() as file:
        write_onnx(net, file, opset=15, ir_version=8)
        assert file.getvalue() == kept
    with pytest.raises(nd.ConfigurationError, match=r"expected a name for a model of ONNX.*net\.zip"):
        write_onnx(net, tmp_path / "net.zip")
