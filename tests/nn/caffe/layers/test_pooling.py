"""Pooling: numbers by hand, what draws do, and settings that are refused."""

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe import parse_text
from nn.caffe.layers import layer_class
from nn.caffe.layers.base import CaffeLayerConf
from nn.vertices import VertexContext
from tests.cells import every_row


def layer_of(text, shape, kind="Pooling", phase="TEST", tops=1):
    names = "".join(f'top: "t{number}" ' for number in range(tops))
    message = parse_text(f'name: "pool" type: "{kind}" bottom: "x" {names} {text}', "LayerParameter")
    return layer_class(kind)(CaffeLayerConf(message, phase, (shape,)), "layer 'pool'", "float64")


def pooled(text, x, training=False, **more):
    x = nd.create(np.asarray(x, float), dtype="float64")
    layer = layer_of(text, tuple(x.shape), phase="TRAIN" if training else "TEST", **more)
    ctx = VertexContext(training, nd.Buffers("float64"), (None,), (True,), {})
    tops, kept = layer.forward([x], {}, ctx)
    if layer.outputs == 1:
        tops = (tops,)
    assert [tuple(top.shape) for top in tops] == layer.top_shapes([tuple(x.shape)])
    return tops, lambda *epsilons: layer.backward(epsilons[0] if layer.outputs == 1 else epsilons, kept, {}, {}, ctx)


THREES = [[1, 2, 4], [2, 3, 2], [4, 2, 1]]
FIVES = [[1, 2, 5, 2, 3], [9, 4, 1, 4, 8], [1, 2, 5, 2, 3]]
CORNER, EDGE = 8 / 9, 4 / 3


@every_row(
    ("settings", "size"),
    [
        ("kernel_size: 3 stride: 2", (3, 2)),
        ("pool: AVE kernel_size: 3 stride: 2 pad: 1", (4, 3)),
        ("global_pooling: true", (1, 1)),
        ("kernel_size: 1 stride: 2", (3, 3)),
        ("kernel_size: 1 stride: 4", (2, 2)),
    ],
)
def test_sizes_over_six_rows_of_five(settings, size):
    """Of kernel 1 and stride 2 Caffe has a fourth row, of windows of nothing."""
    layer = layer_of(f"pooling_param {{ {settings} }}", (2, 3, 6, 5))
    assert layer.top_shapes([(2, 3, 6, 5)]) == [(2, 3, *size)]


@every_row(
    ("settings", "image", "expected"),
    [
        ("kernel_size: 3 stride: 2 pad: 2", THREES, [[1, 4, 4], [4, 4, 4], [4, 4, 1]]),
        ("kernel_size: 2", FIVES, [[9, 5, 5, 8], [9, 5, 5, 8]]),
        (
            "pool: AVE kernel_size: 3 pad: 1",
            [[2] * 3] * 3,
            [[CORNER, EDGE, CORNER], [EDGE, 2, EDGE], [CORNER, EDGE, CORNER]],
        ),
        ("pool: AVE kernel_size: 2 stride: 2", THREES, [[2, 3], [3, 1]]),
        ("pool: STOCHASTIC kernel_size: 2 stride: 2", THREES, [[18 / 8, 20 / 6], [20 / 6, 1]]),
    ],
)
def test_numbers_by_hand(settings, image, expected):
    (out,), _ = pooled(f"pooling_param {{ {settings} }}", [[image]])
    np.testing.assert_allclose(nd.to_host(out)[0, 0], expected, rtol=1e-14)


def test_places_of_maxima_by_hand():
    (_, places), back = pooled("pooling_param { kernel_size: 2 }", [[FIVES]], tops=2)
    np.testing.assert_array_equal(nd.to_host(places)[0, 0], [[5, 2, 2, 9], [5, 12, 12, 9]])
    (below,) = back(nd.ones(1, 1, 2, 4, dtype="float64"), None)
    expected = np.zeros(15)
    expected[[5, 2, 9, 12]] = 2
    np.testing.assert_array_equal(nd.to_host(below).ravel(), expected)
    (below,) = back(None, None)
    np.testing.assert_array_equal(nd.to_host(below), np.zeros((1, 1, 3, 5)))


def test_cells_are_drawn_as_often_as_their_share_of_the_sum():
    x = np.broadcast_to(np.array([[1.0, 2.0], [0.0, 5.0]]), (40, 50, 2, 2))
    with nd.random.drawing(nd.random.Random(3)):
        (out,), back = pooled("pooling_param { pool: STOCHASTIC kernel_size: 2 }", x, training=True)
    values, counts = np.unique(nd.to_host(out), return_counts=True)
    assert values.tolist() == [1.0, 2.0, 5.0]
    np.testing.assert_allclose(counts / 2000, [1 / 8, 2 / 8, 5 / 8], atol=0.04)  # four standard deviations
    (below,) = back(nd.create(np.ones((40, 50, 1, 1)), dtype="float64"))
    np.testing.assert_array_equal((nd.to_host(below) * x).sum((2, 3)), nd.to_host(out)[:, :, 0, 0])


@every_row(
    ("settings", "message"),
    [
        ("", "give either kernel_size, or kernel_h and kernel_w, got none"),
        ("kernel_size: 2 kernel_h: 2", "give either kernel_size, or kernel_h and kernel_w, got kernel_size, kernel_h"),
        ("kernel_h: 2", "give either kernel_size, or kernel_h and kernel_w, got kernel_h"),
        ("kernel_size: 0", r"the kernel must be >= 1, got \[0\]"),
        ("kernel_size: 2 stride: 0", r"stride must be >= 1, got \[0, 0\]"),
        ("kernel_size: 2 stride: 2 stride_h: 2 stride_w: 2", "give either stride, or stride_h and stride_w"),
        ("kernel_size: 2 pad_h: 1", "give either pad, or pad_h and pad_w"),
        ("kernel_size: 2 pad: 2", r"pad must be less than the kernel, got \[2, 2\] and \[2, 2\]"),
        ("global_pooling: true kernel_size: 2", "global_pooling has no kernel, got kernel_size"),
        ("global_pooling: true pad: 1", r"global_pooling needs stride 1 and pad 0, got \[1, 1\] and \[1, 1\]"),
        ("pool: STOCHASTIC kernel_size: 3 pad: 1", r"pad is for MAX and AVE, got \[1, 1\] of STOCHASTIC"),
    ],
)
def test_settings_that_are_refused(settings, message):
    with pytest.raises(nd.ConfigurationError, match=f"layer 'pool': {message}"):
        layer_of(f"pooling_param {{ {settings} }}", (2, 3, 6, 5))


def test_means_have_no_places():
    with pytest.raises(nd.ConfigurationError, match="layer 'pool': expected one top, got 2: AVE has no places"):
        layer_of("pooling_param { pool: AVE kernel_size: 2 }", (2, 3, 6, 5), tops=2)


@every_row(
    ("kind", "text", "shape", "message"),
    [
        (
            "Pooling",
            "pooling_param { kernel_size: 2 }",
            (2, 3, 4),
            r"expected a bottom \[N, C, H, W\], got \[2, 3, 4\]",
        ),
        ("Pooling", "pooling_param { kernel_size: 9 }", (2, 3, 6, 5), "the kernel must fit into the padded input"),
        ("SPP", "spp_param { pyramid_height: 3 }", (2, 3, 5, 8), "4 x 4 windows must fit into the image"),
        ("SPP", "spp_param { pyramid_height: 3 }", (2, 3, 9), r"expected a bottom \[N, C, H, W\], got \[2, 3, 9\]"),
        ("SPP", "spp_param { pyramid_height: 2 pool: STOCHASTIC }", (2, 3, 5, 4), "STOCHASTIC takes sizes that 2"),
    ],
)
def test_bottoms_that_are_refused(kind, text, shape, message):
    with pytest.raises(nd.ShapeError, match=f"layer 'pool': {message}"):
        layer_of(text, shape, kind).top_shapes([shape])


def test_a_pyramid_without_levels():
    with pytest.raises(nd.ConfigurationError, match="layer 'pool': pyramid_height must be >= 1, got 0"):
        layer_of("spp_param { pyramid_height: 0 }", (2, 3, 5, 5), "SPP")
