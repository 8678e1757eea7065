"""The derivative of a convolution: two convolutions, of which one is transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    """Of the padding, as far as a window reaches; below 0 where the last numbers are in no window."""

    @property
    def pads(self) -> list[int]:
        """Padding as the attribute has it, without numbers below 0."""
        return [*self.before, *(max(length, 0) for length in self.after)]

    @property
    def left_out(self) -> list[int]:
        """Places at the end that are in no window."""
        return [max(-length, 0) for length in self.after]


def windows_of(node: NodeBack, kernel: Sequence[int]) -> Windows:
    """Return the windows of a node over its first input; NotInOnnx where sizes are not known."""
    axes = len(kernel)
    strides, dilations = (list(node.attribute(name, [1] * axes)) for name in ("strides", "dilations"))
    size, out = node.sizes(node.x, 2), node.sizes(node.y, 2)
    span = [strides[axis] * (out[axis] - 1) + dilations[axis] * (kernel[axis] - 1) + 1 for axis in range(axes)]
    missing = [span[axis] - size[axis] for axis in range(axes)]
    automatic = node.attribute("auto_pad", b"NOTSET")
    if automatic in (b"SAME_UPPER", b"SAME_LOWER"):
        before = [max(length, 0) // 2 if automatic == b"SAME_UPPER" else -(-max(length, 0) // 2) for length in missing]
    else:
        before = list(node.attribute("pads", [0] * 2 * axes))[:axes]
    after = [missing[axis] - before[axis] for axis in range(axes)]
    return Windows(list(kernel), strides, dilations, before, after)


def conv(node: NodeBack) -> Below:
    """Conv."""
    x, W = node.x, node.input(1)
    channels, *kernel = node.sizes(W, 1)
    windows, group = windows_of(node, kernel), node.attribute("group", 1)
    below: Below = [None, None, None]
    if node.needs(0):
        below[0] = transposed(node.epsilon, W, windows, group)
    if node.needs(1):
        below[1] = _of_weights(node.epsilon, x, windows, group, channels, node.sizes(x, 2))
    if node.needs(2):
        below[2] = node.epsilon.sum([0, *range(2, 2 + len(kernel))])
    return below


def transposed(epsilon: Tensor, W: Tensor, windows: Windows, group: int) -> Tensor:
    """Return what windows add to the places under them: ``epsilon [N, C, out...]``, each times the kernel."""
    settings: dict[str, Any] = {"strides": windows.strides, "dilations": windows.dilations, "pads": windows.pads}
    return epsilon.op("ConvTranspose", W, group=group, output_padding=windows.left_out, **settings)


def _of_weights(epsilon: Tensor, x: Tensor, windows: Windows, group: int, channels: int, size: Sequence[int]) -> Tensor:
    """Return dL/dW ``[n_out, n_in / group, *kernel]``: the examples are the channels of a convolution by epsilon.

    The windows of that lie as far apart as the cells of a kernel, and their cells as far as the windows.
    """
    places = range(2, 2 + len(size))
    if group > 1:
        axes = range(3, 3 + len(size))
        x = x.reshape(0, group, channels, *size).transpose(2, 1, 0, *axes).reshape(channels, -1, *size)
    else:
        x = x.transpose(1, 0, *places)
    settings: dict[str, Any] = {"strides": windows.dilations, "dilations": windows.strides, "pads": windows.pads}
    found = x.op("Conv", epsilon.transpose(1, 0, *places), group=group, **settings)
    if any(windows.left_out):  # windows that no cell of the kernel has
        found = found.op("Slice", x.ints(*(0 for _ in size)), x.ints(*windows.kernel), x.ints(*places))
    return found.transpose(1, 0, *places)
