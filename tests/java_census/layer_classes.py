"""Deeplearning4j's classes of layer configurations, class by class: ours, or the reason why it is not here."""

from __future__ import annotations

OF_OURS = {
    "": (
        "ActivationLayer AutoEncoder BatchNormalization CapsuleLayer CapsuleStrengthLayer CenterLossOutputLayer "
        "Cnn3DLossLayer CnnLossLayer Convolution1D Convolution1DLayer Convolution2D Convolution3D ConvolutionLayer "
        "Deconvolution2D Deconvolution3D DenseLayer DepthwiseConvolution2D DropoutLayer EmbeddingLayer "
        "EmbeddingSequenceLayer GlobalPoolingLayer GravesBidirectionalLSTM GravesLSTM LSTM LearnedSelfAttentionLayer "
        "LocalResponseNormalization LocallyConnected1D LocallyConnected2D LossLayer OutputLayer PReLULayer Pooling1D "
        "Pooling2D PrimaryCapsules RecurrentAttentionLayer RnnLossLayer RnnOutputLayer SelfAttentionLayer "
        "SeparableConvolution2D SpaceToBatchLayer SpaceToDepthLayer Subsampling1DLayer Subsampling3DLayer "
        "SubsamplingLayer Upsampling1D Upsampling2D Upsampling3D ZeroPadding1DLayer ZeroPadding3DLayer "
        "ZeroPaddingLayer"
    ),
    "convolutional": "Cropping1D Cropping2D Cropping3D",
    "misc": "ElementWiseMultiplicationLayer FrozenLayer FrozenLayerWithBackprop RepeatVector",
    "objdetect": "Yolo2OutputLayer",
    "org.deeplearning4j.nn.conf.ocnn": "OCNNOutputLayer",
    "org.deeplearning4j.nn.layers.util": "IdentityLayer",
    "recurrent": "Bidirectional LastTimeStep SimpleRnn TimeDistributed",
    "util": "MaskLayer MaskZeroLayer",
    "variational": "VariationalAutoencoder",
}
"""Package below ``org.deeplearning4j.nn.conf.layers`` -> classes that this library has."""
DECLINED_LAYERS = {
    "org.deeplearning4j.nn.modelimport.keras.layers.TFOpLayer": "Runs a graph of TensorFlow's, by its native library.",
}
"""Class -> why this library has it not."""
BASES = {
    "org.deeplearning4j.nn.conf.layers.AbstractLSTM",
    "org.deeplearning4j.nn.conf.layers.BaseLayer",
    "org.deeplearning4j.nn.conf.layers.BaseOutputLayer",
    "org.deeplearning4j.nn.conf.layers.BasePretrainNetwork",
    "org.deeplearning4j.nn.conf.layers.BaseRecurrentLayer",
    "org.deeplearning4j.nn.conf.layers.BaseUpsamplingLayer",
    "org.deeplearning4j.nn.conf.layers.FeedForwardLayer",
    "org.deeplearning4j.nn.conf.layers.Layer",
    "org.deeplearning4j.nn.conf.layers.NoParamLayer",
    "org.deeplearning4j.nn.conf.layers.samediff.AbstractSameDiffLayer",
    "org.deeplearning4j.nn.conf.layers.samediff.SameDiffLambdaLayer",
    "org.deeplearning4j.nn.conf.layers.samediff.SameDiffLayer",
    "org.deeplearning4j.nn.conf.layers.samediff.SameDiffOutputLayer",
    "org.deeplearning4j.nn.conf.layers.wrapper.BaseWrapperLayer",
}
"""Abstract classes: those of SameDiff are for layers of a user's own, which `LayerConf` is here."""


def ours() -> dict[str, str]:
    """Return Java's full name -> its last part, of the layers that this library has."""
    packages = {
        package: package if package.startswith("org.") else f"org.deeplearning4j.nn.conf.layers.{package}".rstrip(".")
        for package in OF_OURS
    }
    return {f"{packages[package]}.{name}": name for package, names in OF_OURS.items() for name in names.split()}
