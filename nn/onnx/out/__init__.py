"""Layers, vertices and preprocessors as operators of ONNX: one function for a class, a file for a family.

Each takes a `NodeDraft` and returns the name of the tensor that is its activations, channels first as nodes compute.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...conf.parts_by_class import function_for, needed_function
from .masks import over_activations
from .node_draft import NodeDraft, NotInOnnx

LAYERS: Mapping[str, str] = {
    "ActivationLayer": "dense:activation",
    "AutoEncoder": "dense:dense",
    "BatchNormalization": "normalizations:batch_normalization",
    "Bidirectional": "wrapping:bidirectional",
    "CapsuleLayer": "capsules:capsules",
    "CapsuleStrengthLayer": "capsules:strength",
    "CenterLossOutputLayer": "dense:center_loss",
    "Cnn3DLossLayer": "dense:loss_of_places",
    "CnnLossLayer": "dense:loss_of_places",
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
    "ElementWiseMultiplicationLayer": "dense:element_wise_multiplication",
    "EmbeddingLayer": "embedding:embedding",
    "EmbeddingSequenceLayer": "embedding:embedding_sequence",
    "FrozenLayer": "wrapping:inside",
    "FrozenLayerWithBackprop": "wrapping:inside",
    "GlobalPoolingLayer": "poolings:global_pooling",
    "GravesBidirectionalLSTM": "recurrent:both_directions",
    "GravesLSTM": "recurrent:recurrent",
    "IdentityLayer": "dense:nothing",
    "LSTM": "recurrent:recurrent",
    "LastTimeStep": "wrapping:last_time_step",
    "LearnedSelfAttentionLayer": "attention:learned",
    "LocalResponseNormalization": "normalizations:local_response",
    "LocallyConnected1D": "convolutions:locally_connected",
    "LocallyConnected2D": "convolutions:locally_connected",
    "LossLayer": "dense:loss",
    "MaskLayer": "dense:mask",
    "MaskZeroLayer": "wrapping:inside",
    "OCNNOutputLayer": "dense:one_class",
    "OutputLayer": "dense:dense",
    "PReLULayer": "dense:prelu",
    "PrimaryCapsules": "capsules:primary_capsules",
    "RBM": "dense:hidden_units",
    "RecurrentAttentionLayer": "attention:recurrent",
    "RepeatVector": "dense:repeat_vector",
    "RnnLossLayer": "dense:loss_of_places",
    "RnnOutputLayer": "dense:dense_of_steps",
    "SelfAttentionLayer": "attention:itself",
    "SeparableConvolution2D": "convolutions:separable",
    "SimpleRnn": "recurrent:recurrent",
    "SpaceToBatchLayer": "places:space_to_batch",
    "SpaceToDepthLayer": "places:space_to_depth",
    "Subsampling1DLayer": "poolings:pooling",
    "Subsampling3DLayer": "poolings:pooling",
    "SubsamplingLayer": "poolings:pooling",
    "TimeDistributed": "wrapping:time_distributed",
    "Upsampling1D": "places:upsampling",
    "Upsampling2D": "places:upsampling",
    "Upsampling3D": "places:upsampling",
    "VariationalAutoencoder": "dense:variational",
    "Yolo2OutputLayer": "detection:yolo",
    "ZeroPadding1DLayer": "places:zero_padding",
    "ZeroPadding3DLayer": "places:zero_padding",
    "ZeroPaddingLayer": "places:zero_padding",
}
"""Class of a layer -> module and function, sorted."""
VERTICES: Mapping[str, str] = {
    "AttentionVertex": "attention:vertex",
    "DuplicateToTimeSeriesVertex": "vertices:duplicate_to_time_series",
    "ElementWiseVertex": "vertices:element_wise",
    "L2NormalizeVertex": "vertices:l2_normalize",
    "L2Vertex": "vertices:l2",
    "LastTimeStepVertex": "vertices:last_time_step",
    "MergeVertex": "vertices:merge",
    "OnnxVertex": "onnx_vertex:onnx_vertex",
    "PoolHelperVertex": "vertices:pool_helper",
    "PreprocessorVertex": "vertices:preprocessor",
    "ReshapeVertex": "vertices:reshape",
    "ReverseTimeSeriesVertex": "vertices:reverse_time_series",
    "ScaleVertex": "vertices:scale",
    "ShiftVertex": "vertices:shift",
    "StackVertex": "vertices:stack",
    "SubsetVertex": "vertices:subset",
    "UnstackVertex": "vertices:unstack",
}
"""Class of a vertex -> module and function, sorted."""
COUNTS: Mapping[str, str] = {
    "ReshapeVertex": "vertices:reshaped_examples",
    "StackVertex": "vertices:stacked_examples",
    "UnstackVertex": "vertices:unstacked_examples",
}
"""Class of a vertex that changes how many examples there are -> module and function that tells how many, sorted."""
PREPROCESSORS: Mapping[str, str] = {
    "Cnn3DToFeedForwardPreProcessor": "preprocessors:to_rows",
    "CnnToFeedForwardPreProcessor": "preprocessors:to_rows",
    "CnnToRnnPreProcessor": "preprocessors:images_to_series",
    "FeedForwardToCnn3DPreProcessor": "preprocessors:from_rows",
    "FeedForwardToCnnPreProcessor": "preprocessors:from_rows",
    "FeedForwardToRnnPreProcessor": "preprocessors:rows_to_series",
    "RnnToCnnPreProcessor": "preprocessors:series_to_images",
    "RnnToFeedForwardPreProcessor": "preprocessors:series_to_rows",
}
"""Class of a preprocessor -> module and function, which gets a `NodeDraft` of it, sorted."""
MISSING: Mapping[str, str] = {}
"""Class that ONNX cannot say -> why, sorted."""


def writer(table: Mapping[str, str], part: object) -> Callable[..., Any] | None:
    """Return the function that writes a part; None where there is none, as for classes of one's own."""
    return function_for(part, table, __name__)


def part_writer(table: Mapping[str, str], part: object) -> Callable[..., Any]:
    """Return the function that writes a part; raise NotInOnnx where there is none."""
    return needed_function(part, table, __name__, MISSING, NotInOnnx, "ONNX")


def layer_written(layer: NodeDraft) -> str:
    """Add a layer, also one inside of another; return its activations."""
    return over_activations(layer, part_writer(LAYERS, layer.conf)(layer))
