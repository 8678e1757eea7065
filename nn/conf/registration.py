"""Classes and forms of the layers in files: the library's layers, and those that users register."""

from __future__ import annotations

import difflib
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from nd import ChoiceError

from ..files.forms import LayerForm, with_codecs
from ..files.json_values import LOSS, camel_case, own_codec
from ..layers import LAYERS, BaseLayerConf, LayerConf
from .parts import Registered, registered, registered_as, registered_names, unknown_part

_OTHER_NAMES = {"Convolution1D": "Convolution1DLayer", "Convolution2D": "ConvolutionLayer"}
"""Java's subclasses that are nothing but a name -> the class."""


class Written(NamedTuple):
    """A class of layers, its name in files, and its fields there."""

    layer_class: type[LayerConf]
    java_class: str
    form: LayerForm


@cache
def _of_library(name: str) -> Written:
    layer_class = LAYERS.load(name)
    return Written(layer_class, layer_class.form.java_class(name), _plain_form(layer_class))


def written_as(layer: LayerConf) -> Written:
    """Return the class and form of a layer in files; raise ConfigurationError where nobody has said it."""
    layer_class = type(layer)
    if layer_class in LAYERS.values():
        return _of_library(layer_class.__name__)
    own = registered("layer", layer_class)
    if own is None:
        raise unknown_part("layer", layer_class)
    return _written_as_registered(own)


def _written_as_registered(own: Registered) -> Written:
    form = _plain_form(own.part_class) if own.form is None else with_codecs(own.form)
    return Written(own.part_class, own.java_class, form)


def layer_of(data: dict[str, Any]) -> Written:
    """Return the class and form of an object with "@class"; raise ChoiceError if it is none that is known."""
    name = str(data.get("@class", data.get("type"))).rpartition(".")[2]
    name = _OTHER_NAMES.get(name, name)
    if name in LAYERS.class_names:
        return _of_library(name)
    own = registered_as("layer", name)
    if own is not None:
        return _written_as_registered(own)
    from ..files.param_tables import PARAM_TABLES

    if name in PARAM_TABLES:
        raise ChoiceError(f"layer: {name} is a layer of Deeplearning4j that this library cannot run yet.")
    near = difflib.get_close_matches(name, [*LAYERS.class_names, *registered_names("layer")], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ChoiceError(
        f"layer: unknown class {data.get('@class')!r}.{hint} Make a layer of your own known with nn.register."
    )


def _plain_form(layer_class: type[LayerConf]) -> LayerForm:
    """Return the form that a class says; else that of the class it comes from, with every field of its own."""
    inherited = with_codecs(layer_class.form)
    if "form" in vars(layer_class):
        return inherited
    written = dict(inherited.fields)
    handled = {"unused", *(field for field, _ in written.values())}
    if issubclass(layer_class, BaseLayerConf):
        handled |= {field.name for field in fields(BaseLayerConf)}  # penalties have a place of their own
    for field in fields(layer_class):
        if field.init and field.name not in handled:
            key, codec = camel_case(field.name), own_codec(f"{layer_class.__name__}.{field.name}")
            written |= {"lossFn": ("loss", LOSS)} if field.name == "loss" else {key: (field.name, codec)}
    return inherited._replace(fields=written)
