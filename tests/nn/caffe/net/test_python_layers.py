"""Layers that users write as classes: pycaffe's cases, written anew."""

import copy
import pickle

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe import Layer
from nn.caffe.net import Net
from nn.caffe.solver import get_solver
from tests.cases.caffe_small_nets import inputs, layer, product


class TimesTen(Layer):
    def reshape(self, bottom, top):
        top[0].reshape(*bottom[0].shape)

    def forward(self, bottom, top):
        top[0].data[...] = 10.0 * bottom[0].data

    def backward(self, top, propagate_down, bottom):
        assert propagate_down == [True]
        bottom[0].diff[...] = 10.0 * top[0].diff


class Failing(Layer):
    def setup(self, bottom, top):
        raise RuntimeError("the user's own fault")

    def reshape(self, bottom, top):
        pass


class Learned(Layer):
    """Adds a parameter, and asks for no more than that it goes down."""

    def setup(self, bottom, top):
        self.blobs.add_blob(1)
        self.blobs[0].data[0] = float(self.param_str or 0)

    def reshape(self, bottom, top):
        top[0].reshape(10)

    def forward(self, bottom, top):
        top[0].data[...] = self.blobs[0].data

    def backward(self, top, propagate_down, bottom):
        self.blobs[0].diff[0] = 1.0


class Phase(Layer):
    def reshape(self, bottom, top):
        top[0].reshape()

    def forward(self, bottom, top):
        top[0].data[...] = self.phase


class Setting(Layer):
    def setup(self, bottom, top):
        self.value = float(self.param_str)

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        top[0].data[...] = self.value


class Counting(Layer):
    """Brings data: 0, 1, 2 and so on."""

    def setup(self, bottom, top):
        self.count = 0

    def reshape(self, bottom, top):
        top[0].reshape(2, 3)

    def forward(self, bottom, top):
        top[0].data[...] = self.count
        self.count += 1


class Unfinished(Layer):
    def reshape(self, bottom, top):
        top[0].reshape(1)


class Late(Layer):
    """Adds a parameter where it is too late."""

    def reshape(self, bottom, top):
        top[0].reshape(1)

    def forward(self, bottom, top):
        self.blobs.add_blob(1)


NO_LAYER = 7


def mine(name, kind, bottoms, tops, settings=""):
    return layer(name, "Python", bottoms, tops, f"python_param {{ module: '{__name__}' layer: '{kind}' {settings} }}")


def thousand():
    text = "force_backward: true\n" + inputs(data=(10, 9, 8)) + mine("one", "TimesTen", "data", "one")
    return Net(text + mine("two", "TimesTen", "one", "two") + mine("three", "TimesTen", "two", "three"))


def learned(number=0):
    return Net(
        "force_backward: true\n"
        + inputs(data=(10,))
        + mine("layer", "Learned", "data", "top", f"param_str: '{number}'")
    )


def test_forward_and_backward():
    net = thousand()
    net.blobs["data"].data[...] = 8.0
    net.forward()
    np.testing.assert_array_equal(net.blobs["three"].data, 8000.0)
    net.blobs["three"].diff[...] = 7.0
    net.backward()
    np.testing.assert_array_equal(net.blobs["data"].diff, 7000.0)
    net.backward()
    np.testing.assert_array_equal(net.blobs["data"].diff, 7000.0)


def test_shapes_follow():
    net = thousand()
    tops = [net.blobs[name].data for name in ("one", "two")]
    net.blobs["data"].reshape(4, 9, 5, 4)
    net.reshape()
    assert [net.blobs[name].shape for name in ("one", "two", "three")] == [(4, 9, 5, 4)] * 3
    net.forward(data=np.ones((4, 9, 5, 4)))
    np.testing.assert_array_equal(net.blobs["three"].data, np.full((4, 9, 5, 4), 1000.0))
    assert tops[0].shape == (10, 9, 8)


def test_errors_of_the_user_surface():
    with pytest.raises(RuntimeError, match="the user's own fault"):
        Net(inputs(data=(10,)) + mine("layer", "Failing", "data", "top"))


def test_parameters_are_made_saved_and_shared(tmp_path):
    net = learned(4)
    assert [blob.shape for blob in net.params["layer"]] == [(1,)]
    assert net.forward()["top"].tolist() == [4.0] * 10
    net.backward()
    net.backward()
    assert net.params["layer"][0].diff.tolist() == [2.0]
    net.update()
    assert net.forward()["top"].tolist() == [2.0] * 10
    net.params["layer"][0].data[0] = 5.0
    net.save(tmp_path / "one.caffemodel")
    other = learned()
    assert other.params["layer"][0].data[0] == 0.0
    other.copy_from(tmp_path / "one.caffemodel")
    assert other.forward()["top"].tolist() == [5.0] * 10
    third = learned()
    third.share_with(net)
    net.params["layer"][0].data[0] = 6.0
    assert third.forward()["top"].tolist() == [6.0] * 10
    for twin in (copy.deepcopy(net), pickle.loads(pickle.dumps(net))):
        assert twin.forward()["top"].tolist() == [6.0] * 10


def test_phase_and_settings():
    for phase, number in (("TRAIN", 0), ("TEST", 1)):
        assert Net(mine("layer", "Phase", "", "phase"), phase=phase).forward()["phase"] == number
    assert Net(mine("layer", "Setting", "", "top", "param_str: '123.456'")).forward()["top"][0] == np.float32(123.456)


def test_a_layer_that_brings_data_trains_a_net():
    text = mine("rows", "Counting", "", "x") + product("ip", "x", "ip", 1)
    net = Net(text + layer("loss", "Reduction", "ip", "loss", "loss_weight: 1"), phase="TRAIN", seed=1)
    for count in range(3):
        net.clear_param_diffs()
        net.forward_backward()
        np.testing.assert_array_equal(net.params["ip"][0].diff, np.full((1, 3), 2.0 * count))


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (
            "Missing",
            r"layer 0 'layer' \(Python\): class 'Missing' must be there in module .*Is its folder on Pyth",
        ),
        ("NO_LAYER", "must be a class derived from nn.caffe.Layer, got 7"),
        ("", "python_param must have a module and a layer, got 'tests"),
    ],
)
def test_classes_that_are_not_there(kind, message):
    with pytest.raises(nd.ConfigurationError, match=message):
        Net(mine("layer", kind, "", "top"))


def test_layers_that_lack_something():
    net = Net(mine("layer", "Unfinished", "", "top"))
    with pytest.raises(
        NotImplementedError, match=r"Unfinished: forward\(bottom, top\) must be defined, which writes the"
    ):
        net.forward()
    net = Net(mine("layer", "Late", "", "top"))
    net.forward()
    with pytest.raises(nd.ConfigurationError, match="parameters must be added in setup alone, got 1 for 0"):
        net.forward()


def test_a_solver_trains_a_net_with_them(tmp_path):
    """Ten times a product is to be the count that a layer brings: one step is what the formula says."""
    text = (
        mine("rows", "Counting", "", "x") + product("ip", "x", "ip", 1, bias=False) + mine("ten", "TimesTen", "ip", "t")
    )
    text += layer("loss", "Reduction", "t", "loss", "loss_weight: 1")
    (tmp_path / "net.prototxt").write_text(text)
    told = f"net: '{tmp_path}/net.prototxt'\nbase_lr: 0.5 lr_policy: 'fixed' random_seed: 1\n"
    solver = get_solver(told, dtype="float64")
    before = np.copy(solver.net.params["ip"][0].data)
    solver.step(3)
    counts = [0.0, 1.0, 2.0]
    expected = before - 0.5 * sum(10.0 * 2.0 * count for count in counts)
    np.testing.assert_allclose(solver.net.params["ip"][0].data, expected, rtol=1e-12)


def test_parameters_of_theirs_are_trained(tmp_path):
    text = mine("layer", "Learned", "", "top", "param_str: '2'")
    (tmp_path / "net.prototxt").write_text(text + layer("loss", "Reduction", "top", "loss", "loss_weight: 1"))
    solver = get_solver(f"net: '{tmp_path}/net.prototxt'\nbase_lr: 0.25\nlr_policy: 'fixed'\n", dtype="float64")
    solver.step(2)
    assert solver.net.params["layer"][0].data.tolist() == [1.5]
