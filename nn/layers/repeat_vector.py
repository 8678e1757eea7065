"""RepeatVector: rows as time series that do not change."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import nd
from nd.arguments import Count
from nd.checks import describe_shape

from ..conf.input_type import InputType, RecurrentType
from ..preprocessors import InputPreProcessor, to_rows
from .base import LayerConf
from .runtime import LayerRuntime

Array = Any


class RepeatVectorRuntime(LayerRuntime):
    """One copy forward, a sum over time backward."""

    pure = splits = True

    def pre_output(self, x: Array, training: bool = False) -> Array:
        return self.forward(x, training)[0]

    def forward(self, x: Array, training: bool, mask: Array | None = None) -> tuple[Array, Array | None]:
        if not nd.is_array(x) or x.ndim != 2:
            found = describe_shape(x.shape) if nd.is_array(x) else type(x).__name__
            raise nd.ShapeError(
                f"{self.label}: expected input [N, C], got {found}. Set the input type that describes it."
            )
        x, drop_mask = self.drop_input(x, training)
        out = self.buffers("a", (*x.shape, self.conf.n))
        return nd.assign(out, nd.reshape(x, (*x.shape, 1))), drop_mask

    def backprop_gradient(self, epsilon: Array, cache: Array | None, need_epsilon: bool = True) -> Array | None:
        if not need_epsilon:
            return None
        below = nd.sum_into(epsilon, 2, self.buffers("epsilon", tuple(epsilon.shape[:2])))
        return self.undropped(below, cache)

    def feed_forward_mask(self, mask: Array) -> Array:
        return nd.assign(self.buffers("mask", (mask.shape[0], self.conf.n)), mask)


@dataclass(frozen=True, kw_only=True)
class RepeatVector(LayerConf):
    """Makes time series of rows: the row at every step.

    Parameters
    ----------
    n : int
        Time steps.

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
    runtime: ClassVar = RepeatVectorRuntime
    positional: ClassVar[tuple[str, ...]] = ("n",)

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_rows(input_type)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        return RecurrentType(input_type.size, self.n)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        return self, ("series", before[1]) if before is not None and before[0] == "rows" else None
