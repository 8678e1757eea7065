"""Functions of the array API standard that are no primitives, on arrays of the current backend.

What layers spend their time on is a primitive. These are computed as the backend's library does it; `astype` takes a
dtype, `matmul` stacks and vectors, as the primitives of these names do not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..state import state

if TYPE_CHECKING:
    from ..typing import Array


def function(name: str) -> Callable[..., Any]:
    """Return the function of that name in the standard, ``"expm1"`` or ``"linalg.cross"``."""

    def call(*arguments: Array, **named: object) -> Array:
        state.backend.look_at(name, (*arguments, *named.values()))
        found = state.backend.xp
        for part in name.split("."):
            found = getattr(found, part)
        return found(*arguments, **named)

    call.__name__ = call.__qualname__ = name
    return call


argmin = function("argmin")
astype = function("astype")
atan2 = function("atan2")
ceil = function("ceil")
cross = function("linalg.cross")
cumulative_sum = function("cumulative_sum")
diagonal = function("linalg.diagonal")
expm1 = function("expm1")
flip = function("flip")
floor = function("floor")
log1p = function("log1p")
matmul = function("matmul")
meshgrid = function("meshgrid")
min = function("min")
prod = function("prod")
take = function("take")
tensordot = function("tensordot")
tile = function("tile")
tril = function("tril")
triu = function("triu")
trunc = function("trunc")
