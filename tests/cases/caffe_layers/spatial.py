"""Rows for Crop, Permute, Upsample and Interp."""

import numpy as np

from .base import CaffeCase

X = (3, 4, 5, 3)


def interpolated(x, height, width):
    """Return what np.interp makes of the columns, then of the rows."""
    for axis, length in ((2, height), (3, width)):
        before = x.shape[axis]
        places = np.linspace(0, before - 1, length) if length > 1 else np.zeros(1)
        x = np.apply_along_axis(lambda line, at=places, n=before: np.interp(at, np.arange(n), line), axis, x)
    return x


def with_mask(rng):
    """Return numbers, and a mask that names a place of its own 2 x 2 block for each."""
    x = rng.normal(0.0, 1.0, (2, 2, 2, 3))
    rows = 2 * np.arange(2)[:, None] + rng.integers(0, 2, (2, 2, 2, 3))
    columns = 2 * np.arange(3) + rng.integers(0, 2, (2, 2, 2, 3))
    return [x, rows * 6 + columns]


def unpooled(x, mask, height, width):
    planes = np.zeros((*x.shape[:2], height * width))
    np.put_along_axis(planes, mask.astype(int).reshape(*x.shape[:2], -1), x.reshape(*x.shape[:2], -1), 2)
    return planes.reshape(*x.shape[:2], height, width)


def permutation(text, order, shape=X, splits=True):
    return CaffeCase(
        f"of {text or 'nothing'}",
        f"permute_param {{ {text} }}",
        (shape,),
        lambda xs, params: [np.transpose(xs[0], order)],
        splits=splits,
    )


def interpolation(text, height, width, shape=X, inside=slice(None)):
    return CaffeCase(
        text,
        f"interp_param {{ {text} }}",
        (shape,),
        lambda xs, params: [interpolated(xs[0][:, :, inside, inside], height, width)],
    )


def unpooling(text, height, width):
    return CaffeCase(
        f"with a mask, {text or 'by default'}",
        f"upsample_param {{ {text} }}",
        ((2, 2, 2, 3), (2, 2, 2, 3)),
        lambda xs, params: [unpooled(*xs, height, width)],
        numbers=with_mask,
        differentiable=(True, False),
    )


CASES = {
    "Crop": [
        CaffeCase(
            "an offset for each axis",
            "crop_param { axis: 2 offset: 2 offset: 1 }",
            (X, (3, 9, 3, 2)),
            lambda xs, params: [xs[0][:, :, 2:5, 1:3]],
            differentiable=(True, False),
        ),
        CaffeCase(
            "one offset for three axes",
            "crop_param { axis: -3 offset: 1 }",
            (X, (3, 3, 2, 2)),
            lambda xs, params: [xs[0][:, 1:4, 1:3, 1:3]],
            differentiable=(True, False),
        ),
        CaffeCase(
            "examples, without an offset",
            "crop_param { axis: 0 }",
            ((4, 3), (2, 3)),
            lambda xs, params: [xs[0][:2]],
            differentiable=(True, False),
            splits=False,
        ),
    ],
    "Interp": [
        interpolation("height: 8 width: 7", 8, 7),
        interpolation("height: 3 width: 3", 3, 3),
        interpolation("height: 1 width: 4", 1, 4),
        interpolation("zoom_factor: 3", 13, 7),
        interpolation("shrink_factor: 2 height: 9 width: 9", 3, 2),
        interpolation("shrink_factor: 2 zoom_factor: 4", 9, 5),
        interpolation("pad_beg: -1 pad_end: -1 zoom_factor: 2", 7, 3, (2, 2, 6, 4), slice(1, -1)),
        interpolation("pad_end: -1 shrink_factor: 1", 4, 2, X, slice(0, -1)),
        interpolation("height: 4 width: 5", 4, 5, (2, 3, 1, 2)),
    ],
    "Permute": [
        permutation("order: 0 order: 2 order: 3 order: 1", (0, 2, 3, 1)),
        permutation("order: 0 order: 3", (0, 3, 1, 2)),
        permutation("order: 1", (1, 0, 2, 3), splits=False),
        permutation("", (0, 1, 2)[:2], (4, 3)),
    ],
    "Upsample": [
        CaffeCase(
            "blocks",
            "upsample_param { scale: 3 }",
            ((2, 3, 2, 4),),
            lambda xs, params: [np.repeat(np.repeat(xs[0], 3, 2), 3, 3)],
        ),
        CaffeCase(
            "blocks that are no squares",
            "upsample_param { scale_h: 1 scale_w: 2 }",
            ((2, 3, 2, 4),),
            lambda xs, params: [np.repeat(xs[0], 2, 3)],
        ),
        unpooling("", 4, 6),
        unpooling("upsample_h: 5 upsample_w: 7", 5, 7),
        unpooling("pad_out_w: false scale: 2", 4, 6),
    ],
}
