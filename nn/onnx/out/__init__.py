"""Layers, vertices and preprocessors as operators of ONNX: one function for a class, a file for a family.

Each takes a `NodeDraft` and returns the name of the tensor that is its activations, channels first as nodes compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

LAYERS: Mapping[str, str] = {
    "ActivationLayer": "dense:activation",
    "BatchNormalization": "normalizations:batch_normalization",
    "CapsuleLayer": "capsules:capsules",
    "CapsuleStrengthLayer": "capsules:strength",
    "Convolution1DLayer": "convolutions:convolution1d",
    "Convolution3D": "convolutions:convolution",
    "ConvolutionLayer": "convolutions:convolution",
    "Cropping1D": "places:cropping",
    "Cropping2D": "places:cropping",
    "Cropping3D": "places:cropping",
    "Deconvolution2D": "convolutions:deconvolution2d",
    "Deconvolution3D": "convolutions:deconvolution3d",
    "DenseLayer": "dense:dense",
    "DepthwiseConvolution2D": "convolutions:depthwise",
    "DropoutLayer": "dense:nothing",
    "GlobalPoolingLayer": "poolings:global_pooling",
    "LocalResponseNormalization": "normalizations:local_response",
    "LocallyConnected1D": "convolutions:locally_connected",
    "LocallyConnected2D": "convolutions:locally_connected",
    "LossLayer": "dense:activation",
    "OutputLayer": "dense:dense",
    "PrimaryCapsules": "capsules:primary_capsules",
    "SeparableConvolution2D": "convolutions:separable",
    "SpaceToBatchLayer": "places:space_to_batch",
    "SpaceToDepthLayer": "places:space_to_depth",
    "Subsampling1DLayer": "poolings:pooling",
    "Subsampling3DLayer": "poolings:pooling",
    "SubsamplingLayer": "poolings:pooling",
    "Upsampling1D": "places:upsampling",
    "Upsampling2D": "places:upsampling",
    "Upsampling3D": "places:upsampling",
    "Yolo2OutputLayer": "detection:yolo",
    "ZeroPadding1DLayer": "places:zero_padding",
    "ZeroPadding3DLayer": "places:zero_padding",
    "ZeroPaddingLayer": "places:zero_padding",
}
"""Class of a layer -> module and function, sorted."""
VERTICES: Mapping[str, str] = {}
"""Class of a vertex -> module and function, sorted."""
PREPROCESSORS: Mapping[str, str] = {}
"""Class of a preprocessor -> module and function (draft, preprocessor, tensor), sorted."""
MISSING: Mapping[str, str] = {}
"""Class that ONNX cannot say -> why, sorted."""


def writer(table: Mapping[str, str], part: object) -> Callable[..., Any] | None:
    """Return the function that writes a part; None where there is none, as for classes of one's own."""
    kind = type(part)
    if kind.__name__ not in table or kind.__module__.partition(".")[0] not in ("nn", "nd"):
        return None
    module, name = table[kind.__name__].split(":")
    function: Callable[..., Any] = getattr(import_module(f".{module}", __name__), name)
    return function
