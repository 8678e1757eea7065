"""Masks on their way through a network: what becomes of them behind layers, preprocessors and vertices.

A mask is ``[N, T]`` of series, ``[N, 1]`` of rows and ``[N, 1, 1, 1]`` of images, of which only time steps are masked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

from ...terms.data_formats import computed
from .node_draft import NodeDraft

Rule = Callable[[NodeDraft, str], str | None]


def mask_behind(layer: NodeDraft) -> str | None:
    """Return the mask of a layer's activations, from that of its input; None where all count."""
    return _behind(LAYERS, layer)


def mask_behind_preprocessor(node: NodeDraft) -> str | None:
    """Return the mask of what a preprocessor gives; None where all counts."""
    return _behind(PREPROCESSORS, node)


def mask_behind_vertex(vertex: NodeDraft) -> str | None:
    """Return the mask of a vertex' activations, from those of its inputs; None where all count."""
    kind = type(vertex.conf).__name__
    return VERTICES_OF_SEVERAL[kind](vertex) if kind in VERTICES_OF_SEVERAL else _behind(VERTICES, vertex)


def _behind(table: Mapping[str, Rule], node: NodeDraft) -> str | None:
    if node.mask is None:
        return None
    rule = table.get(type(node.conf).__name__)
    return node.mask if rule is None else rule(node, node.mask)


def over_activations(layer: NodeDraft, a: str) -> str:
    """Multiply activations by the mask where the layer does so."""
    kind = type(layer.conf).__name__
    if layer.mask is None or kind not in MULTIPLIED:
        return a
    mask = layer.node("Unsqueeze", layer.mask, layer.draft.ints(1)) if MULTIPLIED[kind] == "series" else layer.mask
    return layer.node("Mul", a, mask)


MULTIPLIED: Mapping[str, str] = {
    "AutoEncoder": "rows",
    "CenterLossOutputLayer": "rows",
    "DenseLayer": "rows",
    "ElementWiseMultiplicationLayer": "rows",
    "EmbeddingLayer": "rows",
    "EmbeddingSequenceLayer": "series",
    "OutputLayer": "rows",
    "RBM": "rows",
    "RnnOutputLayer": "series",
    "VariationalAutoencoder": "rows",
}
"""Class of a layer whose activations are multiplied by the mask -> what they are, sorted."""


# ---- layers


def _ends(node: NodeDraft, mask: str) -> None:
    return None


def _same(node: NodeDraft, mask: str) -> str:
    return mask


def _of_inside(layer: NodeDraft, mask: str) -> str | None:
    return mask_behind(layer.around(layer.conf.inside, {}))


def _moved(layer: NodeDraft, mask: str) -> str:
    """Do with the mask what the layer does with a channel of a series."""
    from . import LAYERS as WRITERS
    from . import part_writer

    ints = layer.draft.ints
    channel = layer.around(layer.conf, {}, layer.node("Unsqueeze", mask, ints(1)), masks=(None,))
    return layer.node("Squeeze", part_writer(WRITERS, layer.conf)(channel), ints(1))


def _under_windows(layer: NodeDraft, mask: str) -> str:
    """Return the largest number under every window; see `reduced_mask` in nn.layers.pooling.window_masks."""
    from ...layers.pooling.window_masks import window_mode
    from .poolings import largest

    if window_mode(layer.conf) in ("same", "causal") and set(layer.conf.stride) == {1}:
        return mask
    ints = layer.draft.ints
    channel = layer.around(layer.conf, {}, layer.node("Unsqueeze", mask, ints(1)))
    return layer.node("Squeeze", layer.node("Max", largest(channel), 0.0), ints(1))


def _repeated(layer: NodeDraft, mask: str) -> str:
    return layer.node("Expand", mask, layer.draft.ints(1, layer.conf.n))


def _of_blocks(layer: NodeDraft, mask: str) -> str:
    layer.refuse("masks do not go through it")


LAYERS: Mapping[str, Rule] = {
    "Bidirectional": _of_inside,
    "CapsuleLayer": _ends,
    "CapsuleStrengthLayer": _ends,
    "Convolution1DLayer": _under_windows,
    "Convolution3D": _same,
    "ConvolutionLayer": _same,
    "Cropping1D": _moved,
    "Cropping2D": _same,
    "Cropping3D": _same,
    "Deconvolution2D": _same,
    "Deconvolution3D": _same,
    "DepthwiseConvolution2D": _same,
    "FrozenLayer": _of_inside,
    "FrozenLayerWithBackprop": _of_inside,
    "GlobalPoolingLayer": _ends,
    "LastTimeStep": _ends,
    "LearnedSelfAttentionLayer": _ends,
    "LocallyConnected1D": _under_windows,
    "LocallyConnected2D": _same,
    "MaskZeroLayer": _ends,
    "PrimaryCapsules": _ends,
    "RepeatVector": _repeated,
    "SeparableConvolution2D": _same,
    "SpaceToBatchLayer": _of_blocks,
    "SpaceToDepthLayer": _same,
    "Subsampling1DLayer": _under_windows,
    "Subsampling3DLayer": _same,
    "SubsamplingLayer": _same,
    "TimeDistributed": _same,
    "Upsampling1D": _moved,
    "Upsampling2D": _same,
    "Upsampling3D": _same,
    "ZeroPadding1DLayer": _moved,
    "ZeroPadding3DLayer": _same,
    "ZeroPaddingLayer": _same,
}
"""Class of a layer with a rule of its own -> that, sorted. A mask of images says the same for all of their places."""


# ---- preprocessors


def _flat(node: NodeDraft, mask: str) -> str:
    return node.node("Flatten", mask, axis=1)


def _of_images(node: NodeDraft, mask: str) -> str:
    return node.reshaped(mask, -1, *(1 for _ in node.conf.image))


def _of_steps(node: NodeDraft, mask: str) -> str:
    """Return a mask of series as one of rows, row ``t * N + n`` for example n at time t; one of rows stays."""
    return node.reshaped(node.node("Transpose", mask, perm=[1, 0]), -1, 1)


def _of_series(node: NodeDraft, mask: str) -> str:
    if node.rank() == 3:
        return mask
    return node.node("Transpose", node.reshaped(mask, -1, node.counts[0]()), perm=[1, 0])


def _of_images_of_steps(node: NodeDraft, mask: str) -> str:
    return node.reshaped(node.node("Transpose", mask, perm=[1, 0]), -1, 1, 1, 1)


PREPROCESSORS: Mapping[str, Rule] = {
    "Cnn3DToFeedForwardPreProcessor": _flat,
    "CnnToFeedForwardPreProcessor": _flat,
    "CnnToRnnPreProcessor": _of_series,
    "FeedForwardToCnn3DPreProcessor": _of_images,
    "FeedForwardToCnnPreProcessor": _of_images,
    "FeedForwardToRnnPreProcessor": _of_series,
    "RnnToCnnPreProcessor": _of_images_of_steps,
    "RnnToFeedForwardPreProcessor": _of_steps,
}
"""Class of a preprocessor with a rule of its own -> that, sorted."""


# ---- vertices


def _of_distances(vertex: NodeDraft, mask: str) -> str | None:
    return mask if vertex.rank() == 2 else None


def _of_preprocessor(vertex: NodeDraft, mask: str) -> str | None:
    return mask_behind_preprocessor(vertex.around(vertex.conf.preprocessor, {}))


def _reshaped(vertex: NodeDraft, mask: str) -> str:
    """Return the mask of a ReshapeVertex: by its mask_shape, or where series stay series, or become rows of steps."""
    conf: Any = vertex.conf
    if conf.mask_shape is not None:
        return vertex.reshaped(mask, *conf.mask_shape)
    wanted = (conf.new_shape[0], *computed(conf.new_shape[1:], conf.output_format))
    series = len(wanted) == 3
    if (vertex.rank() == 3) is series:
        return mask
    if conf.new_shape[0] > 0:
        return vertex.reshaped(mask, wanted[0], wanted[2] if series else 1)
    if not series or wanted[2] < 1:
        vertex.refuse("mask_shape must say what becomes of its mask. Give it")
    return vertex.node("Expand", mask, vertex.draft.ints(1, wanted[2]))


def _part(vertex: NodeDraft, mask: str) -> str:
    from .vertices import unstack

    return unstack(vertex.around(vertex.conf, {}, mask))


VERTICES: Mapping[str, Rule] = {
    "L2Vertex": _of_distances,
    "LastTimeStepVertex": _ends,
    "PreprocessorVertex": _of_preprocessor,
    "ReshapeVertex": _reshaped,
    "UnstackVertex": _part,
}
"""Class of a vertex with a rule of its own for the mask of its first input -> that, sorted."""


def _any_counts(vertex: NodeDraft) -> str | None:
    """Return a mask of what counts in any of the inputs; None where one of them has no mask."""
    given = [mask for mask in vertex.masks if mask is not None]
    if len(given) < len(vertex.masks) or not given:
        return None
    if len(given) == 1:
        return given[0]
    counts = vertex.node("Greater", vertex.node("Max", *given), 0.0)
    return vertex.node("Cast", counts, to=vertex.draft.word(vertex.draft.dtype))


def _merged(vertex: NodeDraft) -> str | None:
    from .vertices import merged_axis

    if None not in vertex.masks and merged_axis(vertex) != 1:
        vertex.refuse("masks do not become longer where it joins time steps")
    return _any_counts(vertex)


def _of_network_input(vertex: NodeDraft) -> str | None:
    return vertex.network_masks.get(vertex.conf.input_name)


def _stacked(vertex: NodeDraft) -> str | None:
    """Return the masks one below the other, ones for inputs that have none; shorter ones get zeros behind them."""
    given = [mask for mask in vertex.masks if mask is not None]
    if not given or len(vertex.masks) == 1:
        return given[0] if given else None
    ones = vertex.node("Expand", 1.0, vertex.node("Shape", given[0])) if len(given) < len(vertex.masks) else ""
    full = [ones if mask is None else mask for mask in vertex.masks]
    lengths = [vertex.draft.lengths(mask, 1, 2, f"{vertex.name}/Shape") for mask in full]
    longest = reduce(lambda one, other: vertex.node("Max", one, other), lengths)
    return vertex.node("Concat", *map(lambda *pair: _padded(vertex, longest, *pair), full, lengths), axis=0)


def _padded(vertex: NodeDraft, longest: str, mask: str, length: str) -> str:
    pads = vertex.node("Concat", vertex.draft.ints(0, 0, 0), vertex.node("Sub", longest, length), axis=0)
    return vertex.node("Pad", mask, pads)


VERTICES_OF_SEVERAL: Mapping[str, Callable[[NodeDraft], str | None]] = {
    "DuplicateToTimeSeriesVertex": _of_network_input,
    "ElementWiseVertex": _any_counts,
    "MergeVertex": _merged,
    "StackVertex": _stacked,
}
"""Class of a vertex whose rule looks at all masks -> that, sorted."""


# ---- pooling of what counts


def masked_pooling(layer: NodeDraft, pooled: Callable[[NodeDraft], str]) -> str:
    """Add a GlobalPoolingLayer over what a mask leaves in; 0 where that is nothing.

    Parameters
    ----------
    layer : NodeDraft
        With a mask.
    pooled : callable (NodeDraft) -> str
        Adds the pooling over all places.
    """
    kind, mask = layer.conf.pooling_type, str(layer.mask)
    if layer.rank() > 3:  # masks of images say the same for all of their places
        flag = layer.node("Flatten", mask, axis=1) if layer.conf.collapse_dimensions else mask
        return layer.node("Mul", pooled(layer), flag)
    over = layer.node("Unsqueeze", mask, layer.draft.ints(1))
    if kind == "max":
        counts = layer.node("Greater", over, 0.0)
        best = pooled(layer.around(layer.conf, {}, layer.node("Where", counts, layer.x, -math.inf)))
        some = layer.node("Greater", _over_steps(layer, "ReduceMax", over), 0.0)
        return layer.node("Where", some, best, 0.0)
    kept = layer.node("Mul", layer.x, over)
    if kind != "avg":
        return pooled(layer.around(layer.conf, {}, kept))
    count = _over_steps(layer, "ReduceSum", over)
    count = layer.node("Where", layer.node("Greater", count, 0.0), count, 1.0)
    return layer.node("Div", _over_steps(layer, "ReduceSum", kept), count)


def _over_steps(layer: NodeDraft, op: str, x: str) -> str:
    return layer.reduced(op, x, [2], not layer.conf.collapse_dimensions)
