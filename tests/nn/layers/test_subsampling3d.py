"""Pooling over volumes: equal maxima, masks, sizes, what is refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nd
from nn import InputType, MultiLayerNetwork, NeuralNetConfiguration, Subsampling3DLayer
from tests.cases.layers.poolings import POOLS, pooled
from tests.cells import every_row
from tests.layers_at_work import backprop, forward
from tests.stand_ins import TOLERANCE, as_input


def at_work(layer):
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1, dtype="float64").list(layer)).init().get_layer(0)


@pytest.mark.parametrize("kernel", [(2, 2, 2), (2, 3, 1), (3, 1, 2)])
def test_the_first_of_equal_cells_in_row_major_order_gets_the_gradient(kernel, backend, order):
    x, epsilon = np.full((2, 3, 6, 6, 4), 4.0), np.random.default_rng(1)
    layer = at_work(Subsampling3DLayer("max", kernel_size=kernel, stride=kernel))
    found, cache = forward(layer, as_input(backend, x, order), True)
    epsilon = epsilon.normal(size=found.shape)
    expected = np.zeros(x.shape)
    expected[:, :, :: kernel[0], :: kernel[1], :: kernel[2]] = epsilon
    np.testing.assert_array_equal(nd.to_host(backprop(layer, nd.create(epsilon), cache)), expected)


@every_row("winners", [*itertools.combinations(itertools.product((0, 1), repeat=3), 2)])
def test_ties_of_two_cells(winners, backend):
    x = np.zeros((1, 1, 2, 2, 2))
    for place in winners:
        x[(0, 0, *place)] = 3.0
    layer = at_work(Subsampling3DLayer("max", kernel_size=2))
    cache = forward(layer, as_input(backend, x), True)[1]
    below = nd.to_host(backprop(layer, nd.create(np.full((1, 1, 1, 1, 1), 5.0)), cache))
    expected = np.zeros((2, 2, 2))
    expected[min(winners)] = 5.0
    np.testing.assert_array_equal(below[0, 0], expected)


sizes = st.tuples(*[st.integers(1, 5)] * 3)
kernels, strides, dilations = (st.tuples(*[st.integers(1, most)] * 3) for most in (3, 3, 2))
paddings = st.tuples(*[st.integers(0, 1)] * 3)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(sizes, kernels, strides, paddings, dilations, st.sampled_from(["truncate", "same"]), st.sampled_from("ma"))
def test_sizes_numbers_and_sums_are_the_formulas(size, kernel, stride, padding, dilation, mode, kind):
    """A gradient of ones at the output adds up to as many ones at the input: windows hand on all of it."""
    kind = {"m": "max", "a": "avg"}[kind]
    effective = [d * (k - 1) + 1 for k, d in zip(kernel, dilation, strict=True)]
    if mode == "same":
        padding, dilation = (0, 0, 0), (1, 1, 1)
    fits = [s + 2 * p - e >= 0 for s, p, e in zip(size, padding, effective, strict=True)]
    if any(p >= e for p, e in zip(padding, effective, strict=True)) or (mode != "same" and not all(fits)):
        return
    layer = Subsampling3DLayer(
        kind, kernel_size=kernel, stride=stride, padding=padding, dilation=dilation, convolution_mode=mode
    )
    x = np.random.default_rng(sum(size)).normal(size=(2, 2, *size))
    expected = pooled(x, POOLS[kind], kernel, stride, padding, dilation, mode)
    made = layer.output_type("layer 0", InputType.convolutional3d(*size, 2))
    assert made == InputType.convolutional3d(*expected.shape[2:], 2)
    with nd.use_backend("numpy"):
        working = at_work(layer)
        found, cache = forward(working, nd.create(x), True)
        np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE["float64"])
        below = nd.to_host(backprop(working, nd.ones(*found.shape, dtype="float64"), cache))
    assert below.sum() == pytest.approx(expected.size, rel=1e-12)


@pytest.mark.parametrize("of_mask", [(4, 5, 3), (4, 1, 1), (1, 5, 3), (1, 1, 1)])
def test_a_mask_is_the_largest_under_every_window(of_mask, backend):
    """Axes of length 1 stay."""
    mask = np.random.default_rng(7).integers(0, 2, (3, 1, *of_mask)).astype(np.float64)
    window = {"kernel_size": (2, 3, 2), "stride": (2, 1, 1), "padding": (1, 0, 1)}
    layer = at_work(Subsampling3DLayer(**window, convolution_mode="truncate"))
    expected = mask
    for axis, (kernel, stride, padding) in enumerate([(2, 2, 1), (3, 1, 0), (2, 1, 1)]):
        if of_mask[axis] > 1:
            moved = np.moveaxis(expected, 2 + axis, 2)
            moved = pooled_along_first(moved, kernel, stride, padding)
            expected = np.moveaxis(moved, 2, 2 + axis)
    found = layer.feed_forward_mask(as_input(backend, mask))
    np.testing.assert_array_equal(nd.to_host(found), expected)


def pooled_along_first(mask, kernel, stride, padding):
    steps = (mask.shape[2] - kernel + 2 * padding) // stride + 1
    rows = []
    for step in range(steps):
        cells = [
            at for at in range(step * stride - padding, step * stride - padding + kernel) if 0 <= at < mask.shape[2]
        ]
        rows.append(mask[:, :, cells].max(axis=2))
    return np.stack(rows, axis=2)


def test_in_mode_same_with_stride_1_a_mask_stays(backend):
    mask = as_input(backend, np.eye(4).reshape(1, 1, 4, 2, 2))
    layer = at_work(Subsampling3DLayer(kernel_size=3, stride=1, convolution_mode="same"))
    assert layer.feed_forward_mask(mask) is mask


def test_what_cannot_be_is_refused(backend):
    with pytest.raises(nd.ConfigurationError, match="Subsampling3DLayer: pooling_type must be one of avg, max, got 'p"):
        Subsampling3DLayer("pnorm")
    with pytest.raises(nd.ShapeError, match="kernel_size must be one or three integers >= 1, got"):
        Subsampling3DLayer(kernel_size=(2, 2))
    with pytest.raises(nd.ConfigurationError, match=r"padding must be less than the kernel, got \(0, 0, 1\)"):
        Subsampling3DLayer(padding=(0, 0, 1))
    layer = Subsampling3DLayer(kernel_size=(5, 1, 1), convolution_mode="truncate")
    with pytest.raises(nd.ShapeError, match=r"layer 0: the kernel must fit .* got kernel 5 .* over depth 4 "):
        layer.output_type("layer 0", InputType.convolutional3d(4, 4, 4, 2))
    with pytest.raises(nd.ConfigurationError, match="expected volumes, got convolutional"):
        layer.output_type("layer 0", InputType.convolutional(4, 4, 2))
    with pytest.raises(nd.ShapeError, match=r"expected input \[N, C, D, H, W\], got \[2, 3, 4, 4\]"):
        forward(at_work(Subsampling3DLayer()), nd.zeros(2, 3, 4, 4, dtype="float64"), False)
