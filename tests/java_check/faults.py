"""What Java gets wrong, by name: the only differences that are let pass, each proven by Java alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import nn
import optimize
from nd import activations, losses
from nn.files.java_limits import LIMIT, VECTORS, has_noisy_bias, parts_in
from nn.layers.recurrent.lstm import LstmConf
from nn.terms.weight_noise import IWeightNoise

from .contents import draws
from .results import Result
from .verdict import DERIVATIVES, RELEASES, Fault

M1, M2 = RELEASES[:1], RELEASES[1:]
RUNS, TRAINS = frozenset({"runs"}), frozenset({"trains"})
"""Java fails in it."""
OUTPUT = frozenset({"output", "score", "zip output"})
TRAINED = {"scores", "params", "state", "outputs"}
TRAINING = frozenset({*TRAINED, *(f"opened {quantity}" for quantity in TRAINED)})
"""Java's numbers are others."""
GRADIENT = TRAINING | {"gradient"}
SCORES = frozenset({"scores", "opened scores"})
OUTPUTS = OUTPUT | {"outputs", "opened outputs", "zip outputs"}
MASKED = (nn.GravesBidirectionalLSTM, nn.LastTimeStep, nn.MaskZeroLayer)
"""Layers that look at a mask, or let the one inside look."""
Applies = Callable[[Result], bool]

NORMS = (optimize.MaxNormConstraint, optimize.MinMaxNormConstraint, optimize.UnitNormConstraint)
LOGARITHMS, NEGATIVES = (
    (losses.LossKLD, losses.LossMCXENT, losses.LossPoisson), (activations.Identity, activations.Tanh),
)  # fmt: skip
"""Losses that are not finite for the outputs of these activations."""
ROUNDED = (activations.GELU, activations.HardSigmoid, activations.LeakyReLU, activations.RationalTanh)
SAME_DIFF = (
    nn.CapsuleLayer, nn.CapsuleStrengthLayer, nn.IdentityLayer, nn.LearnedSelfAttentionLayer, nn.LocallyConnected1D,
    nn.LocallyConnected2D, nn.PrimaryCapsules, nn.RecurrentAttentionLayer, nn.SelfAttentionLayer,
)  # fmt: skip
"""Layers that Java makes of SameDiff."""
ACTIVATE_BY_SAME_DIFF = (nn.LocallyConnected1D, nn.LocallyConnected2D, nn.RecurrentAttentionLayer)
VOLUMES = (
    nn.Cnn3DLossLayer, nn.Cnn3DToFeedForwardPreProcessor, nn.Convolution3D, nn.Cropping3D, nn.Deconvolution3D,
    nn.FeedForwardToCnn3DPreProcessor, nn.Subsampling3DLayer, nn.Upsampling3D, nn.ZeroPadding3DLayer,
)  # fmt: skip
ZEROS = (
    activations.HardSigmoid, activations.ReLU, activations.ReLU6, activations.RectifiedTanh,
    activations.ThresholdedReLU,
)  # fmt: skip
"""Activations of which 0 comes out, of whole regions."""
PAST_THE_DROPOUT = (
    nn.CenterLossOutputLayer, nn.Convolution1DLayer, nn.Convolution3D, nn.Deconvolution2D, nn.Deconvolution3D,
    nn.RepeatVector, nn.SpaceToDepthLayer, nn.Upsampling1D,
)  # fmt: skip
"""Layers whose way back does not know of their dropout."""


FROZEN = nn.FrozenLayer, nn.FrozenLayerWithBackprop


def has(kind: type | tuple[type, ...], such: Callable[[Any], bool] = lambda part: True) -> Applies:
    """Return whether a configuration has a part of a class for which something holds."""
    return lambda result: any(isinstance(part, kind) and such(part) for part in parts_in(result.conf))


def is_odd(schedule: optimize.CycleSchedule) -> bool:
    return (schedule.cycle_length - schedule.annealing_length) % 2 == 1


def is_over_everything(norm: Any) -> bool:
    axes = set(norm.dimensions or ())
    return {0, 1} <= axes or (axes == {0} and not VECTORS.isdisjoint(norm.params or ()))


def is_penalised(layer: Any) -> bool:
    return bool(layer.regularization_of(bias=False) or layer.regularization_of(bias=True))


def is_held_as_a_whole(vertex: nn.AttentionVertex) -> bool:
    return vertex.gradient_normalization not in ("none", None) and "param_type" not in vertex.gradient_normalization


def is_without_beta(layer: nn.BatchNormalization) -> bool:
    return layer.lock_gamma_beta and layer.gamma != 1.0 and layer.beta == 0.0


def masks_what_is_not_finite(result: Result) -> bool:
    if not result.name.startswith("mask"):
        return False
    last = result.conf.layers[-1]
    return isinstance(last.loss, LOGARITHMS) and isinstance(last.activation, NEGATIVES)


def is_truncated(result: Result) -> bool:
    return getattr(result.conf, "backprop_type", "") == "truncated_bptt"


def answers_zeros(result: Result) -> bool:
    last = result.conf.layers[-1] if isinstance(result.conf, nn.MultiLayerConfiguration) else None
    return isinstance(getattr(last, "loss", None), losses.LossMCXENT) and isinstance(last.activation, ZEROS)


def is_not_finite_by_softmax(result: Result) -> bool:
    return math.inf in result.distances.values() and has(activations.Softmax)(result)


def masks_steps_of_features_alone(result: Result) -> bool:
    return "features_masked" in result.name or result.name == "mask-steps-of-features"


def has_masked_rows_of_steps(result: Result) -> bool:
    masked = result.name.startswith("mask") or result.name.endswith("-masked")
    return masked and has(nn.TimeDistributed)(result)


def limit(
    name: str, proof: str, releases: Sequence[str] = RELEASES, more: frozenset[str] = frozenset(), is_drawn: bool = True
) -> Fault:
    """Return the fault that the library warns of when it saves; `more` are quantities that may differ beside it."""
    of_library = LIMIT[name]
    differs = more.union(f"{verb}s" for verb in of_library.cannot)
    return Fault(
        name, of_library.reason, lambda result: of_library.applies(result.conf), differs, proof, releases,
        is_drawn=is_drawn,
    )  # fmt: skip


def proven(name: str, proof: str) -> Fault:
    """Return such a fault that no network meets with which is drawn, or handed to Java."""
    return limit(name, proof, is_drawn=False)


FAULTS = (
    # ---- updates
    Fault("softmax far below 0", "of doubles that are all below -745 is NaN", is_not_finite_by_softmax,
          OUTPUT | GRADIENT, "softmax far below 0"),
    limit("AdaBelief", "adabelief", M2),
    limit("RBM", "restricted Boltzmann machine", more=frozenset({"builds"})),
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
    limit("equal norms", "equal norms"),
    limit("norm of a bias of LocallyConnected", "norm of a locally connected bias"),
    limit("norm of a bias", "norm of a bias", M2),
    limit("norm of a scalar", "norm of a scalar"),
    limit("norm of factors", "norm of factors", M2),
    Fault("norm of all weights", "fails", has(NORMS, is_over_everything), TRAINS, "norm of all weights", M1),
    Fault("norms of Convolution1DLayer", "take the weights for others: they lie in another order",
          has(nn.Convolution1DLayer, lambda layer: layer.constraints), TRAINING, "norm of a series' kernel"),
    # ---- what fails
    limit("first layer of images", "first layer without parameters"),
    limit("IdentityLayer at the input", "identity at the input"),
    limit("MaskLayer at the input", "mask at the input"),
    limit("BatchNormalization over volumes", "batch normalisation of volumes"),
    limit("wide response normalisation", "wide response normalisation"),
    limit("RnnOutputLayer without a bias", "time steps without bias"),
    limit("OCNNOutputLayer with dropout", "one class with dropout"),
    limit("SpaceToBatchLayer with dropout", "blocks with dropout"),
    limit("PReLULayer with shared axes", "shared slopes"),
    limit("activations of SameDiff layers", "activations of SameDiff"),
    limit("LearnedSelfAttentionLayer", "learned queries"),
    limit("layers that are not recurrent", "what is not recurrent inside"),
    limit("Bidirectional of LastTimeStep", "last steps in both directions"),
    limit("SimpleRnn with layer normalisation", "normalised recurrent layer"),
    limit("noise of no bias", "noise of no bias"),
    limit("RnnLossLayer of series NWC", "losses of series NWC", more=OUTPUT | GRADIENT),
    Fault("layer normalisation", "fails", has(nn.DenseLayer, lambda layer: layer.has_layer_norm), RUNS,
          "layer normalisation", M1),
    Fault("volumes", "that the file has channels first is not read", has(VOLUMES),
          RUNS | TRAINS | OUTPUT | GRADIENT | {"zip outputs"}, "volumes", M1),
    # ---- what no network here meets with
    proven("Convolution1DLayer of series NWC", "convolution of series NWC"),
    proven("SimpleRnn of series NWC with dropout", "dropout of a recurrent layer of series NWC"),
    proven("output that is read", "output that is read"),
    proven("L2NormalizeVertex in double precision", "norm of images in double precision"),
    proven("L2NormalizeVertex over some axes", "norm of images over their channels"),
    proven("MergeVertex of volumes NDHWC", "merged volumes"),
    proven("PoolHelperVertex", "helper of pooling"),
    proven("PoolHelperVertex, channels last", "helper of pooling, channels last"),
    proven("SubsetVertex, channels last", "subset of channels that come last"),
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
          OUTPUTS, "noise of biases"),
    Fault("noise of a frozen layer's biases", "is there when nothing is trained",
          has(nn.FrozenLayer, lambda layer: has_noisy_bias(layer.innermost)), GRADIENT, "noise of biases"),
    Fault("single precision", "is that of the constants of some activations, whatever the network's",
          has(ROUNDED), OUTPUT | GRADIENT, "constants", limit=1e-5),
    # ---- noise
    Fault("RnnOutputLayer with dropout", "has the score of all inputs, not of those that are left",
          has(nn.RnnOutputLayer, lambda layer: layer.drop_out), SCORES, "score of time steps with dropout"),
    Fault("RnnOutputLayer with weight noise", "draws it once more for the score",
          has(nn.RnnOutputLayer, lambda layer: layer.weight_noise), TRAINING, "noise of time steps"),
    Fault("CenterLossOutputLayer with weight noise", "draws it once more for the score",
          has(nn.CenterLossOutputLayer, lambda layer: layer.weight_noise), TRAINING, "noise of centers"),
    limit("FrozenLayerWithBackprop", "noise of frozen layers", more=GRADIENT),
    Fault("LBFGS above frozen layers", "fails: it takes the gradient for one of all parameters",
          lambda result: result.conf.base.optimization_algo == "lbfgs" and has(FROZEN)(result),
          TRAINS, "LBFGS above frozen layers"),
    Fault("AutoEncoder", "drops inputs on its way back alone",
          has(nn.AutoEncoder, lambda layer: layer.drop_out), GRADIENT, "dropout of an autoencoder"),
    limit("VariationalAutoencoder with weight noise", "weight noise of a variational autoencoder"),
    Fault("ElementWiseMultiplicationLayer", "drops inputs on its way back alone",
          has(nn.ElementWiseMultiplicationLayer, lambda layer: layer.drop_out), GRADIENT, "dropout of single weights"),
    Fault("dropout of layers that hand errors past it", "inputs that are dropped get errors all the same",
          has(PAST_THE_DROPOUT, lambda layer: layer.drop_out), GRADIENT, "errors of dropped inputs"),
    limit("SpatialDropout of RnnOutputLayer", "dropout of channels of time steps"),
    Fault("loss layers", "have the score of what the gradient has overwritten", has(nn.LossLayer), SCORES,
          "score of a loss layer"),
    limit("CnnLossLayer of class numbers", "class numbers of pixels"),
    limit("Bidirectional in Bidirectional", "both directions in both directions"),
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
    Fault("noise below YOLO", "is another from step 2 on: the loss moves the random generator",
          lambda result: has(nn.Yolo2OutputLayer)(result) and draws(result.conf), TRAINING, "numbers of a line"),
    Fault("OCNNOutputLayer", "the gradient is wrong", has(nn.OCNNOutputLayer), GRADIENT | {"score"}, DERIVATIVES),
)  # fmt: skip
