"""Rows for Scale, Bias and Axpy."""

import numpy as np

from .base import CaffeCase

X = (3, 2, 4, 2)

CASES = {
    "Axpy": [
        CaffeCase("images", "", ((3, 2, 1, 1), X, X), lambda xs, params: [xs[0] * xs[1] + xs[2]]),
        CaffeCase("rows", "", ((4, 3),) * 3, lambda xs, params: [xs[0] * xs[1] + xs[2]]),
        CaffeCase(
            "series",
            "",
            ((4, 3), (4, 3, 5), (4, 3, 5)),
            lambda xs, params: [np.einsum("nc,nct->nct", xs[0], xs[1]) + xs[2]],
        ),
    ],
    "Bias": [
        CaffeCase(
            "channels", "", (X,), lambda xs, params: [np.moveaxis(np.moveaxis(xs[0], 1, 3) + params["bias"], 3, 1)]
        ),
        CaffeCase("one number", "bias_param { num_axes: 0 }", (X,), lambda xs, params: [xs[0] + params["bias"]]),
        CaffeCase(
            "from axis 2 on",
            "bias_param { axis: -2 num_axes: -1 }",
            (X,),
            lambda xs, params: [xs[0] + params["bias"]],
        ),
        CaffeCase("bottom 1 of the same shape", "bias_param { axis: 0 }", (X, X), lambda xs, params: [xs[0] + xs[1]]),
        CaffeCase(
            "bottom 1 of examples and channels",
            "bias_param { axis: 0 }",
            (X, (3, 2)),
            lambda xs, params: [xs[0] + xs[1].reshape(3, 2, 1, 1)],
        ),
        CaffeCase(
            "bottom 1 that all examples share",
            "bias_param { axis: 2 }",
            (X, (4,)),
            lambda xs, params: [xs[0] + xs[1].reshape(4, 1)],
            splits=False,
        ),
    ],
    "Scale": [
        CaffeCase(
            "channels, with bias",
            "scale_param { bias_term: true }",
            (X,),
            lambda xs, params: [np.einsum("nchw,c->nchw", xs[0], params["scale"]) + params["bias"].reshape(2, 1, 1)],
        ),
        CaffeCase(
            "one number, with bias",
            "scale_param { num_axes: 0 bias_term: true }",
            ((4, 3),),
            lambda xs, params: [xs[0] * params["scale"] + params["bias"]],
        ),
        CaffeCase(
            "two axes from 1 on",
            "scale_param { num_axes: 2 }",
            (X,),
            lambda xs, params: [np.einsum("nchw,ch->nchw", xs[0], params["scale"])],
        ),
        CaffeCase(
            "everything, examples too",
            "scale_param { axis: 0 num_axes: -1 bias_term: true }",
            ((3, 2),),
            lambda xs, params: [xs[0] * params["scale"] + params["bias"]],
            splits=False,
        ),
        CaffeCase(
            "axes of length 1",
            "scale_param { axis: 1 }",
            ((3, 1, 2, 1),),
            lambda xs, params: [xs[0] * params["scale"][0]],
        ),
        CaffeCase("bottom 1 of the same shape", "scale_param { axis: 0 }", (X, X), lambda xs, params: [xs[0] * xs[1]]),
        CaffeCase(
            "bottom 1 of examples and channels",
            "scale_param { axis: 0 }",
            (X, (3, 2)),
            lambda xs, params: [np.einsum("nchw,nc->nchw", xs[0], xs[1])],
        ),
        CaffeCase(
            "bottom 1 in the middle, with bias",
            "scale_param { axis: 1 bias_term: true }",
            (X, (2, 4)),
            lambda xs, params: [np.einsum("nchw,ch->nchw", xs[0], xs[1]) + params["bias"][..., None]],
            splits=False,
        ),
        CaffeCase(
            "bottom 1 of one number",
            "scale_param { axis: 3 }",
            (X, ()),
            lambda xs, params: [xs[0] * xs[1]],
            splits=False,
        ),
    ],
}
