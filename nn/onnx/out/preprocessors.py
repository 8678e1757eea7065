"""Preprocessors: Reshape and Transpose."""

from __future__ import annotations

from collections.abc import Sequence

from .node_draft import NodeDraft


def to_rows(node: NodeDraft) -> str:
    """CnnToFeedForwardPreProcessor and Cnn3DToFeedForwardPreProcessor; rows pass."""
    if node.rank() == 2:
        return node.x
    x = node.x
    if node.conf.last:
        x = _transposed(node, x, 0, *range(2, 1 + len(node.conf.image)), 1)
    return node.node("Flatten", x, axis=1)


def from_rows(node: NodeDraft) -> str:
    """FeedForwardToCnnPreProcessor and FeedForwardToCnn3DPreProcessor; images and volumes pass."""
    channels, *places = node.conf.image
    axes = len(places)
    if node.rank() == 2 + axes:
        return node.x
    if not node.conf.last:
        return node.reshaped(node.x, 0, channels, *places)
    return _transposed(node, node.reshaped(node.x, 0, *places, channels), 0, axes + 1, *range(1, axes + 1))


def series_to_rows(node: NodeDraft) -> str:
    """RnnToFeedForwardPreProcessor: row ``t * N + n`` is example n at time t; rows pass."""
    return node.x if node.rank() == 2 else _steps(node)


def rows_to_series(node: NodeDraft) -> str:
    """FeedForwardToRnnPreProcessor; series pass."""
    return node.x if node.rank() == 3 else _series(node, node.x)


def images_to_series(node: NodeDraft) -> str:
    """CnnToRnnPreProcessor: images of time steps to series."""
    return _series(node, node.node("Flatten", node.x, axis=1))


def series_to_images(node: NodeDraft) -> str:
    """RnnToCnnPreProcessor: series to images of time steps."""
    return node.reshaped(_steps(node), -1, *node.conf.image)


def _steps(node: NodeDraft) -> str:
    """Return series ``[N, C, T]`` as rows ``[T * N, C]``."""
    steps = _transposed(node, node.x, 2, 0, 1)
    return node.reshaped(steps, -1, node.draft.lengths(node.x, 1, 2, f"{node.name}/Shape"))


def _series(node: NodeDraft, rows: str) -> str:
    """Return rows ``[T * N, C]`` as series ``[N, C, T]``."""
    width = node.draft.lengths(rows, 1, 2, f"{node.name}/Shape")
    return _transposed(node, node.reshaped(rows, -1, node.counts[0](), width), 1, 2, 0)


def _transposed(node: NodeDraft, x: str, *axes: int) -> str:
    permutation: Sequence[int] = axes
    return node.node("Transpose", x, perm=list(permutation))
