"""Output layers whose loss and activation do not fit together, and outputs that may be evaluated as a classifier's."""

from __future__ import annotations

from collections.abc import Iterable

from nd import ConfigurationError
from nd.activations import (
    ELU,
    SELU,
    Activation,
    Cube,
    HardTanh,
    Identity,
    LeakyReLU,
    RationalTanh,
    ReLU,
    ReLU6,
    RReLU,
    Sigmoid,
    Softmax,
    SoftPlus,
    SoftSign,
    Swish,
    Tanh,
    ThresholdedReLU,
)
from nd.losses import Loss, LossBinaryXENT, LossMCXENT

from ..layers.base import BaseLayerConf
from ..layers.losses.losses_of_places import CnnLossLayer, RnnLossLayer
from ..layers.losses.output import LossLayer, OutputLayer

_OUTSIDE_OF_0_TO_1 = frozenset({
    ELU, SELU, Cube, HardTanh, Identity, LeakyReLU, RationalTanh, ReLU, ReLU6, RReLU, SoftPlus, SoftSign, Swish, Tanh,
    ThresholdedReLU,
})  # fmt: skip
_SWITCH = "To have it all the same, set validate_output_layer_config=False."


def check_output_layers(layers: Iterable[tuple[str, object]]) -> None:
    """Refuse layers, given with their labels, that have a loss which does not fit on their activation.

    Raises
    ------
    ConfigurationError
        A softmax over one output is always 1. Mcxent (negativeloglikelihood, sparse_mcxent) and xent need activations
        in 0..1; mcxent needs those of an example to sum to 1, which sigmoid's do not, and xent those that do not.

    Notes
    -----
    Source: DL4J ``OutputLayerUtil.validateOutputLayer``. As there, the activation of a layer without parameters may be
    the identity, for its input may be probabilities; activations that it does not list (GELU, Mish and one's own),
    OCNNOutputLayer and Cnn3DLossLayer are not looked at; nor are those that are read from a file.
    """
    for label, layer in layers:
        if isinstance(layer, OutputLayer | LossLayer | RnnLossLayer | CnnLossLayer):
            _check(label, layer, layer.activation, layer.loss)  # type: ignore[arg-type]


def _check(label: str, layer: BaseLayerConf, activation: Activation, loss: Loss) -> None:
    name, of_loss = type(activation).__name__.lower(), type(loss).__name__
    has_parameters = isinstance(layer, OutputLayer)
    if isinstance(layer, OutputLayer) and layer.n_out == 1 and isinstance(activation, Softmax):
        raise ConfigurationError(
            f"{label}: softmax must have two outputs or more, got n_out=1, where it is always 1. Use activation="
            f"'sigmoid' with loss='xent' for two classes, or 'identity' with 'mse' for a number. {_SWITCH}"
        )
    if isinstance(loss, LossMCXENT | LossBinaryXENT) and exceeds_0_to_1(activation, has_parameters):
        use = "'softmax'" if isinstance(loss, LossMCXENT) else "'sigmoid'"
        raise ConfigurationError(
            f"{label}: {of_loss} must have an activation with values in 0..1, got {name}. Use activation={use}, or "
            f"another loss such as 'mse'. {_SWITCH}"
        )
    if isinstance(activation, Softmax) and isinstance(loss, LossBinaryXENT):
        raise ConfigurationError(
            f"{label}: {of_loss} must have independent outputs, got softmax, whose outputs sum to 1. Use loss='mcxent' "
            f"for classes that exclude each other, activation='sigmoid' for others. {_SWITCH}"
        )
    if isinstance(activation, Sigmoid) and isinstance(loss, LossMCXENT):
        raise ConfigurationError(
            f"{label}: {of_loss} must have outputs that sum to 1, got sigmoid. Use activation='softmax' for classes "
            f"that exclude each other, loss='xent' for others. {_SWITCH}"
        )


def exceeds_0_to_1(activation: Activation, has_parameters: bool) -> bool:
    """Tell whether an activation gives values that are no probabilities, as far as it is known."""
    passed_on = isinstance(activation, Identity) and not has_parameters
    return type(activation) in _OUTSIDE_OF_0_TO_1 and not passed_on


def check_classifier(who: str, label: str, layer: object) -> None:
    """Refuse to evaluate outputs that are no probabilities as a classifier's.

    Raises
    ------
    ConfigurationError
        The last layer's activation goes beyond 0..1.

    Notes
    -----
    Source: DL4J ``OutputLayerUtil.validateOutputLayerForClassifierEvaluation``.
    """
    if isinstance(layer, BaseLayerConf) and exceeds_0_to_1(layer.activation, isinstance(layer, OutputLayer)):  # type: ignore[arg-type]
        raise ConfigurationError(
            f"{who}: {label} must give probabilities, got the activation "
            f"{type(layer.activation).__name__.lower()}. Use evaluate_regression, or do_evaluation with Evaluation(), "
            "which takes any outputs; or set validate_output_layer_config=False."
        )
