"""Rows for Pooling and SPP, and what they compute, window by window in float64."""

import math
from functools import partial

import numpy as np

from .base import CaffeCase


def spans(length, kernel, stride, pad, up=True):
    """Return where the windows along an axis begin and end in the image, and how many padded cells each has."""
    rounded = math.ceil if up else math.floor
    count = rounded((length + 2 * pad - kernel) / stride) + 1
    if pad and (count - 1) * stride >= length + pad:
        count -= 1
    starts = [number * stride - pad for number in range(count)]
    return [(max(start, 0), min(start + kernel, length), min(start + kernel, length + pad) - start) for start in starts]


def pooled(xs, params, kind, k, s=1, p=0, up=True):
    """Pool every window; MAX also tells where."""
    (x,) = xs
    (kernel, stride, pad) = (value if isinstance(value, tuple) else (value, value) for value in (k, s, p))
    high, wide = (spans(x.shape[2 + axis], kernel[axis], stride[axis], pad[axis], up) for axis in (0, 1))
    out, places = (np.zeros((*x.shape[:2], len(high), len(wide))) for _ in range(2))
    for i, (top, bottom, rows) in enumerate(high):
        for j, (left, right, columns) in enumerate(wide):
            cells = x[:, :, top:bottom, left:right].reshape(*x.shape[:2], -1)
            if kind == "AVE":
                out[:, :, i, j] = cells.sum(-1) / (rows * columns)
            elif kind == "MAX":
                out[:, :, i, j] = cells.max(-1)
                row, column = np.divmod(cells.argmax(-1), right - left)
                places[:, :, i, j] = (top + row) * x.shape[3] + left + column
            else:
                total = cells.sum(-1)
                out[:, :, i, j] = np.where(total > 0, (cells**2).sum(-1) / np.where(total > 0, total, 1.0), 0.0)
    return out, places


def first(xs, params, **settings):
    return [pooled(xs, params, **settings)[0]]


def both(xs, params, **settings):
    return list(pooled(xs, params, **settings))


def whole(xs, params, kind):
    (x,) = xs
    return [x.max((2, 3), keepdims=True) if kind == "MAX" else x.mean((2, 3), keepdims=True)]


def pyramid(xs, params, kind, height):
    (x,) = xs
    parts = []
    for level in range(height):
        kernel = tuple(math.ceil(length / 2**level) for length in x.shape[2:])
        pad = tuple((cells * 2**level - length + 1) // 2 for cells, length in zip(kernel, x.shape[2:], strict=True))
        parts.append(first(xs, params, kind=kind, k=kernel, s=kernel, p=pad)[0].reshape(len(x), -1))
    return [np.concatenate(parts, 1) if height > 1 else parts[0][:, :, None, None]]


def not_negative(shape, rng):
    """Numbers of which a plane is all 0."""
    x = rng.uniform(0.1, 2.0, shape)
    x[0, 0] = 0.0
    return [x]


def drawn(xs, params):
    """Of windows whose cells are equal a draw gives that number."""
    return [xs[0][:, :, ::2, ::2]]


def equal_in_windows(rng):
    return [np.repeat(np.repeat(rng.uniform(0.1, 2.0, (2, 3, 2, 3)), 2, axis=2), 2, axis=3)]


def row(variant, settings, oracle, shape=(3, 2, 6, 5), **more):
    return CaffeCase(variant, f"pooling_param {{ {settings} }}", (shape,), oracle, **more)


def plain(kind, variant, settings, shape=(3, 2, 6, 5), **geometry):
    return row(f"{kind} {variant}", f"pool: {kind} {settings}", partial(first, kind=kind, **geometry), shape)


CASES = {
    "Pooling": [
        *(
            case
            for kind in ("MAX", "AVE")
            for case in (
                plain(kind, "side by side", "kernel_size: 2 stride: 2", k=2, s=2),
                plain(kind, "overlapping, rounded up", "kernel_size: 3 stride: 2", k=3, s=2),
                plain(kind, "padded, rounded up", "kernel_size: 3 stride: 2 pad: 1", k=3, s=2, p=1),
                plain(kind, "rounded down", "kernel_size: 3 stride: 2 round_mode: FLOOR", k=3, s=2, up=False),
                plain(
                    kind,
                    "of two sizes",
                    "kernel_h: 3 kernel_w: 2 stride_h: 3 stride_w: 2 pad_h: 2 pad_w: 0",
                    (2, 3, 7, 5),
                    k=(3, 2),
                    s=(3, 2),
                    p=(2, 0),
                ),
                plain(kind, "wider than the image", "kernel_size: 4 stride: 3", (2, 3, 3, 3), k=4, s=3),
                row(f"{kind} of all", f"pool: {kind} global_pooling: true", partial(whole, kind=kind)),
            )
        ),
        row(
            "MAX and its places",
            "kernel_size: 3 stride: 2 pad: 1",
            partial(both, kind="MAX", k=3, s=2, p=1),
            tops=2,
            top_gradients=(True, False),
        ),
        row(
            "STOCHASTIC in TEST",
            "pool: STOCHASTIC kernel_size: 3 stride: 2",
            partial(first, kind="STOCHASTIC", k=3, s=2),
            numbers=partial(not_negative, (3, 2, 6, 5)),
            phase="TEST",
        ),
        row(
            "STOCHASTIC in TRAIN",
            "pool: STOCHASTIC kernel_size: 2 stride: 2",
            drawn,
            (2, 3, 4, 6),
            numbers=equal_in_windows,
            splits=False,
        ),
    ],
    "SPP": [
        CaffeCase(
            f"{kind}, height {height}",
            f"spp_param {{ pool: {kind} pyramid_height: {height} }}",
            ((2, 3, *size),),
            partial(pyramid, kind=kind, height=height),
        )
        for kind, height, size in (("MAX", 3, (9, 8)), ("AVE", 2, (5, 6)), ("AVE", 1, (5, 6)))
    ],
}
