"""``python -m nn trace``: a table, a page, files and what parts; on random numbers, bundled data and CSV files."""

import numpy as np
import pytest

import nn.trace
from nd.dataset import IrisDataSetIterator
from nn import LSTM, DenseLayer, EmbeddingLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer, RnnOutputLayer
from nn.cli import main
from tests.nn.trace.networks import graph


@pytest.fixture
def model(tmp_path):
    conf = NeuralNetConfiguration(seed=1, updater="adam").list(
        DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_out=3, activation="softmax")
    )
    path = tmp_path / "model.zip"
    MultiLayerNetwork(conf).init().save(path)
    return path


def test_a_table_on_random_numbers(model, capsys):
    assert main(["trace", str(model), "--batch", "16"]) == 0
    out = capsys.readouterr().out
    assert "16x4" in out and "gemm" in out  # noqa: PT018
    assert "between the ops" in out


def test_a_page_and_a_file(model, tmp_path, capsys):
    page, file = tmp_path / "trace.html", tmp_path / "trace.npz"
    arguments = ["trace", str(model), "--data", "iris", "--batch", "50", "--html", str(page), "--save", str(file)]
    assert main(arguments) == 0
    assert capsys.readouterr().out.startswith(f"{page}: ")
    assert page.read_text().startswith("<!DOCTYPE html>")
    trace = nn.trace.load(file)
    iris = IrisDataSetIterator(50).next()
    np.testing.assert_array_equal(trace.ops[0].inputs["a"], iris.features)


def test_what_parts_is_said(model, tmp_path, capsys):
    trace, file = ["trace", str(model), "--data", "iris"], str(tmp_path / "before.npz")
    assert main([*trace, "--save", file]) == 0
    capsys.readouterr()
    assert main([*trace, "--compare", file]) == 0
    assert capsys.readouterr().out == "no difference\n"
    net = nn.load(model)
    net.get_param("1_b")[0, 1] += 1e-4
    net.save(model)
    assert main([*trace, "--compare", file]) == 0
    assert "softmax of 1 (forward), result[0, 0]" in capsys.readouterr().out
    assert main([*trace, "--compare", file, "--tolerance", "0.01"]) == 0
    assert capsys.readouterr().out == "no difference\n"


def test_recorded_calls(model, capsys):
    assert main(["trace", str(model), "--recorded"]) == 0
    assert "maximum.reduce" in capsys.readouterr().out


@pytest.mark.parametrize(
    "layers",
    [
        (EmbeddingLayer(n_in=9, n_out=4), OutputLayer(n_out=3, activation="softmax")),
        (LSTM(n_in=3, n_out=4), RnnOutputLayer(n_out=2, activation="softmax")),
    ],
    ids=["indices", "series"],
)
@pytest.mark.quick_rows(1)
def test_random_numbers_fit_the_first_layer(layers, tmp_path, capsys):
    path = tmp_path / "model.zip"
    MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init().save(path)
    assert main(["trace", str(path), "--batch", "4"]) == 0
    assert "between the ops" in capsys.readouterr().out


def test_a_graph(tmp_path, capsys):
    graph().save(tmp_path / "graph.zip")
    assert main(["trace", str(tmp_path / "graph.zip"), "--batch", "4"]) == 0
    assert "left" in capsys.readouterr().out


def test_a_csv_file(model, tmp_path, capsys):
    table = tmp_path / "rows.csv"
    table.write_text("".join(f"{row},1,2,3,{row % 3}\n" for row in range(6)))
    assert main(["trace", str(model), "--csv", str(table), "--label", "4"]) == 0
    assert "6x4" in capsys.readouterr().out


def test_an_error_is_a_line(model, tmp_path, capsys):
    assert main(["trace", str(model), "--compare", str(tmp_path / "nothing.npz")]) == 1
    assert "nothing.npz" in capsys.readouterr().err
