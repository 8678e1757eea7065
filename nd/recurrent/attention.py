"""Scaled dot product attention over several heads, forward and back.

B is examples times heads, `size` the height of a head, Tq and Tk are queries and keys. Every result lies in memory that
`buffer(name, shape)` gives.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from backends.errors import ConfigurationError
from nd.typing import Array

from ..arrays import arithmetic
from ..arrays.arithmetic import addi, batched_gemm, divi, exp, gemm, minimum, muli, multiply, subi
from ..arrays.creation import assign, permute, reshape, reshape_view
from .series import Buffers, in_c_order

INPUTS = ("queries", "keys", "values")
_FAR = 1e9
"""Taken off the scores of keys that do not count."""


class Projected(NamedTuple):
    """Results of `project` that its way back needs."""

    columns: Array
    """What came in ``[n_in, N * T]``."""
    matrix: Array
    """The projections, one below the other ``[rows, n_in]``."""


class Attended(NamedTuple):
    """Results of `attend` that its way back needs."""

    queries: Array
    """``[B, size, Tq]``."""
    keys: Array
    """``[B, size, Tk]``."""
    values: Array
    """``[B, size, Tk]``."""
    weights: Array
    """``[B, Tk, Tq]``."""


def settled_head_size(who: str, n_out: int | None, n_heads: int, head_size: int | None, projects: bool) -> int | None:
    """Return the height of a head, by default n_out / n_heads; raise ConfigurationError where the heads do not fit."""
    if not projects and n_heads != 1:
        raise ConfigurationError(
            f"{who}: n_heads must be 1 where project_input is False, got {n_heads}. Set project_input."
        )
    if head_size is not None or n_out is None:
        return head_size
    if n_out % n_heads:
        raise ConfigurationError(
            f"{who}: n_out must be a multiple of n_heads {n_heads} where there is no head_size, got {n_out}. Give "
            "head_size."
        )
    return n_out // n_heads


def turned(x: Array) -> Array:
    """View every matrix of ``[B, m, n]`` as ``[B, n, m]``."""
    return permute(x, (0, 2, 1))


# ---- attention itself


def left_out(masks: Sequence[Array | None], buffer: Buffers) -> Array | None:
    """Return what is added to the scores of the keys ``[N, Tk]``: 0, or much less where a mask leaves one out."""
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    away = assign(buffer("away", tuple(given[0].shape)), given[0])
    for mask in given[1:]:
        minimum(away, mask, away)
    return muli(subi(away, 1.0), _FAR)


def weigh(queries: Array, keys: Array, away: Array | None, weights: Array) -> Array:
    """Write the softmax over the keys of every query's scores into `weights` ``[B, Tk, Tq]``; return it."""
    divi(batched_gemm(turned(keys), queries, weights), math.sqrt(queries.shape[1]))
    if away is not None:
        (n, length), (batch, _, steps) = away.shape, weights.shape
        apart = reshape_view(weights, (n, batch // n, length, steps))
        addi(apart, reshape(away, (n, 1, length, 1)))
    exp(subi(weights, arithmetic.max(weights, 1, keepdims=True)), weights)
    return divi(weights, arithmetic.sum(weights, 1, keepdims=True))


def weigh_back(delta: Array, values: Array, weights: Array, scores: Array, product: Array) -> Array:
    """Write dL/d(K.T Q) into `scores` ``[B, Tk, Tq]``, from ``delta = dL/d(values taken)``; `product` is scratch."""
    batched_gemm(turned(values), delta, scores)
    multiply(scores, weights, product)
    muli(subi(scores, arithmetic.sum(product, 1, keepdims=True)), weights)
    return divi(scores, math.sqrt(values.shape[1]))


def attend(heads: Sequence[Array], away: Array | None, buffer: Buffers) -> tuple[Array, Attended]:
    """Return what queries take of the values whose keys are like them ``[B, size, Tq]``; `heads` are all three."""
    queries, keys, values = heads
    weights = in_c_order(buffer, "weights", (queries.shape[0], keys.shape[2], queries.shape[2]))
    weigh(queries, keys, away, weights)
    taken = batched_gemm(values, weights, in_c_order(buffer, "taken", (*values.shape[:2], weights.shape[2])))
    return taken, Attended(queries, keys, values, weights)


def attend_back(
    delta: Array, attended: Attended, buffer: Buffers, needs: Sequence[bool] = (True, True, True)
) -> list[Array | None]:
    """Return the gradients of queries, keys and values, None for those that nobody needs."""
    queries, keys, values, weights = attended
    shape = tuple(weights.shape)
    scores, product = (in_c_order(buffer, f"weights.{name}", shape) for name in ("epsilon", "product"))
    weigh_back(delta, values, weights, scores, product)
    products = ((keys, scores, queries), (queries, turned(scores), keys), (delta, turned(weights), values))
    return [
        batched_gemm(x, y, in_c_order(buffer, f"{name}.epsilon", like.shape)) if needed else None
        for name, needed, (x, y, like) in zip(INPUTS, needs, products, strict=True)
    ]


# ---- projections


def as_matrices(params: Mapping[str, Array], *names: str) -> list[Array]:
    """View projections ``[heads, size, n_in]`` as ``[heads * size, n_in]``."""
    shapes = [params[name].shape for name in names]
    return [reshape_view(params[name], (a * b, c)) for name, (a, b, c) in zip(names, shapes, strict=True)]


def _rows_of(stacked: Array, matrices: Sequence[Array]) -> list[Array]:
    """View the rows of a stack that are those of each matrix."""
    ends = list(accumulate(matrix.shape[0] for matrix in matrices))
    return [stacked[start:end, :] for start, end in pairwise([0, *ends])]


def project(x: Array, matrices: Sequence[Array], name: str, buffer: Buffers) -> tuple[list[Array], Projected]:
    """Return the products ``[rows, N * T]`` of matrices ``[rows, n_in]`` with ``x [N, n_in, T]``, by one product."""
    n, n_in, steps = x.shape
    columns = assign(in_c_order(buffer, f"{name}.columns", (n_in, n, steps)), permute(x, (1, 0, 2)))
    columns, matrix = reshape_view(columns, (n_in, n * steps)), matrices[0]
    if len(matrices) > 1:
        matrix = in_c_order(buffer, f"{name}.matrix", (sum(each.shape[0] for each in matrices), n_in))
        for rows, each in zip(_rows_of(matrix, matrices), matrices, strict=True):
            assign(rows, each)
    product = gemm(matrix, columns, in_c_order(buffer, f"{name}.product", (matrix.shape[0], n * steps)))
    return _rows_of(product, matrices), Projected(columns, matrix)


def project_back(
    deltas: Sequence[Array],
    projected: Projected,
    gradients: Sequence[Array],
    n: int,
    name: str,
    buffer: Buffers,
    needs_epsilon: bool,
) -> Array | None:
    """Write the gradients of the matrices, from those of their heads ``[B, size, T]``; return dL/dx ``[N, n_in, T]``.

    Each may have another number of heads.
    """
    columns, matrix = projected
    delta = in_c_order(buffer, f"{name}.delta", (matrix.shape[0], columns.shape[1]))
    for rows, of_heads in zip(_rows_of(delta, gradients), deltas, strict=True):
        batch, size, steps = of_heads.shape
        apart = reshape_view(rows, (batch // n, size, n, steps))
        assign(apart, permute(reshape(of_heads, (n, batch // n, size, steps)), (1, 2, 0, 3)))
    if len(gradients) == 1:
        gemm(delta, columns, gradients[0], transpose_b=True)
    else:
        gradient = gemm(delta, columns, in_c_order(buffer, f"{name}.gradient", matrix.shape), transpose_b=True)
        for view, rows in zip(gradients, _rows_of(gradient, gradients), strict=True):
            assign(view, rows)
    if not needs_epsilon:
        return None
    below = gemm(matrix, delta, in_c_order(buffer, f"{name}.below", columns.shape), transpose_a=True)
    return permute(reshape_view(below, (columns.shape[0], n, columns.shape[1] // n)), (1, 0, 2))


def as_heads(product: Array, n: int, count: int, name: str, buffer: Buffers) -> Array:
    """Return a product ``[heads * size, N * T]`` as ``[B, size, T]``."""
    size, steps = product.shape[0] // count, product.shape[1] // n
    heads = in_c_order(buffer, f"{name}.heads", (n, count, size, steps))
    assign(heads, permute(reshape_view(product, (count, size, n, steps)), (2, 0, 1, 3)))
    return reshape_view(heads, (n * count, size, steps))


def project_out(taken: Array, n: int, Wo: Array, buffer: Buffers) -> tuple[Array, Array]:
    """Return the projection ``[N, n_out, Tq]`` of what all heads have taken, and that in rows ``[N * Tq, rows]``."""
    batch, size, steps = taken.shape
    count = batch // n
    joined = in_c_order(buffer, "joined", (n, steps, count, size))
    assign(joined, permute(reshape_view(taken, (n, count, size, steps)), (0, 3, 1, 2)))
    joined = reshape_view(joined, (n * steps, count * size))
    rows = gemm(joined, Wo, in_c_order(buffer, "out", (n * steps, Wo.shape[1])))
    return turned(reshape_view(rows, (n, steps, rows.shape[1]))), joined


def project_out_back(epsilon: Array, joined: Array, Wo: Array, gradient: Array, count: int, buffer: Buffers) -> Array:
    """Write the gradient of Wo; return dL/d(what the heads have taken) ``[B, size, Tq]``."""
    (n, n_out, steps), size = epsilon.shape, joined.shape[1] // count
    rows = assign(in_c_order(buffer, "out.epsilon", (n, steps, n_out)), turned(epsilon))
    rows = reshape_view(rows, (n * steps, n_out))
    gemm(joined, rows, gradient, transpose_a=True)
    below = gemm(rows, Wo, in_c_order(buffer, "joined.epsilon", joined.shape), transpose_b=True)
    taken = in_c_order(buffer, "taken.epsilon", (n, count, size, steps))
    assign(taken, permute(reshape_view(below, (n, steps, count, size)), (0, 2, 3, 1)))
    return reshape_view(taken, (n * count, size, steps))
