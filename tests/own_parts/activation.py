"""A bell: exp(-(z / width)²)."""

from dataclasses import dataclass

import nd
from nd.activations import Activation
from nn import register


@register
@dataclass(frozen=True, kw_only=True)
class Bump(Activation):
    pure = splits = True
    width: float = 1.0

    def value(self, z, out=None, training=False):
        return nd.exp(-nd.square(z / self.width), out)

    def slope(self, z, a):
        return -2.0 / self.width**2 * z * a
