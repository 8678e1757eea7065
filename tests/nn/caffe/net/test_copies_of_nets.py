"""Nets that are pickled and copied, and nets that several threads and backends use."""

import copy
import pickle
import threading

import numpy as np
import pytest

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

import nd
from nn.caffe.net import Net
from tests.cases import caffe_small_nets as nets
from tests.cases.caffe_small_nets import layer, product
from tests.cells import every_row


def pickled(net):
    return pickle.loads(pickle.dumps(net))


WAYS = {"pickle": pickled, "deepcopy": copy.deepcopy, "copy": copy.copy}


def noisy():
    """A net that draws: data anew for each pass, and dropout."""
    fillers = ("type: 'gaussian' std: 1", "value: 1")
    text = nets.data((6, 5), (6,), tops=("data", "label"), filler=fillers)
    text += product("ip", "data", "ip", 4) + layer("drop", "Dropout", "ip", "ip")
    net = Net(text + layer("loss", "SoftmaxWithLoss", "ip label", "loss"), phase="TRAIN", seed=3, dtype="float64")
    for _ in range(3):
        net.forward_backward()
    net.update()
    return net


def numbers(net):
    """Everything that a net holds, as copies."""
    blobs = [*net.blobs.values(), *net.param_blobs]
    return [nd.to_host(nd.copy(getattr(blob, which))) for blob in blobs for which in ("data", "diff")]


def same(first, second):
    for one, other in zip(numbers(first), numbers(second), strict=True):
        np.testing.assert_array_equal(one, other)


@every_row("way", list(WAYS))
def test_a_copy_goes_on_to_the_same_bits_and_shares_nothing(way):
    net = noisy()
    net.remark = "mine"
    twin = WAYS[way](net)
    assert type(twin) is Net
    assert (twin.remark, twin.loss, twin.phase, twin.dtype) == ("mine", net.loss, "TRAIN", "float64")
    same(net, twin)
    for _ in range(2):
        assert net.forward_backward() == twin.forward_backward()
        net.update()
        twin.update()
        same(net, twin)
    kept = numbers(twin)
    net.forward_backward()
    net.update()
    for blob in net.blobs.values():
        blob.data = 0.0
    for one, other in zip(numbers(twin), kept, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_copy_has_no_callbacks_and_must_go_forward_first():
    net = noisy()
    heard = []
    net.after_forward(heard.append)
    twin = pickled(net)
    with pytest.raises(nd.ConfigurationError, match="forward must come before backward"):
        twin.backward()
    twin.forward_backward()
    assert heard == []


def test_shared_parameters_and_other_shapes_are_copied():
    net = Net(nets.two_products(("w", "w")), seed=1)
    twin = pickled(net)
    one, other = twin.params["innerproduct1"][0], twin.params["innerproduct2"][0]
    assert np.shares_memory(one.data, other.data)
    net = Net(nets.reshapable(), seed=1)
    net.blobs["data"].reshape(2, 3, 12, 10)
    expected = net.forward(data=np.ones((2, 3, 12, 10)))["softmax"]
    twin = copy.deepcopy(net)
    np.testing.assert_array_equal(twin.blobs["softmax"].data, expected)
    np.testing.assert_array_equal(twin.forward()["softmax"], expected)


def test_parameters_that_another_net_has_are_copied():
    first, second = Net(nets.reshapable(), seed=1), Net(nets.reshapable(), seed=2)
    second.share_with(first)
    twin = copy.deepcopy(second)
    first.params["conv1"][0].data[...] = 0.0
    assert not np.any(second.params["conv1"][0].data)
    assert np.any(twin.params["conv1"][0].data)


def test_arrays_of_memory_data_and_the_place_in_them():
    told = "memory_data_param { batch_size: 2 channels: 1 height: 2 width: 2 }"
    net = Net(layer("mem", "MemoryData", "", "data label", told) + layer("s", "Silence", "data label", ""))
    images = np.arange(24.0, dtype="float32").reshape(6, 1, 2, 2)
    net.layers[0].reset(images, np.arange(6))
    net.forward()
    twin = pickled(net)
    for start in (2, 4, 0):
        twin.forward()
        np.testing.assert_array_equal(twin.blobs["data"].data, images[start : start + 2])
        np.testing.assert_array_equal(twin.blobs["label"].data, [start, start + 1])


def test_a_source_is_opened_again(tmp_path):
    h5py = pytest.importorskip("h5py", reason="the extra caffe is not installed")
    with h5py.File(tmp_path / "rows.h5", "w") as file:
        file["x"] = np.arange(10.0).reshape(10, 1)
    (tmp_path / "list.txt").write_text("rows.h5\n")
    told = "hdf5_data_param { source: 'list.txt' batch_size: 3 shuffle: true }"
    net = Net(layer("rows", "HDF5Data", "", "x", told), seed=4, folder=tmp_path)
    net.forward()
    twin = pickled(net)
    for _ in range(5):
        np.testing.assert_array_equal(net.forward()["x"], twin.forward()["x"])


@every_row("dtype", ["float32", "float64"])
def test_two_threads_on_one_net_take_turns(dtype):
    text = nets.inputs(x=(3, 4)) + product("ip", "x", "ip", 300) + layer("act", "TanH", "ip", "ip")
    net = Net(text + product("out", "ip", "out", 5), seed=1, dtype=dtype)
    faults = []

    def run():
        for _ in range(30):
            net.forward()
            net.clear_param_diffs()

    threads = [threading.Thread(target=guarded, args=(run, faults)) for _ in range(2)]
    net.blobs["x"].data = np.ones((3, 4))
    expected = np.copy(net.forward()["out"])
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    np.testing.assert_array_equal(net.blobs["out"].data, expected)


def test_two_threads_get_their_own_rows():
    text = nets.inputs(x=(4, 30)) + product("ip", "x", "ip", 200) + layer("act", "TanH", "ip", "ip")
    net = Net(text + product("out", "ip", "out", 5), seed=1, dtype="float64")
    rows = [np.full((8, 30), value) for value in (0.01, 0.5)]
    expected = [net.forward_all(x=x)["out"] for x in rows]
    found, faults = {}, []

    def run(number):
        for _ in range(20):
            found.setdefault(number, []).append(net.forward_all(x=rows[number])["out"])

    threads = [threading.Thread(target=guarded, args=(lambda n=n: run(n), faults)) for n in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for number in (0, 1):
        for one in found[number]:
            np.testing.assert_array_equal(one, expected[number])


def guarded(function, faults):
    try:
        function()
    except BaseException as error:
        faults.append(error)


def test_two_nets_in_two_threads():
    expected = [losses_of(seed) for seed in (1, 2)]
    found, faults = {}, []
    threads = [
        threading.Thread(target=guarded, args=(lambda seed=seed: found.update({seed: losses_of(seed)}), faults))
        for seed in (1, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert [found[1], found[2]] == expected


def losses_of(seed):
    net = Net(nets.tiny(), seed=seed, dtype="float64")
    losses = []
    for _ in range(5):
        net.clear_param_diffs()
        losses.append(net.forward_backward())
        net.update()
    return losses


def test_a_net_stays_on_its_backend(backend, tmp_path):
    net = Net(nets.tiny(), seed=1, dtype="float64")
    with nd.use_backend("numpy"):
        net.forward_backward()
        net.update()
        net.blobs["data"].data = np.zeros((5, 2, 3, 4))
        twin = copy.deepcopy(net)
        with nd.use_backend(backend):
            same_numbers = [nd.to_host(nd.copy(blob.data)) for blob in net.param_blobs]
        net.save(tmp_path / "n.caffemodel", write_diff=True)
        net.param_blobs[0].data = 0.0
        net.copy_from(tmp_path / "n.caffemodel")
        net.clear_param_diffs()
        net.reshape()
        arrays = [blob.data for blob in (*net.blobs.values(), *net.param_blobs, *twin.blobs.values())]
        assert net.forward()["top_loss"].shape == ()
    assert net.network.backend is twin.network.backend is backend
    assert all(backend.is_array(array) for array in arrays)
    for one, other, host in zip(net.param_blobs, twin.param_blobs, same_numbers, strict=True):
        np.testing.assert_array_equal(nd.to_host(one.data), host)
        np.testing.assert_array_equal(nd.to_host(other.data), host)
