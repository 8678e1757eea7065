"""A model of Keras as it was read: layers with their weights, and how they are called, whatever the version."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from nd.typing import HostArray


class Weight(NamedTuple):
    """An array of a layer; `read` returns it."""

    name: str
    """The last part of its name in the file: ``"kernel"``."""
    shape: tuple[int, ...]
    read: Callable[[], HostArray]


class KerasLayer(NamedTuple):
    """A layer, in Keras 3's spelling.

    Attributes
    ----------
    class_name, name : str
    config : mapping of str -> object
        Its settings by Keras 3's names; values are those of JSON.
    weights : tuple of Weight, or None
        In the order of Keras' `layer.weights` and in Keras 3's axes; None where only the configuration was read.
    trainable : bool
    """

    class_name: str
    name: str
    config: Mapping[str, Any]
    weights: tuple[Weight, ...] | None
    trainable: bool = True


class KerasCall(NamedTuple):
    """One use of a layer.

    Attributes
    ----------
    name : str
        Unique in the model: ``"dense"``, for the second use of a layer ``"dense#2"``, in nested models
        ``"encoder/dense"``.
    layer : KerasLayer
        The same object for every use.
    inputs : tuple of str
        Names of calls, or of the model's inputs.
    arguments : mapping of str -> object
        What else it is called with: ``{"initial_state": ["h", "c"]}``.
    """

    name: str
    layer: KerasLayer
    inputs: tuple[str, ...]
    arguments: Mapping[str, Any]


class InputSpec(NamedTuple):
    """An input of a model."""

    shape: tuple[int | None, ...]
    """Without the axis of examples; None for an open length."""
    dtype: str = "float32"


class KerasModel(NamedTuple):
    """A model.

    Attributes
    ----------
    file : str
        Name of the file, for messages.
    version : int
        Of Keras: 1, 2 or 3.
    inputs : mapping of str -> InputSpec
    calls : tuple of KerasCall
        In an order in which they can run.
    outputs : tuple of str
        Names of calls or inputs.
    is_sequential : bool
    training : mapping of str -> object, or None
        What the model was compiled with: ``{"loss": ..., "optimizer": ..., "loss_weights": ...}``.
    dtype : str
        Of the parameters: ``"float32"`` or ``"float64"``; smaller ones are read as float32.
    backend : str
        That Keras computed with, ``"theano"`` say; empty where the file does not tell.
    """

    file: str
    version: int
    inputs: Mapping[str, InputSpec]
    calls: tuple[KerasCall, ...]
    outputs: tuple[str, ...]
    is_sequential: bool
    training: Mapping[str, Any] | None = None
    dtype: str = "float32"
    backend: str = ""
