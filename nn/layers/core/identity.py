"""IdentityLayer: what comes in goes out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from nd.typing import Array

from ...terms.distributions import Distribution
from ...terms.java_form import JavaForm
from ..runtime import Context, LayerRuntime, Params
from ..same_diff import SameDiffConf


class IdentityRuntime(LayerRuntime):
    """Nothing is computed."""

    pure = splits = True
    takes_dropout = False

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, None]:
        return x, None

    def backward(self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: Context) -> Array | None:
        return epsilon if ctx.needs_epsilon else None


@dataclass(frozen=True, kw_only=True)
class IdentityLayer(SameDiffConf):
    """Hands on what comes in, of any shape.

    Parameters
    ----------
    drop_out : float or IDropout, optional
        Kept for Java's files, and not applied.

    Notes
    -----
    Source: DL4J ``IdentityLayer``.
    """

    weight_init: str | Distribution | None = None  # type: ignore[assignment]  # it has no weights; Java writes none either
    runtime: ClassVar = IdentityRuntime
    needed: ClassVar[tuple[str, ...]] = ("updater",)
    form: ClassVar[JavaForm] = SameDiffConf.form.more(
        constants={"paramWeightInit": None}, package="org.deeplearning4j.nn.layers.util."
    )
