"""What the NumPy backend leaves to oneDNN, and what not: other dtypes, empty arrays, ND_ONEDNN=0."""

import numpy as np
import pytest

from backends.cpu.accelerated import lies_for_onednn
from backends.generic.window import Window
from tests.backends.onednn.draws import FEW, MANY, Buffers, channels, laid, numbers, sweep, window_over
from tests.backends.onednn.oracles import close, convolved, maxima

WINDOW, TILES = Window((6, 8), (3, 3), (1, 1), (1, 1), (1, 1), (1, 1)), Window((6, 8), (2, 2), (2, 2))
RNG = np.random.default_rng(11)
IMAGES, VOLUMES, FILTERS = (numbers(RNG, shape) for shape in ((4, 16, 6, 8), (2, 16, 3, 6, 8), (16, 16, 3, 3)))
DEEP = Window((3, 6, 8), (1, 3, 3))
SERIES = numbers(RNG, (5, 4, 16))
GATES = numbers(RNG, (4, 16, 16)), numbers(RNG, (4, 16, 16)), numbers(RNG, (4, 1, 16)), None


def moments_of(backend, x, buffers):
    x = backend.for_channels(backend.to_image_order(x, buffers), buffers)
    out = np.zeros((2, x.shape[1]), x.dtype)
    backend.channel_moments(x, out, buffers)


def lstm_of(backend, x, buffers):
    weights = [None if each is None else each.astype(x.dtype) for each in GATES]
    state = [np.zeros((x.shape[1], 16), x.dtype)] * 2
    backend.lstm(x, weights, state, True, False, buffers)


def with_weights(name, weights, window):
    return lambda backend, x, buffers: getattr(backend, name)(x, weights.astype(x.dtype), None, window, buffers)


CALLS = {
    "avg_pool": (IMAGES, lambda backend, x, buffers: backend.avg_pool(x, TILES, True, buffers), "pooling_forward"),
    "channel_moments": (IMAGES, moments_of, "batch_normalization_forward"),
    "conv2d": (IMAGES, with_weights("conv2d", FILTERS, WINDOW), "convolution_forward"),
    "conv3d": (VOLUMES, with_weights("conv3d", FILTERS[:, :, None], DEEP), "convolution_forward"),
    "deconv": (IMAGES, with_weights("deconv", FILTERS, WINDOW), "deconvolution_forward"),
    "depthwise": (IMAGES, with_weights("depthwise", FILTERS[:3, :3].transpose(2, 3, 0, 1)[:, :, :1], WINDOW), None),
    "grouped": (IMAGES, with_weights("grouped", numbers(RNG, (2, 3, 8, 3, 3)), WINDOW), "convolution_forward"),
    "grouped_deconv": (
        IMAGES,
        with_weights("grouped_deconv", numbers(RNG, (2, 8, 3, 3, 3)), WINDOW),
        "deconvolution_forward",
    ),
    "largest": (IMAGES, lambda backend, x, buffers: backend.largest(x, TILES, buffers), "pooling_forward"),
    "lstm": (SERIES, lstm_of, "lstm_forward"),
    "max_pool": (IMAGES, lambda backend, x, buffers: backend.max_pool(x, TILES, buffers), "pooling_forward"),
}
CALLS["depthwise"] = (
    IMAGES, with_weights("depthwise", numbers(RNG, (3, 3, 16, 1)), WINDOW), "convolution_forward"
)  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_float32_is_computed_by_oneDNN(name, accelerated, ran):
    x, call, kernel = CALLS[name]
    call(accelerated, x, Buffers())
    assert kernel in ran


@pytest.mark.parametrize("name", CALLS)
def test_without_it_and_in_float64_nothing_is(name, accelerated, unaided, ran):
    x, call, _ = CALLS[name]
    call(unaided, x, unaided.fresh_buffers("float32"))
    call(accelerated, x.astype(np.float64), accelerated.fresh_buffers("float64"))
    assert ran == []


@pytest.mark.parametrize("name", ["conv2d", "conv3d", "deconv", "grouped", "max_pool"])
def test_empty_arrays_are_none_of_its(name, accelerated, ran):
    x, call, _ = CALLS[name]
    call(accelerated, x[:0], accelerated.fresh_buffers("float32"))
    assert ran == []


@pytest.mark.parametrize("dtype", ["bool", "float64", "int32", "int64", "uint8"])
def test_which_dtypes_it_computes_with(dtype, accelerated):
    assert not accelerated.accelerates(np.ones((2, 3), dtype))
    assert accelerated.accelerates(np.ones((2, 3), np.float32))


def check_both_ways(rng, backends, kind):
    """Forward and back of a primitive, through its own memory orders, against NumPy in float64."""
    axes = 3 if kind == "conv3d" else 2
    window, n, c, n_out = window_over(rng, axes), int(rng.integers(1, 5)), channels(rng), channels(rng)
    shapes = {"deconv": (c, n_out, *window.kernel), "depthwise": (*window.kernel, c, int(rng.integers(1, 4)))}
    if kind.startswith("grouped"):
        groups, c, n_out = int(rng.integers(2, 5)), min(c, 6), min(n_out, 6)
        shapes = {"grouped": (groups, n_out, c, *window.kernel), "grouped_deconv": (groups, c, n_out, *window.kernel)}
        c, n_out = groups * c, groups * n_out
    W = numbers(rng, shapes.get(kind, (n_out, c, *window.kernel)))
    outputs = W.shape[-2] * W.shape[-1] if kind == "depthwise" else n_out
    x, b = numbers(rng, (n, c, *(window.out if "deconv" in kind else window.size))), numbers(rng, (1, outputs))
    delta = numbers(rng, (n, outputs, *(window.size if "deconv" in kind else window.out)))
    given, exact = (
        [laid(rng, each) for each in (x, W, b, delta)],
        [each.astype(np.float64) for each in (x, W, b, delta)],
    )
    found = both_ways(backends[0], kind, given, window, Buffers())
    memory = backends[1].fresh_buffers("float64")
    expected = both_ways(backends[1], kind, exact, window, memory)
    sizes = both_ways(backends[1], kind, [abs(each) for each in exact], window, memory)
    for got, each, size in zip(found, expected, sizes, strict=True):
        close(got, each, size)


def both_ways(backend, kind, given, window, buffers):
    """Return the output and the gradients of weights, biases and input."""
    x, W, b, delta = given
    gradients = np.full(W.shape, np.nan, W.dtype), np.full(b.shape, np.nan, b.dtype)
    z, saved = getattr(backend, kind)(x, W, b, window, buffers)
    z, weights = np.array(z), () if "deconv" in kind else (W,)
    below = getattr(backend, f"{kind}_backward")(delta, saved, *weights, window, gradients, buffers, True)
    return z, *gradients, np.array(below)


KINDS = ("conv2d", "conv3d", "deconv", "depthwise", "grouped", "grouped_deconv")


@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_agree(kind, accelerated, unaided):
    sweep(check_both_ways, FEW // 2, (accelerated, unaided), kind)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_both_ways_agree_500_times(kind, accelerated, unaided):
    sweep(check_both_ways, MANY, (accelerated, unaided), kind)


@pytest.mark.parametrize("keep", [True, False])
def test_convolution_and_maxima_in_one(keep, accelerated, ran):
    out, _ = accelerated.conv2d_max_pool(
        IMAGES, FILTERS, None, lambda z: np.maximum(z, 0.0, out=z), (WINDOW, TILES), (Buffers(), Buffers()), keep
    )
    exact, size = (
        convolved(IMAGES, FILTERS[None], None, WINDOW),
        convolved(abs(IMAGES), abs(FILTERS[None]), None, WINDOW),
    )
    close(out, np.maximum(maxima(exact, TILES)[0], 0.0), np.max(size))
    assert ran[-1] == "pooling_forward"
    assert "convolution_forward" in ran


def test_images_lie_channels_innermost_and_stay_so(accelerated, unaided):
    x = accelerated.to_image_order(IMAGES, Buffers())
    np.testing.assert_array_equal(x, IMAGES)
    assert lies_for_onednn(accelerated, x)
    assert lies_for_onednn(accelerated, accelerated.like(x, Buffers(), "name", (4, 16, 3, 4)))
    assert unaided.to_image_order(IMAGES, Buffers()) is IMAGES
