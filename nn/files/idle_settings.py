"""Settings that Java writes of layers which derive from its layers with parameters, and have none."""

from __future__ import annotations

import copy
from collections.abc import Iterator

from ..conf.network import NeuralNetConfiguration
from ..layers import LossLayer
from ..terms.java_form import IDLE
from .json_values import Json

_LAYERS = "org.deeplearning4j.nn.conf.layers."
IDLE_CLASSES = (f"{_LAYERS}DropoutLayer", f"{_LAYERS}misc.RepeatVector")
"""Java's classes of them."""


def fill_idle_settings(layer: Json, base: NeuralNetConfiguration) -> Json:
    """Put a network's defaults into a layer's JSON, or into that of a layer inside, as Java's builder does.

    Values that a file has said, and that are others than those of no network, stay. Returns `layer`.
    """
    idle = list(_idle_layers(layer))
    if idle:
        defaults = _defaults(base)
        for document in idle:
            same = {key: defaults[key] for key, value in IDLE.items() if key in defaults and document[key] == value}
            document |= copy.deepcopy(same)
    return layer


def _defaults(base: NeuralNetConfiguration) -> Json:
    """Return what a network gives a layer with an activation and without parameters."""
    from .json import layer_to_json

    written = layer_to_json(LossLayer(activation=None).resolved(base.of_all_layers(), 0))
    return {key: written[key] for key in IDLE if key in written and key not in ("nin", "nout")}


def _idle_layers(value: object) -> Iterator[Json]:
    if isinstance(value, dict):
        if value.get("@class") in IDLE_CLASSES:
            yield value
        for inside in value.values():
            yield from _idle_layers(inside)
