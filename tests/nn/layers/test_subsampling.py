"""Pooling where windows have equal or blank cells, written out by hand."""

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork, NeuralNetConfiguration, SubsamplingLayer
from tests.layers_at_work import backprop, forward
from tests.stand_ins import as_input


def pooled_and_back(layer, x, epsilon):
    """Return activations and dL/dx of one pooling layer."""
    net = MultiLayerNetwork(NeuralNetConfiguration(seed=1, dtype="float64").list(layer)).init()
    a, cache = forward(net.get_layer(0), x, training=True)
    found = nd.to_host(nd.copy(a))
    return found, nd.to_host(backprop(net.get_layer(0), nd.create(epsilon), cache))


@pytest.mark.parametrize("mode", ["truncate", "same"])
@pytest.mark.parametrize(("kernel", "stride"), [((2, 2), (2, 2)), ((2, 3), (2, 3)), ((3, 2), (3, 2)), ((1, 6), (1, 6))])
def test_the_first_of_equal_cells_in_row_major_order_gets_the_gradient(kernel, stride, mode, backend, order):
    x = as_input(backend, np.full((2, 3, 6, 6), 4.0), order)
    layer = SubsamplingLayer("max", kernel_size=kernel, stride=stride, convolution_mode=mode)
    epsilon = np.random.default_rng(1).normal(size=(2, 3, 6 // stride[0], 6 // stride[1]))
    found, below = pooled_and_back(layer, x, epsilon)
    expected = np.zeros((2, 3, 6, 6))
    expected[:, :, :: stride[0], :: stride[1]] = epsilon
    assert (found == 4.0).all()
    np.testing.assert_array_equal(below, expected)


@pytest.mark.parametrize(
    ("cells", "winner"),
    [([1, 2, 2, 0], (0, 1)), ([0, 1, 2, 2], (1, 0)), ([0, 3, 3, 3], (0, 1)), ([3, 0, 0, 3], (0, 0))],
)
@pytest.mark.parametrize("stride", [(2, 2), (1, 1)])
def test_ties_within_a_window(cells, winner, stride, backend):
    """Stride 2 takes the fast path for windows side by side, stride 1 the general one; both meet one window here."""
    x = as_input(backend, np.array(cells, np.float64).reshape(1, 1, 2, 2))
    layer = SubsamplingLayer("max", kernel_size=(2, 2), stride=stride)
    _, below = pooled_and_back(layer, x, np.full((1, 1, 1, 1), 5.0))
    expected = np.zeros((2, 2))
    expected[winner] = 5.0
    np.testing.assert_array_equal(below[0, 0], expected)


def test_padding_never_wins(backend):
    x = as_input(backend, np.full((1, 1, 4, 4), -7.0))
    layer = SubsamplingLayer("max", kernel_size=(3, 3), stride=(2, 2), padding=(1, 1))
    found, below = pooled_and_back(layer, x, np.ones((1, 1, 2, 2)))
    assert (found == -7.0).all()
    assert below.sum() == 4.0


def test_a_window_whose_norm_is_zero_has_no_gradient(backend):
    """Where Java divides 0 by 0."""
    x = np.zeros((1, 1, 2, 4))
    x[0, 0, :, 2:] = [[3.0, 0.0], [0.0, -4.0]]
    layer = SubsamplingLayer("pnorm", kernel_size=(2, 2), stride=(2, 2), pnorm=2)
    found, below = pooled_and_back(layer, as_input(backend, x), np.ones((1, 1, 1, 2)))
    np.testing.assert_allclose(found[0, 0, 0], [0.0, 5.0], rtol=1e-12)
    np.testing.assert_allclose(below[0, 0], [[0, 0, 0.6, 0.0], [0, 0, 0.0, -0.8]], rtol=1e-12)


def test_an_average_spreads_over_the_cells_that_count(backend):
    x = as_input(backend, np.arange(4.0).reshape(1, 1, 2, 2))
    for counts, divisor in ((False, 1.0), (True, 4.0)):
        layer = SubsamplingLayer(
            "avg", kernel_size=(2, 2), stride=(2, 2), padding=(1, 1), avg_pool_include_pad_in_divisor=counts
        )
        found, below = pooled_and_back(layer, x, np.full((1, 1, 2, 2), 8.0))
        np.testing.assert_array_equal(found[0, 0], np.arange(4.0).reshape(2, 2) / divisor)
        np.testing.assert_array_equal(below[0, 0], np.full((2, 2), 8.0 / divisor))


def test_padding_as_large_as_the_kernel_is_refused():
    with pytest.raises(nd.ConfigurationError, match=r"padding must be less than the kernel, got \(2, 0\)"):
        SubsamplingLayer("max", kernel_size=2, padding=(2, 0))
    assert SubsamplingLayer("max", kernel_size=2, dilation=2, padding=(2, 0)).padding == (2, 0)
