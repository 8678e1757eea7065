"""examples/caffe_lenet.py: LeNet by Caffe's own texts, trained, resumed, and made a graph."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")
pytest.importorskip("lmdb", reason="the extra caffe is not installed")

from nn import ComputationGraph
from nn.caffe import Net, read_weights

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "caffe_lenet.py"
ACCURACY, MINUTE = 0.97, 60.0


@pytest.fixture
def run_example(tmp_path, request):
    def run(*arguments):
        backend = request.config.getoption("--backend") or "numpy"
        command = [sys.executable, EXAMPLE, "--dataset", "digits", "--backend", backend, *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600, cwd=tmp_path)
        return done.stdout + done.stderr

    return run


def number(pattern, text):
    return float(re.search(rf"{pattern}: ([\d.]+)", text)[1])


@pytest.mark.slow
def test_it_learns_the_bundled_digits(run_example, tmp_path):
    text = run_example("--graph", str(tmp_path / "lenet.zip"))
    assert number("accuracy on held-out images", text) >= ACCURACY
    assert number("accuracy of the graph", text) == number("accuracy on held-out images", text)
    assert float(re.search(r"trained for ([\d.]+) s", text)[1]) < MINUTE


@pytest.mark.slow
def test_it_explains_itself(run_example):
    text = run_example("--help")
    for option in ("--folder", "--backend", "--iterations", "--resume", "--seed", "--graph"):
        assert option in text


@pytest.mark.slow
def test_a_resumed_run_has_the_bits_of_one_without_a_stop(run_example, tmp_path):
    """And the graph has the outputs of the net."""
    run_example("--folder", "stopped", "--iterations", "2")
    state = str(pathlib.Path("stopped", "lenet_iter_2.solverstate"))
    run_example("--folder", "stopped", "--iterations", "4", "--resume", state)
    text = run_example("--folder", "whole", "--iterations", "4", "--graph", "lenet.zip")
    one, two = (read_weights(tmp_path / folder / "lenet_iter_4.caffemodel") for folder in ("stopped", "whole"))
    for mine, theirs in zip(one, two, strict=True):
        assert (mine.name, list(mine.blobs)) == (theirs.name, list(theirs.blobs))
        for place, blob in mine.blobs.items():
            np.testing.assert_array_equal(nd.to_host(blob.data), nd.to_host(theirs.blobs[place].data))
    assert number("accuracy of the graph", text) == number("accuracy on held-out images", text)

    folder = tmp_path / "whole"
    net = Net(folder / "lenet_train_test.prototxt", folder / "lenet_iter_4.caffemodel", phase="TEST", folder=folder)
    net.forward()
    (probabilities,) = ComputationGraph.load(tmp_path / "lenet.zip").output(nd.to_host(net.blobs["data"].data))
    scores = nd.to_host(net.blobs["ip2"].data).astype(float)
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(nd.to_host(probabilities), expected, rtol=1e-4, atol=1e-6)
