"""Local response normalisation, where a backend has a way of its own."""

from __future__ import annotations

from collections.abc import Callable

from nd.typing import Array

from ..state import state


def lrn(
    x: Array, n: int, k: float, alpha: float, beta: float, buffers: Callable[..., Array]
) -> tuple[Array, object] | None:
    """Return ``x / (k + alpha * sum of x^2 over the n channels around)^beta`` and a cache for `lrn_back`, or None."""
    return state.backend.lrn(x, n, k, alpha, beta, buffers)


def lrn_back(epsilon: Array, saved: object, buffers: Callable[..., Array]) -> Array:
    """Return dL/dx from the cache that `lrn` has returned."""
    return state.backend.lrn_back(epsilon, saved, buffers)
