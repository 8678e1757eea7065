"""Vertices in DL4J 1.0's configuration JSON, both ways."""

from __future__ import annotations

from dataclasses import MISSING, fields

from nd import ArgumentError, FormatError

from ..vertices import VertexConf
from .findings import Findings
from .forms import read_fields
from .json_values import Json
from .registration import vertex_of, written_as

_WITHOUT_GETTER = {"L2Vertex": "eps"}
"""Class -> a field that Java does not write: it is written where it is not the default."""


def vertex_to_json(conf: VertexConf) -> Json:
    """Return a vertex as DL4J writes it; of a LayerVertex the layer, without the network's settings around it."""
    vertex_class, java_class, form = written_as(conf)
    out: Json = {"@class": java_class, **form.constants}
    out |= {key: codec.encode(getattr(conf, field)) for key, (field, codec) in form.fields.items()}
    out |= {key: derive(conf) for key, derive in form.derived.items()}
    unwritten = _WITHOUT_GETTER.get(vertex_class.__name__)
    if unwritten is not None and getattr(conf, unwritten) == getattr(vertex_class, unwritten):
        del out[unwritten]
    return out


def vertex_from_json(data: Json) -> VertexConf:
    """Read a vertex in 1.0's form, into which `nn.files.legacy.modernise` brings those of older releases.

    Raises
    ------
    ChoiceError
        Its class is not known.
    ConfigurationError
        It asks for a part that this library does not have.
    FormatError
        A field is missing, or malformed.
    """
    vertex_class, java_class, form = vertex_of(data)
    name, findings = java_class.rpartition(".")[2], Findings()
    values = read_fields(findings, form, data, form.absent)
    findings.settle()
    for field in fields(vertex_class):
        needed = field.init and field.default is MISSING and field.default_factory is MISSING
        if needed and field.name not in values:
            key = next(key for key, (of_key, _) in form.fields.items() if of_key == field.name)
            raise FormatError(f"configuration: {name} must have {key!r}, got {sorted(data)}.")
    try:
        vertex: VertexConf = vertex_class(**values)
    except (ArgumentError, TypeError) as error:
        raise FormatError(f"configuration: {name}: {error}") from error
    return vertex
