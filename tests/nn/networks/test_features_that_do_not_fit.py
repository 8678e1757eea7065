"""Features against the network's input type, and masked arrays: refused at every way in, and nothing is harmed."""

import re

import numpy as np
import pytest

import nd
from nd.dataset import DataSet, NumpyDataSetIterator
from nd.evaluation import Evaluation
from nn import (
    ActivationLayer,
    ConvolutionLayer,
    EmbeddingLayer,
    GlobalPoolingLayer,
    InputType,
    LossLayer,
    OutputLayer,
)
from tests.nn.test_bad_input import X, Y, assert_unharmed, network, state_of, with_value


def check_shapes(net, good, bad, message, labels=2):
    """Every way in takes the good shapes and refuses the bad one; then the network still works."""
    for shape in good:
        assert net.output(np.ones(shape)).shape[0] == shape[0]
    y = np.eye(labels)[[0] * bad[0]]
    net.set_labels(y)
    before = state_of(net)
    ways_in = [
        net.output,
        net.predict,
        net.feed_forward,
        net.set_input,
        lambda x: net.fit(x, y),
        lambda x: net.fit([DataSet(x, y)]),
        lambda x: net.score(DataSet(x, y)),
        lambda x: net.evaluate(DataSet(x, y)),
    ]
    for way_in in ways_in:
        with pytest.raises(nd.ShapeError, match=message):
            way_in(np.ones(bad))
    for found, expected in zip(state_of(net), before, strict=True):
        np.testing.assert_array_equal(found, expected)
    net.fit(np.ones(good[0]), np.eye(labels)[[0] * good[0][0]])
    assert np.isfinite(net.score())


@pytest.mark.parametrize("bad", [(2, 1, 5, 6), (2, 1, 9, 40), (2, 1, 4, 5), (2, 2, 5, 5), (2, 5, 5)])
def test_images_of_another_size_than_the_input_types(bad):
    output = OutputLayer(n_out=2, activation="softmax")
    layers = ConvolutionLayer(n_out=2, kernel_size=2), GlobalPoolingLayer("max"), output
    net = network(*layers, input_type=InputType.convolutional(5, 5, 1))
    found = re.escape(str(list(bad)))
    message = rf"layer 0 \(ConvolutionLayer\): expected input \[N, 1, 5, 5\], got {found}\. .*5x5x1\): (make|reshape)"
    check_shapes(net, [(2, 1, 5, 5), (3, 1, 5, 5)], bad, message)


def test_flat_images_come_as_rows_or_as_images():
    layers = ConvolutionLayer(n_out=2, kernel_size=2), OutputLayer(n_out=2, activation="softmax")
    net = network(*layers, input_type=InputType.convolutional_flat(5, 5, 1))
    message = r"expected input \[N, 25\] or \[N, 1, 5, 5\], got \[2, 30\]"
    check_shapes(net, [(2, 25), (2, 1, 5, 5)], (2, 30), message)


def test_rows_of_another_length_in_front_of_layers_that_take_any():
    net = network(
        ActivationLayer("tanh"), LossLayer(loss="mse", activation="identity"), input_type=InputType.feed_forward(2)
    )
    check_shapes(net, [(3, 2)], (2, 3), r"layer 0 \(ActivationLayer\): expected input \[N, 2\], got \[2, 3\]")


def test_series_of_another_size_or_length():
    layers = GlobalPoolingLayer("avg"), OutputLayer(n_out=2, activation="softmax")
    net = network(*layers, input_type=InputType.recurrent(3))
    message = r"layer 0 \(GlobalPoolingLayer\): expected input \[N, 3, T\], got \[2, 4, 5\]"
    check_shapes(net, [(2, 3, 4), (2, 3, 7)], (2, 4, 5), message)
    net = network(*layers, input_type=InputType.recurrent(3, 4))
    check_shapes(net, [(2, 3, 4)], (2, 3, 5), r"expected input \[N, 3, 4\], got \[2, 3, 5\]")


def test_volumes_of_another_size():
    layers = GlobalPoolingLayer("avg"), OutputLayer(n_out=2, activation="softmax")
    net = network(*layers, input_type=InputType.convolutional3d(2, 3, 4, 1))
    check_shapes(net, [(2, 1, 2, 3, 4)], (2, 1, 2, 3, 5), r"expected input \[N, 1, 2, 3, 4\], got \[2, 1, 2, 3, 5\]")


def test_without_an_input_type_a_network_takes_images_of_any_size():
    layers = ConvolutionLayer(n_in=1, n_out=2, kernel_size=2), GlobalPoolingLayer("max")
    net = network(*layers, OutputLayer(n_in=2, n_out=2, activation="softmax"))
    assert [net.output(np.ones((2, 1, *size))).shape for size in ((5, 5), (9, 40))] == [(2, 2)] * 2


def test_indices_are_not_what_an_input_type_counts():
    layers = EmbeddingLayer(n_out=4, activation="tanh"), OutputLayer(n_out=2, activation="softmax")
    net = network(*layers, input_type=InputType.feed_forward(10))
    assert net.output(np.array([[3.0], [9.0]])).shape == (2, 2)


# ---- masked arrays of NumPy


MASKED = np.ma.masked_invalid(with_value(X, np.nan))


@pytest.mark.parametrize("masked", [MASKED, list(MASKED)], ids=["array", "list of rows"])
def test_masked_arrays_are_refused(masked):
    net = network()
    before = state_of(net)
    ways_in = [
        lambda x: DataSet(x, Y),
        lambda x: DataSet(X, Y, features_mask=x),
        lambda x: NumpyDataSetIterator(x, Y, 2),
        lambda x: net.fit(x, Y),
        lambda x: net.fit(X, x),
        net.output,
        net.set_input,
        net.set_labels,
        net.set_params,
        nd.create,
        nd.as_array,
        nd.serde.to_bytes,
        lambda x: Evaluation().eval(x, Y),
    ]
    for way_in in ways_in:
        with pytest.raises(
            nd.DTypeError, match=r"expected plain numbers, got a masked array\. Fill it, x\.filled\(0\)"
        ):
            way_in(masked)
    assert_unharmed(net, before)
