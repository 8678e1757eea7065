"""TransferLearning.GraphBuilder: what stays, what starts anew, what is refused."""

import numpy as np
import pytest

import nd
from nd.dataset import MultiDataSet
from nn import (
    AttentionVertex,
    BatchNormalization,
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    FineTuneConfiguration,
    FrozenLayer,
    FrozenVertex,
    GlobalPoolingLayer,
    InputType,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    ScaleVertex,
    SubsamplingLayer,
    TransferLearning,
)
from optimize import Adam, Sgd
from tests.cells import every_row

RNG = np.random.default_rng(8)


def made(nodes, inputs=("a", "b"), outputs=("out",), **settings):
    base = NeuralNetConfiguration(**{"seed": 3, "dtype": "float64", "updater": Adam(0.01), **settings})
    return ComputationGraph(base.graph(inputs, nodes, outputs)).init()


def two_inputs(**settings):
    """Two inputs, two outputs, of which one reads a merge."""
    return made(
        {
            "x": (DenseLayer(n_in=4, n_out=5, activation="tanh"), "a"),
            "y": (DenseLayer(n_in=3, n_out=6, activation="tanh"), "b"),
            "both": (MergeVertex(), "x", "y"),
            "half": (ScaleVertex(0.5), "both"),
            "out": (OutputLayer(n_in=11, n_out=3, activation="softmax"), "half"),
            "side": (OutputLayer(n_in=6, n_out=2, activation="identity", loss="mse"), "y"),
        },
        outputs=("out", "side"),
        **settings,
    )


def data():
    labels = [np.eye(3)[RNG.integers(0, 3, 7)], RNG.normal(size=(7, 2))]
    return MultiDataSet([RNG.normal(size=(7, 4)), RNG.normal(size=(7, 3))], labels)


def host(array):
    return nd.to_host(nd.copy(array))


def same(old, new, *keys):
    for key in keys:
        np.testing.assert_array_equal(host(new.get_param(key)), host(old.get_param(key)), err_msg=key)


def test_nothing_changed_is_a_copy_that_begins_anew():
    old = two_inputs()
    old.fit(data())
    new = TransferLearning.GraphBuilder(old).build()
    np.testing.assert_array_equal(host(new.params()), host(old.params()))
    assert (new.iteration_count, old.iteration_count) == (0, 1)
    assert not host(new.updater_state()).any()
    assert new.conf == old.conf.with_counts(0, 0)


def test_what_leads_to_the_feature_extractor_is_frozen():
    old = two_inputs()
    new = TransferLearning.GraphBuilder(old).set_feature_extractor("half").build()
    kinds = {name: type(vertex) for name, vertex in new.conf.vertices.items()}
    assert kinds == {
        "x": FrozenLayer, "y": FrozenLayer, "both": FrozenVertex, "half": FrozenVertex, "out": OutputLayer,
        "side": OutputLayer,
    }  # fmt: skip
    new.fit(data())
    same(old, new, "x_W", "x_b", "y_W", "y_b")
    assert np.abs(host(new.get_param("out_W")) - host(old.get_param("out_W"))).max() > 1e-3
    again = TransferLearning.GraphBuilder(new).set_feature_extractor("half").build()
    assert again.conf == new.conf.with_counts(0, 0)


def test_a_removed_input_goes_with_what_reads_it():
    old = two_inputs()
    builder = TransferLearning.GraphBuilder(old)
    for name in ("out", "half", "both", "x", "a"):
        builder.remove_vertex_and_connections(name)
    new = builder.build()
    assert (new.conf.inputs, new.conf.outputs, list(new.conf.vertices)) == (("b",), ("side",), ["y", "side"])
    same(old, new, "y_W", "side_W")
    x = RNG.normal(size=(5, 3))
    np.testing.assert_allclose(host(new.output(x)[0]), host(old.output(np.zeros((5, 4)), x)[1]), rtol=1e-12)


def test_an_input_is_added():
    old = two_inputs()
    new = (
        TransferLearning.GraphBuilder(old)
        .add_inputs("c")
        .add_layer("z", DenseLayer(n_in=2, n_out=2), "c")
        .add_vertex("sum", ElementWiseVertex("add"), "z", "c")
        .add_layer("third", OutputLayer(n_out=2, activation="softmax"), "sum", "y")
        .set_outputs("out", "side", "third")
        .set_input_types(*map(InputType.feed_forward, (4, 3, 2)))
        .build()
    )
    assert new.conf.vertex_inputs["third"] == ("third-merge",)
    assert new.conf.vertices["third"].n_in == 8
    assert [tuple(out.shape) for out in new.output(*(np.ones((4, n)) for n in (4, 3, 2)))] == [(4, 3), (4, 2), (4, 2)]
    same(old, new, "out_W", "side_b", "y_W")


def images():
    return made(
        {
            "conv": (ConvolutionLayer(n_out=2, kernel_size=3), "image"),
            "norm": (BatchNormalization(), "conv"),
            "pool": (SubsamplingLayer(kernel_size=(2, 2)), "norm"),
            "dense": (DenseLayer(n_out=4), "pool"),
            "more": (DenseLayer(n_out=3), "norm"),
            "mean": (GlobalPoolingLayer(), "norm"),
            "all": (DenseLayer(n_out=5), "mean"),
            "out": (OutputLayer(n_out=3, activation="softmax"), "dense", "more", "all"),
        },
        {"image": InputType.convolutional(8, 8, 1)},
    )


def test_sizes_are_passed_on_on_every_way():
    old = images()
    new = TransferLearning.GraphBuilder(old).n_out_replace("conv", 6).build()
    n_in = {name: vertex.n_in for name, vertex in new.conf.vertices.items() if hasattr(vertex, "n_in")}
    assert n_in == {"conv": 1, "norm": 6, "dense": 6 * 3 * 3, "more": 6 * 6 * 6, "all": 6, "out": 12}
    assert list(new.conf.vertices) == ["pool", "mean", "out", "out-merge", "conv", "norm", "dense", "more", "all"]
    same(old, new, "out_W")
    assert tuple(new.output(RNG.normal(size=(2, 1, 8, 8)))[0].shape) == (2, 3)


def test_other_channels_come_in():
    new = TransferLearning.GraphBuilder(images()).n_in_replace("conv", 3, "relu").build()
    assert new.conf.input_types == (InputType.convolutional(8, 8, 3),)
    assert tuple(new.output(RNG.normal(size=(2, 3, 8, 8)))[0].shape) == (2, 3)


def test_settings_of_what_is_replaced_are_those_of_javas_defaults():
    old = two_inputs(l2=0.1, drop_out=0.7)
    fine = FineTuneConfiguration(updater=Sgd(0.3))
    builder = TransferLearning.GraphBuilder(old).fine_tune_configuration(fine)
    conf = builder.remove_vertex_and_connections("side").n_in_replace("y", 3, "zero").build().conf
    y, x = conf.vertices["y"], conf.vertices["x"]
    assert (y.updater, y.l2, y.drop_out, str(y.weight_init)) == (Sgd(0.3), None, None, "zero")
    assert (x.updater, x.l2 is None, x.drop_out is None) == (Sgd(0.3), False, False)


def test_parameters_of_vertices_stay():
    nodes = {
        "attention": (AttentionVertex(n_heads=1, head_size=2, n_in_keys=3, n_in_values=3, n_in_queries=3, n_out=4,
                                      project_input=True), "a", "a", "a"),
        "mean": (GlobalPoolingLayer(pooling_type="avg"), "attention"),
        "out": (OutputLayer(n_in=4, n_out=2, activation="softmax"), "mean"),
    }  # fmt: skip
    old = made(nodes, {"a": InputType.recurrent(3, 5)})
    new = TransferLearning.GraphBuilder(old).n_in_replace("out", 4, "zero").build()
    same(old, new, *(key for key in old.param_table() if key.startswith("attention")))
    assert not host(new.get_param("out_W")).any()
    kinds = TransferLearning.GraphBuilder(old).set_feature_extractor("mean").build().conf.vertices
    assert isinstance(kinds["attention"], FrozenVertex)


def test_names_of_classes_stay_with_the_output():
    old = two_inputs()
    old.class_names = ("r", "g", "b")
    assert TransferLearning.GraphBuilder(old).build().class_names == ("r", "g", "b")
    assert TransferLearning.GraphBuilder(old).n_in_replace("out", 11).build().class_names is None


def builder():
    return TransferLearning.GraphBuilder(two_inputs())


@every_row(
    ("change", "message"),
    [
        (lambda: builder().n_out_replace("z", 4), r"n_out_replace: unknown layer 'z', expected one of out, side, x, y"),
        (lambda: builder().n_out_replace("both", 4), r"n_out_replace: unknown layer 'both', expected one of out"),
        (lambda: builder().n_out_replace("x", 4), r"what reads 'x' must be a layer, got vertex 'both' \(MergeVertex\)"),
        (lambda: builder().n_out_replace("x", 4, "relu", "relu", "relu"), r"takes \(n_out, weight_init, "),
        (lambda: builder().remove_vertex_and_connections("z"), r"remove_vertex: unknown vertex 'z', expected one"),
        (lambda: builder().remove_vertex_keep_connections("z"), r"remove_vertex: unknown vertex 'z', expected one"),
        (lambda: builder().add_layer("x", DenseLayer(n_out=3), "a"), r"every vertex must have its own name, got 'x'"),
        (lambda: builder().set_feature_extractor("z").build(), r"set_feature_extractor: unknown vertex 'z'"),
        (lambda: builder().set_feature_extractor("out").build(), r"a layer with a loss cannot be frozen"),
        (
            lambda: builder().set_outputs("out").fine_tune_configuration(FineTuneConfiguration(seed=1)),
            r"fine_tune_configuration must come before other changes",
        ),
        (
            lambda: builder().set_input_types(InputType.feed_forward(4)).build(),
            r"expected a type for each of the inputs \['a', 'b'\]",
        ),
        (
            lambda: builder().remove_vertex_and_connections("half").build(),
            r"vertex 'out' must have inputs, got none",
        ),
        (lambda: builder().set_feature_extractor("side").set_outputs("out").build(), r"nothing reads"),
        (
            lambda: TransferLearning.GraphBuilder(builder().set_feature_extractor("y").build()).n_in_replace("y", 7),
            r"layer 'y' \(FrozenLayer\) must be a layer with n_in and n_out that is not frozen",
        ),
        (lambda: TransferLearning.GraphBuilder(ComputationGraph(two_inputs().conf)), r"init\(\) must come first"),
    ],
)  # fmt: skip
def test_what_is_refused(change, message):
    with pytest.raises((nd.ConfigurationError, nd.ChoiceError), match=message):
        change()


def test_only_graphs_are_taken():
    with pytest.raises(nd.ConfigurationError, match=r"graph must be a ComputationGraph, got 'a graph'"):
        TransferLearning.GraphBuilder("a graph")
