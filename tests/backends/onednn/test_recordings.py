"""Recorded steps with oneDNN: replays are what is computed eagerly, to the bit, from whatever was in the memory."""

import gc
import threading
from contextlib import nullcontext

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from backends.generic.window import Window
from backends.onednn.primitive import Primitive
from tests.backends.onednn.draws import Buffers, numbers
from tests.backends.onednn.networks import NETWORKS, data, network, step
from tests.step_plans import recorded, split_small_minibatches
from tests.ways_of_a_step import WAYS, Looks


def some_at_once(*names):
    """Run a test for all networks, for those of other names where there is time."""
    rows = [pytest.param(name, marks=() if name in names else pytest.mark.slow) for name in NETWORKS]
    return pytest.mark.parametrize("name", rows)


def gradients(name, backend, batches, way="recorded"):
    """Return the gradients that a new network has for batches."""
    net, found = network(name, backend), []
    watched, eager = WAYS[way]
    if watched:
        net.set_listeners(Looks())
    with nd.eager() if eager else nullcontext():
        for each in batches:
            found.append(step(net, each)[1])
            gc.collect()  # what a call has not kept is gone
            np.full(1 << 16, np.nan)  # and its memory another's
    assert any(recorded(net.engine.gradients)) == (way == "recorded")
    return found


@some_at_once("normalised", "series", "unet")
@pytest.mark.quick_rows("series")
def test_replays_are_what_is_computed_unrecorded(name):
    batches, backend = [data(name, 8, seed) for seed in (1, 2, 3, 1)], NumpyBackend(1)
    replayed, *others = (gradients(name, backend, batches, way) for way in ("recorded", "watched", "eager"))
    for other in others:
        for got, expected in zip(replayed, other, strict=True):
            np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(replayed[0], replayed[3])
    assert np.any(replayed[0] != replayed[1])


@some_at_once("normalised")
def test_the_same_bits_with_as_many_workers(name, monkeypatch):
    split_small_minibatches(monkeypatch)
    batches = [data(name, 8, seed) for seed in (1, 2, 2)]
    ways = "recorded", "recorded", "watched"
    first, second, watched = (gradients(name, NumpyBackend(2), batches, way) for way in ways)
    for got, again, looked_at in zip(first, second, watched, strict=True):
        np.testing.assert_array_equal(got, again)
        np.testing.assert_array_equal(got, looked_at)
    np.testing.assert_array_equal(first[1], first[2])
    whole = gradients(name, NumpyBackend(1), batches)
    np.testing.assert_allclose(first[0], whole[0], rtol=0, atol=1e-5 * np.max(np.abs(whole[0])))


def test_two_threads_train_two_networks_at_once():
    names, results = ("normalised", "series"), {}

    def train(name):
        net = network(name, NumpyBackend(1))
        for seed in range(12):
            net.fit(data(name, 8, seed))
        results.setdefault(name, []).append(nd.to_host(net.params()).copy())

    threads = [threading.Thread(target=train, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    for name in names:
        train(name)
        np.testing.assert_array_equal(*results[name])


def record(backend, run):
    recording, (result,) = backend.recorder().record(lambda: [run()], lambda: None)
    return recording, result


def test_relu_behind_a_convolution_is_recorded_and_keeps_nan(accelerated):
    """As part of the convolution's call it would make 0 of NaN."""
    rng, window = np.random.default_rng(3), Window((6, 6), (3, 3))
    x, W, b = numbers(rng, (4, 16, 6, 6)), numbers(rng, (16, 16, 3, 3)), numbers(rng, (1, 16))
    memory, recorder = Buffers(), accelerated.recorder()

    def buffers(*arguments):
        return accelerated.traceable(memory(*arguments))

    def layer():
        z, _ = recorder.conv2d(accelerated.traceable(x), W, b, window, buffers)
        return recorder.relu(z, z)

    recording, result = record(accelerated, layer)
    first = result.copy()
    assert (first >= 0).all()
    for _ in range(2):
        x[...] = numbers(rng, x.shape)
        result.fill(np.nan)
        recording.replay()
        expected, _ = accelerated.conv2d(x, W, b, window, Buffers())
        np.testing.assert_array_equal(result, np.maximum(expected, 0.0))
    assert np.any(first != result)
    x[0, 0, 0, 0] = np.nan
    recording.replay()
    assert np.isnan(result[0, :, 0, 0]).all()
    assert np.isfinite(result[1:]).all()


def recorded_convolution(backend):
    """Return a recording, its result, and what that has to be; nobody else has the arrays."""
    rng, window = np.random.default_rng(4), Window((6, 6), (3, 3))
    x, W = numbers(rng, (4, 16, 6, 6)), numbers(rng, (16, 16, 3, 3))

    def fresh(name, shape, kind="float32"):
        return backend.recorder().empty(shape, kind)

    def convolve():
        return backend.recorder().conv2d(backend.traceable(x), W, None, window, fresh)[0]

    return *record(backend, convolve), np.array(backend.conv2d(x, W, None, window, Buffers())[0])


def test_a_call_keeps_its_arrays(accelerated):
    """Otherwise their memory would be another's."""
    recording, result, expected = recorded_convolution(accelerated)
    gc.collect()
    others = [np.full(size, np.nan, np.float32) for size in (2304, 2304, 1024, 4096) * 20]
    result.fill(np.nan)
    recording.replay()
    np.testing.assert_array_equal(result, expected)
    assert len(others) == 80


def test_primitives_are_made_once(monkeypatch):
    """Nothing but their making itself says how often they are made."""
    made, make = [], Primitive._make
    net = network("vgg", NumpyBackend(1))
    for seed in (1, 2, 3):
        net.fit(data("vgg", 8, seed))
    monkeypatch.setattr(Primitive, "_make", lambda kernel: made.append(kernel.name) or make(kernel))
    net.fit(data("vgg", 8, 4))
    network("vgg", NumpyBackend(1)).fit(data("vgg", 8, 4))
    assert made == []
