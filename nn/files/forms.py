"""Codecs of layers' forms: those that `JavaForm` names, ready to write and read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from nd import ConfigurationError
from nd.checks import check_choice

from ..conf.java_form import Codec, JavaForm
from ..networks.weights import WEIGHT_INITS
from .json_inits import WEIGHT_INIT
from .json_values import ACTIVATION, LOSS, MODE, NORMALIZATION, NUMBER, PAIR, PLAIN, POOLING, UPDATER, Json, number
from .noise_json import CONSTRAINTS_LIST, DROPOUT, WEIGHT_NOISE


class LayerForm(NamedTuple):
    """Written form of a layer, as `JavaForm`, with its codecs."""

    fields: dict[str, tuple[str, Codec]]
    constants: Json
    package: str = ""
    absent: Mapping[str, Any] = MappingProxyType({})
    derived: Mapping[str, Callable[[Any], Any]] = MappingProxyType({})


def _encode_wrapped(layer: Any) -> Any:
    from .json import layer_to_json

    return layer_to_json(layer)


def _decode_wrapped(data: Any) -> Any:
    from .json import layer_from_json

    return layer_from_json(data)


def _init_to_json(init: Any) -> str | None:
    if init is not None and not isinstance(init, str):
        raise ConfigurationError(
            f"to_json: DL4J has names only for the weight_init of such layers, got {init!r}. Use one of "
            f"{', '.join(sorted(WEIGHT_INITS))}."
        )
    return None if init is None else init.upper()


def _init_from_json(name: Any) -> str | None:
    return None if name is None else check_choice("configuration", "weightInit", str(name).lower(), WEIGHT_INITS)


CODECS: dict[str, Codec] = {
    "activation": ACTIVATION,
    "constraints": CONSTRAINTS_LIST,
    "dropout": DROPOUT,
    "init name": Codec(_init_to_json, _init_from_json),
    "layer": Codec(_encode_wrapped, _decode_wrapped),
    "loss": LOSS,
    "mode": MODE,
    "normalization": NORMALIZATION,
    "number": NUMBER,
    "pair": PAIR,
    "plain": PLAIN,
    "pooling": POOLING,
    "real": Codec(float, number),
    "size": Codec(lambda size: size or 0, lambda size: size or None),  # a size not inferred yet is 0 in Java
    "sizes": Codec(
        lambda value: None if value is None else list(value),
        lambda value: tuple(value) if isinstance(value, list) else value,
    ),
    "updater": UPDATER,
    "upper": Codec(lambda name: name.upper(), lambda name: name.lower()),
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
    return LayerForm(fields, dict(form.constants), form.package, form.absent, form.derived)
