"""A small net on every backend against NumPy, step by step."""

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases.caffe_small_nets import inputs, layer, product
from tests.stand_ins import TOLERANCE


def test_training_by_hand(backend, dtype):
    text = inputs(x=(4, 3), y=(4,)) + product("ip1", "x", "h", 5) + layer("act", "ReLU", "h", "h")
    text += product("ip2", "h", "z", 3) + layer("loss", "SoftmaxWithLoss", "z y", "loss", "loss_weight: 2")
    net = Net(text + layer("hits", "Accuracy", "z y", "hits"), seed=1, dtype=dtype, phase="TRAIN")
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=(4, 3)), rng.integers(3, size=4)
    weights = [nd.to_host(nd.copy(blob.data)).astype("float64") for blob in net.learnable_params]
    for _ in range(3):
        net.clear_param_diffs()
        found = net.forward(["z"], x=x, y=y)
        net.backward()
        loss, hits, z, gradients = step_of(weights, x, y)
        np.testing.assert_allclose(nd.to_host(found["z"]), z, **TOLERANCE[dtype])
        assert float(nd.to_host(found["hits"])) == hits
        assert net.loss == pytest.approx(2.0 * loss, rel=1e-5)
        for blob, gradient in zip(net.learnable_params, gradients, strict=True):
            blob.diff = 0.5 * nd.to_host(blob.diff)
            np.testing.assert_allclose(nd.to_host(blob.diff), gradient, rtol=1e-4, atol=1e-5)
        net.update()
        weights = [w - g for w, g in zip(weights, gradients, strict=True)]
        for blob, expected in zip(net.learnable_params, weights, strict=True):
            np.testing.assert_allclose(nd.to_host(blob.data), expected, rtol=1e-4, atol=1e-5)


def step_of(weights, x, y):
    """Loss, hits, scores and gradients of half the weighted loss."""
    W1, b1, W2, b2 = weights
    before = x @ W1.T + b1
    h = np.maximum(before, 0.0)
    z = h @ W2.T + b2
    p = np.exp(z - z.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    delta = (p - np.eye(3)[y]) / 4
    below = (delta @ W2) * (before > 0.0)
    gradients = [below.T @ x, below.sum(axis=0), delta.T @ h, delta.sum(axis=0)]
    return -np.mean(np.log(p[np.arange(4), y])), np.mean(z.argmax(axis=1) == y), z, gradients


def test_partial_passes_and_sums(backend):
    text = inputs(x=(2, 3)) + product("ip", "x", "h", 2) + layer("act", "TanH", "h", "h")
    net = Net(text + layer("two", "Split", "h", "a b"))
    net.blobs["h"].data = [[1, -2], [3, -4]]
    assert net.blobs["h"].asum_data() == 10.0
    assert net.blobs["h"].sumsq_data() == 30.0
    tops = net.forward(start="act", end="two")
    expected = np.tanh([[1.0, -2.0], [3.0, -4.0]])
    for name in ("a", "b"):
        np.testing.assert_allclose(nd.to_host(tops[name]), expected, rtol=1e-5)
    net.blobs["x"].reshape(5, 3)
    net.reshape()
    assert tuple(net.forward()["a"].shape) == net.blobs["b"].shape == (5, 2)
