"""Passes by hand of a net that a solver trains."""

import copy

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.solver import get_solver
from tests.cases.caffe_small_nets import data, layer, product


@pytest.fixture
def solver(tmp_path):
    fillers = ("type: 'gaussian' std: 1", "value: 1")
    text = data((4, 3), (4,), tops=("data", "label"), filler=fillers) + product("ip1", "data", "h", 5)
    text += layer("act", "TanH", "h", "h") + product("ip2", "h", "z", 3)
    (tmp_path / "net.prototxt").write_text(text + layer("loss", "SoftmaxWithLoss", "z label", "loss"))
    return get_solver(
        f"net: '{tmp_path}/net.prototxt'\nbase_lr: 0.1 lr_policy: 'fixed' random_seed: 3\n", dtype="float64"
    )


def test_what_a_step_has_not_kept_is_not_read(solver):
    net = solver.net
    net.forward()
    solver.step(1)
    with pytest.raises(nd.ConfigurationError, match=r"blob 'h': data must be kept while a solver's step"):
        net.forward(start="ip2")
    with pytest.raises(nd.ConfigurationError, match=r"blob 'h': data must be kept"):
        _ = copy.deepcopy(net).blobs["h"].data
    net.blobs["h"].data = np.ones((4, 5))
    W, b = (blob.data for blob in net.params["ip2"])
    np.testing.assert_allclose(net.forward(start="ip2", end="ip2")["z"], np.ones((4, 5)) @ W.T + b, rtol=1e-12)


def test_backward_by_hand_needs_a_forward_by_hand(solver):
    net = solver.net
    net.forward_backward()
    solver.step(1)
    with pytest.raises(nd.ConfigurationError, match="forward must come before backward"):
        net.backward()
    net.clear_param_diffs()
    net.forward_backward()
    gradient = np.copy(net.params["ip2"][0].diff)
    h, z = net.blobs["h"].data, net.blobs["z"].data
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(gradient, (p - np.eye(3)[1]).T @ h / 4, rtol=1e-10, atol=1e-15)


def test_steps_and_passes_by_turns_leave_the_steps_alone(tmp_path, solver):
    """Passes by hand take data, and so steps have others; parameters are those of the steps alone."""
    net = solver.net
    net.keep("h", "z")
    solver.step(2)
    kept = [np.copy(net.blobs[name].data) for name in ("h", "z")]
    params = [np.copy(blob.data) for blob in net.param_blobs]
    twin = copy.deepcopy(net)
    for name, values in zip(("h", "z"), kept, strict=True):
        np.testing.assert_array_equal(twin.blobs[name].data, values)
    net.forward()
    net.backward()
    for blob, values in zip(net.param_blobs, params, strict=True):
        np.testing.assert_array_equal(blob.data, values)
