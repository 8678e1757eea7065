"""The numbers of bottoms in other shapes and places: Reshape, Flatten, Concat, Slice, Crop, Split, Upsample."""

from __future__ import annotations

from itertools import accumulate

from ...layers import Cropping2D, Upsampling2D
from ...vertices import MergeVertex, ReshapeVertex, SubsetVertex
from .draft import LayerDraft

MOST_AXES = 5
"""Of DL4J's activations."""


def split(layer: LayerDraft) -> list[str | None]:
    """Split: whatever reads a top reads the bottom."""
    return [layer.nodes[0]] * len(layer.tops)


def reshape(layer: LayerDraft) -> list[str | None]:
    """Flatten and Reshape."""
    (shape,), (count, *sizes) = layer.tops, layer.shape
    if shape == layer.shape:
        return [layer.nodes[0]]
    layer.need(shape[:1] == (count,), f"other examples: {list(layer.shape)} to {list(shape)}")
    layer.need(1 < len(shape) <= MOST_AXES and 0 not in sizes, f"tops of {len(shape)} axes")
    return [layer.chain(ReshapeVertex(-1, *shape[1:]))]


def concat(layer: LayerDraft) -> list[str | None]:
    """Concat of channels."""
    along = layer.runtime.axis(layer.runtime.along, layer.shape)
    if len(layer.bottoms) == 1:
        return [layer.nodes[0]]
    layer.need(along == 1, f"bottoms side by side along axis {along}")
    return [layer.add(MergeVertex())]


def slice_channels(layer: LayerDraft) -> list[str | None]:
    """Slice of channels."""
    along = layer.runtime.axis(layer.runtime.along, layer.shape)
    if len(layer.tops) == 1:
        return [layer.nodes[0]]
    layer.need(along == 1, f"parts of axis {along}")
    ends = [0, *accumulate(shape[1] for shape in layer.tops)]
    return [
        layer.add(SubsetVertex(start, stop - 1), part=name)
        for name, start, stop in zip(layer.message.top, ends[:-1], ends[1:], strict=True)
    ]


def crop(layer: LayerDraft) -> list[str | None]:
    """Crop of images to the size that bottom 1 has where the net is made."""
    layer.need_axes(4)
    settings, (top,) = layer.message.crop_param, layer.tops
    first, offsets = layer.runtime.axis(settings.axis, layer.shape), list(settings.offset)
    layer.need(first > 0, "a crop of examples")
    offsets = [0] * first + (offsets if len(offsets) == 4 - first else (offsets or [0]) * (4 - first))
    lost = [(start, had - start - has) for start, had, has in zip(offsets, layer.shape, top, strict=True)]
    steps: list[object] = []
    if any(lost[1]):
        steps.append(SubsetVertex(lost[1][0], lost[1][0] + top[1] - 1))
    if any(lost[2] + lost[3]):
        steps.append(Cropping2D(lost[2] + lost[3]))
    return [layer.chain(*steps)]


def upsample(layer: LayerDraft) -> list[str | None]:
    """Upsample of every place."""
    layer.need(len(layer.bottoms) == 1, "DL4J puts no maxima back to their places")
    return [layer.chain(Upsampling2D(size=tuple(layer.runtime.scale)))]
