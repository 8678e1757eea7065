"""Masks behind the nodes of a network, and over its outputs."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd.typing import Array

from ..conf.nodes import sources_of
from ..vertices.runtime import NetworkInput, VertexContext
from .nodes import NETWORK_INPUT, Node


def masks_behind(
    nodes: Sequence[Node],
    input_names: Sequence[str],
    features: Sequence[Array],
    masks: Sequence[Array | None],
    dtype: str,
) -> list[Array | None]:
    """Return the masks of all nodes' activations, from those of such features; nothing else is computed."""
    given: dict[int, tuple[Array | None, int]] = {
        NETWORK_INPUT - number: (masks[number] if masks else None, x.shape[0]) for number, x in enumerate(features)
    }
    named = {name: NetworkInput(x, mask) for name, x, mask in zip(input_names, features, masks, strict=True)}
    for number, node in enumerate(nodes):
        arriving = [given[source] for source in sources_of(node)]
        mask, examples = arriving[0]
        if node.joins:
            joined = tuple(mask for mask, _ in arriving)
            counts = tuple(count for _, count in arriving)
            ctx = VertexContext(False, nd.fresh_buffers(dtype), joined, node.needs_epsilon, named, counts[0])
            mask, examples = node.layer.feed_forward_mask(joined, ctx), node.layer.examples(counts)
        elif mask is not None:
            if node.preprocessor is not None:
                mask = node.preprocessor.feed_forward_mask(mask, examples)
            mask = None if mask is None else node.layer.feed_forward_mask(mask)
        given[number] = (mask, examples)
    return [given[number][0] for number in range(len(nodes))]


def over(mask: Array, out: Array) -> Array:
    """Return a labels' mask as it broadcasts to activations; raise ShapeError if it does not."""
    n, shape = out.shape[0], tuple(out.shape)
    sizes = tuple(mask.shape)
    if len(shape) == 3 and sizes == (n, shape[2]):
        mask = nd.reshape(mask, (n, 1, shape[2]))
    elif sizes == (n, 1):
        mask = nd.reshape(mask, (n, *(1 for _ in shape[1:])))
    fits = mask.ndim == len(shape) and mask.shape[0] == n
    if not fits or any(m not in (1, size) for m, size in zip(mask.shape, shape, strict=True)):
        raise nd.ShapeError(
            f"output: the labels' mask must be {[n, 1]} or fit the output {list(shape)}, got {list(sizes)}."
        )
    return mask
