"""RepeatVector: rows as time series that do not change."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, Self

import nd
from nd.arguments import Count
from nd.checks import describe_shape
from nd.typing import Array

from ...terms import data_formats
from ...terms.input_type import InputType, RecurrentType
from ...terms.java_form import IDLE, JavaForm
from ...terms.preprocessors import InputPreProcessor, to_rows
from ..base import LayerConf
from ..runtime import Context, LayerRuntime, Params


class RepeatVectorRuntime(LayerRuntime):
    """One copy forward, a sum over time backward."""

    pure = splits = True

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, None]:
        if not nd.is_array(x) or x.ndim != 2:
            got = describe_shape(x.shape) if nd.is_array(x) else type(x).__name__
            raise nd.ShapeError(
                f"{self.label}: expected input [N, C], got {got}. Set the input type that describes it."
            )
        out = ctx.buffer("a", (*x.shape, self.conf.n))
        return nd.assign(out, nd.reshape(x, (*x.shape, 1))), None

    def backward(self, epsilon: Array, cache: None, params: Params, grads: Params, ctx: Context) -> Array | None:
        if not ctx.needs_epsilon:
            return None
        return nd.sum_into(epsilon, 2, ctx.buffer("epsilon", tuple(epsilon.shape[:2])))

    def feed_forward_mask(self, mask: Array) -> Array:
        return nd.assign(nd.fresh_buffers(self.dtype)("mask", (mask.shape[0], self.conf.n)), mask)


@dataclass(frozen=True, kw_only=True)
class RepeatVector(LayerConf):
    """Makes time series of rows: the row at every step.

    Parameters
    ----------
    n : int
        Time steps.
    data_format : {"NCW", "NWC"}, optional
        Order of the axes of what goes out, by default NCW.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Notes
    -----
    Input ``[N, C]``, output ``[N, C, n]``. The dropout of the input is applied; a mask ``[N, 1]`` holds for all steps.
    Source: DL4J ``RepeatVector``. Differs: Java hands the mask on as it is, and leaves the dropout out on the way back.

    Examples
    --------
    >>> from nn import InputType
    >>> RepeatVector(4).output_type("layer 0", InputType.feed_forward(3))
    recurrent(3x4)
    """

    n: Count = field(default=1, kw_only=False)
    data_format: str | None = None
    runtime: ClassVar = RepeatVectorRuntime
    positional: ClassVar[tuple[str, ...]] = ("n",)
    formats: ClassVar[tuple[str, ...]] = data_formats.SERIES
    form: ClassVar[JavaForm] = LayerConf.form.more({"n": ("n", "plain")}, IDLE, package="misc.").formatted("dataFormat")

    @property
    def said_format(self) -> None:
        """None: the layer's input is rows."""

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_rows(input_type)

    def in_format(self, label: str, incoming: str | None) -> tuple[Self, str | None]:
        chosen = self.data_format or self.formats[0]
        return replace(self, data_format=chosen), chosen

    def output_type(self, label: str, input_type: InputType) -> InputType:
        return RecurrentType(input_type.size, self.n)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, ("series", before[1]) if before is not None and before[0] == "rows" else None
