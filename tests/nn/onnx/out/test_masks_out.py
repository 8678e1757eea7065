"""Masks of time steps as inputs of ONNX models: what onnxruntime computes is what the network does with masks."""

from dataclasses import replace

import numpy as np
import onnxruntime
import pytest

import nd
from nn import (
    LSTM,
    AttentionVertex,
    CnnToRnnPreProcessor,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    GlobalPoolingLayer,
    GravesLSTM,
    InputType,
    LastTimeStep,
    LastTimeStepVertex,
    MaskLayer,
    MaskZeroLayer,
    MergeVertex,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    RnnToCnnPreProcessor,
    SimpleRnn,
    SpaceToBatchLayer,
    StackVertex,
    SubsamplingLayer,
    UnstackVertex,
)
from nn.layers import LAYERS
from nn.layers.runtime import LayerRuntime
from nn.onnx.out import masks
from nn.terms.input_type import RecurrentType
from nn.terms.preprocessors import PREPROCESSORS, InputPreProcessor
from nn.vertices import VERTICES
from nn.vertices.runtime import VertexRuntime
from tests.cases import mixed_graphs
from tests.cases.layers import LAYER_CASES, make_features
from tests.cases.random_graphs import draw_graph
from tests.cases.random_series import draw_series
from tests.cases.vertices import VERTEX_CASES
from tests.nn.layers.test_every_layer import make_network
from tests.nn.onnx.out.test_every_layer_out import features_of, graph_of
from tests.onnx_at_work import CLOSE, Written

LAYER_ROWS = [
    pytest.param(case, id=f"{kind}-{case.variant}", marks=[pytest.mark.slow] * (number > 0))
    for kind, rows in LAYER_CASES.items()
    for number, case in enumerate(case for case in rows if isinstance(case.input_type, RecurrentType))
]
REFUSED = {
    "merge-steps": "it joins time steps",
    "merge-steps-of-nwc": "it joins time steps",
    "reshape-images": "mask_shape must say",
    "reshape-rows": "mask_shape must say",
}
VERTEX_ROWS = [
    pytest.param(case, f"{kind}-{case.variant}", id=f"{kind}-{case.variant}")
    for kind, rows in VERTEX_CASES.items()
    for case in rows
    if any(len(shape) == 3 for shape in case.shapes)
]


def gaps(examples, steps, seed=0):
    """Return a mask ``[N, T]`` with gaps; of the last example nothing counts."""
    mask = np.random.default_rng([seed, steps]).random((examples, steps)) < 0.6
    mask[-1] = mask[-1] & (examples == 1)
    return mask.astype(float)


# ---- every layer, vertex and preprocessor


def test_every_class_with_a_rule_of_its_own_is_in_the_tables():
    layers = [LAYERS[name] for name in LAYERS]
    own = {kind.__name__ for kind in layers if kind.runtime.feed_forward_mask is not LayerRuntime.feed_forward_mask}
    assert sorted(own) == list(masks.LAYERS)
    parts = [PREPROCESSORS[name] for name in PREPROCESSORS]
    own = {kind.__name__ for kind in parts if kind.feed_forward_mask is not InputPreProcessor.feed_forward_mask}
    assert sorted(own) == list(masks.PREPROCESSORS)
    vertices = [VERTICES[name] for name in VERTICES if hasattr(VERTICES[name], "runtime")]
    usual = VertexRuntime.feed_forward_mask
    own = {kind.__name__ for kind in vertices if kind.runtime.feed_forward_mask is not usual}
    first = {"AttentionVertex", "FrozenVertex", "PoolHelperVertex"}  # hand on the first mask, or are opened before
    assert sorted(own - first) == sorted([*masks.VERTICES, *masks.VERTICES_OF_SEVERAL])


@pytest.mark.parametrize("case", LAYER_ROWS)
def test_layer(case):
    written = Written(make_network(case, "float32"), masks=True)
    for n in (3, 1):
        x = make_features(case, n=n)
        written.check(x, masks=[gaps(n, x.shape[-1])])
        written.check(x, masks=[np.ones((n, x.shape[-1]))])


@pytest.mark.parametrize(("case", "name"), VERTEX_ROWS)
def test_vertex(case, name):
    net = graph_of(case)
    if name in REFUSED:
        with pytest.raises(nd.ConfigurationError, match=REFUSED[name]):
            Written(net, masks=True)
        return
    xs, formats = features_of(case), net.conf.formats.inputs
    lengths = [x.shape[1 if kind == "NWC" else 2] if x.ndim == 3 else 0 for x, kind in zip(xs, formats, strict=True)]
    pairs = enumerate(zip(map(len, xs), lengths, strict=True))
    given = [gaps(count, length, place) if length else None for place, (count, length) in pairs]
    Written(net, masks=True).check(*xs, masks=given)


# ---- networks


def network(*layers, dtype="float32", **settings):
    base = NeuralNetConfiguration(seed=5, dtype=dtype, weight_init="xavier", bias_init=0.1, activation="tanh")
    return MultiLayerNetwork(base.list(*layers, **{"input_type": InputType.recurrent(3), **settings})).init()


def series(examples, steps, channels=3):
    return np.random.default_rng([examples, steps]).normal(0.0, 0.8, (examples, channels, steps))


def check_sizes(net, channels=3):
    written = Written(net, masks=True)
    for examples, steps in ((3, 5), (1, 2), (5, 8)):
        written.check(series(examples, steps, channels), masks=[gaps(examples, steps)])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_series_through_layers_of_rows(dtype):
    layers = [LSTM(n_out=4), DenseLayer(n_out=3), MaskLayer(), SimpleRnn(n_out=4), RnnOutputLayer(n_out=2)]
    check_sizes(network(*layers, dtype=dtype))


@pytest.mark.parametrize("kind", ["avg", "max", "pnorm", "sum"])
def test_pooling_of_what_counts(kind):
    layers = [GravesLSTM(n_out=4), GlobalPoolingLayer(kind), OutputLayer(n_out=2)]
    for dtype in ("float32", "float64"):
        check_sizes(network(*layers, dtype=dtype))


@pytest.mark.parametrize("around", [LastTimeStep, MaskZeroLayer, lambda layer: LastTimeStep(MaskZeroLayer(layer))])
def test_masks_multiply_the_states_inside_of_other_layers(around):
    tail = [GlobalPoolingLayer("avg")] * (around is MaskZeroLayer)
    for inside in (LSTM(n_out=4), GravesLSTM(n_out=4), SimpleRnn(n_out=4)):
        net = network(around(inside), *tail, OutputLayer(n_out=2))
        written = Written(net, masks=True)
        x, mask = series(4, 6), gaps(4, 6)
        x[:, :, 2:4] = 0.0
        written.check(x, masks=[mask])
        assert "Scan" in written.ops


def test_a_mask_goes_past_an_lstm():
    written = Written(network(LSTM(n_out=4), RnnOutputLayer(n_out=2)), masks=True)
    assert "LSTM" in written.ops
    assert "Scan" not in written.ops


def test_images_of_time_steps():
    before = {0: RnnToCnnPreProcessor(4, 5, 2), 2: CnnToRnnPreProcessor(2, 2, 3)}
    layers = [ConvolutionLayer(n_out=3, kernel_size=(2, 2)), SubsamplingLayer(kernel_size=(2, 2), stride=(1, 2))]
    layers += [SimpleRnn(n_out=4), RnnOutputLayer(n_out=2)]
    check_sizes(network(*layers, input_type=InputType.recurrent(40), preprocessors=before), channels=40)


def draw_network(number, dtype):
    drawn = draw_series(number)
    net = MultiLayerNetwork(replace(drawn.conf, base=replace(drawn.conf.base, dtype=dtype))).init()
    return net, nd.to_host(drawn.data.features)


@pytest.mark.parametrize("number", [*range(6), *(pytest.param(n, marks=pytest.mark.slow) for n in range(6, 150))])
def test_random_series(number):
    for dtype in ("float32", "float64"):
        net, x = draw_network(number, dtype)
        steps = x.shape[1 if net.conf.formats.inputs[0] == "NWC" else 2]
        Written(net, masks=True).check(x, masks=[gaps(len(x), steps)])
        Written(net).check(x)


# ---- graphs


def graph(inputs, vertices, outputs, **settings):
    base = NeuralNetConfiguration(seed=5, dtype="float32", weight_init="xavier", bias_init=0.1, activation="tanh")
    return ComputationGraph(base.graph(inputs, vertices, outputs, **settings)).init()


def two_series():
    inputs = {"ask": InputType.recurrent(3), "told": InputType.recurrent(4)}
    return graph(
        inputs,
        {
            "asked": (LSTM(n_out=4), "ask"),
            "known": (SimpleRnn(n_out=4), "told"),
            "found": (AttentionVertex(n_out=4, n_heads=2, project_input=True), "asked", "known", "known"),
            "both": (ElementWiseVertex("add"), "asked", "found"),
            "pooled": (GlobalPoolingLayer("max"), "both"),
            "last": (LastTimeStepVertex("told"), "known"),
            "all": (MergeVertex(), "pooled", "last"),
            "out": (OutputLayer(n_out=2), "all"),
            "steps": (RnnOutputLayer(n_out=2), "found"),
        },
        ["out", "steps"],
    )


def test_two_inputs_and_their_masks():
    written = Written(two_series(), masks=True)
    names = [one.name for one in written.session.get_inputs()]
    assert names == ["ask", "told", "ask_mask", "told_mask"]
    assert [one.shape for one in written.session.get_inputs()][2:] == [["N", "T_ask"], ["N", "T_told"]]
    for n in (2, 1, 4):
        written.check(series(n, 5), series(n, 3, 4), masks=[gaps(n, 5), gaps(n, 3, 1)])


def test_stacked_series_of_other_lengths():
    net = graph(
        {"a": InputType.recurrent(3), "b": InputType.recurrent(3)},
        {
            "stack": (StackVertex(), "a", "b"),
            "shared": (SimpleRnn(n_out=4), "stack"),
            "second": (UnstackVertex(1, 2), "shared"),
            "out": (RnnOutputLayer(n_out=2), "second"),
        },
        ["out"],
    )
    written = Written(net, masks=True)
    for n, steps in ((2, (5, 3)), (3, (2, 6)), (1, (4, 4))):
        written.check(*(series(n, length) for length in steps), masks=[gaps(n, length) for length in steps])


def of_series(number):
    drawn = draw_graph(number)
    return ComputationGraph(drawn.conf).init(), [nd.to_host(x) for x in drawn.data.features]


def of_several_kinds(number):
    drawn = mixed_graphs.draw(number)
    return drawn.network(), drawn.features


def check_graph(drawing, number):
    """Compare a random graph with masks of all its series; tell whether it has any."""
    net, xs = drawing(number)
    given = [gaps(len(x), x.shape[2], place) if x.ndim == 3 else None for place, x in enumerate(xs)]
    if any(mask is not None for mask in given):
        Written(net, masks=True).check(*xs, masks=given)
    return any(mask is not None for mask in given)


@pytest.mark.parametrize("drawing", [of_series, of_several_kinds])
def test_random_graphs(drawing):
    assert sum(check_graph(drawing, number) for number in range(6)) >= 1


@pytest.mark.slow
@pytest.mark.parametrize(("drawing", "least"), [(of_series, 40), (of_several_kinds, 50)])
def test_many_random_graphs(drawing, least):
    assert sum(check_graph(drawing, number) for number in range(6, 150)) >= least


def test_a_file_with_masks(tmp_path):
    net = network(SimpleRnn(n_out=4), RnnOutputLayer(n_out=2))
    net.save(tmp_path / "net.onnx", masks=True)
    x, mask = (array.astype("float32") for array in (series(3, 5), gaps(3, 5)))
    session = onnxruntime.InferenceSession(tmp_path / "net.onnx", providers=["CPUExecutionProvider"])
    found = session.run(["layer1"], {"input": x, "input_mask": mask})[0]
    np.testing.assert_allclose(found, nd.to_host(net.output(x, features_mask=mask)), **CLOSE)


# ---- what is refused


def test_without_series():
    net = network(DenseLayer(n_out=3), OutputLayer(n_out=2), input_type=InputType.feed_forward(3))
    with pytest.raises(nd.ConfigurationError, match="must have an input of time series"):
        Written(net, masks=True)


def test_blocks_that_become_examples():
    before = {0: RnnToCnnPreProcessor(4, 4, 2), 1: CnnToRnnPreProcessor(2, 2, 2)}
    layers = [SpaceToBatchLayer(blocks=(2, 2)), SimpleRnn(n_out=2), RnnOutputLayer(n_out=2)]
    net = network(*layers, input_type=InputType.recurrent(32), preprocessors=before)
    with pytest.raises(nd.ConfigurationError, match="masks do not go through it"):
        Written(net, masks=True)
