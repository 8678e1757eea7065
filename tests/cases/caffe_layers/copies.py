"""Rows for Split, Silence and Parameter."""

from .base import CaffeCase

CASES = {
    "Parameter": [
        CaffeCase(
            "matrix",
            "parameter_param { shape { dim: 3 dim: 2 } }",
            (),
            lambda xs, params: [params["value"]],
            splits=False,
        ),
        CaffeCase("number", "parameter_param { shape { } }", (), lambda xs, params: [params["value"]], splits=False),
    ],
    "Silence": [
        CaffeCase("two bottoms", "", ((4, 3), (4, 2, 2)), lambda xs, params: [], tops=0),
    ],
    "Split": [
        CaffeCase("one top", "", ((4, 3, 2),), lambda xs, params: xs),
        CaffeCase("three tops", "", ((4, 3, 2),), lambda xs, params: xs * 3, tops=3),
        CaffeCase(
            "a top without a gradient",
            "",
            ((4, 3, 2),),
            lambda xs, params: xs * 3,
            tops=3,
            top_gradients=(True, False, True),
        ),
        CaffeCase("one of two", "", ((4, 3),), lambda xs, params: xs * 2, tops=2, top_gradients=(False, True)),
        CaffeCase("none of two", "", ((4, 3),), lambda xs, params: xs * 2, tops=2, top_gradients=(False, False)),
    ],
}
