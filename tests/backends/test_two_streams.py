"""Networks of several threads, each on a stream of its own: what one computes is no matter of another's."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import nd
from backends.cuda.scratch import MOST_STREAMS, Scratch, Scratches
from nd.dataset import DataSet
from nn import ConvolutionLayer, DenseLayer, InputType, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Adam

RNG = np.random.default_rng(5)
BATCHES = [
    DataSet(RNG.random((n, 64), np.float32), np.eye(3, dtype=np.float32)[RNG.integers(0, 3, n)]) for n in [6] * 8
]


def conf(seed):
    return NeuralNetConfiguration(seed=seed, l2=1e-3, updater=Adam(0.01)).list(
        ConvolutionLayer(n_out=4, kernel_size=3),
        DenseLayer(n_out=6, activation="relu", drop_out=0.8),
        OutputLayer(n_out=3, loss="mcxent", activation="softmax"),
        input_type=InputType.convolutional_flat(8, 8, 1),
    )


def trained(device, seed, stream, before_step=lambda: None):
    """Train a network on a stream; return its parameters."""
    with nd.use_backend(device), stream:
        net = MultiLayerNetwork(conf(seed)).init()
        for data in BATCHES:
            before_step()
            net.fit_batch(data)
        return device.to_host(net.params())


def test_two_threads_on_two_streams_compute_what_one_computes(device):
    streams = [device.cupy.cuda.Stream(non_blocking=True) for _ in "12"]
    expected = [trained(device, seed, stream) for seed, stream in enumerate(streams, 1)]
    meeting = threading.Barrier(2, timeout=60)
    with ThreadPoolExecutor(2) as pool:  # step by step, so that they capture and launch at the same time
        runs = [pool.submit(trained, device, seed, each, meeting.wait) for seed, each in enumerate(streams, 1)]
        found = [run.result() for run in runs]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_nobody_waits_for_the_device_while_another_thread_captures(device):
    stop, errors = threading.Event(), []

    def wait():
        while not stop.is_set():
            try:
                device.synchronize()
            except Exception as error:
                errors.append(error)
                return

    waiting = threading.Thread(target=wait)
    waiting.start()
    try:
        stream = device.cupy.cuda.Stream(non_blocking=True)
        for seed in (1, 2, 3):
            trained(device, seed, stream)
    finally:
        stop.set()
        waiting.join()
    assert errors == []


def test_every_stream_has_scratch_memory_of_its_own(cupy):
    scratches, streams = Scratches(cupy), [cupy.cuda.Stream(non_blocking=True) for _ in range(MOST_STREAMS + 1)]
    found = []
    for stream in streams:
        with stream:
            found.append(scratches.current())
            assert scratches.current() is found[-1]
    assert len(set(map(id, found))) == len(streams)
    with streams[0]:
        assert scratches.current() is not found[0]  # which has made room
    with streams[-1]:
        assert scratches.current() is found[-1]


def test_threads_that_share_a_name_for_their_streams_share_no_scratch_memory(cupy):
    scratches, meeting = Scratches(cupy), threading.Barrier(2, timeout=60)

    def own():
        with cupy.cuda.Stream.ptds:
            meeting.wait()
            return scratches.current(), scratches.current()

    with ThreadPoolExecutor(2) as pool:
        first, second = (run.result() for run in [pool.submit(own) for _ in "12"])
    assert first[0] is first[1]
    assert second[0] is second[1]
    assert first[0] is not second[0]


def test_kernels_of_a_graph_use_memory_of_their_own(device, monkeypatch):
    """Products and sums of a graph, and the same eagerly, name other addresses for what they leave to one another."""
    used = []
    original = Scratch.partial
    monkeypatch.setattr(Scratch, "partial", lambda self, *given: used.append(id(self)) or original(self, *given))
    with nd.use_backend(device):
        x = nd.ones(40, 300)
        total = nd.Summed(lambda a: nd.dot(a, a))

        def both():
            return nd.add(nd.sum(nd.gemm(x, x, transpose_b=True)), total(x))

        eager = nd.item(both())
        seen_eagerly = set(used)
        used.clear()
        programs = [nd.record(both) for _ in "12"]
        for program in programs:
            program.replay()
            assert nd.item(program.result) == pytest.approx(eager)
    assert len(seen_eagerly) == 1
    assert len(set(used)) == 2
    assert not seen_eagerly & set(used)


def test_a_graph_has_scratch_memory_of_its_own_and_a_thread_holds_it_alone(cupy):
    scratches, own = Scratches(cupy), Scratch(cupy)
    before = scratches.current()

    def look():
        with ThreadPoolExecutor(1) as pool:
            return scratches.current(), pool.submit(scratches.current).result()

    assert scratches.holding(own, look) == (own, before)
    assert scratches.current() is before


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_scratch_memory_grows_and_stays_and_counters_are_zero(cupy, dtype):
    scratch, kind = Scratch(cupy), np.dtype(dtype)
    small, large = scratch.partial(kind, 5), scratch.partial(kind, 100)
    assert (small.size, large.size, small.dtype, scratch.partial(kind, 100) is large) == (8, 128, kind, True)
    assert small.data.ptr != large.data.ptr
    assert scratch.arrived(3).get().tolist() == [0] * 4
    assert scratch.arrived(9).get().tolist() == [0] * 16
