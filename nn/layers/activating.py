"""An activation at work: its value and the way back through it, in one pass where the backend compiles formulas."""

from __future__ import annotations

from typing import Any

import nd
from nd.activations import Activation

Array = Any


class Activating:
    """What a layer does with its activation.

    Parameters
    ----------
    activation : Activation
        One that is not pure, and one that draws random numbers, is run as it is written each time.
    """

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        self._fixed = activation.pure and not activation.draws
        self._value = nd.Elementwise(lambda z, a: activation.value(z, a))
        self._biased = nd.Elementwise(lambda z, b, a: activation.value_of_sum(z, b, a))
        self._back = nd.Elementwise(lambda z, a, epsilon: activation.backprop(z, a, epsilon, epsilon))

    def value(self, z: Array, a: Array, training: bool, b: Array | None = None) -> Array:
        """Add b, of a shape that broadcasts, to z; write the activation of it into `a`, which may be z; return a."""
        if not self._fixed:
            return self.activation.value(z if b is None else nd.addi(z, b), a, training)
        if b is None:
            self._value(z, a)
        else:
            self._biased(z, b, a)
        return a

    def backprop(self, z: Array, a: Array, epsilon: Array) -> Array:
        """Turn ``epsilon = dL/da`` into dL/dz in its memory; return it."""
        if not self._fixed:
            return self.activation.backprop(z, a, epsilon, epsilon)
        self._back(z, a, epsilon)
        return epsilon
