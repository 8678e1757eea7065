"""The command line on graphs: summaries, pictures, conversions, and the output that is meant."""

import csv
import json
from xml.etree import ElementTree

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, MultiDataSet, NormalizerStandardize
from nd.evaluation import Evaluation, RegressionEvaluation
from nn import (
    ComputationGraph,
    ConvolutionLayer,
    DenseLayer,
    ElementWiseVertex,
    InputType,
    NeuralNetConfiguration,
    OutputLayer,
    load,
)
from nn.cli import main
from optimize import Adam

RNG = np.random.default_rng(3)
X = RNG.normal(0.0, 2.0, (30, 4)).astype(np.float32)
KINDS = X[:, :3].argmax(1)
AGES = X @ np.array([[1.0], [2.0], [-1.0], [0.5]], np.float32)


def graph(inputs=("x",), outputs=("kind", "age")):
    """A sum of two branches, from one input or two, and one or two outputs."""
    nodes = {
        "left": (DenseLayer(n_in=4, n_out=6, activation="tanh"), inputs[0]),
        "right": (DenseLayer(n_in=4, n_out=6, activation="tanh"), inputs[-1]),
        "sum": (ElementWiseVertex("add"), "left", "right"),
        "kind": (OutputLayer(n_in=6, n_out=3, activation="softmax"), "sum"),
        "age": (OutputLayer(n_in=6, n_out=1, loss="mse", activation="identity"), "sum"),
    }
    used = {name: node for name, node in nodes.items() if name not in ("kind", "age") or name in outputs}
    base = NeuralNetConfiguration(seed=5, updater=Adam(0.01))
    return ComputationGraph(base.graph(inputs, used, outputs)).init()


@pytest.fixture
def files(tmp_path):
    """A trained graph of two outputs, and rows for each of them."""
    net = graph()
    net.fit(MultiDataSet([X], [np.eye(3, dtype=np.float32)[KINDS], AGES]), epochs=20)
    net.save(tmp_path / "graph.zip")
    for name, labels in (("kind", KINDS[:, None]), ("age", AGES)):
        with (tmp_path / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["a", "b", "c", "d", name], *np.hstack([X, labels]).tolist()])
    return tmp_path, net


def run(capsys, *arguments):
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def outputs_of(net, x=X):
    return [np.array(nd.to_host(output)) for output in net.output(x)]


def test_summary_names_what_comes_in(files, capsys):
    code, out, _ = run(capsys, "summary", files[0] / "graph.zip")
    assert code == 0
    assert out.startswith("ComputationGraph, written as by release 1.0.0")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert rows["vertex"] == ["vertex", "type", "inputs", "in", "->", "out", "parameters", "shapes", "updater"]
    assert rows["left"][:7] == ["left", "DenseLayer", "x", "feed_forward(4)", "->", "feed_forward(6)", "30"]
    assert rows["sum"][:4] == ["sum", "ElementWiseVertex", "left,", "right"]
    assert rows["sum"][4:] == ["feed_forward(6),", "feed_forward(6)", "->", "feed_forward(6)", "0"]
    assert "unsupported:      nothing" in out
    found = json.loads(run(capsys, "summary", files[0] / "graph.zip", "--json")[1])
    assert {layer["name"]: layer.get("inputs") for layer in found["layers"]} == {
        "left": ["x"], "right": ["x"], "sum": ["left", "right"], "kind": ["sum"], "age": ["sum"]
    }  # fmt: skip


def test_summary_knows_the_types_of_inputs_that_the_file_keeps(tmp_path, capsys):
    conf = NeuralNetConfiguration().graph(
        {"image": InputType.convolutional(6, 6, 2)},
        {
            "windows": (ConvolutionLayer(n_out=3, kernel_size=(3, 3)), "image"),
            "answer": (OutputLayer(n_out=2), "windows"),
        },
        "answer",
    )
    ComputationGraph(conf).init().save(tmp_path / "images.zip")
    _, out, _ = run(capsys, "summary", tmp_path / "images.zip")
    rows = {line.split()[0]: line.split() for line in out.splitlines() if line}
    assert rows["windows"][2:6] == ["image", "convolutional(6x6x2)", "->", "convolutional(4x4x3)"]
    assert rows["answer"][2:6] == ["windows", "feed_forward(48)", "->", "feed_forward(2)"]


@pytest.mark.parametrize("kind", ["npz", "zip"])
def test_there_and_back(files, capsys, kind):
    folder, net = files
    assert run(capsys, "convert", folder / "graph.zip", folder / f"other.{kind}")[0] == 0
    assert run(capsys, "convert", folder / f"other.{kind}", folder / "again.zip")[0] == 0
    again = load(folder / "again.zip")
    assert isinstance(again, ComputationGraph)
    np.testing.assert_array_equal(nd.to_host(again.params()), nd.to_host(net.params()))
    np.testing.assert_array_equal(nd.to_host(again.updater_state()), nd.to_host(net.updater_state()))
    code, out, _ = run(capsys, "summary", folder / "again.zip")
    assert (code, "total parameters: 88" in out) == (0, True)


def test_evaluate_the_output_that_is_meant(files, capsys):
    folder, net = files
    kinds, ages = outputs_of(net)
    expected = Evaluation()
    expected.eval(np.eye(3, dtype=np.float32)[KINDS], kinds)
    arguments = ("evaluate", folder / "graph.zip", "--csv", folder / "kind.csv", "--label", "kind", "--output", "kind")
    assert run(capsys, *arguments)[:2] == (0, expected.stats() + "\n")
    regression = RegressionEvaluation()
    regression.eval(AGES, ages)
    arguments = ("evaluate", folder / "graph.zip", "--csv", folder / "age.csv", "--label", "age", "--output", "age")
    code, out, _ = run(capsys, *arguments, "--regression", "--batch", 7, "--json")
    assert code == 0
    found = RegressionEvaluation.from_json(out)
    assert found.mean_squared_error(0) == pytest.approx(regression.mean_squared_error(0), rel=1e-5)


def test_predict_the_output_that_is_meant(files, capsys):
    folder, net = files
    rows = ("--csv", folder / "kind.csv", "--label", "kind")
    for name, expected in zip(("kind", "age"), outputs_of(net), strict=True):
        code, out, _ = run(capsys, "predict", folder / "graph.zip", *rows, "--output", name)
        assert code == 0
        found = np.array([line.split(",") for line in out.splitlines()[1:]], float)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_a_graph_of_one_output_needs_no_name_and_goes_through_its_normalizer(tmp_path, files, capsys):
    net = graph(outputs=("kind",))
    normalizer = NormalizerStandardize().fit(DataSet(X, np.eye(3, dtype=np.float32)[KINDS]))
    net.save(tmp_path / "one.zip", normalizer=normalizer)
    expected = Evaluation()
    expected.eval(np.eye(3, dtype=np.float32)[KINDS], outputs_of(net, normalizer.transform_features(X))[0])
    arguments = ("evaluate", tmp_path / "one.zip", "--csv", files[0] / "kind.csv", "--label", "kind")
    assert run(capsys, *arguments)[:2] == (0, expected.stats() + "\n")


def test_picture(files, capsys):
    folder, net = files
    assert run(capsys, "picture", folder / "graph.zip", folder / "graph.svg") == (
        0, f"{folder / 'graph.svg'}: 5 layers and vertices\n", "",
    )  # fmt: skip
    ElementTree.parse(folder / "graph.svg")
    net.picture(folder / "same.svg")
    assert (folder / "graph.svg").read_bytes() == (folder / "same.svg").read_bytes()
    assert run(capsys, "picture", folder / "graph.zip", folder / "graph.dot")[0] == 0
    assert (folder / "graph.dot").read_text().startswith("digraph ")


def test_errors_say_what_is_missing(tmp_path, files, capsys):
    folder = files[0]
    model, rows = folder / "graph.zip", ("--csv", folder / "kind.csv", "--label", "kind")
    graph(("x", "z"), ("kind",)).save(tmp_path / "inputs.zip")
    cases = {
        ("evaluate", model, *rows): "--output must say which of the outputs ['kind', 'age'] is meant",
        ("predict", model, *rows): "--output must say which of the outputs ['kind', 'age'] is meant",
        ("predict", model, *rows, "--output", "size"): "unknown --output 'size', expected one of",
        ("predict", tmp_path / "inputs.zip", *rows): "the model has the inputs ['x', 'z']",
        ("evaluate", tmp_path / "inputs.zip", *rows): "the model has the inputs ['x', 'z']",
        ("picture", model, folder / "graph.png"): "kind of file 'png'",
    }
    for arguments, message in cases.items():
        code, out, error = run(capsys, *arguments)
        assert (code, out) == (1, ""), arguments
        assert error.startswith("error: ")
        assert message in error
        assert error.count("\n") == 1
