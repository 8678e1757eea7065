"""Weights from and to files, messages and other nets."""

import logging

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe import array_to_blobproto, proto
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import layer, product
from tests.cells import every_row

FILES = ["net.caffemodel", "net.caffemodel.h5"]


def two(first="ip1", second="ip2", n_out=4, **settings):
    text = 'name: "two"\n' + nets.inputs(x=(2, 3)) + product(first, "x", "h", n_out) + layer("act", "TanH", "h", "h")
    return Net(text + product(second, "h", "y", 2), **settings)


def arrays(net):
    return [np.copy(blob.data) for blob in net.param_blobs]


def are_equal(net, other, equal=True):
    pairs = zip(arrays(net), arrays(other), strict=True)
    assert all(np.array_equal(one, of_other) == equal for one, of_other in pairs if np.any(one))


@every_row("name", FILES)
def test_what_is_saved_is_read(name, tmp_path):
    net = two("group/ip1", "group/ip2", seed=1)
    net.param_blobs[1].data = [1, 2, 3, 4]
    (net.save if name.endswith("l") else net.save_hdf5)(tmp_path / name)
    for again in (
        two("group/ip1", "group/ip2", seed=2, dtype="float64"),
        two("group/ip1", "group/ip2", seed=3),
    ):
        report = again.copy_from(str(tmp_path / name))
        assert report == (("group/ip1", "group/ip2"), (), (), ())
        are_equal(net, again)
    x = np.ones((2, 3))
    np.testing.assert_array_equal(net.forward(x=x)["y"], again.forward(x=x)["y"])


def test_hdf5_needs_its_ending(tmp_path):
    with pytest.raises(nd.NdError, match=r"\.h5"):
        two().save_hdf5(tmp_path / "weights.caffemodel")


def test_gradients_are_written_where_they_are_wanted(tmp_path):
    net = Net(nets.tiny(), seed=1)
    net.forward_backward()
    assert not net.to_proto().layer[1].blobs[0].diff
    message = net.to_proto(write_diff=True)
    np.testing.assert_array_equal(message.layer[1].blobs[0].diff, np.ravel(net.params["innerproduct"][0].diff))
    net.save(tmp_path / "n.caffemodel", write_diff=True)
    assert (tmp_path / "n.caffemodel").stat().st_size > 2 * 4 * 24000


def test_the_message_of_a_net_has_its_layers_as_they_run():
    net = Net(nets.tiny("force_backward: true debug_info: false", accuracy=True), seed=1)
    message = net.to_proto()
    assert message.name == "tiny"
    assert not message.HasField("force_backward")
    kinds = ["DummyData", "Split", "InnerProduct", "Split", "SoftmaxWithLoss", "Accuracy"]
    assert [one.type for one in message.layer] == kinds
    assert all(one.phase == 1 for one in message.layer)
    assert list(message.layer[4].loss_weight) == [1.0]
    assert [list(blob.shape.dim) for blob in message.layer[2].blobs] == [[1000, 24], [1000]]
    again = Net(message, seed=2)
    are_equal(net, again)
    assert again.layer_names == net.layer_names


def test_statistics_get_their_multipliers_in_the_message():
    net = Net(nets.inputs(x=(2, 3, 4, 4)) + layer("bn", "BatchNorm", "x", "y"))
    assert [(spec.lr_mult, spec.decay_mult) for spec in net.to_proto().layer[1].param] == [(0.0, 0.0)] * 3
    assert net.params_lr == [0.0, 0.0, 0.0]


def test_layers_are_found_by_their_names(caplog):
    caplog.set_level(logging.INFO)
    source, net = two("a", "b", seed=1), two("b2", "a", n_out=3, seed=2)
    before = arrays(net)
    with pytest.raises(
        nd.ShapeError, match=r"copy_from: layer 'a': expected \[2, 3\] for parameter 0, got \[4, 3\]\. Ren"
    ):
        net.copy_from(source)
    report = net.copy_from(source, mode="skip")
    assert report.loaded == ()
    assert report.skipped == ("a: expected [2, 3] for parameter 0, got [4, 3].",)
    assert (report.ignored, report.missing) == (("b",), ("b2",))
    assert "Ignoring source layer b" in caplog.text
    for one, other in zip(before, arrays(net), strict=True):
        np.testing.assert_array_equal(one, other)


def test_numbers_are_taken_in_another_shape_where_that_is_wanted():
    source = Net(nets.inputs(x=(1, 2, 3, 3)) + product("fc", "x", "y", 4), seed=1)
    told = "convolution_param { num_output: 4 kernel_size: 3 }"
    net = Net(nets.inputs(x=(1, 2, 8, 8)) + layer("fc", "Convolution", "x", "y", told), seed=2)
    with pytest.raises(
        nd.ShapeError, match=r"'fc': expected \[4, 2, 3, 3\] for parameter 0, got \[4, 18\].*mode='reshape'"
    ):
        net.copy_from(source)
    assert net.copy_from(source, mode="reshape").loaded == ("fc",)
    image = np.random.default_rng(0).normal(size=(1, 2, 8, 8)).astype("float32")
    found = net.forward(x=image)["y"]
    expected = source.forward(x=image[:, :, 2:5, 3:6])["y"]
    np.testing.assert_allclose(found[:, :, 2, 3], expected, rtol=1e-5)
    with pytest.raises(nd.ChoiceError, match="copy_from: unknown mode 'fit'"):
        net.copy_from(source, mode="fit")


def legacy(values, *dims):
    blob = array_to_blobproto(np.asarray(values, "float32"))
    blob.ClearField("shape")
    for name, size in zip(("num", "channels", "height", "width"), dims, strict=True):
        setattr(blob, name, size)
    return blob


def test_old_files_have_four_axes():
    net = two(seed=1)
    message = proto.NetParameter(name="old")
    one = message.layer.add(name="ip1", type="InnerProduct")
    one.blobs.extend([legacy(np.arange(12), 1, 1, 4, 3), legacy(np.arange(4), 1, 1, 1, 4)])
    assert net.copy_from(message).loaded == ("ip1",)
    np.testing.assert_array_equal(net.params["ip1"][0].data, np.arange(12).reshape(4, 3))
    one.blobs[0].CopyFrom(legacy(np.arange(12), 1, 1, 3, 4))
    with pytest.raises(nd.ShapeError, match=r"expected \[4, 3\] for parameter 0, got \[1, 1, 3, 4\]"):
        net.copy_from(message)
    del one.blobs[1]
    with pytest.raises(nd.ShapeError, match=r"layer 'ip1': expected 2 parameter\(s\), got 1"):
        net.copy_from(message)


def test_several_files_one_after_the_other(tmp_path):
    first, second = two("a", "b", seed=1), two("b", "c", seed=2)
    first.param_blobs[0].data = 1.0
    first.save(tmp_path / "1.caffemodel")
    second.save(tmp_path / "2.caffemodel")
    net = two("a", "c", seed=3)
    report = net.copy_from(f"{tmp_path}/1.caffemodel,{tmp_path}/2.caffemodel")
    assert (report.loaded, report.missing) == (("a", "c"), ())
    np.testing.assert_array_equal(net.params["a"][0].data, 1.0)
    np.testing.assert_array_equal(net.params["c"][0].data, second.params["c"][0].data)


def test_blobs_in_the_text_take_the_place_of_fillers():
    text = nets.inputs(x=(1, 2)) + product("ip", "x", "y", 2, "blobs { shape { dim: 2 dim: 2 } data: [1, 2, 3, 4] } %s")
    bias = "blobs { shape { dim: 2 } data: [5, 6] }"
    net = Net(text % bias)
    np.testing.assert_array_equal(net.forward(x=[[1, 1]])["y"], [[8, 13]])
    assert not net.message.layer[1].blobs or net.to_proto().layer[1].blobs[0].shape.dim == [2, 2]
    with pytest.raises(nd.ConfigurationError, match=r"'ip'.*expected 2 blob\(s\) for its parameters, got 1"):
        Net(text % "")
    with pytest.raises(nd.ShapeError, match=r"'ip'.*expected \[2\] for parameter 1, got \[3\] in its blobs"):
        Net(text % "blobs { shape { dim: 3 } data: [5, 6, 7] }")


def test_nets_that_share_weights():
    first, second = two(seed=1, dtype="float64"), two(seed=2, dtype="float64")
    second.share_with(first)
    for one, other in zip(first.param_blobs, second.param_blobs, strict=True):
        assert np.shares_memory(one.data, other.data)
        assert not np.shares_memory(one.diff, other.diff)
    first.params["ip1"][0].data[...] = 0.25
    x = np.ones((2, 3))
    np.testing.assert_array_equal(second.forward(x=x)["y"], first.forward(x=x)["y"])
    np.testing.assert_array_equal(second.to_proto().layer[1].blobs[0].double_data, 0.25)
    second.params["ip1"][0].diff = 0.25
    second.update()
    assert not np.any(first.params["ip1"][0].data)
    with pytest.raises(
        nd.ShapeError, match=r"share_with: layer 'ip1': expected parameters \[4, 3\] \[4\], got \[5, 3\] \[5\]"
    ):
        first.share_with(two(n_out=5))


def test_a_net_with_parameters_that_are_one_shares_them_with_another():
    first, second = (Net(nets.two_products(("w", "w")), seed=seed) for seed in (1, 2))
    second.share_with(first)
    first.params["innerproduct1"][0].data[...] = 3.0
    for blobs in second.params.values():
        np.testing.assert_array_equal(blobs[0].data, 3.0)
    assert second.forward_to(len(second.layers) - 1) == 0.0


def test_a_name_that_two_layers_have(tmp_path):
    """Copying from a message fills the first of them, as in Caffe."""

    def twice(seed):
        return Net(nets.inputs(x=(1, 2)) + product("ip", "x", "a", 2) + product("ip", "a", "b", 2), seed=seed)

    source, net = twice(1), twice(2)
    source.param_blobs[0].data, source.param_blobs[2].data = 1.0, 2.0
    source.save(tmp_path / "n.caffemodel")
    before = arrays(net)
    net.copy_from(tmp_path / "n.caffemodel")
    assert net.layer_names.count("ip") == 2
    np.testing.assert_array_equal(net.param_blobs[0].data, 2.0)
    np.testing.assert_array_equal(net.param_blobs[2].data, before[2])
