"""Caffe's layers: one class for a type, a file for a family."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError
from nd.checks import suggestion

if TYPE_CHECKING:
    from .base import CaffeLayer

LAYERS = {
    "AbsVal": "activations:AbsVal",
    "Accuracy": "classes:Accuracy",
    "ArgMax": "reductions:ArgMax",
    "BNLL": "activations:BNLL",
    "BatchReindex": "examples:BatchReindex",
    "Clip": "activations:Clip",
    "Concat": "shapes:Concat",
    "ContrastiveLoss": "losses:ContrastiveLoss",
    "Dropout": "activations:Dropout",
    "ELU": "activations:ELU",
    "Eltwise": "reductions:Eltwise",
    "EuclideanLoss": "losses:EuclideanLoss",
    "Exp": "activations:Exp",
    "Filter": "examples:Filter",
    "Flatten": "shapes:Flatten",
    "HingeLoss": "labelled:HingeLoss",
    "InfogainLoss": "labelled:InfogainLoss",
    "InnerProduct": "inner_product:InnerProduct",
    "LSTM": "recurrent:LSTM",
    "LSTMUnit": "lstm_unit:LSTMUnit",
    "Log": "activations:Log",
    "MultinomialLogisticLoss": "labelled:MultinomialLogisticLoss",
    "PReLU": "activations:PReLU",
    "Parameter": "copies:Parameter",
    "Power": "activations:Power",
    "RNN": "recurrent:RNN",
    "ReLU": "activations:ReLU",
    "ReLU6": "activations:ReLU6",
    "Reduction": "reductions:Reduction",
    "Reshape": "shapes:Reshape",
    "Sigmoid": "activations:Sigmoid",
    "SigmoidCrossEntropyLoss": "losses:SigmoidCrossEntropyLoss",
    "Silence": "copies:Silence",
    "Slice": "shapes:Slice",
    "SoftmaxWithLoss": "classes:SoftmaxWithLoss",
    "Split": "copies:Split",
    "Swish": "activations:Swish",
    "TanH": "activations:TanH",
    "Threshold": "activations:Threshold",
    "Tile": "shapes:Tile",
}
"""Type -> module and class, sorted."""


def layer_class(kind: str) -> type[CaffeLayer]:
    """Return the class of a type, ``layer_class("InnerProduct")``.

    Raises
    ------
    ConfigurationError
        There is no such type.
    """
    if kind not in LAYERS:
        raise ConfigurationError(
            f"nn.caffe: unknown layer type {kind!r}.{suggestion('type', kind, LAYERS)} Known are {', '.join(LAYERS)}."
        )
    module, name = LAYERS[kind].split(":")
    found: Any = getattr(import_module(f".{module}", __name__), name)
    return found
