"""Rows for InnerProduct."""

from .base import CaffeCase

CASES = {
    "InnerProduct": [
        CaffeCase(
            "rows",
            "inner_product_param { num_output: 3 }",
            ((4, 2, 5),),
            lambda xs, params: [xs[0].reshape(4, 10) @ params["W"].T + params["b"]],
        ),
        CaffeCase(
            "transposed from axis 2 without bias",
            "inner_product_param { num_output: 3 axis: -1 transpose: true bias_term: false }",
            ((4, 2, 5),),
            lambda xs, params: [xs[0] @ params["W"]],
        ),
    ],
}
