"""Sliding windows over one to three axes of places."""

from __future__ import annotations

from collections.abc import Sequence

from ...layers.pooling.window_masks import window_mode
from .draft import Config, Value
from .node import Node

Sizes = tuple[int, ...]


def effective(kernel: Sizes, dilation: Sizes) -> Sizes:
    """Return the extent of a dilated kernel."""
    return tuple((length - 1) * step + 1 for length, step in zip(kernel, dilation, strict=True))


def dimensions(sizes: Sequence[int]) -> object:
    """Return sizes as layers of Keras take them."""
    return [int(size) for size in sizes]


def bordered(node: Node, x: Value, before: Sequence[int], after: Sequence[int], part: str = "padding") -> Value:
    """Return a value with zeros around its places."""
    return _around(node, "ZeroPadding", "padding", x, before, after, part)


def cropped(node: Node, x: Value, before: Sequence[int], after: Sequence[int], part: str = "cropping") -> Value:
    """Return a value without the borders of its places."""
    return _around(node, "Cropping", "cropping", x, before, after, part)


def _around(
    node: Node, kind: str, setting: str, x: Value, before: Sequence[int], after: Sequence[int], part: str
) -> Value:
    if not any(before) and not any(after):
        return x
    pairs = [[int(first), int(last)] for first, last in zip(before, after, strict=True)]
    config: Config = {setting: pairs if len(pairs) > 1 else pairs[0]}
    return node.add(f"{kind}{len(pairs)}D", x, part=part, **config)


def padded_input(node: Node, kernel: Sizes, dilation: Sizes) -> tuple[Value, str]:
    """Return a convolution's input with the padding that Keras' words do not say, and the word for the rest."""
    mode, x = window_mode(node.conf), node.x
    if mode == "same":
        return x, "same"
    if mode == "causal":
        if len(kernel) == 1:
            return x, "causal"
        before = tuple(length - 1 for length in effective(kernel, dilation))
        return bordered(node, x, before, (0,) * len(kernel)), "valid"
    return bordered(node, x, node.conf.padding, node.conf.padding), "valid"


def thinned(node: Node, x: Value, stride: Sizes, part: str = "stride") -> Value:
    """Return every so many places of a value: the largest number of windows of one place."""
    if set(stride) == {1}:
        return x
    ones = [1] * len(stride)
    settings: Config = {"pool_size": ones, "strides": dimensions(stride), "padding": "valid"}
    return node.add(f"MaxPooling{len(stride)}D", x, part=part, **settings)
