"""Files of Keras through the command line: converted both ways, with proofs, and used by every command."""

import csv
import json

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet, NormalizerStandardize
from nn import ComputationGraph, DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.cli import main
from nn.cli.proof import keras_side
from optimize import Adam
from tests.cases import keras_files

X = np.random.default_rng(5).normal(size=(9, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[[0, 1, 1, 0, 1, 0, 0, 1, 1]]
FEW = ("cnn2", "rnn", "functional")
ABSENT = "MultiLayerNetwork on numpy (Keras is not installed)"
MANY = 60


def run(capsys, *arguments):
    """Return the exit code, what was printed, and the errors."""
    code = main([*map(str, arguments)])
    return code, *capsys.readouterr()


def host(x):
    return np.array(nd.to_host(x))


@pytest.fixture(autouse=True)
def without_keras(request, monkeypatch):
    """Keras itself takes seconds to start: only tests that ask for it have it."""
    if "keras" not in request.fixturenames:
        monkeypatch.setattr(keras_side, "installed_backend", lambda: None)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a model of Keras 2, its weights alone, and data."""
    monkeypatch.chdir(tmp_path)
    keras_files.write_model(tmp_path / "model.h5")
    keras_files.write_weights(tmp_path / "weights.h5", tmp_path / "config.json")
    with open("rows.csv", "w", newline="") as file:
        csv.writer(file).writerows([["a", "b", "c"], *X.tolist()])
    with open("labelled.csv", "w", newline="") as file:
        csv.writer(file).writerows(
            [["a", "b", "c", "kind"], *([*x, y.argmax()] for x, y in zip(X.tolist(), Y, strict=True))]
        )
    return tmp_path


def network():
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.05), l2=1e-4).list(
        DenseLayer(n_in=3, n_out=6, activation="tanh", name="fc", drop_out=0.8),
        OutputLayer(n_in=6, n_out=2, activation="softmax", name="result"),
    )
    net = MultiLayerNetwork(conf).init()
    net.fit(X, Y, epochs=3)
    return net


# ---- in


@pytest.mark.parametrize("out", ["net.zip", "net.npz", "net.onnx"])
@pytest.mark.parametrize("source", [("model.h5",), ("weights.h5", "--configuration", "config.json")])
@pytest.mark.quick_rows(2)
def test_a_model_of_keras_becomes_any_kind(source, out, folder, capsys):
    first, *more = source
    code, said, _ = run(capsys, "convert", first, out, *more, "--proof", 4, "--json", "proof.json")
    assert code == 0
    assert said.splitlines()[0] == f"{out}: 32 parameters"
    proof = json.loads((folder / "proof.json").read_text())
    assert proof["readers"][0] == ABSENT
    assert [row["name"] for row in proof["layers"] if row["compared"]] == ["fc1", "fc2"]
    (found,) = [nn.load(out).output(X)] if out != "net.onnx" else nn.load(out).output(X)
    np.testing.assert_allclose(host(found), keras_files.outputs(X), rtol=1e-5, atol=1e-7)


def test_the_content_says_that_it_is_keras(folder, capsys):
    (folder / "model.h5").rename("unnamed")
    assert run(capsys, "convert", "unnamed", "net.zip")[0] == 0


def test_a_configuration_alone_has_new_weights(folder, capsys):
    assert run(capsys, "convert", "config.json", "net.zip", "--proof", 2)[0] == 0
    assert nn.load("net.zip").num_params() == 32


@pytest.mark.slow
def test_every_command_takes_files_of_keras(folder, capsys):
    expected = keras_files.outputs(X)
    for model in (("model.h5",), ("weights.h5", "--configuration", "config.json")):
        code, said, _ = run(capsys, "summary", *model)
        assert code == 0
        assert "fc2" in said
        assert json.loads(run(capsys, "summary", *model, "--json")[1])["parameters"] == 32
        assert run(capsys, "picture", *model, "net.svg")[0] == 0
        assert "fc1" in (folder / "net.svg").read_text()
        code, said, _ = run(capsys, "predict", *model, "--csv", "rows.csv")
        assert code == 0
        np.testing.assert_allclose(np.loadtxt(said.splitlines()[1:], delimiter=","), expected, rtol=1e-5)
        code, said, _ = run(capsys, "evaluate", *model, "--csv", "labelled.csv", "--label", "kind", "--json")
        assert code == 0
        assert (
            f"{(expected.argmax(1) == Y.argmax(1)).mean():.4f}"[:5]
            in run(capsys, "evaluate", *model, "--csv", "labelled.csv", "--label", "kind")[1]
        )
        code, said, _ = run(capsys, "trace", *model, "--batch", 4)
        assert code == 0
        assert "forward" in said


# ---- out


@pytest.mark.parametrize("as_graph", [False, True])
@pytest.mark.quick_rows(1)
def test_a_network_as_a_model_of_keras_says_what_it_leaves_out(as_graph, folder, capsys):
    net = network()
    net = net.to_computation_graph() if as_graph else net
    net.save("model.zip", normalizer=NormalizerStandardize().fit(DataSet(X, Y)))
    code, _, error = run(capsys, "convert", "model.zip", "net.keras", "--proof", 4, "--json", "proof.json")
    assert code == 0
    proof = json.loads((folder / "proof.json").read_text())
    assert proof["readers"][1].endswith("(Keras is not installed)")
    assert proof["within"]
    for lost in ("normalizer, NormalizerStandardize", "updater's state, 76 numbers", "iterations and epochs, 3 and"):
        assert lost in error
        assert any(lost in one for one in proof["lost"])
    (found,) = [nn.load("net.keras").output(X)] if not as_graph else nn.load("net.keras").output(X)
    np.testing.assert_allclose(host(found), host(net.output(X)[0] if as_graph else net.output(X)), rtol=1e-5)


def test_from_keras_to_keras(folder, capsys):
    assert run(capsys, "convert", "model.h5", "new.keras", "--proof", 4)[0] == 0
    np.testing.assert_allclose(host(nn.load("new.keras").output(X)), keras_files.outputs(X), rtol=1e-5, atol=1e-7)


def test_what_keras_cannot_say_is_named(folder, capsys):
    conf = NeuralNetConfiguration(seed=1).list(
        DenseLayer(n_in=3, n_out=2, activation="rationaltanh", name="odd"), OutputLayer(n_out=2, activation="softmax")
    )
    MultiLayerNetwork(conf).init().save("odd.zip")
    code, _, error = run(capsys, "convert", "odd.zip", "odd.keras")
    assert code == 1
    assert error.splitlines()[-1].startswith("error: ")
    assert "odd" in error
    assert not (folder / "odd.keras").exists()


# ---- errors


@pytest.mark.slow
def test_options_that_do_not_go_with_a_file(folder, capsys):
    network().save("model.zip")
    keras_files.write_model(folder / "custom.h5", "Squeeze")
    keras_files.write_model(folder / "code.h5", "Lambda")
    with_configuration = ("model.zip", "--configuration", "config.json")
    cases = {
        ("convert", "model.zip", "a.npz", *with_configuration[1:]): "--configuration goes with .npz, .safetensors and",
        ("summary", *with_configuration): "summary: --configuration goes with .npz, .safetensors and weights of Keras",
        ("predict", *with_configuration, "--csv", "rows.csv"): "predict: --configuration goes with",
        ("trace", *with_configuration): "trace: --configuration goes with",
        ("convert", "weights.h5", "a.zip"): "configuration",
        ("convert", "weights.h5", "a.zip", "--configuration", "none.json"): "none.json: No such file",
        ("convert", "weights.h5", "a.zip", "--configuration", "rows.csv"): "expected JSON",
        ("convert", "weights.h5", "a.zip", "--configuration", "config.json", "--prototxt", "n"): "got both. Leave one",
        ("convert", "model.h5", "a.h5"): "OUT must end in",
        ("convert", "custom.h5", "a.zip"): "'fc2' (Squeeze)",
        ("convert", "code.h5", "a.zip"): "'fc2' (Lambda)",
        ("predict", "code.h5", "--csv", "rows.csv"): "nn.keras.register_layer",
    }  # fmt: skip
    for arguments, message in cases.items():
        code, _, error = run(capsys, *arguments)
        assert code == 1, arguments
        assert error.splitlines()[-1].startswith("error: "), arguments
        assert message in error, (arguments, error)
    assert not list(folder.glob("a.*"))


# ---- files of Keras' own


def convert(capsys, *arguments):
    """Return the proof of a conversion that must go well."""
    code, _, error = run(capsys, "convert", *arguments, "--json", "proof.json")
    assert code == 0, error
    with open("proof.json") as file:
        return json.load(file)


@pytest.mark.parametrize("ending", ["keras", "h5"])
def test_files_of_keras_layer_by_layer(ending, keras_reference, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for family in FEW:
        path = min((keras_reference / "zoo").glob(f"{family}_*.{ending}"))
        proof = convert(capsys, path, "net.zip", "--proof-inputs", path.with_suffix(".npz"))
        assert sum(row["compared"] for row in proof["layers"]) > 1
        assert [row["name"] for row in proof["layers"] if not row["compared"]] == []


@pytest.mark.usefixtures("keras")
def test_keras_itself_proves_both_ways(folder, capsys):
    proof = convert(capsys, "model.h5", "net.keras", "--proof", 4)
    assert all(reader.startswith("Keras 3.") for reader in proof["readers"])
    assert [row["name"] for row in proof["layers"] if row["compared"]] == ["fc1", "fc2"]


@pytest.mark.slow
@pytest.mark.usefixtures("keras")
def test_keras_itself_proves_some_of_its_files(keras_reference, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    paths = sorted((keras_reference / "zoo").glob("*.keras"))
    assert len(paths) == MANY
    for path in paths[:: MANY // 6]:  # a model of each kind; Keras takes seconds for each
        for source, target in ((path, "net.zip"), ("net.zip", "net.keras")):
            proof = convert(capsys, source, target, "--proof-inputs", path.with_suffix(".npz"))
            assert any(reader.startswith("Keras 3.") for reader in proof["readers"])
            assert sum(row["compared"] for row in proof["layers"]) > 0


def test_a_graph_of_two_inputs(folder, capsys):
    conf = NeuralNetConfiguration(seed=1).graph(
        ["a", "b"],
        {
            "first": (DenseLayer(n_in=3, n_out=4, activation="tanh"), "a"),
            "second": (DenseLayer(n_in=2, n_out=4, activation="tanh"), "b"),
            "x": (OutputLayer(n_in=4, n_out=2, activation="softmax"), "first"),
            "y": (OutputLayer(n_in=4, n_out=3, activation="softmax"), "second"),
        },
        ["y", "x"],
    )
    ComputationGraph(conf).init().save("graph.zip")
    proof = convert(capsys, "graph.zip", "graph.keras", "--proof", 3)
    assert [row["name"] for row in proof["layers"] if row["kind"] == "output"] == ["y", "x"]
