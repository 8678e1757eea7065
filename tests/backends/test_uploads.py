"""Minibatches on their way to the device, on the stand-in for CuPy: values, memory, and who waits for whom."""

import numpy as np
import pytest

import nd
from backends.cuda.uploads import MOST_SHAPES, SLOTS, Uploads
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer

RNG = np.random.default_rng(2)
SHAPES = [(1, 1), (5, 3), (32, 32), (33, 70), (70, 33), (4, 2, 3, 5), (100, 1)]


def activation(device, shape, dtype="float32"):
    return device.empty_activation(shape, dtype)


@pytest.mark.parametrize("few", [0, 1 << 30], ids=["by the device", "by the host"])
@pytest.mark.parametrize("given", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_examples_are_turned_over_and_converted(device, dtype, shape, given, few, monkeypatch):
    monkeypatch.setattr("backends.cuda.uploads.FEW_BYTES", few)
    host = (250 * RNG.random(shape)).astype(given)
    out = activation(device, shape, dtype)
    device.cupy.launches.clear()
    assert device.staged(host, dtype, lambda: out) is out
    np.testing.assert_array_equal(device.to_host(out), host.astype(dtype))
    assert out.transpose((*range(1, out.ndim), 0)).flags.c_contiguous
    assert len([name for name in device.cupy.launches if name.startswith("turn_over")]) == (0 if few else 1)


def test_the_host_array_may_lie_as_it_likes_and_change_at_once(device):
    wide = RNG.random((6, 8)).astype("f")
    expected = wide[:, ::2].copy()
    out = device.staged(wide[:, ::2], "float32", lambda: activation(device, (6, 4)))
    wide[:] = np.nan
    np.testing.assert_array_equal(device.to_host(out), expected)


@pytest.mark.parametrize(
    "host", [np.ones((3, 2), "i4"), np.ones((3, 2), "?"), np.ones((0, 2), "f"), np.ones((3, 2), ">f4")], ids=str
)
def test_other_data_take_the_general_way(device, host):
    assert device.staged(host, "float32", lambda: activation(device, host.shape)) is None


def test_slots_are_used_in_turn_and_wait_for_their_readers(device):
    uploads = Uploads(device.cupy, device._kernels)
    for number in range(2 * SLOTS):
        host, out = np.full((4, 3), number, "f"), activation(device, (4, 3))
        uploads.copy(host, out)
        np.testing.assert_array_equal(device.to_host(out), host)
    (ring,) = uploads._rings.values()
    assert uploads._stream.non_blocking
    for slot in ring._slots:
        assert (slot.copied.recorded, slot.consumed.recorded) == (2, 3)  # the latter also when it was made
        assert slot.copied.synchronized == 2  # before the pinned memory is filled again
        assert slot.copied.waited == 2  # by the stream that computes
        assert slot.consumed.waited == 2  # by the stream that copies


def test_shapes_that_do_not_come_again_are_forgotten(device):
    uploads = Uploads(device.cupy, device._kernels)
    for n in range(1, MOST_SHAPES + 5):
        uploads.copy(np.ones((n, 2), "f"), activation(device, (n, 2)))
    assert len(uploads._rings) == MOST_SHAPES


@pytest.mark.parametrize("few", [0, 1 << 14])
def test_networks_stage_their_minibatches(device, few, monkeypatch):
    monkeypatch.setattr("backends.cuda.uploads.FEW_BYTES", few)
    layers = DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_in=5, n_out=3, loss="mcxent")
    conf = NeuralNetConfiguration(seed=5).list(*layers)
    batches = [
        DataSet(RNG.random((n, 4), np.float32), np.eye(3, dtype="f")[RNG.integers(0, 3, n)]) for n in (6, 6, 9, 6, 6, 9)
    ]
    with nd.use_backend(device):
        net, twin = (MultiLayerNetwork(conf).init() for _ in "12")
        for each in batches:
            device.cupy.launches.clear()
            net.fit_batch(each)
            assert device.cupy.launches.count("turn_over_floats") == (0 if few else 2)
            twin.fit_batch(DataSet(nd.create(each.features), nd.create(each.labels)))  # on the device already
            np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(twin.params()))
        np.testing.assert_array_equal(
            nd.to_host(net.output(batches[0].features)), nd.to_host(net.output(nd.create(batches[0].features)))
        )
