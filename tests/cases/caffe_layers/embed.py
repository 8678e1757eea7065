"""Rows for Embed."""

from .base import CaffeCase

CASES = {
    "Embed": [
        CaffeCase(
            "series, with bias",
            "embed_param { num_output: 3 input_dim: 5 }",
            ((4, 6),),
            lambda xs, params: [params["W"][xs[0].astype(int)] + params["b"]],
            numbers=lambda rng: [rng.integers(0, 5, (4, 6))],
            differentiable=(False,),
        ),
        CaffeCase(
            "examples, without bias, numbers that are cut",
            "embed_param { num_output: 2 input_dim: 3 bias_term: false }",
            ((5,),),
            lambda xs, params: [params["W"][xs[0].astype(int)]],
            numbers=lambda rng: [rng.uniform(0.0, 2.9, 5)],
            differentiable=(False,),
        ),
    ],
}
