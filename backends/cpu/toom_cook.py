"""Toom-Cook (Winograd) convolution in one dimension: m outputs of a k-tap filter from m + k - 1 products.

With ``w [k]``, ``x [p]``, ``p = m + k - 1`` and the three matrices of this module

    y = A^T ((G w) * (B^T x))                 m outputs of the cross-correlation
    dL/dx = B ((G w) * (A dL/dy))
    dL/dw = G^T ((A dL/dy) * (B^T x))

where * is elementwise, or, as in a convolution over channels, one matrix product per point. Source: Winograd,
Arithmetic Complexity of Computations, 1980; the points are those of Barabasz et al., Error Analysis and Improving the
Accuracy of Winograd Convolution for DNNs, 2020.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

Matrix = list[list[float]]

POINTS = tuple(Fraction(point) for point in ("0", "1", "-1", "2", "-2", "1/2", "-1/2"))
"""Points at which the polynomials are evaluated, beside infinity: powers of two, so that most factors are exact."""


class Transforms(NamedTuple):
    """The matrices as nested lists: ``AT [m][p]``, ``G [p][k]``, ``BT [p][p]``."""

    AT: Matrix
    G: Matrix
    BT: Matrix


def best_tile(taps: int, outputs: int) -> int:
    """Return the m for which `outputs` of a filter of `taps` take the fewest products; 1 where nothing is gained."""
    tiles = range(1, max(min(len(POINTS) + 2 - taps, outputs), 1) + 1)
    return min(tiles, key=lambda m: products(taps, outputs, m))


def products(taps: int, outputs: int, m: int) -> int:
    """Return the number of products that `outputs` take in tiles of m; a tile of 1 is the plain convolution."""
    return math.ceil(outputs / m) * (m + taps - 1)


@lru_cache(maxsize=64)
def transforms(m: int, taps: int) -> Transforms:
    """Return the matrices for m outputs of a filter of `taps`, ``m + taps - 2 <= len(POINTS)``."""
    p = m + taps - 1
    points = POINTS[: p - 1]
    AT, G, BT = [[] for _ in range(m)], [], []  # type: ignore[var-annotated]
    for point in points:
        roots = [root for root in points if root != point]
        row = _polynomial(roots)
        scale = _power_of_two(max(abs(value) for value in row))  # moved between B and G, so that both stay near 1
        norm = math.prod((point - root for root in roots), start=Fraction(1)) / scale
        BT.append([float(value / scale) for value in row] + [0.0])
        G.append([float(point**tap / norm) for tap in range(taps)])
        for output in range(m):
            AT[output].append(float(point**output))
    row = _polynomial(points)
    scale = _power_of_two(max(abs(value) for value in row))
    BT.append([float(value / scale) for value in row])
    G.append([0.0] * (taps - 1) + [float(scale)])
    for output in range(m):
        AT[output].append(float(output == m - 1))
    return Transforms(AT, G, BT)


def _polynomial(roots: tuple[Fraction, ...] | list[Fraction]) -> list[Fraction]:
    """Return the coefficients of prod (x - root), the constant first."""
    coefficients = [Fraction(1)]
    for root in roots:
        shifted, scaled = [Fraction(0), *coefficients], [*(-root * value for value in coefficients), Fraction(0)]
        coefficients = [a + b for a, b in zip(shifted, scaled, strict=True)]
    return coefficients


def _power_of_two(value: Fraction) -> Fraction:
    """Return the power of two next to a positive number."""
    return Fraction(2) ** round(math.log2(value))
