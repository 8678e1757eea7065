"""Layers from series to series."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Self

from ..conf.input_type import InputType, RecurrentType, series_of
from ..conf.preprocessors import InputPreProcessor, to_series
from .base import FeedForwardConf


@dataclass(frozen=True, kw_only=True)
class SeriesConf(FeedForwardConf):
    """A layer from series of n_in to series of n_out numbers, as long unless it says otherwise."""

    takes: ClassVar[str] = "series"

    def preprocessor_for(self, input_type: InputType) -> InputPreProcessor | None:
        return to_series(input_type)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        return self.with_n_in(label, series_of(label, input_type).n)

    def output_type(self, label: str, input_type: InputType) -> InputType:
        self.check(label)
        return RecurrentType(self.n_out, series_of(label, input_type).time_series_length)  # type: ignore[arg-type]
