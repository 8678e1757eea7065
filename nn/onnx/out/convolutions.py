"""Convolutions: plain, transposed, by channels, with weights of every position.

Runtimes have Conv and ConvTranspose in single precision alone. Networks in double precision get the cells under every
window side by side, and one MatMul.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from nd.typing import HostArray

from .functions import activate
from .node_draft import NodeDraft
from .windows import Sizes, Sliding, cells_of, padded, sliced, sliding_of


def convolution(layer: NodeDraft) -> str:
    """ConvolutionLayer and Convolution3D."""
    return activate(layer, convolved(layer, layer.params["W"]))


def convolution1d(layer: NodeDraft) -> str:
    """Convolution1DLayer, whose W is ``[kernel, n_in, n_out]``."""
    return activate(layer, convolved(layer, layer.params["W"].transpose(2, 1, 0)))


def depthwise(layer: NodeDraft) -> str:
    """DepthwiseConvolution2D, whose W is ``[kernel_h, kernel_w, n_in, multiplier]``."""
    W = layer.params["W"]
    return activate(layer, _by_channels(layer, W, layer.params.get("b")))


def separable(layer: NodeDraft) -> str:
    """SeparableConvolution2D: W ``[multiplier, n_in, kernel_h, kernel_w]``, then pW on single cells."""
    between = _by_channels(layer, layer.params["W"].transpose(2, 3, 1, 0), None)
    cells = Sliding((1, 1), (1, 1), (1, 1), (0,) * 4)
    return activate(layer, _correlated(layer, between, layer.params["pW"], layer.params.get("b"), cells, "pW"))


def deconvolution2d(layer: NodeDraft) -> str:
    """Deconvolution2D, whose W is ``[n_in, n_out, *kernel]``."""
    return _transposed(layer, layer.params["W"])


def deconvolution3d(layer: NodeDraft) -> str:
    """Deconvolution3D, whose W is ``[*kernel, n_out, n_in]``."""
    return _transposed(layer, layer.params["W"].transpose(4, 3, 0, 1, 2))


def convolved(layer: NodeDraft, W: HostArray) -> str:
    """Return the convolution of a layer's input with ``W [n_out, n_in, *kernel]``, and its bias added."""
    return _correlated(layer, layer.x, W, layer.params.get("b"), sliding_of(layer))


def _correlated(layer: NodeDraft, x: str, W: HostArray, b: HostArray | None, sliding: Sliding, name: str = "W") -> str:
    """Return the convolution of ``x [N, n_in, ...]`` with ``W [n_out, n_in, *kernel]``."""
    if layer.draft.dtype == "float64":
        last = _channels_last(layer, padded(layer, x, sliding), len(sliding.axes))
        return _channels_first(layer, _by_cells(layer, last, W, b, sliding.within(), name), len(sliding.axes))
    return _conv(layer, x, W, b, sliding, name)


def _conv(
    layer: NodeDraft, x: str, W: HostArray, b: HostArray | None, sliding: Sliding, name: str, group: int | None = None
) -> str:
    if sliding.padding is None and not sliding.automatic:
        x, sliding = padded(layer, x, sliding), sliding.within()
    params = [_tensor(layer, W, name), *([] if b is None else [_tensor(layer, b.reshape(-1), "b")])]
    return layer.node("Conv", x, *params, group=group, **sliding.attributes())


def _by_channels(layer: NodeDraft, W: HostArray, b: HostArray | None) -> str:
    """Return the convolution of every channel for itself, with ``W [kernel_h, kernel_w, n_in, multiplier]``."""
    sliding, channels, multiplier = sliding_of(layer), W.shape[2], W.shape[3]
    if layer.draft.dtype != "float64":
        kernels = W.transpose(2, 3, 0, 1).reshape(channels * multiplier, 1, *W.shape[:2])
        return _conv(layer, layer.x, kernels, b, sliding, "W", channels)
    x = _channels_last(layer, padded(layer, layer.x, sliding), 2)
    products = []
    for cell, part in zip(itertools.product(*map(range, W.shape[:2])), cells_of(layer, x, sliding, 1), strict=True):
        each = layer.node("Unsqueeze", part, layer.draft.ints(4))  # [N, H, W, C, 1]
        products.append(layer.node("Mul", each, _tensor(layer, W[cell], "W")))
    z = layer.node("Reshape", layer.node("Sum", *products), layer.draft.ints(0, 0, 0, -1))
    return _channels_first(layer, _shifted(layer, z, b), 2)


def transposed_sliding(layer: NodeDraft) -> tuple[Sliding, Sizes]:
    """Return the windows of a transposed convolution, and how much it adds behind every axis.

    Mode same gives the input's length times the stride: it takes away what the dilated kernel reaches beyond, and adds
    what it does not reach.
    """
    conf = layer.conf
    own = Sliding(conf.kernel_size, conf.stride, conf.dilation, conf.padding * 2)
    more: Sizes = (0,) * len(own.axes)
    if conf.convolution_mode == "same":
        beyond = [length - stride for length, stride in zip(own.effective, own.stride, strict=True)]
        before = [max(length, 0) // 2 for length in beyond]
        after = [max(length, 0) - first for length, first in zip(beyond, before, strict=True)]
        own, more = replace(own, padding=(*before, *after)), tuple(max(-length, 0) for length in beyond)
    return own, more


def _transposed(layer: NodeDraft, W: HostArray) -> str:
    """Return the transposed convolution with ``W [n_in, n_out, *kernel]``, activated."""
    own, more = transposed_sliding(layer)
    if layer.draft.dtype == "float64":
        return activate(layer, _spread(layer, W, own, more))
    b = [_tensor(layer, layer.params["b"].reshape(-1), "b")] if "b" in layer.params else []
    added = more if any(more) else None
    z = layer.node("ConvTranspose", layer.x, _tensor(layer, W, "W"), *b, output_padding=added, **own.attributes())
    return activate(layer, z)


def _spread(layer: NodeDraft, W: HostArray, own: Sliding, more: Sizes) -> str:
    """Return a transposed convolution as a plain one, of an input with gaps, with the kernel turned round."""
    axes, taken = len(own.axes), own.padding or ()
    x = _with_gaps(layer, _channels_last(layer, layer.x, axes), own.stride, W.shape[0])
    before = [own.effective[axis] - 1 - taken[axis] for axis in own.axes]
    after = [own.effective[axis] - own.stride[axis] - taken[axes + axis] + more[axis] for axis in own.axes]
    x = _bordered(layer, x, before, after)
    turned = W[(slice(None), slice(None), *(slice(None, None, -1) for _ in own.axes))]
    kernels = turned.transpose(1, 0, *range(2, 2 + axes))
    plain = Sliding(own.kernel, (1,) * axes, own.dilation, (0,) * (2 * axes))
    return _channels_first(layer, _by_cells(layer, x, kernels, layer.params.get("b"), plain, "W"), axes)


def _bordered(layer: NodeDraft, x: str, before: Sequence[int], after: Sequence[int]) -> str:
    """Return ``x [N, ..., C]`` with zeros around its places; a border below 0 is taken away."""
    if min(*before, *after) < 0:
        starts, ends = ([max(-border, 0) for border in borders] for borders in (before, after))
        x = sliced(layer, x, 1, starts, [-end for end in ends])
    return layer.node("Pad", x, layer.draft.ints(0, *(max(n, 0) for n in before), 0, 0, *(max(n, 0) for n in after), 0))


def _with_gaps(layer: NodeDraft, x: str, stride: Sizes, channels: int) -> str:
    """Return ``x [N, ..., C]`` with ``stride - 1`` zeros behind every place."""
    ints, axes = layer.draft.ints, len(stride)
    for step in reversed(stride) if set(stride) != {1} else ():  # of the last axis, which then becomes the first
        if step > 1:
            apart = layer.node("Unsqueeze", x, ints(axes + 1))
            apart = layer.node("Pad", apart, ints(*[0] * (2 * axes + 4), step - 1, 0))
            x = layer.node("Reshape", apart, ints(*[0] * axes, -1, channels))
        if axes > 1:
            x = layer.node("Transpose", x, perm=[0, axes, *range(1, axes), axes + 1])
    return x


def _by_cells(layer: NodeDraft, x: str, W: HostArray, b: HostArray | None, sliding: Sliding, name: str) -> str:
    """Return the convolution of ``x [N, ..., C]``, which has its padding, with ``W [n_out, C, *kernel]``."""
    cells = cells_of(layer, x, sliding, 1)
    columns = layer.node("Concat", *cells, axis=1 + len(sliding.axes)) if len(cells) > 1 else cells[0]
    matrix = W.transpose(*range(2, W.ndim), 1, 0).reshape(-1, W.shape[0])
    return _shifted(layer, layer.node("MatMul", columns, _tensor(layer, matrix, name)), b)


def _shifted(layer: NodeDraft, z: str, b: HostArray | None) -> str:
    """Return ``z [N, ..., n_out]`` with a bias added."""
    return z if b is None else layer.node("Add", z, _tensor(layer, b.reshape(-1), "b"))


def _tensor(layer: NodeDraft, array: HostArray, name: str) -> str:
    return layer.draft.array(array, f"{layer.name}/{name}")


def _channels_last(layer: NodeDraft, x: str, axes: int) -> str:
    return layer.node("Transpose", x, perm=[0, *range(2, 2 + axes), 1])


def _channels_first(layer: NodeDraft, x: str, axes: int) -> str:
    return layer.node("Transpose", x, perm=[0, 1 + axes, *range(1, 1 + axes)])


def locally_connected(layer: NodeDraft) -> str:
    """LocallyConnected1D and LocallyConnected2D: the cells under every window, and a matrix of its own for each.

    W is ``[positions, C * cells, n_out]``. Position p has the window at row ``p % out_h`` and column ``p // out_h``,
    and is row ``p // out_w`` and column ``p % out_w`` of the output. As in Java a dilation makes the sizes only.
    """
    conf, W, ints = layer.conf, layer.params["W"], layer.draft.ints
    window = conf.window(layer.name, conf.input_size)
    out, axes = window.out[: conf.axes], conf.axes
    pads = Sliding(conf.kernel_size, conf.stride, (1,) * axes, (*window.pad_before[:axes], *window.pad_after[:axes]))
    x, cells = padded(layer, layer.x, pads), []
    for cell in itertools.product(*map(range, conf.kernel_size)):
        ends = [first + (n - 1) * step + 1 for first, n, step in zip(cell, out, conf.stride, strict=True)]
        cells.append(layer.node("Unsqueeze", sliced(layer, x, 2, cell, ends, conf.stride), ints(2)))
    columns = layer.node("Concat", *cells, axis=2)  # [N, C, cells, *out]
    columns = layer.node("Transpose", columns, perm=[*range(2 + axes, 2, -1), 0, 1, 2])
    columns = layer.node("Reshape", columns, ints(W.shape[0], -1, W.shape[1]))
    z = layer.node("MatMul", columns, _tensor(layer, W, "W"))  # [positions, N, n_out]
    if "b" in layer.params:
        z = layer.node("Add", z, _tensor(layer, layer.params["b"].reshape(-1), "b"))
    z = layer.node("Reshape", layer.node("Transpose", z, perm=[1, 2, 0]), ints(0, W.shape[2], *out))
    return activate(layer, z)
