"""Whole networks with oneDNN against the same weights in float64, and against NumPy."""

import numpy as np
import pytest

import nd
from backends.cpu.numpy_backend import NumpyBackend
from tests.backends.onednn.networks import NETWORKS, data, network, output_of, step, without

CLOSE = 1e-5  # of the largest number
PRIMITIVES = {
    "depthwise": {"convolution_forward", "convolution_backward_weights", "convolution_backward_data"},
    "lenet": {"pooling_forward", "pooling_backward"},
    "normalised": {"batch_normalization_forward", "batch_normalization_backward"},
    "residual": {"batch_normalization_forward", "convolution_backward_data"},
    "series": {"lstm_forward", "lstm_backward"},
    "unet": {"convolution_forward", "deconvolution_forward", "deconvolution_backward_weights"},
    "vgg": {"convolution_forward", "pooling_forward"},
}


def close(got, expected):
    np.testing.assert_allclose(got, expected, rtol=0, atol=CLOSE * np.max(np.abs(expected)))


@pytest.mark.parametrize("name", NETWORKS)
def test_outputs_and_gradients(name, ran):
    given = data(name, 8)
    exact = network(name, without(), "float64")
    nets = [network(name, backend) for backend in (NumpyBackend(1), without())]
    for net in nets:
        net.set_params(nd.to_host(exact.params()).astype(np.float32))
    exact.set_params(nd.to_host(nets[0].params()).astype(np.float64))  # what float32 can hold
    score, gradient = step(exact, given)
    found = [step(net, given) for net in nets]
    for got_score, got in found:
        assert got_score == pytest.approx(score, rel=CLOSE)
        close(got, gradient)
    close(found[0][1], found[1][1])
    outputs = [output_of(net, given) for net in (exact, *nets)]
    close(outputs[1], outputs[0])
    close(outputs[1], outputs[2])
    assert set(ran) >= PRIMITIVES[name]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.quick_rows(every=3)
def test_after_some_steps_they_are_where_numpy_is(name):
    """Recorded and replayed, with batches of several sizes."""
    nets = [network(name, backend) for backend in (NumpyBackend(1), without())]
    nets[1].set_params(nets[0].params())
    for seed, n in enumerate((8, 8, 5, 8, 5, 5)):
        for net in nets:
            net.fit(data(name, n, seed))
    params = [nd.to_host(net.params()).astype(np.float64) for net in nets]
    np.testing.assert_allclose(params[0], params[1], rtol=0, atol=1e-4 * np.max(np.abs(params[1])))


@pytest.mark.parametrize("name", NETWORKS)
def test_training_that_meets_what_is_no_number_is_stopped(name):
    """Also where ReLU and pooling of oneDNN make a number of it, in replays: the gradient has it."""
    net, given, bad = network(name, NumpyBackend(1)), data(name, 4), data(name, 4)
    bad.features[0].flat[5] = np.nan
    for _ in range(3):
        net.fit(given)
    before = nd.to_host(net.params()).copy()
    with pytest.raises(nd.NumericError, match=r"^fit: the (score|norm of the gradient) must be finite, got nan"):
        net.fit(bad)
    np.testing.assert_array_equal(nd.to_host(net.params()), before)
