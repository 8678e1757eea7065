"""``python -m nn convert``: kinds by their content, what is left out, and proofs: numbers, tables, JSON, exit codes."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest

import nd
import nn.onnx.writing
from nd.dataset import DataSet, NormalizerStandardize
from nn import (
    ComputationGraph,
    DenseLayer,
    DropoutLayer,
    EmbeddingLayer,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
)
from nn.caffe import Net, write_weights
from nn.cli import main
from nn.cli.proof.onnx_side import OnnxSide
from optimize import Adam

RNG = np.random.default_rng(5)
X = RNG.normal(size=(9, 3)).astype(np.float32)
Y = np.eye(2, dtype=np.float32)[RNG.integers(0, 2, 9)]
DEPLOY = """name: "small" input: "data" input_shape { dim: 1 dim: 3 }
layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc" inner_product_param {
  num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "fc" top: "fc" }
layer { name: "out" type: "InnerProduct" bottom: "fc" top: "out" inner_product_param {
  num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "prob" type: "Softmax" bottom: "out" top: "prob" }"""


def network(**settings):
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.05), **settings).list(
        DenseLayer(n_in=3, n_out=6, activation="tanh", name="fc"),
        DropoutLayer(drop_out=0.8),
        OutputLayer(n_in=6, n_out=2, activation="softmax", name="result"),
    )
    return MultiLayerNetwork(conf).init()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a trained model and its normalizer."""
    monkeypatch.chdir(tmp_path)
    net = network()
    net.fit(X, Y, epochs=3)
    net.save("model.zip", normalizer=NormalizerStandardize().fit(DataSet(X, Y)))
    return tmp_path


def run(capsys, *arguments):
    """Return the exit code, what was printed, and the errors."""
    code = main(["convert", *map(str, arguments)])
    return code, *capsys.readouterr()


def host(x):
    return np.array(nd.to_host(x))


def ran(path, x):
    """What onnxruntime computes."""
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0]


# ---- what is written


def test_a_model_as_onnx_says_what_it_leaves_out(folder, capsys):
    code, out, error = run(capsys, "model.zip", "model.onnx")
    assert (code, out) == (0, "model.onnx: 38 parameters\n")
    np.testing.assert_allclose(ran("model.onnx", X), host(nn.load("model.zip").output(X)), rtol=1e-5, atol=1e-7)
    assert error.startswith("warning: model.onnx: has no place for the normalizer, NormalizerStandardize; ")
    for lost in (
        "updater's state, 76 numbers",
        "iterations and epochs, 3 and 0",
        "dropout of layer1",
        "updaters and losses",
    ):
        assert lost in error
    assert error.count("\n") == 1


def test_the_opset_is_written(folder, capsys):
    assert run(capsys, "model.zip", "model.onnx", "--opset", 15)[0] == 0
    assert [entry.version for entry in onnx.load("model.onnx").opset_import] == [15]
    code, _, error = run(capsys, "model.zip", "again.zip", "--opset", 15)
    assert (code, error) == (1, "error: convert: --opset is for .onnx, got it with 'again.zip'. Leave it out.\n")


@pytest.mark.parametrize("kind", ["npz", "safetensors", "zip"])
def test_the_content_says_what_is_read_and_the_ending_what_is_written(kind, folder, capsys):
    assert run(capsys, "model.zip", f"other.{kind}")[0] == 0
    (folder / f"other.{kind}").rename("unnamed")
    assert run(capsys, "unnamed", "again.zip", "--proof", 3)[0] == 0
    np.testing.assert_array_equal(host(nn.load("again.zip").params()), host(nn.load("model.zip").params()))


def test_arrays_alone_with_their_configuration(folder, capsys):
    net = nn.load("model.zip")
    np.savez("bare.npz", **{key: host(array) for key, array in net.param_table().items()})
    (folder / "conf.json").write_text(net.conf.to_json())
    assert run(capsys, "bare.npz", "again.zip", "--configuration", "conf.json")[0] == 0
    np.testing.assert_array_equal(host(nn.load("again.zip").output(X)), host(net.output(X)))
    code, _, error = run(capsys, "bare.npz", "again.zip")
    assert code == 1
    assert "python -m nn convert reads it" in error


def caffe_files(folder):
    (folder / "net.prototxt").write_text(DEPLOY)
    net = Net(DEPLOY + "# {", seed=4)
    write_weights(net.to_proto(), folder / "net.caffemodel")
    write_weights(net.to_proto(), folder / "net.caffemodel.h5")
    return net


@pytest.mark.parametrize("weights", ["net.caffemodel", "net.caffemodel.h5"])
@pytest.mark.parametrize("out", ["net.zip", "net.onnx", "net.npz"])
def test_a_net_of_caffe_is_proved_layer_by_layer(weights, out, folder, capsys):
    net = caffe_files(folder)
    expected = host(net.forward(data=X[:1])["prob"])
    code, said, _ = run(capsys, weights, out, "--prototxt", "net.prototxt", "--proof", 4, "--json", "proof.json")
    assert code == 0
    assert "nn.caffe.Net and " in said
    proof = json.loads((folder / "proof.json").read_text())
    layers = {row["name"] for row in proof["layers"] if row["compared"]}
    assert {"prob"} <= layers
    assert out == "net.onnx" or layers == {"fc", "relu", "out", "prob"}
    found = ran(out, X[:1]) if out == "net.onnx" else host(nn.load(out).output(X[:1])[0])
    np.testing.assert_allclose(found, expected, rtol=1e-5)


# ---- the proof


def test_a_proof_as_table_and_json(folder, capsys):
    code, out, _ = run(capsys, "model.zip", "model.onnx", "--proof", 5, "--json", "proof.json")
    assert code == 0
    lines = out.splitlines()
    assert lines[1] == f"MultiLayerNetwork on numpy and onnxruntime {onnxruntime.__version__}, on 5 and 1 example(s)"
    assert lines[3].split() == ["layer", "numbers", "largest", "difference", "relative", "ulp"]
    assert any(line.startswith("result (output)") for line in lines)
    proof = json.loads((folder / "proof.json").read_text())
    assert (proof["in"], proof["out"], proof["examples"], proof["tolerance"]) == (
        "model.zip",
        "model.onnx",
        [5, 1],
        1e-5,
    )
    assert proof["within"] is True
    assert any("normalizer" in lost for lost in proof["lost"])
    (row,) = [row for row in proof["layers"] if row["kind"] == "output"]
    assert (row["name"], row["shape"], row["numbers"], row["within"]) == ("result", [5, 2], 12, True)
    assert 0 <= row["relative"] <= 1e-5
    assert row["ulps"] < 100


def test_the_numbers_are_those_of_both_readers(folder, capsys):
    np.savez("inputs.npz", x0=X)
    arguments = "model.zip", "model.onnx", "--proof-inputs", "inputs.npz", "--json", "proof.json"
    assert run(capsys, *arguments)[0] == 0
    expected, got = host(nn.load("model.zip").output(X)).astype(np.float64), ran("model.onnx", X)
    proof = json.loads((folder / "proof.json").read_text())
    (row,) = [row for row in proof["layers"] if row["kind"] == "output"]
    assert proof["examples"] == [9]
    np.testing.assert_allclose(row["absolute"], np.abs(expected - got).max(), rtol=1e-12)
    np.testing.assert_allclose(row["largest"], expected.max(), rtol=1e-12)
    np.testing.assert_allclose(row["relative"], np.abs(expected - got).max() / expected.max(), rtol=1e-12)


@pytest.fixture
def wrong_writer(monkeypatch):
    """Files of ONNX have a bias that is a thousandth too large."""
    right = nn.onnx.writing.write_onnx

    def write(net, path, **settings):
        net = net.clone()
        net.set_param("2_b", host(net.get_param("2_b")) + np.float32([[1e-3, 0.0]]))
        right(net, path, **settings)

    monkeypatch.setattr(nn.onnx.writing, "write_onnx", write)


def test_a_difference_beyond_the_tolerance_has_exit_code_1(folder, wrong_writer, capsys):
    arguments = "model.zip", "model.onnx", "--proof", 8, "--json", "proof.json"
    code, out, error = run(capsys, *arguments)
    assert code == 1
    assert "beyond" in next(line for line in out.splitlines() if line.startswith("result"))
    assert error.splitlines()[-1].startswith(
        "error: convert: model.onnx must compute what model.zip computes, within 1e"
    )
    assert "got more in result. It is written, and not to be relied on." in error
    proof = json.loads((folder / "proof.json").read_text())
    assert proof["within"] is False
    assert [row["name"] for row in proof["layers"] if not row["within"]] == ["result"]
    assert run(capsys, *arguments, "--tolerance", 1e-2)[0] == 0


def test_a_file_that_is_replaced_is_compared_as_it_was(folder):
    net = nn.load("model.zip")
    net.save("model.onnx")
    side, expected = OnnxSide("model.onnx"), host(net.output(X))
    network().save("model.onnx")
    np.testing.assert_allclose(side.run([X], ["result"]).outputs[0], expected, rtol=0, atol=1e-6)


def test_nothing_is_proved_by_nan_alone(folder, capsys):
    np.savez("inputs.npz", x0=np.full((2, 3), np.nan, np.float32))
    code, _, error = run(capsys, "model.zip", "model.onnx", "--proof-inputs", "inputs.npz")
    assert code == 1
    assert "finite numbers in every output, got none in result. Give other inputs" in error
    np.savez("inputs.npz", x0=np.array([[np.nan, 0.0, 0.0], [1.0, 2.0, 3.0]], np.float32))
    assert run(capsys, "model.zip", "model.onnx", "--proof-inputs", "inputs.npz")[0] == 0


def test_graphs_of_several_inputs_and_outputs(folder, capsys):
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
    np.savez("inputs.npz", b=X[:, :2], a=X)
    for more in (("--proof", 3), ("--proof-inputs", "inputs.npz")):
        for out in ("graph.npz", "graph.onnx"):
            code, said, _ = run(capsys, "graph.zip", out, *more)
            assert code == 0
            assert "y (output)" in said
            assert "x (output)" in said
    np.savez("inputs.npz", a=X)
    code, _, error = run(capsys, "graph.zip", "graph.npz", "--proof-inputs", "inputs.npz")
    assert code == 1
    assert "must hold the inputs ['a', 'b'], got the arrays ['a']" in error
    np.savez("inputs.npz", a=X, b=X[:4, :2])
    assert "as many examples for every input" in run(capsys, "graph.zip", "b.npz", "--proof-inputs", "inputs.npz")[2]


def test_indices_are_random_whole_numbers(folder, capsys):
    layers = EmbeddingLayer(n_in=7, n_out=4, has_bias=True), OutputLayer(n_in=4, n_out=2, activation="softmax")
    MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init().save("indices.zip")
    assert run(capsys, "indices.zip", "indices.npz", "--proof", 6)[0] == 0


def test_without_onnxruntime_onnx_itself_computes(folder, capsys, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    code, out, _ = run(capsys, "model.zip", "model.onnx", "--proof", 3)
    assert code == 0
    assert "and onnx.reference, on 3 and 1 example(s)" in out


# ---- errors


def test_options_that_do_not_go_with_a_file(folder, capsys):
    caffe_files(folder)
    nn.load("model.zip").save("arrays.npz")
    cases = {
        ("net.caffemodel", "a.zip"): "need the net, got none. Add --prototxt FILE.",
        ("net.caffemodel.h5", "a.zip"): "must hold a model of Keras, or be weights of Caffe with --prototxt FILE",
        ("net.prototxt", "a.zip"): "must be the weights of a net of Caffe",
        ("model.zip", "a.onnx", "--prototxt", "net.prototxt"): "--prototxt goes with weights of Caffe",
        (
            "model.zip",
            "a.onnx",
            "--configuration",
            "conf.json",
        ): "--configuration goes with .npz, .safetensors and weights of Keras",
        ("arrays.npz", "a.zip", "--configuration", "net.caffemodel"): "must be a text of JSON",
        ("model.zip", "a.h5"): "OUT must end in .zip, .bin, .npz, .safetensors, .onnx or .keras, got 'a.h5'",
        ("model.zip", "a.onnx", "--json", "b.json"): "--json is for a proof, got none. Add --proof N.",
        ("model.zip", "a.onnx", "--proof", "3", "--json", "b.zip"): "expected a name for JSON",
        ("model.zip", "a.onnx", "--proof-inputs", "none.npz"): "none.npz: No such file",
        ("missing.zip", "a.onnx"): "missing.zip: No such file",
    }
    for arguments, message in cases.items():
        code, _, error = run(capsys, *arguments)
        assert code == 1, arguments
        assert error.splitlines()[-1].startswith("error: "), arguments
        assert message in error, arguments
    assert not list(folder.glob("b.*"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--proof", "0"), "--proof: expected a number of examples, 1 or more, got 0"),
        (("--proof", "-2"), "--proof: expected a number of examples, 1 or more, got -2"),
        (("--proof", "many"), "--proof: expected a number of examples, 1 or more, got many"),
        (("--proof", "2", "--proof-inputs", "x.npz"), "not allowed with argument --proof"),
        (("--proof", "2", "--tolerance=-1"), "--tolerance: expected a number, 0 or more, got -1"),
        (("--proof", "2", "--tolerance", "nan"), "--tolerance: expected a number, 0 or more, got nan"),
        (("--proof", "2", "--tolerance", "small"), "--tolerance: expected a number, 0 or more, got small"),
    ],
)
def test_options_of_a_proof(given, message, folder, capsys):
    code, _, error = run(capsys, "model.zip", "a.zip", *given)
    assert code == 2
    assert message in error
    assert not (folder / "a.zip").exists()
