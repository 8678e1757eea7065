"""OnnxVertex in a ComputationGraph: trained, recorded, divided, written and read, and what it refuses."""

import copy
import json
import pickle
import zipfile

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet, MultiDataSet
from nn import ComputationGraph, DenseLayer, InputType, LossLayer, NeuralNetConfiguration, OutputLayer
from nn.onnx import OnnxConstant, OnnxVertex
from tests.cases.onnx_operators import OPERATOR_CASES

ROWS = [
    pytest.param(op, case, id=f"{op}-{number}", marks=[] if (place + number) % 12 == 0 else [pytest.mark.slow])
    for place, (op, cases) in enumerate(OPERATOR_CASES.items())
    for number, case in enumerate(cases)
]


def vertex_of(op, case):
    return OnnxVertex(op, case.attributes, case.constants, case.opset, case.output, case.outputs)


def graph_of(op, case):
    """Return a graph in which every input of the operator is multiplied by a parameter before."""
    nodes, inputs = {}, []
    for number in range(len(case.shapes)):
        scale = OnnxVertex("Mul", constants={1: [[1.0]]}, trained=[1])
        nodes[f"scaled{number}"] = (scale, f"x{number}")
        nodes[f"bare{number}"] = (OnnxVertex("Squeeze", constants={1: [0, 1]}), f"scaled{number}")
        inputs.append(f"bare{number}")
    nodes["operator"] = (vertex_of(op, case), *inputs)
    nodes["row"] = (OnnxVertex("Reshape", constants={1: [1, -1]}), "operator")
    nodes["loss"] = (LossLayer(loss="mse", activation="identity"), "row")
    names = [f"x{number}" for number in range(len(case.shapes))]
    conf = NeuralNetConfiguration(seed=1, updater="sgd", dtype="float64").graph(names, nodes, ["loss"])
    return ComputationGraph(conf).init()


@pytest.mark.parametrize(("op", "case"), ROWS)
@pytest.mark.quick_rows(every=2)
def test_a_recorded_step_is_the_step_without_recording(op, case):
    features = [x[None, None] for x in case.inputs()]
    recorded, eager = graph_of(op, case), graph_of(op, case)
    labels = np.zeros(recorded.output(*features)[0].shape)
    for _ in range(3):
        recorded.fit(MultiDataSet(features, [labels]))
        with nd.eager():
            eager.fit(MultiDataSet(features, [labels]))
    np.testing.assert_array_equal(nd.to_host(recorded.params()), nd.to_host(eager.params()))


@pytest.mark.parametrize("op", OPERATOR_CASES)
def test_vertices_are_copied_and_pickled(op):
    for case in OPERATOR_CASES[op]:
        vertex = vertex_of(op, case)
        assert copy.deepcopy(vertex) == vertex
        assert pickle.loads(pickle.dumps(vertex)) == vertex
        assert hash(pickle.loads(pickle.dumps(vertex))) == hash(vertex)


def small_graph(dtype="float64"):
    rng = np.random.default_rng(0)
    nodes = {
        "dense": (DenseLayer(n_out=6, activation="identity"), "x"),
        "gelu": (OnnxVertex("Gelu", {"approximate": "tanh"}), "dense"),
        "product": (OnnxVertex("MatMul", constants={1: rng.normal(size=(6, 5))}, trained=[1]), "gelu"),
        "shifted": (OnnxVertex("Add", constants={1: rng.normal(size=5)}, trained=[1]), "product"),
        "clip": (OnnxVertex("Clip", constants={1: -float("inf"), 2: 0.7}), "shifted"),
        "out": (OutputLayer(n_out=2, activation="softmax", loss="mcxent"), "clip"),
    }
    conf = NeuralNetConfiguration(seed=1, updater="sgd", dtype=dtype).graph(
        {"x": InputType.feed_forward(4)}, nodes, ["out"]
    )
    return ComputationGraph(conf).init()


def small_data():
    rng = np.random.default_rng(1)
    return DataSet(rng.normal(size=(8, 4)), np.eye(2)[rng.integers(0, 2, 8)])


def test_constants_that_are_trained_get_gradients():
    net, data = small_graph(), small_data()
    net.set_input(0, data.features)
    net.set_labels(data.labels)
    net.compute_gradient_and_score()
    gradient, params = nd.to_host(net.gradient().gradient()).copy().ravel(), nd.to_host(net.params()).copy()
    names = list(net.param_table())
    assert {"product_input_1", "shifted_input_1"} <= set(names)
    rng, step = np.random.default_rng(2), 1e-6
    direction = rng.normal(size=params.shape)
    scores = []
    for sign in (1.0, -1.0):
        net.set_params(params + sign * step * direction)
        scores.append(net.score(data))
    assert gradient @ direction.ravel() / 8 == pytest.approx((scores[0] - scores[1]) / (2 * step), rel=1e-6)


def test_zips_hold_the_vertices_and_their_parameters(tmp_path):
    net, data = small_graph(), small_data()
    net.fit(data)
    net.save(tmp_path / "net.zip")
    read = nn.load(tmp_path / "net.zip")
    np.testing.assert_array_equal(nd.to_host(read.output(data.features)[0]), nd.to_host(net.output(data.features)[0]))
    with zipfile.ZipFile(tmp_path / "net.zip") as archive:
        conf = json.loads(archive.read("configuration.json"))
    assert conf["vertices"]["product"]["constants"]["1"] == {"dtype": "float64", "shape": [6, 5], "content": None}


@pytest.mark.parametrize(("op", "case"), [(op, case) for op, cases in OPERATOR_CASES.items() for case in cases])
@pytest.mark.quick_rows(every=3)
def test_configurations_go_through_json(op, case):
    from nn.files.vertices_json import vertex_from_json, vertex_to_json

    vertex = vertex_of(op, case).resolved(NeuralNetConfiguration(updater="sgd"), 0)
    assert vertex_from_json(vertex_to_json(vertex)) == vertex


def test_networks_in_single_precision_stay_so():
    net = small_graph("float32")
    assert nd.dtype_name(net.output(small_data().features)[0]) == "float32"


def test_functions_of_elements_are_divided_and_others_are_not():
    def splits(op, constants, attributes=None):
        conf = OnnxVertex(op, attributes or {}, constants)
        return conf.runtime(conf, "v", "float64").may_split(training=True)

    assert splits("Gelu", {})
    assert splits("Clip", {1: 0.0, 2: 1.0})
    assert splits("Mul", {1: 2.0})
    assert not splits("Mul", {1: [1.0, 2.0]})
    assert not splits("Mul", {})
    assert not splits("Softmax", {}, {"axis": 0})


@pytest.mark.parametrize(
    ("vertex", "given", "expected"),
    [
        (OnnxVertex("Log"), [InputType.feed_forward(3)], InputType.feed_forward(3)),
        (OnnxVertex("Transpose", {"perm": [0, 2, 1]}), [InputType.recurrent(3, 5)], InputType.recurrent(5, 3)),
        (OnnxVertex("ReduceMean", constants={1: [2]}), [InputType.recurrent(3)], InputType.recurrent(3, 1)),
        (OnnxVertex("Softmax", {"axis": 2}), [InputType.recurrent(3)], InputType.recurrent(3)),
        (
            OnnxVertex("Resize", {"mode": "linear"}, {1: None, 2: [1.0, 1.0, 2.0, 0.5]}),
            [InputType.convolutional(4, 6, 2)],
            InputType.convolutional(8, 3, 2),
        ),
        (OnnxVertex("Flatten"), [InputType.convolutional(4, 6, 2)], InputType.feed_forward(48)),
        (OnnxVertex("MatMul"), [InputType.recurrent(3, 4), InputType.recurrent(4, 2)], InputType.recurrent(3, 2)),
    ],
)
def test_output_types(vertex, given, expected):
    assert vertex.output_type("vertex 'v'", given) == expected


def run(vertex, *xs):
    nodes = {"v": (vertex, *(f"x{number}" for number in range(len(xs))))}
    conf = NeuralNetConfiguration(dtype="float64").graph([f"x{number}" for number in range(len(xs))], nodes, ["v"])
    return ComputationGraph(conf).init().output(*xs)[0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OnnxVertex("Softmx"), "op must be one of .* operators, got 'Softmx'.*'Softmax'"),
        (lambda: OnnxVertex("Add", constants={1: "text"}), "OnnxVertex Add: a constant must be numbers, got 'text'"),
        (lambda: OnnxVertex("Add", trained=[1]), "trained must name constants of real numbers, got position 1"),
        (lambda: OnnxVertex("Add", constants={1: 3}, trained=[1]), "trained must name constants of real numbers"),
        (lambda: OnnxConstant("float32", (2,), b"1234"), r"content must be 8 bytes for float32 \[2\], got 4"),
        (lambda: run(OnnxVertex("Add"), np.ones((1, 2))), "Add needs input 1, got none"),
        (lambda: run(OnnxVertex("Reshape"), np.ones((1, 2)), np.ones((1, 2))), "input 1 of Reshape must be a constant"),
        (lambda: run(OnnxVertex("Pad", {"mode": "odd"}, {1: [0] * 4}), np.ones((1, 2))), "Pad must .*got mode 'odd'"),
        (
            lambda: run(OnnxVertex("Add"), np.ones((1, 2)), np.ones((1, 3))),
            r"vertex 'v' \(OnnxVertex\): add: arguments must fit each other, got \[1, 2\], \[1, 3\]",
        ),
        (
            lambda: run(OnnxVertex("DepthToSpace", {"blocksize": 0}), np.ones((1, 4, 2, 2))),
            "DepthToSpace must have inputs",
        ),
        (lambda: run(OnnxVertex("Softmax", {"axis": 4}), np.ones((1, 2))), r"axis must be in -2..1 .* got 4"),
        (
            lambda: run(OnnxVertex("Reshape", constants={1: [5]}), np.ones((1, 2))),
            r"as many numbers as the shape \[5\]",
        ),
        (
            lambda: OnnxVertex("Squeeze").output_type("vertex 'v'", [InputType.feed_forward(1)]),
            "activations must have 2 to 5 axes",
        ),
    ],
)
def test_what_is_refused(make, message):
    with pytest.raises(nd.NdError, match=message):
        make()


def test_dtypes_that_no_constant_has():
    with pytest.raises(nd.ChoiceError, match="OnnxConstant: unknown dtype 'float8'"):
        OnnxConstant("float8", (1,), b"1")
