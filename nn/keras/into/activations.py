"""Activations as layers of their own."""

from __future__ import annotations

from nd.activations import ELU, LeakyReLU, ReLU, Softmax, ThresholdedReLU

from ...layers import PReLULayer
from ...onnx.vertices import OnnxVertex
from ...vertices import ScaleVertex, ShiftVertex
from .piece import Piece, Value


def activation(piece: Piece) -> Value:
    """Activation: a function by its name."""
    return piece.activated(piece.value, piece.activation())


def relu(piece: Piece) -> Value:
    """ReLU, with its bounds."""
    most, slope, least = (piece.get(name) for name in ("max_value", "negative_slope", "threshold"))
    return piece.activated(piece.value, ReLU(max=most, negative_slope=slope or None, threshold=least or None))


def leaky_relu(piece: Piece) -> Value:
    """LeakyReLU; the slope is called alpha in Keras 1 and 2."""
    slope = piece.get("negative_slope", piece.get("alpha", 0.3))
    return piece.activated(piece.value, LeakyReLU(alpha=float(slope)))


def elu(piece: Piece) -> Value:
    """ELU."""
    return piece.activated(piece.value, ELU(alpha=float(piece.get("alpha", 1.0))))


def thresholded_relu(piece: Piece) -> Value:
    """ThresholdedReLU, of Keras 1 and 2."""
    return piece.activated(piece.value, ThresholdedReLU(theta=float(piece.get("theta", 1.0))))


def softmax(piece: Piece) -> Value:
    """Softmax along one axis, the last unless it is told."""
    value, axis = piece.value, piece.get("axis", -1)
    axes = [axis] if isinstance(axis, int) else list(axis)
    piece.need(len(axes) == 1, f"axis={axis!r}: a softmax over several axes")
    rank = len(value.shape) + 1
    at = axes[0] % rank
    piece.need(at > 0, "a softmax over examples")
    if at == rank - 1:
        return piece.activated(value, Softmax())
    value = piece.opened(value)
    return value._replace(node=piece.add(OnnxVertex("Softmax", {"axis": at}), value.node))


def prelu(piece: Piece) -> Value:
    """PReLU, with a slope for every element, or the same along axes."""
    value = piece.value
    axes = piece.get("shared_axes") or []
    shared = tuple(sorted({axes} if isinstance(axes, int) else set(axes)))
    sizes = tuple(1 if axis in shared else size for axis, size in enumerate(value.shape, 1))
    piece.need(None not in sizes, f"an open size in {value.shape}, along which slopes differ")
    whole = tuple(1 if size is None else size for size in value.shape)
    conf = PReLULayer(
        input_shape=whole,
        shared_axes=shared or None,
        **piece.trained("alpha", None),
    )
    node = piece.add(conf, value.node, piece.arrays(W=piece.weight("alpha")))
    return value._replace(node=node)


def rescaling(piece: Piece) -> Value:
    """Rescaling: every number times one and plus another."""
    value, scale, offset = piece.value, piece.get("scale"), piece.get("offset", 0.0)
    piece.need(all(isinstance(number, (int, float)) for number in (scale, offset)), f"scale={scale}, offset={offset}")
    if not offset:
        return value._replace(node=piece.add(ScaleVertex(float(scale)), value.node))
    node = value.node if scale == 1.0 else piece.add(ScaleVertex(float(scale)), value.node, part="scale")
    return value._replace(node=piece.add(ShiftVertex(float(offset)), node))
