"""Layers that Java gives no dropout: one that is given some says so, and only those do."""

import dataclasses

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork, NeuralNetConfiguration
from tests.cases.layers import LAYER_CASES
from tests.cases.layers.base import make_features


def activations(case, drop_out):
    layer = dataclasses.replace(case.layer, drop_out=drop_out)
    conf = NeuralNetConfiguration(seed=3).list(layer, *case.tail, input_type=case.input_type)
    features = make_features(case).astype(np.float32)
    return nd.to_host(MultiLayerNetwork(conf).init().output(features, True)).copy()


@pytest.mark.parametrize("kind", LAYER_CASES)
@pytest.mark.quick_rows(every=3)
def test_dropout_is_applied_or_the_log_says_that_it_is_not(kind, caplog):
    case = LAYER_CASES[kind][0]
    plain = activations(case, None)
    assert "drop_out" not in caplog.text
    applied = not np.array_equal(activations(case, 0.5), plain)
    assert ("drop_out is not applied, as in Java" in caplog.text) == (not applied)
    says = "Of the input, in training." in type(case.layer).__doc__
    assert says <= applied, "its docstring says that it drops"
