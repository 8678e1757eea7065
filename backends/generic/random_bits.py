"""The bits of ND4J's counter-based generator: element i depends on the state and on i alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.typing import Array

if TYPE_CHECKING:
    from ..base import Backend
    from ..needed import Needed

_LOW32 = 0xFFFFFFFF


def advanced(node: int, n: int) -> int:
    """Return the generator's node after a draw of n elements; the root stays.

    Notes
    -----
    Source: libnd4j ``graph/RandomGenerator.h``, rewindH.
    """
    a, b = node & _LOW32, node >> 32
    b ^= a
    low = _rotate_left(a, 26) ^ b ^ ((b << 9) & _LOW32)
    return (low | (_rotate_left(b, 13) << 32)) ^ (n ^ 0xDEADBEEF)


def _rotate_left(value: int, bits: int) -> int:
    return ((value << bits) | (value >> (32 - bits))) & _LOW32


def random_raw(backend: Needed, root: int, node: int, n: int) -> Array:
    """Return ``[n]`` uint64 with the 32 random bits of positions 0 .. n-1.

    Parameters
    ----------
    root, node : int
        The generator's state, unsigned 64-bit.
    n : int
        Number of positions.

    Notes
    -----
    Source: libnd4j ``graph/RandomGenerator.h``, relativeT and xoroshiro32. Every product wraps at 64 bits.
    """
    xp = backend.xp
    position = xp.arange(2, n + 2, dtype=xp.uint64, device=backend.device)
    s0 = (position * ((node + 24243287) & 0xFFFFFFFFFFFFFFFF)) | root
    s1 = ((s0 + 723829) * position) ^ node
    v = (((s0 ^ s1) & _LOW32) * 0x9E3779BB) & _LOW32
    v = ((v << 5) | (v >> 27)) & _LOW32
    return (v * 5) & _LOW32


def random_uniform(backend: Backend, root: int, node: int, n: int, dtype: str) -> Array:
    """Return ``[n]`` numbers in 0..1: float32(bits) * 2^-32, in that precision whatever the dtype.

    Notes
    -----
    Source: libnd4j of 1.0.0-beta6/7, which wrote the reference files. The largest 128 bit patterns round to 1.
    """
    xp = backend.xp
    uniform = xp.astype(backend.random_raw(root, node, n), xp.float32) * 2.0**-32
    return xp.astype(uniform, getattr(xp, dtype), copy=False)


def dropout_factors(backend: Backend, root: int, node: int, p: float, out: Array) -> Array:
    """Write 1 / p where position i of `out`, in c order, has a uniform number below p, else 0."""
    kept = backend.greater(p, backend.random_uniform(root, node, math.prod(out.shape), "float32"))
    backend.assign(out, backend.reshape(kept, out.shape))
    return backend.divide(out, p, out)
