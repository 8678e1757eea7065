"""LocalResponseNormalization: every channel divided by a power of its neighbours' squares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, NamedTuple

import nd
from nd.arguments import NonNegative, Positive, Range
from nd.arrays.lrn import lrn, lrn_back
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import InputType
from ...terms.java_form import PARAMETERLESS, JavaForm
from ...terms.preprocessors import InputPreProcessor, to_images
from ..base import LayerConf
from ..convolution.convolution import image_of
from ..runtime import Context, LayerRuntime, Params

_Channels = Annotated[float, Range(">= 1 and whole", lambda value: value >= 1 and value % 1 == 0)]
"""Java's n is a double."""


class LocalResponseCache(NamedTuple):
    """Results of forward that backward needs."""

    x: Array
    scale: Array
    """k + alpha * sum of the neighbours' squares."""
    power: Array
    """scale^(-beta)."""
    a: Array


def _inverse_power(scale: Array, beta: float, out: Array) -> None:
    """scale^(-beta); 0.75, the usual one, by roots, which are much faster than powers."""
    if beta == 0.75:
        nd.sqrt(scale, out)
        nd.muli(out, nd.sqrt(out))
        nd.divide(1.0, out, out)
    else:
        nd.power(scale, -beta, out)


class LocalResponseRuntime(LayerRuntime):
    """Forward and backward of a local response normalisation."""

    pure = splits = True
    takes_dropout = False

    def setup(self) -> None:
        conf = self.conf
        k, alpha, beta = float(conf.k), float(conf.alpha), float(conf.beta)

        def forward(x: Array, scale: Array, power: Array, a: Array) -> None:
            nd.muli(scale, alpha)
            nd.addi(scale, k)
            _inverse_power(scale, beta, power)
            nd.multiply(x, power, a)

        def ratio(epsilon: Array, a: Array, scale: Array, out: Array) -> None:
            nd.multiply(epsilon, a, out)
            nd.divi(out, scale)

        def back(epsilon: Array, x: Array, power: Array, neighbours: Array) -> None:
            nd.muli(epsilon, power)
            nd.muli(neighbours, x)
            nd.muli(neighbours, 2.0 * alpha * beta)
            nd.subi(epsilon, neighbours)

        self._forward, self._ratio, self._back = map(nd.Elementwise, (forward, ratio, back))

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, object]:
        if not ctx.activates:
            return x, None
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        if x.ndim != 4:
            raise nd.ShapeError(f"{self.label}: expected input [N, C, H, W], got {describe_shape(x.shape)}.")
        ran = self.in_one_pass(x, ctx)
        if ran is not None:
            return ran
        squares, power, a = (nd.buffer_like(x, ctx.buffer, name) for name in ("squares", "power", "a"))
        scale = self.neighbours(nd.square(x, squares), "scale", ctx)
        self._forward(x, scale, power, a)
        return a, LocalResponseCache(x, scale, power, a)

    def backward(
        self, epsilon: Array, cache: LocalResponseCache, params: Params, grads: Params, ctx: Context
    ) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        if not isinstance(cache, LocalResponseCache):
            return lrn_back(epsilon, cache, ctx.buffer)
        x, scale, power, a = cache
        ratios = nd.buffer_like(x, ctx.buffer, "squares")
        self._ratio(epsilon, a, scale, ratios)
        self._back(epsilon, x, power, self.neighbours(ratios, "neighbours", ctx))
        return epsilon

    def in_one_pass(self, x: Array, ctx: Context) -> tuple[Array, object] | None:
        """Return activations and cache where a backend has a way of its own, else None."""
        conf = self.conf
        return lrn(x, conf.n, conf.k, conf.alpha, conf.beta, ctx.buffer)

    def neighbours(self, x: Array, name: str, ctx: Context) -> Array:
        """Return the sum over every channel of x and those at most n // 2 away, in memory of that name."""
        out = nd.assign(nd.buffer_like(x, ctx.buffer, name), x)
        for distance in range(1, min(self.conf.n // 2, x.shape[1] - 1) + 1):
            nd.addi(out[:, distance:, ...], x[:, :-distance, ...])
            nd.addi(out[:, :-distance, ...], x[:, distance:, ...])
        return out


@dataclass(frozen=True, kw_only=True)
class LocalResponseNormalization(LayerConf):
    """x / (k + alpha * sum of x^2 over the n channels around)^beta, at every place of an image.

    Parameters
    ----------
    n : int
        Channels that are summed up; with an even one as many as with the next odd one.
    k, alpha, beta : float
        alpha is not divided by n.
    data_format : {"NCHW", "NHWC"}, optional
        Order of the axes of what comes in and goes out; that of what comes in unless given.

    Raises
    ------
    ConfigurationError
        n is no whole number >= 1, or k, alpha or beta are no finite numbers, or k is not above 0 or alpha below it.

    Notes
    -----
    Input and output ``[N, C, H, W]``; channels that are not there count nothing. Dropout has no effect. Source: DL4J
    ``LocalResponseNormalization``; Krizhevsky, Sutskever and Hinton 2012, section 3.3. Differs: the gradient is the
    derivative. Java divides ``Σ_j epsilon_j a_j`` by the channel's own scale, where every summand has one of its own;
    with the default alpha that is off by less than 1e-4 of the gradient.
    """

    n: _Channels = 5
    k: Positive = 2.0
    alpha: NonNegative = 1e-4
    beta: float = 0.75
    data_format: str | None = None
    runtime: ClassVar = LocalResponseRuntime
    positional: ClassVar[tuple[str, ...]] = ("k", "n", "alpha", "beta")
    formats: ClassVar[tuple[str, ...]] = data_formats.IMAGES
    form: ClassVar[JavaForm] = LayerConf.form.more(
        {"n": ("n", "real"), "k": ("k", "number"), "alpha": ("alpha", "number"), "beta": ("beta", "number")},
        {**PARAMETERLESS, "cudnnAllowFallback": True},
    ).formatted("dataFormat")

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "n", int(self.n))

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_images(input_type)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        return image_of(label, input_type)
