"""SpaceToBatchLayer: the places of a block become examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import nd
from nd.arguments import Count, Natural
from nd.typing import Array

from ...terms import data_formats
from ...terms.java_form import PARAMETERLESS, Codec, JavaForm
from ..places import PlacesConf, PlacesRuntime, Sizes, interior, set_borders, set_per_axis, within
from ..runtime import Buffers, Context
from .space_to_depth import check_divisible

_EXAMPLES_FIRST = (3, 5, 0, 1, 2, 4)  # [N, C, H, block_h, W, block_w] -> [block_h, block_w, N, C, H, W]
_CHANNELS_FIRST = (2, 3, 4, 0, 5, 1)  # and back


class SpaceToBatchRuntime(PlacesRuntime):
    """One copy forward, two with padding; one backward."""

    pure = True  # does not split: examples of all blocks are in turn, so parts come out in another order

    def moved(self, x: Array, ctx: Context) -> Array:
        padding, outer = self.conf.borders, tuple(x.shape[:2])
        sizes = self._padded(tuple(x.shape[2:]), padding)
        height, width = self.conf.out_sizes(self.label, tuple(x.shape[2:]))
        if any(padding):
            x = within(ctx.buffer("padded", (*outer, *sizes)), x, padding)
        return self._spread(x, self.conf.blocks, (height, width), ctx.buffer, "a")

    def moved_back(self, epsilon: Array, shape: Sizes, ctx: Context) -> Array:
        (n, channels, *sizes), (block_h, block_w), padding = shape, self.conf.blocks, self.conf.borders
        height, width = epsilon.shape[2:]
        below = ctx.buffer("epsilon", (n, channels, *self._padded(tuple(sizes), padding)))
        examples = nd.reshape_view(epsilon, (block_h, block_w, n, channels, height, width))
        cells = nd.reshape_view(below, (n, channels, height, block_h, width, block_w))
        nd.assign(cells, nd.permute(examples, _CHANNELS_FIRST))
        return interior(below, padding)

    def feed_forward_mask(self, mask: Array) -> Array:
        known = [self.known(mask.shape, 2 + axis) for axis in (0, 1)]
        padding = [border if known[side // 2] else 0 for side, border in enumerate(self.conf.borders)]
        blocks = [block if is_known else 1 for block, is_known in zip(self.conf.blocks, known, strict=True)]
        sizes = self._padded(tuple(mask.shape[2:]), padding)
        buffer = nd.fresh_buffers(self.dtype)
        mask = within(buffer("padded_mask", (*mask.shape[:2], *sizes)), mask, padding)
        counts = tuple(length // block for length, block in zip(sizes, blocks, strict=True))
        return self._spread(mask, blocks, counts, buffer, "mask")

    def _spread(self, x: Array, blocks: Sequence[int], sizes: Sizes, buffer: Buffers, name: str) -> Array:
        """Return the examples of all blocks; a block of length 1 is the same for all of its axis."""
        (n, channels), (block_h, block_w), (height, width) = x.shape[:2], self.conf.blocks, sizes
        cells = nd.reshape_view(x, (n, channels, height, blocks[0], width, blocks[1]))
        out = buffer(name, (block_h * block_w * n, channels, height, width))
        examples = nd.reshape_view(out, (block_h, block_w, n, channels, height, width))
        nd.assign(examples, nd.permute(cells, _EXAMPLES_FIRST))
        return out

    def _padded(self, sizes: Sizes, padding: Sequence[int]) -> Sizes:
        return tuple(length + sum(padding[2 * axis : 2 * axis + 2]) for axis, length in enumerate(sizes))


_PAIRS = Codec(lambda pairs: [list(pair) for pair in pairs], lambda pairs: tuple(tuple(pair) for pair in pairs))


@dataclass(frozen=True, kw_only=True)
class SpaceToBatchLayer(PlacesConf):
    """Makes examples of the places of blocks.

    Parameters
    ----------
    blocks : int or pair of int
        ``height, width`` of a block; padded images must be multiples of it.
    padding : int, pair of int or pair of pairs
        ``(top, bottom), (left, right)`` zeros around the images.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, C, H, W]``, output ``[block_h * block_w * N, C, H' / block_h, W' / block_w]``, where H' and W' are of
    the padded images: example ``(i * block_w + j) * N + n`` at h, w is example n at ``h * block_h + i, w * block_w +
    j``, as TensorFlow's space_to_batch. The dropout of the input is applied; a mask ``[N, 1, H, W]`` is spread like the
    input, and the zeros that are added do not count.

    Behind the layer there are ``block_h * block_w`` times as many examples, and no layer of DL4J's undoes it: `output`
    of a network that ends so has that many rows. To train on N labels, let a layer over time series follow: its
    `CnnToRnnPreProcessor` makes N series of ``block_h * block_w`` steps of the examples, step ``i * block_w + j`` for
    the places i, j of the blocks. Without one the loss refuses the labels; a `DataSet` holds one row of them for each
    example. Such a network is never split over threads. Source: DL4J ``SpaceToBatchLayer``. Differs: Java hands the
    mask on as it is.

    Examples
    --------
    >>> from nn import InputType
    >>> layer = SpaceToBatchLayer((2, 3), padding=((0, 0), (1, 1)))
    >>> layer.output_type("layer 0", InputType.convolutional(6, 4, 3)), layer.row_multiple
    (convolutional(3x2x3), 6)
    """

    blocks: Count | Sequence[Count] = field(default=1, kw_only=False)
    padding: Natural | Sequence[Natural | Sequence[Natural]] = field(default=((0, 0), (0, 0)), kw_only=False)
    data_format: str | None = None
    axes: ClassVar[int] = 2
    runtime: ClassVar = SpaceToBatchRuntime
    positional: ClassVar[tuple[str, ...]] = ("blocks", "padding")
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = PlacesConf.form.more(
        {"blocks": ("blocks", "sizes"), "padding": ("padding", _PAIRS)}, PARAMETERLESS
    ).formatted("format")

    def __post_init__(self) -> None:
        super().__post_init__()
        set_per_axis(self, "blocks", 2)
        pairs = self.padding
        if isinstance(pairs, tuple) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            object.__setattr__(self, "padding", tuple(border for pair in pairs for border in pair))
        set_borders(self, "padding", 2)
        top, bottom, left, right = self.padding  # type: ignore[misc]
        object.__setattr__(self, "padding", ((top, bottom), (left, right)))

    @property
    def borders(self) -> Sizes:
        """Padding as ``top, bottom, left, right``."""
        return tuple(border for pair in self.padding for border in pair)  # type: ignore[union-attr]

    @property
    def row_multiple(self) -> int:
        """Number of examples of the output for one of the input."""
        block_h, block_w = self.blocks  # type: ignore[misc]
        return block_h * block_w

    def out_sizes(self, label: str, sizes: Sizes) -> Sizes:
        (top, bottom), (left, right) = self.padding  # type: ignore[misc]
        padded = (sizes[0] + top + bottom, sizes[1] + left + right)
        return check_divisible(label, padded, self.blocks, "padded input")  # type: ignore[arg-type]
