"""Outputs of a network with their losses, and its updater: what a model of Keras was compiled with."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nd.activations import Activation, Identity, Sigmoid, Softmax

from ...layers import (
    ActivationLayer,
    Cnn3DLossLayer,
    CnnLossLayer,
    Convolution1DLayer,
    Convolution3D,
    ConvolutionLayer,
    DenseLayer,
    LossLayer,
    OutputLayer,
    RnnLossLayer,
    RnnOutputLayer,
    TimeDistributed,
)
from ...terms.data_formats import channels_last
from ..terms.losses import loss_of
from ..terms.optimizers import optimizer_of
from .piece import Value

if TYPE_CHECKING:
    from .recognition import Recognition

LOSSES: dict[int, Any] = {1: LossLayer, 2: RnnLossLayer, 3: CnnLossLayer, 4: Cnn3DLossLayer}
"""Axes of an output, without that of the examples -> layer with a loss."""
CONVOLUTIONS = (Convolution1DLayer, Convolution3D, ConvolutionLayer)


def settings_of(made: Recognition) -> dict[str, Any]:
    """Return the settings of a network that a model was compiled with: updater, clipping, weight decay."""
    given = (made.model.training or {}).get("optimizer")
    if given is None:
        return {}
    reading = optimizer_of(given)
    made.notes += reading.warnings
    return {**({} if reading.updater is None else {"updater": reading.updater}), **reading.settings}


def with_loss(made: Recognition, output: str, value: Value, others: Sequence[str]) -> str:
    """Let an output have a loss; return its vertex.

    Parameters
    ----------
    made : Recognition
    output : str
        The model's.
    value : Value
        That it is.
    others : sequence of str
        Vertices that are outputs already.
    """
    draft, name = made.draft, value.node
    if len(value.shape) not in LOSSES:
        return name if name in draft.nodes else draft.add(f"{name}/output", ActivationLayer("identity"), [name])
    is_read = name in others or any(name in node[1:] for node in draft.nodes.values())
    if name in draft.inputs or is_read:
        return draft.add(f"{name}/loss", _loss_layer(made, output, value, Identity()), [name])
    conf, *sources = draft.nodes[name]
    inside = conf.layer if isinstance(conf, TimeDistributed) else conf
    if type(inside) is DenseLayer:
        draft.nodes[name] = (_output_layer(made, output, value, conf, inside), *sources)
        return name
    if isinstance(conf, ActivationLayer) and _goes_along_channels(value, conf.activation):
        draft.nodes[name] = (_loss_layer(made, output, value, conf.activation), *sources)
        return name
    activation: Any = Identity()
    if isinstance(conf, CONVOLUTIONS) and _goes_along_channels(value, conf.activation):
        activation = conf.activation
        draft.nodes[name] = (replace(conf, activation="identity"), *sources)
    usual = getattr(conf.innermost, "activation", None)
    return draft.add(f"{name}/loss", _loss_layer(made, output, value, activation, usual), [name])


def _goes_along_channels(value: Value, activation: Any) -> bool:
    """Tell whether layers with a loss apply the activation along the axis along which the layer did."""
    return len(value.shape) == 1 or channels_last(value.data_format) or not activation.over_rows


def _output_layer(made: Recognition, output: str, value: Value, conf: Any, inside: DenseLayer) -> OutputLayer:
    given = {name: setting for name, setting in vars(inside).items() if name in OutputLayer.__dataclass_fields__}
    kind: Any = OutputLayer
    if inside is not conf:
        kind, given["data_format"] = RnnOutputLayer, conf.data_format
    return kind(**{**given, "loss": _loss(made, output, value, inside.activation)})


def _loss_layer(made: Recognition, output: str, value: Value, activation: Any, usual: Any = None) -> Any:
    """Return a layer with a loss; `usual` is the activation before it, if it has none itself."""
    settings = {"data_format": value.data_format} if len(value.shape) > 1 and value.data_format else {}
    loss = _loss(made, output, value, activation, usual or activation)
    return LOSSES[len(value.shape)](loss=loss, activation=activation, **settings)


def _loss(made: Recognition, output: str, value: Value, activation: Any, usual: Activation | None = None) -> Any:
    """Return the loss that the model was compiled with, else the one that goes with the activation."""
    model, number = made.model, list(made.model.outputs).index(output)
    training = model.training or {}
    given = _of_output(training.get("loss"), output, number)
    outputs = value.shape[-1] if channels_last(value.data_format) or len(value.shape) == 1 else value.shape[0]
    if given is not None and outputs is not None:
        places = [size for axis, size in enumerate(value.shape) if axis != _channels_axis(value)]
        count = None if None in places else math.prod(places)  # type: ignore[arg-type]
        weight = _of_output(training.get("loss_weights"), output, number)
        reading = loss_of(given, activation, outputs, count, 1.0 if weight is None else float(weight))
        if reading.warning:
            made.notes.append(f"{output!r}: {reading.warning}")
        if reading.loss is not None:
            return reading.loss
    usual = usual or activation
    if isinstance(usual, Softmax) and outputs != 1:
        return "mcxent"
    return "xent" if isinstance(usual, Sigmoid) else "mse"


def _channels_axis(value: Value) -> int:
    return len(value.shape) - 1 if channels_last(value.data_format) or len(value.shape) == 1 else 0


def _of_output(given: Any, output: str, number: int) -> Any:
    """Return what is given for one output: by its name, by its number, or for all of them."""
    if isinstance(given, Mapping) and "class_name" not in given:
        return given.get(output, given.get(output.rpartition("/")[2]))
    if isinstance(given, list | tuple):
        return given[number] if number < len(given) else None
    return given
