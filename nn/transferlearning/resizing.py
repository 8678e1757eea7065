"""Layers of other sizes: n_out and n_in replaced, and the layers behind made to fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any, ClassVar, Generic, TypeVar

import nd

from ..layers import (
    CapsuleLayer,
    DepthwiseConvolution2D,
    FeedForwardConf,
    LayerConf,
    PReLULayer,
    PrimaryCapsules,
    SpaceToDepthLayer,
)
from ..layers.same_size import SameSizeConf
from ..terms.distributions import Distribution
from ..terms.input_type import InputType
from ..terms.preprocessors import (
    Cnn3DToFeedForwardPreProcessor,
    CnnToFeedForwardPreProcessor,
    FeedForwardToCnn3DPreProcessor,
    FeedForwardToCnnPreProcessor,
    InputPreProcessor,
)
from ..terms.series_preprocessors import CnnToRnnPreProcessor, RnnToCnnPreProcessor

Init = str | Distribution | None
Sizes = int | Sequence[int | Init]
Key = TypeVar("Key", int, str)


def _sizes_for(layer: LayerConf, count: int) -> dict[str, Any]:
    """Return a layer's sizes where so many numbers or channels come in, and those out where they follow from it."""
    if isinstance(layer, SameSizeConf):
        return {"n_in": count, "n_out": count}
    if isinstance(layer, DepthwiseConvolution2D):
        return {"n_in": count, "n_out": count * layer.depth_multiplier}
    if isinstance(layer, PReLULayer):
        return {"input_shape": (count, *(layer.input_shape or ())[1:])}  # type: ignore[index]
    if isinstance(layer, PrimaryCapsules):
        return {"input_channels": count}
    return {"input_capsules": count} if isinstance(layer, CapsuleLayer) else {"n_in": count}


class Resizing(Generic[Key]):
    """Replaces sizes of layers that are called by a number or a name; subclasses say how the layers hang together."""

    _rebuild: ClassVar[str]
    """The other way to get there, for messages."""

    def _layer_of(self, who: str, key: Key) -> LayerConf:
        """Return a layer; raise ConfigurationError or ChoiceError if there is none."""
        raise NotImplementedError

    def _label(self, key: Key) -> str:
        """Return what messages call a layer."""
        raise NotImplementedError

    def _readers(self, who: str, key: Key) -> Sequence[Key]:
        """Return the layers that read a layer's activations; raise ConfigurationError where they are none."""
        raise NotImplementedError

    def _preprocessors_of_layers(self) -> dict[Key, InputPreProcessor]:
        """Return the preprocessors by layer, to be changed in place."""
        raise NotImplementedError

    def _put_anew(self, key: Key, behind: bool, changes: dict[str, Any]) -> None:
        """Put a layer with changed settings in the place of one, and start its parameters anew.

        `behind` says that it is not the one that was asked for, but reads it.
        """
        raise NotImplementedError

    def _replace_n_out(self, key: Key, n_out: int, init: Init = None, *next_init: Init) -> None:
        """Give a layer another size, and the next ones another n_in."""
        if len(next_init) > 1:
            raise nd.ConfigurationError(
                f"TransferLearning: n_out_replace takes (n_out, weight_init, weight_init of the next layer), got "
                f"{(n_out, init, *next_init)!r}."
            )
        self._restart("n_out_replace", key, init, n_out=n_out)
        self._pass_on("n_out_replace", key, n_out, next_init[0] if next_init else init)

    def _replace_n_in(self, key: Key, n_in: int, init: Init = None) -> None:
        """Give a layer another n_in."""
        layer = self._layer_of("TransferLearning: n_in_replace", key)
        sizes = _sizes_for(layer, n_in) if isinstance(layer, FeedForwardConf) else {"n_in": n_in}
        self._restart("n_in_replace", key, init, **sizes)
        if "n_out" in sizes:
            self._pass_on("n_in_replace", key, sizes["n_out"], None)

    def _pass_on(self, who: str, key: Key, count: int, init: Init) -> None:
        """Make layers fit on a layer that so many numbers or channels now come out of, up to the first on every way
        that has a number of its own.
        """
        for after in self._readers(who, key):
            coming = self._through(who, after, count)
            layer, next_init = self._layer_of(who, after), init
            if isinstance(layer.innermost, SpaceToDepthLayer):
                coming *= layer.innermost.blocks**2
            elif layer.param_specs() or isinstance(layer, FeedForwardConf):
                weighs, sizes = not isinstance(layer, (PReLULayer, SameSizeConf)), _sizes_for(layer, coming)
                self._restart(who, after, init if weighs else None, True, **sizes)
                if weighs and "n_out" not in sizes:
                    continue
                next_init, coming = None if weighs else init, sizes.get("n_out", coming)
            self._pass_on(who, after, coming, next_init)

    def _through(self, who: str, key: Key, channels: int) -> int:
        """Return the number of inputs or channels of a layer, and mend its preprocessor."""
        preprocessors = self._preprocessors_of_layers()
        preprocessor = preprocessors.get(key)
        if isinstance(
            preprocessor, (CnnToFeedForwardPreProcessor, Cnn3DToFeedForwardPreProcessor, CnnToRnnPreProcessor)
        ):
            mended = preprocessors[key] = replace(preprocessor, num_channels=channels)
            return mended.features
        if isinstance(
            preprocessor, (FeedForwardToCnnPreProcessor, FeedForwardToCnn3DPreProcessor, RnnToCnnPreProcessor)
        ):
            if preprocessor.features != channels:
                raise nd.ConfigurationError(
                    f"TransferLearning: {who}: what comes in must be {preprocessor.features} before {preprocessor!r}, "
                    f"got {channels}. {self._rebuild}"
                )
            return preprocessor.num_channels
        return channels

    def _restart(self, who: str, key: Key, init: Init, behind: bool = False, **sizes: object) -> None:
        """Change a layer's sizes, and start its parameters anew."""
        who = f"TransferLearning: {who}"
        layer = self._layer_of(who, key)
        if not set(sizes) <= {field.name for field in fields(layer)}:
            raise nd.ConfigurationError(
                f"{who}: {self._label(key)} must be a layer with n_in and n_out that is not frozen. {self._rebuild}"
            )
        self._put_anew(key, behind, sizes if init is None else {**sizes, "weight_init": init})


def resized_input(input_type: InputType, n_in: int) -> InputType:
    """Return the type of a network's input with so many numbers or channels."""
    field = "n" if hasattr(input_type, "n") else "channels"
    return replace(input_type, **{field: n_in})
