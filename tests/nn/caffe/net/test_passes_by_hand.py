"""Passes from one layer to another, and what blobs show while they run: Caffe's and pycaffe's cases, written anew."""

import logging

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import data, layer, product
from tests.cells import every_row


def copied(net, name, which="data"):
    return nd.to_host(nd.copy(getattr(net.blobs[name], which)))


def chain(in_place=True):
    """A pass that is determined, with layers in place (or not) and a blob that two layers read."""
    text = nets.inputs(data=(4, 6), label=(4,)) + product("ip1", "data", "ip1", 5)
    text += layer("act", "TanH", "ip1", "ip1") + layer(
        "scale", "Power", "ip1", "ip1", "power_param { scale: 2 shift: 1 }"
    )
    text += product("ip2", "ip1", "ip2", 3) + product("ip3", "ip1", "ip3", 3)
    text += layer("sum", "Eltwise", "ip2 ip3", "sum") + layer("loss", "SoftmaxWithLoss", "sum label", "loss")
    if not in_place:
        text = text.replace('bottom: "ip1"  top: "ip1"', 'bottom: "ip1" top: "act"', 1)
        text = text.replace('bottom: "ip1"  top: "ip1"', 'bottom: "act" top: "scale"', 1)
        text = text.replace('bottom: "ip1"  top: "ip2"', 'bottom: "scale" top: "ip2"')
        text = text.replace('bottom: "ip1"  top: "ip3"', 'bottom: "scale" top: "ip3"')
    net = Net(text + "\nforce_backward: true", seed=4, dtype="float64")
    rng = np.random.default_rng(0)
    net.blobs["data"].data, net.blobs["label"].data = rng.normal(size=(4, 6)), [0, 1, 2, 1]
    return net


def test_partial_passes_in_any_order_give_the_numbers_of_whole_ones():
    net = chain(in_place=False)
    last = len(net.layers) - 1
    loss = net.forward_backward()
    gradient = copied(net, "data", "diff")
    assert np.any(gradient)
    for start in range(1, last):
        net.blobs["data"].diff = 0.0
        assert net.forward_from(start) == loss
        net.backward_from(last)
        np.testing.assert_array_equal(copied(net, "data", "diff"), gradient)
        net.forward_to(start)
        net.forward_from_to(start + 1, last)
        assert net.loss == loss
        net.backward_to(start)
        assert np.any(net.blobs["ip1"].diff)
        net.backward_from_to(start - 1, 0)
        np.testing.assert_array_equal(copied(net, "data", "diff"), gradient, err_msg=f"from layer {start}")


def test_a_range_that_is_empty_runs_nothing():
    net = chain()
    calls = []
    net.before_forward(calls.append)
    net.before_backward(calls.append)
    assert net.forward_from_to(3, 2) == 0.0
    net.backward_from_to(2, 3)
    assert calls == []
    for run in (net.forward_from_to, net.backward_from_to):
        with pytest.raises(nd.ConfigurationError, match=r"_from_to: layer must be 0\.\.\d+ or a layer's name, got 99"):
            run(0, 99)
        with pytest.raises(nd.ConfigurationError, match=r"_from_to: layer must be 0\.\.\d+ or a layer's name, got -1"):
            run(-1, 0)


def test_backward_again_without_a_forward_gives_the_same():
    net = chain()
    net.forward_backward()
    diffs = {name: copied(net, name, "diff") for name in net.blobs}
    gradients = [np.copy(blob.diff) for blob in net.param_blobs]
    net.clear_param_diffs()
    net.backward()
    for name, expected in diffs.items():
        np.testing.assert_array_equal(copied(net, name, "diff"), expected, err_msg=name)
    for blob, expected in zip(net.param_blobs, gradients, strict=True):
        np.testing.assert_array_equal(blob.diff, expected)


def test_backward_must_come_after_forward():
    with pytest.raises(nd.ConfigurationError, match=r"'loss'.*forward must come before backward\. Call net\.forward"):
        chain().backward()


def ip_net():
    """What pycaffe's tests run: a convolution, a product, and a loss, all of which go back."""
    told = "convolution_param { num_output: 11 kernel_size: 2 pad: 3 weight_filler { type: 'gaussian' std: 1 } }"
    fillers = ("type: 'gaussian' std: 1", "value: 2")
    text = "force_backward: true\n" + data((5, 2, 3, 4), (5, 1, 1, 1), tops=("data", "label"), filler=fillers)
    text += layer("conv", "Convolution", "data", "conv", told) + product("ip", "conv", "ip_blob", 13)
    return Net(text + layer("loss", "SoftmaxWithLoss", "ip_blob label", "loss"), seed=1, dtype="float64")


def test_forward_from_a_layer_to_a_layer():
    net = ip_net()
    rng = np.random.default_rng(1)
    conv = rng.normal(size=net.blobs["conv"].shape)
    net.blobs["conv"].data = conv
    result = net.forward(start="ip", end="ip")
    assert list(result) == ["ip_blob"]
    W, b = (blob.data for blob in net.params["ip"])
    np.testing.assert_allclose(result["ip_blob"], conv.reshape(5, -1) @ W.T + b, rtol=1e-10, atol=1e-10)
    assert list(net.forward(["conv"], start="ip")) == ["loss", "conv"]


def test_backward_from_a_layer_to_a_layer():
    net = ip_net()
    net.forward()
    diff = np.random.default_rng(2).normal(size=(5, 13))
    net.blobs["ip_blob"].diff = diff
    result = net.backward(start="ip", end="ip")
    assert list(result) == ["conv"]
    W = net.params["ip"][0].data
    np.testing.assert_allclose(result["conv"], (diff @ W).reshape(net.blobs["conv"].shape), rtol=1e-10, atol=1e-10)
    again = net.backward(["data"], start="ip", end="conv", ip_blob=2.0 * diff)
    assert list(again) == ["data"]
    np.testing.assert_allclose(net.blobs["conv"].diff, 2.0 * (diff @ W).reshape(net.blobs["conv"].shape), rtol=1e-10)


def test_arrays_that_are_missing_or_do_not_fit():
    net = chain()
    with pytest.raises(
        nd.ConfigurationError, match=r"forward: arrays must be given for all inputs.*\['data', 'label'\], g"
    ):
        net.forward(data=np.zeros((4, 6)))
    with pytest.raises(nd.ConfigurationError, match="backward: arrays must be given for all outputs"):
        net.backward(sum=np.zeros((4, 3)))
    with pytest.raises(nd.ShapeError, match=r"blob 'data': expected \[4, 6\], got \[3, 6\]"):
        net.forward(data=np.zeros((3, 6)), label=np.zeros(4))
    for run in (net.forward, net.backward):
        with pytest.raises(nd.ChoiceError, match=r"ward: unknown blob 'summ', expected one of .*Did you mean 'sum'"):
            run(["summ"])
    with pytest.raises(nd.ChoiceError, match="forward: unknown layer 'ip9', expected one of act,"):
        net.forward(start="ip9")


def test_arrays_taken_before_a_pass_show_what_it_writes(backend):
    net = chain()
    views = {name: (blob.data, blob.diff) for name, blob in net.blobs.items()}
    params = [(blob.data, blob.diff) for blob in net.param_blobs]
    for scale in (1.0, 3.0):
        net.blobs["data"].data = scale * np.ones((4, 6))
        net.forward_backward()
        for name, (values, diff) in views.items():
            assert net.blobs[name].data is values
            assert net.blobs[name].diff is diff
        expected = softmax_chain(net, scale)
        np.testing.assert_allclose(nd.to_host(views["sum"][0]), expected, rtol=1e-10)
        for (values, diff), blob in zip(params, net.param_blobs, strict=True):
            assert blob.data is values
            assert blob.diff is diff
    assert np.any(nd.to_host(views["ip1"][1]))


def softmax_chain(net, scale):
    """The scores of `chain`, written with NumPy."""
    weights = {name: [nd.to_host(blob.data) for blob in blobs] for name, blobs in net.params.items()}
    hidden = 2.0 * np.tanh(scale * np.ones((4, 6)) @ weights["ip1"][0].T + weights["ip1"][1]) + 1.0
    return sum(hidden @ weights[name][0].T + weights[name][1] for name in ("ip2", "ip3"))


def test_what_somebody_writes_between_passes_is_read():
    net = chain()
    net.forward()
    written = np.arange(20.0).reshape(4, 5) / 20
    net.blobs["ip1"].data = written
    net.forward(start="ip1_scale_0_split")
    W, b = (blob.data for blob in net.params["ip2"])
    np.testing.assert_allclose(net.blobs["ip2"].data, written @ W.T + b, rtol=1e-12)
    net.blobs["ip1"].data[...] = 2.0 * written
    net.forward(start="ip1_scale_0_split")
    np.testing.assert_allclose(net.blobs["ip2"].data, 2.0 * written @ W.T + b, rtol=1e-12)


def test_a_chain_in_place_is_one_array():
    net = chain()
    before = net.blobs["ip1"].data
    net.forward()
    x, (W, b) = net.blobs["data"].data, (blob.data for blob in net.params["ip1"])
    np.testing.assert_allclose(before, 2.0 * np.tanh(x @ W.T + b) + 1.0, rtol=1e-12)
    assert [net.top_ids(number) for number in (1, 2, 3)] == [net.top_ids(1)] * 3
    net.backward()
    total = sum(net.blobs[f"ip1_scale_0_split_{k}"].diff for k in (0, 1))
    np.testing.assert_allclose(net.blobs["ip1"].diff, total * 2.0 * (1.0 - np.tanh(x @ W.T + b) ** 2), rtol=1e-9)


def test_layers_in_place_that_run_again_go_back_from_what_they_read():
    """Started in its middle a chain in place reads its own end, which then is overwritten."""
    text = nets.inputs(data=(1, 2)) + layer("start", "Power", "data", "x", "power_param { scale: 1 }")
    text += layer("square", "Power", "x", "x", "power_param { power: 2 shift: 0.5 }")
    text += layer("cube", "Power", "x", "x", "power_param { power: 3 }")
    text += layer("loss", "Reduction", "x", "loss", "loss_weight: 1") + "force_backward: true"
    net = Net(text, dtype="float64")
    net.forward(data=[[1.0, 2.0]])
    end = (np.array([1.0, 2.0]) + 0.5) ** 6
    assert net.loss == pytest.approx(end.sum())
    net.forward(start="square")
    net.backward(start="loss", end="square")
    expected = 6.0 * (end + 0.5) ** 5
    np.testing.assert_allclose(nd.to_host(net.blobs["x"].diff)[0], expected, rtol=1e-12)


@every_row("when", ["before", "between", "after"])
def test_arrays_that_layers_share_stay_apart_for_those_who_have_them(when):
    """A layer in place behind one that only changes the shape must not write into what the layer before it needs."""
    text = nets.inputs(data=(2, 3, 2)) + layer("s", "Sigmoid", "data", "s") + layer("flat", "Flatten", "s", "flat")
    text += layer("minus", "Power", "flat", "flat", "power_param { scale: -1 }")
    net = Net(
        text + layer("loss", "Reduction", "flat", "loss", "loss_weight: 1") + "force_backward: true", dtype="float64"
    )
    x = np.linspace(-1.0, 1.0, 12).reshape(2, 3, 2)
    sigmoid = 1.0 / (1.0 + np.exp(-x))
    if when == "between":
        net.blobs["data"].data = x
        net.forward(end="flat")
    taken = [net.blobs["flat"].data] if when != "after" else []
    for _ in range(2):
        net.forward(data=x)
        taken.append(net.blobs["flat"].data)
        np.testing.assert_allclose(taken[0], -sigmoid.reshape(2, 6), rtol=1e-12)
        net.backward()
        np.testing.assert_allclose(net.blobs["data"].diff, -sigmoid * (1.0 - sigmoid), rtol=1e-10)
        np.testing.assert_allclose(net.blobs["s"].data, sigmoid, rtol=1e-12)
    assert all(one is taken[0] for one in taken)


def test_callbacks_hear_every_layer():
    net = Net(nets.tiny(), seed=1)
    heard = []
    for hook in ("before_forward", "after_forward", "before_backward", "after_backward"):
        getattr(net, hook)(lambda number, hook=hook: heard.append((hook, number)))
    net.forward_backward()
    forward = [(hook, number) for number in range(3) for hook in ("before_forward", "after_forward")]
    backward = [(hook, number) for number in (2, 1, 0) for hook in ("before_backward", "after_backward")]
    assert heard == forward + backward  # of the data layer too, which has nothing to take back


def test_lines_of_debug_info(caplog):
    net = Net(nets.tiny("debug_info: true"), seed=1)
    caplog.set_level(logging.INFO)
    net.forward_backward()
    lines = [record.getMessage() for record in caplog.records]
    W = net.params["innerproduct"][0]
    assert f"    [Forward] Layer innerproduct, param blob 0 data: {np.abs(W.data).mean():.6g}"[:60] in "\n".join(lines)
    assert lines[0].startswith("    [Forward] Layer data, top blob data data: 0.00")
    assert sum("[Backward] Layer loss, bottom blob innerproduct diff: " in line for line in lines) == 1
    assert not any("[Backward] Layer data" in line for line in lines)
    norms = [np.sum([function(getattr(b, which)) for b in net.learnable_params]) for function, which in SUMS]
    l1, l2 = norms[:2], np.sqrt(norms[2:])
    assert lines[-1].startswith("    [Backward] All net params (data, diff): L1 norm = (")
    found = [float(text.strip("();,")) for text in lines[-1].split() if text.strip("();,")[0].isdigit()]
    np.testing.assert_allclose(found, [*l1, *l2], rtol=1e-4)
    net.debug_info = False
    caplog.clear()
    net.forward_backward()
    assert not caplog.records
    assert not net.debug_info


def absolute(values):
    return np.abs(values).sum()


def squares(values):
    return np.square(values).sum()


SUMS = ((absolute, "data"), (absolute, "diff"), (squares, "data"), (squares, "diff"))
