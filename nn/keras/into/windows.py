"""Windows of convolutions and pools, as Keras says them."""

from __future__ import annotations

from typing import Any, NamedTuple

from .padding import surrounded
from .piece import Piece
from .places import Places, Sizes

Numbers = tuple[int, ...]


class Windows(NamedTuple):
    """Where windows lie.

    Attributes
    ----------
    kernel, stride, dilation : tuple of int
        A number for every axis of places.
    padding : {"valid", "same", "half", "causal"}
        Half is Theano's "same": as many windows, and the first begins half of a window before the first place.
    """

    kernel: Numbers
    stride: Numbers
    dilation: Numbers
    padding: str

    @property
    def reach(self) -> Numbers:
        """Places from the first to the last cell of a window."""
        return tuple(wide * (cells - 1) + 1 for cells, wide in zip(self.kernel, self.dilation, strict=True))

    def widened(self) -> Windows:
        """Return windows along time as those over images of width 1."""
        return Windows((*self.kernel, 1), (*self.stride, 1), (*self.dilation, 1), self.padding)

    def settings(self) -> dict[str, Any]:
        """Return the settings of a layer of ours, whose modes are Keras' paddings: "same" has the odd place behind."""
        mode = self.padding if self.padding in ("same", "causal") else "truncate"
        return {
            "kernel_size": self.kernel, "stride": self.stride, "dilation": self.dilation, "convolution_mode": mode,
        }  # fmt: skip

    def behind(self, piece: Piece, sizes: Sizes) -> Sizes:
        """Return the sizes of what comes out; refuse windows that do not fit."""
        return tuple(self._behind(piece, axis, size) for axis, size in enumerate(sizes))

    def _behind(self, piece: Piece, axis: int, size: int | None) -> int | None:
        if size is None:
            return None
        stride = self.stride[axis]
        if self.padding != "valid":
            return -(-size // stride)
        piece.need(size >= self.reach[axis], f"windows of {self.reach[axis]} places over {size}")
        return (size - self.reach[axis]) // stride + 1


def padded(piece: Piece, places: Places, windows: Windows, causal: bool = True) -> tuple[Places, dict[str, Any]]:
    """Return the input of a convolution, behind zeros where the layer does not add them, and the layer's settings.

    Parameters
    ----------
    piece : Piece
    places : Places
    windows : Windows
    causal : bool
        Whether the layer knows that mode.
    """
    if windows.padding == "half":
        halves = [reach // 2 for reach in windows.reach]
        sides = [(half, half - (reach + 1) % 2) for half, reach in zip(halves, windows.reach, strict=True)]
    elif windows.padding == "causal" and not causal:
        sides = [(reach - 1, 0) for reach in windows.reach]
        windows = windows._replace(padding="valid")
    else:
        return places, windows.settings()
    even = tuple(min(both) for both in sides)
    rest = [(before - least, behind - least) for (before, behind), least in zip(sides, even, strict=True)]
    return surrounded(piece, places, rest, "before"), {**windows.settings(), "padding": even}


def _is_theano(piece: Piece) -> bool:
    """Tell whether Theano has computed what the file's outputs are; Keras 1 does not say it in its files."""
    if piece.model.backend:
        return piece.model.backend == "theano"
    return piece.version == 1 and piece.get("data_format") == "channels_first"


def windows_of(piece: Piece, count: int, causal: bool = False) -> Windows:
    """Return the windows of a convolution over so many axes.

    Notes
    -----
    Source: Keras, BaseConv; Keras 2, theano_backend.py; KerasConvolutionUtils. Differs: Java takes Theano's padding
    for TensorFlow's.
    """
    padding = piece.only("padding", "valid", "same", *(["causal"] if causal else []))
    padding = "half" if padding == "same" and _is_theano(piece) else padding
    kernel = piece.sizes("kernel_size", count)
    return Windows(kernel, piece.sizes("strides", count), piece.sizes("dilation_rate", count), padding)


def pool_windows_of(piece: Piece, count: int) -> Windows:
    """Return the windows of a pooling layer, which are side by side where nothing else is said."""
    kernel = piece.sizes("pool_size", count, 2)
    stride = kernel if piece.get("strides") is None else piece.sizes("strides", count)
    padding = piece.only("padding", "valid", "same")
    padding = "half" if padding == "same" and _is_theano(piece) else padding
    return Windows(kernel, stride, (1,) * count, padding)
