"""SpaceToDepthLayer: the places of a block become channels."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, Self

import nd
from nd.arguments import Count
from nd.arrays import convolution
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.enums import CNN2DFormat
from ...terms.input_type import InputType
from ...terms.java_form import PARAMETERLESS, JavaForm
from ..places import PlacesConf, PlacesRuntime, Sizes, places_of, type_of_places
from ..runtime import Context


def check_divisible(label: str, sizes: Sizes, blocks: Sizes, subject: str = "input") -> Sizes:
    """Return the number of blocks along each axis; raise ShapeError unless they fit exactly."""
    if any(length % block for length, block in zip(sizes, blocks, strict=True)):
        raise nd.ShapeError(
            f"{label}: height and width of the {subject} must be multiples of the blocks {describe_shape(blocks)}, got "
            f"{describe_shape(sizes)}. Pad or crop first."
        )
    return tuple(length // block for length, block in zip(sizes, blocks, strict=True))


class SpaceToDepthRuntime(PlacesRuntime):
    """One copy forward, one backward."""

    pure = splits = True

    def _blocks_of(self, x: Array, shape: Sizes) -> Array:
        """View images of that shape as ``[N, block_h, block_w, C, H / block_h, W / block_w]``."""
        n, channels, *sizes = shape
        block = self.conf.blocks
        height, width = check_divisible(self.label, tuple(sizes), (block, block))
        return nd.permute(nd.reshape_view(x, (n, channels, height, block, width, block)), (0, 3, 5, 1, 2, 4))

    def moved(self, x: Array, ctx: Context) -> Array:
        n, block = x.shape[0], self.conf.blocks
        cells = self._blocks_of(x, tuple(x.shape))
        channels, height, width = cells.shape[3:]
        out = ctx.buffer("a", (n, block * block * channels, height, width))
        nd.assign(nd.reshape_view(out, tuple(cells.shape)), cells)
        return out

    def moved_back(self, epsilon: Array, shape: Sizes, ctx: Context) -> Array:
        below = ctx.buffer("epsilon", shape)
        cells = self._blocks_of(below, shape)
        nd.assign(cells, nd.reshape_view(epsilon, tuple(cells.shape)))
        return below

    def feed_forward_mask(self, mask: Array) -> Array:
        size = tuple(mask.shape[2:])
        kernel = tuple(self.conf.blocks if self.known(mask.shape, 2 + axis) else 1 for axis in (0, 1))
        window = convolution.make_window(self.label, size, kernel, kernel)
        return convolution.max_pool(mask, window, nd.fresh_buffers(self.dtype))[0]


@dataclass(frozen=True, kw_only=True)
class SpaceToDepthLayer(PlacesConf):
    """Makes channels of the places of square blocks.

    Parameters
    ----------
    blocks : int
        Height and width of a block; images must be multiples of it.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[N, blocks^2 * C, H / blocks, W / blocks]``: channel ``(i * blocks + j) * C + c``
    at h, w is channel c at ``h * blocks + i, w * blocks + j``. The dropout of the input is applied; a place counts in
    a mask where one of its block does. Source: DL4J ``SpaceToDepthLayer`` (NCHW). Differs: Java hands the mask on as
    it is, and leaves the dropout out on the way back.

    Examples
    --------
    >>> from nn import InputType
    >>> SpaceToDepthLayer(2).output_type("layer 0", InputType.convolutional(6, 4, 3))
    convolutional(3x2x12)
    """

    blocks: Count = field(default=1, kw_only=False)
    data_format: str | None = None
    axes: ClassVar[int] = 2
    runtime: ClassVar = SpaceToDepthRuntime
    DataFormat: ClassVar = CNN2DFormat
    positional: ClassVar[tuple[str, ...]] = ("blocks", "data_format")
    builder_names: ClassVar[dict[str, str]] = {**PlacesConf.builder_names, "block_size": "blocks"}
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = PlacesConf.form.more({"blockSize": ("blocks", "plain")}, PARAMETERLESS).formatted(
        "dataFormat"
    )

    def output_type(self, label: str, input_type: InputType) -> InputType:
        channels, sizes = places_of(label, input_type, 2)
        return type_of_places(channels * self.blocks**2, self.out_sizes(label, sizes))  # type: ignore[arg-type]

    def out_sizes(self, label: str, sizes: Sizes) -> Sizes:
        return check_divisible(label, sizes, (self.blocks, self.blocks))

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, before and (before[0], before[1] * self.blocks**2)
