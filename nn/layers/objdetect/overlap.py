"""Overlap of predicted boxes with labelled ones, and how it changes with the predictions."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import nd
from nd.typing import Array


class Overlap(NamedTuple):
    """Intersection over union of the boxes of every cell with the cell's label, and its derivatives."""

    iou: Array
    """``[N, B, H, W]``, 0 where boxes do not meet and where there is no label."""
    of_centers: Array
    """d(iou)/d(x, y) of the centers, ``[N, B, 2, H, W]``."""
    of_sizes: Array
    """d(iou)/d(width, height), ``[N, B, 2, H, W]``."""


def add_cells(centers: Array, sign: float = 1.0) -> Array:
    """Add to x and y, on axis -3 of ``[..., 2, H, W]``, the column and row of their cell, times `sign`; in place."""
    rows, columns = centers.shape[-2:]
    dtype = nd.dtype_name(centers)
    nd.addi(centers[..., 0, :, :], nd.multiply(nd.arange(columns, dtype=dtype), sign))
    nd.addi(centers[..., 1, :, :], nd.reshape(nd.multiply(nd.arange(rows, dtype=dtype), sign), (rows, 1)))
    return centers


def overlap_of(centers: Array, sizes: Array, corners: Array, present: Array, buffer: Callable[..., Array]) -> Overlap:
    """Return the overlap of predicted boxes with the label of their cell.

    Parameters
    ----------
    centers, sizes : array ``[N, B, 2, H, W]``
        x and y, width and height of the predictions, in cells from the top left of the picture.
    corners : array ``[N, 1, 4, H, W]``
        x1, y1, x2, y2 of the labels, in cells.
    present : array ``[N, 1, H, W]``
        1 where a cell has a label, else 0.
    buffer : callable (name, shape) -> array

    Notes
    -----
    I = Π (min(br, br') - max(tl, tl')), U = A + A' - I over axes x and y; d(I / U) = ((U + I) dI - I dA) / U². At a
    kink, where edges lie on each other, the derivative is the one to the inside. Source: DL4J ``Yolo2OutputLayer``.
    Differs: a label of several classes counts as one; Java multiplies areas by the number of classes.
    """
    half = nd.multiply(sizes, 0.5)
    top_left, bottom_right = nd.subtract(centers, half), nd.add(centers, half)
    label_tl, label_br = corners[:, :, 0:2, :, :], corners[:, :, 2:4, :, :]
    sides = nd.subtract(nd.minimum(bottom_right, label_br), nd.maximum(top_left, label_tl))
    meets = nd.greater(sides, 0.0, buffer("meets", tuple(sides.shape)))
    meets = _product(meets)
    nd.muli(meets, present)
    intersection = nd.multiply(_product(sides), meets)
    union = nd.subtract(nd.add(_product(sizes), _product(nd.subtract(label_br, label_tl))), intersection)
    union = nd.muli(union, meets)
    divisor = nd.add(union, nd.subtract(1.0, meets))  # 1 where nothing meets
    iou = nd.divide(intersection, divisor)

    lefts = nd.greater(top_left, label_tl, buffer("lefts", tuple(sides.shape)))  # 1: the prediction's edge counts
    rights = nd.greater(label_br, bottom_right, buffer("rights", tuple(sides.shape)))
    of_centers, of_sizes = nd.subtract(rights, lefts), nd.muli(nd.add(rights, lefts), 0.5)
    for of_intersection in (of_centers, of_sizes):
        nd.muli(of_intersection[:, :, 0, :, :], sides[:, :, 1, :, :])
        nd.muli(of_intersection[:, :, 1, :, :], sides[:, :, 0, :, :])
    both, squared = _over_axes(nd.add(union, intersection)), _over_axes(nd.square(divisor))
    nd.muli(of_centers, both)
    nd.divi(of_centers, squared)
    nd.muli(of_sizes, both)
    nd.subi(of_sizes[:, :, 0, :, :], nd.multiply(sizes[:, :, 1, :, :], intersection))
    nd.subi(of_sizes[:, :, 1, :, :], nd.multiply(sizes[:, :, 0, :, :], intersection))
    nd.divi(of_sizes, squared)
    return Overlap(iou, of_centers, of_sizes)


def best_of_each_cell(iou: Array, out: Array) -> Array:
    """Write 1 for the box of each cell that overlaps most, the first of equals, else 0; both ``[N, B, H, W]``."""
    best = nd.max(iou, 1)
    free = nd.ones(*best.shape, dtype=nd.dtype_name(iou))
    for number in range(iou.shape[1]):
        chosen = nd.greater_equal(iou[:, number, :, :], best, out[:, number, :, :])
        nd.muli(chosen, free)
        nd.subi(free, chosen)
    return out


def _product(x: Array) -> Array:
    """Multiply ``[N, B, 2, H, W]`` over x and y."""
    return nd.multiply(x[:, :, 0, :, :], x[:, :, 1, :, :])


def _over_axes(x: Array) -> Array:
    """View ``[N, B, H, W]`` as ``[N, B, 1, H, W]``."""
    n, boxes, *places = x.shape
    return nd.reshape(x, (n, boxes, 1, *places))
