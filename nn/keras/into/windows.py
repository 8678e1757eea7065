"""Windows of convolutions and pools, as Keras says them."""

from __future__ import annotations

from typing import Any, NamedTuple

from .piece import Piece
from .places import Sizes

Numbers = tuple[int, ...]


class Windows(NamedTuple):
    """Where windows lie.

    Attributes
    ----------
    kernel, stride, dilation : tuple of int
        A number for every axis of places.
    padding : {"valid", "same", "causal"}
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
        mode = "truncate" if self.padding == "valid" else self.padding
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


def windows_of(piece: Piece, count: int, causal: bool = False) -> Windows:
    """Return the windows of a convolution over so many axes.

    Notes
    -----
    Source: Keras, BaseConv; KerasConvolutionUtils.
    """
    padding = piece.only("padding", "valid", "same", *(["causal"] if causal else []))
    kernel = piece.sizes("kernel_size", count)
    return Windows(kernel, piece.sizes("strides", count), piece.sizes("dilation_rate", count), padding)


def pool_windows_of(piece: Piece, count: int) -> Windows:
    """Return the windows of a pooling layer, which are side by side where nothing else is said."""
    kernel = piece.sizes("pool_size", count, 2)
    stride = kernel if piece.get("strides") is None else piece.sizes("strides", count)
    return Windows(kernel, stride, (1,) * count, piece.only("padding", "valid", "same"))
