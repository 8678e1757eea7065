"""Targets of a YOLO network: what a label asks of every box of its cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import nd
from nd.arrays.standard import floor
from nd.typing import Array

from .overlap import Overlap, add_cells, best_of_each_cell, overlap_of


class Targets(NamedTuple):
    """What predictions are compared with; rows are those of every box of every cell of every example."""

    centers: Array
    """x, y from the top left of the cell, ``[B * H * W * N, 2]``."""
    roots: Array
    """Roots of width and height, ``[B * H * W * N, 2]``."""
    classes: Array
    """``[B * H * W * N, C]``."""
    responsible: Array
    """1 for the box that overlaps the label of its cell most, 0 for others and where a mask is, ``[N, B, H, W]``."""
    confidence: Array
    """The overlap of these boxes, 0 of all others, ``[N, B, H, W]``."""
    weights: Array
    """Of the errors of confidence, ``[N, B, H, W]``."""
    mask: Array
    """`responsible` as rows, ``[B * H * W * N, 1]``."""
    overlap: Overlap


def rows_of_boxes(name: str, x: Array, boxes: int, buffer: Callable[..., Array]) -> Array:
    """Return ``[N, B, k, H, W]`` as rows ``[B * H * W * N, k]``, in memory of that name; one box stands for all."""
    n, _, k, height, width = x.shape
    rows = buffer(name, (boxes * height * width * n, k))
    nd.assign(from_rows_of_boxes(rows, (n, boxes, k, height, width)), x)
    return rows


def from_rows_of_boxes(rows: Array, shape: tuple[int, ...]) -> Array:
    """View rows as ``[N, B, k, H, W]``, whose k is theirs."""
    n, boxes, _, height, width = shape
    return nd.permute(nd.reshape_view(rows, (boxes, height, width, n, rows.shape[1])), (3, 0, 4, 1, 2))


def targets_of(
    labels: Array, a: Array, lambda_no_obj: float, mask: Array | None, buffer: Callable[..., Array]
) -> Targets:
    """Return the targets of predictions.

    Parameters
    ----------
    labels : array ``[N, 4 + C, H, W]``
        x1, y1, x2, y2 in cells, and a class one-hot; zeros where there is nothing.
    a : array ``[N, B, 5 + C, H, W]``
        The layer's activations.
    lambda_no_obj : float
        Weight of boxes that are not responsible.
    mask : array ``[N, 1, H or 1, W or 1]``, optional
        0 for cells that do not count.
    buffer : callable (name, shape) -> array

    Notes
    -----
    A cell has an object where its classes sum to more than 0. Source: DL4J ``Yolo2OutputLayer``.
    """
    n, boxes, _, height, width = a.shape
    y = nd.reshape(labels, (n, 1, *labels.shape[1:]))
    present = buffer("present", (n, 1, height, width))
    nd.greater(nd.sum(y[:, :, 4:, :, :], 2), 0.0, present)
    middle = nd.muli(nd.add(y[:, :, 0:2, :, :], y[:, :, 2:4, :, :]), 0.5)
    nd.subi(middle, floor(middle))
    sides = nd.subtract(y[:, :, 2:4, :, :], y[:, :, 0:2, :, :])

    centers = buffer("positions", (n, boxes, 2, height, width))
    nd.assign(centers, a[:, :, 0:2, :, :])
    overlap = overlap_of(add_cells(centers), a[:, :, 2:4, :, :], y[:, :, 0:4, :, :], present, buffer)
    responsible = best_of_each_cell(overlap.iou, buffer("responsible", (n, boxes, height, width)))
    nd.muli(responsible, present)
    confidence = nd.multiply(overlap.iou, responsible)
    weights = nd.addi(nd.multiply(nd.subtract(1.0, responsible), lambda_no_obj), responsible)
    if mask is not None:
        nd.muli(weights, mask)
        nd.muli(responsible, mask)
    return Targets(
        rows_of_boxes("label_centers", middle, boxes, buffer),
        rows_of_boxes("label_roots", nd.sqrt(sides), boxes, buffer),
        rows_of_boxes("label_classes", y[:, :, 4:, :, :], boxes, buffer),
        responsible,
        confidence,
        weights,
        rows_of_boxes("rows_mask", nd.reshape(responsible, (n, boxes, 1, height, width)), boxes, buffer),
        overlap,
    )
