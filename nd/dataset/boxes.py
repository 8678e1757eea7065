"""Labels of objects in pictures, for networks that detect them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.errors import DataError, ShapeError
from nd.checks import check_memory

from ..arguments import Count, checked

if TYPE_CHECKING:
    from ..typing import HostArray


@checked
def box_labels(
    boxes: Sequence[Any],
    classes: Sequence[Any],
    n_classes: Count,
    grid: tuple[Count, Count],
    picture: tuple[float, float] | None = None,
) -> HostArray:
    """Return labels for `nn.Yolo2OutputLayer` from the boxes around the objects of each picture.

    Parameters
    ----------
    boxes : sequence of arrays ``[objects, 4]``
        For each picture x1, y1, x2, y2 of its objects: the top left and bottom right corner, from the top left of the
        picture. A picture without objects has an empty list.
    classes : sequence of sequences of int
        For each picture the class number of each object.
    n_classes : int
    grid : tuple of int
        Height and width of the network's output, in cells.
    picture : tuple of float, optional
        Height and width of the pictures in the units of the boxes, pixels, say; without it boxes are in cells.

    Returns
    -------
    numpy.ndarray
        float32 ``[N, 4 + n_classes, H, W]``: in the cell of an object's center its corners in cells, and its class
        one-hot; elsewhere zeros.

    Raises
    ------
    ShapeError
        There are not as many classes as boxes, or boxes are no ``[objects, 4]``.
    DataError
        A box has no area, its center lies outside of the picture, or a class number is none of the classes.

    Notes
    -----
    Of objects with their centers in one cell the last stays, as a cell has room for one. Source: DataVec
    ``ObjectDetectionRecordReader``.

    Examples
    --------
    >>> labels = box_labels([[[32, 0, 64, 96]]], [[1]], n_classes=2, grid=(3, 4), picture=(96, 128))
    >>> labels.shape, labels[0, :, 1, 1].tolist()
    ((1, 6, 3, 4), [1.0, 0.0, 2.0, 3.0, 0.0, 1.0])
    """
    height, width = grid
    if len(boxes) != len(classes):
        raise ShapeError(f"box_labels: expected classes of {len(boxes)} pictures, as boxes, got {len(classes)}.")
    scale = np.array([1.0, 1.0] if picture is None else [width / picture[1], height / picture[0]])
    size = len(boxes) * (4 + n_classes) * height * width
    check_memory("box_labels", 4 * size, f"{len(boxes)} pictures of {n_classes} classes", "Name fewer at once.")
    labels = np.zeros((len(boxes), 4 + n_classes, height, width), np.float32)
    for number, (given, kinds) in enumerate(zip(boxes, classes, strict=True)):
        corners, kinds = _checked_objects(f"box_labels: picture {number}", given, kinds, n_classes)
        corners = corners * np.tile(scale, 2)
        centers = (corners[:, :2] + corners[:, 2:]) / 2.0
        outside = (centers < 0.0) | (centers >= [width, height]) | (corners[:, 2:] <= corners[:, :2])
        if outside.any():
            at = int(outside.any(axis=1).argmax())
            raise DataError(
                f"box_labels: picture {number}: box {at} must have an area and its center in the picture, got "
                f"{np.asarray(given)[at].tolist()}. Boxes are x1, y1, x2, y2; say picture=(height, width) for pixels."
            )
        for corner, (x, y), kind in zip(corners, centers.astype(int), kinds, strict=True):
            labels[number, :4, y, x] = corner
            labels[number, 4:, y, x] = np.arange(n_classes) == kind
    return labels


def _checked_objects(who: str, boxes: Any, classes: Any, n_classes: int) -> tuple[HostArray, HostArray]:
    """Return boxes ``[objects, 4]`` and class numbers ``[objects]``; raise errors unless they are that."""
    corners, kinds = np.asarray(boxes, np.float64), np.asarray(classes)
    if corners.size == 0 and kinds.size == 0:
        return np.zeros((0, 4)), np.zeros(0, int)
    if corners.ndim != 2 or corners.shape[1] != 4 or kinds.shape != corners.shape[:1]:
        raise ShapeError(
            f"{who}: expected boxes [objects, 4] and classes [objects], got {list(corners.shape)} and "
            f"{list(kinds.shape)}. Give x1, y1, x2, y2 and a class number for each object."
        )
    wrong = (kinds < 0) | (kinds >= n_classes) | (kinds != np.floor(kinds))
    if wrong.any():
        raise DataError(
            f"{who}: class numbers must be in 0..{n_classes - 1}, got {kinds[wrong][0]}. Is n_classes right?"
        )
    return corners, kinds
