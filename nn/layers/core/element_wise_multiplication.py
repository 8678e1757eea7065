"""ElementWiseMultiplicationLayer: every number by a weight of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.typing import Array

from ...terms.java_form import TIMED, JavaForm
from ...terms.params import ParamSpec
from ..runtime import Context, LayerRuntime, Params
from ..same_size import SameSizeConf
from .dense import Cache


class ElementWiseMultiplicationRuntime(LayerRuntime):
    """Forward and backward of weights for single numbers."""

    pure = splits = True
    noised = ()

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Cache]:
        self.check_rows(x, self.conf.n_in)
        z = nd.multiply(x, params["W"], ctx.buffer("z", x.shape))
        a = self.activate_sum(z, ctx, params["b"])
        return a, Cache(x, z, a)

    def backward(self, epsilon: Array, cache: Cache, params: Params, grads: Params, ctx: Context) -> Array | None:
        delta = self.activation_gradient(epsilon, cache.z, cache.a, ctx)
        nd.assign(grads["W"], nd.channel_sums(delta, cache.x))
        nd.assign(grads["b"], nd.channel_sums(delta))
        return nd.muli(delta, params["W"]) if ctx.needs_epsilon else None


@dataclass(frozen=True, kw_only=True)
class ElementWiseMultiplicationLayer(SameSizeConf):
    """A weight and a bias for every number of a row: activation(x * W + b).

    Parameters
    ----------
    n_in, n_out : int, optional
        The same; inferred when the network has an input type.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Raises
    ------
    ConfigurationError
        n_in and n_out differ.

    Notes
    -----
    Input and output ``[N, n_in]``. Vector: W ``[1, n_in]``, b ``[1, n_in]``. Weight noise has no effect, as in Java.
    Source: DL4J ``ElementWiseMultiplicationLayer``. Differs: Java's dropout is in the gradient alone, the activations
    are those of all inputs.

    Examples
    --------
    >>> ElementWiseMultiplicationLayer(n_in=3).param_shapes()
    {'W': (1, 3), 'b': (1, 3)}
    """

    runtime: ClassVar = ElementWiseMultiplicationRuntime
    form: ClassVar[JavaForm] = SameSizeConf.form.more(constants=TIMED, package="misc.")
    shape_fields: ClassVar[Mapping[str, object]] = {"n_in": None}

    def param_specs(self) -> tuple[ParamSpec, ...]:
        n = self.n_in or 0
        return ParamSpec("W", (1, n), "c", fan_in=n, fan_out=n), ParamSpec("b", (1, n), "c", bias=True)
