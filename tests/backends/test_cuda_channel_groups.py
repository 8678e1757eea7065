"""Convolutions by groups of channels on a CUDA device: few groups by the kernels of implicit.cu, others by columns."""

import numpy as np
import pytest

from backends.cuda.spatial import MOST_GROUPS
from tests.backends.onednn.oracles import bias_gradient, convolved, kernel_gradient, spread
from tests.backends.test_cuda_kernels import WINDOWS, both, numbers

PADDED = WINDOWS["padded"]
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def hosts_of(groups, n_out, channels, window=PADDED, batch=3):
    """Return an image, weights, bias and the gradient of the output."""
    return (
        numbers((batch, groups * channels, *window.size), "float64"),
        numbers((groups, n_out, channels, *window.kernel), "float64", 1),
        numbers((1, groups * n_out), "float64", 2),
        numbers((batch, groups * n_out, *window.out), "float64", 3),
    )


def on_device(device, hosts, gradients=None, window=PADDED):
    """Return output, gradients of W and b, and of x."""
    x, W, b, delta = (both(device, host)[1] for host in hosts)
    gradients = gradients or (device.full(W.shape, np.nan, "float64"), device.full(b.shape, np.nan, "float64"))
    z, saved = device.grouped(x, W, b, window, device.fresh_buffers("float64"))
    epsilon = device.grouped_backward(delta, saved, W, window, gradients, device.fresh_buffers("float64"))
    return [device.to_host(each) for each in (z, *gradients, epsilon)]


def expected_of(hosts, window=PADDED):
    x, W, b, delta = hosts
    gradient = kernel_gradient(x, delta, len(W), window)
    return convolved(x, W, b, window), gradient, bias_gradient(delta), spread(delta, W, window)


def held(found, hosts, window=PADDED):
    for got, exact in zip(found, expected_of(hosts, window), strict=True):
        np.testing.assert_allclose(got, exact, **CLOSE)


@pytest.mark.parametrize("shape", list(WINDOWS))
def test_every_window(device, shape):
    hosts = hosts_of(2, 3, 2, WINDOWS[shape], 5)
    held(on_device(device, hosts, window=WINDOWS[shape]), hosts, WINDOWS[shape])


def test_a_launch_for_each_of_few_groups(device, launches):
    launches.clear()
    on_device(device, hosts_of(2, 3, 2))
    names = [name.removesuffix("_small") for name in launches.taken()]
    assert names == ["convolve_few"] * 2 + ["convolve_weights", "convolve_image_few"] * 2


def test_many_groups_are_columns(device, launches):
    hosts = hosts_of(MOST_GROUPS + 1, 2, 2)
    launches.clear()
    held(on_device(device, hosts), hosts)
    assert not any(name.startswith("convolve") for name in launches.all())


@pytest.mark.parametrize("gap", ["weights", "bias"])
def test_gradients_into_arrays_with_gaps(device, gap):
    hosts = hosts_of(2, 3, 2)
    gradients = [device.full(hosts[1].shape, 7.0, "float64"), device.full((1, 6), 7.0, "float64")]
    if gap == "weights":
        wide = device.full((2, 6, 2, *PADDED.kernel), 7.0, "float64")
        gradients[0] = wide[:, ::2]
    else:
        wide = device.full((1, 12), 7.0, "float64")
        gradients[1] = wide[:, ::2]
    held(on_device(device, hosts, tuple(gradients)), hosts)
    assert (device.to_host(wide[:, 1::2]) == 7.0).all()


def test_without_bias_and_without_epsilon(device):
    x, W, _, delta = hosts_of(2, 3, 2)
    x_device, W_device, delta_device = (both(device, each)[1] for each in (x, W, delta))
    z, saved = device.grouped(x_device, W_device, None, PADDED, device.fresh_buffers("float64"))
    gradient = device.empty(W.shape, "float64")
    arguments = (delta_device, saved, W_device, PADDED, (gradient, None), device.fresh_buffers("float64"))
    assert device.grouped_backward(*arguments, need_epsilon=False) is None
    np.testing.assert_allclose(device.to_host(z), convolved(x, W, None, PADDED), **CLOSE)
    np.testing.assert_allclose(device.to_host(gradient), kernel_gradient(x, delta, 2, PADDED), **CLOSE)
