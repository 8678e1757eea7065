"""DropoutLayer: dropout and nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from nd.typing import Array

from ...terms.dropout import IDropout
from ...terms.java_form import IDLE, JavaForm
from ..base import LayerConf
from ..runtime import Context, LayerRuntime, Params


class DropoutRuntime(LayerRuntime):
    """Nothing but the dropout that every layer applies to its input in training."""

    pure = splits = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, None]:
        return x, None

    def backward(self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: Context) -> Array | None:
        return epsilon if ctx.needs_epsilon else None


@dataclass(frozen=True, kw_only=True)
class DropoutLayer(LayerConf):
    """Dropout as a layer of its own, or other noise, over an input of any shape.

    Parameters
    ----------
    drop_out : float or IDropout
        A number is the probability to **retain**, as in DL4J, the opposite of Keras's and PyTorch's: 0.8 and
        ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Source: DL4J ``DropoutLayer``.
    """

    drop_out: float | IDropout | None = field(default=None, kw_only=False)
    runtime: ClassVar = DropoutRuntime
    positional: ClassVar[tuple[str, ...]] = ("drop_out",)
    form: ClassVar[JavaForm] = LayerConf.form.more(constants=IDLE)
