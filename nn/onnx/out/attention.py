"""Attention as products and a softmax."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .functions import activated
from .node_draft import NodeDraft


def itself(layer: NodeDraft) -> str:
    """SelfAttentionLayer: every step of a series looks at all of them."""
    x = layer.node("Transpose", layer.x, perm=[0, 2, 1])
    return _series(layer, _attended(layer, x, x, x, _away(layer, layer.masks[:1])))


def learned(layer: NodeDraft) -> str:
    """LearnedSelfAttentionLayer: the queries are parameters, the same for every example."""
    x = layer.node("Transpose", layer.x, perm=[0, 2, 1])
    queries = layer.param("Q", 0, 2, 1)
    return _series(layer, _attended(layer, queries, x, x, _away(layer, layer.masks[:1])))


def vertex(layer: NodeDraft) -> str:
    """AttentionVertex: the mask of the queries makes zeros of what they take."""
    queries, keys, values = (layer.node("Transpose", x, perm=[0, 2, 1]) for x in layer.inputs)
    out = _series(layer, _attended(layer, queries, keys, values, _away(layer, layer.masks[1:])))
    if layer.mask is None:
        return out
    return layer.node("Mul", out, layer.node("Unsqueeze", layer.mask, layer.draft.ints(1)))


def recurrent(layer: NodeDraft) -> str:
    """RecurrentAttentionLayer: a Scan whose state is what the step before has found, zeros at first."""
    draft, width, head_size = layer.draft, layer.conf.n_out, _head_size(layer)
    steps = layer.node("Transpose", layer.x, perm=[2, 0, 1])
    sums = layer.node("MatMul", steps, layer.param("W"))
    if "b" in layer.params:
        sums = layer.node("Add", sums, layer.param("b"))
    x = layer.node("Transpose", layer.x, perm=[0, 2, 1])
    keys, values = _keys(layer, x), _values(layer, x)
    away, RW = _away(layer, layer.masks[:1]), layer.param("RW")
    Wq = _matrix(layer, "Wq") if layer.conf.project_input else ""
    Wo = layer.param("Wo") if layer.conf.project_input else ""

    def add(before: Sequence[str], here: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
        a = activated(draft, layer.conf.activation, layer.node("Add", *here, *before), layer.name)
        query = layer.node("MatMul", a, Wq) if Wq else a
        query = layer.node("Reshape", query, draft.ints(0, -1, 1, head_size))
        taken = layer.node("Flatten", _weighed(layer, query, keys, values, away), axis=1)
        taken = layer.node("MatMul", taken, Wo) if Wo else taken
        return (layer.node("MatMul", taken, RW),), (a,)

    shape = layer.node("Concat", draft.lengths(x, 0, 1, f"{layer.name}/Shape"), draft.ints(width), axis=0)
    start = layer.node("Expand", 0.0, shape)
    _, out = draft.scan(add, [start], [sums], f"{layer.name}/Scan")
    return layer.node("Transpose", out, perm=[1, 2, 0])


def _attended(layer: NodeDraft, queries: str, keys: str, values: str, away: str | None) -> str:
    """Add what queries ``[N, Tq, C]`` take of values, whose keys ``[N, Tk, C]`` are like them: ``[N, Tq, n_out]``."""
    heads = _heads(layer, queries, "Wq", 0, 2, 1, 3)
    taken = _weighed(layer, heads, _keys(layer, keys), _values(layer, values), away)
    taken = layer.node("Transpose", taken, perm=[0, 2, 1, 3])
    joined = layer.node("Reshape", taken, layer.draft.ints(0, 0, -1))
    return layer.node("MatMul", joined, layer.param("Wo")) if layer.conf.project_input else joined


def _weighed(layer: NodeDraft, queries: str, keys: str, values: str, away: str | None) -> str:
    """Add softmax(Q K / sqrt(size)) V; Q is ``[N, heads, Tq, size]``, K has the axes of time and size exchanged."""
    root = layer.draft.number(math.sqrt(_head_size(layer)))
    scores = layer.node("Div", layer.node("MatMul", queries, keys), root)
    scores = scores if away is None else layer.node("Add", scores, away)
    return layer.node("MatMul", layer.node("Softmax", scores, axis=-1), values)


def _keys(layer: NodeDraft, x: str) -> str:
    return _heads(layer, x, "Wk", 0, 2, 3, 1)


def _values(layer: NodeDraft, x: str) -> str:
    return _heads(layer, x, "Wv", 0, 2, 1, 3)


def _heads(layer: NodeDraft, x: str, name: str, *axes: int) -> str:
    """Add the heads of ``x [N, T, C]``: ``[N, T, heads, size]`` with axes in that order."""
    if layer.conf.project_input:
        x = layer.node("MatMul", x, _matrix(layer, name))
    apart = layer.node("Reshape", x, layer.draft.ints(0, 0, layer.conf.n_heads, _head_size(layer)))
    return layer.node("Transpose", apart, perm=list(axes))


def _head_size(layer: NodeDraft) -> int:
    """Return the height of a head; without projections that of what comes in."""
    conf = layer.conf
    return int(conf.head_size if conf.project_input else conf.n_out)


def _matrix(layer: NodeDraft, name: str) -> str:
    """Return a projection ``[heads, size, n_in]`` as ``[n_in, heads * size]``."""
    array = layer.params[name]
    return layer.draft.array(array.reshape(-1, array.shape[-1]).transpose(), f"{layer.name}/{name}")


def _away(layer: NodeDraft, masks: Sequence[str | None]) -> str | None:
    """Add what is added to the scores of keys: 0, or much less where one of the masks ``[N, T]`` leaves one out."""
    draft, given = layer.draft, [mask for mask in masks if mask is not None]
    if not given:
        return None
    least = given[0] if len(given) == 1 else layer.node("Min", *given)
    away = layer.node("Mul", layer.node("Sub", least, 1.0), 1e9)
    return layer.node("Unsqueeze", away, draft.ints(1, 2))


def _series(layer: NodeDraft, out: str) -> str:
    """Add ``[N, T, C]`` as ``[N, C, T]``."""
    return layer.node("Transpose", out, perm=[0, 2, 1])
