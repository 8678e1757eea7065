"""String enums: ``"relu"`` works wherever ``Activation.RELU`` does.

`Activation` and `Updater` are the base classes of `nd` and `optimize`, which have the names too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from nd.activations import Activation as Activation
from nd.java_enums import JavaEnum
from nd.losses import LOSSES
from optimize import Updater as Updater

if TYPE_CHECKING:
    from nd.losses.base import Loss


class BackpropType(JavaEnum):
    """Whether series are trained on in one piece, or in segments one after the other."""

    STANDARD = "standard"
    TRUNCATED_BPTT = "truncated_bptt"


OF_SERIES = ("backprop_type", "tbptt_fwd_length", "tbptt_back_length", "tbptt_exact")
"""Fields of `MultiLayerConfiguration` that say how series are trained on."""
JAVA_BACKPROP_TYPES = {"Standard": "standard", "TruncatedBPTT": "truncated_bptt"}
"""Name in Java's JSON -> ours."""


class CNN2DFormat(JavaEnum):
    """Order of the axes of images."""

    NCHW = "NCHW"
    NHWC = "NHWC"


class DataFormat(JavaEnum):
    """Order of the axes of volumes: Java's ``Convolution3D.DataFormat``."""

    NCDHW = "NCDHW"
    NDHWC = "NDHWC"


class OptimizationAlgorithm(JavaEnum):
    """Ways to improve the parameters on a minibatch."""

    CONJUGATE_GRADIENT = "conjugate_gradient"
    LBFGS = "lbfgs"
    LINE_GRADIENT_DESCENT = "line_gradient_descent"
    STOCHASTIC_GRADIENT_DESCENT = "stochastic_gradient_descent"


class WeightInit(JavaEnum):
    """Starts of weights; formulas in `nn.terms.weights`."""

    DISTRIBUTION = "distribution"
    IDENTITY = "identity"
    LECUN_NORMAL = "lecun_normal"
    LECUN_UNIFORM = "lecun_uniform"
    NORMAL = "normal"
    ONES = "ones"
    RELU = "relu"
    RELU_UNIFORM = "relu_uniform"
    SIGMOID_UNIFORM = "sigmoid_uniform"
    UNIFORM = "uniform"
    VAR_SCALING_NORMAL_FAN_AVG = "var_scaling_normal_fan_avg"
    VAR_SCALING_NORMAL_FAN_IN = "var_scaling_normal_fan_in"
    VAR_SCALING_NORMAL_FAN_OUT = "var_scaling_normal_fan_out"
    VAR_SCALING_UNIFORM_FAN_AVG = "var_scaling_uniform_fan_avg"
    VAR_SCALING_UNIFORM_FAN_IN = "var_scaling_uniform_fan_in"
    VAR_SCALING_UNIFORM_FAN_OUT = "var_scaling_uniform_fan_out"
    XAVIER = "xavier"
    XAVIER_FAN_IN = "xavier_fan_in"
    XAVIER_LEGACY = "xavier_legacy"
    XAVIER_UNIFORM = "xavier_uniform"
    ZERO = "zero"


class LossFunction(JavaEnum):
    """Loss functions; formulas in `nd.losses`."""

    def get_i_loss_function(self) -> Loss:
        """Return the function."""
        from nd.losses import get_loss

        return get_loss(self)

    COSINE_PROXIMITY = "cosine_proximity"
    FMEASURE = "fmeasure"
    HINGE = "hinge"
    KL_DIVERGENCE = "kl_divergence"
    L1 = "l1"
    L2 = "l2"
    MCXENT = "mcxent"
    MEAN_ABSOLUTE_ERROR = "mean_absolute_error"
    MEAN_ABSOLUTE_PERCENTAGE_ERROR = "mean_absolute_percentage_error"
    MEAN_SQUARED_LOGARITHMIC_ERROR = "mean_squared_logarithmic_error"
    MIXTUREDENSITY = "mixturedensity"
    MSE = "mse"
    MULTILABEL = "multilabel"
    NEGATIVELOGLIKELIHOOD = "negativeloglikelihood"
    POISSON = "poisson"
    RECONSTRUCTION_CROSSENTROPY = "reconstruction_crossentropy"
    SPARSE_MCXENT = "sparse_mcxent"
    SQUARED_HINGE = "squared_hinge"
    SQUARED_LOSS = "squared_loss"
    WASSERSTEIN = "wasserstein"
    XENT = "xent"

    _ignore_ = "_members _name"
    _members = vars()
    for _name in LOSSES:  # those that Java has no name for have one too, which type checkers do not see
        if _name.upper() not in _members:
            _members[_name.upper()] = _name


class PoolingType(JavaEnum):
    """Functions that pooling computes."""

    AVG = "avg"
    MAX = "max"
    PNORM = "pnorm"
    SUM = "sum"


class ConvolutionMode(JavaEnum):
    """Ways for windows to meet the edge; see `nd.arrays.convolution.make_window`."""

    CAUSAL = "causal"
    SAME = "same"
    STRICT = "strict"
    TRUNCATE = "truncate"


class GradientNormalization(JavaEnum):
    """Changes of a layer's gradient before regularisation; formulas in `optimize.gradient_normalization`."""

    CLIP_ELEMENT_WISE_ABSOLUTE_VALUE = "clip_element_wise_absolute_value"
    CLIP_L2_PER_LAYER = "clip_l2_per_layer"
    CLIP_L2_PER_PARAM_TYPE = "clip_l2_per_param_type"
    NONE = "none"
    RENORMALIZE_L2_PER_LAYER = "renormalize_l2_per_layer"
    RENORMALIZE_L2_PER_PARAM_TYPE = "renormalize_l2_per_param_type"
