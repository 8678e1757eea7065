"""Configurations of graphs: both ways of writing them, what is inferred, and what is refused."""

import pytest

import nd
from nn import (
    CnnToFeedForwardPreProcessor,
    ComputationGraphConfiguration,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    FeedForwardToCnnPreProcessor,
    GlobalPoolingLayer,
    InputType,
    LastTimeStepVertex,
    LossLayer,
    MergeVertex,
    NeuralNetConfiguration,
    OutputLayer,
    RnnOutputLayer,
    ScaleVertex,
    SubsetVertex,
)
from nn.vertices import LayerVertex
from optimize import Adam, Nesterovs
from tests.cells import every_row

BASE = NeuralNetConfiguration(seed=7, updater=Adam(0.01), l2=1e-3)
IMAGE, ROW, SERIES = InputType.convolutional(6, 5, 2), InputType.feed_forward(4), InputType.recurrent(3)
OUT = OutputLayer(n_out=3)


def by_keywords():
    return BASE.graph(
        inputs={"image": IMAGE, "row": ROW},
        nodes={
            "conv": (ConvolutionLayer(n_out=3, kernel_size=2), "image"),
            "hidden": (DenseLayer(n_out=5, activation="tanh"), "conv"),
            "both": (MergeVertex(), "hidden", "row"),
            "out": (OUT, "both"),
            "direct": (OutputLayer(n_out=2), "hidden", "row"),
        },
        outputs=["out", "direct"],
    )


def by_builder():
    return (
        NeuralNetConfiguration.Builder().seed(7).updater(Adam(0.01)).l2(1e-3)
        .graphBuilder()
        .addInputs("image", "row")
        .setInputTypes(IMAGE, ROW)
        .addLayer("conv", ConvolutionLayer.Builder(2, 2).nOut(3).build(), "image")
        .appendLayer("hidden", DenseLayer.Builder().nOut(5).activation("tanh").build())
        .addVertex("both", MergeVertex(), "hidden", "row")
        .layer("out", OUT, "both")
        .addLayer("direct", OutputLayer.Builder().nOut(2).build(), "hidden", "row")
        .setOutputs("out", "direct")
        .build()
    )  # fmt: skip


def graph(nodes, inputs=("x",), outputs=("out",), **settings):
    return BASE.graph(inputs=inputs, nodes=nodes, outputs=outputs, **settings)


# ---- two ways of writing one graph


def test_keywords_and_builder_give_one_configuration():
    ours, javas = by_keywords(), by_builder()
    assert ours == javas
    assert ours.to_json() == javas.to_json()
    assert ComputationGraphConfiguration.from_json(ours.to_json()) == ours


def test_sizes_preprocessors_and_merges_are_inferred():
    conf = by_keywords()
    assert list(conf.vertices) == ["conv", "hidden", "both", "out", "direct", "direct-merge"]
    assert conf.vertex_inputs["direct"] == ("direct-merge",)
    assert conf.vertex_inputs["direct-merge"] == ("hidden", "row")
    sizes = {name: layer.n_in for name, layer in conf.vertices.items() if hasattr(layer, "n_in")}
    assert sizes == {"conv": 2, "hidden": 5 * 4 * 3, "out": 9, "direct": 9}
    assert conf.preprocessors == {"hidden": CnnToFeedForwardPreProcessor(5, 4, 3)}
    types = conf.get_layer_activation_types()
    assert (types["both"], types["conv"]) == (InputType.feed_forward(9), InputType.convolutional(5, 4, 3))
    assert conf.vertices["hidden"].updater == Adam(0.01)
    assert conf.get_conf("hidden").layer is conf.vertices["hidden"]
    with pytest.raises(nd.ChoiceError, match=r"get_conf: .*layer.*'both'"):
        conf.get_conf("both")


def test_sizes_follow_from_the_layer_before_where_there_are_no_types():
    conf = graph({"a": (DenseLayer(n_in=4, n_out=5), "x"), "s": (ScaleVertex(2.0), "a"), "out": (OUT, "a")},
                 outputs=["out", "s"])  # fmt: skip
    assert conf.vertices["out"].n_in == 5
    assert conf.input_types is None


def test_types_for_other_inputs_are_told_without_changing_the_graph():
    conf = graph({"c": (ConvolutionLayer(n_in=2, n_out=3, kernel_size=2), "x"), "p": (GlobalPoolingLayer(), "c"),
                  "out": (OutputLayer(n_in=3, n_out=3), "p")})  # fmt: skip
    assert conf.get_layer_activation_types() == {}
    assert conf.get_layer_activation_types(IMAGE)["c"] == InputType.convolutional(5, 4, 3)
    with pytest.raises(nd.ConfigurationError, match="get_layer_activation_types: expected 1 types, got 2"):
        conf.get_layer_activation_types(IMAGE, ROW)


def test_a_layer_in_a_vertex_and_preprocessors_of_ones_own():
    own = FeedForwardToCnnPreProcessor(2, 2, 1)
    convolution = ConvolutionLayer(n_out=2, kernel_size=2)
    nodes = {"c": (LayerVertex(convolution, own), "x"), "out": (OUT, "c")}
    conf = graph(nodes, {"x": ROW})
    assert conf.preprocessors["c"] == own
    assert conf == graph({"c": (convolution, "x"), "out": (OUT, "c")}, {"x": ROW}, preprocessors={"c": own})
    built = ComputationGraphConfiguration.GraphBuilder(BASE)
    built.addInputs("x").setInputTypes(ROW).addLayer("c", convolution, own, "x").addLayer("out", OUT, "c")
    assert built.setOutputs("out").build() == conf
    again = ComputationGraphConfiguration.GraphBuilder(BASE).addInputs(["x"]).setInputTypes(ROW)
    again.inputPreProcessor("c", own).addLayer("c", convolution, "x").addLayer("out", OUT, "c").setOutputs(["out"])
    assert again.build() == conf


def test_a_vertex_is_taken_out_of_a_builder_again():
    def begun():
        made = ComputationGraphConfiguration.GraphBuilder(BASE).addInputs("x").setInputTypes(ROW)
        return made.addLayer("a", DenseLayer(n_out=5), "x").addLayer("b", DenseLayer(n_out=6), "a")

    other = begun().removeVertex("b").addLayer("out", OUT, "a").setOutputs("out").build()
    assert list(other.vertices) == ["a", "out"]
    kept = begun().addLayer("out", OUT, "b").removeVertex("b", False).addLayer("b", DenseLayer(n_out=9), "a")
    assert kept.setOutputs("out").build().vertices["out"].n_in == 9
    with pytest.raises(nd.ChoiceError, match=r"removeVertex: .*'c'"):
        begun().removeVertex("c")


def test_settings_of_a_graph_in_the_builder():
    made = ComputationGraphConfiguration.GraphBuilder(
        NeuralNetConfiguration.Builder().updater(Nesterovs(learning_rate=0.2))
    )
    made.addInputs("x").addInputs("unread").addLayer("out", OutputLayer(n_in=2, n_out=3), "x").setOutputs("out")
    made.allowDisconnected(True).dataType("float64").validateOutputLayerConfig(False).tBPTTLength(7)
    conf = made.backpropType("TruncatedBPTT").build()
    assert conf.inputs == ("x", "unread")
    assert (conf.base.dtype, conf.base.validate_output_layer_config) == ("float64", False)
    assert (conf.backprop_type, conf.tbptt_fwd_length, conf.tbptt_back_length) == ("truncated_bptt", 7, 7)
    assert conf.vertices["out"].updater == Nesterovs(learning_rate=0.2)


# ---- what is refused


HIDDEN = DenseLayer(n_in=4, n_out=4)
REFUSED = {
    "no input": (lambda: graph({"out": (OUT, "x")}, ()), "a network needs at least one input, got none"),
    "no output": (lambda: graph({"out": (OUT, "x")}, outputs=()), "a network needs at least one output, got none"),
    "an input twice": (lambda: graph({"out": (OUT, "x")}, ("x", "x")), "every input must be named once, got 'x' 2"),
    "an output twice": (lambda: graph({"out": (OUT, "x")}, outputs=["out"] * 3), "output must be named once.*'out' 3"),
    "a name of another kind": (
        lambda: graph({"out": (OUT, "x")}, outputs=[3]),
        "names of outputs must be texts, got 3",
    ),
    "an input's name": (lambda: graph({"x": (OUT, "x")}, outputs=["x"]), "'x' for an input and for a vertex"),
    "nothing comes in": (lambda: graph({"out": (OUT,)}), "vertex 'out' must have inputs, got none"),
    "an unknown input": (lambda: graph({"out": (OUT, "y")}), "vertex 'out'.*input.*'y'"),
    "an unknown output": (lambda: graph({"out": (OUT, "x")}, outputs=["o"]), "graph: .*output.*'o'"),
    "an input as output": (lambda: graph({"out": (OUT, "x")}, outputs=["x"]), "output.*'x'"),
    "a circle": (
        lambda: graph({"a": (MergeVertex(), "b", "x"), "b": (HIDDEN, "a"), "out": (OUT, "b")}),
        "no vertex may depend on itself, got the circle a <- b <- a",
    ),
    "a loop": (lambda: graph({"a": (MergeVertex(), "a", "x"), "out": (OUT, "a")}), "circle a <- a"),
    "what nothing reads": (
        lambda: graph({"a": (HIDDEN, "x"), "out": (OUT, "x")}, ("x", "z")),
        r"got \['z', 'a'\], which nothing reads.*allow_disconnected=True",
    ),
    "no layer": (
        lambda: graph({"out": ("dense", "x")}),
        "'out' must be a layer or a vertex configuration, got 'dense'",
    ),
    "a name of a vertex": (lambda: graph({3: (OUT, "x")}), "the name of a vertex must be a text, got 3"),
    "a merge's name is taken": (
        lambda: graph({"out-merge": (HIDDEN, "x"), "out": (OUT, "x", "out-merge")}),
        "every vertex must have its own name, got 'out-merge' twice",
    ),
    "an empty node": (lambda: graph({"out": ()}), r"'out' must be \(layer or vertex, input, ...\), got \(\)"),
    "a number for a name": (lambda: graph({"out": (OUT, 3)}), "vertex 'out'.*input.*3"),
    "a number for inputs": (lambda: graph({"out": (OUT, "x")}, 3), "inputs must be a name or several, got 3"),
    "a number for outputs": (lambda: graph({"out": (OUT, "x")}, outputs=3), "outputs must be a name or several, got 3"),
    "a list of preprocessors": (
        lambda: graph({"out": (OUT, "x")}, preprocessors=[3]),
        "preprocessors must map names of layers to preprocessors",
    ),
    "no switch": (lambda: graph({"out": (OUT, "x")}, allow_disconnected="yes"), "allow_disconnected must be"),
    "no chain": (
        lambda: ComputationGraphConfiguration.of_chain("x"),
        "conf must be a MultiLayerConfiguration, got 'x'",
    ),
    "no nodes": (lambda: graph([("out", OUT, "x")]), "nodes must map names to"),
    "too many inputs": (
        lambda: graph({"v": (ElementWiseVertex("subtract"), "x", "x", "x"), "out": (OUT, "v")}),
        r"vertex 'v' \(ElementWiseVertex\): .*got 3",
    ),
    "no input of the network": (
        lambda: graph({"v": (LastTimeStepVertex("y"), "x"), "out": (OUT, "v")}, {"x": SERIES}),
        r"vertex 'v' \(LastTimeStepVertex\): .*input of the network.*'y'",
    ),
    "a type of something else": (
        lambda: graph({"out": (OUT, "x")}, {"x": 4}),
        "input 'x' must have a type made by InputType",
    ),
    "types for some": (
        lambda: graph({"out": (OUT, "x", "y")}, {"x": ROW, "y": None}),
        "all inputs must have a type, or none",
    ),
    "a preprocessor of a vertex": (
        lambda: graph(
            {"v": (ScaleVertex(1.0), "x"), "out": (OUT, "v")},
            preprocessors={"v": CnnToFeedForwardPreProcessor(1, 1, 1)},
        ),
        "preprocessors: .*layer.*'v'",
    ),
    "no preprocessor": (
        lambda: graph({"out": (OUT, "x")}, preprocessors={"out": 3}),
        "must be instances of InputPreProcessor, got 3",
    ),
    "a missing n_in": (lambda: graph({"out": (OUT, "x")}), r"layer 'out' \(OutputLayer\): n_in is missing"),
    "another n_in": (
        lambda: graph({"out": (OutputLayer(n_in=5, n_out=3), "x")}, {"x": ROW}),
        r"layer 'out' \(OutputLayer\): n_in must be 4, the size of what comes in, got 5",
    ),
    "merged kinds": (
        lambda: graph({"v": (MergeVertex(), "x", "y"), "out": (OUT, "v")}, {"x": ROW, "y": IMAGE}),
        "vertex 'v'",
    ),
    "columns that are not there": (
        lambda: graph({"v": (SubsetVertex(2, 9), "x"), "out": (OUT, "v")}, {"x": ROW}),
        r"vertex 'v' \(SubsetVertex\).*9",
    ),
    "rows into an output of series": (
        lambda: graph({"out": (RnnOutputLayer(n_out=2), "x")}, {"x": InputType.convolutional3d(2, 2, 2, 2)}),
        "layer 'out'",
    ),
    "a loss that does not fit": (
        lambda: graph({"out": (OutputLayer(n_out=1, loss="mcxent", activation="softmax"), "x")}, {"x": ROW}),
        r"layer 'out' \(OutputLayer\)",
    ),
}


@every_row("name", REFUSED)
def test_graphs_that_cannot_work(name):
    make, message = REFUSED[name]
    with pytest.raises(nd.NdError, match=message):
        make()


def builder():
    return ComputationGraphConfiguration.GraphBuilder(BASE).addInputs("x")


BUILT = {
    "no base": (
        lambda: ComputationGraphConfiguration.GraphBuilder(3),
        "expected a NeuralNetConfiguration or its Builder",
    ),
    "a name twice": (lambda: builder().addLayer("a", OUT, "x").addVertex("a", MergeVertex(), "x"), "got 'a' twice"),
    "a list for a name": (
        lambda: builder().addLayer(["a"], OUT, "x"),
        r"the name of a vertex must be a text, got \['a'\]",
    ),
    "appended to nothing": (
        lambda: ComputationGraphConfiguration.GraphBuilder(BASE).appendLayer("a", OUT),
        "'a' must be appended to an input",
    ),
    "no output allowed": (
        lambda: builder().addLayer("out", OUT, "x").allowNoOutput(True).build(),
        "a network needs an output to be run",
    ),
    "more types than inputs": (
        lambda: builder().setInputTypes(ROW, ROW).addLayer("out", OUT, "x").setOutputs("out").build(),
        r"expected a type for each of the inputs \['x'\]",
    ),
}


@pytest.mark.parametrize("name", BUILT)
def test_what_a_builder_refuses(name):
    make, message = BUILT[name]
    with pytest.raises(nd.ConfigurationError, match=message):
        make()


def test_what_is_allowed_to_be_unread_keeps_its_place():
    nodes = {"a": (HIDDEN, "x"), "out": (OutputLayer(n_in=4, n_out=3), "x"), "loss": (LossLayer(), "out")}
    conf = graph(nodes, ("x", "z"), allow_disconnected=True)
    assert conf.topological_order() == ["x", "z", "a", "out", "loss"]
