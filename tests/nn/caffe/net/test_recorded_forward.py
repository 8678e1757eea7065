"""Whole passes forward outside of training: recorded, and to the bit those of passes from layer to layer."""

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe.net import Net
from nn.step.propagation import Propagation
from tests.cases.opencv_nets import RandomNet

SMALL = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 6 dim: 6 } } }
layer { name: "target" type: "Input" top: "target" input_param { shape { dim: 2 dim: 4 } } }
layer { name: "conv" type: "Convolution" bottom: "data" top: "conv"
        convolution_param { num_output: 5 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }
layer { name: "pool" type: "Pooling" bottom: "conv" top: "pool" pooling_param { kernel_size: 2 stride: 2 } }
layer { name: "ip" type: "InnerProduct" bottom: "pool" top: "ip"
        inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "drop" type: "Dropout" bottom: "ip" top: "ip" }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "target" top: "loss" }
"""


def numbers(net, seed):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0.0, 1.0, net.blobs[name].shape).astype("float32") for name in net.inputs}


def twins(text, weights=1):
    """Return a net, and another one with the same weights that goes from layer to layer, as somebody listens."""
    net, other = Net(text, seed=1), Net(text, seed=1)
    rng = np.random.default_rng(weights)
    for name, blobs in net.params.items():
        for blob, same in zip(blobs, other.params[name], strict=True):
            blob.data = same.data = rng.uniform(0.1, 1.0, blob.shape)
    other.after_forward(lambda number: None)
    return net, other


def host(array):
    return nd.to_host(array).copy()


def same_blobs(net, other, names=None):
    for name in names or net.blobs:
        np.testing.assert_array_equal(host(net.blobs[name].data), host(other.blobs[name].data), err_msg=name)


def check_passes(net, other, asked=()):
    for name in asked:
        net.blobs[name].data  # asked for before, so that others write into the memory that somebody has
    for seed in range(3):
        inputs = numbers(net, seed)
        for name, array in net.forward(**inputs).items():
            np.testing.assert_array_equal(host(array), host(other.forward(**inputs)[name]))
        assert net.loss == other.loss
        if seed:
            same_blobs(net, other)


@pytest.mark.parametrize("seed", range(12))
def test_random_nets_have_the_bits_of_passes_from_layer_to_layer(seed):
    text = RandomNet(np.random.default_rng([7, seed]), 6).text
    net, other = twins(text)
    check_passes(net, other, list(net.blobs) if seed % 2 else ())


def test_every_backend_has_them(backend):
    check_passes(*twins(SMALL))


def test_the_second_pass_is_a_replay(monkeypatch):
    net, other = twins(SMALL)
    net.forward(**numbers(net, 1))
    other.forward(**numbers(net, 2))
    expected = {name: host(blob.data) for name, blob in other.blobs.items()}
    calls = []
    monkeypatch.setattr(Propagation, "forward", lambda *given, **named: calls.append(given))
    net.forward(**numbers(net, 2))
    assert not calls
    for name, array in expected.items():
        np.testing.assert_array_equal(host(net.blobs[name].data), array)


def test_whoever_listens_hears_every_layer_after_passes_at_once():
    net, _ = twins(SMALL)
    heard = []
    net.forward(**numbers(net, 1))
    net.before_forward(heard.append)
    net.forward(**numbers(net, 1))
    assert heard == list(range(8))


def test_a_way_back_is_that_of_passes_from_layer_to_layer():
    net, other = twins("force_backward: true\n" + SMALL)
    for seed in range(3):
        for one in (net, other):
            one.forward(**numbers(net, seed))
            one.clear_param_diffs()
            one.backward()
        for name in net.blobs:
            np.testing.assert_array_equal(host(net.blobs[name].diff), host(other.blobs[name].diff), err_msg=name)
        for name, blobs in net.params.items():
            for blob, same in zip(blobs, other.params[name], strict=True):
                np.testing.assert_array_equal(host(blob.diff), host(same.diff))


def test_parts_of_a_pass_go_on_from_one_at_once():
    net, other = twins(SMALL)
    for one in (net, other):
        one.forward(**numbers(net, 1))
        one.forward(**numbers(net, 2))
        one.blobs["pool"].data[...] = 0.5
        one.forward(start="relu", end="relu")
        one.forward(start="ip")
    assert net.loss == other.loss
    same_blobs(net, other)


def test_weights_and_shapes_that_change_are_seen():
    net, other = twins(SMALL)
    for seed, batch in enumerate((2, 5, 2, 5)):
        for one in (net, other):
            one.params["conv"][0].data[...] *= 1.5
            for name in one.inputs:
                one.blobs[name].reshape(batch, *one.blobs[name].shape[1:])
            one.reshape()
            one.forward(**numbers(one, seed))
        assert net.loss == other.loss
        same_blobs(net, other)


def test_weights_of_another_net_are_read_once_they_are_shared():
    net, other = twins(SMALL)
    third, _ = twins(SMALL, weights=2)
    net.forward(**numbers(net, 1))
    for one in (net, other):
        one.share_with(third)
        one.forward(**numbers(net, 2))
    same_blobs(net, other)
    third.params["ip"][0].data[...] = 0.25
    for one in (net, other):
        one.forward(**numbers(net, 3))
    same_blobs(net, other)


def test_an_eager_pass_after_one_at_once_has_its_bits():
    net, other = twins(SMALL)
    net.forward(**numbers(net, 1))
    with nd.eager():
        net.forward(**numbers(net, 2))
    other.forward(**numbers(net, 2))
    same_blobs(net, other)
