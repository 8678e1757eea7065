"""Stacking layers: defaults, sizes, preprocessors between kinds, and the rules that every network keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import nd
from nd.arguments import shown

from ..layers.base import LayerConf, label_of
from ..layers.losses.output import OutputMixin
from ..terms.input_type import InputType
from ..terms.preprocessors import FeedForwardToCnnPreProcessor, InputPreProcessor
from .network_formats import settled, stated_format

if TYPE_CHECKING:
    from .network import NeuralNetConfiguration

Preprocessors = dict[int, InputPreProcessor]


def stack(
    base: NeuralNetConfiguration,
    layers: Sequence[LayerConf],
    input_type: InputType | None,
    chosen: Mapping[int, InputPreProcessor],
) -> tuple[tuple[LayerConf, ...], Preprocessors]:
    """Return layers that are complete, and all preprocessors; see `NeuralNetConfiguration.list`."""
    if not layers:
        raise nd.ConfigurationError("list: a network needs at least one layer, got none.")
    for index, layer in enumerate(layers):
        if not isinstance(layer, LayerConf):
            name = layer.__name__ if isinstance(layer, type) else "DenseLayer"
            raise nd.ConfigurationError(
                f"list: layer {index} must be a layer configuration, got {shown(layer)}. Write {name}(...)."
            )
        if not type(layer.innermost).__module__.startswith("nn."):
            from .own_layers import check_class  # which programs without own layers do not need

            check_class(label_of(index, layer), layer.innermost)
    if not isinstance(input_type, InputType | None):
        raise nd.ConfigurationError(f"list: input_type must be made by InputType, got {input_type!r}.")
    check_preprocessors("list: preprocessors", chosen, len(layers))
    resolved = [layer.resolved(base, index) for index, layer in enumerate(layers)]
    check_order("list", resolved)
    placed = dict(chosen)
    sized = _chained(resolved, placed) if input_type is None else _inferred(resolved, input_type, placed)
    for index, layer in enumerate(sized):
        layer.check(label_of(index, layer))
    return tuple(sized), dict(sorted(placed.items()))


def check_order(who: str, layers: Sequence[LayerConf]) -> None:
    """Raise ConfigurationError where a layer below the last has a loss, or two have one name."""
    names: dict[str | None, str] = {}
    for index, layer in enumerate(layers):
        label = label_of(index, layer)
        if issubclass(layer.runtime, OutputMixin) and index < len(layers) - 1:
            raise nd.ConfigurationError(
                f"{who}: {label} must be the last layer, as it has a loss, got {len(layers) - 1 - index} behind it. "
                "Use a layer without a loss there, such as DenseLayer or ActivationLayer."
            )
        if names.setdefault(layer.name, label) != label:
            raise nd.ConfigurationError(
                f"{who}: every layer must have its own name, got {layer.name!r} for {names[layer.name]} and {label}. "
                "Give one of them another name, or none."
            )


def check_preprocessors(who: str, chosen: Mapping[int, InputPreProcessor], layers: int) -> None:
    """Raise ConfigurationError unless they are preprocessors of layers that there are."""
    if not isinstance(chosen, Mapping):
        raise nd.ConfigurationError(f"{who} must map layers to preprocessors, got {chosen!r}.")
    for index, preprocessor in chosen.items():
        if type(index) is not int or not 0 <= index < layers:
            raise nd.ConfigurationError(f"{who} must be of layers 0..{layers - 1}, got {index!r}.")
        if not isinstance(preprocessor, InputPreProcessor):
            raise nd.ConfigurationError(
                f"{who} must be instances of InputPreProcessor, got {preprocessor!r} for layer {index}."
            )


def _chained(layers: Sequence[LayerConf], preprocessors: Preprocessors) -> list[LayerConf]:
    """Without an input type, check and set every n_in that follows from the layer before."""
    chained = []
    before: tuple[str, int] | None = None
    data_format = stated_format(layers, preprocessors)
    for index, layer in enumerate(layers):
        before = None if index in preprocessors else before
        layer, preprocessor, data_format = settled(label_of(index, layer), layer, preprocessors.get(index), data_format)
        preprocessors |= {} if preprocessor is None else {index: preprocessor}
        layer, before = layer.following(label_of(index, layer), before)
        chained.append(layer)
    return chained


def _inferred(layers: Sequence[LayerConf], input_type: InputType, preprocessors: Preprocessors) -> list[LayerConf]:
    """Set every n_in; put preprocessors where the kind changes and there is none yet."""
    sized = []
    data_format, input_type = input_type.format, input_type.computed
    for index, layer in enumerate(layers):
        label = label_of(index, layer)
        preprocessor = preprocessors.get(index) or layer.preprocessor_for(input_type)
        layer, preprocessor, data_format = settled(label, layer, preprocessor, data_format)
        if preprocessor is not None:
            preprocessors[index] = preprocessor
            input_type = preprocessor.output_type(input_type)
        layer = layer.with_inputs(label, input_type)
        input_type = layer.output_type(label, input_type)
        sized.append(layer)
    return sized


def input_type_of(first: LayerConf, preprocessor: InputPreProcessor | None) -> InputType | None:
    """Return the input type of a network without one, from its first layer; None where that does not say it."""
    if isinstance(preprocessor, FeedForwardToCnnPreProcessor):
        return InputType.convolutional_flat(
            preprocessor.input_height, preprocessor.input_width, preprocessor.num_channels
        )
    n_in = getattr(first, "n_in", None)
    if preprocessor is None and n_in and getattr(first, "takes", None) == "rows":
        return InputType.feed_forward(n_in)
    return None
