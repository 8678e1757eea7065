"""The kernels of implicit.cu, on the CPU, against the generic convolution and pooling in float64."""

import numpy as np
import pytest

from backends.cuda.convolutions import FEW, LARGEST
from backends.cuda.splits import LEAST_INNER
from backends.cupy_backend import CupyBackend
from backends.window import Window
from tests.backends.test_cuda_on_cpu import GENERIC, WINDOWS, both, numbers, ties, window

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
    """The same by the kernels, from memory that is NaN where nothing was written."""
    dtype = device.dtype_name(W)
    z, saved = device.conv2d(x, W, b, shape, device.fresh_buffers(dtype))
    gradients = device.empty(W.shape, dtype), device.empty(b.shape, dtype)
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


@pytest.mark.parametrize("batch", [1, 5, 19])
def test_every_window(device, dtype, shape, batch, fake_cupy):
    x, W, b = numbers((batch, 3, *shape.size), dtype), numbers((4, 3, *shape.kernel), dtype, 1), numbers((1, 4), dtype)
    delta = numbers((batch, 4, *shape.out), dtype, 3)
    arrays = [both(device, each)[1] for each in (x, W, b, delta)]
    fake_cupy.launches.clear()
    found = on_device(device, *arrays, shape)
    assert [name.removesuffix("_small") for name in fake_cupy.launches] == [
        "convolve_few", "convolve_weights", "convolve_image_few",
    ]  # fmt: skip
    assert_close(device, found, x, W, b, delta, shape)


@pytest.mark.parametrize(("channels", "outputs"), [(1, 33), (40, 70), (FEW + 1, 2), (3, 64)])
def test_tiles_of_every_shape(device, dtype, channels, outputs, fake_cupy):
    shape = WINDOWS["padded"]
    x, W = numbers((3, channels, *shape.size), dtype), numbers((outputs, channels, *shape.kernel), dtype, 1)
    b, delta = numbers((1, outputs), dtype, 2), numbers((3, outputs, *shape.out), dtype, 3)
    fake_cupy.launches.clear()
    found = on_device(device, *(both(device, each)[1] for each in (x, W, b, delta)), shape)
    assert fake_cupy.launches[0] == ("convolve_few" if outputs <= FEW else "convolve")
    assert fake_cupy.launches[2] == ("convolve_image_few" if channels <= FEW else "convolve_image")
    assert_close(device, found, x, W, b, delta, shape)


@pytest.mark.parametrize("processors", [1, 16, 400])
def test_processors_share_the_inner_axis(fake_cupy, monkeypatch, dtype, processors):
    monkeypatch.setattr(fake_cupy.cuda.Device, "attributes", {"MultiProcessorCount": processors})
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


@pytest.mark.parametrize("activate", [False, True])
@pytest.mark.parametrize("pooling", list(POOLINGS))
def test_gradients_before_max_pooling(device, dtype, pooling, activate, fake_cupy):
    pool = POOLINGS[pooling]
    shape = Window((pool.size[0] + 2, pool.size[1] + 1), (3, 2))
    x, W = ties((5, 2, *shape.size), dtype), numbers((4, 2, 3, 2), dtype, 1)
    b, epsilon = numbers((1, 4), dtype, 2), numbers((5, 4, *pool.out), dtype, 3)

    def both_ways(backend, x, W, b, epsilon, kind):
        buffers = (backend.fresh_buffers(kind), backend.fresh_buffers(kind))
        relu = (lambda z: backend.maximum(z, 0.0, z)) if activate else None
        pooled, saved = backend.conv2d_max_pool(x, W, b, relu, (shape, pool), buffers)
        gradients = backend.full(W.shape, 0.0, kind), backend.full(b.shape, 0.0, kind)
        image = backend.conv2d_max_pool_backward(epsilon, saved, W, (shape, pool), gradients, buffers)
        return pooled, *gradients, image

    arrays = [both(device, each, "batch innermost" if each.ndim == 4 else "c")[1] for each in (x, b, epsilon)]
    fake_cupy.launches.clear()
    found = both_ways(device, arrays[0], both(device, W)[1], *arrays[1:], dtype)
    assert fake_cupy.launches[-2:] == ["convolve_weights_small", "convolve_image_few"]
    expected = both_ways(GENERIC, *(each.astype(float) for each in (x, W, b, epsilon)), "float64")
    for got, exact in zip(found, expected, strict=True):
        np.testing.assert_allclose(device.to_host(got), exact, rtol=1e3 * EPS[dtype], atol=1e2 * EPS[dtype])


def test_overlapping_pooling_takes_its_own_way_back(device, fake_cupy):
    pool, shape = window((8, 8), (3, 3), (2, 2)), Window((9, 9), (2, 2))
    x, W, b = (device.full(size, 1.0, "float32") for size in ((2, 1, 9, 9), (3, 1, 2, 2), (1, 3)))
    buffers = (device.fresh_buffers("float32"), device.fresh_buffers("float32"))
    pooled, saved = device.conv2d_max_pool(x, W, b, None, (shape, pool), buffers)
    fake_cupy.launches.clear()
    device.conv2d_max_pool_backward(pooled, saved, W, (shape, pool), (W, b), buffers, need_epsilon=False)
    assert fake_cupy.launches == ["max_pool_backward", "convolve_weights_small"]


def test_without_bias_and_without_epsilon(device, fake_cupy):
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


@pytest.mark.parametrize("case", ["integers", "weights with gaps", "two dtypes", "an image as wide as that"])
def test_what_the_kernels_do_not_know_takes_the_generic_way(device, fake_cupy, case):
    shape = Window((3, LARGEST), (2, 2)) if case == "an image as wide as that" else WINDOWS["1x1"]
    kind = "int32" if case == "integers" else "float32"
    x, W = device.full((1, 1, *shape.size), 1, kind), device.full((2, 1, *shape.kernel), 2, kind)
    if case == "weights with gaps":
        W = device.full((4, 1, *shape.kernel), 2, kind)[::2]
    if case == "two dtypes":
        x = device.full(x.shape, 1, "float64")
    fake_cupy.launches.clear()
    z, _ = device.conv2d(x, W, None, shape, device.fresh_buffers(kind))
    assert not any(name.startswith("convolve") for name in fake_cupy.launches)
    np.testing.assert_array_equal(device.to_host(z), 2 * shape.kernel[0] * shape.kernel[1])


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
