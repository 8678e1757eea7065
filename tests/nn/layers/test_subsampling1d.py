"""Pooling along time: masks, what is refused, DL4J's names and forms."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import nd
from nn import (
    InputType,
    MultiLayerConfiguration,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    Pooling1D,
    Pooling2D,
    PoolingType,
    Subsampling1DLayer,
    SubsamplingLayer,
)
from tests.cases.layers.poolings import POOLS, pooled
from tests.cells import every_row
from tests.layers_at_work import backprop, forward
from tests.stand_ins import TOLERANCE, as_input

RNG = np.random.default_rng(4)


def at_work(layer):
    return MultiLayerNetwork(NeuralNetConfiguration(seed=1, dtype="float64").list(layer)).init().get_layer(0)


@every_row(
    ("settings_", "expected"),
    [
        ({"kernel_size": 2, "stride": 2}, [[1, 1, 0], [0, 1, 1], [0, 0, 0]]),
        ({"kernel_size": 3, "stride": 1, "padding": 1}, [[1, 1, 1, 1, 0, 0], [0, 1, 1, 1, 1, 1], [0] * 6]),
        ({"kernel_size": 2, "stride": 1, "dilation": 3}, [[1, 1, 1], [0, 1, 1], [0, 0, 0]]),
        (
            {"kernel_size": 3, "stride": 1, "convolution_mode": "same"},
            [[1, 1, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0], [0] * 6],
        ),
        ({"kernel_size": 2, "stride": 2, "convolution_mode": "same"}, [[1, 1, 0], [0, 1, 1], [0, 0, 0]]),
    ],
)
@every_row("kind", ["max", "avg", "pnorm"])
def test_a_step_counts_where_one_under_its_window_does(settings_, expected, kind, backend):
    """In mode same with stride 1 the mask stays, as in Java; activations are what they are without a mask."""
    mask = np.array([[1, 1, 1, 0, 0, 0], [0, 0, 1, 0, 1, 0], [0] * 6], np.float64)
    layer = at_work(Subsampling1DLayer(kind, pnorm=2, **settings_))
    given_mask, x = as_input(backend, mask), RNG.normal(size=(3, 2, 6))
    np.testing.assert_array_equal(nd.to_host(layer.feed_forward_mask(given_mask)), expected)
    found, cache = forward(layer, as_input(backend, x), True, given_mask)
    without, plain = forward(layer, as_input(backend, x), True)
    np.testing.assert_array_equal(nd.to_host(found), nd.to_host(without))
    epsilon = RNG.normal(size=found.shape)
    below = nd.to_host(nd.copy(backprop(layer, nd.create(epsilon), cache)))
    again = nd.to_host(backprop(layer, nd.create(epsilon), plain))
    np.testing.assert_array_equal(below, again)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    steps=st.integers(1, 9),
    kernel=st.integers(1, 4),
    stride=st.integers(1, 4),
    padding=st.integers(0, 3),
    dilation=st.integers(1, 3),
    mode=st.sampled_from(["truncate", "strict", "same"]),
    kind=st.sampled_from(["max", "avg"]),
)
def test_sizes_and_numbers_are_the_formulas(steps, kernel, stride, padding, dilation, mode, kind):
    """Wherever the windows fit; where they do not, the error says so."""
    effective = dilation * (kernel - 1) + 1
    if padding >= effective:
        with pytest.raises(nd.ConfigurationError, match="padding must be less than the kernel"):
            Subsampling1DLayer(kind, kernel_size=kernel, padding=padding, dilation=dilation)
        return
    layer = Subsampling1DLayer(
        kind, kernel_size=kernel, stride=stride, padding=padding, dilation=dilation, convolution_mode=mode
    )
    span = steps - effective + 2 * padding
    if mode != "same" and (span < 0 or (mode == "strict" and span % stride)):
        with pytest.raises(nd.ShapeError, match=r"kernel must fit|windows that fit exactly, got length"):
            layer.output_type("layer 0", InputType.recurrent(2, steps))
        return
    out = -(-steps // stride) if mode == "same" else span // stride + 1
    assert layer.output_type("layer 0", InputType.recurrent(2, steps)) == InputType.recurrent(2, out)
    places = [window * stride + tap * dilation - padding for window in range(out) for tap in range(kernel)]
    real = [0 <= place < steps for place in places]
    if (mode == "same" and dilation > 1) or not all(any(real[at : at + kernel]) for at in range(0, len(real), kernel)):
        return  # a window may lie on nothing but padding there, or does
    x = np.random.default_rng(steps).normal(size=(2, 2, steps))
    with nd.use_backend("numpy"):
        found, _ = forward(at_work(layer), nd.create(x), False)
    expected = pooled(x, POOLS[kind], kernel, stride, padding, dilation, mode)
    np.testing.assert_allclose(nd.to_host(found), expected, **TOLERANCE["float64"])


def test_series_of_unknown_length_stay_so():
    layer = Subsampling1DLayer(convolution_mode="truncate")
    assert layer.output_type("layer 0", InputType.recurrent(3)) == InputType.recurrent(3)


def test_the_builder_takes_what_javas_does():
    assert Subsampling1DLayer.Builder().build() == Subsampling1DLayer("max", kernel_size=2, stride=1, padding=0)
    assert Subsampling1DLayer.Builder(PoolingType.AVG, 3, 2, 1).build() == Subsampling1DLayer(
        "avg", kernel_size=3, stride=2, padding=1
    )
    assert Subsampling1DLayer.Builder(3, 2).build() == Subsampling1DLayer("max", kernel_size=3, stride=2)
    assert Subsampling1DLayer.Builder(3).build() == Subsampling1DLayer("max", kernel_size=3)


def test_the_other_names_are_the_same_layers():
    assert (Pooling1D, Pooling2D) == (Subsampling1DLayer, SubsamplingLayer)


def test_what_is_no_series_is_refused(backend):
    layer = at_work(Subsampling1DLayer())
    with pytest.raises(nd.ShapeError, match=r"layer 0 .*expected input \[N, C, T\], got \[2, 3\]"):
        forward(layer, nd.zeros(2, 3, dtype="float64"), False)
    with pytest.raises(nd.ConfigurationError, match=r"expected time series, got convolutional3d"):
        Subsampling1DLayer().output_type("layer 0", InputType.convolutional3d(2, 2, 2, 2))
    with pytest.raises(nd.ShapeError, match="Subsampling1DLayer: kernel_size must be one integer >= 1, got"):
        Subsampling1DLayer(kernel_size=(2, 1))
    with pytest.raises(nd.ConfigurationError, match="pooling_type must be one of avg, max, pnorm, got 'sum'"):
        Subsampling1DLayer("sum")
    with pytest.raises(nd.ConfigurationError, match="Subsampling1DLayer: pooling 'pnorm' needs pnorm >= 1, got 0"):
        Subsampling1DLayer("pnorm")


def test_only_the_first_number_of_javas_pairs_is_read():
    """Older files have a stride of [1, 2] there."""
    conf = NeuralNetConfiguration(seed=1).list(Subsampling1DLayer("avg", kernel_size=3, stride=2, padding=1))
    document = json.loads(conf.to_json())
    layer = document["confs"][0]["layer"]
    found = [layer[key] for key in ("kernelSize", "stride", "padding", "dilation")]
    assert found == [[3, 1], [2, 1], [1, 0], [1, 1]]
    layer["stride"] = [1, 2]
    again = MultiLayerConfiguration.from_json(json.dumps(document)).layers[0]
    assert (again.kernel_size, again.stride, again.padding, again.dilation) == ((3,), (1,), (1,), (1,))
