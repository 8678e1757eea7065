"""From ONNX and back through ``python -m nn convert``: PyTorch's exports, and networks there and back again."""

import json
import pathlib
import warnings

import numpy as np
import onnx
import pytest

import nd
import nn
from nn import ComputationGraph
from nn.cli import main
from tests.cases.onnx_models import Model
from tests.nn.onnx.out.test_random_networks_out import KINDS

FAMILIES = ("cnn", "conv1d", "mlp", "rnn", "two")
QUICK = {"graphs": (0, 2, 3), "layers": (0, 1, 2), "pretrained": (0, 1, 2), "series": (1, 4, 5)}
MANY = 40
TOLERANCE = 1e-6
UNSAID = "every node must be one that a layer or an OnnxVertex can say"
"""What is said of operators that no layer computes: they are refused by name."""


def convert(capsys, *arguments):
    """Return the proof of a conversion that must go well."""
    code = main(["convert", *map(str, arguments), "--json", "proof.json"])
    error = capsys.readouterr().err
    assert code == 0, error
    return json.loads(pathlib.Path("proof.json").read_text())


@pytest.mark.parametrize("family", FAMILIES)
def test_exports_of_pytorch_become_zips_layer_by_layer(family, onnx_reference, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    paths = sorted((onnx_reference / "zoo").glob(f"{family}_*.onnx"))
    assert len(paths) > 7
    compared = 0
    for path in paths[:3]:
        arrays = np.load(path.with_suffix(".npz"))
        proof = convert(capsys, path, "net.zip", "--proof-inputs", path.with_suffix(".npz"))
        compared += sum(row["compared"] for row in proof["layers"])
        assert [row["name"] for row in proof["layers"] if not row["compared"]] == []
        network = nn.load("net.zip")
        assert isinstance(network, ComputationGraph)
        for number, output in enumerate(network.output(arrays["x0"])):
            expected = arrays[f"y{number}"]
            np.testing.assert_allclose(nd.to_host(output), expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert compared > len(paths[:3])


def test_inputs_that_nothing_reads(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = Model()
    model.node("Relu", "x", "y")
    onnx.save(model.proto({"x": ["n", 4], "unread": ["n", 5]}, ["y"]), "two.onnx")
    assert [row["name"] for row in convert(capsys, "two.onnx", "net.zip", "--proof", 2)["layers"]] == ["y"]
    onnx.save(model.proto({"x": ["n", 4], "phase": []}, ["y"]), "number.onnx")
    assert main(["convert", "number.onnx", "net.zip", "--proof", "2"]) == 1
    assert "every input of number.onnx, ['x', 'phase'], got 1: nothing reads the others" in capsys.readouterr().err


def test_numbers_of_rows_that_a_file_takes_a_fixed_number_of(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    model = Model()
    model.node("Cast", "x", "rows", to=onnx.TensorProto.INT64)
    model.node("Gather", [model.weights("table", 5, 3), "rows"], "y")
    onnx.save(model.proto({"x": ["n", 4]}, ["y"]), "rows.onnx")
    layers = convert(capsys, "rows.onnx", "net.zip", "--proof", 2)["layers"]
    assert {row["name"]: row["numbers"] for row in layers}["y"] == (2 + 1) * 4 * 3


def there_and_back(kind, number, capsys):
    """Convert a random network to ONNX and that to a zip.

    Returns how far the outputs are apart; None where no network has that number, or its way back is refused by name.
    """
    drawn = KINDS[kind](number)
    if drawn is None:
        return None
    network, features = drawn
    features = [nd.to_host(x) for x in features]
    np.savez("inputs.npz", **{f"x{place}": x for place, x in enumerate(features)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of what Java cannot open
        network.save("net.zip")
        convert(capsys, "net.zip", "net.onnx", "--proof-inputs", "inputs.npz")
        code = main(["convert", "net.onnx", "again.zip", "--proof-inputs", "inputs.npz"])
    error = capsys.readouterr().err
    if code and UNSAID in error:
        return None
    assert code == 0, f"{kind} {number}: {error}"
    expected, got = (outputs_of(path, features) for path in ("net.zip", "again.zip"))
    return max(
        float(np.abs(one - other).max() / max(np.abs(one).max(), 1e-30))
        for one, other in zip(expected, got, strict=True)
    )


def outputs_of(path, features):
    outputs = nn.load(path).output(*features)
    several = outputs if isinstance(outputs, list) else [outputs]
    return [np.array(nd.to_host(output), np.float64) for output in several]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.quick_rows("layers")
def test_there_and_back(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = [there_and_back(kind, number, capsys) for number in QUICK[kind]]
    assert sum(one is not None for one in found) > 1
    assert max(one or 0.0 for one in found) <= TOLERANCE


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_many_there_and_back(kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = {number: there_and_back(kind, number, capsys) for number in range(MANY)}
    print(kind, sum(one is not None for one in found.values()), "networks")
    assert {number: one for number, one in found.items() if (one or 0.0) > TOLERANCE} == {}
