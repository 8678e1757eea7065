"""Rows for Flatten, Reshape, Concat, Slice and Tile."""

import numpy as np

from .base import CaffeCase

IMAGE = ((4, 3, 2, 5),)


def reshaped(*shape):
    return lambda xs, params: [np.array(xs[0].ravel().tolist()).reshape(shape)]


def one(variant, text, top, shape=IMAGE[0], **more):
    return CaffeCase(variant, text, (shape,), reshaped(*top), **more)


def reshape_row(variant, dims, top, rest="", **more):
    text = " ".join(f"dim: {dim}" for dim in dims)
    return one(variant, f"reshape_param {{ shape {{ {text} }} {rest} }}", top, **more)


CASES = {
    "Concat": [
        CaffeCase("channels", "", ((4, 3, 2), (4, 1, 2), (4, 2, 2)), lambda xs, params: [np.concatenate(xs, 1)]),
        CaffeCase(
            "last axis",
            "concat_param { axis: -1 }",
            ((4, 3, 2), (4, 3, 5)),
            lambda xs, params: [np.dstack(xs)],
        ),
        CaffeCase(
            "examples", "concat_param { axis: 0 }", ((4, 3), (2, 3)), lambda xs, params: [np.vstack(xs)], splits=False
        ),
        CaffeCase("old name", "concat_param { concat_dim: 1 }", ((4, 3), (4, 2)), lambda xs, params: [np.hstack(xs)]),
        CaffeCase("one bottom", "", ((4, 3, 2),), lambda xs, params: xs),
    ],
    "Flatten": [
        one("plain", "", (4, 30)),
        one("middle", "flatten_param { axis: 1 end_axis: 2 }", (4, 6, 5)),
        one("from the end", "flatten_param { axis: -2 end_axis: -1 }", (4, 3, 10)),
        one("one axis", "flatten_param { axis: 2 end_axis: 2 }", IMAGE[0]),
        one("examples too", "flatten_param { axis: 0 end_axis: 1 }", (12, 2, 5), splits=False),
    ],
    "Reshape": [
        reshape_row("copied and inferred", (0, -1), (4, 30)),
        reshape_row("all given", (4, 15, 2), (4, 15, 2), splits=False),
        reshape_row("from axis 1", (2, -1), (4, 2, 15), "axis: 1"),
        reshape_row("one axis", (5, 1, 2), (4, 3, 5, 1, 2, 5), "axis: 2 num_axes: 1", splits=True)._replace(
            shapes=((4, 3, 10, 5),)
        ),
        reshape_row("an axis inserted", (1,), (4, 1, 3, 2, 5), "axis: 1 num_axes: 0"),
        reshape_row("an axis appended", (1,), (4, 3, 2, 5, 1), "axis: -1 num_axes: 0"),
        reshape_row("copied in the middle", (0, -1), (4, 3, 10), "axis: 1"),
        reshape_row("another number of examples", (-1, 5), (24, 5), splits=False),
    ],
    "Slice": [
        CaffeCase("equal", "", ((4, 6, 2),), lambda xs, params: [xs[0][:, :2], xs[0][:, 2:4], xs[0][:, 4:]], tops=3),
        CaffeCase(
            "points",
            "slice_param { axis: -1 slice_point: 1 slice_point: 3 }",
            ((4, 2, 6),),
            lambda xs, params: [xs[0][..., :1], xs[0][..., 1:3], xs[0][..., 3:]],
            tops=3,
        ),
        CaffeCase(
            "a top without a gradient",
            "slice_param { slice_dim: 1 }",
            ((4, 6, 2),),
            lambda xs, params: [xs[0][:, :3], xs[0][:, 3:]],
            tops=2,
            top_gradients=(False, True),
        ),
        CaffeCase(
            "examples",
            "slice_param { axis: 0 slice_point: 1 }",
            ((4, 3),),
            lambda xs, params: [xs[0][:1], xs[0][1:]],
            tops=2,
            splits=False,
        ),
        CaffeCase("one top", "", ((4, 3),), lambda xs, params: xs),
    ],
    "Tile": [
        CaffeCase("channels", "tile_param { tiles: 3 }", ((4, 2, 3),), lambda xs, params: [np.tile(xs[0], (1, 3, 1))]),
        CaffeCase(
            "last axis",
            "tile_param { axis: -1 tiles: 2 }",
            ((4, 2, 3),),
            lambda xs, params: [np.tile(xs[0], (1, 1, 2))],
        ),
        CaffeCase(
            "examples",
            "tile_param { axis: 0 tiles: 2 }",
            ((4, 2),),
            lambda xs, params: [np.tile(xs[0], (2, 1))],
            splits=False,
        ),
        CaffeCase("once", "tile_param { tiles: 1 }", ((4, 2),), lambda xs, params: xs),
    ],
}
