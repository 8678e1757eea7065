"""Networks as files of Keras 3: one function for a class of layers or vertices, a file for a family.

Each takes a `Node` and returns the `Value` that is its activations, channels last: Keras' backends for CPUs slide
windows over such arrays alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...conf.parts_by_class import needed_function
from .node import Node, NotInKeras

if TYPE_CHECKING:
    from .draft import Value

LAYERS: Mapping[str, str] = {
    "ActivationLayer": "dense:activation",
    "AutoEncoder": "dense:pretrained",
    "BatchNormalization": "normalizations:batch_normalization",
    "Bidirectional": "recurrent:bidirectional",
    "CenterLossOutputLayer": "dense:center_loss",
    "Cnn3DLossLayer": "dense:loss_of_places",
    "CnnLossLayer": "dense:loss_of_places",
    "Convolution1DLayer": "convolutions:convolution",
    "Convolution3D": "convolutions:convolution",
    "ConvolutionLayer": "convolutions:convolution",
    "Cropping1D": "places:cropping",
    "Cropping2D": "places:cropping",
    "Cropping3D": "places:cropping",
    "Deconvolution2D": "convolutions:deconvolution2d",
    "Deconvolution3D": "convolutions:deconvolution3d",
    "DenseLayer": "dense:dense",
    "DepthwiseConvolution2D": "convolutions:depthwise",
    "DropoutLayer": "wrapping:dropout",
    "ElementWiseMultiplicationLayer": "dense:element_wise_multiplication",
    "EmbeddingLayer": "embedding:embedding",
    "EmbeddingSequenceLayer": "embedding:embedding_sequence",
    "FrozenLayer": "wrapping:frozen",
    "FrozenLayerWithBackprop": "wrapping:frozen",
    "GlobalPoolingLayer": "poolings:global_pooling",
    "IdentityLayer": "dense:nothing",
    "LSTM": "recurrent:recurrent",
    "LastTimeStep": "recurrent:last_time_step",
    "LossLayer": "dense:activation",
    "MaskLayer": "dense:nothing",
    "OCNNOutputLayer": "dense:one_class",
    "OutputLayer": "dense:dense",
    "PReLULayer": "dense:prelu",
    "RBM": "dense:hidden_units",
    "RepeatVector": "dense:repeat_vector",
    "RnnLossLayer": "dense:loss_of_places",
    "RnnOutputLayer": "dense:dense_of_steps",
    "SeparableConvolution2D": "convolutions:separable",
    "SimpleRnn": "recurrent:recurrent",
    "SpaceToDepthLayer": "places:space_to_depth",
    "Subsampling1DLayer": "poolings:pooling",
    "Subsampling3DLayer": "poolings:pooling",
    "SubsamplingLayer": "poolings:pooling",
    "TimeDistributed": "wrapping:time_distributed",
    "Upsampling1D": "places:upsampling",
    "Upsampling2D": "places:upsampling",
    "Upsampling3D": "places:upsampling",
    "VariationalAutoencoder": "dense:variational",
    "ZeroPadding1DLayer": "places:zero_padding",
    "ZeroPadding3DLayer": "places:zero_padding",
    "ZeroPaddingLayer": "places:zero_padding",
}
"""Class of a layer -> module and function, sorted."""
VERTICES: Mapping[str, str] = {
    "DuplicateToTimeSeriesVertex": "vertices:duplicate_to_time_series",
    "ElementWiseVertex": "vertices:element_wise",
    "L2NormalizeVertex": "vertices:l2_normalize",
    "LastTimeStepVertex": "vertices:last_time_step",
    "MergeVertex": "vertices:merge",
    "OnnxVertex": "operators:operator",
    "PoolHelperVertex": "vertices:pool_helper",
    "PreprocessorVertex": "vertices:preprocessor",
    "ReshapeVertex": "vertices:reshape",
    "ScaleVertex": "vertices:scale",
    "ShiftVertex": "vertices:shift",
    "SubsetVertex": "vertices:subset",
}
"""Class of a vertex -> module and function, sorted."""
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
"""Class of a preprocessor -> module and function, which gets a `Node` of it, sorted."""
_PEEPHOLES = "Keras has no LSTM with peepholes"
_ATTENTION = "no layer of Keras has such an attention"
_CAPSULES = "Keras has no capsules"
MISSING: Mapping[str, str] = {
    "AttentionVertex": _ATTENTION,
    "CapsuleLayer": _CAPSULES,
    "CapsuleStrengthLayer": _CAPSULES,
    "GravesBidirectionalLSTM": _PEEPHOLES,
    "GravesLSTM": _PEEPHOLES,
    "L2Vertex": "no layer of Keras takes the distance of two rows",
    "LearnedSelfAttentionLayer": _ATTENTION,
    "LocalResponseNormalization": "Keras has no local response normalisation",
    "LocallyConnected1D": "Keras 3 has no locally connected layers",
    "LocallyConnected2D": "Keras 3 has no locally connected layers",
    "MaskZeroLayer": "Keras' Masking keeps the states of steps that do not count, which are zeros here",
    "PrimaryCapsules": _CAPSULES,
    "RecurrentAttentionLayer": _ATTENTION,
    "ReverseTimeSeriesVertex": "no layer of Keras reverses series",
    "SelfAttentionLayer": _ATTENTION,
    "SpaceToBatchLayer": "no layer of Keras works along the axis of examples",
    "Yolo2OutputLayer": "Keras has nothing like the output of YOLO",
}
"""Class that Keras cannot say -> why, sorted."""


def part_writer(table: Mapping[str, str], part: object) -> Callable[..., Any]:
    """Return the function that writes a part; raise NotInKeras where there is none."""
    return needed_function(part, table, __name__, MISSING, NotInKeras, "Keras")


def layer_written(node: Node) -> Value:
    """Add a layer, also one inside of another, behind its dropout; return its activations."""
    conf = node.conf
    function = part_writer(LAYERS, conf)
    drop_out = getattr(conf, "drop_out", None)
    if drop_out is not None and type(conf).__name__ != "DropoutLayer" and conf.runtime.takes_dropout:
        from .noise import noise

        node = node.around(conf, node.params, noise(node, drop_out, node.x), *node.inputs[1:])
    value: Value = function(node)
    return value
