"""Rows for Convolution, Deconvolution and their kin, and what they compute, cell by cell in float64."""

from functools import partial
from itertools import product

import numpy as np

from .base import CaffeCase


def cells(size, kernel, stride, pad, dilation):
    """Yield an output position, and the kernel's cells and the image's under it, where the image has any."""
    count = len(size)
    out = [(size[a] + 2 * pad[a] - dilation[a] * (kernel[a] - 1) - 1) // stride[a] + 1 for a in range(count)]
    for position in product(*map(range, out)):
        for cell in product(*map(range, kernel)):
            under = tuple(position[a] * stride[a] - pad[a] + cell[a] * dilation[a] for a in range(count))
            if all(0 <= at < length for at, length in zip(under, size, strict=True)):
                yield position, cell, under


def windows(size, k, s=1, p=0, d=1):
    """Return kernel, stride, padding and dilation for every axis, and the number of outputs."""
    each = [value if isinstance(value, tuple) else (value,) * len(size) for value in (k, s, p, d)]
    out = tuple(
        (length + 2 * pad - far * (kernel - 1) - 1) // step + 1
        for length, kernel, step, pad, far in zip(size, *each, strict=True)
    )
    return each, out


def shifted(z, params):
    return z + params["b"].reshape(-1, *(1,) * (z.ndim - 2)) if "b" in params else z


def convolved(xs, params, group=1, axis=1, **geometry):
    """Add up products of kernels and cells."""
    tops = []
    for bottom in xs:
        x, W = bottom.reshape(-1, *bottom.shape[axis:]), params["W"]
        each, out = windows(x.shape[2:], **geometry)
        n_in, n_out = x.shape[1] // group, W.shape[0] // group
        z = np.zeros((len(x), W.shape[0], *out))
        for position, cell, under in cells(x.shape[2:], *each):
            for o in range(W.shape[0]):
                first = o // n_out * n_in
                values = x[(slice(None), slice(first, first + n_in), *under)]
                z[(slice(None), o, *position)] += values @ W[(o, slice(None), *cell)]
        tops.append(shifted(z, params).reshape(*bottom.shape[:axis], -1, *out))
    return tops


def spread(xs, params, group=1, **geometry):
    """Add cells times kernels to the places under them."""
    tops = []
    for x in xs:
        W, sizes = params["W"], x.shape[2:]
        each, _ = windows(sizes, **geometry)
        size = [s * (n - 1) + d * (k - 1) + 1 - 2 * p for n, k, s, p, d in zip(sizes, *each, strict=True)]
        n_in, n_out = x.shape[1] // group, W.shape[1]
        z = np.zeros((len(x), group * n_out, *size))
        for position, cell, under in cells(size, *each):
            for c in range(x.shape[1]):
                first = c // n_in * n_out
                share = x[(slice(None), c, *position)][:, None] * W[(c, slice(None), *cell)]
                z[(slice(None), slice(first, first + n_out), *under)] += share
        tops.append(shifted(z, params))
    return tops


def gathered(xs, params, **geometry):
    """Copy the cells under every window into channels of their own."""
    (x,) = xs
    each, out = windows(x.shape[2:], **geometry)
    columns = np.zeros((*x.shape[:2], *each[0], *out))
    for position, cell, under in cells(x.shape[2:], *each):
        columns[(slice(None), slice(None), *cell, *position)] = x[(slice(None), slice(None), *under)]
    return [columns.reshape(len(x), -1, *out)]


def of(function, variant, settings, shapes, splits=True, tops=1, **geometry):
    text = f"convolution_param {{ {settings} }}"
    return CaffeCase(variant, text, shapes, partial(function, **geometry), splits=splits, tops=tops)


IMAGES, GROUPS = ((3, 2, 5, 6),), ((3, 4, 5, 6),)
DEPTHWISE = (
    ("with the group of the bottom", "num_output: 4 kernel_size: 3 pad: 1 group: 4", {"k": 3, "p": 1}),
    ("without a group, two of each", "num_output: 8 kernel_size: 2 stride: 2 dilation: 2", {"k": 2, "s": 2, "d": 2}),
)
DEPTHWISE_CASES = [of(convolved, variant, text, GROUPS, group=4, **geometry) for variant, text, geometry in DEPTHWISE]

CASES = {
    "Convolution": [
        of(convolved, "images", "num_output: 3 kernel_size: 3", IMAGES, k=3),
        of(
            convolved,
            "strided, padded and dilated without bias",
            "num_output: 3 kernel_h: 2 kernel_w: 3 stride_h: 2 stride_w: 1 pad_h: 1 pad_w: 2 dilation: 1 dilation: 2 "
            "bias_term: false engine: CUDNN force_nd_im2col: true",
            IMAGES,
            k=(2, 3),
            s=(2, 1),
            p=(1, 2),
            d=(1, 2),
        ),
        of(convolved, "two groups", "num_output: 6 kernel_size: 3 pad: 1 group: 2", GROUPS, k=3, p=1, group=2),
        of(convolved, "depthwise", "num_output: 8 kernel_size: 2 stride: 2 group: 4", GROUPS, k=2, s=2, group=4),
        of(
            convolved,
            "two bottoms",
            "num_output: 3 kernel_size: 2 kernel_size: 3",
            IMAGES * 2,
            k=(2, 3),
            tops=2,
        ),
        of(
            convolved,
            "two bottoms in groups",
            "num_output: 4 kernel_size: 2 group: 2",
            GROUPS * 2,
            k=2,
            group=2,
            tops=2,
        ),
        of(convolved, "series", "num_output: 3 kernel_size: 3 stride: 2 pad: 1", ((3, 2, 7),), k=3, s=2, p=1),
        of(convolved, "series in groups", "num_output: 4 kernel_size: 3 group: 2", ((3, 4, 7),), k=3, group=2),
        of(convolved, "volumes", "num_output: 3 kernel_size: 2 stride: 2 pad: 1", ((2, 2, 3, 4, 3),), k=2, s=2, p=1),
        of(convolved, "volumes in groups", "num_output: 4 kernel_size: 2 group: 2", ((2, 4, 3, 4, 3),), k=2, group=2),
        of(convolved, "axis 2", "num_output: 3 kernel_size: 2 axis: -3", ((2, 2, 2, 4, 3),), k=2, axis=2),
        of(convolved, "axis 0", "num_output: 3 kernel_size: 2 axis: 0", ((2, 4, 3),), splits=False, k=2, axis=0),
        of(convolved, "no places", "num_output: 3 kernel_size: 1", ((4, 2),), k=1),
    ],
    "ConvolutionDepthwise": DEPTHWISE_CASES,
    "Deconvolution": [
        of(spread, "images", "num_output: 3 kernel_size: 3 stride: 2 pad: 1", IMAGES, k=3, s=2, p=1),
        of(
            spread,
            "two groups, dilated, without bias",
            "num_output: 6 kernel_size: 2 dilation: 2 group: 2 bias_term: false",
            GROUPS,
            k=2,
            d=2,
            group=2,
        ),
        of(
            spread,
            "every channel",
            "num_output: 4 kernel_size: 4 stride: 2 pad: 1 group: 4",
            GROUPS,
            k=4,
            s=2,
            p=1,
            group=4,
        ),
        of(spread, "two bottoms", "num_output: 3 kernel_size: 2", IMAGES * 2, k=2, tops=2),
        of(spread, "series", "num_output: 3 kernel_size: 3 stride: 2", ((3, 2, 4),), k=3, s=2),
        of(spread, "volumes in groups", "num_output: 2 kernel_size: 2 group: 2", ((2, 4, 2, 3, 2),), k=2, group=2),
    ],
    "DepthwiseConvolution": DEPTHWISE_CASES,
    "Im2col": [
        of(gathered, "images", "kernel_size: 3 stride: 2 pad: 1", IMAGES, k=3, s=2, p=1),
        of(gathered, "series", "kernel_size: 2 dilation: 2", ((3, 2, 6),), k=2, d=2),
    ],
}
