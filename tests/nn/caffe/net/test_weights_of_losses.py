"""Weights of losses: Caffe's cases, written anew, and what tops of losses show."""

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import data, layer, product
from tests.cells import every_row

WEIGHTS = (2.0, 0.0, 1.0, -1.0, -2.5, 3.75)


def passed(text, seed=3, **settings):
    """A net after a pass forward and back."""
    net = Net(text, seed=seed, dtype="float64", **settings)
    net.forward_backward()
    return net


def diffs(net):
    """All diffs of a net, copies by name."""
    named = {name: blob.diff for name, blob in net.blobs.items()}
    named |= {f"{name}[{at}]": blob.diff for name, blobs in net.params.items() for at, blob in enumerate(blobs)}
    return {name: nd.to_host(nd.copy(diff)) for name, diff in named.items()}


@every_row("middle", [False, True])
def test_gradients_are_multiples_of_the_weight(middle):
    name = "middle" if middle else "main"
    others = {"main": 0} if middle else {}
    plain = passed(nets.weighed(**{name: 1}, **others))
    expected, top = diffs(plain), "innerproduct1_innerproduct1_0_split_0" if middle else None
    assert plain.loss != 0.0
    for weight in WEIGHTS:
        net = passed(nets.weighed(**{name: weight}, **others))
        assert net.loss == pytest.approx(weight * plain.loss, rel=1e-12)
        for of, diff in diffs(net).items():
            np.testing.assert_allclose(diff, weight * expected[of], rtol=1e-12, atol=1e-13, err_msg=of)
    assert top is None or np.all(expected[top] == 1.0)


def test_two_weights_add_up():
    both = {(main, mid): diffs(passed(nets.weighed(main, mid))) for main in (1, 2) for mid in (1, 2)}
    first = "innerproduct1_innerproduct1_0_split_0"
    for name in both[1, 1]:
        by_main = both[2, 1][name] - both[1, 1][name]
        by_middle = both[1, 2][name] - both[1, 1][name]
        np.testing.assert_allclose(both[2, 2][name] - both[1, 1][name], by_main + by_middle, rtol=1e-10, atol=1e-12)
        touched = name in (
            "innerproduct1",
            first,
            "data",
            "data_data_0_split_0",
            "innerproduct1[0]",
            "innerproduct1[1]",
        )
        assert np.any(by_middle) == touched, name
    np.testing.assert_array_equal(both[2, 1][first], both[1, 1][first])
    np.testing.assert_array_equal(both[1, 2][first], 2.0 * both[1, 1][first])


def test_accuracy_beside_a_loss_does_not_touch_its_gradients():
    plain, with_it = passed(nets.tiny(), phase="TEST"), passed(nets.tiny(accuracy=True), phase="TEST")
    for place in (0, 1):
        np.testing.assert_array_equal(
            with_it.params["innerproduct"][place].diff, plain.params["innerproduct"][place].diff
        )
    assert np.any(plain.params["innerproduct"][0].diff)


def test_a_split_counts_what_never_came_back_as_zero():
    net = passed(nets.tiny(accuracy=True))
    split = net.layer_names[net.layer_names.index("innerproduct") + 1]
    first, second = (net.blobs[f"{split}_{number}"] for number in range(2))
    np.testing.assert_array_equal(net.blobs["innerproduct"].diff, first.diff)
    assert not np.any(second.diff)
    net.forward_backward()  # now that its diff was asked for
    np.testing.assert_array_equal(net.blobs["innerproduct"].diff, first.diff)


def test_any_top_may_be_a_loss():
    text = data((4, 3)) + product("ip", "data", "ip", 2) + layer("sum", "Reduction", "ip", "sum", "loss_weight: 0.5")
    net = passed(text)
    ip, x = net.blobs["ip"], net.blobs["data"].data
    assert net.loss == pytest.approx(0.5 * np.sum(ip.data), rel=1e-12)
    np.testing.assert_allclose(ip.diff, np.full((4, 2), 0.5))
    np.testing.assert_allclose(net.params["ip"][0].diff, np.tile(0.5 * x.sum(axis=0), (2, 1)), rtol=1e-12)
    assert net.blob_loss_weights == {"data": 0.0, "ip": 0.0, "sum": 0.5}


def test_a_top_with_many_numbers_is_summed():
    net = passed(data((4, 3)) + product("ip", "data", "ip", 2, "loss_weight: -1.5"))
    assert net.loss == pytest.approx(-1.5 * np.sum(net.blobs["ip"].data), rel=1e-12)
    np.testing.assert_array_equal(net.blobs["ip"].diff, np.full((4, 2), -1.5))


TWO_TOPS = data((5, 3), (5,), tops=("data", "label"), filler='type: "constant" value: 1')
TWO_TOPS += product("ip", "data", "ip", 4)


def test_both_tops_of_a_softmax_loss():
    net = passed(TWO_TOPS + layer("loss", "SoftmaxWithLoss", "ip label", "loss prob", "loss_weight: 2 loss_weight: 0"))
    scores = net.blobs["ip"].data
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(net.blobs["prob"].data, probabilities, rtol=1e-12)
    assert net.loss == pytest.approx(-2.0 * np.mean(np.log(probabilities[:, 1])), rel=1e-12)
    np.testing.assert_allclose(net.blobs["ip"].diff, 2.0 * (probabilities - np.eye(4)[1]) / 5, rtol=1e-10, atol=1e-15)
    assert net.outputs == ["loss", "prob"]


def test_a_loss_of_two_tops_must_say_both_weights():
    with pytest.raises(
        nd.ConfigurationError, match=r"'loss'.*loss_weight must be there for each of 2 top\(s\), or for n"
    ):
        Net(TWO_TOPS + layer("loss", "SoftmaxWithLoss", "ip label", "loss prob"))


def test_what_somebody_writes_into_a_loss_is_no_weight():
    net = passed(nets.tiny())
    before = net.loss
    net.blobs["top_loss"].diff = 5.0
    assert net.forward_from_to(2, 2) == before
    np.testing.assert_array_equal(net.blobs["top_loss"].diff, 1.0)


def test_backward_begins_with_the_diff_of_the_loss():
    net = passed(nets.tiny())
    plain = np.copy(net.blobs["innerproduct"].diff)
    net.backward(top_loss=3.0)
    np.testing.assert_allclose(net.blobs["innerproduct"].diff, 3.0 * plain, rtol=1e-12)


def test_losses_of_several_layers_add_up():
    text = nets.tiny() + layer("again", "EuclideanLoss", "innerproduct innerproduct", "", "loss_weight: 7")
    net = passed(text)
    assert net.loss == pytest.approx(float(net.blobs["top_loss"].data), rel=1e-12)
    numbers = [net.layer_names.index(name) for name in ("loss", "again")]
    assert net.forward_from_to(numbers[0], numbers[0]) == pytest.approx(net.blobs["top_loss"].data, rel=1e-12)
    assert net.forward_from_to(numbers[1], numbers[1]) == 0.0
