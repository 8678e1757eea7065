"""OutputLayer and LossLayer: where the score and the first delta come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.activations import Activation
from nd.losses import Loss, get_loss

from ..conf.input_type import InputType
from ..params import ParamSpec
from ..preprocessors import InputPreProcessor, to_rows
from .base import BaseLayerConf, Cache, FeedForwardConf, LayerRuntime
from .dense import DenseRuntime

Array = Any


class OutputMixin:
    """What the network asks of a layer with a loss."""

    conf: Any
    label: str
    activation: Activation
    buffers: Any

    def summed_loss(self, labels: Array, cache: Cache, mask: Array | None) -> Array:
        """Return the loss summed over the minibatch, a scalar array.

        Parameters
        ----------
        labels : array ``[N, n_out]``
        cache : Cache
            From this layer's forward.
        mask : array ``[N, 1]`` or ``[N, n_out]``, optional
            0 for labels that do not count.

        Raises
        ------
        ShapeError
            The labels do not fit the output.
        """
        loss, z, p = self.conf.loss, cache.z, cache.a
        try:
            return loss.score(labels, z, p, self.activation, mask)
        except nd.ShapeError as error:
            raise nd.ShapeError(f"{self.label}: {error}") from error

    def delta(self, labels: Array, cache: Cache, mask: Array | None) -> Array:
        """Return ``dL/dz [N, n_out]`` of the summed loss; `summed_loss` has checked the arguments."""
        p = cache.a
        out = self.buffers("delta", p.shape)
        return self.conf.loss.gradient(labels, cache.z, p, self.activation, mask, out)


class OutputRuntime(OutputMixin, DenseRuntime):
    """A dense layer with a loss."""


class LossRuntime(OutputMixin, LayerRuntime):
    """An activation and a loss, without parameters."""

    splits = True

    def setup(self) -> None:
        self.activation = self.conf.activation

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Cache]:
        x, drop_mask = self.drop_input(x, training)
        a = self.activating.value(x, self.buffers("a", x.shape), training)
        return a, Cache(x, x, a, drop_mask, mask)

    def backprop_delta(self, delta: Array, cache: Cache, need_epsilon: bool) -> Array | None:
        """Hand dL/dz on; with dropout, to what was kept."""
        if not need_epsilon:
            return None
        return delta if cache.drop_mask is None else nd.muli(delta, cache.drop_mask)

    def backprop_gradient(self, epsilon: Array, cache: Cache, need_epsilon: bool = True) -> Array | None:
        delta = self.activating.backprop(cache.z, cache.a, epsilon)
        return self.backprop_delta(delta, cache, need_epsilon)


def _with_loss(conf: Any) -> None:
    object.__setattr__(conf, "loss", get_loss(conf.loss))


@dataclass(frozen=True, kw_only=True)
class OutputLayer(FeedForwardConf):
    """Fully connected layer with a loss: the last layer of a network that is trained.

    Parameters
    ----------
    loss : str or Loss
    n_in, n_out : int
    has_bias : bool

    Notes
    -----
    As `DenseLayer`. The score is the loss summed over the minibatch, divided by its size. Source: DL4J ``OutputLayer``.
    """

    loss: str | Loss = "mcxent"
    has_bias: bool = True
    runtime: ClassVar = OutputRuntime
    positional: ClassVar[tuple[str, ...]] = ("loss",)

    def __post_init__(self) -> None:
        super().__post_init__()
        _with_loss(self)

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.matrix_specs(self.has_bias)


@dataclass(frozen=True, kw_only=True)
class LossLayer(BaseLayerConf):
    """Activation and loss without parameters: the output has the size of the input.

    Parameters
    ----------
    loss : str or Loss

    Notes
    -----
    Input and output ``[N, n]``. Source: DL4J ``LossLayer``.
    """

    loss: str | Loss = "mcxent"
    runtime: ClassVar = LossRuntime
    positional: ClassVar[tuple[str, ...]] = ("loss",)

    def __post_init__(self) -> None:
        super().__post_init__()
        _with_loss(self)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_rows(input_type)
