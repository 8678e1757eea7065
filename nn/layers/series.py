"""Layers from series to series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import nd
from nd.checks import check_shape, describe_shape
from nd.typing import Array

from ..terms.input_type import InputType, RecurrentType, series_of
from ..terms.preprocessors import InputPreProcessor, to_series
from .base import FeedForwardConf


def check_series(label: str, x: Array, n_in: int, mask: Array | None = None) -> None:
    """Raise unless x is ``[N, n_in, T]``, with a step at least, and the mask, where there is one, ``[N, T]``."""
    if not nd.is_array(x):
        raise nd.DTypeError(f"{label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
    if x.ndim != 3 or x.shape[1] != n_in or x.shape[2] == 0:
        from ..terms.axis_order import remedy  # which data that fit do not need

        raise nd.ShapeError(
            f"{label}: expected input {describe_shape(('N', n_in, 'T'))} with T >= 1, got {describe_shape(x.shape)}. "
            f"{remedy('x', x.shape, (n_in, None)) or f'Give series, channels before time; one step is [N, {n_in}, 1].'}"
        )
    if mask is not None:
        check_shape(f"{label}: mask", mask.shape, (x.shape[0], x.shape[2]))


@dataclass(frozen=True, kw_only=True)
class SeriesConf(FeedForwardConf):
    """A layer from series of n_in to series of n_out numbers, as long unless it says otherwise."""

    takes: ClassVar[str] = "series"

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_series(input_type)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return RecurrentType(self.n_out, series_of(label, input_type).time_series_length)  # type: ignore[arg-type]
