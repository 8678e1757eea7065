"""CupyBackend and its CUDA kernels against the generic primitives on NumPy."""

import numpy as np
import pytest

import backends.cuda
from backends.base import Backend
from backends.cpu.numpy_backend import NumpyBackend
from backends.cuda.cupy_backend import CupyBackend
from backends.errors import DTypeError
from backends.generic.random_bits import random_uniform
from backends.generic.window import Window
from nd.arrays.convolution import make_rounded_up_window, make_window
from tests.stand_ins import TOLERANCE, twin

GENERIC = NumpyBackend()
ORDERS = ("c", "f", "strided", "batch innermost", "flipped", "broadcast")


def window(size, kernel, stride=(1, 1), padding=(0, 0), dilation=(1, 1), mode="truncate"):
    return make_window("test", size, kernel, stride, padding, dilation, mode)


WINDOWS = {
    "lenet convolution": window((12, 12), (5, 5)),
    "2x2 side by side": window((8, 8), (2, 2), (2, 2)),
    "2x2, odd size": window((7, 9), (2, 2), (2, 2)),
    "overlapping": window((7, 8), (3, 3), (2, 2)),
    "dense overlap": window((6, 5), (3, 2)),
    "padded": window((6, 7), (3, 3), (1, 1), (1, 1)),
    "padded on two sides only": Window((5, 5), (3, 3), (2, 2), (1, 1), (0, 1), (2, 0)),
    "same, even kernel": window((5, 7), (2, 4), (1, 1), mode="same"),
    "same, strided": window((7, 7), (3, 3), (2, 2), mode="same"),
    "dilated": window((9, 8), (3, 2), (1, 2), (0, 0), (2, 3)),
    "dilated and padded": window((6, 6), (3, 3), (2, 1), (2, 1), (2, 1)),
    "gaps between windows": window((9, 9), (2, 2), (4, 3)),
    "1x1": window((4, 3), (1, 1)),
    "1x1 strided": window((4, 5), (1, 1), (3, 2)),
    "whole image": window((4, 6), (4, 6)),
    "one column": window((8, 1), (3, 1), (2, 1), (1, 0)),
    "rounded up": make_rounded_up_window("test", (7, 8), (2, 3), (2, 2), (0, 1)),
    "rounded up without padding": make_rounded_up_window("test", (6, 8), (3, 3), (2, 3), (0, 0)),
    "rounded up, larger than the image": make_rounded_up_window("test", (3, 3), (4, 5), (3, 3), (0, 0)),
    "window of padding alone": window((2, 2), (2, 2), (2, 2), (3, 3)),
}


@pytest.fixture(params=list(WINDOWS))
def shape(request):
    return WINDOWS[request.param]


@pytest.fixture(params=[1, 5])
def batch(request):
    return request.param


def laid_out(host, order):
    """Return the same values in another memory order, as a numpy array."""
    if order == "strided":
        wide = np.zeros((*host.shape[:-1], 2 * host.shape[-1]), host.dtype)
        wide[..., ::2] = host
        return wide[..., ::2]
    if order == "batch innermost":
        axes = (*range(1, host.ndim), 0)
        return np.ascontiguousarray(host.transpose(axes)).transpose((host.ndim - 1, *range(host.ndim - 1)))
    if order == "flipped":
        return host[:, :, ::-1].copy()[:, :, ::-1]
    if order == "broadcast":
        return np.broadcast_to(host[:1], host.shape)
    return np.array(host, order=order.upper())


def both(device, host, order="c"):
    """Return the generic backend's array and the device's, with equal values and strides."""
    array = laid_out(host, order)
    return array, twin(device.cupy, array)


def numbers(shape, dtype, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def ties(shape, dtype, seed=0):
    """Few different values, so that windows tie, and a blank corner, as in images."""
    values = np.random.default_rng(seed).integers(-1, 2, shape).astype(dtype)
    values[:, :, : shape[2] // 2, : shape[3] // 2] = 0
    return values


def assert_same(device, got, expected):
    """Equal to the last bit: the kernels add in the same order as the generic loops."""
    assert device.is_array(got)
    assert device.dtype_name(got) == GENERIC.dtype_name(expected)
    np.testing.assert_array_equal(device.to_host(got), expected)


def assert_batch_innermost(array):
    assert array.transpose((*range(1, array.ndim), 0)).flags.c_contiguous


def test_im2col_equals_the_generic_one_from_every_memory_order(device, dtype, shape, batch):
    image = numbers((batch, 3, *shape.size), dtype)
    for order in ORDERS:
        x, x_device = both(device, image, order)
        got = device.im2col(x_device, shape, device.fresh_buffers(dtype))
        assert_same(device, got, GENERIC.im2col(x, shape, GENERIC.fresh_buffers(dtype)))
        assert_batch_innermost(got)


def test_col2im_equals_the_generic_one_from_every_memory_order(device, dtype, shape, batch):
    columns = numbers((batch, 2, *shape.kernel, *shape.out), dtype)
    for order in ORDERS:
        col, col_device = both(device, columns, order)
        got = device.col2im(col_device, shape, device.fresh_buffers(dtype))
        assert_same(device, got, GENERIC.col2im(col, shape, GENERIC.fresh_buffers(dtype)))
        assert_batch_innermost(got)
        assert_same(device, col_device, col)


@pytest.mark.parametrize("values", [numbers, ties, lambda *shape: np.zeros(*shape)], ids=["random", "ties", "blank"])
def test_max_pool_has_the_generic_maxima_and_winners(device, dtype, shape, batch, values):
    image, epsilon = values((batch, 3, *shape.size), dtype), numbers((batch, 3, *shape.out), dtype, 1)
    for order in ORDERS:
        (x, x_device), (eps, eps_device) = both(device, image, order), both(device, epsilon, order)
        expected, saved = GENERIC.max_pool(x, shape, GENERIC.fresh_buffers(dtype))
        got, saved_device = device.max_pool(x_device, shape, device.fresh_buffers(dtype))
        assert_same(device, got, expected)
        back = device.max_pool_backward(eps_device, saved_device, shape, device.fresh_buffers(dtype))
        assert_same(device, back, GENERIC.max_pool_backward(eps, saved, shape, GENERIC.fresh_buffers(dtype)))
        assert_batch_innermost(got)
        assert_batch_innermost(back)


def test_max_pool_hands_a_nan_on(device, dtype):
    shape = WINDOWS["overlapping"]
    image = numbers((2, 1, *shape.size), dtype)
    image[0, 0, 2, 2] = np.nan
    got, _ = device.max_pool(both(device, image)[1], shape, device.fresh_buffers(dtype))
    expected, _ = GENERIC.max_pool(image, shape, GENERIC.fresh_buffers(dtype))
    assert np.isnan(expected).any()
    assert_same(device, got, expected)


@pytest.mark.filterwarnings("ignore:invalid value encountered in divide")  # a window of padding has no mean
@pytest.mark.parametrize("count_padding", [True, False])
def test_avg_pool_equals_the_generic_one(device, dtype, shape, batch, count_padding):
    image, epsilon = numbers((batch, 3, *shape.size), dtype), numbers((batch, 3, *shape.out), dtype, 1)
    for order in ORDERS:
        (x, x_device), (eps, eps_device) = both(device, image, order), both(device, epsilon, order)
        expected, saved = GENERIC.avg_pool(x, shape, count_padding, GENERIC.fresh_buffers(dtype))
        got, saved_device = device.avg_pool(x_device, shape, count_padding, device.fresh_buffers(dtype))
        assert_same(device, got, expected)
        back = device.avg_pool_backward(eps_device, saved_device, shape, device.fresh_buffers(dtype))
        with np.errstate(divide="ignore"):
            expected = GENERIC.avg_pool_backward(eps, saved, shape, GENERIC.fresh_buffers(dtype))
        assert_same(device, back, expected)


@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_pnorm_pool_equals_the_generic_one(device, dtype, shape, batch, p):
    image, epsilon = ties((batch, 3, *shape.size), dtype), numbers((batch, 3, *shape.out), dtype, 1)
    image[:, 2] += numbers(image[:, 2].shape, dtype, 2)
    for order in ORDERS:
        (x, x_device), (eps, eps_device) = both(device, image, order), both(device, epsilon, order)
        expected, saved = GENERIC.pnorm_pool(x, shape, p, GENERIC.fresh_buffers(dtype))
        got, saved_device = device.pnorm_pool(x_device, shape, p, device.fresh_buffers(dtype))
        np.testing.assert_allclose(device.to_host(got), expected, **TOLERANCE[dtype])
        back = device.pnorm_pool_backward(eps_device, saved_device, shape, p, device.fresh_buffers(dtype))
        expected = GENERIC.pnorm_pool_backward(eps, saved, shape, p, GENERIC.fresh_buffers(dtype))
        assert np.isfinite(expected).all()
        np.testing.assert_allclose(device.to_host(back), expected, **TOLERANCE[dtype])


@pytest.fixture
def compiled(cupy, monkeypatch):
    """The options of every module that is compiled."""
    made, compile_module = [], cupy.RawModule

    def module(*, code, options):
        made.append(options)
        return compile_module(code=code, options=options)

    monkeypatch.setattr(cupy, "RawModule", module)
    return made


@pytest.mark.parametrize(("root", "node"), [(123, 456), ((1 << 64) - 1, (1 << 63) + 77), (12345, 0xFFFFFFFFDEADBEEF)])
def test_random_numbers_are_the_generic_ones(device, root, node):
    for n in (0, 1, 1000):
        assert_same(device, device.random_raw(root, node, n), GENERIC.random_raw(root, node, n))
        for dtype in ("float32", "float64", "int32"):
            got = device.random_uniform(root, node, n, dtype)
            assert_same(device, got, random_uniform(GENERIC, root, node, n, dtype))


def test_random_numbers_are_one_launch(device, launches):
    launches.clear()
    device.random_raw(123, 456, 1000)
    device.random_uniform(123, 456, 1000, "float64")
    device.random_uniform(123, 456, 1000, "int32")
    assert launches.taken() == ["random_raw", "random_uniform", "random_uniform"]


def test_every_primitive_launches_its_kernel_once(device, launches):
    shape, buffers = WINDOWS["2x2 side by side"], device.fresh_buffers("float32")
    x = device.full((2, 1, *shape.size), 1.0, "float32")
    launches.clear()
    device.col2im(device.im2col(x, shape, buffers), shape, buffers)
    out, saved = device.max_pool(x, shape, buffers)
    device.max_pool_backward(out, saved, shape, buffers)
    out, saved = device.avg_pool(x, shape, True, buffers)
    device.avg_pool_backward(out, saved, shape, buffers)
    out, saved = device.pnorm_pool(x, shape, 2, buffers)
    device.pnorm_pool_backward(out, saved, shape, 2, buffers)
    assert launches.taken() == [
        "im2col", "col2im", "max_pool", "max_pool_backward", "avg_pool", "avg_pool_backward", "pnorm_pool",
        "pnorm_pool_backward",
    ]  # fmt: skip


def test_a_type_is_compiled_once_and_when_it_is_needed(compiled):
    device, shape = CupyBackend(), WINDOWS["1x1"]
    assert [options[0] for options in compiled] == ["-DREAL=float"]  # by the probe
    for dtype in ("float64", "float32", "float64"):
        for _ in range(2):
            device.im2col(device.full((1, 1, *shape.size), 1.0, dtype), shape, device.fresh_buffers(dtype))
    assert [options[0] for options in compiled] == ["-DREAL=float", "-DREAL=double"]


def test_indices_of_64_bits_give_the_same(compiled, monkeypatch, shape):
    original = backends.cuda.options
    monkeypatch.setattr(backends.cuda, "options", lambda real: (*original(real), "-DWIDE_FROM=0"))
    device = CupyBackend()
    assert "-DWIDE_FROM=0" in compiled[-1]
    x, x_device = both(device, numbers((5, 3, *shape.size), "float32"))
    got = device.im2col(x_device, shape, device.fresh_buffers("float32"))
    expected = GENERIC.im2col(x, shape, GENERIC.fresh_buffers("float32"))
    assert_same(device, got, expected)
    back = device.col2im(got, shape, device.fresh_buffers("float32"))
    assert_same(device, back, GENERIC.col2im(expected, shape, GENERIC.fresh_buffers("float32")))


def test_integers_take_the_generic_way(device, shape):
    x, x_device = both(device, ties((2, 3, *shape.size), "int32"))
    col = GENERIC.im2col(x, shape, GENERIC.fresh_buffers("int32"))
    col_device = device.im2col(x_device, shape, device.fresh_buffers("int32"))
    assert_same(device, col_device, col)
    back = device.col2im(col_device, shape, device.fresh_buffers("int32"))
    assert_same(device, back, GENERIC.col2im(col, shape, GENERIC.fresh_buffers("int32")))


def test_an_input_of_another_type_than_the_buffers_is_converted(device):
    shape = WINDOWS["padded"]
    image = ties((2, 3, *shape.size), "float64")
    _, x = both(device, image)
    buffers, expecting = device.fresh_buffers("float32"), GENERIC.fresh_buffers("float32")
    image = image.astype("float32")
    assert_same(device, device.im2col(x, shape, buffers), GENERIC.im2col(image, shape, expecting))
    assert_same(device, device.max_pool(x, shape, buffers)[0], GENERIC.max_pool(image, shape, expecting)[0])
    got, saved = device.pnorm_pool(x, shape, 2, buffers)
    _, epsilon = both(device, numbers(got.shape, "float64"))
    assert device.dtype_name(device.pnorm_pool_backward(epsilon, saved, shape, 2, buffers)) == "float32"


def test_pooling_of_integers_is_refused(device):
    shape = WINDOWS["overlapping"]
    x = device.full((1, 1, *shape.size), 1, "int32")
    with pytest.raises(DTypeError, match="kernel avg_pool: expected float32 or float64, got int32"):
        device.avg_pool(x, shape, True, device.fresh_buffers("int32"))


def test_an_empty_batch_gives_an_empty_result(device, dtype):
    shape = WINDOWS["padded"]
    x = device.empty((0, 3, *shape.size), dtype)
    out, saved = device.max_pool(x, shape, device.fresh_buffers(dtype))
    assert out.shape == (0, 3, *shape.out)
    back = device.max_pool_backward(out, saved, shape, device.fresh_buffers(dtype))
    assert back.shape == (0, 3, *shape.size)


def test_arguments_that_do_not_fit_are_refused_before_the_launch(device, launches):
    """Which CUDA does not notice; tests/cuda_on_host/arguments.py does."""
    out = device.empty((4,), "uint64")
    launches.clear()
    with pytest.raises(TypeError, match="random_raw: argument 3"):
        device.kernels.launch("random_raw", "f", 4, (out, 1, 2, 4.0))
    with pytest.raises(TypeError, match="random_raw: expected 4 arguments, got 3"):
        device.kernels.launch("random_raw", "f", 4, (out, 1, 2))
    with pytest.raises(TypeError, match="random_raw: argument 0"):
        device.kernels.launch("random_raw", "f", 4, (device.empty((4,), "float32"), 1, 2, 4))
    assert launches.taken() == []


BIASED = window((8, 9), (3, 2)), window((6, 8), (3, 2), (2, 2))
"""Convolution and max pooling behind it."""


def biased(dtype, batch):
    """Return an image, weights and bias."""
    return numbers((batch, 2, 8, 9), dtype), numbers((4, 2, 3, 2), dtype, 1), numbers((1, 4), dtype, 2)


def two_buffers(backend, dtype):
    return backend.fresh_buffers(dtype), backend.fresh_buffers(dtype)


@pytest.mark.parametrize("keep", [True, False])
def test_bias_is_added_behind_the_maximum(device, dtype, batch, keep):
    x, W, b = biased(dtype, batch)
    expected, _ = Backend.conv2d_max_pool(GENERIC, x, W, b, None, BIASED, two_buffers(GENERIC, dtype))
    given = [twin(device.cupy, each) for each in (x, W, b)]
    got, saved = device.conv2d_max_pool(*given, None, BIASED, two_buffers(device, dtype), keep)
    np.testing.assert_allclose(device.to_host(got), expected, rtol=1e-5, atol=1e-5)
    inner = device.empty_activation((batch, 4, *BIASED[0].out), dtype)
    looked_at, _ = device.conv2d_max_pool(*given, None, BIASED, two_buffers(device, dtype), keep, inner)
    for each in (looked_at, device.max_pool(inner, BIASED[1], device.fresh_buffers(dtype))[0]):
        np.testing.assert_array_equal(device.to_host(each), device.to_host(got))
    gradients = tuple(device.full(shape, 0.0, dtype) for shape in (W.shape, (1, 4)))
    epsilon = numbers(got.shape, dtype, 3)
    given_back = twin(device.cupy, epsilon), saved, given[1], BIASED, gradients, two_buffers(device, dtype)
    below = device.conv2d_max_pool_backward(*given_back)
    np.testing.assert_allclose(device.to_host(gradients[1])[0], epsilon.sum((0, 2, 3)), rtol=1e-4, atol=1e-5)
    assert below.shape == x.shape


@pytest.mark.parametrize("keep", [True, False])
def test_bias_behind_the_maximum_costs_no_launch(device, dtype, batch, keep, launches):
    given = [twin(device.cupy, each) for each in biased(dtype, batch)]
    launches.clear()
    device.conv2d_max_pool(*given, None, BIASED, two_buffers(device, dtype), keep)
    assert launches.taken() == ["convolve_few", "max_pool_biased"]
