"""ModelFile: Java's own files of every release, graphs, layers without a runtime, and what is not supported."""

import dataclasses
import json
import warnings
import zipfile

import numpy as np
import pytest

import nd
from nd import serde
from nn import DenseLayer, ModelFile, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.conf.graph_order import hash_set_order, topological_order

GRAVES = {  # gravesLSTM 3 -> 4, gravesBidirectionalLSTM 4 -> 4, rnnoutput 4 -> 5: four gates, three peepholes
    "0_W": (3, 16), "0_RW": (4, 19), "0_b": (1, 16), "1_WF": (4, 16), "1_RWF": (4, 19), "1_bF": (1, 16),
    "1_WB": (4, 16), "1_RWB": (4, 19), "1_bB": (1, 16), "2_W": (4, 5), "2_b": (1, 5),
}  # fmt: skip
MLP = {"0_W": (3, 4), "0_b": (1, 4), "1_W": (4, 5), "1_b": (1, 5)}
CNN = {"0_b": (1, 3), "0_W": (3, 3, 2, 2), "2_W": (2028, 5), "2_b": (1, 5)}
IN_C_ORDER = 4  # axes: weights of convolutions; matrices lie in f order
RAMPS = {
    "050/050_ModelSerializer_Regression_MLP_1.zip": ("0.5", MLP), "050/050_ModelSerializer_Regression_MLP_2.zip":
    ("0.5", MLP), "050/050_ModelSerializer_Regression_CNN_1.zip": ("0.5", CNN),
    "071/071_ModelSerializer_Regression_MLP_1.zip": ("0.7", MLP), "071/071_ModelSerializer_Regression_MLP_2.zip":
    ("0.7", MLP), "071/071_ModelSerializer_Regression_CNN_1.zip": ("0.7", CNN),
    "071/071_ModelSerializer_Regression_LSTM_1.zip": ("0.7", GRAVES),
    "071/071_ModelSerializer_Regression_CG_LSTM_1.zip": ("0.7", GRAVES),
}  # fmt: skip


@pytest.mark.parametrize("name", RAMPS)
def test_the_ramps_of_old_releases(name, reference):
    """Parameters and updater state are 1, 2, 3, ...: every number says where in the vector it was."""
    model = ModelFile.read(reference / "regression" / name)
    version, shapes = RAMPS[name]
    n = sum(int(np.prod(shape)) for shape in shapes.values())
    ramp = np.arange(1, n + 1, dtype=np.float32)[None]
    np.testing.assert_array_equal(nd.to_host(model.params), ramp)
    np.testing.assert_array_equal(nd.to_host(model.updater_state), ramp)
    assert (model.version, model.dtype, model.iteration_count, model.epoch_count) == (version, "float32", 0, 0)
    assert model.kind == ("ComputationGraph" if "_CG_" in name else "MultiLayerNetwork")
    table, start = model.param_table(), 1
    assert {key: tuple(found.shape) for key, found in table.items()} == shapes
    assert list(table) == list(shapes)
    for key, shape in shapes.items():
        stretch = np.arange(start, start + int(np.prod(shape)), dtype=np.float32)
        order = "C" if len(shape) == IN_C_ORDER else "F"
        np.testing.assert_array_equal(nd.to_host(table[key]), stretch.reshape(shape, order=order))
        start += stretch.size


def test_the_network_of_alpha(reference):
    model = ModelFile.read(reference / "regression" / "100a" / "upsampling" / "net.bin")
    assert (model.version, model.kind, model.updater_state) == ("1.0.0-alpha", "MultiLayerNetwork", None)
    shapes = {"0_b": (1, 5), "0_W": (5, 1, 2, 2), "2_b": (1, 3), "2_W": (3, 5, 2, 2), "3_W": (9408, 10), "3_b": (1, 10)}
    table = model.param_table()
    assert {key: tuple(found.shape) for key, found in table.items()} == shapes
    by_hand = nd.to_host(model.params)[0, 25 + 63 :][: 9408 * 10].reshape(9408, 10, order="F")
    np.testing.assert_array_equal(nd.to_host(table["3_W"]), by_hand)
    limit = np.sqrt(2.0 / (9408 + 10))  # XAVIER: the standard deviation of what lies in W shows that it lies there
    assert abs(by_hand.std() / limit - 1.0) < 0.02


def test_the_network_of_beta4(reference):
    model = ModelFile.read(reference / "regression" / "100b4" / "SyntheticCNN_100b4.bin")
    assert model.version == "1.0.0-beta4+"
    shapes = {
        "0_b": (1, 4), "0_W": (4, 1, 3, 3), "1_b": (1, 8), "1_W": (1, 4, 3, 3), "1_pW": (8, 4, 1, 1), "5_b": (1, 16),
        "5_W": (3, 3, 8, 2), "8_b": (1, 4), "8_W": (4, 16, 4, 4),
    }  # fmt: skip
    assert {key: tuple(found.shape) for key, found in model.param_table().items()} == shapes
    assert model.params.shape == (1, 1304)
    assert model.updater_state.shape == (1, 2 * 1304)  # Adam
    kinds = [layer.kind for layer in model.layers]
    assert kinds[:3] == ["ConvolutionLayer", "SeparableConvolution2D", "SubsamplingLayer"]
    assert (model.layers[0].n_in, model.layers[0].n_out, model.layers[0].n_params) == (1, 4, 40)
    assert (model.layers[2].n_in, model.layers[2].n_params) == (None, 0)
    assert sum(layer.n_params for layer in model.layers) == 1304


@pytest.mark.parametrize("model", ["LenetMnist", "MLPMoon"])
def test_a_table_is_that_of_the_network(model, reference):
    path = reference / model / "Model_RANDOM_INIT_UNTRAINED.zip"
    file, net = ModelFile.read(path), MultiLayerNetwork.load(path)
    assert file.unsupported == ()
    assert list(file.param_table()) == list(net.param_table())
    for key, found in net.param_table().items():
        np.testing.assert_array_equal(nd.to_host(nd.copy(file.get_param(key))), nd.to_host(nd.copy(found)))
    with pytest.raises(nd.ChoiceError, match="get_param: unknown parameter '9_W'"):
        file.get_param("9_W")


def test_a_graph_is_described(reference):
    model = ModelFile.read(reference / "regression" / "071" / "071_ModelSerializer_Regression_CG_LSTM_1.zip")
    assert [(layer.name, layer.kind, layer.n_in, layer.n_out) for layer in model.layers] == [
        ("0", "GravesLSTM", 3, 4), ("1", "GravesBidirectionalLSTM", 4, 4), ("2", "RnnOutputLayer", 4, 5),
    ]  # fmt: skip
    assert [layer.n_params for layer in model.layers] == [3 * 16 + 4 * 19 + 16, 2 * (4 * 16 + 4 * 19 + 16), 25]
    assert model.document["vertices"]["0"]["LayerVertex"]["layerConf"]["layer"].keys() == {"gravesLSTM"}
    assert model.configuration["vertices"]["0"]["layerConf"]["layer"]["@class"].endswith(".GravesLSTM")
    assert model.unsupported == ()


def test_a_graph_is_no_multi_layer_network(reference):
    path = reference / "regression" / "071" / "071_ModelSerializer_Regression_CG_LSTM_1.zip"
    with pytest.raises(
        nd.FormatError,
        match=r"expected a MultiLayerNetwork, got a ComputationGraph\. Read it with ComputationGraph\.load",
    ):
        MultiLayerNetwork.load(path)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_what_this_library_writes(dtype, tmp_path):
    conf = NeuralNetConfiguration(seed=1, updater="adam", dtype=dtype).list(
        DenseLayer(n_in=2, n_out=3), OutputLayer(n_in=3, n_out=2)
    )
    net = MultiLayerNetwork(conf).init()
    net.fit([[1.0, 2.0]], [[0.0, 1.0]])
    net.save(tmp_path / "net.zip")
    model = ModelFile.read(tmp_path / "net.zip")
    assert (model.dtype, model.iteration_count, model.epoch_count) == (dtype, 1, net.epoch_count)
    np.testing.assert_array_equal(nd.to_host(model.params), nd.to_host(net.params()))
    np.testing.assert_array_equal(nd.to_host(model.updater_state), nd.to_host(net.updater_state()))


# ---- graphs by hand

DENSE = "org.deeplearning4j.nn.conf.layers.DenseLayer"
PLACE = "org.deeplearning4j.nn.conf.graph."


def vertex(n_in, n_out, java=DENSE):
    return {"@class": f"{PLACE}LayerVertex", "layerConf": {"layer": {"@class": java, "nin": n_in, "nout": n_out}}}


def graph(**changes):
    """in -> b -> c, in -> a -> c: the file names c first, the vector has b and a before it."""
    return {
        "networkInputs": ["in"], "networkOutputs": ["c"],
        "vertexInputs": {"c": ["a+b"], "a+b": ["b", "a"], "b": ["in"], "a": ["in"]},
        "vertices": {
            "c": vertex(5, 2), "a+b": {"@class": f"{PLACE}MergeVertex"}, "b": vertex(4, 3), "a": vertex(4, 2),
        },
        **changes,
    }  # fmt: skip


def write(path, document, params=None, state=None, **more):
    entries = {"configuration.json": json.dumps(document)}
    for name, vector in (("coefficients.bin", params), ("updaterState.bin", state)):
        if vector is not None:
            entries[name] = serde.to_bytes(vector)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in {**entries, **more}.items():
            archive.writestr(name, content)
    return path


def ramp(n, dtype=np.float32):
    return np.arange(1, n + 1, dtype=dtype)[None]


COUNTS = {"b_W": 12, "b_b": 3, "a_W": 8, "a_b": 2, "c_W": 10, "c_b": 2}
N = sum(COUNTS.values())


def starts(model):
    """Where in the vector every parameter begins, by the ramp inside."""
    return {key: int(nd.to_host(found).min()) - 1 for key, found in model.param_table().items()}


def test_parameters_of_a_graph_are_in_topological_order(tmp_path):
    model = ModelFile.read(write(tmp_path / "graph.zip", graph(), ramp(N)))
    before, expected = 0, {}
    for key, count in COUNTS.items():
        expected[key], before = before, before + count
    assert starts(model) == expected
    assert [layer.name for layer in model.layers] == ["b", "a", "a+b", "c"]


@pytest.mark.parametrize("stored", [
    {"topologicalOrderStr": ["in", "a", "b", "a+b", "c"]}, {"topologicalOrder": [0, 4, 3, 2, 1]},
])  # fmt: skip
def test_an_order_in_the_file_goes_first(stored, tmp_path):
    model = ModelFile.read(write(tmp_path / "graph.zip", graph(**stored), ramp(N)))
    assert starts(model) == {"a_W": 0, "a_b": 8, "b_W": 10, "b_b": 22, "c_W": 25, "c_b": 35}


def test_successors_are_visited_as_java_hashes_them():
    """20 vertices hang on one input; their indices 1..20 need 32 buckets. With 12 and less there are 16."""
    assert hash_set_order([2, 1, 17]) == [1, 17, 2]
    assert hash_set_order(range(20, 0, -1)) == list(range(1, 21))
    assert hash_set_order([33, 1, 0, 16]) == [0, 16, 33, 1]
    assert hash_set_order([65536 + 3, 2]) == [65539, 2]  # (v ^ v >>> 16) & 15 is 2 for both: as they came


def test_topological_order_by_hand():
    edges = {f"v{index}": ["in"] for index in range(1, 18)} | {"x": ["v2", "v1"], "y": ["v17"]}
    order = topological_order(["in"], edges)
    assert order[:18] == ["in", *(f"v{index}" for index in range(1, 18))]
    assert order[18:] == ["x", "y"]
    two = topological_order(["in"], {"a": ["in"], **{f"f{i}": ["a"] for i in range(15)}, "b": ["a"], "c": ["in"]})
    # a's successors are 2..17, c is 18: in's are {1, 18}, of 16 buckets 18 has the second, after 1
    assert two[:3] == ["in", "a", "c"]


@pytest.mark.parametrize(("changes", "message"), [
    ({"vertexInputs": {"c": ["a+b"], "a+b": ["b", "c"], "b": ["in"], "a": ["in"]}}, "graph without circles"),
    ({"vertexInputs": {"c": ["nowhere"]}}, "vertex 'c' has an unknown input 'nowhere'"),
    ({"vertexInputs": {"c": 3}}, "must be lists of names"),
    ({"vertexInputs": None}, "a graph must have networkInputs, vertices and vertexInputs"),
    ({"networkInputs": ["in", "a"]}, "expected every vertex once"),
    ({"networkInputs": [["in"]]}, "must be lists of names"),
    ({"vertices": {"c": 3}}, "expected an object with '@class', got 3"),
    ({"topologicalOrder": 5}, "topologicalOrder must be a list of vertices, got 5"),
    ({"topologicalOrderStr": {}}, r"topologicalOrderStr must be a list of vertices, got \{\}"),
    ({"topologicalOrder": [0, 1]}, "topologicalOrder must name each of 5 vertices once"),
    ({"topologicalOrder": [0, 1, 2, 3, 99]}, "topologicalOrder(Str)? must name each"),
    ({"topologicalOrderStr": ["in", "a", "b", "c", "c"]}, "topologicalOrder(Str)? must name each"),
    ({"topologicalOrderStr": [1, 2, 3, 4, 5]}, "topologicalOrder(Str)? must name each"),
])  # fmt: skip
def test_a_broken_graph(changes, message, tmp_path):
    with pytest.raises(nd.FormatError, match=message):
        ModelFile.read(write(tmp_path / "graph.zip", graph(**changes), ramp(N)))


@pytest.mark.parametrize("confs", [None, 5, True])
def test_a_graph_with_confs_that_are_none(confs, tmp_path):
    model = ModelFile.read(write(tmp_path / "g.zip", graph(confs=confs), ramp(N)))
    assert (model.kind, [layer.name for layer in model.layers][-1]) == ("ComputationGraph", "c")


def test_old_vertices_are_rewritten(tmp_path):
    old = {"c": {"LayerVertex": {"layerConf": {"layer": {"dense": {"nin": 5, "nout": 2, "dropOut": 0.0}}}}}}
    old["a+b"] = {"MergeVertex": {}}
    old["d"] = {"PreprocessorVertex": {"preProcessor": {"cnnToFeedForward": {"inputHeight": 1}}}}
    document = graph(vertices={**graph()["vertices"], **old})
    document["vertexInputs"]["d"] = ["c"]
    model = ModelFile.read(write(tmp_path / "graph.zip", document, ramp(N)))
    vertices = model.configuration["vertices"]
    assert vertices["a+b"] == {"@class": f"{PLACE}MergeVertex"}
    assert vertices["c"]["layerConf"]["layer"] == {"@class": DENSE, "nin": 5, "nout": 2}
    assert vertices["d"]["preProcessor"]["@class"].endswith(".preprocessor.CnnToFeedForwardPreProcessor")
    assert model.document["vertices"]["a+b"] == {"MergeVertex": {}}


# ---- arrays that do not fit


@pytest.mark.parametrize("n", [0, 1, N - 1, N + 1])
def test_parameters_of_another_number(n, tmp_path):
    with pytest.raises(nd.FormatError, match=rf"coefficients\.bin must hold {N} numbers.*got {n}\."):
        ModelFile.read(write(tmp_path / "graph.zip", graph(), ramp(n)))


def test_a_state_that_no_updater_has(tmp_path):
    assert ModelFile.read(write(tmp_path / "a.zip", graph(), ramp(N), ramp(3 * N))).updater_state.shape == (1, 3 * N)
    with pytest.raises(nd.FormatError, match=rf"updaterState\.bin must hold at most {3 * N} numbers, got {3 * N + 1}"):
        ModelFile.read(write(tmp_path / "b.zip", graph(), ramp(N), ramp(3 * N + 1)))


@pytest.mark.parametrize(
    ("stored", "expected"), [(np.float16, "float32"), (np.float32, "float32"), (np.float64, "float64")]
)
def test_every_float_can_be_stored(stored, expected, tmp_path):
    model = ModelFile.read(write(tmp_path / "graph.zip", graph(dataType="HALF"), ramp(N, stored)))
    assert model.dtype == nd.dtype_name(model.params) == expected
    np.testing.assert_array_equal(nd.to_host(model.params), ramp(N))


def test_integers_are_no_parameters(tmp_path):
    with pytest.raises(nd.FormatError, match=r"coefficients\.bin must hold floating point numbers, got int32"):
        ModelFile.read(write(tmp_path / "graph.zip", graph(), ramp(N, np.int32)))


def test_a_network_without_parameters(tmp_path):
    pooling = {"confs": [{"layer": {"@class": "a.SubsamplingLayer"}}]}
    path = write(tmp_path / "none.zip", pooling, **{"coefficients.bin": b"", "noParams.marker": b""})
    model = ModelFile.read(path)
    assert (model.params, model.param_table(), model.dtype) == (None, {}, "float32")


def test_a_layer_of_ones_own_has_no_table(tmp_path):
    document = graph()
    document["vertices"]["a"] = vertex(4, 2, "com.example.MyLayer")
    model = ModelFile.read(write(tmp_path / "graph.zip", document, ramp(77)))
    assert model.params.shape == (1, 77)
    assert dataclasses.astuple(model.layers[1]) == ("a", "MyLayer", 4, 2, None)
    with pytest.raises(
        nd.ConfigurationError, match=r"param_table: where the parameters of 'a' .*LayerVertex.* is unknown"
    ):
        model.param_table()


def test_nothing_is_drawn_and_nothing_warned(reference):
    nd.random.set_seed(1)
    state = nd.random.get_random().get_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ModelFile.read(reference / "regression" / "100b4" / "SyntheticCNN_100b4.bin").param_table()
    assert nd.random.get_random().get_state() == state


def test_a_file_lands_on_the_current_backend(backend, tmp_path):
    model = ModelFile.read(write(tmp_path / "graph.zip", graph(), ramp(N)))
    assert nd.is_array(model.params)
    np.testing.assert_array_equal(nd.to_host(nd.copy(model.get_param("a_b"))), [[24.0, 25.0]])
