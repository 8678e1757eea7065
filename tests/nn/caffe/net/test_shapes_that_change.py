"""Inputs of other sizes from pass to pass: Caffe's case, written anew."""

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import layer, product

SMALL, LARGE = (2, 3, 12, 10), (4, 3, 9, 11)


def softmax_shape(shape):
    n, _, *sizes = shape
    halved = [-(-((size - 3) // 2 + 1 - 2) // 2) + 1 for size in sizes]  # a convolution, and pooling that rounds up
    return (n, 5, *halved)


def test_sizes_by_turns(backend):
    net, rng = Net(nets.reshapable(), seed=1), np.random.default_rng(0)
    images = {shape: rng.normal(size=shape).astype("float32") for shape in (SMALL, LARGE)}
    first = {}
    for shape in (SMALL, LARGE, SMALL, LARGE, LARGE, SMALL):
        net.blobs["data"].reshape(*shape)
        output = net.forward(data=images[shape])["softmax"]
        assert tuple(output.shape) == net.blobs["softmax"].shape == softmax_shape(shape)
        result = nd.to_host(nd.copy(output))
        np.testing.assert_array_equal(result, first.setdefault(shape, result))
        np.testing.assert_allclose(result.sum(axis=1), 1.0, rtol=1e-5)


def test_sizes_by_turns_where_somebody_looks():
    """Arrays that are asked for at one size do not stand in the way of the other, forward or back."""
    text = "force_backward: true\n" + nets.reshapable()
    looked, plain = (Net(text, seed=1, dtype="float64") for _ in range(2))
    rng = np.random.default_rng(0)
    for shape in (SMALL, LARGE, SMALL, (1, *SMALL[1:]), LARGE):
        image, diff = rng.normal(size=shape), rng.normal(size=softmax_shape(shape))
        for net in (looked, plain):
            net.blobs["data"].reshape(*shape)
            net.forward(data=image)
            net.backward(softmax=diff)
        for name, blob in plain.blobs.items():
            for which in ("data", "diff"):
                found = getattr(looked.blobs[name], which)
                assert found.shape == blob.shape
                np.testing.assert_array_equal(found, blob.read(which), err_msg=f"{name} {which}")


def test_an_input_whose_shape_the_text_does_not_say():
    net = Net('layer { name: "in" type: "Input" top: "x" }' + layer("act", "ReLU", "x", "y"))
    net.blobs["x"].reshape(2, 3)
    net.reshape()
    assert net.blobs["y"].shape == (2, 3)
    np.testing.assert_array_equal(net.forward(x=[[1, -1, 2], [-3, 4, 0]])["y"], [[1, 0, 2], [0, 4, 0]])


def test_shapes_are_known_before_a_pass():
    net = Net(nets.reshapable(), seed=1)
    assert net.blobs["softmax"].shape == softmax_shape((1, 3, 100, 100))
    net.blobs["data"].reshape(*LARGE)
    assert net.blobs["softmax"].shape == softmax_shape((1, 3, 100, 100))
    net.reshape()
    assert net.blobs["softmax"].shape == softmax_shape(LARGE)
    assert net.blobs["softmax"].data.shape == softmax_shape(LARGE)
    assert net.blobs["conv1"].shape == (4, 5, 4, 5)


def test_gradients_after_another_size():
    text = nets.inputs(x=(2, 4), y=(2,)) + product("ip", "x", "ip", 3)
    net = Net(text + layer("loss", "SoftmaxWithLoss", "ip y", "loss"), seed=1, dtype="float64")
    rng = np.random.default_rng(1)
    for n in (2, 5, 3, 2):
        x, y = rng.normal(size=(n, 4)), rng.integers(3, size=n)
        net.blobs["x"].reshape(n, 4)
        net.blobs["y"].reshape(n)
        net.clear_param_diffs()
        net.forward(x=x, y=y)
        net.backward()
        W, b = net.params["ip"]
        scores = x @ W.data.T + b.data
        p = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(W.diff, (p - np.eye(3)[y]).T @ x / n, rtol=1e-9, atol=1e-15)


def test_an_input_that_does_not_fit_a_layer():
    net = Net(nets.inputs(x=(2, 4)) + product("ip", "x", "ip", 3), seed=1)
    net.blobs["x"].reshape(2, 5)
    with pytest.raises(nd.ShapeError, match=r"layer 1 'ip' \(InnerProduct\): expected 4 numbers from axis 1 on, got 5"):
        net.forward()
    net.blobs["x"].reshape(7, 4)
    assert net.forward()["ip"].shape == (7, 3)
