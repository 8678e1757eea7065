"""Pooling, whose number of windows Caffe rounds up, and Reduction of images."""

from __future__ import annotations

from typing import Any

from ...layers import Cropping2D, GlobalPoolingLayer, SubsamplingLayer, ZeroPaddingLayer
from ...vertices import ScaleVertex
from .draft import LayerDraft, Shape

TYPES = {"AVE": "avg", "MAX": "max"}
"""Caffe's name -> DL4J's, sorted."""


def pooling(layer: LayerDraft) -> list[str | None]:
    """Pooling: DL4J's where the windows are the same ones, else every window with stride 1, of which some are taken.

    Notes
    -----
    An average whose windows reach beyond the padding goes over zeros that a ZeroPaddingLayer puts around the image:
    then only cells of the padded image count, as in Caffe.
    """
    runtime = layer.runtime
    layer.need(len(layer.tops) == 1, "DL4J has no places of maxima, which the second top is")
    layer.need(runtime.kind in TYPES, "DL4J has no stochastic pooling")
    kind, size = TYPES[runtime.kind], layer.shape[2:]
    if runtime.settings.global_pooling:
        return [layer.chain(GlobalPoolingLayer(kind, collapse_dimensions=False))]
    out, kernel, stride, padding = layer.tops[0][2:], runtime.kernel, runtime.stride, runtime.padding
    window: dict[str, Any] = {"kernel_size": kernel, "stride": stride}
    if _rounded_down(size, kernel, stride, padding) == out and not _reaches_beyond(size, out, layer):
        counts = bool(kind == "avg" and any(padding))
        conf = SubsamplingLayer(kind, padding=padding, avg_pool_include_pad_in_divisor=counts, **_mode(), **window)
        return [layer.chain(conf)]
    before = []
    if kind == "avg" and any(padding):
        before = [ZeroPaddingLayer((padding[0], padding[0], padding[1], padding[1]))]
        size = tuple(length + 2 * pad for length, pad in zip(size, padding, strict=True))
        padding = (0, 0)
    if _same_windows(size, kernel, stride, padding) == out:
        return [layer.chain(*before, SubsamplingLayer(kind, **_mode("same"), **window))]
    return [layer.chain(*before, *_every_window(kind, size, kernel, stride, padding, out))]


def _mode(mode: str = "truncate") -> dict[str, Any]:
    return {"convolution_mode": mode}


def _rounded_down(size: Shape, kernel: Shape, stride: Shape, padding: Shape) -> Shape:
    """Return the number of windows along each axis as DL4J counts them."""
    sides = zip(size, kernel, stride, padding, strict=True)
    return tuple((length + 2 * pad - cells) // step + 1 for length, cells, step, pad in sides)


def _reaches_beyond(size: Shape, out: Shape, layer: LayerDraft) -> bool:
    """Tell whether the last window reaches beyond the padding."""
    runtime = layer.runtime
    sides = zip(size, out, runtime.kernel, runtime.stride, runtime.padding, strict=True)
    return any((many - 1) * step + cells > length + 2 * pad for length, many, cells, step, pad in sides)


def _same_windows(size: Shape, kernel: Shape, stride: Shape, padding: Shape) -> Shape | None:
    """Return the number of windows of DL4J's mode Same; None where its windows begin in other places."""
    out = tuple(-(-length // step) for length, step in zip(size, stride, strict=True))
    sides = zip(size, kernel, stride, out, strict=True)
    before = tuple(max((many - 1) * step + cells - length, 0) // 2 for length, cells, step, many in sides)
    return out if before == tuple(padding) else None


def _every_window(kind: str, size: Shape, kernel: Shape, stride: Shape, padding: Shape, out: Shape) -> list[Any]:
    """Return layers that pool windows at every place, and take those that begin where Caffe's do."""
    widest = tuple(cells - 1 for cells in kernel)  # windows at all places that hold a cell of the image
    crops: list[int] = []
    for length, border, step, pad, many in zip(size, widest, stride, padding, out, strict=True):
        first, there = border - pad, length + border
        crops += [first, there - first - (many - 1) * step - 1]
    layers: list[Any] = [SubsamplingLayer(kind, kernel_size=kernel, stride=(1, 1), padding=widest, **_mode())]
    if any(crops):
        layers.append(Cropping2D(tuple(crops)))
    if any(step > 1 for step in stride):
        layers.append(SubsamplingLayer("max", kernel_size=(1, 1), stride=stride, **_mode()))
    return layers


def reduction(layer: LayerDraft) -> list[str | None]:
    """Reduction of images to one number for every channel."""
    settings, kind = layer.message.reduction_param, layer.runtime.kind
    layer.need_axes(4)
    along = layer.runtime.axis(settings.axis, layer.shape)
    layer.need(along == 2 and kind in ("MEAN", "SUM"), f"{kind} from axis {settings.axis} on")
    pooled = GlobalPoolingLayer("avg" if kind == "MEAN" else "sum")
    return [layer.chain(pooled, *([ScaleVertex(settings.coeff)] if settings.coeff != 1.0 else []))]
