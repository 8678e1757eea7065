"""More rows than a net takes at once, arrays for MemoryData, files of outputs, and what a net says of itself."""

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import inputs, layer, product
from tests.cells import every_row


def deploy(head=""):
    text = head + inputs(x=(4, 3), z=(4, 2)) + product("ip", "x", "ip", 2) + layer("sum", "Eltwise", "ip z", "y")
    return Net(text, seed=1, dtype="float64")


def rows(n):
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 2))


@every_row("n", [1, 4, 6, 9])
def test_forward_of_all_rows(n):
    net, (x, z) = deploy(), rows(n)
    W, b = (blob.data for blob in net.params["ip"])
    found = net.forward_all(["ip"], x=x, z=z)
    assert list(found) == ["y", "ip"]
    np.testing.assert_allclose(found["ip"], x @ W.T + b, rtol=1e-12)
    np.testing.assert_allclose(found["y"], x @ W.T + b + z, rtol=1e-12)
    net.blobs["y"].data = 0.0
    np.testing.assert_allclose(found["y"], x @ W.T + b + z, rtol=1e-12)


@every_row("n", [3, 8, 10])
def test_forward_and_backward_of_all_rows(n):
    net, (x, z) = deploy("force_backward: true\n"), rows(n)
    W, b = (blob.data for blob in net.params["ip"])
    epsilon = rows(n + 1)[1][:n]
    data, diffs = net.forward_backward_all(["ip"], ["ip"], x=x, z=z, y=epsilon)
    assert (list(data), list(diffs)) == (["y", "ip"], ["x", "z", "ip"])
    np.testing.assert_allclose(data["y"], x @ W.T + b + z, rtol=1e-12)
    np.testing.assert_allclose(diffs["x"], epsilon @ W, rtol=1e-12)
    np.testing.assert_array_equal(diffs["z"], epsilon)
    np.testing.assert_allclose(net.params["ip"][0].diff, epsilon.T @ x, rtol=1e-10)


def test_rows_on_every_backend(backend):
    net, (x, z) = deploy(), rows(6)
    found = net.forward_all(x=x, z=z)["y"]
    W, b = (nd.to_host(blob.data) for blob in net.params["ip"])
    np.testing.assert_allclose(nd.to_host(found), x @ W.T + b + z, rtol=1e-12)


def test_rows_that_do_not_fit():
    net, (x, z) = deploy(), rows(6)
    with pytest.raises(nd.ConfigurationError, match="forward_all: arrays must be given for x, z, got x"):
        net.forward_all(x=x)
    with pytest.raises(nd.ShapeError, match=r"forward_all: arrays must have equally many rows.*\{'x': 6, 'z': 5\}"):
        net.forward_all(x=x, z=z[:5])
    with pytest.raises(nd.ShapeError, match=r"blob 'x': expected \[4, 3\], got \[4, 2\]"):
        net.forward_all(x=z, z=z)
    with pytest.raises(nd.ConfigurationError, match="forward_backward_all: arrays must be given for x, z, y, got x"):
        net.forward_backward_all(x=x, z=z, k=z)
    with_loss = inputs(x=(4, 3)) + layer("sum", "Reduction", "x", "sum")
    with pytest.raises(nd.ShapeError, match=r"blob 'sum' must have 4 rows as the inputs have, got \[\]"):
        Net(with_loss).forward_all(x=x)


MEMORY = layer(
    "mem", "MemoryData", "", "data label", "memory_data_param { batch_size: 2 channels: 1 height: 2 width: 3 }"
) + layer("silent", "Silence", "label", "")


def test_arrays_for_memory_data(backend):
    net = Net(MEMORY)
    images = np.arange(24.0).reshape(4, 1, 2, 3)
    net.set_input_arrays(images, np.arange(4.0))
    for start in (0, 2, 0):
        np.testing.assert_array_equal(nd.to_host(net.forward()["data"]), images[start : start + 2])
    with pytest.raises(nd.ConfigurationError, match="a multiple of batch_size, 2, got 3"):
        net.set_input_arrays(images[:3], np.arange(3.0))
    with pytest.raises(nd.ConfigurationError, match="the first layer must be MemoryData, got layer 0 'inputs'"):
        deploy().set_input_arrays(images, np.arange(4.0))


def test_a_file_of_outputs(tmp_path):
    h5py = pytest.importorskip("h5py", reason="the extra caffe is not installed")
    path = tmp_path / "out.h5"
    told = f"hdf5_output_param {{ file_name: '{path}' }}"
    net = Net(inputs(x=(2, 3), y=(2,)) + layer("out", "HDF5Output", "x y", "", told))
    written = [rows(2)[0] + k for k in range(3)]
    for k, x in enumerate(written):
        assert net.forward(x=x, y=[k, k + 1]) == {}
    with h5py.File(path) as file:
        np.testing.assert_allclose(file["data"][()], np.concatenate(written), rtol=1e-6)
        np.testing.assert_array_equal(file["label"][()], [0, 1, 1, 2, 2, 3])


def test_types_that_are_refused(tmp_path):
    with pytest.raises(nd.ConfigurationError, match=r"layer 0 'w' \(WindowData\): there is no such layer.*ImageData"):
        Net(layer("w", "WindowData", "", "data label"))
    (tmp_path / "db").mkdir()
    (tmp_path / "db" / "CURRENT").write_text("MANIFEST-1\n")
    told = f"data_param {{ source: '{tmp_path}/db' batch_size: 1 backend: LEVELDB }}"
    with pytest.raises(nd.NdError, match=r"layer 0 'd' \(Data\).*LevelDB"):
        Net(layer("d", "Data", "", "data", told))


def test_a_table_of_the_layers():
    text = inputs(x=(2, 3, 4, 4)) + layer("norm", "BatchNorm", "x", "norm")
    text += product("ip", "norm", "ip", 2, "param { name: 'w' lr_mult: 2 } param { decay_mult: 0 }")
    text += layer("act", "ReLU", "ip", "ip") + layer("loss", "Reduction", "ip", "loss", "loss_weight: 3")
    lines = Net(text).summary().splitlines()
    cells = [line.split() for line in lines]
    assert cells[0] == ["layer", "type", "bottoms", "tops", "backward", "parameters", "lr_mult", "decay_mult"]
    norm, _, act, loss = lines[3:7]
    assert "statistics, written by forward passes and not by the solver: lr_mult is 0" in norm
    assert cells[3][:9] == ["1", "norm", "BatchNorm", "x", "norm", "[2,", "3,", "4,", "4]"]
    assert cells[4] == ["2", "ip", "InnerProduct", "norm", "ip", "[2,", "2]", "yes", "98", "2", "1", "1", "0"]
    assert act.endswith("in place")
    assert loss.endswith("loss, weight 3")
    assert lines[-2:] == ["phase TEST, inputs x, outputs loss", "parameters: 105, memory of tops: 804 bytes"]
    assert "parameter 0 is 'w' of 'innerproduct1'" in Net(nets.two_products(("w", "w"))).summary()


def test_backward_that_does_nothing_is_told():
    net = deploy()
    net.forward()
    with pytest.warns(UserWarning, match="backward: no layer of the net goes backward.*force_backward: true"):
        net.backward()
    assert not np.any(net.blobs["x"].diff)
