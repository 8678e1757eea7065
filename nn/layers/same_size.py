"""Layers whose output is as wide as their input."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import nd

from .base import FeedForwardConf


@dataclass(frozen=True, kw_only=True)
class SameSizeConf(FeedForwardConf):
    """A layer of which n_in and n_out are one number, so that one of them says both."""

    def __post_init__(self) -> None:
        super().__post_init__()
        sizes = {size for size in (self.n_in, self.n_out) if size is not None}
        if len(sizes) > 1:
            raise nd.ConfigurationError(
                f"{type(self).__name__}: n_in and n_out must be the same, got {self.n_in} and {self.n_out}."
            )
        for size in sizes:
            object.__setattr__(self, "n_in", size)
            object.__setattr__(self, "n_out", size)

    def following(self, label: str, before: tuple[str, int] | None) -> tuple[Self, tuple[str, int] | None]:
        layer, _ = super().following(label, before)
        return layer, None if layer.n_out is None else (layer.takes, layer.n_out)
