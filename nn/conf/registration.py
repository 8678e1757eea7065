"""Which class a layer in a file is, and how it is written: the library's layers, and those that users register."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from nd import ChoiceError, ConfigurationError

from ..layers import LAYERS, BaseLayerConf, FeedForwardConf, LayerConf, LayerRuntime, SameDiffConf
from .forms import LAYER_FORMS
from .forms.base import BASE, BASE_CONSTANTS, LAYER, LayerForm
from .forms.same_diff import SAME_DIFF
from .json_values import LOSS, PLAIN, Codec, camel_case

_OTHER_NAMES = {"Convolution1D": "Convolution1DLayer", "Convolution2D": "ConvolutionLayer"}
"""Java's subclasses that are nothing but a name -> the class."""
_PACKAGE = "org.deeplearning4j.nn.conf.layers."


class Written(NamedTuple):
    """A class of layers, what a file calls it, and its fields there."""

    layer_class: type[LayerConf]
    java_class: str
    form: LayerForm


def _of_library() -> dict[str, Written]:
    found = {}
    for name, layer_class in LAYERS.items():
        form = LAYER_FORMS[name]
        package = form.package if form.package.startswith("org.") else _PACKAGE + form.package
        found[layer_class.__name__] = Written(layer_class, package + layer_class.__name__, form)
    return found


_LIBRARY = _of_library()
_REGISTERED: dict[str, Written] = {}


def register_layer(layer_class: type[LayerConf], java_class: str | None = None, form: LayerForm | None = None) -> None:
    """Make a layer of one's own known by its name, so that networks with it are saved and loaded.

    Parameters
    ----------
    layer_class : type
        A frozen dataclass from `LayerConf`, `BaseLayerConf`, `FeedForwardConf` or a layer of the library, with a
        `LayerRuntime` as its `runtime`.
    java_class : str, optional
        What files call it in "@class", where a class in Java goes with it; by default its module and name. Files are
        read by the last part alone.
    form : LayerForm, optional
        Its fields in the files. By default what it inherits is written as DL4J writes it, and every field of its own
        under its camelCase name: None, bool, number, text, and tuples of those.

    Raises
    ------
    ConfigurationError
        It is no such class, or the name is none, the library's own or another class's.

    Notes
    -----
    Register where the class is defined: whoever loads a file imports that module first. Networks with such a layer are
    not recorded and their minibatches are not split, so the layer may do and remember what it likes. What a runtime
    has to do is said in `LayerRuntime`; `examples/custom_layer.py` is one.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from nn import DenseLayer
    >>> @dataclass(frozen=True, kw_only=True)
    ... class Scaled(DenseLayer):
    ...     scale: float = 2.0
    >>> register_layer(Scaled, java_class="com.example.Scaled")
    >>> layer_of({"@class": "com.example.Scaled", "nin": 3, "nout": 4, "scale": 0.5})[0].__name__
    'Scaled'
    >>> unregister_layer(Scaled)
    """
    _check_class(layer_class)
    java_class = f"{layer_class.__module__}.{layer_class.__name__}" if java_class is None else java_class
    name = _free_name(layer_class, java_class)
    unregister_layer(layer_class)
    _REGISTERED[name] = Written(layer_class, java_class, _plain_form(layer_class) if form is None else form)


def unregister_layer(layer_class: type[LayerConf]) -> None:
    """Forget a registered layer; nothing happens where it is not one."""
    for name in [name for name, written in _REGISTERED.items() if written.layer_class is layer_class]:
        del _REGISTERED[name]


def _free_name(layer_class: type[LayerConf], java_class: Any) -> str:
    """Return the last part of a class's name, by which files are read; raise unless it is free for this class."""
    name = java_class.rpartition(".")[2] if isinstance(java_class, str) else ""
    if not name:
        raise ConfigurationError(
            f"register_layer: java_class must be the name of a class such as 'com.example.Scaled', got {java_class!r}."
        )
    if name in _LIBRARY:
        raise ConfigurationError(
            f"register_layer: {name!r} is the library's own, got {layer_class!r}. Give the class another name, or "
            "java_class one that ends otherwise."
        )
    other = _REGISTERED.get(name)
    if other is not None and _place(other.layer_class) != _place(layer_class):
        raise ConfigurationError(
            f"register_layer: {name!r} is registered already, for {other.layer_class!r}, got {layer_class!r}. Rename "
            "one of them, or call unregister_layer first."
        )
    return name


def _place(layer_class: type) -> tuple[str, str]:
    """Where a class is defined: a module that is loaded again defines it anew."""
    return layer_class.__module__, layer_class.__qualname__


def _check_class(layer_class: Any) -> None:
    if not isinstance(layer_class, type) or not issubclass(layer_class, LayerConf):
        raise ConfigurationError(f"register_layer: expected a class of layers, from LayerConf, got {layer_class!r}.")
    if layer_class in LAYERS.values():
        raise ConfigurationError(f"register_layer: {layer_class.__name__} is the library's own and known already.")
    if not is_dataclass(layer_class) or "__dataclass_params__" not in vars(layer_class):
        raise ConfigurationError(
            f"register_layer: {layer_class.__name__} must be a dataclass itself, got a plain class. Put "
            "@dataclass(frozen=True, kw_only=True) before it."
        )
    runtime = getattr(layer_class, "runtime", None)
    if not isinstance(runtime, type) or not issubclass(runtime, LayerRuntime):
        raise ConfigurationError(
            f"register_layer: {layer_class.__name__}.runtime must be a class from LayerRuntime, got {runtime!r}."
        )


# ---- what json.py asks


def written_as(layer: LayerConf) -> Written:
    """Return how a layer is written; raise ConfigurationError where nobody has said it."""
    for written in (*_LIBRARY.values(), *_REGISTERED.values()):
        if written.layer_class is type(layer):
            return written
    name = type(layer).__name__
    raise ConfigurationError(
        f"to_json: a layer must be the library's or registered, got {name}. Call nn.register_layer({name})."
    )


def layer_of(data: dict[str, Any]) -> Written:
    """Return which layer an object with "@class" is; raise ChoiceError if it is none that is known."""
    name = str(data.get("@class", data.get("type"))).rpartition(".")[2]
    name = _OTHER_NAMES.get(name, name)
    known = {**_LIBRARY, **_REGISTERED}
    if name not in known:
        raise ChoiceError(
            f"layer: unknown class {data.get('@class')!r}, expected one of {', '.join(sorted(known))}. "
            "Make a layer of your own known with nn.register_layer."
        )
    return known[name]


# ---- the form of a plain dataclass


def _plain_form(layer_class: type[LayerConf]) -> LayerForm:
    """Return the form of the class it comes from, and a camelCase field for every field of its own."""
    inherited = _inherited_form(layer_class)
    found = dict(inherited.fields)
    handled = {field for field, _ in found.values()}
    if issubclass(layer_class, BaseLayerConf):
        handled |= {field.name for field in fields(BaseLayerConf)}  # penalties have a place of their own
    for field in fields(layer_class):
        if field.init and field.name not in handled:
            key, codec = camel_case(field.name), _own_codec(f"{layer_class.__name__}.{field.name}")
            found |= {"lossFn": ("loss", LOSS)} if field.name == "loss" else {key: (field.name, codec)}
    return inherited._replace(fields=found)


def _inherited_form(layer_class: type[LayerConf]) -> LayerForm:
    for base in layer_class.__mro__[1:]:
        written = _LIBRARY.get(base.__name__)
        if written is not None and written.layer_class is base:
            return written.form
    if issubclass(layer_class, SameDiffConf):
        return LayerForm(SAME_DIFF, {})
    if not issubclass(layer_class, BaseLayerConf):
        return LayerForm(LAYER, {})
    sizes = {"nin": ("n_in", PLAIN), "nout": ("n_out", PLAIN)} if issubclass(layer_class, FeedForwardConf) else {}
    return LayerForm({**BASE, **sizes}, BASE_CONSTANTS)


def _own_codec(who: str) -> Codec:
    def encode(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return [encode(each) for each in value]
        if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
            return value
        raise ConfigurationError(
            f"to_json: {who} must be None, a number, text or a tuple of those to be written as it is, got {value!r}. "
            "Say how it is written: register_layer(..., form=LayerForm(...))."
        )

    def decode(value: Any) -> Any:
        return tuple(decode(each) for each in value) if isinstance(value, list) else value

    return Codec(encode, decode)
