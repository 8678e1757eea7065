"""ActivationLayer: an activation function and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from nd.activations import Activation, get_activation

from .base import LayerConf
from .runtime import Cache, LayerRuntime

Array = Any


class ActivationRuntime(LayerRuntime):
    """Forward and backward of an activation over any shape."""

    pure = splits = True

    def setup(self) -> None:
        self.activation = self.conf.activation

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Cache]:
        x, drop_mask = self.drop_input(x, training)
        a = self.activating.value(x, self.buffers("a", x.shape), training)
        return a, Cache(x, x, a, drop_mask, mask)

    def backprop_gradient(self, epsilon: Array, cache: Cache, need_epsilon: bool = True) -> Array | None:
        if not need_epsilon:
            return None
        return self.undropped(self.activating.backprop(cache.z, cache.a, epsilon), cache.drop_mask)


@dataclass(frozen=True, kw_only=True)
class ActivationLayer(LayerConf):
    """Applies an activation function to an input of any shape.

    Parameters
    ----------
    activation : str or Activation

    Notes
    -----
    Source: DL4J ``ActivationLayer``.
    """

    activation: str | Activation | None = field(default=None, kw_only=False)
    runtime: ClassVar = ActivationRuntime
    inherited: ClassVar[tuple[str, ...]] = ("drop_out", "activation")
    positional: ClassVar[tuple[str, ...]] = ("activation",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.activation is not None:
            object.__setattr__(self, "activation", get_activation(self.activation))
