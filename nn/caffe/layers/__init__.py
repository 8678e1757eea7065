"""Caffe's layers: one class for a type, a file for a family."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from nd import ConfigurationError
from nd.checks import suggestion

if TYPE_CHECKING:
    from .base import CaffeLayer

LAYERS = {
    "AbsVal": "activations:AbsVal",
    "Accuracy": "classes:Accuracy",
    "ArgMax": "reductions:ArgMax",
    "Axpy": "scale:Axpy",
    "BNLL": "activations:BNLL",
    "BatchNorm": "normalization:BatchNorm",
    "BatchReindex": "examples:BatchReindex",
    "Bias": "scale:Bias",
    "Clip": "activations:Clip",
    "Concat": "shapes:Concat",
    "ContrastiveLoss": "losses:ContrastiveLoss",
    "Convolution": "convolution:Convolution",
    "ConvolutionDepthwise": "convolution:DepthwiseConvolution",
    "Crop": "spatial:Crop",
    "Deconvolution": "convolution:Deconvolution",
    "DepthwiseConvolution": "convolution:DepthwiseConvolution",
    "DetectionOutput": "detection:DetectionOutput",
    "Dropout": "activations:Dropout",
    "ELU": "activations:ELU",
    "Eltwise": "reductions:Eltwise",
    "Embed": "embed:Embed",
    "EuclideanLoss": "losses:EuclideanLoss",
    "Exp": "activations:Exp",
    "Filter": "examples:Filter",
    "Flatten": "shapes:Flatten",
    "HDF5Output": "outputs:HDF5Output",
    "HingeLoss": "labelled:HingeLoss",
    "Im2col": "convolution:Im2col",
    "InfogainLoss": "labelled:InfogainLoss",
    "InnerProduct": "inner_product:InnerProduct",
    "Interp": "spatial:Interp",
    "LRN": "normalization:LRN",
    "LSTM": "recurrent:LSTM",
    "LSTMUnit": "lstm_unit:LSTMUnit",
    "Log": "activations:Log",
    "MVN": "normalization:MVN",
    "MultinomialLogisticLoss": "labelled:MultinomialLogisticLoss",
    "Normalize": "normalization:Normalize",
    "PReLU": "activations:PReLU",
    "Parameter": "copies:Parameter",
    "Permute": "spatial:Permute",
    "Pooling": "pooling:Pooling",
    "Power": "activations:Power",
    "PriorBox": "detection:PriorBox",
    "Python": "python:Python",
    "RNN": "recurrent:RNN",
    "ROIPooling": "regions:ROIPooling",
    "ReLU": "activations:ReLU",
    "ReLU6": "activations:ReLU6",
    "Reduction": "reductions:Reduction",
    "Reorg": "channels:Reorg",
    "Reshape": "shapes:Reshape",
    "SPP": "pooling:SPP",
    "Scale": "scale:Scale",
    "ShuffleChannel": "channels:ShuffleChannel",
    "Sigmoid": "activations:Sigmoid",
    "SigmoidCrossEntropyLoss": "losses:SigmoidCrossEntropyLoss",
    "Silence": "copies:Silence",
    "Slice": "shapes:Slice",
    "Softmax": "softmax:Softmax",
    "SoftmaxWithLoss": "classes:SoftmaxWithLoss",
    "Split": "copies:Split",
    "Swish": "activations:Swish",
    "TanH": "activations:TanH",
    "Threshold": "activations:Threshold",
    "Tile": "shapes:Tile",
    "Upsample": "spatial:Upsample",
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
    found: type[CaffeLayer] = getattr(import_module(f".{module}", __name__), name)
    return found
