"""Layers of users' own: what a file's custom classes and Lambda layers are here."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from nd import ConfigurationError
from nd.arguments import shown

from ...conf.network import NeuralNetConfiguration
from ...layers import LayerConf
from ...terms.data_formats import arranged
from ...terms.input_type import InputType
from ...vertices import VertexConf
from ..model import KerasLayer
from .piece import Piece, Value
from .types import type_of

Function = Callable[[KerasLayer], Any]
_REGISTERED: dict[str, Function] = {}


def register_layer(class_name: str, function: Function | None) -> None:
    """Say what a class of layers is here, so that files with it can be loaded.

    Parameters
    ----------
    class_name : str
        As the file has it: ``"Scale"``. Of a Lambda layer, whose code is never run, the layer's own name.
    function : callable, or None
        Is given a `KerasLayer`, with `config` and `weights`, and returns a layer or vertex of this library; with
        parameters a pair of it and ``{"W": array}``. None forgets the class.

    Raises
    ------
    ConfigurationError
        The name is no text, or the function cannot be called.

    Notes
    -----
    What is registered stands in front of what the library knows. Source: Keras, custom_objects; KerasLayer
    registerCustomLayer and registerLambdaLayer.

    Examples
    --------
    >>> from nn import ActivationLayer
    >>> from nn.keras import register_layer
    >>> register_layer("Gate", lambda layer: ActivationLayer(layer.config["function"]))
    >>> register_layer("Gate", None)
    """
    if not isinstance(class_name, str) or not class_name:
        raise ConfigurationError(
            f"register_layer: class_name must be the name of a class, got {shown(class_name)}. Write it as the file "
            "has it."
        )
    if function is None:
        _REGISTERED.pop(class_name, None)
        return
    if not callable(function):
        raise ConfigurationError(
            f"register_layer: function must be callable with a KerasLayer, got {shown(function)}. Give one that "
            "returns a layer."
        )
    _REGISTERED[class_name] = function


def registered(layer: KerasLayer) -> Callable[[Piece], Value] | None:
    """Return what converts the calls of a layer whose class, or name if it is a Lambda, is registered."""
    name = layer.name if layer.class_name == "Lambda" else layer.class_name
    function = _REGISTERED.get(name)
    if function is None:
        return None
    return lambda piece: _converted(piece, name, function)


def _converted(piece: Piece, name: str, function: Function) -> Value:
    made = function(piece.layer)
    conf, arrays = made if isinstance(made, tuple) and len(made) == 2 else (made, {})
    if not isinstance(conf, LayerConf | VertexConf) or not isinstance(arrays, Mapping):
        raise ConfigurationError(
            f"register_layer: the function of {name!r} must return a layer or vertex, or a pair of it and its "
            f"parameters by name, got {shown(made)}. Mend it."
        )
    piece.read |= set(piece.layer.config)
    label = f"{piece.call.name!r} ({name})"
    types = [_type(piece, value).computed for value in piece.values]
    tag = next((value.data_format for value in piece.values if value.data_format), None)
    if isinstance(conf, LayerConf):
        ready = conf.resolved(NeuralNetConfiguration(activation="identity"), 0).with_inputs(label, types[0])
        settled, behind = ready.in_format(label, tag)
        out = settled.output_type(label, types[0])
    else:
        vertex, behind = conf.with_inputs(label, types).in_format(label, tag)
        out = vertex.output_type(label, types)
    readers = {key: _reader(array) for key, array in arrays.items()}
    node = piece.add(conf, [value.node for value in piece.values], readers)
    return piece.give(node, arranged(out.shape, behind), behind)


def _reader(array: Any) -> Callable[[], Any]:
    return array if callable(array) else lambda: array


def _type(piece: Piece, value: Value) -> InputType:
    kind = type_of(value)
    return kind or piece.refuse(f"an input of shape {value.shape}, of which no type says the sizes")


__all__ = ["register_layer", "registered"]
