"""Products of many matrices at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from backends.typing import Array


class BatchedProducts:
    """Mixin of `Backend`."""

    xp: Any
    stored: Callable[..., Array]

    def batched_matmul(self, a: Array, b: Array, out: Array | None = None) -> Array:
        """Return the products of the matrices ``a [B, M, K]`` and ``b [B, K, N]``, in `out` when given."""
        return self.stored(self.xp.matmul(a, b), out)
