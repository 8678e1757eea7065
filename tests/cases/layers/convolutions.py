"""Rows of the convolutions beside ConvolutionLayer, and what they compute, position by position in float64."""

from functools import partial
from itertools import product

import numpy as np

from nn import (
    Convolution1DLayer,
    Convolution3D,
    Deconvolution2D,
    Deconvolution3D,
    DepthwiseConvolution2D,
    InputType,
    LocallyConnected1D,
    LocallyConnected2D,
    NormalDistribution,
    SeparableConvolution2D,
    SpatialDropout,
    WeightNoise,
)
from optimize import MaxNormConstraint

from .base import IMAGES, ODD_IMAGES, TAIL, LayerCase
from .core import ACTIVATION_ORACLES

SMALL_IMAGES = InputType.convolutional(3, 4, 2)
SERIES = InputType.recurrent(3, 7)
VOLUMES = InputType.convolutional3d(4, 3, 5, 2)
SMALL_VOLUMES = InputType.convolutional3d(2, 3, 2, 2)


# ---- windows over any number of axes, as the specification's table has them


def geometry(size, kernel, stride, padding, dilation, mode):
    """Return output length and padding before the input, for one axis."""
    effective = kernel + (kernel - 1) * (dilation - 1)
    if mode == "causal":
        return -(-size // stride), (kernel - 1) * dilation
    if mode == "same":
        out = -(-size // stride)
        return out, max((out - 1) * stride + effective - size, 0) // 2
    return (size - effective + 2 * padding) // stride + 1, padding


def per_axis(conf, axes):
    """Return (kernel, stride, padding, dilation) for every axis."""
    columns = [conf[key] if isinstance(conf[key], tuple) else (conf[key],) * axes for key in ("k", "s", "p", "d")]
    return list(zip(*columns, strict=True))


def out_and_before(x, conf):
    sizes = x.shape[2:]
    found = [geometry(size, *axis, conf["mode"]) for size, axis in zip(sizes, per_axis(conf, len(sizes)), strict=True)]
    return tuple(out for out, _ in found), tuple(before for _, before in found)


def patches(x, conf, near=False):
    """Yield example, position and the cells under it, ``[C, *kernel]``, 0 outside; `near`: side by side."""
    sizes = x.shape[2:]
    axes = per_axis(conf, len(sizes))
    out, before = out_and_before(x, conf)
    for n, position in product(range(len(x)), np.ndindex(*out)):
        cells = np.zeros((x.shape[1], *(kernel for kernel, *_ in axes)))
        for cell in np.ndindex(*cells.shape[1:]):
            at = tuple(
                place * stride - first + step * (1 if near else dilation)
                for place, first, step, (_, stride, _, dilation) in zip(position, before, cell, axes, strict=True)
            )
            if all(0 <= where < size for where, size in zip(at, sizes, strict=True)):
                cells[(slice(None), *cell)] = x[(n, slice(None), *at)]
        yield n, position, cells


def activated(z, params, activation):
    b = params.get("b")
    return ACTIVATION_ORACLES[activation](z if b is None else z + b.reshape(1, -1, *(1 for _ in z.shape[2:])))


def convolved(x, params, conf, activation="identity"):
    W = params["W"].transpose(2, 1, 0) if x.ndim == 3 else params["W"]  # along time [kernel, n_in, n_out]
    z = np.zeros((len(x), len(W), *out_and_before(x, conf)[0]))
    for n, position, cells in patches(x, conf):
        for o in range(len(W)):
            z[(n, o, *position)] = (W[o] * cells).sum()
    return activated(z, params, activation)


def spread(x, params, conf, activation="identity"):
    """Transposed convolution: every cell of the input is added to the places of its window."""
    axes = per_axis(conf, x.ndim - 2)
    W = params["W"] if x.ndim == 4 else np.transpose(params["W"], (4, 3, 0, 1, 2))
    sizes, before = [], []
    for length, (kernel, stride, padding, dilation) in zip(x.shape[2:], axes, strict=True):
        effective = kernel + (kernel - 1) * (dilation - 1)
        same = conf["mode"] == "same"
        sizes.append(stride * length if same else stride * (length - 1) + effective - 2 * padding)
        before.append(max(effective - stride, 0) // 2 if same else padding)
    z = np.zeros((len(x), W.shape[1], *sizes))
    for n, position, cell in product(range(len(x)), np.ndindex(*x.shape[2:]), np.ndindex(*W.shape[2:])):
        at = tuple(
            place * stride - first + step * dilation
            for place, first, step, (_, stride, _, dilation) in zip(position, before, cell, axes, strict=True)
        )
        if all(0 <= where < size for where, size in zip(at, sizes, strict=True)):
            z[(n, slice(None), *at)] += x[(n, slice(None), *position)] @ W[(slice(None), slice(None), *cell)]
    return activated(z, params, activation)


def _of_channels(x, W, conf):
    """``W [kernel_h, kernel_w, C, multiplier]``; channel c * multiplier + m is channel c with kernel m."""
    multiplier = W.shape[3]
    z = np.zeros((len(x), W.shape[2] * multiplier, *out_and_before(x, conf)[0]))
    for n, position, cells in patches(x, conf):
        for c, m in np.ndindex(W.shape[2], multiplier):
            z[(n, c * multiplier + m, *position)] = (cells[c] * W[:, :, c, m]).sum()
    return z


def depthwise(x, params, conf, activation="identity"):
    return activated(_of_channels(x, params["W"], conf), params, activation)


def separable(x, params, conf, activation="identity"):
    between = _of_channels(x, np.transpose(params["W"], (2, 3, 1, 0)), conf)
    across = params["pW"][:, :, 0, 0]
    z = np.array([[sum(across[o, c] * of[c] for c in range(len(of))) for o in range(len(across))] for of in between])
    return activated(z, params, activation)


def unshared(x, params, conf, activation="tanh"):
    W = params["W"]
    out = out_and_before(x, conf)[0]
    z = np.zeros((len(x), W.shape[2], *out))
    for n, position, cells in patches(x, conf, near=True):
        number = np.ravel_multi_index(position[::-1], out[::-1])  # windows column by column, the output row by row
        z[(n, slice(None), *np.unravel_index(number, out))] = cells.ravel() @ W[number]
    return activated(z, params, activation)


# ---- the rows


def window(k, s=1, p=0, d=1, mode="truncate"):
    return {"k": k, "s": s, "p": p, "d": d, "mode": mode}


def settings_of(conf):
    """Return a window as a layer's fields."""
    names = {"kernel_size": "k", "stride": "s", "padding": "p", "dilation": "d", "convolution_mode": "mode"}
    return {name: conf[key] for name, key in names.items()}


def _row(layer_class, oracle, variant, conf, input_type, activation="identity", **settings):
    draws = not {"drop_out", "weight_noise"}.isdisjoint(settings)
    sizes = {} if layer_class is DepthwiseConvolution2D else {"n_out": 3}
    layer = layer_class(**sizes, activation=activation, **settings_of(conf), **settings)
    tail = TAIL
    if isinstance(input_type, type(SERIES)):
        steps = geometry(input_type.time_series_length, conf["k"], conf["s"], conf["p"], conf["d"], conf["mode"])[0]
        tail = (Convolution1DLayer(n_out=2, kernel_size=steps, activation="tanh"), *TAIL)  # to one time step
    return LayerCase(variant, layer, input_type, partial(oracle, conf=conf, activation=activation), tail, draws=draws)


_conv1d = partial(_row, Convolution1DLayer, convolved)
_conv3d = partial(_row, Convolution3D, convolved)
_deconv2d = partial(_row, Deconvolution2D, spread)
_deconv3d = partial(_row, Deconvolution3D, spread)
_depthwise = partial(_row, DepthwiseConvolution2D, depthwise)
_separable = partial(_row, SeparableConvolution2D, separable)
_local1d = partial(_row, LocallyConnected1D, unshared)
_local2d = partial(_row, LocallyConnected2D, unshared)
_NOISE = WeightNoise(NormalDistribution(0.0, 0.3))

CONVOLUTION_CASES: dict[str, list[LayerCase]] = {
    "convolution1d": [
        _conv1d("truncate", window(3), SERIES),
        _conv1d("strided", window(3, s=2, p=1), SERIES, "tanh"),
        _conv1d("strict", window(3, s=2, mode="strict"), SERIES, "relu"),
        _conv1d("same", window(4, mode="same"), SERIES, "softmax"),
        _conv1d("same-strided-dilated", window(3, s=3, d=2, mode="same"), SERIES, has_bias=False),
        _conv1d("causal", window(3, mode="causal"), SERIES, "sigmoid"),
        _conv1d("causal-strided-dilated", window(2, s=2, d=3, mode="causal"), SERIES, "elu"),
        _conv1d("dropped-noised", window(2), SERIES, "tanh", drop_out=SpatialDropout(0.6), weight_noise=_NOISE),
    ],
    "convolution3d": [
        _conv3d("truncate", window(2), VOLUMES),
        _conv3d("strided-padded", window((3, 2, 3), (2, 1, 2), (1, 0, 2)), VOLUMES, "tanh"),
        _conv3d("same", window((3, 2, 3), 2, mode="same"), VOLUMES, "swish", has_bias=False),
        _conv3d("strict-dilated", window(2, (1, 1, 2), 0, (3, 2, 2), mode="strict"), VOLUMES, "sigmoid"),
        _conv3d("dropped", window((2, 3, 1)), VOLUMES, "tanh", drop_out=0.6),
    ],
    "deconvolution2d": [
        _deconv2d("pairs", window(2, s=2), SMALL_IMAGES),
        _deconv2d("overlap-padded", window((3, 4), (2, 1), (1, 2)), SMALL_IMAGES, "tanh"),
        _deconv2d("dilated", window((2, 3), (1, 2), 1, (3, 2)), SMALL_IMAGES, "sigmoid", has_bias=False),
        _deconv2d("same", window(3, (2, 3), mode="same"), SMALL_IMAGES, "softmax"),
        _deconv2d("same-gaps", window((4, 2), (1, 3), mode="same"), SMALL_IMAGES, "elu"),
        _deconv2d("dropped-noised", window(2), SMALL_IMAGES, "tanh", drop_out=0.6, weight_noise=_NOISE),
    ],
    "deconvolution3d": [
        _deconv3d("pairs", window(2, s=2), SMALL_VOLUMES, "tanh"),
        _deconv3d("padded", window((3, 2, 3), (1, 2, 2), (1, 0, 2), (1, 2, 1)), SMALL_VOLUMES, has_bias=False),
        _deconv3d("same-dropped", window((3, 2, 1), (2, 1, 1), mode="same"), SMALL_VOLUMES, "sigmoid", drop_out=0.7),
    ],
    "depthwise_convolution2d": [
        _depthwise("truncate", window(3), IMAGES),
        _depthwise("multiplied", window((3, 2), (2, 1), (1, 0)), ODD_IMAGES, "tanh", depth_multiplier=2),
        _depthwise("same-dilated", window((2, 3), 2, 0, (2, 1), "same"), ODD_IMAGES, "softmax", depth_multiplier=3),
        _depthwise("strict", window(2, 2, mode="strict"), IMAGES, "elu", has_bias=False, depth_multiplier=2),
        _depthwise("dropped-noised", window(2), SMALL_IMAGES, "tanh", drop_out=0.6, weight_noise=_NOISE),
    ],
    "locally_connected1d": [
        _local1d("same", window(2, mode="same"), SERIES, "tanh"),
        _local1d("truncate", window(3, 2, 1), SERIES, "sigmoid", has_bias=False),
        _local1d("dilated", window(2, 1, 0, 2), SERIES),
    ],
    "locally_connected2d": [
        _local2d("same", window(2, mode="same"), SMALL_IMAGES, "tanh"),
        _local2d("square", window(3), IMAGES, "softmax", constrain_weights=MaxNormConstraint(0.4)),
        _local2d("strided-padded", window((3, 2), (2, 1), (1, 0)), ODD_IMAGES, "sigmoid", has_bias=False),
        _local2d("dilated", window(2, (2, 1), 0, (1, 2)), ODD_IMAGES),
    ],
    "separable_convolution2d": [
        _separable("truncate", window(3), IMAGES, "tanh"),
        _separable("multiplied", window((3, 2), (2, 1), (1, 0)), ODD_IMAGES, "sigmoid", depth_multiplier=2),
        _separable("same-dilated", window((2, 3), 2, 0, (2, 1), "same"), ODD_IMAGES, has_bias=False),
        _separable("dropped-noised", window(2), SMALL_IMAGES, "tanh", drop_out=0.6, weight_noise=_NOISE),
    ],
}
"""Name in LAYERS -> rows."""
