"""The kernels of implicit.cu against the generic convolution and pooling in float64."""

import numpy as np
import pytest

from backends.cuda.convolutions import FEW, LARGEST
from backends.cuda.cupy_backend import CupyBackend
from backends.cuda.splits import LEAST_INNER
from backends.generic.window import Window
from tests.backends.test_cuda_kernels import GENERIC, WINDOWS, both, numbers, ties, window

EPS = {"float32": 2.0**-23, "float64": 2.0**-52}
POOLINGS = {
    "2x2": window((8, 8), (2, 2), (2, 2)),
    "3x2, rest in both directions": window((8, 7), (3, 2), (3, 2)),
    "1x1": window((5, 4), (1, 1)),
    "whole": window((4, 6), (4, 6), (4, 6)),
}


def generic(x, W, b, delta, shape, dtype="float64"):
    """Return output, gradients of W and b, and of x."""
    x, W, b, delta = (each.astype(dtype) for each in (x, W, b, delta))
    z, saved = GENERIC.conv2d(x, W, b, shape, GENERIC.fresh_buffers(dtype))
    gradients = np.zeros_like(W), np.zeros_like(b)
    epsilon = GENERIC.conv2d_backward(delta, saved, W, shape, gradients, GENERIC.fresh_buffers(dtype))
    return z, *gradients, epsilon


def on_device(device, x, W, b, delta, shape):
    """The same by the kernels."""
    dtype = device.dtype_name(W)
    z, saved = device.conv2d(x, W, b, shape, device.fresh_buffers(dtype))
    gradients = device.full(W.shape, np.nan, dtype), device.full(b.shape, np.nan, dtype)
    epsilon = device.conv2d_backward(delta, saved, W, shape, gradients, device.fresh_buffers(dtype))
    return z, *gradients, epsilon


def assert_close(device, found, x, W, b, delta, shape):
    """As exact as sums in this precision are: measured by the sum of the magnitudes of what is added up."""
    expected = generic(x, W, b, delta, shape)
    scales = generic(*map(np.abs, (x, W, b, delta)), shape)
    for got, exact, scale in zip(found, expected, scales, strict=True):
        error = np.abs(device.to_host(got) - exact)
        assert np.max(error / np.maximum(scale, 1e-30)) <= 4 * EPS[W.dtype.name]


@pytest.fixture(params=list(WINDOWS))
def shape(request):
    return WINDOWS[request.param]


def of_a_window(shape, batch, dtype, channels=3, outputs=4):
    """Return an image, weights, bias and the gradient of the output."""
    x, W = numbers((batch, channels, *shape.size), dtype), numbers((outputs, channels, *shape.kernel), dtype, 1)
    return x, W, numbers((1, outputs), dtype, 2), numbers((batch, outputs, *shape.out), dtype, 3)


@pytest.mark.parametrize("batch", [1, 5, 19])
def test_every_window(device, dtype, shape, batch):
    hosts = of_a_window(shape, batch, dtype)
    found = on_device(device, *(both(device, each)[1] for each in hosts), shape)
    assert_close(device, found, *hosts, shape)


@pytest.mark.parametrize("batch", [1, 5, 19])
def test_every_window_is_three_launches(device, dtype, shape, batch, launches):
    arrays = [both(device, each)[1] for each in of_a_window(shape, batch, dtype)]
    launches.clear()
    on_device(device, *arrays, shape)
    assert [name.removesuffix("_small") for name in launches.taken()] == [
        "convolve_few", "convolve_weights", "convolve_image_few",
    ]  # fmt: skip


TILES = pytest.mark.parametrize(("channels", "outputs"), [(1, 33), (40, 70), (FEW + 1, 2), (3, 64)])


@TILES
def test_tiles_of_every_shape(device, dtype, channels, outputs):
    shape = WINDOWS["padded"]
    hosts = of_a_window(shape, 3, dtype, channels, outputs)
    found = on_device(device, *(both(device, each)[1] for each in hosts), shape)
    assert_close(device, found, *hosts, shape)


@TILES
def test_few_rows_take_flat_tiles(device, dtype, channels, outputs, launches):
    shape = WINDOWS["padded"]
    arrays = [both(device, each)[1] for each in of_a_window(shape, 3, dtype, channels, outputs)]
    launches.clear()
    on_device(device, *arrays, shape)
    forward, _, backward = launches.taken()
    assert forward == ("convolve_few" if outputs <= FEW else "convolve")
    assert backward == ("convolve_image_few" if channels <= FEW else "convolve_image")


@pytest.mark.parametrize("processors", [1, 16, 400])
def test_processors_share_the_inner_axis(cupy, monkeypatch, dtype, processors):
    class Device(cupy.cuda.Device):
        attributes = {"MultiProcessorCount": processors}

    monkeypatch.setattr(cupy.cuda, "Device", Device)
    device, shape = CupyBackend(), WINDOWS["overlapping"]
    assert 4 * LEAST_INNER < 40 * 9
    x, W = numbers((9, 40, *shape.size), dtype), numbers((20, 40, *shape.kernel), dtype, 1)
    b, delta = numbers((1, 20), dtype, 2), numbers((9, 20, *shape.out), dtype, 3)
    arrays = [both(device, each)[1] for each in (x, W, b, delta)]
    found = on_device(device, *arrays, shape)
    assert_close(device, found, x, W, b, delta, shape)
    for first, second in zip(found, on_device(device, *arrays, shape), strict=True):
        np.testing.assert_array_equal(device.to_host(first), device.to_host(second))


@pytest.mark.parametrize("order", ["c", "f", "strided", "batch innermost", "flipped", "broadcast"])
def test_image_and_epsilon_are_read_as_they_lie(device, order):
    shape = WINDOWS["same, even kernel"]
    x, x_device = both(device, numbers((4, 3, *shape.size), "float32"), order)
    delta, delta_device = both(device, numbers((4, 5, *shape.out), "float32", 3), order)
    W, b = numbers((5, 3, *shape.kernel), "float32", 1), numbers((1, 5), "float32", 2)
    found = on_device(device, x_device, both(device, W)[1], both(device, b)[1], delta_device, shape)
    assert_close(device, found, x, W, b, delta, shape)
    for array in (found[0], found[3]):
        assert array.transpose((1, 2, 3, 0)).flags.c_contiguous


def before_pooling(pool, dtype):
    """Return the window of a convolution before such pooling, its arrays, and the gradient of what is pooled."""
    shape = Window((pool.size[0] + 2, pool.size[1] + 1), (3, 2))
    x, W = ties((5, 2, *shape.size), dtype), numbers((4, 2, 3, 2), dtype, 1)
    return shape, (x, W, numbers((1, 4), dtype, 2), numbers((5, 4, *pool.out), dtype, 3))


def forward_and_back(backend, windows, x, W, b, epsilon, activate):
    """Return what convolution and max pooling make of x, the gradients of W and b, and of x."""
    kind = backend.dtype_name(W)
    buffers = (backend.fresh_buffers(kind), backend.fresh_buffers(kind))
    relu = (lambda z: backend.maximum(z, 0.0, z)) if activate else None
    pooled, saved = backend.conv2d_max_pool(x, W, b, relu, windows, buffers)
    gradients = backend.full(W.shape, 0.0, kind), backend.full(b.shape, 0.0, kind)
    image = backend.conv2d_max_pool_backward(epsilon, saved, W, windows, gradients, buffers)
    return pooled, *gradients, image


def before_pooling_on_device(device, hosts):
    orders = ("batch innermost", "c", "c", "batch innermost")
    return [both(device, each, order)[1] for each, order in zip(hosts, orders, strict=True)]


@pytest.mark.parametrize("activate", [False, True])
@pytest.mark.parametrize("pooling", list(POOLINGS))
def test_gradients_before_max_pooling(device, dtype, pooling, activate):
    shape, hosts = before_pooling(POOLINGS[pooling], dtype)
    windows = (shape, POOLINGS[pooling])
    found = forward_and_back(device, windows, *before_pooling_on_device(device, hosts), activate)
    expected = forward_and_back(GENERIC, windows, *(each.astype(float) for each in hosts), activate)
    for got, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(device.to_host(got), exact, rtol=1e3 * EPS[dtype], atol=1e2 * EPS[dtype])


@pytest.mark.parametrize("activate", [False, True])
@pytest.mark.parametrize("pooling", list(POOLINGS))
def test_gradients_before_max_pooling_are_two_launches(device, dtype, pooling, activate, launches):
    shape, hosts = before_pooling(POOLINGS[pooling], dtype)
    arrays = before_pooling_on_device(device, hosts)
    launches.clear()
    forward_and_back(device, (shape, POOLINGS[pooling]), *arrays, activate)
    assert launches.taken()[-2:] == ["convolve_weights_small", "convolve_image_few"]


def test_overlapping_pooling_takes_its_own_way_back(device, launches):
    pool, shape = window((8, 8), (3, 3), (2, 2)), Window((9, 9), (2, 2))
    x, W, b = (device.full(size, 1.0, "float32") for size in ((2, 1, 9, 9), (3, 1, 2, 2), (1, 3)))
    buffers = (device.fresh_buffers("float32"), device.fresh_buffers("float32"))
    pooled, saved = device.conv2d_max_pool(x, W, b, None, (shape, pool), buffers)
    launches.clear()
    device.conv2d_max_pool_backward(pooled, saved, W, (shape, pool), (W, b), buffers, need_epsilon=False)
    assert launches.taken() == ["max_pool_backward", "convolve_weights_small"]


def test_without_bias_and_without_epsilon(device):
    shape = WINDOWS["dilated and padded"]
    x, W = numbers((3, 2, *shape.size), "float64"), numbers((4, 2, *shape.kernel), "float64", 1)
    delta, none = numbers((3, 4, *shape.out), "float64", 3), np.zeros((1, 4))
    x_device, W_device, delta_device = (both(device, each)[1] for each in (x, W, delta))
    z, saved = device.conv2d(x_device, W_device, None, shape, device.fresh_buffers("float64"))
    gradient = device.empty(W.shape, "float64")
    arguments = (delta_device, saved, W_device, shape, (gradient, None), device.fresh_buffers("float64"))
    assert device.conv2d_backward(*arguments, need_epsilon=False) is None
    expected = generic(x, W, none, delta, shape)
    np.testing.assert_allclose(device.to_host(z), expected[0], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(device.to_host(gradient), expected[1], rtol=1e-12, atol=1e-12)


UNKNOWN = pytest.mark.parametrize("case", ["integers", "weights with gaps", "two dtypes", "an image as wide as that"])


def unknown(device, case):
    """Return image, weights, window and buffers of a convolution that the kernels do not know."""
    shape = Window((3, LARGEST), (2, 2)) if case == "an image as wide as that" else WINDOWS["1x1"]
    kind = "int32" if case == "integers" else "float32"
    x, W = device.full((1, 1, *shape.size), 1, kind), device.full((2, 1, *shape.kernel), 2, kind)
    if case == "weights with gaps":
        W = device.full((4, 1, *shape.kernel), 2, kind)[::2]
    if case == "two dtypes":
        x = device.full(x.shape, 1, "float64")
    return x, W, shape, device.fresh_buffers(kind)


@UNKNOWN
def test_what_the_kernels_do_not_know_is_convolved(device, case):
    x, W, shape, buffers = unknown(device, case)
    z, _ = device.conv2d(x, W, None, shape, buffers)
    np.testing.assert_array_equal(device.to_host(z), 2 * shape.kernel[0] * shape.kernel[1])


@UNKNOWN
def test_what_the_kernels_do_not_know_takes_the_generic_way(device, case, launches):
    x, W, shape, buffers = unknown(device, case)
    launches.clear()
    device.conv2d(x, W, None, shape, buffers)
    launched = launches.all()
    assert launched
    assert not any(name.startswith("convolve") for name in launched)


@pytest.mark.parametrize("gap", ["weights", "bias"])
def test_gradients_into_arrays_with_gaps(device, gap):
    shape = WINDOWS["padded"]
    x, W = numbers((3, 2, *shape.size), "float64"), numbers((4, 2, *shape.kernel), "float64", 1)
    b, delta = numbers((1, 4), "float64", 2), numbers((3, 4, *shape.out), "float64", 3)
    x_device, W_device, b_device, delta_device = (both(device, each)[1] for each in (x, W, b, delta))
    _, saved = device.conv2d(x_device, W_device, b_device, shape, device.fresh_buffers("float64"))
    wide = device.full((8, *W.shape[1:]), 7.0, "float64"), device.full((1, 8), 7.0, "float64")
    gradients = device.full(W.shape, 7.0, "float64"), device.full(b.shape, 7.0, "float64")
    gradients = (wide[0][::2], gradients[1]) if gap == "weights" else (gradients[0], wide[1][:, ::2])
    device.conv2d_backward(delta_device, saved, W_device, shape, gradients, device.fresh_buffers("float64"))
    expected = generic(x, W, b, delta, shape)
    for found, exact in zip(gradients, expected[1:3], strict=True):
        np.testing.assert_allclose(device.to_host(found), exact, rtol=1e-12, atol=1e-12)
    kept = wide[0][1::2] if gap == "weights" else wide[1][:, 1::2]
    assert (device.to_host(kept) == 7.0).all()
