"""Masks of images and of volumes behind convolutions: the largest under every window, as DL4J's cnn2dMaskReduction."""

import numpy as np
import pytest

import nd
from nn import (
    Convolution3D,
    ConvolutionLayer,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    InputType,
    LocallyConnected2D,
    MultiLayerNetwork,
    NeuralNetConfiguration,
    OutputLayer,
    SeparableConvolution2D,
    SubsamplingLayer,
)
from tests.cases.layers.convolutions import out_and_before, patches, settings_of, window
from tests.layers_at_work import forward
from tests.stand_ins import as_input

RNG = np.random.default_rng(13)
IMAGE, VOLUME = (6, 7), (4, 5, 3)
KINDS = {
    "convolution": (ConvolutionLayer, IMAGE),
    "depthwise": (DepthwiseConvolution2D, IMAGE),
    "separable": (SeparableConvolution2D, IMAGE),
    "unshared": (LocallyConnected2D, IMAGE),
    "volumes": (Convolution3D, VOLUME),
}
WINDOWS = {
    "truncate": window(2),
    "strided, padded": window(3, 2, 1),
    "same, strided": window(3, 2, mode="same"),
    "dilated": window(2, 1, 0, 2),
}


def first_layer(layer_class, size, conf, **settings):
    sizes = {} if layer_class is DepthwiseConvolution2D else {"n_out": 3}
    layer = layer_class(activation="tanh", **sizes, **settings_of(conf), **settings)
    make = InputType.convolutional if len(size) == 2 else InputType.convolutional3d
    conf = NeuralNetConfiguration(seed=4, dtype="float64").list(
        layer, OutputLayer(n_out=2, activation="softmax"), input_type=make(*size, 2)
    )
    return MultiLayerNetwork(conf).init().get_layer(0)


def largest_under(mask, conf):
    made = np.zeros((len(mask), 1, *out_and_before(mask, conf)[0]))
    for n, position, cells in patches(mask, conf):
        made[(n, 0, *position)] = cells.max()
    return made


def some_mask(size):
    return (np.random.default_rng(2).random((3, 1, *size)) < 0.1).astype(float)


@pytest.mark.parametrize("name", WINDOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_place_counts_where_a_cell_under_its_window_does(backend, kind, name):
    layer_class, size = KINDS[kind]
    layer, mask = first_layer(layer_class, size, WINDOWS[name]), some_mask(size)
    found = nd.to_host(layer.feed_forward_mask(as_input(backend, mask)))
    expected = largest_under(mask, WINDOWS[name])
    np.testing.assert_array_equal(found, expected)
    assert 0 < expected.mean() < 1
    a = forward(layer, nd.create(RNG.normal(size=(3, 2, *size)), dtype="float64"), False)[0]
    assert tuple(a.shape[2:]) == found.shape[2:]


def test_pooling_hands_masks_on_in_the_same_way(backend):
    conf = window((3, 2), 2, 1)
    layers = (ConvolutionLayer(n_out=3, kernel_size=2), SubsamplingLayer("avg", **settings_of(conf)))
    output = OutputLayer(n_out=2, activation="softmax")
    net = MultiLayerNetwork(
        NeuralNetConfiguration(seed=4).list(*layers, output, input_type=InputType.convolutional(*IMAGE, 2))
    ).init()
    mask = some_mask(IMAGE)
    between = net.get_layer(0).feed_forward_mask(as_input(backend, mask))
    found = nd.to_host(net.get_layer(1).feed_forward_mask(between))
    np.testing.assert_array_equal(found, largest_under(largest_under(mask, window(2)), conf))


@pytest.mark.parametrize("kind", KINDS)
def test_a_mask_that_nothing_moves_stays(kind):
    layer_class, size = KINDS[kind]
    same = first_layer(layer_class, size, window(3, mode="same"))
    mask = nd.create(some_mask(size))
    assert same.feed_forward_mask(mask) is mask
    examples = nd.create(np.ones((3, 1, *(1 for _ in size))))
    found = first_layer(layer_class, size, window(3, 2)).feed_forward_mask(examples)
    assert found.shape == examples.shape
    assert found.all()


def test_what_holds_for_a_whole_axis_still_does(backend):
    layer = first_layer(ConvolutionLayer, IMAGE, window((3, 2), (2, 1)))
    rows, columns = some_mask((6, 1)), some_mask((1, 7))
    found = [nd.to_host(layer.feed_forward_mask(as_input(backend, mask))) for mask in (rows, columns)]
    np.testing.assert_array_equal(found[0], largest_under(rows, window((3, 1), (2, 1))))
    np.testing.assert_array_equal(found[1], largest_under(columns, window((1, 2), 1)))


def test_nothing_but_padding_does_not_count(backend):
    layer = first_layer(ConvolutionLayer, IMAGE, window(1, 1, 2))
    found = nd.to_host(layer.feed_forward_mask(as_input(backend, np.ones((2, 1, *IMAGE)))))
    np.testing.assert_array_equal(found, np.pad(np.ones((2, 1, *IMAGE)), ((0, 0), (0, 0), (2, 2), (2, 2))))


@pytest.mark.parametrize(
    ("layer_class", "size", "conf"),
    [
        (Deconvolution2D, IMAGE, window(2, 2)),
        (Deconvolution2D, IMAGE, window((3, 2), (2, 3), (1, 0))),
        (Deconvolution3D, VOLUME, window(3, 2, mode="same")),
    ],
)
def test_behind_a_transposed_convolution_a_place_counts_where_a_cell_that_counts_reaches(
    backend, layer_class, size, conf
):
    layer, mask = first_layer(layer_class, size, conf, weight_init="ones"), some_mask(size)
    found = nd.to_host(layer.feed_forward_mask(as_input(backend, mask)))
    both = nd.create(np.concatenate([mask, mask], 1), dtype="float64")
    reached = nd.to_host(layer.pre_output(both))  # sums of ones, biases are 0
    np.testing.assert_array_equal(found, (reached[:, :1] > 0).astype(float))
    assert 0 < found.mean() < 1
    examples = nd.create(np.ones((3, 1, *(1 for _ in size))))
    assert layer.feed_forward_mask(examples) is examples
