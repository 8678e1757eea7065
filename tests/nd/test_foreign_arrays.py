"""Arrays of another backend than the current one are named as that, and come over by nd.to_host."""

import numpy as np
import pytest

import nd

FOREIGN = {
    "copy": lambda x: nd.copy(x),
    "add": lambda x: nd.add(nd.ones(2, 3), x),
    "concat": lambda x: nd.concat([nd.ones(2, 3), x]),
    "gemm": lambda x: nd.gemm(nd.ones(2, 2), x),
    "create": lambda x: nd.create(x),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_an_array_of_the_device_on_numpy(name, cupy):
    x = cupy.ones((2, 3), "float32")
    with nd.use_backend("numpy"), pytest.raises(nd.BackendError, match="backend is 'numpy', got an array of 'cupy'"):
        FOREIGN[name](x)


@pytest.mark.parametrize("name", sorted(FOREIGN.keys() - {"create"}))
def test_an_array_of_numpy_on_the_device(name, device):
    x = np.ones((2, 3), "float32")
    with nd.use_backend(device), pytest.raises(nd.BackendError, match="backend is 'cupy', got an array of 'numpy'"):
        FOREIGN[name](x)


def test_the_advice_of_the_message_works(device, cupy):
    values = np.arange(6, dtype="float32").reshape(2, 3)
    with nd.use_backend("numpy"):
        np.testing.assert_array_equal(nd.add(nd.create(nd.to_host(cupy.asarray(values))), 1.0), values + 1)
    with nd.use_backend(device):
        np.testing.assert_array_equal(nd.to_host(nd.add(nd.create(nd.to_host(values)), 1.0)), values + 1)
