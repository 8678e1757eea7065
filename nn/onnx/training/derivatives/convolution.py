"""Derivatives of convolutions: two convolutions, of which one is transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...out.node_draft import NotInOnnx
from ..tensors import Tensor
from .node_back import NodeBack

Below = list[Tensor | None]


class Windows(NamedTuple):
    """Where the windows of a node lie; a number for every axis of places."""

    kernel: list[int]
    strides: list[int]
    dilations: list[int]
    before: list[int]
    after: list[int]

    @property
    def settings(self) -> dict[str, Any]:
        """The attributes of a convolution that puts them there."""
        return {"strides": self.strides, "dilations": self.dilations, "pads": [*self.before, *self.after]}


def windows_of(node: NodeBack, kernel: Sequence[int]) -> Windows:
    """Return the windows of a node; NotInOnnx where padding follows from sizes that are not known."""
    axes = range(len(kernel))
    strides, dilations = (list(node.attribute(name, [1] * len(kernel))) for name in ("strides", "dilations"))
    if node.attribute("auto_pad", b"NOTSET") == b"NOTSET":
        pads = list(node.attribute("pads", [0] * 2 * len(kernel)))
        return Windows(list(kernel), strides, dilations, pads[: len(kernel)], pads[len(kernel) :])
    size, out = node.sizes(node.x, 2), node.sizes(node.y, 2)
    spans = [strides[axis] * (out[axis] - 1) + dilations[axis] * (kernel[axis] - 1) + 1 for axis in axes]
    missing = [max(spans[axis] - size[axis], 0) for axis in axes]
    before = [total // 2 for total in missing]  # SAME_UPPER: the odd one is behind
    return Windows(list(kernel), strides, dilations, before, [missing[axis] - before[axis] for axis in axes])


def conv(node: NodeBack) -> Below:
    """Conv."""
    x, W = node.x, node.input(1)
    windows, group = windows_of(node, node.sizes(W, 2)), node.attribute("group", 1)
    below: Below = [None, None, None]
    if node.needs(0):
        below[0] = transposed(node.epsilon, W, windows, group, x)
    if node.needs(1):
        below[1] = _of_weights(node.epsilon, x, windows, group, node.sizes(W, 1)[0])
    if node.needs(2):
        below[2] = _of_bias(node)
    return below


def conv_transpose(node: NodeBack) -> Below:
    """ConvTranspose of one group: what it puts under windows is what the convolution back sees in them."""
    x, W = node.x, node.input(1)
    windows = windows_of(node, node.sizes(W, 2))
    if node.attribute("group", 1) != 1:
        raise NotInOnnx("a transposed convolution of groups has no derivative here")
    below: Below = [None, None, None]
    if node.needs(0):
        below[0] = node.epsilon.op("Conv", W, **windows.settings)
    if node.needs(1):
        below[1] = _of_weights(x, node.epsilon, windows, 1, node.sizes(W, 1)[0])
    if node.needs(2):
        below[2] = _of_bias(node)
    return below


def _of_bias(node: NodeBack) -> Tensor:
    return node.epsilon.sum([0, *range(2, len(node.shape(node.x)))])


def transposed(epsilon: Tensor, W: Tensor, windows: Windows, group: int, x: Tensor) -> Tensor:
    """Return what windows add to the places under them: ``epsilon [N, C, out...]``, each times the kernel.

    It has the places of ``x``, of which the last may be in no window.
    """
    places, axes = range(2, 2 + len(windows.kernel)), len(windows.kernel)
    settings: dict[str, Any] = {"strides": windows.strides, "dilations": windows.dilations}
    spread = epsilon.op("ConvTranspose", W, group=group, **settings)
    ends = [step - 1 for step in windows.strides]
    if any(ends):
        spread = spread.op("Pad", epsilon.ints(0, 0, *(0 for _ in places), 0, 0, *ends))
    elif not any((*windows.before, *windows.after)):
        return spread
    starts = epsilon.ints(*windows.before)
    return spread.op("Slice", starts, starts + x.lengths(places), epsilon.ints(*range(2, 2 + axes)))


def _of_weights(epsilon: Tensor, x: Tensor, windows: Windows, group: int, channels: int) -> Tensor:
    """Return dL/dW ``[n_out, n_in / group, *kernel]``: the examples are the channels of a convolution by epsilon.

    The windows of that lie as far apart as the cells of a kernel, and their cells as far as the windows.
    """
    places = range(2, 2 + len(windows.kernel))
    if group > 1:
        axes, lengths = [place + 1 for place in places], x.lengths(places)
        x = x.reshape_to(x.ints(0, group, channels), lengths).transpose(2, 1, 0, *axes)
        x = x.reshape_to(x.ints(channels, -1), lengths)
    else:
        x = x.transpose(1, 0, *places)
    settings: dict[str, Any] = windows.settings | {"strides": windows.dilations, "dilations": windows.strides}
    found = x.op("Conv", epsilon.transpose(1, 0, *places), group=group, **settings)
    if set(windows.strides) != {1}:  # windows that no cell of the kernel has
        found = found.op("Slice", x.ints(*(0 for _ in places)), x.ints(*windows.kernel), x.ints(*places))
    return found.transpose(1, 0, *places)
