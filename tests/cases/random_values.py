"""Legal values for the fields of configurations, drawn by the fields' annotations; the generator decides alone."""

import contextlib
import dataclasses
import types
import typing
from collections.abc import Mapping, Sequence

import numpy as np

import nd
from nd.activations import ACTIVATIONS, Activation
from nd.arguments import NonNegative, Range
from nd.losses import LOSSES, Loss
from nn import (
    BernoulliReconstructionDistribution,
    ExponentialReconstructionDistribution,
    GaussianReconstructionDistribution,
    ReconstructionDistribution,
)
from nn.terms.distributions import DISTRIBUTIONS, Distribution
from nn.terms.dropout import DROPOUTS, IDropout
from nn.terms.weight_noise import WEIGHT_NOISES, IWeightNoise
from nn.terms.weights import WEIGHT_INITS
from optimize import LayerConstraint, Regularization, Schedule, Updater, WeightDecay
from optimize.constraints import CONSTRAINTS
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from optimize.regularization import REGULARIZATIONS
from optimize.schedules import SCHEDULES
from optimize.solvers import OPTIMIZERS
from optimize.step import STEP_FUNCTIONS
from optimize.terminations import TERMINATIONS, TerminationCondition
from optimize.updaters import UPDATERS

TEXTS = {
    "activation": sorted(ACTIVATIONS),
    "bias_updater": sorted(UPDATERS),
    "convolution_mode": ["causal", "same", "strict", "truncate"],
    "data_format": ["NCHW", "NCW", "NCDHW", "NHWC"],
    "dtype": ["float32", "float64"],
    "gate_activation": sorted(ACTIVATIONS),
    "hidden_unit": ["binary", "gaussian", "identity", "rectified", "softmax"],
    "gradient_normalization": sorted(GRADIENT_NORMALIZATIONS),
    "input_format": ["NCHW"],
    "loss": sorted(LOSSES),
    "loss_class_predictions": sorted(LOSSES),
    "loss_position_scale": sorted(LOSSES),
    "mode": ["add", "average", "concat", "mul"],
    "name": ["first", "a name of more words", "ü"],
    "optimization_algo": sorted(OPTIMIZERS),
    "params": ["W", "b"],
    "pooling_type": ["avg", "max", "pnorm", "sum"],
    "pzx_activation": sorted(ACTIVATIONS),
    "reconstruction_loss": sorted(set(LOSSES) - {"mixturedensity"}),
    "schedule_type": ["epoch", "iteration"],
    "step_function": sorted(STEP_FUNCTIONS),
    "updater": sorted(UPDATERS),
    "visible_unit": ["binary", "gaussian", "identity", "linear", "softmax"],
    "weight_init": sorted(WEIGHT_INITS),
    "weight_init_recurrent": sorted(WEIGHT_INITS),
}
"""Field -> what its text may be."""
DISTRIBUTIONS_OF_DATA = {
    kind.__name__: kind
    for kind in (
        BernoulliReconstructionDistribution, ExponentialReconstructionDistribution, GaussianReconstructionDistribution,
    )
}  # fmt: skip
NAMED = {"reconstruction_loss"}
"""Fields of which Java's files have a name alone."""
PARTS = {
    Activation: ACTIVATIONS, Distribution: DISTRIBUTIONS, IDropout: DROPOUTS, IWeightNoise: WEIGHT_NOISES,
    LayerConstraint: CONSTRAINTS, Loss: LOSSES, ReconstructionDistribution: DISTRIBUTIONS_OF_DATA,
    Regularization: REGULARIZATIONS, Schedule: SCHEDULES,
    TerminationCondition: TERMINATIONS, Updater: UPDATERS,
}  # fmt: skip
NUMBERS = {
    "": (-0.5, 0.5), "> 0": (0.01, 1.0), ">= 0": (0.0, 0.5), "in 0..1": (0.0, 1.0), "with 0 < it <= 1": (0.3, 1.0),
    ">= 1 and whole": (1.0, 1.0),
}  # fmt: skip
"""Text of a range -> where numbers are drawn."""
INTEGERS = {"in 1..2147483647": (1, 3), "": (1, 4), ">= 1": (1, 3), ">= 0": (0, 2), "of 64 bits": (-(2**63), 2**63 - 1)}
SIMPLE = {bool: [True, False, np.bool_(True), np.bool_(False)], None: [None], types.NoneType: [None]}
NESTED = 3
"""Parts inside of parts, at most: ramps of ramps."""


def legal(rng, annotation, name, depth=0):
    """Return a value for a field of that annotation and name, now and then one of NumPy's."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        text = next(each.text for each in arguments[1:] if isinstance(each, Range))
        return _number(rng, arguments[0], text)
    if origin in (typing.Union, types.UnionType):
        return legal(rng, rng.choice(arguments), name, depth)
    choices = SIMPLE.get(annotation) or ([{}, {"cacheMode": "HOST"}] if name == "unused" else None)
    if annotation in (int, float):
        return _number(rng, annotation, "")
    if isinstance(annotation, type) and issubclass(annotation, str):
        choices = TEXTS[name]
    if choices is not None:
        return rng.choice(choices)
    if origin in (tuple, Sequence):
        fixed = origin is tuple and ... not in arguments
        kinds = arguments if fixed else arguments[:1] * rng.randint(1, 3)
        return [legal(rng, kind, name, depth + 1) for kind in kinds]
    if origin is Mapping:
        return {0: legal(rng, arguments[1], name, depth), np.int64(2): legal(rng, arguments[1], name, depth)}
    if annotation not in PARTS:
        return made(rng, annotation, depth)
    while True:  # until one is drawn whose fields agree
        with contextlib.suppress(nd.NdError):
            return made(rng, rng.choice(list(PARTS[annotation].values())), depth)


def _number(rng, kind, text):
    if kind is int:
        value = rng.randint(*INTEGERS[text])
        return rng.choice([value, np.int64(value)])
    value = rng.uniform(*NUMBERS[text])
    return rng.choice([value, np.float32(value), np.float64(value), NUMBERS[text][1] if text else 0])


def made(rng, part, depth=0):
    """Return an instance of a part with legal values; may raise an error of the library where two do not agree."""
    if part is WeightDecay:
        return WeightDecay(*legal(rng, tuple[NonNegative | Schedule, bool], "weight_decay", depth))
    hints = typing.get_type_hints(part, include_extras=True)
    values = {}
    for field in dataclasses.fields(part):
        needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
        annotation = hints[field.name]
        if depth >= NESTED and Schedule in typing.get_args(annotation):
            annotation = next(each for each in typing.get_args(annotation) if each is not Schedule)
        if needed or rng.random() < 0.7:
            values[field.name] = legal(rng, annotation, field.name, depth + 1)
    return part(**values)


def varied(rng, conf, share, fixed=()):
    """Return a copy of a configuration of which about that share of fields, the fixed ones apart, have legal values.

    What 0.9's Builders say, `older`, goes over into others of them.
    """
    hints = typing.get_type_hints(type(conf), include_extras=True)
    for field in dataclasses.fields(conf):
        if field.name not in (*fixed, "older") and rng.random() < share:
            with contextlib.suppress(nd.NdError):  # does not agree with the others: stays as it is
                hint = str if field.name in NAMED else hints[field.name]
                conf = dataclasses.replace(conf, **{field.name: legal(rng, hint, field.name)})
    return conf
