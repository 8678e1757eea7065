"""Convolutions of oneDNN over one to three axes, grouped, depthwise and transposed, against loops in float64."""

import itertools

import numpy as np
import pytest

from backends.generic.window import Window
from backends.onednn import convolution
from backends.signatures import Convolution, ConvolutionBack, DeconvolutionBack
from tests.backends.onednn.draws import FEW, MANY, Buffers, channels, empty_laid, laid, numbers, sweep, window_over
from tests.backends.onednn.oracles import bias_gradient, close, convolved, kernel_gradient, spread


def drawn(rng, kind):
    """Return x, W by groups, b and a window."""
    window, n = window_over(rng, int(rng.integers(1, 4))), int(rng.integers(1, 6))
    groups, c, n_out = 1, channels(rng), channels(rng)
    if kind == "grouped":
        groups, c, n_out = int(rng.integers(2, 6)), min(c, 8), min(n_out, 8)
    elif kind == "depthwise":
        groups, c, n_out = channels(rng), 1, int(rng.integers(1, 4))
    W = numbers(rng, (groups, n_out, c, *window.kernel))
    b = numbers(rng, (1, groups * n_out)) if rng.random() < 0.7 else None
    return numbers(rng, (n, groups * c, *window.size)), W, b, window


def check_forward_and_back(rng, kind):
    x, W, b, window = drawn(rng, kind)
    groups, buffers = W.shape[0], Buffers()
    given = laid(rng, W if kind != "plain" else W[0])
    z, saved = convolution.convolved(Convolution(laid(rng, x), given, b, window, buffers))
    size = convolved(abs(x), abs(W), b if b is None else abs(b), window)
    close(z, convolved(x, W, b, window), size)

    delta, need = numbers(rng, z.shape), bool(rng.random() < 0.8)
    W_gradient = empty_laid(rng, given.shape)
    b_gradient = None if b is None else empty_laid(rng, b.shape)
    epsilon = convolution.backward(
        ConvolutionBack(laid(rng, delta), saved, given, window, (W_gradient, b_gradient), buffers, need)
    )
    expected = kernel_gradient(x, delta, groups, window), kernel_gradient(abs(x), abs(delta), groups, window)
    close(W_gradient, *(each.reshape(given.shape) for each in expected))
    if b is not None:
        close(b_gradient, bias_gradient(delta), bias_gradient(abs(delta)))
    if need:
        close(epsilon, spread(delta, W, window), spread(abs(delta), abs(W), window))
    else:
        assert epsilon is None


def check_transposed(rng):
    x, W, _, window = drawn(rng, "plain")
    x = numbers(rng, (x.shape[0], W.shape[1], *window.out))  # of as many cells as the window has places
    b, buffers = numbers(rng, (1, W.shape[2])), Buffers()
    z, saved = convolution.transposed(Convolution(laid(rng, x), laid(rng, W[0]), b, window, buffers))
    shift = b.reshape(1, -1, *(1,) * len(window.size)).astype(np.float64)
    close(z, spread(x, W, window) + shift, spread(abs(x), abs(W), window) + abs(shift))

    delta, gradients = numbers(rng, z.shape), (empty_laid(rng, W[0].shape), empty_laid(rng, b.shape))
    epsilon = convolution.transposed_back(DeconvolutionBack(laid(rng, delta), saved, window, gradients, buffers))
    close(epsilon, convolved(delta, W, None, window), convolved(abs(delta), abs(W), None, window))
    expected, size = kernel_gradient(delta, x, 1, window)[0], kernel_gradient(abs(delta), abs(x), 1, window)[0]
    close(gradients[0], expected, size)
    close(gradients[1], bias_gradient(delta), bias_gradient(abs(delta)))


def check_transposed_groups(rng):
    delta, W, _, window = drawn(rng, "grouped")  # W of the convolution that leads back: [groups, n, c, *kernel]
    x, groups = numbers(rng, (delta.shape[0], W.shape[0] * W.shape[1], *window.out)), W.shape[0]
    b, buffers = numbers(rng, (1, groups * W.shape[2])), Buffers()
    z, saved = convolution.grouped_transposed(Convolution(laid(rng, x), laid(rng, W), b, window, buffers))
    shift = b.reshape(1, -1, *(1,) * len(window.size)).astype(np.float64)
    close(z, spread(x, W, window) + shift, spread(abs(x), abs(W), window) + abs(shift))

    gradients = empty_laid(rng, W.shape), empty_laid(rng, b.shape)
    given = DeconvolutionBack(laid(rng, delta), saved, window, gradients, buffers)
    epsilon = convolution.grouped_transposed_back(given)
    close(epsilon, convolved(delta, W, None, window), convolved(abs(delta), abs(W), None, window))
    size = kernel_gradient(abs(delta), abs(x), groups, window)
    close(gradients[0], kernel_gradient(delta, x, groups, window), size)
    close(gradients[1], bias_gradient(delta), bias_gradient(abs(delta)))


KINDS = ("depthwise", "grouped", "plain")


@pytest.mark.parametrize("kind", KINDS)
def test_forward_and_back(kind):
    sweep(check_forward_and_back, FEW, kind)


def test_transposed():
    sweep(check_transposed, FEW)


def test_transposed_in_groups():
    sweep(check_transposed_groups, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_forward_and_back_500_times(kind):
    sweep(check_forward_and_back, MANY, kind)


@pytest.mark.slow
@pytest.mark.parametrize("check", [check_transposed, check_transposed_groups])
def test_transposed_500_times(check):
    sweep(check, MANY)


def test_series_as_images_are_convolved_over_one_axis(ran):
    """As the layers of series give them, with a last axis of 1."""
    rng, window = np.random.default_rng(1), Window((9, 1), (3, 1), (2, 1), (1, 1), (1, 0), (0, 0))
    x, W, delta = numbers(rng, (3, 5, 9, 1)), numbers(rng, (7, 5, 3, 1)), numbers(rng, (3, 7, *window.out))
    z, saved = convolution.convolved(Convolution(x, W, None, window, Buffers()))
    assert saved.x.ndim == 3
    close(z, convolved(x, W[None], None, window), convolved(abs(x), abs(W[None]), None, window))
    gradient = np.full(W.shape, np.nan, np.float32)
    epsilon = convolution.backward(ConvolutionBack(delta, saved, W, window, (gradient, None), Buffers()))
    close(epsilon, spread(delta, W[None], window), spread(abs(delta), abs(W[None]), window))
    expected = kernel_gradient(x, delta, 1, window)[0]
    close(gradient, expected, kernel_gradient(abs(x), abs(delta), 1, window)[0])
    assert {"convolution_forward", "convolution_backward_data", "convolution_backward_weights"} <= set(ran)


UNSOUND = Window((4, 4, 4), (4, 3, 3), (2, 1, 1), (1, 1, 1), (3, 1, 1), (1, 1, 1))
"""Version 3.2 with AVX-512 gives wrong gradients of its weights; with 5 in the first axis it would not."""


def test_volumes_whose_gradients_would_be_wrong_are_left_to_numpy(accelerated, ran):
    assert not convolution.is_sound(UNSOUND)
    rng, buffers = np.random.default_rng(7), Buffers()
    x, W, delta = numbers(rng, (2, 3, 4, 4, 4)), numbers(rng, (7, 3, 4, 3, 3)), numbers(rng, (2, 7, *UNSOUND.out))
    _, saved = accelerated.conv3d(x, W, None, UNSOUND, buffers)
    gradient = np.empty_like(W)
    accelerated.conv3d_backward(delta, saved, W, UNSOUND, (gradient, None), buffers)
    expected = kernel_gradient(x, delta, 1, UNSOUND)[0]
    close(gradient, expected, kernel_gradient(abs(x), abs(delta), 1, UNSOUND)[0])
    z, saved = accelerated.deconv(delta, W, None, UNSOUND, buffers)
    close(z, spread(delta, W[None], UNSOUND), spread(abs(delta), abs(W[None]), UNSOUND))
    assert not [name for name in ran if "convolution" in name]


@pytest.mark.slow
def test_whatever_is_sound_is_right():
    """All windows of some sizes over the first axis of volumes."""
    rng = np.random.default_rng(8)
    for size, kernel, stride, before, after in itertools.product(
        range(1, 7), range(1, 6), range(1, 4), range(5), range(5)
    ):
        if max(before, after) >= kernel or size + before + after < kernel:
            continue
        window = Window((size, 4, 4), (kernel, 3, 3), (stride, 1, 1), (), (before, 1, 1), (after, 1, 1))
        if convolution.is_sound(window):
            x, W = numbers(rng, (2, 3, *window.size)), numbers(rng, (7, 3, *window.kernel))
            z, saved = convolution.convolved(Convolution(x, W, None, window, Buffers()))
            delta, gradient = numbers(rng, z.shape), np.empty_like(W)
            convolution.backward(ConvolutionBack(delta, saved, W, window, (gradient, None), Buffers(), False))
            expected = kernel_gradient(x, delta, 1, window)[0]
            close(gradient, expected, kernel_gradient(abs(x), abs(delta), 1, window)[0])
