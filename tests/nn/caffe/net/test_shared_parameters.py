"""Parameters of one name: Caffe's cases, written anew, and every way in which they may not fit."""

import re

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import data, layer, product
from tests.cells import every_row

SHARED = ("sharedweights", "sharedweights")
FIRST, SECOND = "innerproduct1", "innerproduct2"


def made(names=SHARED, seed=5, **settings):
    return Net(nets.two_products(names, **settings), seed=seed, dtype="float64")


def weights(net):
    return net.params[FIRST][0], net.params[SECOND][0]


def test_values_of_weights_that_are_one():
    assert made(("", "")).forward_from_to(0, 3) > 0.0
    net = made()
    net.forward()
    assert net.loss == 0.0


def test_gradients_of_weights_that_are_two_are_opposite():
    net = made(("", ""))
    net.forward_backward()
    one, other = weights(net)
    assert np.all(one.diff != 0.0)
    np.testing.assert_allclose(one.diff, -other.diff, rtol=1e-12)


def test_gradients_of_weights_that_are_one_cancel():
    net = made()
    net.forward_backward()
    for blob in weights(net):
        np.testing.assert_array_equal(blob.diff, 0.0)


def unequal(names, seed=5):
    """Two products of different data."""
    text = nets.two_products(names).replace("value: 0.5", "value: 0.5 }  data_filler { value: 2")
    return Net(text, seed=seed, dtype="float64")


def test_an_update_of_weights_that_are_one():
    net, apart = unequal(SHARED), unequal(("", ""))
    one, other = weights(net)
    assert np.shares_memory(one.data, other.data)
    assert np.shares_memory(one.diff, other.diff)
    for blob in weights(apart):
        blob.data = one.data
    for each in (net, apart):
        each.forward_backward()
    np.testing.assert_allclose(one.diff, sum(blob.diff for blob in weights(apart)), rtol=1e-10)
    assert np.any(one.diff)
    expected = one.data - one.diff
    net.update()
    np.testing.assert_array_equal(one.data, expected)
    np.testing.assert_array_equal(other.data, expected)
    each = [blob.data - blob.diff for blob in weights(apart)]
    apart.update()
    for blob, values in zip(weights(apart), each, strict=True):
        np.testing.assert_array_equal(blob.data, values)
    assert not np.array_equal(*(blob.data for blob in weights(apart)))


@every_row("form", ["message", "binary", "hdf5"])
def test_weights_that_are_one_stay_one_in_a_file(form, tmp_path):
    net = unequal(SHARED)
    net.forward_backward()
    net.update()
    if form == "message":
        again = Net(net.to_proto(), seed=9, dtype="float64")
    else:
        path = tmp_path / ("weights.caffemodel" + (".h5" if form == "hdf5" else ""))
        net.save(path)
        again = unequal(SHARED, seed=9)
        assert set(again.copy_from(path).loaded) <= {FIRST, SECOND}
    one, other = weights(again)
    assert np.shares_memory(one.data, other.data)
    assert np.shares_memory(one.diff, other.diff)
    np.testing.assert_array_equal(one.data, weights(net)[0].data)
    assert again.forward_from_to(0, 3) == net.forward_from_to(0, 3)


def test_gradients_add_up_over_passes_until_they_are_cleared():
    net = unequal(SHARED)
    net.forward_backward()
    once = np.copy(weights(net)[0].diff)
    net.forward_backward()
    np.testing.assert_allclose(weights(net)[0].diff, 2.0 * once, rtol=1e-12)
    net.clear_param_diffs()
    for blob in weights(net):
        np.testing.assert_array_equal(blob.diff, 0.0)


def test_owners_and_numbers():
    net = made(("", "w"), bias=True)
    assert net.param_owners == [-1, -1, -1, -1]
    net = made(("w", "w"), bias=True, rates=("lr_mult: 2 decay_mult: 3", ""), settings=("param { lr_mult: 5 }", ""))
    assert net.param_owners == [-1, -1, 0, -1]
    assert net.param_display_names == ["w", "1", "w", "1"]
    assert net.param_names_index == {"w": 0}
    assert net.learnable_params == [net.param_blobs[number] for number in (0, 1, 3)]
    assert (net.params_lr, net.params_weight_decay) == ([2.0, 5.0, 1.0], [3.0, 1.0, 1.0])
    assert (net.has_params_lr, net.has_params_decay) == ([True, True, False], [True, False, False])


def test_strict_sharing_needs_the_same_shape():
    text = nets.two_products(SHARED).replace("dim: 5 dim: 2 dim: 3 dim: 4", "dim: 5 dim: 24", 1)
    assert Net(text, seed=1).param_owners == [-1, 0]
    fits_not = product("a", "x", "a", 6, "param { name: 'w' }", bias=False)
    fits_not += product("b", "y", "b", 4, "param { name: 'w' %s }", bias=False)
    fits_not = data((5, 4), (5, 6), tops=("x", "y")) + fits_not
    refused = "layer 2 'b'.*parameter 0 'w' must have the shape of parameter 0 of layer 1 'a'"
    with pytest.raises(nd.ShapeError, match=refused + re.escape(" (InnerProduct), [6, 4], got [4, 6].")):
        Net(fits_not % "")
    with pytest.raises(nd.ShapeError, match=refused):
        Net(fits_not % "share_mode: STRICT")
    net = Net(fits_not % "share_mode: PERMISSIVE", seed=1)
    one, other = net.params["a"][0], net.params["b"][0]
    assert (one.shape, other.shape) == ((6, 4), (4, 6))
    np.testing.assert_array_equal(np.ravel(one.data), np.ravel(other.data))
    assert np.shares_memory(one.data, other.data)


def test_permissive_sharing_needs_as_many_elements():
    text = data((5, 4), (5, 5), tops=("x", "y")) + product("a", "x", "a", 6, "param { name: 'w' }", bias=False)
    text += product("b", "y", "b", 4, "param { name: 'w' share_mode: PERMISSIVE }", bias=False)
    with pytest.raises(
        nd.ShapeError, match=r"'b'.*must have as many elements as parameter 0 of .*'a'.*\[6, 4\], got \[4, "
    ):
        Net(text)


@every_row("name", ["lr_mult", "decay_mult"])
def test_multipliers_of_one_parameter(name):
    def read(first, second):
        net = made(rates=(first and f"{name}: {first}", second and f"{name}: {second}"))
        return {"lr_mult": net.params_lr, "decay_mult": net.params_weight_decay}[name]

    assert read("", "") == [1.0]
    assert read("2", "") == [2.0]
    assert read("", "3") == [3.0]  # the one that shares says it for both
    assert read("2", "2") == [2.0]
    refused = rf"'innerproduct2'.*{name} of parameter 0 'sharedweights' must be that of .*'innerproduct1'.*, 2, got 3"
    with pytest.raises(nd.ConfigurationError, match=refused):
        read("2", "3")


def test_a_third_one_must_agree_with_what_the_second_one_said():
    def text(third):
        named = "param { name: 'w' %s }"
        rates = ("", "lr_mult: 3", third)
        lines = [product(f"ip{n}", "data", f"ip{n}", 2, named % rate, bias=False) for n, rate in enumerate(rates)]
        return data((4, 3)) + "".join(lines)

    assert Net(text("lr_mult: 3")).params_lr == Net(text("")).params_lr == [3.0]
    with pytest.raises(nd.ConfigurationError, match=r"'ip2'.*lr_mult of parameter 0 'w' must be that of.*, 3, got 4"):
        Net(text("lr_mult: 4"))


@every_row("rates", [(1, 1, 1, 1), (2, 3, 5, 0.5), (1, 0, 1, 0), (0, 1, 0, 1), (0, 0, 0, 1)])
def test_gradients_do_not_depend_on_multipliers_but_for_none(rates):
    def gradients(numbers):
        first, second = numbers[:2], numbers[2:]
        text = data((4, 3), (4,), tops=("data", "label"), filler='type: "constant" value: 1')
        for name, below, pair in (("ip1", "data", first), ("ip2", "ip1", second)):
            text += product(name, below, name, 3, "".join(f"param {{ lr_mult: {rate} }}" for rate in pair))
        net = Net(text + layer("loss", "SoftmaxWithLoss", "ip2 label", ""), seed=2, dtype="float64")
        net.forward_backward()
        return [np.copy(blob.diff) for blob in net.param_blobs]

    plain = gradients((1, 1, 1, 1))
    for rate, found, expected in zip(rates, gradients(rates), plain, strict=True):
        assert np.any(expected)
        np.testing.assert_array_equal(found, expected if rate else np.zeros_like(expected))


def test_a_gradient_that_somebody_wrote_stays_where_nothing_is_trained():
    text = data((4, 3), (4,), tops=("data", "label"), filler='type: "constant" value: 1')
    text += product("ip1", "data", "ip1", 3, "param { lr_mult: 0 } param { lr_mult: 1 }")
    net = Net(text + layer("loss", "SoftmaxWithLoss", "ip1 label", ""), seed=2, dtype="float64")
    net.params["ip1"][0].diff = 3.0
    net.forward_backward()
    np.testing.assert_array_equal(net.params["ip1"][0].diff, 3.0)


def test_force_backward_computes_gradients_that_nobody_trains():
    text = data((4, 3), (4,), tops=("data", "label"), filler='type: "constant" value: 1')
    text += product("ip1", "data", "ip1", 3, "param { lr_mult: 0 } param { lr_mult: 0 }")
    text += layer("loss", "SoftmaxWithLoss", "ip1 label", "")
    plain, forced = (Net(head + text, seed=2, dtype="float64") for head in ("", "force_backward: true\n"))
    assert plain.layer_need_backward == [False, False, False]
    assert forced.layer_need_backward == [True, True, True]
    forced.forward_backward()
    p = np.exp(forced.blobs["ip1"].data)
    delta = (p / p.sum(axis=1, keepdims=True) - np.eye(3)[1]) / 4
    np.testing.assert_allclose(forced.params["ip1"][0].diff, delta.T @ np.ones((4, 3)), rtol=1e-10)
    np.testing.assert_allclose(forced.blobs["data"].diff, delta @ forced.params["ip1"][0].data, rtol=1e-10)
    forced.update()  # Caffe's own Update asks no multiplier
    assert not np.array_equal(forced.params["ip1"][0].data, plain.params["ip1"][0].data)
