"""Networks written as ONNX and read again: the same arrays come in and go out, with the same axes."""

import re

import numpy as np
import pytest

import nd
import nn
from nd.dataset import DataSet
from nn import ComputationGraph
from nn.onnx.into.recognition import Recognition
from tests.cases.layers import LAYER_CASES, make_features
from tests.nn.layers.test_every_layer import make_network
from tests.nn.onnx.out.test_random_networks_out import KINDS

ROWS = {f"{kind}-{case.variant}": case for kind, rows in LAYER_CASES.items() for case in rows}
SERIES = [name for name, case in ROWS.items() if make_features(case).ndim == 3]
QUICK = (
    "cropping1d-both", "last_time_step-convolution", "learned_self_attention-projected", "locally_connected1d-dilated",
    "rnn_output-mcxent-softmax", "rnn_output-mse-tanh-drop_out", "self_attention-projected",
)  # fmt: skip
"""Rows of series that a loaded network has once taken or given with other axes."""
DRAWN = 25
CANNOT_BE_READ = r"\(Scan\): no layer and no OnnxVertex is like it"
"""Loops that are no layer's are refused by name."""


def check(tmp_path, net, features):
    """Compare a network with what is read from its file at two sizes of the minibatch; tell whether it is read."""
    path = tmp_path / "m.onnx"
    net.save(path)
    with nd.use_backend("numpy"):
        try:
            again = nn.load(path)
        except nd.ConfigurationError as error:  # refused by name, never silently wrong
            if not re.search(CANNOT_BE_READ, str(error)):
                raise
            return False
    assert isinstance(again, ComputationGraph)
    for arrays in (features, [np.concatenate([x, 0.5 * x[:1]]) for x in features]):
        for out, expected in zip(outputs(again, arrays), outputs(net, arrays), strict=True):
            assert out.shape == expected.shape
            np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5 * max(1.0, np.abs(expected).max()))
    return True


def outputs(net, features):
    made = net.output(*features)
    return [nd.to_host(one) for one in (made if isinstance(made, (list, tuple)) else [made])]


def check_row(tmp_path, name, dtype):
    case = ROWS[name]
    return check(tmp_path, make_network(case, dtype), [make_features(case, n=3)])


def check_drawn(tmp_path, kind, number):
    net, features = KINDS[kind](number)
    return check(tmp_path, net, [nd.to_host(x) for x in features])


@pytest.mark.parametrize("name", QUICK)
def test_series_keep_their_axes(tmp_path, name):
    assert check_row(tmp_path, name, "float64" if name == "last_time_step-convolution" else "float32")


@pytest.mark.parametrize(
    ("kind", "number"), [("series", 0), ("series", 2), ("series", 3), ("graphs", 4), ("graphs", 5)]
)
def test_random_networks_keep_their_axes(tmp_path, kind, number):
    assert check_drawn(tmp_path, kind, number)


def test_an_output_that_is_turned_back_is_trained_on_in_the_axes_of_the_file(tmp_path):
    net, (features,) = KINDS["series"](2)
    net.save(tmp_path / "m.onnx")
    again = nn.load(tmp_path / "m.onnx")
    data = DataSet(features, np.full(outputs(again, [features])[0].shape, 0.3))
    before = again.score(data)
    again.fit(data)
    assert again.score(data) < before


def test_axes_that_the_network_would_turn_are_refused(tmp_path, monkeypatch):
    make_network(ROWS["rnn_loss-mse-tanh"], "float32").save(tmp_path / "m.onnx")
    turned = Recognition.seen_as_in_file
    monkeypatch.setattr(Recognition, "seen_as_in_file", lambda made, value, tag: turned(made, value, "NWC"))
    with pytest.raises(nd.ConfigurationError, match="inputs and outputs must have the axes of the file, got 'input'"):
        nn.load(tmp_path / "m.onnx")


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", SERIES)
def test_every_row_of_series(tmp_path, name, dtype):
    read = check_row(tmp_path, name, dtype)
    assert read or re.match("last_time_step-masked|mask_zero|recurrent_attention|simple_rnn-normalized", name)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["graphs", "series"])
def test_many_random_networks(tmp_path, kind):
    assert sum(check_drawn(tmp_path, kind, number) for number in range(DRAWN)) >= DRAWN - 5
