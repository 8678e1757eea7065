"""Series, images and volumes on their way through a call: from Keras' order of axes into layers of ours, and back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, NamedTuple

from nd.activations import Activation, Identity
from nd.typing import HostArray

from ...layers import ActivationLayer, Cropping2D, Subsampling1DLayer, Upsampling3D
from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import IMAGES, SERIES, channels_last
from .piece import Arrays, Piece, Value

Sizes = tuple[int | None, ...]
Reader = Callable[[], HostArray]
SAYING: dict[int, Callable[[str], Any]] = {
    1: lambda name: Subsampling1DLayer(kernel_size=1, stride=1, convolution_mode="truncate", data_format=name),
    2: lambda name: Cropping2D(0, data_format=name),
    3: lambda name: Upsampling3D(1, data_format=name),
}
"""Axes of places -> a layer that changes nothing and says the format of what comes in: behind vertices that do not."""


class Places(NamedTuple):
    """What the vertices of a call hand to one another.

    Attributes
    ----------
    node : str
        The vertex.
    data_format : str
        Of its activations.
    channels : int
    sizes : tuple of int or None
        Of the axes of places; None for an open length.
    """

    node: str
    data_format: str
    channels: int
    sizes: Sizes


def dimensions(piece: Piece) -> int:
    """Return over how many axes a layer goes, as its class says: 2 for ``"Conv2DTranspose"``."""
    digits = [int(letter) for letter in piece.layer.class_name if letter in "123"]
    piece.need(len(digits) == 1, "its class does not say over how many axes it goes")
    return digits[0]


def entering(piece: Piece, count: int) -> Places:
    """Return the input of a layer over so many axes of places, in the format that the layer says."""
    value, data_format = piece.value, piece.format(count)
    piece.need(len(value.shape) == count + 1, f"its input must have {count + 2} axes, got {len(value.shape) + 1}")
    *sizes, channels = value.shape if channels_last(data_format) else (*value.shape[1:], value.shape[0])
    piece.need(channels is not None, "its number of channels is open")
    node = piece.formatted(value, data_format, "order").node
    return Places(node, data_format, int(channels or 0), tuple(sizes))


def leaving(piece: Piece, places: Places) -> Value:
    """Return what a call gives; the mask of its input ends there."""
    shape = (*places.sizes, places.channels) if channels_last(places.data_format) else (places.channels, *places.sizes)
    return piece.give(places.node, shape, places.data_format)._replace(mask=None)


def layer(
    piece: Piece,
    places: Places,
    kind: Any,
    part: str = "",
    arrays: Arrays | None = None,
    to: tuple[int, Sizes] | None = None,
    **settings: Any,
) -> Places:
    """Add a layer, behind a vertex that hides the format of what comes in where the layer has only the other one.

    Parameters
    ----------
    piece : Piece
    places : Places
        That come in.
    kind : class of layers
    part : str
        Of the name, empty for the last vertex of the call.
    arrays : Arrays, optional
    to : tuple (int, Sizes), optional
        Channels and sizes behind the layer, where they are others.
    **settings
        Of the layer.
    """
    data_format, node = places.data_format, places.node
    channels, sizes = to or (places.channels, places.sizes)
    if "data_format" in {field.name for field in fields(kind)}:
        settings["data_format"] = data_format
    elif data_format not in kind.formats:
        node = piece.add(OnnxVertex("Identity"), node, part=_under(part, "open"))
        node = piece.add(kind(**settings), node, arrays, part=_under(part, "inner"))
        node = piece.add(OnnxVertex("Identity"), node, part=_under(part, "closed"))
        return saying(piece, Places(node, data_format, channels, sizes), part)
    return Places(piece.add(kind(**settings), node, arrays, part), data_format, channels, sizes)


def vertex(piece: Piece, places: Places, conf: Any, part: str = "", arrays: Arrays | None = None) -> Places:
    """Add a vertex that knows no format, and what says it again."""
    inner = _under(part, "inner") if channels_last(places.data_format) else part
    return saying(piece, places._replace(node=piece.add(conf, places.node, arrays, inner)), part)


def saying(piece: Piece, places: Places, part: str = "") -> Places:
    """Add a layer that says a format which has the channels last; the other one need not be said."""
    if not channels_last(places.data_format):
        return places
    conf = SAYING[len(places.sizes)](places.data_format)
    return places._replace(node=piece.add(conf, places.node, part=part))


def _under(part: str, name: str) -> str:
    return f"{part}/{name}" if part else name


# ---- series as images of width 1


def widened(piece: Piece, places: Places) -> Places:
    """Return series as images of width 1, for layers that there are over images only."""
    node = piece.add(OnnxVertex("Unsqueeze", constants={1: [3]}), places.node, part="images")
    return Places(node, IMAGES[0], places.channels, (*places.sizes, 1))


def narrowed(piece: Piece, places: Places, data_format: str, part: str = "") -> Places:
    """Return images of width 1 as the series that they were."""
    series = Places(places.node, data_format, places.channels, places.sizes[:1])
    return vertex(piece, series, OnnxVertex("Squeeze", constants={1: [3]}), part)


def is_series(places: Places) -> bool:
    """Tell whether they are series."""
    return places.data_format in SERIES


# ---- activations


def activations(piece: Piece, inside: bool = True) -> tuple[Activation, Activation | None]:
    """Return the activation of a layer, and the one that has to come behind it, which is None where the layer does it.

    Parameters
    ----------
    piece : Piece
    inside : bool
        Whether the layer sees all channels in the format of the file: a softmax goes along its last axis.
    """
    activation = piece.activation()
    if inside or not activation.over_rows:
        return activation, None
    return Identity(), activation


def activated(piece: Piece, places: Places, activation: Activation | None) -> Places:
    """Add an activation behind everything else, if there is one."""
    if activation is None or isinstance(activation, Identity):
        return places
    return places._replace(node=piece.add(ActivationLayer(activation), places.node))


# ---- weights


def trained(piece: Piece, kernel: str, order: Sequence[int], width: bool = False, bias: bool = True) -> dict[str, Any]:
    """Return how a layer's parameters start and are held.

    Parameters
    ----------
    piece : Piece
    kernel : str
        What Keras calls the weights.
    order, width
        As for `moved`.
    bias : bool
        Whether there is one.
    """
    places = [order.index(axis) for axis in range(len(order))]
    if width:
        del places[1]
    if not bias:
        for kind in ("initializer", "regularizer", "constraint"):
            piece.get(f"bias_{kind}")
    return piece.trained(kernel, "bias" if bias else None, axes=places)


def not_identity(settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings without an initialisation that only kernels of outputs and inputs can have."""
    return {name: value for name, value in settings.items() if (name, value) != ("weight_init", "identity")}


def changed(read: Reader | None, change: Callable[[HostArray], HostArray]) -> Reader | None:
    """Return what reads a weight and gives it another order, None where there is none."""
    return None if read is None else lambda: change(read())


def row(read: Reader | None) -> Reader | None:
    """Return what reads a bias ``[n]`` as ``[1, n]``."""
    return changed(read, lambda b: b.reshape(1, -1))


def moved(read: Reader | None, order: Sequence[int], width: bool = False) -> Reader | None:
    """Return what reads a kernel with its axes in another order.

    Parameters
    ----------
    read : callable, optional
    order : sequence of int
    width : bool
        Whether it is one along time, ``[kernel, a, b]``, that becomes ``[kernel, 1, a, b]`` first.
    """

    def turned(kernel: HostArray) -> HostArray:
        wide = kernel.reshape(kernel.shape[0], 1, *kernel.shape[1:]) if width else kernel
        return wide.transpose(tuple(order))

    return changed(read, turned)
