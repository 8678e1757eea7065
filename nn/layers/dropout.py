"""DropoutLayer: dropout and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import nd

from ..conf.dropout import Dropout
from .base import LayerConf, LayerRuntime

Array = Any


class DropoutRuntime(LayerRuntime):
    """Training: x * mask. Otherwise: x."""

    splits = True

    def pre_output(self, x: Array, training: bool = False) -> Array:
        return self.drop_input(x, training)[0]

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Array | None]:
        return self.drop_input(x, training)

    def backprop_gradient(self, epsilon: Array, cache: Array | None, need_epsilon: bool = True) -> Array | None:
        if not need_epsilon:
            return None
        return epsilon if cache is None else nd.muli(epsilon, cache)


@dataclass(frozen=True, kw_only=True)
class DropoutLayer(LayerConf):
    """Dropout as a layer of its own, over an input of any shape.

    Parameters
    ----------
    drop_out : float or Dropout
        A number is the probability to **retain**.

    Notes
    -----
    Source: DL4J ``DropoutLayer``.
    """

    drop_out: float | Dropout | None = field(default=None, kw_only=False)
    runtime: ClassVar = DropoutRuntime
    positional: ClassVar[tuple[str, ...]] = ("drop_out",)
