"""OCNNOutputLayer: a one-class network, which learns normal examples and scores all others low."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import nd
from nd.activations import Activation
from nd.arguments import Count, Retained
from nd.typing import Array
from optimize.builder import Builder

from ...terms.java_form import TIMED, JavaForm
from ...terms.params import ParamSpec
from ..base import BaseLayerConf, FeedForwardConf
from ..runtime import Context, Kept, LayerRuntime, Params
from .output import OutputMixin


class OcnnCache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    z: Array
    hidden: Array
    a: Array


class OcnnDelta(NamedTuple):
    """Start of the backward pass: gradients ``[N, 1]`` of the outputs."""

    of_loss: Array
    """Of the loss alone, in which r is too."""
    of_all: Array
    """With what readers of the outputs hand back."""
    weight: float = 1.0
    """Of the loss."""


class Outputs:
    """The outputs of one epoch of training, as many as fit."""

    def __init__(self, size: int, dtype: str) -> None:
        self.size, self.dtype = size, dtype
        self.count = 0
        self._window: Array | Any = None

    def add(self, out: Array) -> None:
        """Keep outputs ``[N, 1]`` while there is room."""
        taken = min(out.shape[0], self.size - self.count)
        if self._window is None:
            self._window = nd.zeros(self.size, 1, dtype=self.dtype)
        nd.assign(self._window[self.count : self.count + taken, :], out[:taken, :])
        self.count += taken

    def percentile(self, part: float) -> float:
        """Return the value below which that part of the outputs lies, between two where it is between them."""
        values = sorted(nd.to_host(self._window)[: self.count, 0].tolist())
        position = part * (len(values) + 1)
        below = math.floor(position)
        if not 1 <= below < len(values):
            return float(values[0] if below < 1 else values[-1])
        return float(values[below - 1] + (position - below) * (values[below] - values[below - 1]))


class OcnnRuntime(OutputMixin, LayerRuntime):
    """One hidden layer, one output, and the radius r.

    Unlike other layers it keeps something between calls, the outputs of an epoch. So it is not pure and does not
    split: in training one computation after the other sees all examples.
    """

    pure = splits = False

    def setup(self) -> None:
        self._outputs = Outputs(self.conf.window_size, self.dtype)
        self._epoch, self._epoch_of_outputs = 0, 0

    # ---- forward

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, OcnnCache]:
        """Return the outputs ``[N, 1]``, to which no activation is applied."""
        self.check_rows(x, self.conf.n_in)
        shape = (x.shape[0], self.conf.hidden_size)
        z = nd.gemm(x, params["v"], ctx.buffer("z", shape))
        hidden = self.activating.value(z, ctx.buffer("hidden", shape), ctx.training)
        a = nd.gemm(hidden, params["w"], ctx.buffer("a", (shape[0], 1)), transpose_b=True)
        return a, OcnnCache(x, z, hidden, a)

    # ---- loss

    def summed_loss(self, labels: Array, kept: Kept, mask: Array | None) -> Array:
        """Return ``(|w|² + |v|²) / 2 + mean(max(r - out, 0)) / nu - r``; the labels are not looked at.

        Raises
        ------
        ShapeError
            The mask is not ``[N, 1]``.
        """
        short = self._short(kept, mask)
        nd.maximum(short, 0.0, short)
        params = kept.params
        squares: float | Array = 0.0
        for name in ("w", "v"):
            squares = squares + nd.sum(nd.square(params[name]))
        return 0.5 * squares + nd.sum(short) / (self.conf.nu * short.shape[0]) - nd.sum(params["r"])

    def _short(self, kept: Kept, mask: Array | None) -> Array:
        """Return r - out ``[N, 1]``, 0 where the mask is."""
        out = kept.cache.a
        short = nd.subtract(kept.params["r"], out, kept.context.buffer("short", tuple(out.shape)))
        if mask is None:
            return short
        if tuple(mask.shape) != tuple(out.shape):
            raise nd.ShapeError(f"{self.label}: mask must be {list(out.shape)}, got {list(mask.shape)}. Reshape it.")
        return nd.muli(short, mask)

    def loss_and_delta(self, labels: Array, kept: Kept, mask: Array | None) -> tuple[Array, OcnnDelta]:
        """Return the loss and its gradient ``dL/d(out) [N, 1]``; moves r when an epoch has begun."""
        self._follow(kept)
        loss = self.summed_loss(labels, kept, mask)
        short = self._short(kept, mask)
        delta = nd.greater(short, 0.0, kept.context.buffer("delta", tuple(short.shape)))
        if mask is not None:
            nd.muli(delta, mask)
        nd.muli(delta, -1.0 / (self.conf.nu * delta.shape[0]))
        return loss, OcnnDelta(delta, delta)

    def weighted_delta(self, delta: OcnnDelta, weight: float) -> OcnnDelta:
        """Do as every layer with a loss; `backward_delta` multiplies what the parameters are of it."""
        of_loss = nd.muli(delta.of_loss, weight)
        return OcnnDelta(of_loss, of_loss, weight)

    def with_epsilon(self, delta: OcnnDelta, epsilon: Array, kept: Kept) -> OcnnDelta:
        """Do as every layer with a loss; no activation is applied to the outputs."""
        return delta._replace(of_all=nd.addi(epsilon, delta.of_all))

    def at(self, iteration: int, epoch: int) -> None:
        """Hear which epoch it is."""
        self._epoch = epoch

    def scheduled_numbers(self) -> list[Any]:
        return [*super().scheduled_numbers(), self]

    def _follow(self, kept: Kept) -> None:
        """Keep the outputs of an epoch; in the first minibatch of the next let r be their percentile.

        As r is no weight, nothing ever stands in for it: it is the parameter itself that is written.
        """
        if self._epoch != self._epoch_of_outputs:
            if self._outputs.count:
                nd.fill(kept.params["r"], self._outputs.percentile(self.conf.nu))
            self._outputs.count, self._epoch_of_outputs = 0, self._epoch
        self._outputs.add(kept.cache.a)

    # ---- backward

    def backward_delta(
        self, delta: OcnnDelta, cache: OcnnCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        """Continue from ``dL/d(out) [N, 1]``; the weights and r are in the loss themselves too."""
        below = self.backward(delta.of_all, cache, params, grads, ctx)
        weight = delta.weight
        for name in ("w", "v"):
            nd.addi(grads[name], params[name] if weight == 1.0 else nd.multiply(params[name], weight))
        nd.fill(grads["r"], -weight)
        nd.subi(grads["r"], nd.sum(delta.of_loss))
        return below

    def backward(self, epsilon: Array, cache: OcnnCache, params: Params, grads: Params, ctx: Context) -> Array | None:
        nd.gemm(epsilon, cache.hidden, grads["w"], transpose_a=True)
        nd.fill(grads["r"], 0.0)
        delta = nd.multiply(epsilon, params["w"], ctx.buffer("delta_hidden", tuple(cache.z.shape)))
        self.activating.backprop(cache.z, cache.hidden, delta)
        nd.affine_gradients(cache.x, delta, grads["v"], None)
        if not ctx.needs_epsilon:
            return None
        return nd.gemm(delta, params["v"], ctx.buffer("epsilon", tuple(cache.x.shape)), transpose_b=True)


@dataclass(frozen=True, kw_only=True)
class OCNNOutputLayer(FeedForwardConf):
    """Output layer of a one-class network: trained on normal examples, its output is low for all others.

    Parameters
    ----------
    hidden_size : int
    nu : float
        Part of the training examples that may lie outside, 0 < nu <= 1.
    window_size : int
        Outputs of an epoch that r is computed from, at most.
    initial_r_value : float
    configure_r : bool
        Let r start at initial_r_value; else it is drawn as the weights are.
    activation : str or Activation
        Of the hidden units: identity unless the layer is given another; None takes the network's.
    n_in : int
    n_out : int
        1.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Raises
    ------
    ConfigurationError
        A size is missing or no integer >= 1, nu is outside of 0..1, n_out is not 1.

    Notes
    -----
    Input ``[N, n_in]``, output ``[N, 1]``: ``out = activation(x v) w``; out < r means that an example is none of the
    class. The loss is ``(|w|² + |v|²) / 2 + mean(max(r - out, 0)) / nu - r``, of which the score is an N-th, as in
    Java; labels are asked for and not used. In the first minibatch of an epoch r becomes the nu-percentile of the
    outputs of the epoch before. Those outputs are kept in memory, not in files: after loading, r stays until an epoch
    of training is over. Vector: w ``[1, hidden_size]``, v ``[n_in, hidden_size]`` in f order, r ``[1, 1]``, which has
    no penalties. Source: DL4J ``OCNNOutputLayer``; Chalapathy, Menon and Chawla 2018.

    Differs: the percentile is over the outputs that there were, Java's also over zeros that fill the window; outputs
    of every epoch are kept, in Java those of the first and of none or the last minibatch later; the new r counts from
    the first minibatch on. The layer below gets the derivative of the loss; Java hands it the sign of r - out. Rows
    that a mask leaves out add nothing to the mean.
    """

    hidden_size: Count | None = None
    activation: str | Activation | None = "identity"
    nu: Retained = 0.04
    window_size: Count = 10000
    initial_r_value: float = 0.1
    configure_r: bool = True
    runtime: ClassVar = OcnnRuntime
    loss: ClassVar[None] = None
    """Its own; that there is one tells that the layer is the last."""
    builder_verbs: ClassVar[dict[str, Callable[..., Builder]]] = {
        **BaseLayerConf.builder_verbs,
        "hidden_layer_size": lambda builder, size: builder.hidden_size(size),
    }
    builder_ignored: ClassVar[frozenset[str]] = BaseLayerConf.builder_ignored | {"loss"}
    form: ClassVar[JavaForm] = FeedForwardConf.form.more(
        {
            "configureR": ("configure_r", "plain"),
            "hiddenSize": ("hidden_size", "plain"),
            "initialRValue": ("initial_r_value", "number"),
            "nu": ("nu", "number"),
            "windowSize": ("window_size", "plain"),
        },
        {**TIMED, "hasBias": True, "lastEpochSinceRUpdated": 0},
        package="org.deeplearning4j.nn.conf.ocnn.",
    )
    shape_fields: ClassVar[Mapping[str, object]] = {"n_in": None, "hidden_size": None}

    def __post_init__(self) -> None:
        super().__post_init__()
        who = type(self).__name__
        if self.n_out not in (None, 1):
            raise nd.ConfigurationError(f"{who}: n_out must be 1, got {self.n_out}. Set hidden_size instead.")
        object.__setattr__(self, "n_out", 1)

    def check(self, label: str) -> None:
        super().check(label)
        if self.hidden_size is None:
            raise nd.ConfigurationError(f"{label}: hidden_size is missing. Give it.")

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n_in, hidden = self.n_in or 0, self.hidden_size or 0
        return (
            ParamSpec("w", (1, hidden), "c", fan_in=1, fan_out=hidden),
            ParamSpec("v", (n_in, hidden), "f", fan_in=n_in, fan_out=hidden),
            ParamSpec(
                "r", (1, 1), "c", fan_in=1, fan_out=1, penalised=False,
                initial=self.initial_r_value if self.configure_r else None,
            ),
        )  # fmt: skip
