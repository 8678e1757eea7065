"""Poolings over windows, and over all places."""

from __future__ import annotations

import math

from ...layers.pooling.window_masks import window_mode
from .draft import Value
from .node import Node
from .windows import Sizes, bordered, cropped, dimensions, thinned

_CLASSES = {"avg": "AveragePooling", "max": "MaxPooling"}
_NOT_NEGATIVE = frozenset({"relu", "relu6", "sigmoid", "softmax", "softplus"})
"""Activations that zeros around do not surpass."""


def pooling(node: Node) -> Value:
    """SubsamplingLayer, Subsampling1DLayer and Subsampling3DLayer: MaxPooling and AveragePooling, 1D to 3D."""
    conf = node.conf
    kind = str(conf.pooling_type)
    if kind not in _CLASSES:
        node.refuse(f"Keras has no pooling {kind!r}")
    if set(conf.dilation) != {1}:
        node.refuse("Keras has no pooling with a dilation")
    kernel, stride, padding = (tuple(sizes) for sizes in (conf.kernel_size, conf.stride, conf.padding))
    counts_zeros = kind == "avg" and getattr(conf, "avg_pool_include_pad_in_divisor", False)
    same = window_mode(conf) == "same"
    if same and counts_zeros:
        node.refuse("Keras' AveragePooling does not divide by the cells of its padding 'same'")
    if same or not any(padding):
        return _pooled(node, node.x, kind, kernel, stride, "same" if same else "valid")
    if counts_zeros or (kind == "max" and _is_not_negative(node)):
        return _pooled(node, bordered(node, node.x, padding, padding), kind, kernel, stride, "valid")
    return _pooled_from_border(node, kind, kernel, stride, padding)


def _pooled(node: Node, x: Value, kind: str, kernel: Sizes, stride: Sizes, padding: str, part: str = "") -> Value:
    return node.add(
        f"{_CLASSES[kind]}{len(kernel)}D", x, part=part, pool_size=dimensions(kernel), strides=dimensions(stride),
        padding=padding, data_format="channels_last",
    )  # fmt: skip


def _pooled_from_border(node: Node, kind: str, kernel: Sizes, stride: Sizes, padding: Sizes) -> Value:
    """Return windows over a border that no number is in: those of padding "same" and stride 1, some of which stay."""
    before = [(length - 1) // 2 - border for length, border in zip(kernel, padding, strict=True)]
    after = [length // 2 - border for length, border in zip(kernel, padding, strict=True)]
    if min(*before, *after) < 0:
        node.refuse("Keras has no pooling whose padding is more than half of its kernel")
    x = _pooled(node, node.x, kind, kernel, (1,) * len(kernel), "same")
    return thinned(node, cropped(node, x, before, after), stride)


def _is_not_negative(node: Node) -> bool:
    """Tell whether what comes in is behind an activation that gives no number below 0."""
    before = node.draft.layers[node.x.layer]
    return before.config.get("activation") in _NOT_NEGATIVE


def global_pooling(node: Node) -> Value:
    """GlobalPoolingLayer: GlobalMaxPooling and GlobalAveragePooling, which times the number of places is a sum."""
    conf, x = node.conf, node.x
    kind, places = str(conf.pooling_type), node.x.own_rank - 2
    if kind not in ("avg", "max", "sum"):
        node.refuse(f"Keras has no pooling {kind!r}")
    if places < 1:
        node.refuse("it must have places to pool over")
    sizes = node.sizes()[1:] if kind == "sum" else ()
    if None in sizes:
        node.refuse("Keras has no sum over series whose length is not known")
    name = f"Global{'Max' if kind == 'max' else 'Average'}Pooling{places}D"
    keeps = not conf.collapse_dimensions
    pooled = node.add(name, x, axes=0 if keeps else -places, data_format="channels_last", keepdims=keeps)
    if kind != "sum":
        return pooled
    return node.add("Rescaling", pooled, part="sum", scale=float(math.prod(sizes)), offset=0.0)  # type: ignore[arg-type]
