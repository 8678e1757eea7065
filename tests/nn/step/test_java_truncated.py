"""Graphs that Java trained by truncated backprop: rows beside series, labels that are no series, masks, two outputs."""

import pathlib

import numpy as np
import pytest

from nd.dataset import MultiDataSet
from nn import ComputationGraph, ComputationGraphConfiguration
from tests.java_runs import distance

RUNS = sorted((pathlib.Path(__file__).parent.parent.parent / "cases" / "java_truncated").glob("*/conf.json"))
CLOSE = 1e-12


def several(arrays, kind, like=None):
    """Return the arrays of every input or output; None where there is none."""
    count = sum(name[0] == (like or kind) and name[1:].isdigit() for name in arrays.files)
    return [arrays[f"{kind}{number}"] if f"{kind}{number}" in arrays.files else None for number in range(count)]


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.parent.name)
def test_java_trains_and_steps_so(path):
    arrays = np.load(path.parent / "arrays.npz")
    net = ComputationGraph(ComputationGraphConfiguration.from_json(path.read_text())).init()
    net.set_params(arrays["params0"])
    masks = several(arrays, "xm", "x"), several(arrays, "ym", "y")
    data = MultiDataSet(several(arrays, "x"), several(arrays, "y"), *masks)
    for score in arrays["scores"]:
        net.fit(data)
        assert net.score() == pytest.approx(score, rel=CLOSE)
    assert net.iteration_count == arrays["iterations"]
    assert distance(net.params(), arrays["params1"]) < CLOSE
    for step in range(2):
        pieces = [arrays[name] for name in sorted(arrays.files) if name.startswith(f"in{step}_")]
        for output, activations in enumerate(net.rnn_time_step(*pieces)):
            expected = arrays[f"step{step}_{output}"]
            assert activations.shape == expected.shape
            assert distance(activations, expected) < CLOSE


def test_all_of_them_are_there():
    assert [path.parent.name for path in RUNS] == ["beside_lstm_mask", "row_labels_graves", "two_simple_mask"]
