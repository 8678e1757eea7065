"""What a row of the table of Caffe's layers says."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class CaffeCase(NamedTuple):
    """A layer by its text, the shapes of its bottoms, and its tops written another way: ``oracle(xs, params)``.

    The oracle gets float64 arrays of NumPy's and returns a list of them, one for each top.
    """

    variant: str
    text: str
    """Of the layer, but for name, type, bottoms and tops: ``inner_product_param { num_output: 3 }``."""
    shapes: tuple[tuple[int, ...], ...]
    oracle: Callable[..., Any]
    tops: int = 1
    phase: str = "TRAIN"
    numbers: Callable[..., Any] | None = None
    """``numbers(rng)`` returns the bottoms where they are not normally distributed: labels, say."""
    differentiable: tuple[bool, ...] | None = None
    """Of every bottom whether gradients go to it; None for all. Empty for a layer that is forward only."""
    top_gradients: tuple[bool, ...] | None = None
    """Of every top whether gradients come from it; None for all."""
    splits: bool = True
    parts_add_up: bool = False
    """Whether tops of parts of a minibatch are to be added, as those of losses are, not to be put side by side."""
    params: Callable[..., Any] | None = None
    """``params(rng, name, shape)`` returns a blob where it is not normally distributed."""

    def inputs(self, seed: int = 1) -> list[np.ndarray]:
        """Return the bottoms."""
        rng = np.random.default_rng(seed)
        if self.numbers is not None:
            return [np.asarray(x, float) for x in self.numbers(rng)]
        return [rng.normal(0.0, 1.0, shape) for shape in self.shapes]
