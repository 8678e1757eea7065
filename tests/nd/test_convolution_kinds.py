"""Windows over one to three axes against the specification's formulas, and what kinds of convolution must satisfy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nd
from nd.arrays import convolution_kinds as kinds
from nd.arrays.convolution import make_deconv_window, make_window
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(8)
quickly = settings(max_examples=150, deadline=None, derandomize=True)


@st.composite
def geometries(draw, least_axes=1):
    """Sizes, kernels, strides, paddings and dilations, as tuples."""
    count = draw(st.integers(least_axes, 3))

    def per_axis(least, most):
        return tuple(draw(st.lists(st.integers(least, most), min_size=count, max_size=count)))

    return per_axis(1, 9), per_axis(1, 4), per_axis(1, 4), per_axis(0, 3), per_axis(1, 3)


def effective(kernel, dilation):
    return kernel + (kernel - 1) * (dilation - 1)


def spans(geometry):
    """Room for the kernel to move, in + 2 p - k, along every axis."""
    sizes, kernels, _, paddings, dilations = geometry
    return [n + 2 * p - effective(k, d) for n, k, p, d in zip(sizes, kernels, paddings, dilations, strict=True)]


@quickly
@given(geometries())
def test_truncate_and_strict_follow_the_formula_or_say_what_does_not_fit(geometry):
    stride = geometry[2]
    if min(spans(geometry)) < 0:
        with pytest.raises(nd.ShapeError, match="who: the kernel must fit into the padded input"):
            make_window("who", *geometry, "truncate")
        return
    expected = tuple(math.floor(room / step) + 1 for room, step in zip(spans(geometry), stride, strict=True))
    assert make_window("who", *geometry, "truncate").out == expected
    if any(room % step for room, step in zip(spans(geometry), stride, strict=True)):
        with pytest.raises(nd.ShapeError, match="who: convolution_mode 'strict' needs windows that fit exactly"):
            make_window("who", *geometry, "strict")
    else:
        assert make_window("who", *geometry, "strict").out == expected


@quickly
@given(geometries())
def test_same_and_causal_have_an_output_for_every_stride(geometry):
    sizes, kernels, strides, _, dilations = geometry
    same, causal = (make_window("who", *geometry, mode) for mode in ("same", "causal"))
    assert same.out == causal.out == tuple(math.ceil(n / s) for n, s in zip(sizes, strides, strict=True))
    assert causal.pad_before == tuple((k - 1) * d for k, d in zip(kernels, dilations, strict=True))
    assert set(causal.pad_after) == {0}
    assert all(0 <= after - before <= 1 for before, after in zip(same.pad_before, same.pad_after, strict=True))


@quickly
@given(geometries(least_axes=2))
def test_transposed_sizes_follow_the_formula_and_lead_back(geometry):
    sizes, kernels, strides, paddings, dilations = geometry
    same = make_deconv_window("who", *geometry, "same")
    assert same.size == tuple(s * n for n, s in zip(sizes, strides, strict=True))
    assert same.out == sizes
    expected = tuple(
        s * (n - 1) + effective(k, d) - 2 * p
        for n, k, s, p, d in zip(sizes, kernels, strides, paddings, dilations, strict=True)
    )
    if min(expected) < 1:
        with pytest.raises(nd.ShapeError, match=r"who: the output must be at least 1, got (depth|height|width) \d"):
            make_deconv_window("who", *geometry, "truncate")
        return
    window = make_deconv_window("who", *geometry, "truncate")
    assert (window.size, window.out) == (expected, sizes)


def scratch():
    return nd.backend().fresh_buffers("float64")


def dot(x, y):
    return float((nd.to_host(x) * nd.to_host(y)).sum())


VOLUME_WINDOWS = {
    "plain": make_window("who", (4, 3, 5), (2, 3, 2)),
    "strided, padded": make_window("who", (4, 3, 5), (3, 2, 2), (2, 1, 3), (1, 0, 2)),
    "same, dilated": make_window("who", (4, 3, 5), (2, 2, 3), (1, 2, 2), (0, 0, 0), (2, 1, 2), "same"),
}
every_window = pytest.mark.parametrize("window", VOLUME_WINDOWS.values(), ids=VOLUME_WINDOWS)


@every_window
def test_im2col_of_volumes_gathers_what_col2im_spreads(backend, order, window):
    if backend.name == "strict" and order != "c":
        order = "c"  # it has no strides
    x, col = RNG.normal(size=(2, 3, *window.size)), RNG.normal(size=(2, 3, *window.kernel, *window.out))
    gathered = backend.im2col(as_input(backend, x, order), window, scratch())
    spread = backend.col2im(as_input(backend, col, order), window, scratch())
    assert dot(gathered, col) == pytest.approx(dot(spread, x), rel=1e-12)
    padded = np.pad(x, [(0, 0), (0, 0), *zip(window.pad_before, window.pad_after, strict=True)])
    for cell in np.ndindex(*window.kernel):
        for out in np.ndindex(*window.out):
            at = (o * s + c * d for o, s, c, d in zip(out, window.stride, cell, window.dilation, strict=True))
            expected = padded[(slice(None), slice(None), *at)]
            np.testing.assert_array_equal(nd.to_host(gathered)[(slice(None), slice(None), *cell, *out)], expected)


@every_window
def test_deconv_is_the_transpose_of_conv3d(backend, window):
    W = RNG.normal(size=(4, 3, *window.kernel))
    x, y = RNG.normal(size=(2, 3, *window.size)), RNG.normal(size=(2, 4, *window.out))
    forth, _ = kinds.conv3d(as_input(backend, x), as_input(backend, W), None, window, scratch())
    back, _ = kinds.deconv(as_input(backend, y), as_input(backend, W), None, window, scratch())
    assert dot(forth, y) == pytest.approx(dot(back, x), rel=1e-12)


def test_equal_weights_everywhere_are_a_convolution(backend):
    window = make_window("who", (5, 6), (3, 2), (2, 1), (1, 0))
    x, W = RNG.normal(size=(2, 3, 5, 6)), RNG.normal(size=(4, 3, 3, 2))
    everywhere = np.repeat(W.reshape(4, -1).T[None], window.positions, 0)
    found, _ = kinds.locally_connected(as_input(backend, x), as_input(backend, everywhere), None, window, scratch())
    expected, _ = nd.arrays.convolution.conv2d(as_input(backend, x), as_input(backend, W), None, window, scratch())
    by_column = nd.to_host(expected).transpose(0, 1, 3, 2).reshape(found.shape)  # as Java numbers the windows
    np.testing.assert_allclose(nd.to_host(found), by_column, **TOLERANCE["float64"])


@pytest.mark.parametrize("elements", [1, 150, 1 << 20])
def test_depthwise_in_stretches_of_channels_is_the_same(backend, elements, monkeypatch):
    """Five channels: one by one, by twos with one left over, and all at once."""
    monkeypatch.setattr(type(backend), "cached_elements", elements)
    window = make_window("who", (4, 5), (2, 3), (1, 2), (1, 0))
    x, W, delta = RNG.normal(size=(2, 5, 4, 5)), RNG.normal(size=(2, 3, 5, 3)), RNG.normal(size=(2, 15, *window.out))
    W_here = as_input(backend, W)
    z, saved = kinds.depthwise(as_input(backend, x), W_here, None, window, scratch())
    gradient = nd.zeros(*W.shape, dtype="float64")
    below = kinds.depthwise_backward(
        nd.create(delta, dtype="float64"), saved, W_here, window, (gradient, None), scratch()
    )
    for c, m in np.ndindex(5, 3):
        alone = as_input(backend, W[:, :, c, m][None, None])
        expected, _ = nd.arrays.convolution.conv2d(as_input(backend, x[:, c : c + 1]), alone, None, window, scratch())
        np.testing.assert_allclose(nd.to_host(z)[:, 3 * c + m], nd.to_host(expected)[:, 0], **TOLERANCE["float64"])
    forth = float((nd.to_host(z) * delta).sum())  # linear in x and in W
    assert dot(below, x) == pytest.approx(forth, rel=1e-11)
    per_kernel = (nd.to_host(gradient) * W).sum((0, 1)).ravel()
    np.testing.assert_allclose(per_kernel, (nd.to_host(z) * delta).sum((0, 2, 3)), rtol=1e-11)
