"""Arrays of boxes: how the channels of a YOLO network are divided, and the activation of each part."""

from __future__ import annotations

from collections.abc import Sequence

import nd
from nd.activations import Sigmoid, Softmax
from nd.activations.base import value_of
from nd.arguments import Positive
from nd.checks import describe_shape
from nd.typing import Array

Priors = Sequence[tuple[Positive, Positive]]
"""Width and height of each box: an array ``[B, 2]`` becomes that where an argument is checked."""
_SIGMOID, _SOFTMAX = Sigmoid(), Softmax()


def activate(z: Array, a: Array, priors: Priors) -> None:
    """Write the activations of ``z [N, B, 5 + C, H, W]`` into `a`, which shares no memory with it."""
    for sigmoids in (slice(0, 2), slice(4, 5)):
        value_of(_SIGMOID, z[:, :, sigmoids, :, :], a[:, :, sigmoids, :, :])
    nd.exp(z[:, :, 2:4, :, :], a[:, :, 2:4, :, :])
    for number, sizes in enumerate(priors):
        for axis, size in enumerate(sizes):
            nd.muli(a[:, number, 2 + axis, :, :], size)
    last = (0, 1, 3, 4, 2)
    value_of(_SOFTMAX, nd.permute(z[:, :, 5:, :, :], last), nd.permute(a[:, :, 5:, :, :], last))


def check_boxes(who: str, priors: Priors) -> Priors:
    """Return bounding boxes; raise ArgumentError if there are none."""
    if not priors:
        raise nd.ArgumentError(
            f"{who}: bounding boxes must be a width and a height for each, got none. Give [[1.0, 1.5], [3.0, 2.0]]."
        )
    return priors


def split_boxes(who: str, x: Array, boxes: int) -> Array:
    """View ``[N, B * (5 + C), H, W]`` as ``[N, B, 5 + C, H, W]``; raise ShapeError where it is no such array."""
    if not nd.is_array(x):
        raise nd.DTypeError(f"{who}: expected an array, got {type(x).__name__}. Make one with nd.create.")
    if x.ndim != 4:
        raise nd.ShapeError(
            f"{who}: expected images {describe_shape(('N', 'B * (5 + C)', 'H', 'W'))}, got {describe_shape(x.shape)}. "
            "Set the network's input type: InputType.convolutional(h, w, c)."
        )
    n, channels, *places = x.shape
    check_channels(who, channels, boxes)
    return nd.reshape(x, (n, boxes, channels // boxes, *places))


def check_channels(who: str, channels: int, boxes: int) -> None:
    """Raise ShapeError unless so many channels are those of so many boxes."""
    if channels % boxes or channels // boxes < 6:
        raise nd.ShapeError(
            f"{who}: expected B * (5 + C) channels, {boxes} boxes of 5 numbers and one for each class, got {channels}. "
            f"Let the layer below have n_out={boxes} * (5 + number of classes)."
        )
