"""Recurrent layers: LSTM and SimpleRNN, in one direction and in both, over whole series or for their last step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nd.typing import HostArray

from .activations import inside
from .draft import Config, Value, serialized
from .node import Node
from .settings import of_params

_GATES = [3, 1, 0, 2]
"""Our columns are candidate, forget, output, input; Keras' input, forget, candidate, output."""
_MERGES = {"add": "sum", "average": "ave", "concat": "concat", "mul": "mul"}
UNITS: Mapping[str, str] = {"LSTM": "LSTM", "SimpleRnn": "SimpleRNN"}
"""Class of ours that Keras has -> its class, sorted."""


def recurrent(node: Node) -> Value:
    """LSTM and SimpleRnn."""
    return _one_way(node, whole=True)


def last_time_step(node: Node) -> Value:
    """LastTimeStep: a recurrent layer without `return_sequences`, or the last step of what is inside."""
    from . import layer_written  # which has the table of all

    inner = node.around(node.conf.inside, node.params)
    if type(inner.conf).__name__ in UNITS:
        return _one_way(inner, whole=False)
    kind = None if node.types[0] is None else inner.conf.output_type(node.name, node.types[0])
    return last_step(node.around(node.conf, {}, types=(kind,)), layer_written(inner))


def bidirectional(node: Node) -> Value:
    """Bidirectional, of a whole series, or of the last step of either direction."""
    inner, whole = node.conf.inside, True
    if type(inner).__name__ == "LastTimeStep":
        inner, whole = inner.inside, False
    if type(inner).__name__ not in UNITS:
        node.refuse(f"no Bidirectional of Keras has a {type(inner).__name__} inside")
    sides = [
        node.around(inner, {name[1:]: array for name, array in node.params.items() if name.startswith(side)})
        for side in "fb"
    ]
    config, weights = zip(*(_units(side, whole) for side in sides), strict=True)
    own = {"name": f"{node.name}_units", "trainable": node.trainable, "dtype": node.draft.dtype, **config[0]}
    layer = serialized("keras.layers", UNITS[type(inner).__name__], own)
    return node.add(
        "Bidirectional", axes=0 if whole else -1, merge_mode=_MERGES[node.conf.mode], layer=layer,
        weights={"forward_layer/cell": weights[0], "backward_layer/cell": weights[1]},
    )  # fmt: skip


def last_step(node: Node, x: Value, part: str = "last") -> Value:
    """Return the last steps ``[N, C]`` of series ``[N, T, C]``, of which T must be known."""
    steps = node.sizes()[1] if len(node.sizes()) > 1 else None
    if steps is None:
        node.refuse("no layer of Keras takes the last step of series whose length is not known")
    if steps > 1:
        x = node.add("Cropping1D", x, part=part, cropping=[int(steps) - 1, 0])
    return node.add("Flatten", x, part=f"{part}_row", axes=-1)


def _one_way(node: Node, whole: bool) -> Value:
    config, weights = _units(node, whole)
    return node.add(UNITS[type(node.conf).__name__], axes=0 if whole else -1, weights={"cell": weights}, **config)


def _units(node: Node, whole: bool) -> tuple[Config, Sequence[HostArray]]:
    """Return the settings of recurrent units, and their weights."""
    conf = node.conf
    config = {
        "units": int(node.params["RW"].shape[0]), "activation": _inside(node, conf.activation), "use_bias": True,
        **of_params(node), **_recurrent_settings(node), "return_sequences": whole, "return_state": False,
        "go_backwards": False, "stateful": False, "unroll": False, "dropout": 0.0, "recurrent_dropout": 0.0,
    }  # fmt: skip
    arrays = [node.params[name] for name in ("W", "RW")] + node.bias()
    if type(conf).__name__ == "SimpleRnn":
        if conf.has_layer_norm:
            node.refuse("Keras has no SimpleRNN with a normalisation over the layer")
        return config, arrays
    config["recurrent_activation"] = _inside(node, conf.gate_activation)
    config["unit_forget_bias"] = conf.forget_gate_bias_init == 1.0
    return config, [_in_keras_order(array) for array in arrays]


def _recurrent_settings(node: Node) -> Config:
    settings: Any = of_params(node, "recurrent", "", W="RW")
    return {name: value for name, value in settings.items() if name.startswith("recurrent")}


def _inside(node: Node, activation: Any) -> str:
    name = inside(activation)
    if name is None:
        node.refuse(f"no recurrent layer of Keras has the activation {type(activation).__name__} inside")
    return name


def _in_keras_order(array: HostArray) -> HostArray:
    """Return an array whose last axis is gates in the order of Keras."""
    gates = array.reshape(*array.shape[:-1], 4, -1)
    return gates[..., _GATES, :].reshape(array.shape)
