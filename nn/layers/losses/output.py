"""OutputLayer and LossLayer: the source of the score and of the first delta."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import nd
from nd.activations import Activation
from nd.checks import describe_shape
from nd.losses import Loss, get_loss
from nd.part import into, named, refuse_returned
from nd.typing import Array

from ...terms.input_type import FeedForwardType, InputType
from ...terms.java_form import BIAS, LOSS, TIMED, WITHOUT_SIZES, JavaForm
from ...terms.params import ParamSpec
from ...terms.preprocessors import InputPreProcessor, to_rows
from ..base import BaseLayerConf, FeedForwardConf
from ..core.dense import Cache, DenseRuntime
from ..runtime import Context, Kept, LayerRuntime, Params


class OutputMixin:
    """Shared by layers with a loss, for the network."""

    conf: Any
    label: str
    activation: Activation
    activation_gradient: Callable[..., Array]
    backward_delta: Callable[..., Array | None]

    def loss_and_delta(self, labels: Array, kept: Kept, mask: Array | None) -> tuple[Array, Any]:
        """Return the loss summed over the minibatch, a scalar array, and its gradient ``dL/dz [N, n_out]``.

        Parameters and errors as for `summed_loss`.
        """
        cache = kept.cache
        out = kept.context.buffer("delta", cache.a.shape)
        masks = () if mask is None else (mask,)  # a compiled formula takes arrays and numbers only
        with self.naming_errors(labels, cache.a):
            return self._total(self._loss_formulas[1](labels, cache.z, cache.a, out, *masks), cache.a), out

    def summed_loss(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss summed over the minibatch, a scalar array.

        Parameters
        ----------
        labels : array ``[N, n_out]``
        kept : Kept
            From this layer's forward pass.
        mask : array ``[N, 1]`` or ``[N, n_out]``, optional
            0 for labels that do not count.

        Raises
        ------
        ShapeError
            The labels do not fit the output.
        """
        cache = kept.cache
        with self.naming_errors(labels, cache.a):
            loss = self._loss_formulas[0](labels, cache.z, cache.a, *(() if mask is None else (mask,)))
            return self._total(loss, cache.a)

    def score_array(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return the loss of each example, ``[N]``. Parameters and errors as for `summed_loss`."""
        cache = kept.cache
        with self.naming_errors(labels, cache.a):
            scores = self.conf.loss.score_array(labels, cache.z, cache.a, self.activation, mask)
            if not nd.is_array(scores) or scores.shape != cache.a.shape[:1]:
                refuse_returned(f"loss {type(self.conf.loss).__name__}: score_array", scores, cache.a[:, 0])
            return scores

    def _total(self, loss: Array, a: Array) -> Array:
        """Return a loss of activations; raise errors unless it is one number, as an array ``[]``."""
        if not nd.is_array(loss) or loss.shape:
            refuse_returned(f"loss {type(self.conf.loss).__name__}: score", loss, nd.sum(a))
        return loss

    def weighted_delta(self, delta: Any, weight: float) -> object:
        """Return the gradient from `loss_and_delta`, used up, of a loss that is multiplied by a weight."""
        return nd.muli(delta, weight)

    def with_epsilon(self, delta: Any, epsilon: Array, kept: Kept) -> object:
        """Add to the gradient from `loss_and_delta` what readers of the activations hand back; one for both.

        Parameters
        ----------
        delta : object
            From `loss_and_delta`, used up.
        epsilon : array of the activations' shape
            dL/d(activations), used up.
        kept : Kept
        """
        cache = kept.cache
        return nd.addi(delta, self.activation_gradient(epsilon, cache.z, cache.a, kept.context))

    @contextmanager
    def naming_errors(self, labels: Array, a: Array) -> Iterator[None]:
        """Say in errors which layer it is, and where its rows come from when they are those of time steps."""
        try:
            yield
        except (nd.ShapeError, nd.DTypeError) as error:
            if isinstance(error, nd.ShapeError) and labels.shape and a.shape[0] > labels.shape[0]:
                raise nd.ShapeError(
                    f"{self.label}: labels must have a row for every time step, {describe_shape(a.shape)}, got "
                    f"{describe_shape(labels.shape)}. For one label of each series put LastTimeStep(...) around the "
                    "recurrent layer below; for labels [N, n_out, T] of all time steps end with an RnnOutputLayer."
                ) from error
            raise named(self.label, error) from error

    @cached_property
    def _loss_formulas(self) -> tuple[Callable[..., Array], Callable[..., Array]]:
        """The score, of labels, z, activations and perhaps a mask; and that with its gradient into an array."""
        loss, activation = self.conf.loss, self.activation

        def score(labels: Array, z: Array, p: Array, mask: Array | None = None) -> Array:
            return loss.score(labels, z, p, activation, mask)

        def both(labels: Array, z: Array, p: Array, out: Array, mask: Array | None = None) -> Array:
            value = score(labels, z, p, mask)
            delta = loss.gradient(labels, z, p, activation, mask, out)
            if delta is not out:
                into(loss, "gradient", delta, out)
            return value

        if loss.pure and activation.pure:
            return nd.summed(score), nd.summed(both)
        return score, both  # not compiled: they may decide otherwise the next time


class OutputRuntime(OutputMixin, DenseRuntime):
    """A dense layer with a loss."""

    pure = splits = True


class LossRuntime(OutputMixin, LayerRuntime):
    """An activation and a loss, without parameters."""

    pure = splits = True
    masks_activations = takes_dropout = False

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        if not ctx.activates:
            return x, None  # type: ignore[return-value]
        a = self.activating.value(x, ctx.buffer("a", x.shape), ctx.training)
        return a, Cache(x, x, a)

    def backward_delta(self, delta: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        """Hand dL/dz on."""
        return delta if ctx.needs_epsilon else None

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        return self.backward_delta(self.activating.backprop(cache.z, cache.a, epsilon), cache, params, grads, ctx)


@dataclass(frozen=True, kw_only=True)
class WithLoss(BaseLayerConf):
    """Shared by layers with a loss.

    Parameters
    ----------
    loss : str or Loss
    """

    loss: str | Loss = "mcxent"
    positional: ClassVar[tuple[str, ...]] = ("loss",)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "loss", get_loss(self.loss))


@dataclass(frozen=True, kw_only=True)
class OutputLayer(WithLoss, FeedForwardConf):
    """Fully connected layer with a loss: the last layer of a network that is trained.

    Parameters
    ----------
    loss : str or Loss
    activation : str or Activation
        Softmax unless the layer is given another: the network's is for hidden layers. None takes that one.
    n_in, n_out : int
    has_bias : bool
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    As `DenseLayer`. The score is the loss summed over the minibatch, divided by its size. Source: DL4J ``OutputLayer``.
    """

    activation: str | Activation | None = "softmax"
    has_bias: bool = True
    runtime: ClassVar = OutputRuntime
    form: ClassVar[JavaForm] = FeedForwardConf.form.more({**BIAS, **LOSS}, TIMED)
    shape_fields: ClassVar[Mapping[str, object]] = {**FeedForwardConf.shape_fields, "has_bias": True}

    def param_specs(self) -> tuple[ParamSpec, ...]:
        return self.matrix_specs(self.has_bias)


@dataclass(frozen=True, kw_only=True)
class LossLayer(WithLoss):
    """Activation and loss without parameters: the output has the size of the input.

    Parameters
    ----------
    loss : str or Loss
    activation : str or Activation
        Identity unless the layer is given another; None takes the network's.
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Input and output ``[N, n]``. Dropout has no effect, as in Java. Source: DL4J ``LossLayer``.
    """

    activation: str | Activation | None = "identity"
    runtime: ClassVar = LossRuntime
    form: ClassVar[JavaForm] = BaseLayerConf.form.more(LOSS, WITHOUT_SIZES)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_rows(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        """Keep the size of the input, which Java writes."""
        if isinstance(input_type, FeedForwardType):
            return replace(self, unused={**self.unused, "nin": input_type.size})
        return self
