"""Vertices in graphs whose channels come last: the same graphs with the channels first, and what NumPy makes of it."""

import json

import numpy as np
import pytest

import nd
from nd.dataset import MultiDataSet
from nn import (
    AttentionVertex,
    CnnToFeedForwardPreProcessor,
    ComputationGraph,
    ComputationGraphConfiguration,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    DuplicateToTimeSeriesVertex,
    ElementWiseVertex,
    FrozenVertex,
    GlobalPoolingLayer,
    InputType,
    L2NormalizeVertex,
    L2Vertex,
    LastTimeStepVertex,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    PoolHelperVertex,
    PreprocessorVertex,
    ReshapeVertex,
    ReverseTimeSeriesVertex,
    RnnOutputLayer,
    ScaleVertex,
    StackVertex,
    SubsetVertex,
    UnstackVertex,
)
from nn.terms.data_formats import outward

RNG = np.random.default_rng(7)
FORMATS = {3: ("NCW", "NWC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
FIRST = {
    3: RNG.normal(size=(4, 2, 6)),
    4: RNG.normal(size=(4, 2, 6, 5)),
    5: RNG.normal(size=(4, 2, 3, 4, 3)),
}
LABELS = np.eye(3)[[0, 2, 1, 1]]
STEPS = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 1, 0, 1, 0], [1, 0, 0, 0, 0, 0]], float)
SETTINGS = NeuralNetConfiguration(seed=3, dtype="float64", updater="adam", activation="tanh", weight_init="xavier")


def features(ndim, last):
    """Return the same images, series or volumes, in that format."""
    return np.ascontiguousarray(np.moveaxis(FIRST[ndim], 1, -1)) if last else FIRST[ndim]


def type_of(ndim, last):
    _, channels, *places = FIRST[ndim].shape
    make = {3: InputType.recurrent, 4: InputType.convolutional, 5: InputType.convolutional3d}[ndim]
    sizes = (channels, *places) if ndim == 3 else (*places, channels)
    return make(*sizes, FORMATS[ndim][last])


def convolution(ndim, n_out=3, **settings):
    kind = {3: Convolution1DLayer, 4: ConvolutionLayer, 5: Convolution3D}[ndim]
    size = 2 if ndim == 3 else (2,) * (ndim - 2)
    return kind(n_out=n_out, kernel_size=size, convolution_mode="same", **settings)


def graph(nodes, ndim, last, outputs="out", **settings):
    conf = SETTINGS.graph({"in": type_of(ndim, last)}, nodes, outputs, **settings)
    return ComputationGraph(conf).init()


def behind_two_layers(ndim, last, vertex, inputs, after):
    layers = {name: (convolution(ndim), "in") for name in inputs}
    return graph({**layers, "v": (vertex, *inputs), **after}, ndim, last)


POOLED = {"pool": (GlobalPoolingLayer("avg"), "v"), "out": (OutputLayer(n_out=3, activation="softmax"), "pool")}
ROWS = {"out": (OutputLayer(n_out=3, activation="softmax"), "v")}
TURNED = {
    "c": (convolution(4), "v"),
    "pool": (GlobalPoolingLayer("max"), "c"),
    "out": (OutputLayer(n_out=3, activation="softmax"), "pool"),
}
UNSTACKED = {
    "u": (UnstackVertex(1, 2), "v"),
    "pool": (GlobalPoolingLayer("max"), "u"),
    "out": (OutputLayer(n_out=3, activation="softmax"), "pool"),
}
SAME = [  # axes of the input, vertex with the channels last, the same with the channels first, inputs, what follows
    (3, MergeVertex(), MergeVertex(), "ab", POOLED),
    (4, MergeVertex(), MergeVertex(), "ab", TURNED),
    (5, MergeVertex(), MergeVertex(), "ab", POOLED),
    (4, MergeVertex(2), MergeVertex(3), "ab", TURNED),
    (5, MergeVertex(3), MergeVertex(4), "ab", POOLED),
    (4, FrozenVertex(MergeVertex()), FrozenVertex(MergeVertex()), "ab", TURNED),
    (3, L2NormalizeVertex([2]), L2NormalizeVertex([1]), "a", POOLED),
    (4, L2NormalizeVertex([3]), L2NormalizeVertex([1]), "a", TURNED),
    (4, L2NormalizeVertex([1, 2]), L2NormalizeVertex([2, 3]), "a", TURNED),
    (4, L2NormalizeVertex(), L2NormalizeVertex(), "a", TURNED),
    (4, PoolHelperVertex(), PoolHelperVertex(), "a", TURNED),
    (4, ElementWiseVertex("max"), ElementWiseVertex("max"), "ab", TURNED),
    (4, ScaleVertex(0.5), ScaleVertex(0.5), "a", TURNED),
    (4, L2Vertex(), L2Vertex(), "ab", ROWS),
    (4, StackVertex(), StackVertex(), "ab", UNSTACKED),
    (3, LastTimeStepVertex("in"), LastTimeStepVertex("in"), "a", ROWS),
    (3, ReverseTimeSeriesVertex("in"), ReverseTimeSeriesVertex("in"), "a", POOLED),
    (3, *[AttentionVertex(n_out=4, n_heads=2, project_input=True)] * 2, "abb", POOLED),
]


@pytest.mark.parametrize(
    ("ndim", "last", "first", "inputs", "after"), SAME, ids=lambda value: type(value).__name__ if value else None
)
@pytest.mark.quick_rows(every=3)
def test_the_same_graph_with_the_channels_first(ndim, last, first, inputs, after):
    ours, theirs = (behind_two_layers(ndim, at_end, v, inputs, after) for at_end, v in ((1, last), (0, first)))
    mask = STEPS if ndim == 3 else None
    for net, at_end in ((ours, True), (theirs, False)):
        for _ in range(2):
            net.fit(MultiDataSet([features(ndim, at_end)], [LABELS], None if mask is None else [mask], None))
    np.testing.assert_array_equal(nd.to_host(ours.params()), nd.to_host(theirs.params()))
    masks = {} if mask is None else {"features_masks": [mask]}
    both = [nd.to_host(net.output(features(ndim, at), **masks)[0]) for net, at in ((ours, True), (theirs, False))]
    np.testing.assert_array_equal(*both)
    seen, also = ours.feed_forward(features(ndim, True)), theirs.feed_forward(features(ndim, False))
    for name, array in also.items():
        expected = outward(nd.to_host(array), FORMATS[array.ndim][1]) if array.ndim > 2 else nd.to_host(array)
        np.testing.assert_array_equal(nd.to_host(seen[name]), expected, err_msg=name)


# ---- what comes out, by NumPy


def activations(nodes, x=None, ndim=4, outputs="out"):
    found = graph(nodes, ndim, True, outputs).feed_forward(features(ndim, True) if x is None else x)
    return {name: nd.to_host(array) for name, array in found.items()}


def test_sizes_and_numbers_of_a_reshape_are_those_outside():
    last = {"data_format": "NHWC"}
    nodes = {
        "a": (convolution(4), "in"),
        "images": (ReshapeVertex(-1, 10, 3, 3), "a"),
        "c": (convolution(4, 4), "images"),
        "f": (ReshapeVertex("f", [-1, 9, 2, 5]), "a"),
        "rows": (ReshapeVertex(-1, 90), "a"),
        "again": (ReshapeVertex(-1, 2, 9, 5), "rows"),
        "d": (convolution(4, 2, **last), "again"),
        "series": (ReshapeVertex(-1, 15, 6), "a"),
        "e": (convolution(3, 2, data_format="NWC"), "series"),
        "p": (GlobalPoolingLayer("avg"), "c"),
        "q": (GlobalPoolingLayer("avg"), "d"),
        "r": (GlobalPoolingLayer("avg"), "e"),
        "s": (GlobalPoolingLayer("avg"), "f"),
        "m": (MergeVertex(), "p", "q", "r", "s"),
        "out": (OutputLayer(n_out=3, activation="softmax"), "m"),
    }
    found = activations(nodes)
    a = found["a"]
    assert a.shape == (4, 6, 5, 3)
    np.testing.assert_array_equal(found["images"], a.reshape(4, 10, 3, 3))
    np.testing.assert_array_equal(found["f"], a.reshape(4, 9, 2, 5, order="F"))
    np.testing.assert_array_equal(found["rows"], a.reshape(4, 90))
    np.testing.assert_array_equal(found["again"], a.reshape(4, 2, 9, 5))
    np.testing.assert_array_equal(found["series"], a.reshape(4, 15, 6))
    assert found["c"].shape == (4, 10, 3, 4)
    assert found["d"].shape == (4, 2, 9, 2)
    assert found["e"].shape == (4, 15, 2)
    assert found["m"].shape == (4, 4 + 2 + 2 + 5)


def test_a_subset_is_of_the_first_axis_behind_the_examples_as_in_java():
    images = {"a": (convolution(4), "in"), "v": (SubsetVertex(1, 2), "a"), **TURNED}
    found = activations(images)
    np.testing.assert_array_equal(found["v"], found["a"][:, 1:3])
    series = {"a": (convolution(3), "in"), "v": (SubsetVertex(2, 4), "a"), **POOLED}
    found = activations(series, ndim=3)
    np.testing.assert_array_equal(found["v"], found["a"][:, 2:5])


def test_a_preprocessor_of_its_own_takes_the_format():
    rows = PreprocessorVertex(CnnToFeedForwardPreProcessor(6, 5, 3, "NHWC"))
    net = graph({"a": (convolution(4), "in"), "v": (rows, "a"), **ROWS}, 4, True)
    assert net.conf.formats.behind[net.conf.topological_order().index("v") - 1] == "rows"
    found = net.feed_forward(features(4, True))
    np.testing.assert_array_equal(nd.to_host(found["v"]), nd.to_host(found["a"]).reshape(4, 90))


@pytest.mark.parametrize("last", [False, True])
def test_rows_at_every_step_have_the_format_of_the_layer_behind(last):
    nodes = {
        "rows": (LastTimeStepVertex("in"), "in"),
        "every": (DuplicateToTimeSeriesVertex("in"), "rows"),
        "both": (MergeVertex(), "every", "in"),
        "out": (RnnOutputLayer(n_out=2, loss="mse", activation="identity", data_format=FORMATS[3][last]), "both"),
    }
    found = graph(nodes, 3, last).feed_forward(features(3, last))
    x = FIRST[3]
    expected = np.concatenate([np.repeat(x[:, :, -1:], 6, 2), x], 1)
    np.testing.assert_array_equal(nd.to_host(found["both"]), np.moveaxis(expected, 1, -1) if last else expected)


# ---- the axis of a merge


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize("ndim", [3, 4, 5])
def test_a_merge_of_channels_has_their_axis_in_files(ndim, typed):
    told = {"data_format": FORMATS[ndim][1]}
    sizes = {} if typed else {"n_in": 2}
    n_in = {} if typed else {"n_in": 6}
    pool = GlobalPoolingLayer("avg")
    nodes = {
        "a": (convolution(ndim, **sizes, **told), "in"),
        "b": (convolution(ndim, **sizes, **told), "in"),
        "v": (MergeVertex(), "a", "b"),
        "frozen": (FrozenVertex(MergeVertex()), "b", "a"),
        "sum": (ElementWiseVertex("add"), "v", "frozen"),
        "pool": (pool, "sum"),
        "out": (OutputLayer(n_out=3, activation="softmax", **n_in), "pool"),
    }
    conf = SETTINGS.graph({"in": type_of(ndim, True)} if typed else ["in"], nodes, "out")
    written = json.loads(conf.to_json())["vertices"]
    for vertex in (written["v"], written["frozen"]["underlying"]):
        assert (vertex["mergeAxis"], vertex["modified"]) == (ndim - 1, False)
    assert ComputationGraph(conf).init().output(features(ndim, True))[0].shape == (4, 3)
    again = ComputationGraphConfiguration.from_json(conf.to_json())
    assert again == conf
    assert again.to_json() == conf.to_json()


def test_an_axis_that_a_file_says_stays():
    nodes = {"a": (convolution(4), "in"), "b": (convolution(4), "in"), "v": (MergeVertex(), "a", "b"), **POOLED}
    document = json.loads(SETTINGS.graph({"in": type_of(4, True)}, nodes, "out").to_json())
    document["vertices"]["v"].update(mergeAxis=1)
    document["vertices"]["out"]["layerConf"]["layer"].update(nin=3)
    found = (
        ComputationGraph(ComputationGraphConfiguration.from_json(json.dumps(document)))
        .init()
        .feed_forward(features(4, True))
    )
    a, b, v = (nd.to_host(found[name]) for name in "abv")
    np.testing.assert_array_equal(v, np.concatenate([a, b], 1))


# ---- files and derivatives


def of_everything():
    nodes = {
        "a": (convolution(4), "in"),
        "b": (convolution(4), "in"),
        "m": (MergeVertex(), "a", "b"),
        "n": (L2NormalizeVertex([3]), "m"),
        "s": (SubsetVertex(1, 4), "n"),
        "r": (ReshapeVertex(-1, 10, 3, 4), "s"),
        "v": (MergeVertex(2), "r", "r"),
        **TURNED,
    }
    return graph(nodes, 4, True)


def test_a_zip_gives_the_same_numbers(tmp_path):
    net, x = of_everything(), features(4, True)
    net.fit(MultiDataSet([x], [LABELS]))
    net.save(tmp_path / "net.zip")
    again = ComputationGraph.load(tmp_path / "net.zip")
    assert again.conf.vertices == net.conf.vertices
    np.testing.assert_array_equal(nd.to_host(again.output(x)[0]), nd.to_host(net.output(x)[0]))
    for each in (net, again):
        each.fit(MultiDataSet([x], [LABELS]))
    np.testing.assert_array_equal(nd.to_host(again.params()), nd.to_host(net.params()))


def test_gradients_are_the_derivatives_of_the_score():
    net, data = of_everything(), MultiDataSet([features(4, True)], [LABELS])
    net.set_inputs(*data.features)
    net.set_labels(*data.labels)
    net.compute_gradient_and_score()
    gradient = nd.to_host(net.flattened_gradients()).ravel()
    start = nd.to_host(net.params()).ravel().copy()
    for place in np.random.default_rng(1).choice(len(start), 30, replace=False):
        scores = []
        for step in (1e-5, -1e-5):
            moved = start.copy()
            moved[place] += step
            net.set_params(moved)
            scores.append(net.score(data))
        assert gradient[place] == pytest.approx(4 * (scores[0] - scores[1]) / 2e-5, rel=1e-5, abs=1e-8)


# ---- errors


def test_errors_say_sizes_as_they_look_outside():
    nodes = {"a": (convolution(4), "in"), "v": (SubsetVertex(1, 6), "a"), **POOLED}
    with pytest.raises(nd.ShapeError, match="from 1 to 6 must be among the 6 places of axis 1 of NHWC of the input"):
        graph(nodes, 4, True)
    nodes = {"a": (convolution(4), "in"), "b": (PoolHelperVertex(), "in"), "v": (MergeVertex(), "a", "b"), **POOLED}
    with pytest.raises(nd.ShapeError, match=r"one shape but for axis 2, got \[6, 5, 3\], \[5, 4, 2\]"):
        graph(nodes, 4, True)
