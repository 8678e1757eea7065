"""A proof in which Deeplearning4j reads the zip: what is said where Java fails; where its jars are, the numbers."""

import json
import os
import pathlib
import stat

import numpy as np
import pytest

from nn import ComputationGraph, DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from nn.cli import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with a chain and a graph."""
    monkeypatch.chdir(tmp_path)
    layers = DenseLayer(n_in=3, n_out=4, activation="tanh"), OutputLayer(n_in=4, n_out=2, activation="softmax")
    MultiLayerNetwork(NeuralNetConfiguration(seed=1).list(*layers)).init().save("chain.npz")
    vertices = {
        "first": (layers[0], "a"),
        "second": (layers[0], "b"),
        "x": (layers[1], "first"),
        "y": (layers[1], "second"),
    }
    graph = NeuralNetConfiguration(seed=1).graph(["a", "b"], vertices, ["y", "x"])
    ComputationGraph(graph).init().save("graph.npz")
    return tmp_path


def run(capsys, *arguments):
    code = main(["convert", *map(str, arguments)])
    return code, *capsys.readouterr()


def program(folder, text):
    """Put a program of the name java in front of all others."""
    path = folder / "bin" / "java"
    path.parent.mkdir()
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path.parent)


def test_what_java_says_is_said(folder, capsys, monkeypatch):
    says = "echo 'loading' >&2; echo 'Exception in thread \"main\" java.io.IOException: bad zip' >&2; exit 1"
    monkeypatch.setenv("PATH", program(folder, says), prepend=":")
    code, _, error = run(capsys, "chain.npz", "chain.zip", "--proof", 3, "--java", "some.jar")
    assert code == 1
    assert (
        'chain.zip: Deeplearning4j must run it, got: Exception in thread "main" java.io.IOException: bad zip.' in error
    )


def test_java_that_writes_nothing(folder, capsys, monkeypatch):
    monkeypatch.setenv("PATH", program(folder, "exit 0"), prepend=":")
    code, _, error = run(capsys, "chain.npz", "chain.zip", "--proof", 3, "--java", "some.jar")
    assert code == 1
    assert "Deeplearning4j must run it, got: nothing." in error


def test_without_java(folder, capsys, monkeypatch):
    monkeypatch.setenv("PATH", str(folder))
    code, _, error = run(capsys, "chain.npz", "chain.zip", "--proof", 3, "--java", "some.jar")
    assert code == 1
    assert "--java needs Java 11 or newer on the PATH, got none" in error


@pytest.mark.parametrize(
    "arguments", [("chain.zip",), ("chain.safetensors", "--proof", "2"), ("chain.onnx", "--proof", "2")]
)
def test_java_is_for_proofs_of_zips(arguments, folder, capsys):
    code, _, error = run(capsys, "chain.npz", *arguments, "--java", "some.jar")
    assert code == 1
    assert "--java is for a proof of a model zip" in error
    assert not pathlib.Path(arguments[0]).exists()


@pytest.fixture
def java_class_path():
    """Deeplearning4j's jars: `make java-check` runs what asks for them."""
    return os.environ["DL4J_CLASS_PATH"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["chain", "graph"])
def test_deeplearning4j_computes_the_same(kind, folder, java_class_path, capsys):
    arguments = "--proof", 3, "--java", java_class_path, "--json", "proof.json"
    code, out, error = run(capsys, f"{kind}.npz", f"{kind}.zip", *arguments)
    assert code == 0, error
    assert "and Deeplearning4j in Java, on 3 and 1 example(s)" in out
    rows = json.loads((folder / "proof.json").read_text())["layers"]
    names = {"chain": ["layer0", "layer1"], "graph": ["first", "second", "x", "y"]}[kind]
    assert sorted(row["name"] for row in rows) == names
    assert [row["name"] for row in rows if row["kind"] == "output"] == (["y", "x"] if kind == "graph" else ["layer1"])
    assert np.max([row["relative"] for row in rows]) < 1e-6
