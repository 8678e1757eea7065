"""Zeros as the system gives them: pages that take neither time nor memory before they are used."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from backends.typing import Array

if TYPE_CHECKING:
    from .numpy_backend import NumpyBackend

_LARGE = 1 << 20  # elements


def are_wanted(backend: NumpyBackend, shape: Sequence[int], value: float, dtype: str, order: str = "c") -> bool:
    """Tell whether a large array is to be filled with 0, not with -0, where no recording has to note that."""
    return value == 0 and math.copysign(1.0, value) > 0 and math.prod(shape) >= _LARGE and not backend.silent


def of_system(backend: NumpyBackend, shape: Sequence[int], value: float, dtype: str, order: str = "c") -> Array:
    """Return an array of zeros."""
    zeros: Array = np.zeros(tuple(shape), backend.dtype(dtype), "C" if order == "c" else "F")
    return zeros
