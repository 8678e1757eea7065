"""Activation functions: by their name inside a layer, or as layers behind it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from nd.activations import Activation

from ...terms.data_formats import channels_last
from ..terms.activations import keras_of
from .draft import Value
from .node import Node

LAST, LAST_PLACES = -1, -2
"""Axes of arrays with the channels last: the channels, and what is last where users see the channels first."""


def softmax_axis(conf: Any, x: Value) -> int:
    """Return the axis along which a softmax of a layer goes: the last one of arrays as users see them.

    Of images NCHW those are the columns, as in Java, of NHWC the channels.
    """
    given = getattr(conf, "data_format", None) or getattr(conf, "input_format", None)
    return LAST if channels_last(given) or x.own_rank == 2 else LAST_PLACES


def inside(activation: Activation, axis: int = LAST) -> str | None:
    """Return the name of an activation that a layer of Keras can have inside; None where it has none."""
    if getattr(activation, "over_rows", False) and axis != LAST:
        return None
    name = keras_of(activation)
    return name if isinstance(name, str) else None


def with_activation(
    node: Node, class_name: str, *inputs: Value, activation: Activation | None = None, axis: int | None = None,
    **settings: Any,
) -> Value:  # fmt: skip
    """Add a layer of Keras that has an activation: inside of it, or behind it where it must be said by layers.

    Parameters
    ----------
    node : Node
    class_name : str
    *inputs : Value
    activation : Activation, optional
        By default that of the layer.
    axis : int, optional
        Along which a softmax goes; by default the last one of arrays as users see them.
    **settings
        Of `Node.add`.
    """
    activation = node.conf.activation if activation is None else activation
    given = inputs or node.inputs
    axis = softmax_axis(node.conf, given[0]) if axis is None else axis
    name = inside(activation, axis)
    z = node.add(class_name, *given, activation=name or "linear", **settings)
    return z if name else activated(node, activation, z, axis)


def activated(node: Node, activation: Activation, z: Value, axis: int = LAST, part: str = "activation") -> Value:
    """Add an activation function of z; return its output.

    Parameters
    ----------
    node : Node
    activation : Activation
    z : Value
    axis : int
        Along which a softmax goes.
    part : str
        Of the layers' names.

    Raises
    ------
    NotInKeras
        Layers of Keras cannot say it.
    """
    kind = type(activation).__name__
    if getattr(activation, "over_rows", False) and axis != LAST:
        if kind != "Softmax":
            node.refuse(f"its activation {kind} goes along another axis than the last one of Keras")
        return node.add("Softmax", z, part=part, axis=axis)
    said = keras_of(activation)
    if isinstance(said, str):
        return z if said == "linear" else node.add("Activation", z, part=part, activation=said)
    if said is not None:
        return node.add(said["class_name"], z, part=part, **said["config"])
    function = FUNCTIONS.get(kind)
    if function is None or type(activation).__module__.partition(".")[0] != "nd":
        node.refuse(f"no layer of Keras says its activation {kind}")
    return function(node, activation, z, part)


Function = Callable[[Node, Any, Value, str], Value]


def _affine(node: Node, x: Value, scale: float, offset: float, part: str) -> Value:
    return node.add("Rescaling", x, part=part, scale=float(scale), offset=float(offset))


def _cube(node: Node, activation: Any, z: Value, part: str) -> Value:
    return node.add("Multiply", z, z, z, part=part)


def _gelu(node: Node, activation: Any, z: Value, part: str) -> Value:
    """z sigmoid(1.702 z), or with Java's own polynomial in the place of 1.702."""
    if not activation.precise:
        gate = _affine(node, z, 1.702, 0.0, f"{part}_slope")
    else:
        scale = 2.0 * math.sqrt(2.0 / math.pi)
        square = node.add("Multiply", z, z, part=f"{part}_square")
        gate = _affine(node, square, 0.044715**3 * scale, scale, f"{part}_slope")
        gate = node.add("Multiply", gate, z, part=f"{part}_product")
    gate = node.add("Activation", gate, part=f"{part}_gate", activation="sigmoid")
    return node.add("Multiply", z, gate, part=part)


def _hard_sigmoid(node: Node, activation: Any, z: Value, part: str) -> Value:
    """0.2 z + 0.5, held in 0 .. 1: Keras 3 has another slope."""
    line = _affine(node, z, 0.2, 0.5, f"{part}_slope")
    return node.add("ReLU", line, part=part, max_value=1.0)


def _rectified_tanh(node: Node, activation: Any, z: Value, part: str) -> Value:
    squashed = node.add("Activation", z, part=f"{part}_tanh", activation="tanh")
    return node.add("Activation", squashed, part=part, activation="relu")


def _rrelu(node: Node, activation: Any, z: Value, part: str) -> Value:
    """The larger one of z and the mean slope, as a trained network computes it in Java."""
    mean = (activation.l + activation.u) / 2.0
    above = node.add("Activation", _affine(node, z, 1.0, -mean, f"{part}_less"), part=f"{part}_relu", activation="relu")
    return _affine(node, above, 1.0, mean, part)


def _thresholded(node: Node, activation: Any, z: Value, part: str) -> Value:
    if activation.theta < 0.0:
        node.refuse("Keras has no ThresholdedReLU with a threshold below 0")
    return node.add("ReLU", z, part=part, threshold=float(activation.theta))


FUNCTIONS: dict[str, Function] = {
    "Cube": _cube,
    "GELU": _gelu,
    "HardSigmoid": _hard_sigmoid,
    "RReLU": _rrelu,
    "RectifiedTanh": _rectified_tanh,
    "ThresholdedReLU": _thresholded,
}
"""Class -> what adds the layers that say it, sorted."""
