"""Which class a layer in a file is, and how it is written: the library's layers, and those that users register."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from nd import ChoiceError

from ..layers import LAYERS, BaseLayerConf, FeedForwardConf, LayerConf, SameDiffConf
from .forms import LAYER_FORMS
from .forms.base import BASE, BASE_CONSTANTS, LAYER, LayerForm
from .forms.same_diff import SAME_DIFF
from .json_values import LOSS, PLAIN, camel_case, own_codec
from .parts import registered, registered_as, registered_names, unknown_part

_OTHER_NAMES = {"Convolution1D": "Convolution1DLayer", "Convolution2D": "ConvolutionLayer"}
"""Java's subclasses that are nothing but a name -> the class."""
_PACKAGE = "org.deeplearning4j.nn.conf.layers."


class Written(NamedTuple):
    """A class of layers, what a file calls it, and its fields there."""

    layer_class: type[LayerConf]
    java_class: str
    form: LayerForm


@cache
def _of_library() -> dict[str, Written]:
    found = {}
    for name, layer_class in LAYERS.items():
        form = LAYER_FORMS[name]
        package = form.package if form.package.startswith("org.") else _PACKAGE + form.package
        found[layer_class.__name__] = Written(layer_class, package + layer_class.__name__, form)
    return found


def written_as(layer: LayerConf) -> Written:
    """Return how a layer is written; raise ConfigurationError where nobody has said it."""
    layer_class = type(layer)
    known = _of_library().get(layer_class.__name__)
    if known is not None and known.layer_class is layer_class:
        return known
    own = registered("layer", layer_class)
    if own is None:
        raise unknown_part("layer", layer_class)
    return Written(layer_class, own.java_class, own.form or _plain_form(layer_class))


def layer_of(data: dict[str, Any]) -> Written:
    """Return which layer an object with "@class" is; raise ChoiceError if it is none that is known."""
    name = str(data.get("@class", data.get("type"))).rpartition(".")[2]
    name = _OTHER_NAMES.get(name, name)
    if name in _of_library():
        return _of_library()[name]
    own = registered_as("layer", name)
    if own is not None:
        return Written(own.part_class, own.java_class, own.form or _plain_form(own.part_class))
    if name in _layers_of_java():
        raise ChoiceError(f"layer: {name} is a layer of Deeplearning4j that this library cannot run yet.")
    near = difflib.get_close_matches(name, [*_of_library(), *registered_names("layer")], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise ChoiceError(
        f"layer: unknown class {data.get('@class')!r}.{hint} Make a layer of your own known with nn.register."
    )


def _layers_of_java() -> Collection[str]:
    from ..param_tables import PARAM_TABLES

    return PARAM_TABLES


def _plain_form(layer_class: type[LayerConf]) -> LayerForm:
    """Return the form of the class it comes from, and a camelCase field for every field of its own."""
    inherited = _inherited_form(layer_class)
    found = dict(inherited.fields)
    handled = {"unused", *(field for field, _ in found.values())}
    if issubclass(layer_class, BaseLayerConf):
        handled |= {field.name for field in fields(BaseLayerConf)}  # penalties have a place of their own
    for field in fields(layer_class):
        if field.init and field.name not in handled:
            key, codec = camel_case(field.name), own_codec(f"{layer_class.__name__}.{field.name}")
            found |= {"lossFn": ("loss", LOSS)} if field.name == "loss" else {key: (field.name, codec)}
    return inherited._replace(fields=found)


def _inherited_form(layer_class: type[LayerConf]) -> LayerForm:
    for base in layer_class.__mro__[1:]:
        written = _of_library().get(base.__name__)
        if written is not None and written.layer_class is base:
            return written.form
    if issubclass(layer_class, SameDiffConf):
        return LayerForm(SAME_DIFF, {})
    if not issubclass(layer_class, BaseLayerConf):
        return LayerForm(LAYER, {})
    sizes = {"nin": ("n_in", PLAIN), "nout": ("n_out", PLAIN)} if issubclass(layer_class, FeedForwardConf) else {}
    return LayerForm({**BASE, **sizes}, BASE_CONSTANTS)
