"""What Java gets wrong, by name: the only differences that are let pass, each proven by Java alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nn
import optimize
from nd import activations, losses
from nn.conf.input_type import ConvolutionalType
from nn.conf.weight_noise import IWeightNoise
from nn.layers.recurrent.base import RecurrentConf
from nn.layers.recurrent.lstm import LstmConf

from .contents import parts_in
from .results import Result
from .verdict import DERIVATIVES, RELEASES, Fault

M1, M2 = RELEASES[:1], RELEASES[1:]
OPENS, RUNS, TRAINS = frozenset({"opens"}), frozenset({"runs"}), frozenset({"trains"})
"""Java fails in it."""
OUTPUT = frozenset({"output", "score", "zip output"})
TRAINED = {"scores", "params", "state", "outputs"}
TRAINING = frozenset({*TRAINED, *(f"opened {quantity}" for quantity in TRAINED)})
"""Java's numbers are others."""
GRADIENT = TRAINING | {"gradient"}
MASKED = (nn.GravesBidirectionalLSTM, nn.LastTimeStep, nn.MaskZeroLayer)
"""Layers that look at a mask, or let the one inside look."""
Applies = Callable[[Result], bool]

NORMS = (optimize.MaxNormConstraint, optimize.MinMaxNormConstraint, optimize.UnitNormConstraint)
VECTORS = {"b", "bB", "bF", "bb", "beta", "fb", "g", "gamma", "log10stdev", "mean", "var"}
"""Parameters that have one axis since 1.0.0-M2."""
LOGARITHMS, NEGATIVES = (
    (losses.LossKLD, losses.LossMCXENT, losses.LossPoisson), (activations.Identity, activations.Tanh),
)  # fmt: skip
"""Losses that are not finite for the outputs of these activations."""
ROUNDED = (activations.GELU, activations.HardSigmoid, activations.LeakyReLU, activations.RationalTanh)
SAME_DIFF = (
    nn.CapsuleLayer, nn.CapsuleStrengthLayer, nn.LearnedSelfAttentionLayer, nn.LocallyConnected1D,
    nn.LocallyConnected2D, nn.PrimaryCapsules, nn.RecurrentAttentionLayer, nn.SelfAttentionLayer,
)  # fmt: skip
"""Layers that Java makes of SameDiff."""
ACTIVATE_BY_SAME_DIFF = (nn.LocallyConnected1D, nn.LocallyConnected2D, nn.RecurrentAttentionLayer)
NOT_IN_SAME_DIFF = (
    activations.HardSigmoid, activations.Mish, activations.RReLU, activations.RationalTanh, activations.ReLU6,
    activations.RectifiedTanh, activations.SELU, activations.Swish, activations.ThresholdedReLU,
)  # fmt: skip
VOLUMES = (
    nn.Cnn3DLossLayer, nn.Cnn3DToFeedForwardPreProcessor, nn.Convolution3D, nn.Cropping3D, nn.Deconvolution3D,
    nn.FeedForwardToCnn3DPreProcessor, nn.Subsampling3DLayer, nn.Upsampling3D, nn.ZeroPadding3DLayer,
)  # fmt: skip
ZEROS = (
    activations.HardSigmoid, activations.ReLU, activations.ReLU6, activations.RectifiedTanh,
    activations.ThresholdedReLU,
)  # fmt: skip
"""Activations of which 0 comes out, of whole regions."""
NO_ARRAYS = (nn.ActivationLayer, nn.Cropping2D, nn.DropoutLayer, nn.PReLULayer)
"""Layers whose output is in the memory of their input."""


def has(kind: type | tuple[type, ...], such: Callable[[Any], bool] = lambda part: True) -> Applies:
    """Return whether a configuration has a part of a class for which something holds."""
    return lambda result: any(isinstance(part, kind) and such(part) for part in parts_in(result.conf))


def is_odd(schedule: optimize.CycleSchedule) -> bool:
    return (schedule.cycle_length - schedule.annealing_length) % 2 == 1


def is_over_vectors(norm: Any) -> bool:
    return not VECTORS.isdisjoint(norm.params or ()) and max(norm.dimensions or (1,)) > 0


def is_over_everything(norm: Any) -> bool:
    axes = set(norm.dimensions or ())
    return {0, 1} <= axes or (axes == {0} and not VECTORS.isdisjoint(norm.params or ()))


def is_penalised(layer: Any) -> bool:
    return bool(layer.regularization_of(bias=False) or layer.regularization_of(bias=True))


def is_held_as_a_whole(vertex: nn.AttentionVertex) -> bool:
    return vertex.gradient_normalization not in ("none", None) and "param_type" not in vertex.gradient_normalization


def is_without_beta(layer: nn.BatchNormalization) -> bool:
    return layer.lock_gamma_beta and layer.gamma != 1.0 and layer.beta == 0.0


def begins_with_images(result: Result) -> bool:
    if not isinstance(result.conf, nn.MultiLayerConfiguration):
        return False
    return isinstance(result.conf.input_type, ConvolutionalType) and isinstance(result.conf.layers[0], NO_ARRAYS)


def masks_what_is_not_finite(result: Result) -> bool:
    if not result.name.startswith("mask"):
        return False
    last = result.conf.layers[-1]
    return isinstance(last.loss, LOGARITHMS) and isinstance(last.activation, NEGATIVES)


def has_noisy_bias(layer: Any) -> bool:
    return isinstance(layer.weight_noise, IWeightNoise) and layer.weight_noise.apply_to_biases


def is_truncated(result: Result) -> bool:
    return getattr(result.conf, "backprop_type", "") == "truncated_bptt"


def answers_zeros(result: Result) -> bool:
    last = result.conf.layers[-1] if isinstance(result.conf, nn.MultiLayerConfiguration) else None
    return isinstance(getattr(last, "loss", None), losses.LossMCXENT) and isinstance(last.activation, ZEROS)


def masks_steps_of_features_alone(result: Result) -> bool:
    return "features_masked" in result.name or result.name == "mask-steps-of-features"


def has_masked_rows_of_steps(result: Result) -> bool:
    masked = result.name.startswith("mask") or result.name.endswith("-masked")
    return masked and has(nn.TimeDistributed)(result)


FAULTS = (
    # ---- updates
    Fault("AdaBelief", "neither trains nor opens: two arrays of state are taken where it has one",
          has(optimize.AdaBelief), OPENS | TRAINS, "adabelief", M2),
    Fault("PolySchedule", "grows where it has to fall", has(optimize.PolySchedule), TRAINING | {"score"},
          "poly schedule"),
    Fault("CycleSchedule", "of an odd length has a step at ten times the initial rate",
          has(optimize.CycleSchedule, is_odd), TRAINING | {"score"}, "cycle schedule"),
    Fault("minimize=False", "is ignored", lambda result: not result.conf.base.minimize, TRAINING, "maximise"),
    Fault("searches along lines", "take plain steps, and run the updater twice",
          lambda result: result.conf.base.optimization_algo != "stochastic_gradient_descent", TRAINING,
          "search along a line"),
    Fault("no parameters", "the score of a step is 0", lambda result: not result.conf.layout().length,
          frozenset({"scores"}), "no parameters"),
    Fault("penalties of depthwise layers", "move the weights by other numbers",
          has((nn.DepthwiseConvolution2D, nn.SeparableConvolution2D), is_penalised), TRAINING, "penalty of depthwise"),
    Fault("penalties of AttentionVertex", "are not in the score", has(nn.AttentionVertex, is_penalised),
          frozenset({"score", "scores", "opened scores"}), "penalty of a vertex"),
    Fault("penalties of SameDiff layers", "are not in the score", has(SAME_DIFF, is_penalised),
          frozenset({"score", "scores", "opened scores"}), "penalty of SameDiff"),
    Fault("normalisation of AttentionVertex", "its gradient is not held to anything as a whole",
          has(nn.AttentionVertex, is_held_as_a_whole), TRAINING, "normalisation of a vertex"),
    # ---- constraints
    Fault("constraints twice", "each is applied twice: what shrinks by 1e-6 shrinks by 2e-6", has(NORMS), TRAINING,
          "constraints twice", limit=2e-3),
    Fault("MinMaxNormConstraint", "with a rate moves norms that are within",
          has(optimize.MinMaxNormConstraint, lambda norm: norm.rate < 1.0), TRAINING, "rate of min max norm"),
    Fault("equal norms", "MinMaxNormConstraint fails where both are equal",
          has(optimize.MinMaxNormConstraint, lambda norm: norm.min == norm.max), TRAINS, "equal norms"),
    Fault("norm of a bias of LocallyConnected", "a bias is a vector, and a norm over its axis 1 fails",
          has((nn.LocallyConnected1D, nn.LocallyConnected2D),
              lambda layer: any(isinstance(norm, NORMS) and is_over_vectors(norm) for norm in layer.constraints or ())),
          TRAINS, "norm of a locally connected bias"),
    Fault("norm of a bias", "a bias is a vector, and a norm over its axis 1 fails", has(NORMS, is_over_vectors),
          TRAINS, "norm of a bias", M2),
    Fault("norm of a scalar", "fails", has(NORMS, lambda norm: "r" in (norm.params or ())), TRAINS, "norm of a scalar"),
    Fault("norm of all weights", "fails", has(NORMS, is_over_everything), TRAINS, "norm of all weights", M1),
    Fault("norms of Convolution1DLayer", "take the weights for others: they lie in another order",
          has(nn.Convolution1DLayer, lambda layer: layer.constraints), TRAINING, "norm of a series' kernel"),
    # ---- what fails
    Fault("first layer of images", "fails where its output is in no memory of its own", begins_with_images,
          RUNS | TRAINS, "first layer without parameters"),
    Fault("wide response normalisation", "fails: the window is wider than the channels",
          has(nn.LocalResponseNormalization), RUNS, "wide response normalisation"),
    Fault("RnnOutputLayer without a bias", "fails", has(nn.RnnOutputLayer, lambda layer: not layer.has_bias), RUNS,
          "time steps without bias"),
    Fault("OCNNOutputLayer with dropout", "fails", has(nn.OCNNOutputLayer, lambda layer: layer.drop_out), TRAINS,
          "one class with dropout"),
    Fault("SpaceToBatchLayer with dropout", "fails", has(nn.SpaceToBatchLayer, lambda layer: layer.drop_out), TRAINS,
          "blocks with dropout"),
    Fault("PReLULayer with shared axes", "fails", has(nn.PReLULayer, lambda layer: layer.shared_axes), TRAINS,
          "shared slopes"),
    Fault("activations of SameDiff layers", "are not all there",
          has(ACTIVATE_BY_SAME_DIFF, lambda layer: type(layer.activation) in NOT_IN_SAME_DIFF),
          RUNS, "activations of SameDiff"),
    Fault("LearnedSelfAttentionLayer", "fails", has(nn.LearnedSelfAttentionLayer), RUNS, "learned queries"),
    Fault("layers that are not recurrent", "inside of LastTimeStep and Bidirectional: fail",
          has((nn.Bidirectional, nn.LastTimeStep), lambda layer: not isinstance(layer.innermost, RecurrentConf)), RUNS,
          "what is not recurrent inside"),
    Fault("Bidirectional of LastTimeStep", "has no updater",
          has(nn.Bidirectional, lambda layer: isinstance(layer.layer, nn.LastTimeStep)), OPENS | TRAINS,
          "last steps in both directions"),
    Fault("SimpleRnn with layer normalisation", "fails", has(nn.SimpleRnn, lambda layer: layer.has_layer_norm), RUNS,
          "normalised recurrent layer"),
    Fault("noise of no bias", "a layer without a bias fails where biases have noise",
          has((nn.DenseLayer, nn.OutputLayer), lambda layer: not layer.has_bias and has_noisy_bias(layer)), RUNS,
          "noise of no bias"),
    Fault("RnnLossLayer of series NWC", "takes its input for the labels",
          has(nn.RnnLossLayer, lambda layer: layer.data_format == "NWC"), RUNS | OUTPUT | GRADIENT,
          "losses of series NWC"),
    Fault("layer normalisation", "fails", has(nn.DenseLayer, lambda layer: layer.has_layer_norm), RUNS,
          "layer normalisation", M1),
    Fault("volumes", "that the file has channels first is not read", has(VOLUMES), RUNS | TRAINS | OUTPUT | GRADIENT,
          "volumes", M1),
    # ---- outputs
    Fault("leaky ReLU of SameDiff layers", "has the slope 0",
          has(ACTIVATE_BY_SAME_DIFF, lambda layer: isinstance(layer.activation, activations.LeakyReLU)),
          OUTPUT | GRADIENT, "leaky ReLU of SameDiff"),
    Fault("steps that are masked", "in the features alone count in the loss of an RnnOutputLayer",
          masks_steps_of_features_alone, OUTPUT | GRADIENT, "steps that are masked"),
    Fault("masks of TimeDistributed", "are read in another order than the rows", has_masked_rows_of_steps,
          OUTPUT | GRADIENT | {"zip outputs"}, "mask of every step"),
    Fault("MaskZeroLayer in pieces", "is passed by: blank steps count", has(nn.MaskZeroLayer), frozenset({"steps"}),
          "blank steps in pieces"),
    Fault("MaskZeroLayer in segments", "is passed by: blank steps count",
          lambda result: is_truncated(result) and has(nn.MaskZeroLayer)(result), GRADIENT, "blank steps in pieces"),
    Fault("logarithm of 0", "where an output is 0 the score is NaN, also where the label is 0", answers_zeros,
          frozenset({"score", "scores"}), "logarithm of 0"),
    Fault("noise of biases", "is there when nothing is trained", has(IWeightNoise, lambda noise: noise.apply_to_biases),
          OUTPUT, "noise of biases"),
    Fault("single precision", "is that of the constants of some activations, whatever the network's",
          has(ROUNDED), OUTPUT | GRADIENT, "constants", limit=1e-5),
    # ---- gradients
    Fault("BatchNormalization(minibatch=False)", "is ignored: the running statistics are means all the same",
          has(nn.BatchNormalization, lambda layer: not layer.minibatch), GRADIENT, "one minibatch"),
    Fault("masked examples", "whose gradient is not finite make the whole one NaN", masks_what_is_not_finite, GRADIENT,
          "masked example"),
    Fault("locked BatchNormalization", "leaves gamma out where beta is 0, but not of the gradient",
          has(nn.BatchNormalization, is_without_beta), GRADIENT, DERIVATIVES),
    Fault("masks of LSTM layers", "errors go past them: in a gap, or before the first step that counts",
          has(MASKED, lambda layer: isinstance(layer.innermost, LstmConf)), GRADIENT, DERIVATIVES),
    Fault("gradients of SameDiff layers", "are doubled", has((nn.AttentionVertex, *SAME_DIFF)),
          GRADIENT, DERIVATIVES, M2),
    Fault("ELU", "the gradient is that of alpha = 1", has(activations.ELU, lambda elu: elu.alpha != 1.0), GRADIENT,
          DERIVATIVES),
    Fault("ReLU(max=0)", "the gradient is that of no limit", has(activations.ReLU, lambda relu: relu.max == 0.0),
          GRADIENT, DERIVATIVES),
    Fault("GELU(precise=True)", "the gradient is a little off", has(activations.GELU, lambda gelu: gelu.precise),
          GRADIENT, DERIVATIVES),
    Fault("LocalResponseNormalization", "the gradient is wrong with constants of one's own",
          has(nn.LocalResponseNormalization), GRADIENT, DERIVATIVES),
    Fault("OCNNOutputLayer", "the gradient is wrong", has(nn.OCNNOutputLayer), GRADIENT | {"score"}, DERIVATIVES),
)  # fmt: skip
