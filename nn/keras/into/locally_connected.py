"""LocallyConnected1D and LocallyConnected2D of Keras 1 and 2: weights of every place's own, biases too."""

from __future__ import annotations

import math
from typing import Any

from nd.typing import HostArray

from ...layers import LocallyConnected1D, LocallyConnected2D
from ...onnx.vertices import OnnxConstant, OnnxVertex
from ...terms.data_formats import channels_last
from .piece import Piece, Value
from .places import Places, Reader, activated, changed, dimensions, entering, layer, leaving, saying, trained
from .windows import Windows, windows_of

KINDS: dict[int, Any] = {1: LocallyConnected1D, 2: LocallyConnected2D}


def locally_connected(piece: Piece) -> Value:
    """LocallyConnected1D, LocallyConnected2D.

    Notes
    -----
    Source: Keras 2, LocallyConnected2D; KerasLocallyConnected2D. Differs: Java adds one bias for all places, and
    turns its images round.
    """
    count = dimensions(piece)
    places, windows = entering(piece, count), windows_of(piece, count)
    piece.need(piece.get("implementation", 1) in (0, 1), f"implementation={piece.get('implementation')}")
    piece.need(windows.padding == "valid" and set(windows.dilation) == {1}, "its windows are padded or dilated")
    piece.need(None not in places.sizes, "the size of its input is open")
    n_out, has_bias = int(piece.get("filters")), bool(piece.get("use_bias", True))
    sizes = windows.behind(piece, places.sizes)
    settings = {**windows.settings(), **_held(piece, has_bias), "activation": "identity", "has_bias": False}
    settings |= {"n_in": places.channels, "n_out": n_out, "input_size": places.sizes}
    arrays = piece.arrays(W=_kernels(piece, places, windows, sizes))
    made = layer(piece, places, KINDS[count], "layer", arrays, (n_out, sizes), **settings)
    made = _turned(piece, made)
    activation = piece.activation()
    made = _with_bias(piece, made) if has_bias else made
    made = saying(piece, made, "linear")
    return leaving(piece, activated(piece, made, activation))


def _held(piece: Piece, has_bias: bool) -> dict[str, Any]:
    """Return how the kernels start and are held; of biases, which are a vertex' own, nothing is said."""
    settings = trained(piece, "kernel", (0, 1, 2), bias=False)
    if has_bias and (piece.get("bias_regularizer") or piece.get("bias_constraint")):
        piece.note("what holds the biases is left out, as every place has its own")
    if not isinstance(settings.get("weight_init", ""), str) or settings.get("weight_init") == "identity":
        del settings["weight_init"]
    return settings


def _kernels(piece: Piece, places: Places, windows: Windows, sizes: Any) -> Reader | None:
    """Return what reads Keras' kernels ``[places, cells, out]`` with the channels before the cells of a window."""
    cells, channels = math.prod(windows.kernel), places.channels

    def arranged(W: HostArray) -> HostArray:
        if channels_last(places.data_format):
            W = W.reshape(-1, cells, channels, W.shape[-1]).transpose(0, 2, 1, 3)
        W = W.reshape(-1, channels * cells, W.shape[-1])
        if len(sizes) == 2:  # ours are numbered column by column
            W = W.reshape(*sizes, *W.shape[1:]).transpose(1, 0, 2, 3).reshape(W.shape)
        return W

    return changed(piece.weight("kernel", 0), arranged)


def _turned(piece: Piece, places: Places) -> Places:
    """Return images whose windows, which are numbered column by column, stand where they have been."""
    if len(places.sizes) < 2 or 1 in places.sizes:
        return places
    rows, columns = places.sizes
    node = piece.add(OnnxVertex("Reshape", constants={1: [0, 0, columns, rows]}), places.node, part="columns")
    return places._replace(node=piece.add(OnnxVertex("Transpose", {"perm": [0, 1, 3, 2]}), node, part="rows"))


def _with_bias(piece: Piece, places: Places) -> Places:
    """Add the bias ``[*places, out]``."""
    shape, count = (1, places.channels, *(int(size or 0) for size in places.sizes)), len(places.sizes)
    order = (count, *range(count))

    def first(b: HostArray) -> HostArray:
        return b.transpose(order).reshape(shape)

    zeros = OnnxConstant("float32", shape, None)
    conf = OnnxVertex("Add", constants={1: zeros}, trained=(1,))
    arrays = piece.arrays(input_1=changed(piece.weight("bias", 1), first))
    return places._replace(node=piece.add(conf, places.node, arrays, "bias"))
