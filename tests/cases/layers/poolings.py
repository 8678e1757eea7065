"""Rows of the poolings beside SubsamplingLayer, and their oracles, window by window in float64."""

import itertools

import numpy as np

from nn import GlobalPoolingLayer, InputType, Subsampling1DLayer, Subsampling3DLayer

from .base import IMAGES, TAIL, LayerCase, every
from .places import POOLED

SERIES = InputType.recurrent(2, 7)
VOLUMES = InputType.convolutional3d(4, 5, 3, 2)


def _p_norm(p):
    return lambda values, cells: sum(abs(value) ** p for value in values) ** (1.0 / p)


POOLS = {
    "avg": lambda values, cells: sum(values) / len(values),
    "avg-all": lambda values, cells: sum(values) / cells,
    "max": lambda values, cells: max(values),
    "pnorm": _p_norm(3),
    "sum": lambda values, cells: sum(values),
}


def _per_axis(value, axes):
    return (value,) * axes if isinstance(value, int) else value


def _starts(length, kernel, stride, padding, dilation, mode):
    """Where every window of one axis begins, by DL4J's table of sizes."""
    effective = kernel + (kernel - 1) * (dilation - 1)
    if mode == "same":
        out = (length + stride - 1) // stride
        padding = max((out - 1) * stride + effective - length, 0) // 2
    else:
        out = (length - effective + 2 * padding) // stride + 1
    return [step * stride - padding for step in range(out)]


def pooled(x, pool, kernel, stride, padding=0, dilation=1, mode="truncate"):
    """Pool ``x [N, C, ...]`` over windows of any number of axes, one by one."""
    axes = x.ndim - 2
    kernel, stride, padding, dilation = (_per_axis(each, axes) for each in (kernel, stride, padding, dilation))
    starts = [_starts(x.shape[2 + a], kernel[a], stride[a], padding[a], dilation[a], mode) for a in range(axes)]
    out = np.zeros((*x.shape[:2], *map(len, starts)))
    for index in np.ndindex(*out.shape):
        first = [starts[a][index[2 + a]] for a in range(axes)]
        along = [[first[a] + cell * dilation[a] for cell in range(kernel[a])] for a in range(axes)]
        real = [[place for place in along[a] if 0 <= place < x.shape[2 + a]] for a in range(axes)]
        out[index] = pool([x[(*index[:2], *place)] for place in itertools.product(*real)], np.prod(kernel))
    return out


def _windowed(layer_class, input_type, tail):
    def row(variant, kind="max", *, kernel, stride=1, padding=0, dilation=1, mode="truncate", pool=None, **settings):
        layer = layer_class(
            kind,
            kernel_size=kernel,
            stride=stride,
            padding=padding,
            dilation=dilation,
            convolution_mode=mode,
            **settings,
        )
        geometry = (kernel, stride, padding, dilation, mode)
        draws = "drop_out" in settings and layer_class is Subsampling3DLayer
        found = POOLS[pool or kind]
        return LayerCase(variant, layer, input_type, lambda x, _: pooled(x, found, *geometry), tail, draws=draws)

    return row


_series, _volumes = _windowed(Subsampling1DLayer, SERIES, POOLED), _windowed(Subsampling3DLayer, VOLUMES, TAIL)


def _global(kind, input_type, tail=TAIL, pool=None, **settings):
    def oracle(x, params):
        found = np.zeros(x.shape[:2])
        for n, c in np.ndindex(*found.shape):
            found[n, c] = POOLS[kind](list(x[n, c].ravel()), x[n, c].size)
        return found if settings.get("collapse_dimensions", True) else found.reshape(*found.shape, *[1] * (x.ndim - 2))

    places = {1: "series", 2: "images", 3: "volumes"}[len(input_type.shape) - 1]
    variant = "-".join([kind, places, *(key for key in settings if key != "pnorm")])
    return LayerCase(variant, GlobalPoolingLayer(kind, **settings), input_type, oracle, tail)


POOLING_CASES: dict[str, list[LayerCase]] = {
    "global_pooling": every(
        [
            _global("max", SERIES),
            _global("avg", SERIES, POOLED, collapse_dimensions=False),
            _global("sum", SERIES, pooling_dimensions=(2,)),
            _global("pnorm", IMAGES, pnorm=3),
            _global("max", IMAGES, collapse_dimensions=False, drop_out=0.5),
            _global("sum", IMAGES),
            _global("avg", VOLUMES),
            _global("max", VOLUMES, collapse_dimensions=False),
        ],
        silences=True,
        ends_masks=True,
    ),
    "subsampling1d": [
        _series("max", kernel=2, stride=2),
        _series("max-same", kernel=3, stride=2, mode="same"),
        _series("avg-padded", "avg", kernel=3, stride=2, padding=1),
        _series("avg-all", "avg", kernel=3, padding=1, pool="avg-all", avg_pool_include_pad_in_divisor=True),
        _series("pnorm-dilated", "pnorm", kernel=2, dilation=3, pnorm=3, drop_out=0.5),
        _series("avg-strict", "avg", kernel=3, stride=4, mode="strict"),
    ],
    "subsampling3d": [
        _volumes("max", kernel=2, stride=2),
        _volumes("max-same", kernel=(2, 3, 2), stride=(2, 1, 1), mode="same"),
        _volumes("max-dilated", kernel=(2, 2, 1), dilation=(3, 2, 1), padding=(1, 1, 0), drop_out=0.7),
        _volumes("avg-padded", "avg", kernel=(3, 2, 3), stride=(1, 3, 2), padding=(2, 1, 1)),
        _volumes("avg-same", "avg", kernel=3, stride=2, mode="same"),
    ],
}
"""Name in LAYERS -> rows."""
