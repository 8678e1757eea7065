"""Convolution and its kin: settings and bottoms that are refused, other sizes at run time, tops without gradients."""

import numpy as np
import pytest

import nd

pytest.importorskip("google.protobuf", reason="the extra caffe is not installed")

from nn.caffe import parse_text
from nn.caffe.layers import layer_class
from nn.caffe.layers.base import CaffeLayerConf
from nn.vertices import VertexContext
from tests.cases.caffe_layers.convolution import convolved
from tests.cells import every_row
from tests.layers_at_work import memory_of_gradients

SHAPE = (2, 4, 6, 5)


def layer_of(text, shapes=(SHAPE,), kind="Convolution"):
    """Return a layer at work."""
    names = "".join(f'bottom: "x{number}" top: "t{number}" ' for number in range(len(shapes)))
    settings = f"convolution_param {{ {text} }}"
    message = parse_text(f'name: "conv" type: "{kind}" {names} {settings}', "LayerParameter")
    probe = layer_class(kind)(CaffeLayerConf(message, "TRAIN", shapes), "layer 'conv'", "float64")
    conf = CaffeLayerConf(message, "TRAIN", shapes, probe.blobs(shapes), tuple(probe.top_shapes(shapes)))
    return conf.runtime(conf, "layer 'conv'", "float64")


def numbers(shape, seed=1):
    return np.random.default_rng(seed).normal(size=shape)


def at_work(layer, hosts, needs=True):
    """Return the tops, and a function from epsilons to those below and the gradients."""
    params, grads = memory_of_gradients(layer), memory_of_gradients(layer)
    for seed, view in enumerate(params.values(), 5):
        nd.assign(view, nd.create(numbers(view.shape, seed), "float64"))
    ctx = VertexContext(True, nd.Buffers("float64"), (None,) * len(hosts), (needs,) * len(hosts), {})
    tops, kept, _ = layer.propagate([nd.create(x, "float64") for x in hosts], (), params, ctx)

    def back(*epsilons):
        given = tuple(None if one is None else nd.create(one, "float64") for one in epsilons)
        return layer.backpropagate(given if layer.outputs > 1 else given[0], kept, grads), grads

    return tops, params, back


@every_row(
    ("kind", "text", "message"),
    [
        ("Convolution", "kernel_size: 3", "num_output and group must be >= 1, got 0 and 1"),
        ("Convolution", "num_output: 2 kernel_size: 3 group: 0", "num_output and group must be >= 1, got 2 and 0"),
        ("Convolution", "num_output: 3 kernel_size: 3 group: 2", "the 4 channels .* num_output 3 must be multiples of"),
        ("Deconvolution", "num_output: 3 kernel_size: 3 group: 3", "the 4 channels .* multiples of group, got 3"),
        ("Convolution", "num_output: 2", r"kernel_size must be given once, or once for every one of 2 axes, got \[\]"),
        ("Convolution", "num_output: 2 kernel_size: [1, 2, 3]", r"kernel_size must be given once, .* got \[1, 2, 3\]"),
        ("Convolution", "num_output: 2 kernel_size: 0", r"kernel_size must be >= 1 along every axis, got \[0, 0\]"),
        ("Convolution", "num_output: 2 kernel_h: 2", r"kernel_size must be >= 1 along every axis, got \[2, 0\]"),
        (
            "Convolution",
            "num_output: 2 kernel_size: 2 stride: 0",
            r"stride must be >= 1 along every axis, got \[0, 0\]",
        ),
        ("Convolution", "num_output: 2 kernel_size: 2 dilation: 0", "dilation must be >= 1 along every axis"),
        ("Convolution", "num_output: 2 kernel_size: 2 kernel_h: 2", "either kernel_size or kernel_h and kernel_w"),
        ("Convolution", "num_output: 2 kernel_size: 2 pad: 1 pad_w: 1", "either pad or pad_h and pad_w, got both"),
        ("DepthwiseConvolution", "num_output: 6 kernel_size: 2", "group must be the 4 channels .* num_output 6"),
        (
            "ConvolutionDepthwise",
            "num_output: 4 kernel_size: 2 group: 2",
            "group must be .* got group 2 and num_output 4",
        ),
    ],
)
def test_settings_that_are_refused(kind, text, message):
    with pytest.raises(nd.ConfigurationError, match=f"layer 'conv': {message}"):
        layer_of(text, kind=kind)


def test_sizes_by_height_and_width_are_for_images():
    with pytest.raises(nd.ConfigurationError, match="layer 'conv': kernel_h and kernel_w are for two axes, got 1"):
        layer_of("num_output: 2 kernel_h: 2 kernel_w: 2", ((2, 4, 6),))


@every_row(
    ("kind", "text", "shapes", "message"),
    [
        ("Convolution", "kernel_size: 9", (SHAPE,), "the kernel must fit into the padded input"),
        ("Deconvolution", "kernel_size: 1 pad: 3", (SHAPE,), "the output must be at least 1"),
        ("Convolution", "kernel_size: 2 axis: 4", (SHAPE,), r"axis must be an axis of the bottom \[2, 4, 6, 5\]"),
        ("Convolution", "kernel_size: 2", ((2, 4, 5, 5, 5, 5),), "expected at most 3 axes behind the channels, got 4"),
        ("Convolution", "kernel_size: 2", (SHAPE, (2, 4, 5, 5)), "all bottoms must have the shape of bottom 0"),
    ],
)
def test_bottoms_that_are_refused(kind, text, shapes, message):
    with pytest.raises(nd.ShapeError, match=f"layer 'conv': {message}"):
        layer_of(f"num_output: 4 {text}", shapes, kind)


@every_row(("group", "channels"), [(1, 3), (2, 6)])
def test_a_bottom_of_other_channels_at_run_time(group, channels):
    layer = layer_of(f"num_output: 4 kernel_size: 2 group: {group}")
    with pytest.raises(nd.ShapeError, match=rf"layer 'conv': expected a bottom .* weights \[4, {4 // group}, 2, 2\]"):
        at_work(layer, [numbers((2, channels, 6, 5))])


def test_a_later_pass_may_have_another_size():
    layer = layer_of("num_output: 6 kernel_size: 3 group: 2 pad: 1 stride: 2")
    for shape in ((2, 4, 6, 5), (3, 4, 9, 4), (2, 4, 6, 5)):
        x = numbers(shape)
        top, params, _ = at_work(layer, [x])
        host = {name: nd.to_host(view) for name, view in params.items()}
        (expected,) = convolved([x], host, group=2, k=3, p=1, s=2)
        np.testing.assert_allclose(nd.to_host(top), expected, rtol=1e-12, atol=1e-12)


@every_row("missing", [0, 1])
def test_a_top_without_gradient_adds_nothing(missing):
    layer = layer_of("num_output: 2 kernel_size: 3", (SHAPE, SHAPE))
    hosts, delta = [numbers(SHAPE, 1), numbers(SHAPE, 2)], numbers((2, 2, 4, 3), 3)
    _, _, back = at_work(layer, hosts)
    below, grads = back(*(None if number == missing else delta for number in range(2)))
    np.testing.assert_array_equal(nd.to_host(below[missing]), np.zeros(SHAPE))
    alone, _, back_alone = at_work(layer_of("num_output: 2 kernel_size: 3"), [hosts[1 - missing]])
    expected, expected_grads = back_alone(delta)
    assert tuple(alone.shape) == (2, 2, 4, 3)
    np.testing.assert_array_equal(nd.to_host(below[1 - missing]), nd.to_host(expected[0]))
    for name, grad in grads.items():
        np.testing.assert_array_equal(nd.to_host(grad), nd.to_host(expected_grads[name]))


def test_nothing_for_bottoms_that_need_nothing():
    _, _, back = at_work(layer_of("num_output: 2 kernel_size: 3", (SHAPE, SHAPE)), [numbers(SHAPE)] * 2, needs=False)
    below, _ = back(None, numbers((2, 2, 4, 3)))
    assert below == [None, None]


def test_upsampling_of_every_channel_by_hand():
    """A kernel of 4 with stride 2 and padding 1 doubles an image; far from the border what is even stays even."""
    layer = layer_of("num_output: 1 kernel_size: 4 stride: 2 pad: 1 bias_term: false", ((1, 1, 3, 3),), "Deconvolution")
    params = memory_of_gradients(layer)
    slope = np.array([0.25, 0.75, 0.75, 0.25])
    nd.assign(params["W"], nd.create(np.outer(slope, slope)[None, None], "float64"))
    ctx = VertexContext(False, nd.Buffers("float64"), (None,), (True,), {})
    top, _, _ = layer.propagate([nd.ones(1, 1, 3, 3, dtype="float64")], (), params, ctx)
    edge = np.array([0.75, 1, 1, 1, 1, 0.75])
    np.testing.assert_allclose(nd.to_host(top)[0, 0], np.outer(edge, edge), rtol=1e-14)
