"""What becomes of multipliers, shared parameters, labels, weights of losses; and what is refused, all at once."""

import logging

import numpy as np
import pytest

import nd
from nn import (
    ActivationLayer,
    BatchNormalization,
    ConvolutionLayer,
    DepthwiseConvolution2D,
    FrozenLayerWithBackprop,
    LossLayer,
    ScaleVertex,
    SubsamplingLayer,
)
from nn.caffe.net import Net
from nn.caffe.to_graph import convert_net

ROWS = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 3 dim: 4 } } }\n'
IMAGES = 'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 4 dim: 7 dim: 8 } } }\n'
LABELS = 'layer { name: "label" type: "Input" top: "label" input_param { shape { dim: 3 } } }\n'
FILLED = 'weight_filler { type: "gaussian" } bias_filler { type: "gaussian" }'


def layer(name, kind, bottoms, settings="", tops=""):
    ends = "".join(f'bottom: "{each}" ' for each in bottoms.split())
    ends += "".join(f'top: "{each}" ' for each in (tops or name).split())
    return f'layer {{ name: "{name}" type: "{kind}" {ends} {settings} }}\n'


def dense(name, bottom, outputs, more=""):
    return layer(name, "InnerProduct", bottom, f"inner_product_param {{ num_output: {outputs} {FILLED} }} {more}")


def kinds_of(graph):
    return {name: type(conf) for name, conf in graph.conf.vertices.items()}


def check_same(net, **inputs):
    expected = net.forward(**inputs)
    graph = net.to_computation_graph()
    given = dict(zip(graph.conf.outputs, graph.output(*(inputs[name] for name in graph.conf.inputs)), strict=True))
    for name, array in given.items():
        np.testing.assert_allclose(array, expected[name], rtol=1e-10, atol=1e-12)
    return graph


def numbers(net):
    return np.random.default_rng(0).normal(0.0, 1.0, net.blobs["data"].shape)


def test_all_layers_without_a_counterpart_are_named_at_once():
    text = ROWS + layer("a", "Exp", "data") + layer("b", "Threshold", "a") + layer("c", "TanH", "b")
    text += layer("d", "Softmax", "c", "softmax_param { axis: 0 }")
    with pytest.raises(nd.ConfigurationError, match=r"got 3 .*'a' \(Exp\).*'b' \(Threshold\).*'d' \(Softmax\)"):
        Net(text).to_computation_graph()


def test_what_only_leads_to_an_accuracy_need_not_have_a_counterpart():
    text = ROWS + LABELS + dense("ip", "data", 2) + layer("high", "Threshold", "ip")
    text += layer("accuracy", "Accuracy", "high label") + layer("loss", "SoftmaxWithLoss", "ip label")
    assert kinds_of(Net(text).to_computation_graph())["loss"] is LossLayer
    without_loss = ROWS + LABELS + dense("ip", "data", 2) + layer("prob", "Softmax", "ip")
    graph = Net(without_loss + layer("accuracy", "Accuracy", "prob label")).to_computation_graph()
    assert graph.conf.outputs == ("prob",)


def test_what_is_only_written_to_a_file_is_an_output(tmp_path):
    write = f'hdf5_output_param {{ file_name: "{tmp_path / "out.h5"}" }}'
    text = ROWS + LABELS + dense("ip", "data", 2) + layer("write", "HDF5Output", "ip label", write, tops=" ")
    assert Net(text).to_computation_graph().conf.outputs == ("ip",)


def test_a_net_of_losses_values_alone_is_refused():
    text = ROWS + layer("hush", "Silence", "data", tops=" ")
    with pytest.raises(nd.ConfigurationError, match="must have outputs beside losses' values"):
        Net(text).to_computation_graph()


def test_a_layer_that_reads_a_loss_is_refused():
    text = ROWS + LABELS + dense("ip", "data", 2) + layer("loss", "SoftmaxWithLoss", "ip label")
    with pytest.raises(nd.ConfigurationError, match=r"'double' \(Power\): it reads a loss"):
        Net(text + layer("double", "Power", "loss", "power_param { scale: 2 }")).to_computation_graph()


def test_computed_labels_are_refused():
    text = ROWS + dense("ip", "data", 4) + layer("half", "Power", "data", "power_param { scale: 0.5 }")
    with pytest.raises(nd.ConfigurationError, match="labels that a layer computes"):
        Net(text + layer("loss", "EuclideanLoss", "ip half")).to_computation_graph()


def test_an_input_may_be_the_labels_too():
    text = ROWS + layer("flat", "Flatten", "data") + dense("ip", "data", 4) + layer("loss", "EuclideanLoss", "ip flat")
    net = Net(text, "TRAIN", dtype="float64")
    x = numbers(net)
    net.forward(data=x)
    graph = net.to_computation_graph()
    assert graph.conf.inputs == ("data",)
    assert graph.score(nd.dataset.MultiDataSet([x], [x])) == pytest.approx(net.loss, rel=1e-10)


def test_a_weight_on_a_top_that_is_no_loss_is_refused():
    with pytest.raises(nd.ConfigurationError, match="a loss_weight on a top that is no loss"):
        Net(ROWS + layer("tanh", "TanH", "data", "loss_weight: 2")).to_computation_graph()


def test_weights_of_losses_and_their_second_tops():
    text = ROWS + LABELS + dense("ip", "data", 5)
    text += layer("loss", "SoftmaxWithLoss", "ip label", "loss_weight: 0.3 loss_weight: 0", tops="value prob")
    text += layer("more", "Power", "prob", "power_param { scale: 2 }")
    net = Net(text, "TRAIN", dtype="float64", seed=2)
    net.blobs["data"].data, net.blobs["label"].data = x, labels = numbers(net), np.array([1, 4, 0])
    net.forward()
    graph = net.to_computation_graph()
    assert graph.conf.outputs == ("loss", "more")
    _, doubled = graph.output(x)
    np.testing.assert_allclose(doubled, net.blobs["more"].data, rtol=1e-10)
    alone = Net(text.replace(layer("more", "Power", "prob", "power_param { scale: 2 }"), ""), "TRAIN", dtype="float64")
    alone.copy_from(net)
    given = alone.to_computation_graph().score(nd.dataset.MultiDataSet([x], [np.eye(5)[labels]]))
    assert given == pytest.approx(net.loss, rel=1e-10)


def test_layers_that_are_not_trained_are_frozen():
    still = "param { lr_mult: 0 } param { lr_mult: 0 }"
    net = Net(ROWS + dense("a", "data", 3, still) + dense("b", "a", 2, "param { lr_mult: 1 } param { lr_mult: 2 }"))
    graph, notes = convert_net(net)
    kinds = kinds_of(graph)
    assert (kinds["a"], kinds["b"] is FrozenLayerWithBackprop) == (FrozenLayerWithBackprop, False)
    assert notes == ("multipliers of learning rates and of decay are not taken over, but for layers with none",)


def test_shared_parameters():
    shared = 'param { name: "W" } param { name: "b" }'
    text = ROWS + dense("a", "data", 4, shared) + dense("b", "a", 4, shared)
    net = Net(text, dtype="float64")
    check_same(net, data=numbers(net))
    assert "shared are copies in the graph" in convert_net(net).notes[0]
    with pytest.raises(nd.ConfigurationError, match=r"share no parameters, got some shared by layer \d+ 'b'"):
        Net(text, "TRAIN").to_computation_graph()


def test_notes_are_logged(caplog):
    text = ROWS + layer("scale", "Scale", "data", "scale_param { num_axes: 0 filler { value: 3 } }")
    net = Net(text, dtype="float64")
    with caplog.at_level(logging.INFO, "nn.caffe.to_graph"):
        graph = check_same(net, data=numbers(net))
    assert kinds_of(graph)["scale"] is ScaleVertex
    assert "its number is a constant of the graph" in caplog.text


@pytest.mark.parametrize(
    "between", ["", layer("mid", "Reshape", "data", "reshape_param { shape { dim: 0 dim: 2 dim: 2 } }")]
)
def test_activations_of_what_others_read_work_on_copies(between):
    """Java's write over their input outside of training."""
    text = ROWS + between + layer("tanh", "TanH", "mid" if between else "data") + layer("flat", "Flatten", "tanh")
    net = Net(text + dense("ip", "data", 4) + layer("sum", "Eltwise", "flat ip"), dtype="float64")
    graph = check_same(net, data=numbers(net))
    assert graph.conf.vertex_inputs["tanh"] == ("tanh/copy",)
    assert isinstance(graph.conf.vertices["tanh"], ActivationLayer)


def test_a_vertex_that_reads_another_one_twice_reads_a_copy():
    text = (
        ROWS
        + layer("tanh", "TanH", "data")
        + layer("square", "Eltwise", "tanh tanh", "eltwise_param { operation: PROD }")
    )
    net = Net(text, dtype="float64")
    graph = check_same(net, data=numbers(net))
    assert graph.conf.vertex_inputs["square"] == ("tanh", "square/again1")


def test_a_layer_with_the_name_of_an_input():
    net = Net(ROWS.replace('name: "data"', 'name: "in"') + layer("data", "TanH", "data", tops="out"), dtype="float64")
    assert net.to_computation_graph().conf.outputs == ("data#2",)


def test_an_input_without_channels_is_refused():
    text = 'layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 3 } } }\n'
    text += layer("rows", "Reshape", "x", "reshape_param { shape { dim: 0 dim: 1 } }") + layer("out", "TanH", "rows")
    with pytest.raises(nd.ConfigurationError, match=r"input 'x' must have 2 to 5 axes"):
        Net(text).to_computation_graph()


CONVOLUTION = "convolution_param {{ num_output: 8 kernel_size: 3 group: {} bias_term: false }}"


@pytest.mark.parametrize(
    ("group", "expected"),
    [(1, ["conv"]), (2, ["channels0", "group0", "channels1", "group1", "conv"]), (4, ["conv"])],
)
def test_groups(group, expected):
    graph = Net(IMAGES + layer("conv", "Convolution", "data", CONVOLUTION.format(group))).to_computation_graph()
    assert [name.removeprefix("conv/") for name in graph.conf.vertices] == expected
    kind = DepthwiseConvolution2D if group == 4 else ConvolutionLayer
    assert kind in kinds_of(graph).values()


POOLINGS = {
    "AVE kernel_size: 3 stride: 2 pad: 1": 3,  # zeros around, every window, some of them
    "AVE kernel_size: 3 stride: 2": 3,  # 7 rows fit, 8 columns do not
    "MAX kernel_size: 2 stride: 2": 1,  # mode Same
    "MAX kernel_size: 3 stride: 1 pad: 1": 1,
    "MAX kernel_size: 3 stride: 2 pad: 1": 3,
    "MAX kernel_size: 5 stride: 3 round_mode: FLOOR": 1,
}
"""Settings -> vertices that they take."""


@pytest.mark.parametrize("settings", POOLINGS)
def test_poolings(settings):
    net = Net(IMAGES + layer("pool", "Pooling", "data", f"pooling_param {{ pool: {settings} }}"), dtype="float64")
    graph = check_same(net, data=numbers(net))
    assert sum(kind is SubsamplingLayer for kind in kinds_of(graph).values()) <= 2
    assert abs(len(graph.conf.vertices) - POOLINGS[settings]) <= 1


def normalised(text, phase):
    net = Net(IMAGES + text, phase, dtype="float64")
    for blob, low in zip(net.params["bn"], (-1.0, 0.5, 2.0), strict=True):
        blob.data = np.random.default_rng(1).uniform(low, low + 1.0, blob.shape)
    return net


SCALE = "scale_param { bias_term: true filler { value: 2 } bias_filler { value: 0.5 } }"
STILL = "param { lr_mult: 0 } param { lr_mult: 0 }"


@pytest.mark.parametrize(
    ("settings", "more", "phase", "expected"),
    [
        ("", "", "TEST", [BatchNormalization]),
        ("", "", "TRAIN", [BatchNormalization]),
        ("", STILL, "TRAIN", [BatchNormalization, FrozenLayerWithBackprop]),
        ("use_global_stats: true", "", "TEST", [BatchNormalization]),
        ("use_global_stats: true", "", "TRAIN", [FrozenLayerWithBackprop, DepthwiseConvolution2D]),
        ("use_global_stats: true", STILL, "TRAIN", [FrozenLayerWithBackprop]),
    ],
)
def test_batch_normalisation_and_the_scale_behind_it(settings, more, phase, expected):
    text = layer("bn", "BatchNorm", "data", f"batch_norm_param {{ {settings} }}")
    net = normalised(text + layer("scale", "Scale", "bn", f"{SCALE} {more}"), phase)
    x = numbers(net)
    graph = net.to_computation_graph()
    assert list(kinds_of(graph).values()) == expected
    net.forward(data=x)
    (given,) = graph.output(x, train=phase == "TRAIN")
    np.testing.assert_allclose(given, net.blobs["scale"].data, rtol=1e-10, atol=1e-10)


def test_a_normalisation_without_statistics():
    net = Net(IMAGES + layer("bn", "BatchNorm", "data"), dtype="float64")
    check_same(net, data=numbers(net) * 1e-3)


def test_statistics_of_the_minibatch_outside_of_training_are_refused():
    text = layer("bn", "BatchNorm", "data", "batch_norm_param { use_global_stats: false }")
    with pytest.raises(nd.ConfigurationError, match="statistics of a minibatch in training alone"):
        Net(IMAGES + text).to_computation_graph()
