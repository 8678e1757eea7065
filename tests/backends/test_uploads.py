"""Minibatches on their way to the device, on their own stream: values, memory, and who waits for whom."""

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
    assert device.staged(host, dtype, lambda: out) is out
    np.testing.assert_array_equal(device.to_host(out), host.astype(dtype))
    assert out.transpose((*range(1, out.ndim), 0)).flags.c_contiguous


@pytest.mark.parametrize("few", [0, 1 << 30], ids=["by the device", "by the host"])
@pytest.mark.parametrize(("given", "kernel"), [("uint8", "turn_over_bytes"), ("float32", "turn_over_floats")])
def test_the_device_turns_examples_over_in_one_launch(device, launches, given, kernel, few, monkeypatch):
    monkeypatch.setattr("backends.cuda.uploads.FEW_BYTES", few)
    host, out = np.ones((5, 3), given), activation(device, (5, 3))
    launches.clear()
    device.staged(host, "float32", lambda: out)
    assert launches.all() == ([] if few else [kernel])


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


@pytest.fixture
def uploads(device):
    return Uploads(device.cupy, device.kernels)


@pytest.mark.parametrize("few", [0, 1 << 30], ids=["by the device", "by the host"])
def test_copies_that_nobody_waits_for_bring_each_its_own_numbers(device, uploads, few, monkeypatch):
    """Though pinned memory and its copy on the device are filled again and again."""
    monkeypatch.setattr("backends.cuda.uploads.FEW_BYTES", few)
    outs, host = [activation(device, (4, 3)) for _ in range(3 * SLOTS)], np.empty((4, 3), "f")
    for number, out in enumerate(outs):
        host[:] = number
        uploads.copy(host, out)
    host[:] = np.nan
    for number, out in enumerate(outs):
        np.testing.assert_array_equal(device.to_host(out), np.full((4, 3), number, "f"))


class Noted:
    """Notes what streams and events of CuPy are asked for: who, what, and which event or stream."""

    def __init__(self, cupy, monkeypatch):
        self.notes = []
        for kind, names in ((cupy.cuda.Event, ("record", "synchronize")), (cupy.cuda.Stream, ("wait_event",))):
            for name in names:
                monkeypatch.setattr(kind, name, self.noting(name, getattr(kind, name)))

    def noting(self, name, original):
        def call(one, *others):
            self.notes.append((name, one, *others))
            return original(one, *others)

        return call

    def count(self, *note):
        return self.notes.count(note)


def test_slots_are_used_in_turn_and_wait_for_their_readers(device, uploads, monkeypatch):
    noted, current = Noted(device.cupy, monkeypatch), device.cupy.cuda.get_current_stream()
    for number in range(2 * SLOTS):
        uploads.copy(np.full((4, 3), number, "f"), activation(device, (4, 3)))
    (ring,), stream = uploads._rings.values(), uploads._stream
    assert stream.is_non_blocking
    for slot in ring._slots:
        assert noted.count("synchronize", slot.copied) == 2  # before the pinned memory is filled again
        assert noted.count("wait_event", stream, slot.consumed) == 2
        assert noted.count("record", slot.copied, stream) == 2
        assert noted.count("wait_event", current, slot.copied) == 2
        assert noted.count("record", slot.consumed, current) == 3  # also when it was made
    assert len(ring._slots) == SLOTS
    assert len(noted.notes) == 11 * SLOTS


def test_shapes_that_do_not_come_again_are_forgotten(device, uploads):
    for n in range(1, MOST_SHAPES + 5):
        uploads.copy(np.ones((n, 2), "f"), activation(device, (n, 2)))
    assert len(uploads._rings) == MOST_SHAPES


LAYERS = DenseLayer(n_in=4, n_out=5, activation="tanh"), OutputLayer(n_in=5, n_out=3, loss="mcxent")
CONF = NeuralNetConfiguration(seed=5).list(*LAYERS)
BATCHES = [
    DataSet(RNG.random((n, 4), np.float32), np.eye(3, dtype="f")[RNG.integers(0, 3, n)]) for n in (6, 6, 9, 6, 6, 9)
]


@pytest.mark.parametrize("few", [0, 1 << 14])
def test_networks_stage_their_minibatches(device, few, monkeypatch):
    monkeypatch.setattr("backends.cuda.uploads.FEW_BYTES", few)
    with nd.use_backend(device):
        net, twin = (MultiLayerNetwork(CONF).init() for _ in "12")
        for each in BATCHES:
            net.fit_batch(each)
            twin.fit_batch(DataSet(nd.create(each.features), nd.create(each.labels)))  # on the device already
            np.testing.assert_array_equal(nd.to_host(net.params()), nd.to_host(twin.params()))
        np.testing.assert_array_equal(
            nd.to_host(net.output(BATCHES[0].features)), nd.to_host(net.output(nd.create(BATCHES[0].features)))
        )


@pytest.mark.parametrize("few", [0, 1 << 14])
def test_features_and_labels_are_a_launch_each_or_none(device, launches, few, monkeypatch):
    monkeypatch.setattr("backends.cuda.uploads.FEW_BYTES", few)
    with nd.use_backend(device):
        net = MultiLayerNetwork(CONF).init()
        for each in BATCHES:
            launches.clear()
            net.fit_batch(each)
            assert launches.taken().count("turn_over_floats") == (0 if few else 2)
