"""The command line on real files: what it prints, its exit codes, and errors in one line."""

import csv
import json
import pathlib
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, DigitsDataSetIterator, NormalizerStandardize
from nd.evaluation import Evaluation, RegressionEvaluation
from nn import DenseLayer, LossLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.cli import COMMANDS, main
from nn.files.exchange import write_array_file
from nn.networks.engine import Engine
from optimize import Adam

RNG = np.random.default_rng(17)
X = RNG.normal(3.0, 2.0, (40, 3)).astype(np.float32)
CLASSES = (X.sum(1) > 9.0).astype(int)
Y = np.eye(2, dtype=np.float32)[CLASSES]


def network(n_out=2, loss="mcxent", activation="softmax"):
    conf = NeuralNetConfiguration(seed=3, updater=Adam(0.05)).list(
        DenseLayer(n_in=3, n_out=6, activation="tanh"),
        OutputLayer(n_in=6, n_out=n_out, loss=loss, activation=activation),
    )
    return MultiLayerNetwork(conf).init()


@pytest.fixture
def files(tmp_path):
    """A trained model with its normalizer, and its data as CSV, with and without labels."""
    normalizer = NormalizerStandardize().fit(DataSet(X, Y))
    net = network()
    net.fit(normalizer.transform_features(X), Y, epochs=30)
    net.save(tmp_path / "model.zip", normalizer=normalizer)
    write_csv(tmp_path / "rows.csv", X.tolist(), ["a", "b", "c"])
    labelled = [[*row, label] for row, label in zip(X.tolist(), CLASSES.tolist(), strict=True)]
    write_csv(tmp_path / "labelled.csv", labelled, ["a", "b", "c", "kind"])
    return tmp_path, net, normalizer


def write_csv(path, rows, header):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def read_csv(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def run(capsys, *arguments):
    """Return the exit code, what was printed, and the errors."""
    code = main([str(argument) for argument in arguments])
    return code, *capsys.readouterr()


def host(x):
    return np.array(nd.to_host(x))


# ---- summary


def test_summary_of_a_model(files, capsys):
    code, out, _ = run(capsys, "summary", files[0] / "model.zip")
    assert code == 0
    assert "DenseLayer" in out
    assert [line.split() for line in out.splitlines() if line.startswith("1 ")] == [
        ["1", "OutputLayer", "feed_forward(6)", "->", "feed_forward(2)", "14", "W", "6x2,", "b", "1x2", "Adam(0.05)"]
    ]
    for line in ("total parameters: 38", "updater state:    76", "normalizer:       NormalizerStandardize"):
        assert line in out
    assert "unsupported:      nothing" in out
    assert f"trained:          {files[1].iteration_count} iterations, {files[1].epoch_count} epochs" in out


def test_summary_as_json(files, capsys):
    code, out, _ = run(capsys, "summary", files[0] / "model.zip", "--json")
    found = json.loads(out)
    assert (code, found["parameters"], found["kind"], found["unsupported"]) == (0, 38, "MultiLayerNetwork", [])
    assert [layer["n_params"] for layer in found["layers"]] == [24, 14]
    assert found["layers"][1]["shapes"] == {"W": [6, 2], "b": [1, 2]}


def test_summary_of_a_graph_of_an_old_release(capsys, reference):
    path = reference / "regression" / "071" / "071_ModelSerializer_Regression_CG_LSTM_1.zip"
    code, out, _ = run(capsys, "summary", path)
    assert code == 0
    assert "ComputationGraph, written as by release 0.7" in out
    assert [line.split() for line in out.splitlines() if line.startswith("0 ")] == [
        ["0", "GravesLSTM", "in", "3", "->", "4", "140", "W", "3x16,", "RW", "4x19,", "b", "1x16", "RmsProp(0.15)"]
    ]
    assert "unsupported:      nothing" in out


# ---- convert


@pytest.mark.parametrize("kind", ["npz", "safetensors", "zip"])
def test_there_and_back(files, capsys, kind):
    folder, net, _ = files
    assert run(capsys, "convert", folder / "model.zip", folder / f"other.{kind}")[:2] == (
        0, f"{folder / f'other.{kind}'}: 38 parameters\n",
    )  # fmt: skip
    assert run(capsys, "convert", folder / f"other.{kind}", folder / "again.zip")[0] == 0
    again = MultiLayerNetwork.load(folder / "again.zip")
    np.testing.assert_array_equal(host(again.params()), host(net.params()))
    np.testing.assert_array_equal(host(again.updater_state()), host(net.updater_state()))
    assert run(capsys, "convert", folder / "model.zip", folder / f"bare.{kind}", "--no-updater")[0] == 0
    assert (folder / f"bare.{kind}").stat().st_size < (folder / f"other.{kind}").stat().st_size


def test_a_model_keeps_its_normalizer_when_it_is_written_anew(files, capsys):
    folder = files[0]
    assert run(capsys, "convert", folder / "model.zip", folder / "new.zip")[0] == 0
    _, out, _ = run(capsys, "summary", folder / "new.zip")
    assert "normalizer:       NormalizerStandardize" in out
    code, _, error = run(capsys, "convert", folder / "model.zip", folder / "new.npz")
    assert code == 0
    assert error.startswith("warning: ")
    assert "no place for the normalizer" in error
    assert error.count("\n") == 1


def test_an_old_model_as_the_newest_writes_it(capsys, tmp_path, reference):
    path = reference / "regression" / "050" / "050_ModelSerializer_Regression_MLP_1.zip"
    assert run(capsys, "convert", path, tmp_path / "new.zip")[0] == 0
    _, out, _ = run(capsys, "summary", tmp_path / "new.zip")
    assert "written as by release 1.0.0" in out
    np.testing.assert_array_equal(host(MultiLayerNetwork.load(tmp_path / "new.zip").params())[0], np.arange(1, 42))


# ---- evaluate


def test_evaluate_goes_through_the_normalizer(files, capsys):
    folder, net, normalizer = files
    expected = Evaluation()
    expected.eval(Y, host(net.output(normalizer.transform_features(X))))
    code, out, _ = run(capsys, "evaluate", folder / "model.zip", "--csv", folder / "labelled.csv", "--label", "kind")
    assert code == 0
    assert out == expected.stats() + "\n"
    assert expected.accuracy() > 0.9
    column = ("--label", -1, "--skip-lines", 1, "--batch", 7)
    assert run(capsys, "evaluate", folder / "model.zip", "--csv", folder / "labelled.csv", *column)[1] == out
    plain = run(capsys, "evaluate", folder / "model.zip", "--csv", folder / "labelled.csv", *column, "--no-normalizer")
    assert plain[1] != out


def test_evaluate_in_several_ways_at_once(files, capsys):
    folder = files[0]
    arguments = ("evaluate", folder / "model.zip", "--csv", folder / "labelled.csv", "--label", "kind", "--roc")
    code, out, _ = run(capsys, *arguments, "--calibration")
    assert code == 0
    assert "Expected calibration error\n  class 0: 0." in out
    assert "AUC" in out
    lines = run(capsys, *arguments, "--json")[1].splitlines()
    assert [json.loads(line)["@class"].rpartition(".")[2] for line in lines] == ["Evaluation", "ROC"]


def test_evaluate_regression(tmp_path, capsys):
    net = network(1, "mse", "identity")
    targets = X @ np.array([[1.0], [-2.0], [0.5]], np.float32)
    net.save(tmp_path / "net.zip")
    write_csv(tmp_path / "data.csv", np.hstack([targets, X]).tolist(), ["y", "a", "b", "c"])
    expected = RegressionEvaluation()
    expected.eval(targets, host(net.output(X)))
    arguments = ("evaluate", tmp_path / "net.zip", "--csv", tmp_path / "data.csv", "--label", "y", "--regression")
    assert run(capsys, *arguments)[:2] == (0, expected.stats() + "\n")


def test_evaluate_a_bundled_data_set(tmp_path, capsys):
    conf = NeuralNetConfiguration(seed=1).list(OutputLayer(n_in=784, n_out=10, activation="softmax"))
    net = MultiLayerNetwork(conf).init()
    net.save(tmp_path / "net.zip")
    expected = net.evaluate(DigitsDataSetIterator(256, train=False))
    assert run(capsys, "evaluate", tmp_path / "net.zip", "--data", "digits")[:2] == (0, expected.stats() + "\n")


# ---- predict


def test_predict_to_a_file_and_to_the_terminal(files, capsys):
    folder, net, normalizer = files
    expected = host(net.output(normalizer.transform_features(X)))
    arguments = ("predict", folder / "model.zip", "--csv", folder / "rows.csv", "--skip-lines", 1, "--batch", 9)
    code, out, _ = run(capsys, *arguments, "--out", folder / "out.csv")
    assert (code, out) == (0, "")
    header, *rows = read_csv(folder / "out.csv")
    assert header == ["output_0", "output_1"]
    np.testing.assert_allclose(np.array(rows, float), expected, rtol=1e-6)
    code, out, _ = run(capsys, *arguments, "--classes")
    header, *rows = [line.split(",") for line in out.splitlines()]
    assert header == ["class", "probability"]
    np.testing.assert_array_equal([int(row[0]) for row in rows], expected.argmax(1))
    np.testing.assert_allclose([float(row[1]) for row in rows], expected.max(1), rtol=1e-6)


def test_predictions_are_in_the_unit_of_the_labels(tmp_path, capsys):
    net = network(1, "mse", "identity")
    targets = 100.0 + 10.0 * X[:, :1]
    normalizer = NormalizerStandardize()
    normalizer.fit_label(True)
    normalizer.fit(DataSet(X, targets))
    net.save(tmp_path / "net.zip", normalizer=normalizer)
    write_csv(tmp_path / "rows.csv", X.tolist(), ["a", "b", "c"])
    out = run(capsys, "predict", tmp_path / "net.zip", "--csv", tmp_path / "rows.csv", "--skip-lines", 1)[1]
    found = np.array(out.splitlines()[1:], float)
    inner = host(net.output(normalizer.transform_features(X)))
    np.testing.assert_allclose(found, (inner * targets.std() + targets.mean())[:, 0], rtol=1e-4)


def test_a_column_of_labels_is_left_out(files, capsys):
    folder = files[0]
    rows = run(capsys, "predict", folder / "model.zip", "--csv", folder / "rows.csv", "--skip-lines", 1)[1]
    labelled = ("predict", folder / "model.zip", "--csv", folder / "labelled.csv", "--label", "kind")
    assert run(capsys, *labelled)[1] == rows


# ---- errors


def test_errors_are_one_line_and_have_exit_code_1(files, capsys):
    folder = files[0]
    (folder / "damaged.zip").write_bytes((folder / "model.zip").read_bytes()[:300])
    (folder / "words.csv").write_text("1,2,three\n")
    model, rows = folder / "model.zip", folder / "rows.csv"
    cases = {
        ("summary", folder / "missing.zip"): "missing.zip: No such file",
        ("summary", folder / "damaged.zip"): "damaged.zip: expected a model zip",
        ("convert", model, folder / "model.h5"): "OUT must end in .zip, .bin, .npz, .safetensors, .onnx or .keras",
        ("convert", model, folder / "no" / "model.zip"): "the folder must exist",
        ("evaluate", model, "--csv", rows): "--csv needs --label",
        ("evaluate", model, "--csv", folder / "none.csv", "--label", 0): "none.csv",
        ("evaluate", model, "--csv", rows, "--label", "d"): "'d'",
        ("predict", model, "--csv", folder / "words.csv"): "'three'",
        (
            "predict",
            model,
            "--csv",
            folder / "labelled.csv",
            "--skip-lines",
            1,
        ): "that were fitted, got [40, 4]",
        ("predict", model, "--data", "digits", "--no-normalizer"): "expected input [N, 3]",
    }
    for arguments, message in cases.items():
        code, out, error = run(capsys, *arguments)
        assert (code, out) == (1, ""), arguments
        assert error.startswith("error: ")
        assert message in error
        assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["explode", "x"], "invalid choice: 'explode'"),
        (["evaluate", "x.zip"], "one of the arguments --csv --data is required"),
        (["predict", "x.zip", "--data", "cifar"], "invalid choice: 'cifar'"),
        (["predict", "x.zip", "--data", "iris", "--batch", "many"], "invalid int value: 'many'"),
    ],
)
def test_wrong_usage_has_exit_code_2(arguments, message, capsys):
    code, _, error = run(capsys, *arguments)
    assert code == 2
    assert message in error


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_help_has_examples(command, capsys):
    code, out, _ = run(capsys, command, "--help")
    assert code == 0
    assert f"examples:\n  python -m nn {command} " in out


def test_an_interrupted_command_leaves_no_file(files, capsys, monkeypatch):
    folder = files[0]

    def interrupt(self, *arguments, **masks):
        raise KeyboardInterrupt

    monkeypatch.setattr(Engine, "outputs_of", interrupt)
    arguments = ("predict", folder / "model.zip", "--csv", folder / "rows.csv", "--skip-lines", 1)
    code, out, error = run(capsys, *arguments, "--out", folder / "out.csv")
    assert (code, out, error) == (130, "", "interrupted\n")
    assert not list(folder.glob("*out.csv*"))


@pytest.mark.slow
def test_as_a_program_whose_reader_has_had_enough(files):
    folder = files[0]
    command = f"'{sys.executable}' -m nn predict '{folder / 'model.zip'}' --csv '{folder / 'rows.csv'}' --skip-lines 1"
    root = pathlib.Path(nd.__file__).parent.parent
    done = subprocess.run(
        ["bash", "-c", f"{command} | head -1"], cwd=root, capture_output=True, text=True, timeout=60, check=True
    )
    assert (done.stdout, done.stderr) == ("output_0,output_1\n", "")


# ---- networks and files of other kinds


def test_one_output_between_0_and_1(tmp_path, capsys):
    net = network(1, "xent", "sigmoid")
    net.save(tmp_path / "net.zip")
    write_csv(tmp_path / "data.csv", np.column_stack([CLASSES, X]).tolist(), ["y", "a", "b", "c"])
    expected = Evaluation()
    expected.eval(CLASSES[:, None].astype(np.float32), host(net.output(X)))
    arguments = ("evaluate", tmp_path / "net.zip", "--csv", tmp_path / "data.csv", "--label", "y")
    assert run(capsys, *arguments)[:2] == (0, expected.stats() + "\n")
    assert "AUC" in run(capsys, *arguments, "--roc")[1]


def test_a_network_that_ends_with_a_loss_alone(tmp_path, capsys):
    layers = DenseLayer(n_in=3, n_out=5, activation="identity"), LossLayer(loss="mcxent", activation="softmax")
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=3).list(*layers)).init()
    net.save(tmp_path / "net.zip")
    labels = np.arange(40) % 5
    write_csv(tmp_path / "data.csv", np.column_stack([labels, X]).tolist(), ["y", "a", "b", "c"])
    code, out, _ = run(capsys, "evaluate", tmp_path / "net.zip", "--csv", tmp_path / "data.csv", "--label", "y")
    assert code == 0
    assert "# of classes:    5" in out


def test_one_hot_columns_of_labels(files, capsys):
    folder = files[0]
    rows = [[*one_hot, *row] for one_hot, row in zip(Y.tolist(), X.tolist(), strict=True)]
    write_csv(folder / "one-hot.csv", rows, ["no", "yes", "a", "b", "c"])
    expected = run(capsys, "evaluate", folder / "model.zip", "--csv", folder / "labelled.csv", "--label", "kind")
    arguments = ("--csv", folder / "one-hot.csv", "--label", "no", "--label-to", "yes")
    assert run(capsys, "evaluate", folder / "model.zip", *arguments) == expected


def test_regression_is_evaluated_in_the_unit_of_the_labels(tmp_path, capsys):
    net, targets = network(1, "mse", "identity"), 100.0 + 10.0 * X[:, :1]
    normalizer = NormalizerStandardize()
    normalizer.fit_label(True)
    normalizer.fit(DataSet(X, targets))
    net.save(tmp_path / "net.zip", normalizer=normalizer)
    write_csv(tmp_path / "data.csv", np.hstack([targets, X]).tolist(), ["y", "a", "b", "c"])
    arguments = ("evaluate", tmp_path / "net.zip", "--csv", tmp_path / "data.csv", "--label", "y", "--regression")
    found = RegressionEvaluation.from_json(run(capsys, *arguments, "--json")[1])
    predicted = host(net.output(normalizer.transform_features(X))) * targets.std() + targets.mean()
    assert found.mean_squared_error(0) == pytest.approx(((predicted - targets) ** 2).mean(), rel=1e-4)


def test_a_normalizer_that_cannot_be_read_is_in_nobodys_way(files, capsys):
    folder = files[0]
    with zipfile.ZipFile(folder / "model.zip") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["normalizer.bin"] = b"\xac\xed\x00\x05sr"  # an object that Java has serialised
    with zipfile.ZipFile(folder / "java.zip", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    assert "normalizer:       not readable here, " in run(capsys, "summary", folder / "java.zip")[1]
    code, _, error = run(capsys, "convert", folder / "java.zip", folder / "new.zip")
    assert code == 0
    assert "its normalizer is left out" in error


@pytest.mark.parametrize("closed", ["", ">&-"])
@pytest.mark.quick_rows(1)
def test_output_that_is_closed_or_in_ascii(files, closed):
    folder = files[0]
    conf = NeuralNetConfiguration(seed=1).list(OutputLayer(n_in=3, n_out=2, name="schicht ü"))
    write_array_file(MultiLayerNetwork(conf).init(), folder / "ü.npz")
    root = pathlib.Path(nd.__file__).parent.parent
    command = f"PYTHONIOENCODING=ascii '{sys.executable}' -m nn summary '{folder / 'ü.npz'}' {closed}"
    done = subprocess.run(["bash", "-c", command], cwd=root, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert ("schicht \\xfc" in done.stdout) == (not closed)
