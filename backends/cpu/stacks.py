"""Products of stacks of matrices, by one call of NumPy's each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.typing import Array, NumpyArray

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend


def batched_matmul(backend: NumpyBackend, a: NumpyArray, b: NumpyArray, out: NumpyArray | None = None) -> Array:
    """Make all products."""
    return np.matmul(a, b) if out is None else np.matmul(a, b, out=out)


def products_with(backend: NumpyBackend, a: NumpyArray, b: NumpyArray, out: NumpyArray) -> Array:
    """Make the products of one matrix with all others."""
    return np.matmul(a, b, out=out)


def has_room(backend: NumpyBackend, a: NumpyArray, b: NumpyArray, out: NumpyArray, scratch: NumpyArray) -> bool:
    """Tell whether all products fit into the scratch memory."""
    return len(scratch) >= len(a)


def sum_of_products(backend: NumpyBackend, a: NumpyArray, b: NumpyArray, out: NumpyArray, scratch: NumpyArray) -> Array:
    """Make all products, then add them up."""
    return np.add.reduce(np.matmul(a, b, out=scratch), axis=0, out=out)
