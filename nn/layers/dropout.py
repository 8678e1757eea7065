"""DropoutLayer: dropout and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..conf.dropout import IDropout
from .base import LayerConf
from .runtime import LayerRuntime

Array = Any


class DropoutRuntime(LayerRuntime):
    """Training: what its dropout makes of x. Otherwise: x."""

    pure = splits = True

    def pre_output(self, x: Array, training: bool = False) -> Array:
        return self.drop_input(x, training)[0]

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Array | None]:
        return self.drop_input(x, training)

    def backprop_gradient(self, epsilon: Array, cache: Array | None, need_epsilon: bool = True) -> Array | None:
        return self.undropped(epsilon, cache) if need_epsilon else None


@dataclass(frozen=True, kw_only=True)
class DropoutLayer(LayerConf):
    """Dropout as a layer of its own, or other noise, over an input of any shape.

    Parameters
    ----------
    drop_out : float or IDropout
        A number is the probability to **retain**.

    Notes
    -----
    Source: DL4J ``DropoutLayer``.
    """

    drop_out: float | IDropout | None = field(default=None, kw_only=False)
    runtime: ClassVar = DropoutRuntime
    positional: ClassVar[tuple[str, ...]] = ("drop_out",)
