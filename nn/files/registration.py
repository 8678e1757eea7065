"""Classes and forms of layers and vertices in files: the library's, and those that users register."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, NamedTuple

from nd import ChoiceError, FormatError
from nd.checks import suggestion
from nd.on_demand import ClassTable

from ..conf.parts import Registered, registered, registered_as, registered_names, unknown_part
from ..layers import LAYERS, BaseLayerConf
from ..terms import late
from ..vertices import VERTICES, VertexConf
from .forms import OTHER_SPELLINGS, LayerForm, with_codecs
from .json_values import LOSS, camel_case, own_codec
from .unknown_layer import base_of, lines_for

_OTHER_NAMES = {"Convolution1D": "Convolution1DLayer", "Convolution2D": "ConvolutionLayer"}
"""Java's subclasses that are nothing but a name -> the class."""
_JAVAS = "org.deeplearning4j.nn."
"""Beginning of the names of Java's own layers: one that is unknown here is none of somebody's own."""
_TABLES: Mapping[str, ClassTable[Any]] = {"layer": LAYERS, "vertex": VERTICES}
"""Kind of part -> the library's."""
ONNX_VERTEX = "OnnxVertex"


class Written(NamedTuple):
    """A class of layers or vertices, its name in files, and its fields there."""

    part_class: Any
    java_class: str
    form: LayerForm


@cache
def _of_library(kind: str, name: str) -> Written:
    part_class = _TABLES[kind].load(name)
    return Written(part_class, part_class.form.java_class(name), _plain_form(part_class))


@cache
def _onnx_vertex() -> Written:
    """Return the vertex of the room above, which no table of this one lists."""
    part_class = late("OnnxVertex")
    return Written(part_class, part_class.form.java_class(ONNX_VERTEX), _plain_form(part_class))


def written_as(part: object) -> Written:
    """Return the class and form of a layer or vertex in files; raise ConfigurationError where nobody has said it."""
    part_class, kind = type(part), "vertex" if isinstance(part, VertexConf) else "layer"
    if part_class in _TABLES[kind].values():
        return _of_library(kind, part_class.__name__)
    if part_class.__name__ == ONNX_VERTEX and part_class is _onnx_vertex().part_class:
        return _onnx_vertex()
    own = registered(kind, part_class)
    if own is None:
        raise unknown_part(kind, part_class)
    return _written_as_registered(own)


def _written_as_registered(own: Registered) -> Written:
    form = _plain_form(own.part_class) if own.form is None else with_codecs(own.form)
    return Written(own.part_class, own.java_class, form)


def layer_of(data: dict[str, Any]) -> Written:
    """Return the class and form of an object with "@class"; raise ChoiceError if it is none that is known."""
    name = str(data.get("@class", data.get("type"))).rpartition(".")[2]
    name = _OTHER_NAMES.get(name, name)
    known = _known("layer", name)
    if known is not None:
        return known
    if name == "TFOpLayer":
        raise ChoiceError("layer: TFOpLayer runs a graph of TensorFlow's, which this library cannot.")
    raise _unknown("layer", name, data)


def vertex_of(data: Any) -> Written:
    """Return the class and form of an object with "@class"; raise ChoiceError if it is none that is known."""
    java = data.get("@class") if isinstance(data, dict) else None
    if not isinstance(java, str):
        raise FormatError(f"vertex: expected an object with '@class', got {str(data)[:200]}.")
    name = java.rpartition(".")[2]
    known = _known("vertex", name)
    if known is None:
        raise _unknown("vertex", name, data)
    return known


def _known(kind: str, name: str) -> Written | None:
    """Return a class of the library, or a user's own; None where there is none of that name."""
    if name in _TABLES[kind].class_names:
        return _of_library(kind, name)
    if (kind, name) == ("vertex", ONNX_VERTEX):
        return _onnx_vertex()
    own = registered_as(kind, name)
    return None if own is None else _written_as_registered(own)


def _unknown(kind: str, name: str, data: dict[str, object]) -> ChoiceError:
    hint = suggestion("class", name, [*_TABLES[kind].class_names, *registered_names(kind)])
    remedy = f"Make a {kind} of your own known with nn.register."
    if kind == "layer" and not str(data.get("@class", _JAVAS)).startswith(_JAVAS):
        base = base_of(data)
        form = _of_library("layer", base).form
        lines = lines_for(data, {*form.fields, *form.constants, *form.derived, *OTHER_SPELLINGS.values()})
        remedy += (
            f" These lines open the file with the formula of {base}; for another formula give the class a runtime of "
            f"its own, see docs/own_parts.md:\n\n{lines}\n"
        )
    return ChoiceError(f"{kind}: unknown class {data.get('@class')!r}.{hint} {remedy}")


def _plain_form(part_class: Any) -> LayerForm:
    """Return the form that a class says; else that of the class it comes from, with every field of its own."""
    inherited = with_codecs(part_class.form)
    if "form" in vars(part_class):
        return inherited
    written = dict(inherited.fields)
    handled = {"unused", *(field for field, _ in written.values())}
    if issubclass(part_class, BaseLayerConf):
        handled |= {field.name for field in fields(BaseLayerConf)}  # penalties have a place of their own
    for field in fields(part_class):
        if field.init and field.name not in handled:
            key, codec = camel_case(field.name), own_codec(f"{part_class.__name__}.{field.name}")
            written |= {"lossFn": ("loss", LOSS)} if field.name == "loss" else {key: (field.name, codec)}
    return inherited._replace(fields=written)
