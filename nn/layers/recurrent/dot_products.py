"""Scaled dot product attention over several heads, and its way back: shared by layers and by AttentionVertex.

B is examples times heads, `size` the height of a head, Tq and Tk are queries and keys. Every result lies in memory that
`buffer(name, shape)` gives.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import nd
from nd.typing import Array

from ..runtime import Buffers, Params

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
        raise nd.ConfigurationError(
            f"{who}: n_heads must be 1 where project_input is False, got {n_heads}. Set project_input."
        )
    if head_size is not None or n_out is None:
        return head_size
    if n_out % n_heads:
        raise nd.ConfigurationError(
            f"{who}: n_out must be a multiple of n_heads {n_heads} where there is no head_size, got {n_out}. Give "
            "head_size."
        )
    return n_out // n_heads


def memory(buffer: Buffers, name: str, *shape: int) -> Array:
    """Return memory in c order, whose axes can be joined and parted."""
    return nd.reshape_view(buffer(name, (math.prod(shape),)), shape)


def turned(x: Array) -> Array:
    """View every matrix of ``[B, m, n]`` as ``[B, n, m]``."""
    return nd.permute(x, (0, 2, 1))


# ---- attention itself


def left_out(masks: Sequence[Array | None], buffer: Buffers) -> Array | None:
    """Return what is added to the scores of the keys ``[N, Tk]``: 0, or much less where a mask leaves one out."""
    given = [mask for mask in masks if mask is not None]
    if not given:
        return None
    away = nd.assign(buffer("away", tuple(given[0].shape)), given[0])
    for mask in given[1:]:
        nd.minimum(away, mask, away)
    return nd.muli(nd.subi(away, 1.0), _FAR)


def weigh(queries: Array, keys: Array, away: Array | None, weights: Array) -> Array:
    """Write the softmax over the keys of every query's scores into `weights` ``[B, Tk, Tq]``; return it."""
    nd.divi(nd.batched_gemm(turned(keys), queries, weights), math.sqrt(queries.shape[1]))
    if away is not None:
        (n, length), (batch, _, steps) = away.shape, weights.shape
        apart = nd.reshape_view(weights, (n, batch // n, length, steps))
        nd.addi(apart, nd.reshape(away, (n, 1, length, 1)))
    nd.exp(nd.subi(weights, nd.max(weights, 1, keepdims=True)), weights)
    return nd.divi(weights, nd.sum(weights, 1, keepdims=True))


def weigh_back(delta: Array, values: Array, weights: Array, scores: Array, product: Array) -> Array:
    """Write dL/d(K.T Q) into `scores` ``[B, Tk, Tq]``, from ``delta = dL/d(values taken)``; `product` is scratch."""
    nd.batched_gemm(turned(values), delta, scores)
    nd.multiply(scores, weights, product)
    nd.muli(nd.subi(scores, nd.sum(product, 1, keepdims=True)), weights)
    return nd.divi(scores, math.sqrt(values.shape[1]))


def attend(heads: Sequence[Array], away: Array | None, buffer: Buffers) -> tuple[Array, Attended]:
    """Return what queries take of the values whose keys are like them ``[B, size, Tq]``; `heads` are all three."""
    queries, keys, values = heads
    weights = memory(buffer, "weights", queries.shape[0], keys.shape[2], queries.shape[2])
    weigh(queries, keys, away, weights)
    taken = nd.batched_gemm(values, weights, memory(buffer, "taken", *values.shape[:2], weights.shape[2]))
    return taken, Attended(queries, keys, values, weights)


def attend_back(
    delta: Array, attended: Attended, buffer: Buffers, needs: Sequence[bool] = (True, True, True)
) -> list[Array | None]:
    """Return the gradients of queries, keys and values, None for those that nobody needs."""
    queries, keys, values, weights = attended
    shape = tuple(weights.shape)
    scores, product = (memory(buffer, f"weights.{name}", *shape) for name in ("epsilon", "product"))
    weigh_back(delta, values, weights, scores, product)
    products = ((keys, scores, queries), (queries, turned(scores), keys), (delta, turned(weights), values))
    return [
        nd.batched_gemm(x, y, memory(buffer, f"{name}.epsilon", *like.shape)) if needed else None
        for name, needed, (x, y, like) in zip(INPUTS, needs, products, strict=True)
    ]


# ---- projections


def as_matrices(params: Params, *names: str) -> list[Array]:
    """View projections ``[heads, size, n_in]`` as ``[heads * size, n_in]``."""
    shapes = [params[name].shape for name in names]
    return [nd.reshape_view(params[name], (a * b, c)) for name, (a, b, c) in zip(names, shapes, strict=True)]


def _rows_of(stacked: Array, matrices: Sequence[Array]) -> list[Array]:
    """View the rows of a stack that are those of each matrix."""
    ends = list(accumulate(matrix.shape[0] for matrix in matrices))
    return [stacked[start:end, :] for start, end in pairwise([0, *ends])]


def project(x: Array, matrices: Sequence[Array], name: str, buffer: Buffers) -> tuple[list[Array], Projected]:
    """Return the products ``[rows, N * T]`` of matrices ``[rows, n_in]`` with ``x [N, n_in, T]``, by one product."""
    n, n_in, steps = x.shape
    columns = nd.assign(memory(buffer, f"{name}.columns", n_in, n, steps), nd.permute(x, (1, 0, 2)))
    columns, matrix = nd.reshape_view(columns, (n_in, n * steps)), matrices[0]
    if len(matrices) > 1:
        matrix = memory(buffer, f"{name}.matrix", sum(each.shape[0] for each in matrices), n_in)
        for rows, each in zip(_rows_of(matrix, matrices), matrices, strict=True):
            nd.assign(rows, each)
    product = nd.gemm(matrix, columns, memory(buffer, f"{name}.product", matrix.shape[0], n * steps))
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
    delta = memory(buffer, f"{name}.delta", matrix.shape[0], columns.shape[1])
    for rows, of_heads in zip(_rows_of(delta, gradients), deltas, strict=True):
        batch, size, steps = of_heads.shape
        apart = nd.reshape_view(rows, (batch // n, size, n, steps))
        nd.assign(apart, nd.permute(nd.reshape(of_heads, (n, batch // n, size, steps)), (1, 2, 0, 3)))
    if len(gradients) == 1:
        nd.gemm(delta, columns, gradients[0], transpose_b=True)
    else:
        gradient = nd.gemm(delta, columns, memory(buffer, f"{name}.gradient", *matrix.shape), transpose_b=True)
        for view, rows in zip(gradients, _rows_of(gradient, gradients), strict=True):
            nd.assign(view, rows)
    if not needs_epsilon:
        return None
    below = nd.gemm(matrix, delta, memory(buffer, f"{name}.below", *columns.shape), transpose_a=True)
    return nd.permute(nd.reshape_view(below, (columns.shape[0], n, columns.shape[1] // n)), (1, 0, 2))


def as_heads(product: Array, n: int, count: int, name: str, buffer: Buffers) -> Array:
    """Return a product ``[heads * size, N * T]`` as ``[B, size, T]``."""
    size, steps = product.shape[0] // count, product.shape[1] // n
    heads = memory(buffer, f"{name}.heads", n, count, size, steps)
    nd.assign(heads, nd.permute(nd.reshape_view(product, (count, size, n, steps)), (2, 0, 1, 3)))
    return nd.reshape_view(heads, (n * count, size, steps))


def project_out(taken: Array, n: int, Wo: Array, buffer: Buffers) -> tuple[Array, Array]:
    """Return the projection ``[N, n_out, Tq]`` of what all heads have taken, and that in rows ``[N * Tq, rows]``."""
    batch, size, steps = taken.shape
    count = batch // n
    joined = memory(buffer, "joined", n, steps, count, size)
    nd.assign(joined, nd.permute(nd.reshape_view(taken, (n, count, size, steps)), (0, 3, 1, 2)))
    joined = nd.reshape_view(joined, (n * steps, count * size))
    rows = nd.gemm(joined, Wo, memory(buffer, "out", n * steps, Wo.shape[1]))
    return turned(nd.reshape_view(rows, (n, steps, rows.shape[1]))), joined


def project_out_back(epsilon: Array, joined: Array, Wo: Array, gradient: Array, count: int, buffer: Buffers) -> Array:
    """Write the gradient of Wo; return dL/d(what the heads have taken) ``[B, size, Tq]``."""
    (n, n_out, steps), size = epsilon.shape, joined.shape[1] // count
    rows = nd.assign(memory(buffer, "out.epsilon", n, steps, n_out), turned(epsilon))
    rows = nd.reshape_view(rows, (n * steps, n_out))
    nd.gemm(joined, rows, gradient, transpose_a=True)
    below = nd.gemm(rows, Wo, memory(buffer, "joined.epsilon", *joined.shape), transpose_b=True)
    taken = memory(buffer, "taken.epsilon", n, count, size, steps)
    nd.assign(taken, nd.permute(nd.reshape_view(below, (n, steps, count, size)), (0, 2, 3, 1)))
    return nd.reshape_view(taken, (n * count, size, steps))
