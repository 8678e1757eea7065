"""What a configuration is made of: every part inside of it, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable

from nn import (
    ComputationGraphConfiguration,
    FrozenLayer,
    FrozenLayerWithBackprop,
    LayerVertex,
    MultiLayerConfiguration,
)
from nn.conf.parts import KINDS
from nn.files.java_limits import parts_in
from nn.files.own_settings import own_settings
from nn.terms.dropout import IDropout
from nn.terms.weight_noise import IWeightNoise
from optimize import Schedule


def draws(conf: MultiLayerConfiguration) -> bool:
    """Tell whether training draws random numbers, or may; layers that are frozen draw none."""
    layers = [layer for layer in conf.layers if not isinstance(layer, (FrozenLayer, FrozenLayerWithBackprop))]
    return any(isinstance(part, (IDropout, IWeightNoise)) or getattr(part, "draws", False) for part in parts_in(layers))


def trains_as_java(conf: MultiLayerConfiguration) -> bool:
    """Tell whether Java's file has everything that training looks at."""
    schedules = [part for part in parts_in(conf.layers) if isinstance(part, Schedule)]
    return not own_settings(conf.base) and all(schedule.in_java for schedule in schedules)


def forgotten(confs: Iterable[MultiLayerConfiguration | ComputationGraphConfiguration]) -> list[str]:
    """Return what the library has, by its registries, and none of these configurations."""
    seen: set[type] = {LayerVertex}  # taken apart when a configuration is made
    seen |= {type(part) for conf in confs for part in parts_in(conf)}
    return [
        f"{kind.name} {part.__name__}"
        for kind in KINDS
        for part in dict.fromkeys(kind.library.values())
        if part not in seen
    ]
