"""Every row of layers and vertices as a training step: it trains as the network does, or a reason says why not."""

import re

import numpy as np
import pytest

import nd
from nn.onnx.training import training_model
from nn.onnx.training.tables import LAYERS
from tests.cases.layers import LAYER_CASES, make_features, make_labels
from tests.cases.vertices import VERTEX_CASES
from tests.nn.layers.test_every_layer import make_network
from tests.nn.onnx.training.graphs import graph_of, labels_of
from tests.nn.onnx.training.steps import compared

CLOSE = {"float32": 1e-5, "float64": 1e-9}
STEPS = 3
REFUSED = (
    r"no form of \w+ here|ONNX has nothing like|has no form as operators here|constraints have no form|"
    "draws random numbers|in single precision alone|an output must be one of|has no derivative here|"
    "sizes of its inputs? are not known|is no constant|are not trained on labels"
)
"""Reasons."""
LEAST_ROWS = {"float32": 196, "float64": 154}
LEAST_GRAPHS = 62
ROWS = [case for cases in LAYER_CASES.values() for case in cases]
TAUGHT = {kind: cases for kind, cases in LAYER_CASES.items() if type(cases[0].layer).__name__ in LAYERS}


def trains(net, batch, dtype):
    """Tell whether a step can be written; then it gives the network's numbers, else a reason."""
    reason = reason_against(net)
    if reason:
        assert re.search(REFUSED, reason)
        return False
    assert max(compared(net, [batch] * STEPS)) < CLOSE[dtype]
    return True


def reason_against(net):
    """Return why a step cannot be written, "" where it can."""
    try:
        training_model(net)
    except nd.ConfigurationError as error:
        return str(error)
    return ""


def row_trains(case, dtype):
    net = make_network(case, dtype, updater="nesterovs", l2=0.01)
    x = make_features(case).astype(dtype)
    return trains(net, (x, make_labels(case, net.output(x).shape[1:]).astype(dtype)), dtype)


@pytest.mark.parametrize("kind", TAUGHT)
def test_kinds_that_a_step_has(kind):
    """Of the first rows one trains: some draw random numbers."""
    assert any(row_trains(case, "float32") for case in TAUGHT[kind])


@pytest.mark.slow
@pytest.mark.parametrize("dtype", CLOSE)
def test_every_row(dtype):
    trained = sum(row_trains(case, dtype) for case in ROWS)
    assert trained >= LEAST_ROWS[dtype]


def graph_trains(case):
    """Return None for rows that cannot stand between layers as they are: some look at inputs by name."""
    try:
        shape = case.oracle(case.inputs(), {}).shape
        net = graph_of(case, shape)
    except (nd.NdError, ValueError):
        return None
    if any(given[0] != case.examples for given in case.shapes) or case.variant == "series-to-rows":
        return None  # N is one number in a file, and in fit
    xs = [x.astype(np.float32) for x in case.inputs()]
    return trains(net, (*xs, labels_of(shape[0]).astype(np.float32)), "float32")


@pytest.mark.parametrize("kind", ["element_wise", "merge", "subset"])
def test_vertices_that_a_step_has(kind):
    assert graph_trains(VERTEX_CASES[kind][0])


@pytest.mark.slow
def test_vertices():
    trained = {kind: [graph_trains(case) for case in cases] for kind, cases in VERTEX_CASES.items()}
    assert sum(sum(map(bool, rows)) for rows in trained.values()) >= LEAST_GRAPHS
