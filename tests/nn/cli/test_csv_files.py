"""The command line on CSV files as they are found: headers, labels that are text, other delimiters, missing cells."""

import csv
import re

import numpy as np
import pytest

from tests.nn.cli.test_cli import CLASSES, X, files, host, network, run, write_csv

__all__ = ["files"]  # the fixture


def test_a_header_is_noticed_and_said(files, capsys):
    folder, *_ = files
    arguments = ("predict", folder / "model.zip", "--csv", folder / "rows.csv")
    code, out, errors = run(capsys, *arguments)
    assert (code, out) == (0, run(capsys, *arguments, "--skip-lines", 1)[1])
    assert errors == f"{folder / 'rows.csv'}: line 1 is taken as a header\n"
    assert run(capsys, *arguments, "--skip-lines", 1)[2] == ""
    by_number = ("evaluate", folder / "model.zip", "--csv", folder / "labelled.csv", "--label", -1)
    by_name = (*by_number[:-1], "kind")
    assert run(capsys, *by_number)[1] == run(capsys, *by_name)[1]


@pytest.fixture
def named(tmp_path):
    """A model that knows the names of its classes, and data labelled with them."""
    names = np.array(["small", "large"])[CLASSES]
    net = network()
    net.fit(X, names, epochs=30)
    net.save(tmp_path / "model.zip")
    labelled = [[name, *row] for row, name in zip(X.tolist(), names.tolist(), strict=True)]
    write_csv(tmp_path / "labelled.csv", labelled, ["kind", "a", "b", "c"])
    return tmp_path, net, names


def test_labels_that_are_text(named, capsys):
    folder, net, names = named
    evaluation = net.evaluate(X, names)
    code, out, _ = run(capsys, "evaluate", folder / "model.zip", "--csv", folder / "labelled.csv", "--label", "kind")
    assert (code, out) == (0, evaluation.stats() + "\n")
    assert "0 = large" in out
    arguments = ("predict", folder / "model.zip", "--csv", folder / "labelled.csv", "--label", "kind")
    found = list(csv.reader(run(capsys, *arguments)[1].splitlines()))
    np.testing.assert_allclose(np.array(found[1:], float), host(net.output(X)), rtol=1e-6)
    found = list(csv.reader(run(capsys, *arguments, "--classes")[1].splitlines()))
    assert [row[0] for row in found[1:]] == net.predict_labels(X)


def test_a_single_output_and_labels_that_are_text(tmp_path, capsys):
    net = network(1, "xent", "sigmoid")
    names = np.array(["no", "yes"])[CLASSES]
    net.fit(X, names, epochs=20)
    net.save(tmp_path / "model.zip")
    write_csv(tmp_path / "d.csv", [[*row, name] for row, name in zip(X.tolist(), names, strict=True)], list("abck"))
    code, out, _ = run(capsys, "evaluate", tmp_path / "model.zip", "--csv", tmp_path / "d.csv", "--label", "k")
    assert (code, out) == (0, net.evaluate(X, names).stats() + "\n")


ADVICE = {
    "half a header": ("a,2,3\n1,2,3\n", (), "line 1, column 1: .*If that line is a header, add --skip-lines 1."),
    "semicolons": ("1;2;3\n4;5;6\n", (), "separated otherwise: add --delimiter ';'."),
    "semicolons behind a header": ("a;b;c\n4;5;6\n", ("--label", "b"), "separated otherwise: add --delimiter ';'."),
    "tabs": ("1\t2\t3\n", (), r"separated otherwise: add --delimiter '\\t'."),
    "a missing cell": ("1,2,3\n4,,6\n", (), "line 2, column 2: .* The value is missing: fill it in, or drop the row."),
    "a label behind a header": (
        "a,b,c,kind\n1,2,3,x\n4,5,6,y\n",
        (),
        "line 2, column 4: .*'x'. Correct the row. A column that is no feature is left out by --label 3.",
    ),
    "two texts behind a header": (
        "id,b,c,kind\nr1,2,3,x\nr2,5,6,y\n",
        ("--label", 3),
        "line 2, column 1: .*'r1'. Correct the row.$",
    ),
    "no such name": (
        "a,b,c\n4,5,6\n",
        ("--label", "x"),
        r"--label must be a name that line 1 has once, .*'b'.*got 'x'",
    ),
    "no such column": ("1,2,3\n", ("--label", 7), "--label must be -3 to 2, got 7"),
    "lines": ("1,2,3\n", ("--skip-lines", 5), "--skip-lines must be at most 1, got 5"),
    "delimiter": ("1,2,3\n", ("--delimiter", ";;"), "--delimiter must be one character, got ';;'"),
}


@pytest.mark.parametrize("name", ADVICE)
def test_advice_is_in_words_of_the_command_line(files, capsys, name):
    text, options, message = ADVICE[name]
    path = files[0] / "found.csv"
    path.write_text(text)
    code, out, errors = run(capsys, "predict", files[0] / "model.zip", "--csv", path, "--no-normalizer", *options)
    assert (code, out) == (1, "")
    assert re.search(message, errors)
    assert errors.count("\n") == 1 + errors.count("line 1 is taken as a header\n")
    for python in ("skip_lines", "delimiter=", "label_index", "CsvDataSetIterator"):
        assert python not in errors


def test_tabs_as_one_types_them(files, capsys):
    path = files[0] / "found.csv"
    path.write_text("1\t2\t3\n")
    assert run(capsys, "predict", files[0] / "model.zip", "--csv", path, "--delimiter", "\\t")[0] == 0
