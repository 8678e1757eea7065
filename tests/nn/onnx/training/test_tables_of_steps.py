"""The tables of training steps: sorted, complete, and every name in them is there."""

import pytest

from nd.activations import ACTIVATIONS
from nn.onnx.out import LAYERS as OUT
from nn.onnx.out import writer
from nn.onnx.training.derivatives import DERIVATIVES, STOPS, derivative_of
from nn.onnx.training.losses import LOSSES
from nn.onnx.training.schedules import SCHEDULES
from nn.onnx.training.slopes import SLOPES
from nn.onnx.training.tables import AS_IN_INFERENCE, LAYERS
from nn.onnx.training.updaters import UPDATERS
from optimize import schedules, updaters
from tests.cases.layers import LAYER_CASES

BY_OPERATOR = {"Identity", "RReLU", "Softmax"}  # Softmax is differentiated as an operator, RReLU draws


@pytest.mark.parametrize("table", [DERIVATIVES, LOSSES, SCHEDULES, SLOPES, UPDATERS, AS_IN_INFERENCE])
def test_sorted(table):
    assert list(table) == sorted(table)


def test_every_derivative_is_there():
    assert all(callable(derivative_of(op)) for op in DERIVATIVES)
    assert not STOPS & DERIVATIVES.keys()


def test_every_layer_is_written():
    classes = {type(case.layer) for cases in LAYER_CASES.values() for case in cases}
    parts = {kind.__name__: object.__new__(kind) for kind in classes}
    assert set(LAYERS) <= set(OUT)
    assert all(callable(writer(LAYERS, parts[name])) for name in LAYERS)


def test_all_updaters_schedules_and_activations():
    assert set(UPDATERS) == {kind.__name__ for kind in updaters.UPDATERS.values()}
    assert set(SCHEDULES) == {kind.__name__ for kind in schedules.SCHEDULES.values()}
    assert set(SLOPES) | BY_OPERATOR == {kind.__name__ for kind in ACTIVATIONS.values()}
