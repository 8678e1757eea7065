"""Codecs of layers' and vertices' forms: those that `JavaForm` names, ready to write and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from nd import ConfigurationError, FormatError
from nd.checks import check_choice

from ..terms.java_form import Codec, JavaForm
from ..terms.weights import WEIGHT_INITS
from .findings import Findings
from .json_inits import WEIGHT_INIT
from .json_values import (
    ACTIVATION,
    LOSS,
    MODE,
    NORMALIZATION,
    NUMBER,
    PAIR,
    PLAIN,
    POOLING,
    UPDATER,
    Json,
    number,
    regularization_from_json,
    regularization_to_json,
)
from .noise_json import CONSTRAINTS_LIST, DROPOUT, WEIGHT_NOISE


class LayerForm(NamedTuple):
    """Written form of a layer or a vertex, as `JavaForm`, with its codecs."""

    fields: dict[str, tuple[str, Codec]]
    constants: Json
    package: str = ""
    absent: Mapping[str, Any] = MappingProxyType({})
    derived: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})


def _encode_wrapped(layer: Any) -> object:
    from .json import layer_to_json

    return layer_to_json(layer)


def _decode_wrapped(data: Any) -> object:
    from .json import layer_from_json

    return layer_from_json(data)


def _encode_layer_conf(layer: object) -> object:
    return {"layer": _encode_wrapped(layer)}


def _decode_layer_conf(data: object) -> object:
    if not isinstance(data, dict) or "layer" not in data:
        raise FormatError(f"configuration: layerConf must be an object with a layer, got {str(data)[:200]}.")
    return _decode_wrapped(data["layer"])


def _encode_preprocessor(preprocessor: object) -> object:
    from .json import PREPROCESSOR

    return PREPROCESSOR.encode(preprocessor)


def _decode_preprocessor(data: object) -> object:
    from .json import PREPROCESSOR

    return PREPROCESSOR.decode(data)


def _encode_reconstruction(distribution: object) -> object:
    from .reconstruction_json import RECONSTRUCTION

    return RECONSTRUCTION.encode(distribution)


def _decode_reconstruction(data: object) -> object:
    from .reconstruction_json import RECONSTRUCTION

    return RECONSTRUCTION.decode(data)


def _loss_to_name(loss: object) -> object:
    from .reconstruction_json import LOSS_NAME

    return LOSS_NAME.encode(loss)


def _loss_from_name(name: object) -> object:
    from .reconstruction_json import LOSS_NAME

    return LOSS_NAME.decode(name)


def _encode_vertex(vertex: Any) -> object:
    from .vertices_json import vertex_to_json

    return vertex_to_json(vertex)


def _decode_vertex(data: Any) -> object:
    from .vertices_json import vertex_from_json

    return vertex_from_json(data)


def _init_to_json(init: object) -> str | None:
    if init is not None and not isinstance(init, str):
        raise ConfigurationError(
            f"to_json: DL4J has names only for the weight_init of such layers, got {init!r}. Use one of "
            f"{', '.join(sorted(WEIGHT_INITS))}."
        )
    return None if init is None else init.upper()


def _init_from_json(name: object) -> str | None:
    return None if name is None else check_choice("configuration", "weightInit", str(name).lower(), WEIGHT_INITS)


CODECS: dict[str, Codec] = {
    "activation": ACTIVATION,
    "constraints": CONSTRAINTS_LIST,
    "dropout": DROPOUT,
    "init name": Codec(_init_to_json, _init_from_json),
    "layer": Codec(_encode_wrapped, _decode_wrapped),
    "layer conf": Codec(_encode_layer_conf, _decode_layer_conf),
    "loss": LOSS,
    "loss name": Codec(_loss_to_name, _loss_from_name),
    "mode": MODE,
    "normalization": NORMALIZATION,
    "number": NUMBER,
    "number or none": Codec(lambda value: value, lambda value: None if value is None else number(value)),
    "pair": PAIR,
    "penalties": Codec(
        lambda penalties: regularization_to_json(penalties or ()),
        lambda data: regularization_from_json("vertex", data) or None,
    ),
    "plain": PLAIN,
    "pooling": POOLING,
    "preprocessor": Codec(_encode_preprocessor, _decode_preprocessor),
    "real": Codec(float, number),
    "reconstruction": Codec(_encode_reconstruction, _decode_reconstruction),
    "size": Codec(lambda size: size or 0, lambda size: size or None),  # a size not inferred yet is 0 in Java
    "sizes": Codec(
        lambda value: None if value is None else list(value),
        lambda value: tuple(value) if isinstance(value, list) else value,
    ),
    "updater": UPDATER,
    "upper": Codec(lambda name: name.upper(), lambda name: name.lower()),
    "vertex": Codec(_encode_vertex, _decode_vertex),
    "weight init": WEIGHT_INIT,
    "weight noise": WEIGHT_NOISE,
}
"""Name -> codec, sorted."""


def with_codecs(form: JavaForm | LayerForm) -> LayerForm:
    """Return a form whose codecs are codecs; one that is such already comes back."""
    if isinstance(form, LayerForm):
        return form
    fields = {
        key: (field, CODECS[codec] if isinstance(codec, str) else codec) for key, (field, codec) in form.fields.items()
    }
    derived = {key: _derive(*how) if isinstance(how, tuple) else how for key, how in form.derived.items()}
    return LayerForm(fields, dict(form.constants), form.package, form.absent, derived)


def _derive(attribute: str, codec: str) -> Callable[[object], object]:
    return lambda conf: CODECS[codec].encode(getattr(conf, attribute))


OTHER_SPELLINGS = {
    "nheads": "nHeads", "nin": "nIn", "ninKeys": "nInKeys", "ninQueries": "nInQueries", "ninValues": "nInValues",
    "nout": "nOut",
}  # fmt: skip
"""Key that Lombok's getters give -> the field's own name, which some releases write."""


def read_fields(findings: Findings, form: LayerForm, data: Json, absent: Mapping[str, object]) -> Json:
    """Return field -> value of those that an object has, and of those in `absent`, by their keys; note the others."""
    values = {}
    for key, (field, codec) in form.fields.items():
        spelled = key if key in data else OTHER_SPELLINGS.get(key, key)
        if spelled in data or key in absent:
            values[field] = findings.read((spelled,), codec.decode, data.get(spelled, absent.get(key)))
    return values
