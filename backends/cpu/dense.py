"""Arithmetic that the generic code would do in more passes over memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.typing import Array, NumpyArray

from ..generic import dense
from ..signatures import SumOfProducts, WeightedSum
from .blas_level1 import LEAST_ELEMENTS

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend


def is_long(backend: NumpyBackend, given: WeightedSum[NumpyArray]) -> bool:
    """Tell whether a vector is worth a call of the BLAS."""
    return given.y.size >= LEAST_ELEMENTS


def axpby(backend: NumpyBackend, given: WeightedSum[NumpyArray]) -> Array:
    """Add vectors by the BLAS if it takes them, which binding them to its routine tells."""
    alpha, x, beta, y, _ = given
    run = backend.level_one.bound(alpha, x, beta, y)
    if run is None:
        return dense.axpby(backend, given)
    run()
    return y


def has_room(backend: NumpyBackend, given: SumOfProducts[NumpyArray]) -> bool:
    """Tell whether all products fit into the scratch memory."""
    return len(given.scratch) >= len(given.a)


def sum_of_products(backend: NumpyBackend, given: SumOfProducts[NumpyArray]) -> Array:
    """Make all products, then add them up."""
    a, b, out, scratch = given
    return np.add.reduce(np.matmul(a, b, out=scratch), axis=0, out=out)
