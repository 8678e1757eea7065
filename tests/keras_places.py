"""What Keras computes over places, as loops over channels-last arrays: TensorFlow's rules, one cell after the other."""

import itertools

import numpy as np


def numbers(value, axes):
    """A number for every axis."""
    return np.broadcast_to(value, axes)


def inside(place, sizes):
    """Whether there is such a place."""
    return bool(np.all((place >= 0) & (place < sizes)))


def cells(x, kernel, stride=1, dilation=1, padding="valid", fill=0.0):
    """The contents of all windows ``[N, *out, *kernel, C]`` of ``x [N, *places, C]``; `fill` stands around x.

    The padding may be how far the first window begins before the first place, as in Theano, else it is TensorFlow's.
    """
    sizes = np.array(x.shape[1:-1])
    kernel, stride, dilation = (numbers(value, len(sizes)) for value in (kernel, stride, dilation))
    reach = dilation * (kernel - 1) + 1
    if padding == "valid":
        out, before = (sizes - reach) // stride + 1, 0 * sizes
    else:
        out = -(-sizes // stride)
        total = np.maximum((out - 1) * stride + reach - sizes, 0)
        before = {"causal": reach - 1, "same": total // 2}.get(padding, padding)
    taken = np.full((len(x), *out, *kernel, x.shape[-1]), fill)
    for place in itertools.product(*map(range, out)):
        for cell in itertools.product(*map(range, kernel)):
            at = place * stride + cell * dilation - before
            if inside(at, sizes):
                taken[(slice(None), *place, *cell)] = x[(slice(None), *at)]
    return taken


def convolved(x, W, stride=1, dilation=1, padding="valid", groups=1):
    """A convolution with ``W [*kernel, in, out]``."""
    axes = W.ndim - 2
    wide, each = x.shape[-1] // groups, W.shape[-1] // groups
    parts = []
    for group in range(groups):
        under = cells(x[..., group * wide : (group + 1) * wide], W.shape[:-2], stride, dilation, padding)
        kernel = W[..., group * each : (group + 1) * each]
        parts.append(np.tensordot(under, kernel, (range(-axes - 1, 0), range(axes + 1))))
    return np.concatenate(parts, -1)


def depthwise(x, W, **how):
    """Every channel with kernels of its own, ``W [*kernel, in, multiplier]``."""
    ones = [convolved(x[..., c : c + 1], W[..., c : c + 1, :], **how) for c in range(x.shape[-1])]
    return np.concatenate(ones, -1)


def spread(x, W, stride=1, dilation=1, padding="valid", more=None):
    """A transposed convolution with ``W [*kernel, out, in]``: every place is spread over a window."""
    sizes, kernel = np.array(x.shape[1:-1]), np.array(W.shape[:-2])
    stride, dilation = numbers(stride, len(sizes)), numbers(dilation, len(sizes))
    reach = dilation * (kernel - 1) + 1
    whole = (sizes - 1) * stride + reach
    if more is not None:
        out = whole - (reach // 2 * 2 if padding == "same" else 0) + numbers(more, len(sizes))
    else:
        out = sizes * stride if padding == "same" else whole + np.maximum(stride - reach, 0)
    before = np.maximum(whole - out, 0) // 2 if padding == "same" else 0 * sizes
    y = np.zeros((len(x), *out, W.shape[-2]))
    for place in itertools.product(*map(range, sizes)):
        for cell in itertools.product(*map(range, kernel)):
            at = place * stride + cell * dilation - before
            if inside(at, out):
                y[(slice(None), *at)] += x[(slice(None), *place)] @ W[cell].T
    return y


def turned(x, data_format):
    """Channels-last arrays, and shapes of examples, in a format of Keras."""
    if data_format == "channels_last":
        return x
    return (x[-1], *x[:-1]) if isinstance(x, tuple) else np.moveaxis(x, -1, 1)


def softmax(x):
    """Along the last axis, wherever the channels are."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)
