"""OnnxVertex: operators that layers of Keras say, among them those in networks that were read from Keras' files."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from .draft import Value
from .node import Node
from .vertices import keras_axis


def operator(node: Node) -> Value:
    """Add an operator, whose arrays lie with the channels first; refuse one that no layer of Keras says."""
    conf = node.conf
    function = OPERATORS.get(conf.op)
    if function is None or conf.output:
        node.refuse(f"no layer of Keras says the operator {conf.op}")
    return function(node, conf)


def _constant(node: Node, position: int) -> Any:
    """Return a constant of the vertex, an array or a number of the host."""
    constant = node.conf.constants.get(position)
    return None if constant is None else constant.host()


def _identity(node: Node, conf: Any) -> Value:
    return node.x


def _transpose(node: Node, conf: Any) -> Value:
    rank = node.x.own_rank
    perm = list(conf.attributes.get("perm") or reversed(range(rank)))
    if perm[0]:
        node.refuse("no layer of Keras moves the axis of examples")
    return node.channels_last(node.permuted(node.channels_first(node.x), perm[1:]))


def _reshape(node: Node, conf: Any) -> Value:
    known = _constant(node, 1)
    if known is None or 1 not in conf.constants:
        node.refuse("no layer of Keras reshapes to sizes that are computed")
    first, *shape = (int(size) for size in known)
    sizes = node.sizes() if 0 in shape or first else ()
    if conf.attributes.get("allowzero") or len(shape) < shape.count(0) or shape.count(0) > len(sizes):
        node.refuse("no layer of Keras reshapes so")
    shape = [size or int(sizes[axis] or -1) for axis, size in enumerate(shape)]
    if first and (first != -1 or None in sizes or math.prod(shape) != math.prod(sizes)):  # type: ignore[arg-type]
        node.refuse("no layer of Keras changes the number of examples")
    if shape.count(-1) > 1:
        node.refuse("no layer of Keras reshapes to several lengths that are not known")
    out = node.add("Reshape", node.channels_first(node.x), axes=1 + len(shape) - node.x.own_rank, target_shape=shape)
    return node.channels_last(out)


def _softmax(node: Node, conf: Any) -> Value:
    axis = int(conf.attributes.get("axis", -1))
    return node.add("Softmax", axis=keras_axis(node, axis % node.x.own_rank))


def _lp_normalization(node: Node, conf: Any) -> Value:
    if int(conf.attributes.get("p", 2)) != 2:
        node.refuse("Keras has no normalisation by the sum of numbers")
    axis = int(conf.attributes.get("axis", -1))
    return node.add("UnitNormalization", axis=keras_axis(node, axis % node.x.own_rank))


def _layer_normalization(node: Node, conf: Any) -> Value:
    rank = node.x.own_rank
    if int(conf.attributes.get("axis", -1)) % rank != rank - 1:
        node.refuse("no layer of Keras has its normalisation over several axes")
    arrays = [node.params.get(f"input_{position}", _constant(node, position)) for position in (1, 2)]
    scale, shift = (None if array is None else array.reshape(-1) for array in arrays)
    weights = [array for array in (scale, shift) if array is not None]
    epsilon = float(conf.attributes.get("epsilon", 1e-5))
    return node.channels_last(
        node.add(
            "LayerNormalization", node.channels_first(node.x), axis=-1, epsilon=epsilon, center=shift is not None,
            scale=scale is not None, weights=weights,
        )
    )  # fmt: skip


def _gather(node: Node, conf: Any) -> Value:
    """Embedding: rows of a table that is a constant or a parameter."""
    table = node.params.get("input_0", _constant(node, 0))
    if table is None or table.ndim != 2 or int(conf.attributes.get("axis", 0)):
        node.refuse("no layer of Keras says a Gather, but of the rows of a table")
    sizes = {"input_dim": int(table.shape[0]), "output_dim": int(table.shape[1])}
    rows = node.add("Embedding", node.channels_first(node.x), axes=1, weights=[table], mask_zero=False, **sizes)
    return node.channels_last(rows)


OPERATORS: Mapping[str, Callable[[Node, Any], Value]] = {
    "Gather": _gather,
    "Identity": _identity,
    "LayerNormalization": _layer_normalization,
    "LpNormalization": _lp_normalization,
    "Reshape": _reshape,
    "Softmax": _softmax,
    "Transpose": _transpose,
}
"""Operator -> what adds it, sorted."""
