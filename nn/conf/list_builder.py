"""The fluent style from ``.list()`` on: layers one by one, and the settings of the stack of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import nd
from nd.arguments import Count
from optimize.builder import Builder, item_verb

from ..layers.base import LayerConf
from ..terms.builder_names import IGNORED_BY_LISTS, SAID_BY_BUILDERS, UNUSED_OF_NETWORKS
from ..terms.enums import JAVA_BACKPROP_TYPES, OF_SERIES
from ..terms.input_type import InputType
from ..terms.preprocessors import InputPreProcessor

if TYPE_CHECKING:
    from .multilayer import MultiLayerConfiguration
    from .network import NeuralNetConfiguration


def list_verb(builder: Builder, *layers: object) -> Builder:
    """Go on with a list of layers, of which some may be given."""
    if len(layers) == 1 and isinstance(layers[0], (list, tuple)):
        layers = tuple(layers[0])
    settings = Builder(ListSettings, base=builder.build(), layers={}, preprocessors={})
    for layer in layers:
        settings.layer(layer)
    return settings


def _layer_verb(builder: Builder, *arguments: Any) -> Builder:
    layers = builder.given["layers"]
    index, layer = arguments if len(arguments) == 2 else (len(layers), arguments[0])
    layers[index] = layer.build() if isinstance(layer, Builder) else layer
    return builder


def _preprocessors_verb(builder: Builder, preprocessors: Mapping[int, InputPreProcessor]) -> Builder:
    builder.given["preprocessors"].update(preprocessors)
    return builder


def _types_verb(builder: Builder) -> object:
    given = builder.given.get("input_type") or builder.given.get("set_input_type")
    if given is None:
        raise nd.ConfigurationError(
            "getLayerActivationTypes: the type of the input must be known, got none. Call setInputType first."
        )
    return builder.build().get_layer_activation_types(given)


@dataclass(frozen=True, kw_only=True)
class ListSettings:
    """Settings that DL4J's ``.list()`` collects until ``.build()``."""

    base: NeuralNetConfiguration
    layers: dict[int, LayerConf]
    input_type: InputType | None = None
    set_input_type: InputType | None = None
    preprocessors: dict[int, Any]
    pretrain: bool | None = None
    backprop: bool | None = None
    validate_output_layer_config: bool | None = None
    dtype: str | None = None
    backprop_type: str = "standard"
    tbptt_fwd_length: Count = 20
    tbptt_back_length: Count = 20
    tbptt_exact: bool = False
    validate_tbptt_config: bool = True
    unused: Mapping[str, Any] = field(default_factory=dict)

    builder_names: ClassVar[dict[str, str]] = {
        "data_type": "dtype", "validate_output_config": "validate_output_layer_config",
        "t_bptt_backward_length": "tbptt_back_length", "t_bptt_forward_length": "tbptt_fwd_length",
    }  # fmt: skip
    builder_verbs: ClassVar[dict[str, Callable[..., object]]] = {
        "input_pre_processor": item_verb("preprocessors"),
        "input_pre_processors": _preprocessors_verb,
        "get_layer_activation_types": _types_verb,
        "layer": _layer_verb,
        "t_bptt_length": lambda builder, length: builder.tBPTTForwardLength(length).tBPTTBackwardLength(length),
    }
    builder_unused: ClassVar[dict[str, str]] = UNUSED_OF_NETWORKS
    builder_ignored: ClassVar[frozenset[str]] = IGNORED_BY_LISTS

    def finish(self) -> MultiLayerConfiguration:
        """Make the network's configuration."""
        if sorted(self.layers) != list(range(len(self.layers))):
            raise nd.ConfigurationError(f"ListBuilder: layers must be 0..n-1, got {sorted(self.layers)}.")
        ordered = [self.layers[index] for index in range(len(self.layers))]
        given = {name: getattr(self, name) for name in SAID_BY_BUILDERS}
        changes = {name: value for name, value in given.items() if value is not None}
        base = replace(self.base, unused={**self.base.unused, **self.unused}, layer=None, **changes)
        input_type = self.input_type or self.set_input_type
        series = {name: getattr(self, name) for name in OF_SERIES}
        series["backprop_type"] = JAVA_BACKPROP_TYPES.get(series["backprop_type"], series["backprop_type"])
        series["validate_tbptt_config"] = self.validate_tbptt_config
        return base.list(*ordered, input_type=input_type, preprocessors=self.preprocessors, **series)
