"""Poolings, upsamplings, borders and blocks on every backend: the numbers are NumPy's."""

import numpy as np
import pytest

import nd
from tests.cells import wide_values
from tests.nn.layers.test_networks_of_places import EVERY_WAY, batch, made
from tests.stand_ins import make_backend

STEPS, CLOSE = 3, {"rtol": 1e-4, "atol": 1e-5}


@pytest.mark.parametrize(("name", "masked"), wide_values(EVERY_WAY, 4))
@pytest.mark.quick_rows(2)
def test_training_gives_numpys_numbers(name, masked, any_backend):
    data, found = batch(name, 4, "float32", masked), []
    for backend in (any_backend, make_backend("numpy")):
        with nd.use_backend(backend):
            net = made(name, "float32")
            for _ in range(STEPS):
                net.fit_batch(data)
            found.append((nd.to_host(net.params()), nd.to_host(net.output(data.features))))
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(theirs, ours, **CLOSE)
