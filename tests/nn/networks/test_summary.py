"""The tables that `summary` of networks shows."""

import pytest

import nd
from nn import (
    BatchNormalization,
    ComputationGraph,
    Convolution1DLayer,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    FrozenLayer,
    GlobalPoolingLayer,
    InputType,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)


def test_the_summary_shows_layers_shapes_and_counts():
    conf = NeuralNetConfiguration().list(
        DenseLayer(n_out=1500, name="wide"), OutputLayer(n_out=2), input_type=InputType.convolutional(2, 3, 4)
    )
    text = MultiLayerNetwork(conf).summary()
    rows = [line.split() for line in text.splitlines()]
    assert rows[0] == ["layer", "type", "in", "->", "out", "activations", "weights", "parameters"]
    wide = ["0", "wide", "DenseLayer", "feed_forward(24)", "->", "feed_forward(1500)"]
    assert rows[2] == [*wide, "6,000", "B", "150,000", "B", "37,500"]
    last = ["1", "layer1", "OutputLayer", "feed_forward(1500)", "->", "feed_forward(2)"]
    assert rows[3] == [*last, "8", "B", "12,008", "B", "3,002"]
    assert text.splitlines()[-2] == "memory: 162,008 bytes of parameters, 6,008 bytes of activations for one example"
    assert rows[-1] == ["total", "parameters:", "40,502"]
    assert len({len(line) for line in text.splitlines()[:-2]}) == 1


def test_the_summary_without_an_input_type():
    conf = NeuralNetConfiguration().list(DenseLayer(n_in=3, n_out=4), OutputLayer(n_in=4, n_out=2))
    rows = [line.split() for line in MultiLayerNetwork(conf).summary().splitlines()]
    assert rows[2][2:] == ["DenseLayer", "3", "->", "4", "64", "B", "16"]
    assert " ".join(rows[-2]) == "memory: 104 bytes of parameters"
    assert rows[-1][-1] == "26"


# ---- graphs


def rows_of(conf):
    text = ComputationGraph(conf).summary()
    return {line.split()[0]: line.split() for line in text.splitlines()}, text.splitlines()


def test_the_summary_of_a_graph_shows_inputs_shapes_bytes_and_counts():
    conf = NeuralNetConfiguration().graph(
        inputs={"left": InputType.convolutional(4, 4, 1), "right": InputType.feed_forward(7)},
        nodes={
            "images": (ConvolutionLayer(n_out=2, kernel_size=(3, 3)), "left"),
            "norm": (BatchNormalization(), "images"),
            "rows": (DenseLayer(n_out=5), "norm"),
            "fixed": (FrozenLayer(DenseLayer(n_out=5)), "right"),
            "both": (ElementWiseVertex("add"), "rows", "fixed"),
            "side": (MergeVertex(), "rows", "fixed"),
            "answer": (OutputLayer(n_out=2), "both", "side"),
        },
        outputs="answer",
    )
    rows, lines = rows_of(conf)
    image = "convolutional(2x2x2)"
    assert " ".join(lines[0].split()) == "vertex type inputs in -> out activations weights parameters"
    assert rows["left"][1:] == ["input", "convolutional(4x4x1)"]
    # 2 * 3 * 3 weights and 2 biases; 2 * 2 * 2 numbers of 4 bytes
    assert rows["images"][2:] == ["left", "convolutional(4x4x1)", "->", image, "32", "B", "80", "B", "20"]
    assert rows["norm"][2:] == ["images", image, "32", "B", "32", "B", "8"]
    assert rows["rows"][2:] == ["norm", "feed_forward(8)", "->", "feed_forward(5)", "20", "B", "180", "B", "45"]
    assert rows["fixed"][1:3] == ["FrozenLayer", "right"]
    assert rows["both"][1:] == ["ElementWiseVertex", "rows,", "fixed", "feed_forward(5)", "20", "B", "0", "B", "0"]
    assert rows["side"][2:-5] == ["rows,", "fixed", "2", "x", "feed_forward(5)", "->", "feed_forward(10)"]
    assert rows["answer-merge"][2:-5] == [
        "both,", "side", "feed_forward(5),", "feed_forward(10)", "->", "feed_forward(15)"
    ]  # fmt: skip
    # 20 + 8 + 45 + 40 + 32, of which 40 are frozen, and mean and variance of 2 channels follow the minibatches
    assert lines[-1] == "total parameters: 145, trainable: 101, frozen: 40, running statistics: 4"
    # 32 + 32 + 20 + 20 + 20 + 40 + 60 + 8
    assert lines[-2] == "memory: 580 bytes of parameters, 232 bytes of activations for one example"
    assert [line.split()[0] for line in lines[2:-3]] == ComputationGraph(conf).topological_order()


def test_the_summary_of_series_counts_their_steps_where_their_length_is_not_known():
    nodes = {
        "steps": (Convolution1DLayer(n_out=6, kernel_size=3, convolution_mode="same"), "series"),
        "pool": (GlobalPoolingLayer("max"), "steps"),
        "answer": (OutputLayer(n_out=2), "pool"),
    }
    base = NeuralNetConfiguration(dtype="float64")
    _, lines = rows_of(base.graph({"series": InputType.recurrent(3)}, nodes, "answer"))
    assert lines[3].split()[-7:] == ["48", "B", "a", "step", "480", "B", "60"]
    assert lines[-2].endswith(", 64 bytes of activations for one example, and 48 for each of its time steps")
    _, lines = rows_of(base.graph({"series": InputType.recurrent(3, 10)}, nodes, "answer"))
    assert lines[-2].endswith(", 544 bytes of activations for one example")


def test_the_summary_of_a_graph_without_input_types():
    conf = NeuralNetConfiguration().graph(
        inputs=["x"],
        nodes={
            "a": (DenseLayer(n_in=3, n_out=4), "x"),
            "sum": (ElementWiseVertex("add"), "a", "a"),
            "y": (OutputLayer(n_in=4, n_out=2), "sum"),
        },
        outputs="y",
    )
    rows, lines = rows_of(conf)
    assert rows["a"][1:] == ["DenseLayer", "x", "3", "->", "4", "64", "B", "16"]
    assert rows["sum"][1:] == ["ElementWiseVertex", "a,", "a", "0", "B", "0"]
    assert lines[-1] == "total parameters: 26, trainable: 26, frozen: 0"


@pytest.mark.parametrize("kind", [MultiLayerNetwork, ComputationGraph])
def test_what_is_no_input_type_is_refused_also_where_none_is_needed(kind):
    net = MultiLayerNetwork(NeuralNetConfiguration().list(DenseLayer(n_in=3, n_out=4), OutputLayer(n_in=4, n_out=2)))
    net = net.init() if kind is MultiLayerNetwork else net.init().to_computation_graph()
    assert net.summary(None) == net.summary()
    for wrong in (3, "feed_forward", [3]):
        with pytest.raises(nd.ArgumentError, match="summary: input_types must be an InputType or None, got "):
            net.summary(wrong)
