"""Huber's loss without its corner: d²(√(1 + ((p - y) / d)²) - 1)."""

from dataclasses import dataclass

import nd
from nd.losses import Loss
from nn import register


@register
@dataclass(frozen=True, kw_only=True)
class PseudoHuber(Loss):
    pure = splits = True
    d: float = 1.0

    def terms(self, y, p, activation):
        return self.d**2 * (nd.sqrt(1.0 + nd.square((p - y) / self.d)) - 1.0)

    def slope(self, y, p):
        return (p - y) / nd.sqrt(1.0 + nd.square((p - y) / self.d))
