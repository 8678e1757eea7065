"""ScaleVertex and ShiftVertex: every number times another one, or plus it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.typing import Array

from ..layers.runtime import Params
from ..terms.java_form import JavaForm
from .base import VertexConf
from .runtime import VertexContext, VertexRuntime


class ScaleRuntime(VertexRuntime):
    """A product each way."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        return nd.multiply(xs[0], self.conf.scale_factor, nd.buffer_like(xs[0], ctx.buffer, "a")), None

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        return [nd.muli(epsilon, self.conf.scale_factor) if ctx.needs_epsilons[0] else None]


@dataclass(frozen=True)
class ScaleVertex(VertexConf):
    """Every number times a factor.

    Parameters
    ----------
    scale_factor : float

    Notes
    -----
    Input and output of any shape. Source: DL4J ``ScaleVertex``.
    """

    scale_factor: float
    runtime: ClassVar = ScaleRuntime
    form: ClassVar[JavaForm] = VertexConf.form.more({"scaleFactor": ("scale_factor", "number")})


class ShiftRuntime(VertexRuntime):
    """A sum forward, nothing to compute backward."""

    pure = splits = True

    def forward(self, xs: Sequence[Array], params: Params, ctx: VertexContext) -> tuple[Array, None]:
        return nd.add(xs[0], self.conf.shift_factor, nd.buffer_like(xs[0], ctx.buffer, "a")), None

    def backward(
        self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: VertexContext
    ) -> Sequence[Array | None]:
        return [epsilon if ctx.needs_epsilons[0] else None]


@dataclass(frozen=True)
class ShiftVertex(VertexConf):
    """Every number plus another one.

    Parameters
    ----------
    shift_factor : float

    Notes
    -----
    Input and output of any shape. Source: DL4J ``ShiftVertex``.
    """

    shift_factor: float = 0.0
    runtime: ClassVar = ShiftRuntime
    form: ClassVar[JavaForm] = VertexConf.form.more({"shiftFactor": ("shift_factor", "number")})
