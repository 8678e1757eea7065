"""Networks with parts of one's own whose first step is refused, for tests of what the errors say."""

from contextlib import nullcontext

import numpy as np
import pytest

import nd
from nd.dataset import DataSet
from nn import DenseLayer, MultiLayerNetwork, NeuralNetConfiguration, OutputLayer
from optimize import Sgd

RNG = np.random.default_rng(41)
X = RNG.normal(size=(6, 4)).astype(np.float32)
Y = np.eye(3, dtype=np.float32)[RNG.integers(0, 3, 6)]
EAGER = pytest.mark.parametrize("eager", [False, True], ids=["", "eager"])
PURE = pytest.mark.parametrize("pure", [False, True], ids=["", "pure"])


def network(*layers, **settings):
    base = NeuralNetConfiguration(**{"seed": 2, "updater": Sgd(0.1), **settings})
    return MultiLayerNetwork(base.list(*layers)).init()


def refused(net, message, error=nd.DTypeError, eager=False):
    """The first step fails, and changes nothing."""
    before = np.array(nd.to_host(net.params()))
    with nd.eager() if eager else nullcontext(), pytest.raises(error, match=message):
        net.fit_batch(DataSet(X, Y))
    np.testing.assert_array_equal(nd.to_host(net.params()), before)
    assert net.iteration_count == 0


def beside(own):
    return network(DenseLayer(n_in=4, n_out=5), own, OutputLayer(n_in=5, n_out=3))
