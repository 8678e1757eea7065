"""Layers that a training step has: what writes their forward pass.

Vertices and preprocessors are those of `nn.onnx.out`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..out import LAYERS as OUT

AS_IN_INFERENCE = (
    "ActivationLayer", "Cnn3DLossLayer", "CnnLossLayer", "Cropping1D", "Cropping2D", "Cropping3D", "DenseLayer",
    "DropoutLayer", "ElementWiseMultiplicationLayer", "EmbeddingLayer", "EmbeddingSequenceLayer",
    "GlobalPoolingLayer", "IdentityLayer", "LocalResponseNormalization", "LossLayer", "OutputLayer", "PReLULayer",
    "RepeatVector", "RnnLossLayer", "RnnOutputLayer", "SpaceToDepthLayer", "Subsampling1DLayer", "Subsampling3DLayer",
    "SubsamplingLayer", "Upsampling1D", "Upsampling2D", "Upsampling3D", "ZeroPadding1DLayer", "ZeroPadding3DLayer",
    "ZeroPaddingLayer",
)  # fmt: skip
"""Classes whose activations in training are those of inference, and whose operators all have a derivative."""
LAYERS: Mapping[str, str] = {
    **{kind: OUT[kind] for kind in AS_IN_INFERENCE if kind in OUT},
    "BatchNormalization": ".training.batch_normalization:batch_normalization",
    "Convolution1DLayer": ".training.convolutions:convolution1d",
    "Convolution3D": ".training.convolutions:convolution",
    "ConvolutionLayer": ".training.convolutions:convolution",
    "Deconvolution2D": ".training.convolutions:deconvolution2d",
    "Deconvolution3D": ".training.convolutions:deconvolution3d",
    "DepthwiseConvolution2D": ".training.convolutions:depthwise",
    "SeparableConvolution2D": ".training.convolutions:separable",
}
"""Class of a layer -> module, seen from `nn.onnx.out`, and function."""
