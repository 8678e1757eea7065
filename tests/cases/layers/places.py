"""Rows of the layers that move numbers between places, and their oracles, number by number in float64."""

import numpy as np

from nn import (
    ConvolutionLayer,
    Cropping1D,
    Cropping2D,
    Cropping3D,
    GlobalPoolingLayer,
    InputType,
    RepeatVector,
    SpaceToBatchLayer,
    SpaceToDepthLayer,
    SpatialDropout,
    Upsampling1D,
    Upsampling2D,
    Upsampling3D,
    ZeroPadding1DLayer,
    ZeroPadding3DLayer,
    ZeroPaddingLayer,
)

from .base import IMAGES, ODD_IMAGES, ROWS, TAIL, LayerCase, every

SERIES = InputType.recurrent(3, 5)
VOLUMES = InputType.convolutional3d(3, 4, 2, 2)
POOLED = (GlobalPoolingLayer("avg"), *TAIL)
"""What makes one row of every series again."""
FOLDED = (Upsampling1D(1), *POOLED)
"""What makes one series, then one row, of the examples that the blocks of an image became."""


def _moved(x, params, shape, source):
    """Number by number: ``out[n, c, ...] = x[source(n, c, ...)]``, 0 where there is no such place."""
    out = np.zeros((len(x) if shape[0] is None else len(x) * shape[0], *shape[1:]))
    for index in np.ndindex(*out.shape):
        at = source(len(x), *index)
        if all(0 <= place < length for place, length in zip(at, x.shape, strict=True)):
            out[index] = x[at]
    return out


def _row(variant, layer, input_type, shape, source, tail=TAIL, draws=False, multiple=None):
    return LayerCase(
        variant, layer, input_type, lambda x, params: _moved(x, params, (multiple, *shape), source), tail, draws=draws
    )


def _repeated(*factors):
    return lambda _, n, c, *at: (n, c, *(place // factor for place, factor in zip(at, factors, strict=True)))


def _shifted(*before):
    return lambda _, n, c, *at: (n, c, *(place + first for place, first in zip(at, before, strict=True)))


def _to_depth(channels, block):
    def source(_, n, out_channel, row, column):
        cell, channel = divmod(out_channel, channels)
        return n, channel, row * block + cell // block, column * block + cell % block

    return source


def _to_batch(blocks, top=0, left=0):
    def source(examples, m, channel, row, column):
        cell, n = divmod(m, examples)
        down, right = divmod(cell, blocks[1])
        return n, channel, row * blocks[0] + down - top, column * blocks[1] + right - left

    return source


CONVOLVED = (ConvolutionLayer(n_out=2, kernel_size=2, activation="tanh"), *TAIL)

PLACES_CASES: dict[str, list[LayerCase]] = {
    "cropping1d": [
        _row("left-right", Cropping1D((1, 2)), SERIES, (3, 2), _shifted(1), POOLED),
        _row("both", Cropping1D(1), SERIES, (3, 3), _shifted(1), POOLED),
        _row("drops-nothing", Cropping1D((2, 0), drop_out=0.5), SERIES, (3, 3), _shifted(2), POOLED),
    ],
    "cropping2d": [
        _row("four", Cropping2D((1, 2, 3, 0)), ODD_IMAGES, (3, 4, 2), _shifted(1, 3)),
        _row("two", Cropping2D((2, 1)), IMAGES, (2, 2, 4), _shifted(2, 1), CONVOLVED),
        _row("nothing", Cropping2D(0), IMAGES, (2, 6, 6), _shifted(0, 0)),
    ],
    "cropping3d": [
        _row("six", Cropping3D((1, 0, 0, 2, 1, 0)), VOLUMES, (2, 2, 2, 1), _shifted(1, 0, 1)),
        _row("three", Cropping3D((1, 1, 0)), VOLUMES, (2, 1, 2, 2), _shifted(1, 1, 0)),
    ],
    "repeat_vector": [
        _row("four", RepeatVector(4), ROWS, (5, 4), lambda _, n, c, t: (n, c), POOLED),
        _row("once", RepeatVector(), ROWS, (5, 1), lambda _, n, c, t: (n, c), POOLED),
        _row("dropped", RepeatVector(2, drop_out=0.6), ROWS, (5, 2), lambda _, n, c, t: (n, c), POOLED, True),
    ],
    "space_to_batch": every(
        [
            _row("square", SpaceToBatchLayer(2), IMAGES, (2, 3, 3), _to_batch((2, 2)), FOLDED, multiple=4),
            _row("oblong", SpaceToBatchLayer((1, 3)), IMAGES, (2, 6, 2), _to_batch((1, 3)), FOLDED, multiple=3),
            _row(
                "padded",
                SpaceToBatchLayer((2, 3), ((0, 1), (1, 0)), drop_out=SpatialDropout(0.6)),
                ODD_IMAGES,
                (3, 4, 2),
                _to_batch((2, 3), 0, 1),
                FOLDED,
                draws=True,
                multiple=6,
            ),
        ],
        mixes_places=True,
    ),
    "space_to_depth": every(
        [
            _row("two", SpaceToDepthLayer(2), IMAGES, (8, 3, 3), _to_depth(2, 2), CONVOLVED),
            _row("three", SpaceToDepthLayer(3), IMAGES, (18, 2, 2), _to_depth(2, 3)),
            _row("dropped", SpaceToDepthLayer(2, drop_out=0.6), IMAGES, (8, 3, 3), _to_depth(2, 2), draws=True),
        ],
        mixes_places=True,
    ),
    "upsampling1d": [
        _row("three", Upsampling1D(3), SERIES, (3, 15), _repeated(3), POOLED),
        _row("dropped", Upsampling1D(2, drop_out=0.6), SERIES, (3, 10), _repeated(2), POOLED, True),
    ],
    "upsampling2d": [
        _row("two", Upsampling2D(2), IMAGES, (2, 12, 12), _repeated(2, 2), CONVOLVED),
        _row("oblong", Upsampling2D((1, 3)), ODD_IMAGES, (3, 7, 15), _repeated(1, 3)),
        _row("dropped", Upsampling2D((2, 1), drop_out=0.6), IMAGES, (2, 12, 6), _repeated(2, 1), draws=True),
    ],
    "upsampling3d": [
        _row("two", Upsampling3D(2), VOLUMES, (2, 6, 8, 4), _repeated(2, 2, 2)),
        _row("oblong", Upsampling3D((1, 2, 3), drop_out=0.6), VOLUMES, (2, 3, 8, 6), _repeated(1, 2, 3), draws=True),
    ],
    "zero_padding": [
        _row("four", ZeroPaddingLayer((1, 2, 3, 0)), ODD_IMAGES, (3, 10, 8), _shifted(-1, -3)),
        _row("two", ZeroPaddingLayer((2, 1)), IMAGES, (2, 10, 8), _shifted(-2, -1), CONVOLVED),
        _row("drops-nothing", ZeroPaddingLayer(1, drop_out=0.5), IMAGES, (2, 8, 8), _shifted(-1, -1)),
    ],
    "zero_padding1d": [
        _row("left-right", ZeroPadding1DLayer((1, 2)), SERIES, (3, 8), _shifted(-1), POOLED),
        _row("both", ZeroPadding1DLayer(2), SERIES, (3, 9), _shifted(-2), POOLED),
    ],
    "zero_padding3d": [
        _row("six", ZeroPadding3DLayer((1, 0, 0, 2, 1, 0)), VOLUMES, (2, 4, 6, 3), _shifted(-1, 0, -1)),
        _row("three", ZeroPadding3DLayer((1, 0, 2)), VOLUMES, (2, 5, 4, 6), _shifted(-1, 0, -2)),
    ],
}
"""Name in LAYERS -> rows."""
