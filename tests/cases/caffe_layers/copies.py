"""Rows for Split and Silence."""

from .base import CaffeCase

CASES = {
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
