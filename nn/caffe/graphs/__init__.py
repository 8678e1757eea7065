"""Caffe's layers as vertices of a Deeplearning4j graph: one function for a type, a file for a family."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from .draft import REPORTING, LayerDraft

CONVERTERS = {
    "AbsVal": "functions:absolute",
    "BNLL": "functions:softplus",
    "BatchNorm": "normalizations:batch_norm",
    "Bias": "scaling:bias",
    "Clip": "functions:clip",
    "Concat": "shapes:concat",
    "Convolution": "convolutions:convolution",
    "ConvolutionDepthwise": "convolutions:convolution",
    "Crop": "shapes:crop",
    "Deconvolution": "convolutions:deconvolution",
    "DepthwiseConvolution": "convolutions:convolution",
    "Dropout": "functions:dropout",
    "ELU": "functions:elu",
    "Eltwise": "scaling:eltwise",
    "EuclideanLoss": "losses:euclidean",
    "Flatten": "shapes:reshape",
    "HingeLoss": "losses:hinge",
    "InnerProduct": "dense:inner_product",
    "LRN": "normalizations:lrn",
    "PReLU": "functions:prelu",
    "Pooling": "poolings:pooling",
    "Power": "functions:power",
    "ReLU": "functions:relu",
    "ReLU6": "functions:relu6",
    "Reduction": "poolings:reduction",
    "Reshape": "shapes:reshape",
    "Scale": "scaling:scale",
    "Sigmoid": "functions:sigmoid",
    "SigmoidCrossEntropyLoss": "losses:sigmoid_cross_entropy",
    "Slice": "shapes:slice_channels",
    "Softmax": "losses:softmax",
    "SoftmaxWithLoss": "losses:softmax_with_loss",
    "Split": "shapes:split",
    "Swish": "functions:swish",
    "TanH": "functions:tanh",
    "Upsample": "shapes:upsample",
}
"""Type -> module and function, sorted."""
MISSING = {
    "ArgMax": "DL4J has no places of maxima",
    "Axpy": "DL4J has no product of images with one number for each channel",
    "BatchReindex": "DL4J's vertices keep all examples",
    "ContrastiveLoss": "DL4J has no loss of pairs",
    "DetectionOutput": "DL4J has no detections of SSD",
    "Embed": "indices come as another array than DL4J's embeddings take",
    "Exp": "DL4J has no exponential",
    "Filter": "DL4J's vertices keep all examples",
    "Im2col": "DL4J has no columns",
    "InfogainLoss": "DL4J has no loss with a matrix of gains",
    "Interp": "DL4J has no bilinear interpolation as a layer",
    "LSTM": "DL4J's LSTMs take series in another order, and start each one anew",
    "LSTMUnit": "DL4J has no single step of an LSTM",
    "Log": "DL4J has no logarithm",
    "MVN": "DL4J has no normalisation of single examples",
    "MultinomialLogisticLoss": "it takes probabilities. Use SoftmaxWithLoss",
    "Normalize": "DL4J has no L2 norm over channels",
    "Parameter": "DL4J has no vertex that is a parameter",
    "Permute": "DL4J has no vertex that permutes axes in every file",
    "PriorBox": "DL4J has no boxes",
    "RNN": "DL4J's recurrent layers take series in another order, and start each one anew",
    "ROIPooling": "DL4J has no regions",
    "Reorg": "channels come in another order than DL4J's SpaceToDepthLayer puts them in",
    "SPP": "DL4J has no pyramid of poolings",
    "ShuffleChannel": "DL4J has no shuffling of channels",
    "Threshold": "DL4J has no step function",
    "Tile": "DL4J has no tiling",
}
"""Type without a counterpart -> why, where there is more to say than that DL4J has nothing like it; sorted."""
LEFT_OUT = (*REPORTING, "Silence")
"""Types that only look on."""


def converter(kind: str) -> Callable[[LayerDraft], list[str | None]] | None:
    """Return what puts a type into a graph; None where nothing does.

    It returns the vertices whose activations the tops are, None for a loss, and raises ConfigurationError, with a
    reason alone as its text, where settings have no counterpart.
    """
    if kind not in CONVERTERS:
        return None
    module, name = CONVERTERS[kind].split(":")
    function: Callable[[LayerDraft], list[str | None]] = getattr(import_module(f".{module}", __name__), name)
    return function
