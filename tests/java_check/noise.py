"""Every layer with noise of every kind, its own and the network's; Java draws from the same seed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from itertools import cycle
from pathlib import Path
from typing import Any

import nd
from nd.dataset import DataSet
from nn import (
    LSTM,
    AlphaDropout,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    DropConnect,
    Dropout,
    GaussianDropout,
    GaussianNoise,
    MultiLayerNetwork,
    NormalDistribution,
    SpatialDropout,
    WeightNoise,
)
from optimize import StepSchedule
from tests.cases.layers import LAYER_CASES, make_features, make_labels
from tests.cases.layers.base import LayerCase
from tests.cases.random_series import RandomSeries

from . import series
from .rows import base
from .series import PROGRAM, Drawn, compare

SEED = 4321
DRAWS_AS, DRAWS_AGAIN_AS = "1.0.0-M1.1", "1.0.0-beta7"
"""Releases whose numbers are drawn: of 23 bits as in both that are checked, and by default."""
NOT_UNDERSTOOD = "last_time_step"
"""The layer whose network draws otherwise in Java when all layers have dropout; nobody knows yet by what rule."""
STANDS_ALONE = "frozen", "capsule"
"""Layers that Java hands no gradient past, or that it cannot run on another one."""
TOLERANCES = {name: max(tolerance, 3e-6) for name, tolerance in series.TOLERANCES.items()}
"""Java's logarithm and cosine, which normal noise is drawn with, are in single precision."""
BELOW: dict[int, Callable[[int], Any]] = {
    1: lambda size: DenseLayer(n_out=size, activation="tanh"),
    2: lambda size: LSTM(n_out=size, activation="tanh"),
    3: lambda size: ConvolutionLayer(n_out=size, kernel_size=1, activation="tanh"),
    4: lambda size: Convolution3D(n_out=size, kernel_size=1, activation="tanh"),
}
"""Axes of an example -> a layer to stand on: errors go down to it, and Java trains no network without parameters."""
DROPOUTS = {
    "alpha": AlphaDropout(0.6), "dropout": Dropout(0.7), "gaussian_dropout": GaussianDropout(0.3),
    "gaussian": GaussianNoise(0.4), "spatial": SpatialDropout(0.6),
    "falling": Dropout(StepSchedule("iteration", 0.9, 0.8, 2.0)),
}  # fmt: skip
WEIGHT_NOISES = {
    "connect": DropConnect(0.7), "connect_biases": DropConnect(0.6, True),
    "adding": WeightNoise(NormalDistribution(0.0, 0.1)),
    "multiplying": WeightNoise(NormalDistribution(1.0, 0.1), additive=False),
}  # fmt: skip


def noises(case: LayerCase) -> list[tuple[str, dict[str, Any]]]:
    """Return all kinds of noise that a layer can be given, by name."""
    places = len(case.input_type.shape) > 1
    dropouts = [("drop_out", name, noise) for name, noise in DROPOUTS.items() if places or name != "spatial"]
    given = [*dropouts, *(("weight_noise", name, noise) for name, noise in WEIGHT_NOISES.items())]
    return [(name, {field: noise}) for field, name, noise in given]


def noise_rows() -> Iterator[Drawn]:
    """Yield networks with noise that is the layer's own and, of another kind, that is all layers'.

    Every layer has every kind once in each of the two, in its rows by turns.
    """
    for kind, cases in LAYER_CASES.items():
        kinds = max((noises(case) for case in cases), key=len)
        for case, turn in zip(cycle(cases), range(len(kinds)), strict=False):
            allowed = dict(noises(case))
            for place, (name, settings) in (("own", kinds[turn]), ("all", kinds[turn - 1])):
                known = place == "own" or kind != NOT_UNDERSTOOD or "weight_noise" in allowed.get(name, ())
                if name in allowed and known:
                    yield from _row(f"noise-{kind}-{case.variant}-{place}-{name}", case, place == "own", settings)


def _row(name: str, case: LayerCase, own: bool, settings: dict[str, Any]) -> Iterator[Drawn]:
    """Yield the network, unless it is one that this library refuses or cannot train."""
    if own and not set(settings) <= {field.name for field in fields(case.layer)}:
        return
    with contextlib.suppress(nd.NdError):
        layer, of_all = (replace(case.layer, **settings), {}) if own else (case.layer, settings)
        settings = base(dtype="float64", validate_output_layer_config=False, **of_all)
        conf = settings.list(layer, *case.tail, input_type=case.input_type)
        if not case.vocabulary and not (conf.layout().length and (own or name.split("-")[1] in STANDS_ALONE)):
            shape = case.input_type.shape
            conf = settings.list(BELOW[len(shape)](shape[0]), layer, *case.tail, input_type=case.input_type)
        net, features = MultiLayerNetwork(conf).init(), make_features(case)
        data = DataSet(features, make_labels(case, net.output(features).shape[1:]))
        net.fit(data)
        yield Drawn(name, RandomSeries(conf, data, False), SEED)


def save(drawn: Drawn, folder: Path) -> None:
    """Write a network and what it computes, as `series.save`, with Java's draws."""
    nd.random.set_release(DRAWS_AS)
    try:
        series.save(drawn, folder)
    finally:
        nd.random.set_release(DRAWS_AGAIN_AS)


__all__ = ["PROGRAM", "TOLERANCES", "compare", "noise_rows", "save"]
