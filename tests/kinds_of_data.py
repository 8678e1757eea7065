"""Numbers as people hold them: an array in every form that the library takes."""

import numpy as np
import pytest


class Tensor:
    """What an array of another library shows of itself: DLPack, and a gradient that it may not hand out."""

    def __init__(self, array, device=(1, 0), requires_grad=False):
        self._array, self._device, self.requires_grad = array, device, requires_grad
        self.shape, self.ndim, self.dtype = array.shape, array.ndim, f"tensor.{array.dtype}"

    def detach(self):
        return Tensor(self._array, self._device)

    def __dlpack_device__(self):
        return self._device

    def __dlpack__(self, **settings):
        if self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        return self._array.__dlpack__(**settings)

    def __len__(self):
        return len(self._array)


class Converted:
    """What has ``__array__`` alone."""

    def __init__(self, array):
        self._array, self.shape = array, array.shape

    def __array__(self, dtype=None, copy=None):
        return np.array(self._array, dtype)


def pandas_frame(array):
    pandas = pytest.importorskip("pandas")
    return pandas.DataFrame({f"c{i}": column for i, column in enumerate(array.T)}, index=range(10, 10 + len(array)))


def polars_frame(array):
    return pytest.importorskip("polars").DataFrame({f"c{i}": column for i, column in enumerate(array.T)})


def arrow_table(array):
    return pytest.importorskip("pyarrow").table({f"c{i}": np.array(column) for i, column in enumerate(array.T)})


def strict_array(array):
    return pytest.importorskip("array_api_strict").asarray(array)


ARRAYS = {
    "numpy": lambda array: array,
    "float64": lambda array: array.astype(np.float64),
    "fortran": np.asfortranarray,
    "read-only": lambda array: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape),
    "list": lambda array: array.tolist(),
    "list of rows": list,
    "list of tensors": lambda array: [Tensor(row) for row in array],
    "pandas": pandas_frame,
    "polars": polars_frame,
    "arrow": arrow_table,
    "dlpack": Tensor,
    "dlpack with a gradient": lambda array: Tensor(array, requires_grad=True),
    "array_api_strict": strict_array,
    "__array__": Converted,
}
