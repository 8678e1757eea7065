"""What a layer at work says of itself: its kind in Java, its configuration, its penalties."""

from __future__ import annotations

from typing import Any

import nd
from nd.arguments import checked
from nd.java_enums import JavaEnum
from optimize import L1Regularization, L2Regularization, Regularization

from ..terms.params import LayerParams


class LayerType(JavaEnum):
    """Kinds of layers at work: Java's ``Layer.Type``."""

    CONVOLUTIONAL = "convolutional"
    CONVOLUTIONAL3D = "convolutional3d"
    FEED_FORWARD = "feed_forward"
    MULTILAYER = "multilayer"
    NORMALIZATION = "normalization"
    RECURRENT = "recurrent"
    RECURSIVE = "recursive"
    SUBSAMPLING = "subsampling"
    UPSAMPLING = "upsampling"


_FEED_FORWARD = LayerType.FEED_FORWARD
LAYER_TYPES = {
    "BatchNormalization": LayerType.NORMALIZATION,
    "Bidirectional": LayerType.RECURRENT,
    "Cnn3DLossLayer": LayerType.CONVOLUTIONAL3D,
    "CnnLossLayer": LayerType.CONVOLUTIONAL,
    "ConvolutionConf": LayerType.CONVOLUTIONAL,
    "Cropping1D": LayerType.CONVOLUTIONAL,
    "Cropping2D": LayerType.CONVOLUTIONAL,
    "Cropping3D": LayerType.CONVOLUTIONAL3D,
    "Deconvolution3D": _FEED_FORWARD,
    "EmbeddingSequenceLayer": LayerType.RECURRENT,
    "GlobalPoolingLayer": LayerType.SUBSAMPLING,
    "LastTimeStep": _FEED_FORWARD,
    "LocalResponseNormalization": LayerType.NORMALIZATION,
    "LocallyConnectedConf": _FEED_FORWARD,
    "LstmConf": LayerType.RECURRENT,
    "MaskZeroLayer": LayerType.RECURRENT,
    "RepeatVector": LayerType.UPSAMPLING,
    "RnnLossLayer": LayerType.RECURRENT,
    "RnnOutputLayer": LayerType.RECURRENT,
    "SpaceToBatchLayer": LayerType.CONVOLUTIONAL,
    "SpaceToDepthLayer": LayerType.CONVOLUTIONAL,
    "Subsampling3DLayer": LayerType.SUBSAMPLING,
    "SubsamplingLayer": LayerType.SUBSAMPLING,
    "Upsampling1D": LayerType.UPSAMPLING,
    "Upsampling2D": LayerType.UPSAMPLING,
    "Upsampling3D": LayerType.UPSAMPLING,
    "ZeroPadding1DLayer": LayerType.RECURRENT,
    "ZeroPadding3DLayer": LayerType.CONVOLUTIONAL,
    "ZeroPaddingLayer": LayerType.CONVOLUTIONAL,
}
"""Class of a configuration, or its nearest base -> what Java's layer says; others are FEED_FORWARD. Sorted."""


def layer_type(conf: Any) -> LayerType:
    """Return the kind of the layer of a configuration; wrappers that are no kind of their own have that of the inside.

    Notes
    -----
    Source: ``type()`` of DL4J 1.0.0-M2.1's layers. There SimpleRnn and layers of SameDiff are FEED_FORWARD too.
    """
    for base in type(conf).__mro__:
        if base.__name__ in LAYER_TYPES:
            return LAYER_TYPES[base.__name__]
    return _FEED_FORWARD if conf.innermost is conf else layer_type(conf.innermost)


class SaysItsKind:
    """Shared by layers at work."""

    conf: Any
    params: LayerParams

    def type(self) -> LayerType:
        """Return what kind of layer it is: CONVOLUTIONAL, RECURRENT, ...: see `layer_type`."""
        return layer_type(self.conf)

    def layer_conf(self) -> Any:
        """Return the layer's configuration, `conf`."""
        return self.conf

    @checked
    def calc_l1(self, backprop_params_only: bool = True) -> float:
        """Return L1's part of the penalties on this layer's parameters, of a schedule with its first value."""
        return _penalty_by(L1Regularization, self, backprop_params_only)

    @checked
    def calc_l2(self, backprop_params_only: bool = True) -> float:
        """Return L2's part of the penalties on this layer's parameters, of a schedule with its first value."""
        return _penalty_by(L2Regularization, self, backprop_params_only)


def _penalty_by(kind: type[Regularization], layer: SaysItsKind, backprop_params_only: bool) -> float:
    """Return the part of a layer's penalties that is of one kind."""
    total = 0.0
    for spec in layer.conf.param_specs():
        resting = spec.pretrained and backprop_params_only
        if spec.running or resting or not spec.penalised:
            continue
        penalties = [one for one in layer.conf.regularization_of(spec.bias) if isinstance(one, kind)]
        scores = (one.score(nd.reshape(layer.params[spec.name], (-1,)), one.at(0, 0)) for one in penalties)
        total += sum(nd.item(nd.as_array(score)) for score in scores)
    return total
