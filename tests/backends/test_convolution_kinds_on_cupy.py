"""All kinds of convolution on every backend: the numbers are NumPy's."""

import numpy as np
import pytest

import nd
from nn import MultiLayerNetwork
from tests.cells import wide_values
from tests.nn.layers.test_convolution_kinds import NETWORKS, STEPS, batch, configuration
from tests.stand_ins import make_backend

CLOSE = {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize("name", wide_values(NETWORKS, 2))
def test_training_gives_numpys_numbers(name, any_backend):
    data, found = batch(name, 4, "float32", mask=True), []
    for backend in (any_backend, make_backend("numpy")):
        with nd.use_backend(backend):
            net = MultiLayerNetwork(configuration(name, "float32")).init()
            for _ in range(STEPS):
                net.fit_batch(data)
            found.append(nd.to_host(net.params()))
    np.testing.assert_allclose(*found, **CLOSE)
