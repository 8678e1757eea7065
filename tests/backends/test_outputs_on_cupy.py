"""Networks that end otherwise than in plain rows, on every backend: the numbers are NumPy's."""

import numpy as np
import pytest

import nd
from tests.cells import wide_values
from tests.nn.layers.test_outputs_at_work import NETWORKS, batches_of, train
from tests.stand_ins import make_backend

CLOSE = 1e-5


@pytest.mark.parametrize("name", wide_values(NETWORKS, 3))
@pytest.mark.quick_rows(2)
def test_training_gives_numpys_numbers(name, any_backend):
    batches = batches_of(name)
    found = []
    for backend in (any_backend, make_backend("numpy")):
        with nd.use_backend(backend):
            found.append(train(name, batches)[:3])
    for theirs, ours in zip(*found, strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=CLOSE, atol=CLOSE)
