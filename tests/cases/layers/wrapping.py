"""Rows of the layers around layers over time series, and their oracles: what is inside, step by step in float64."""

from functools import partial

import numpy as np

from nn import (
    Bidirectional,
    Convolution1DLayer,
    DenseLayer,
    GlobalPoolingLayer,
    InputType,
    LastTimeStep,
    MaskZeroLayer,
    TimeDistributed,
)

from .base import TAIL, LayerCase
from .convolutions import convolved, window
from .core import ACTIVATION_ORACLES

SERIES = InputType.recurrent(3, 6)
POOLED = (GlobalPoolingLayer("avg"), *TAIL)

JOINED = {
    "add": lambda a, b: a + b,
    "average": lambda a, b: (a + b) / 2.0,
    "concat": lambda a, b: np.concatenate([a, b], axis=1),
    "mul": lambda a, b: a * b,
}


def both_ways(x, params, oracle, mode):
    """Run the oracle of one direction over the series, and over the series from its end."""
    sides = [{name[1:]: value for name, value in params.items() if name[0] == side} for side in "fb"]
    ahead, back = oracle(x, sides[0]), oracle(np.flip(x, 2), sides[1])
    return JOINED[mode](ahead, np.flip(back, 2) if back.ndim == 3 else back)


def last_step(x, params, oracle):
    return np.stack([series[:, -1] for series in oracle(x, params)])


def at_every_step(x, params, activation):
    W, b = params["W"], params["b"][0]
    steps = [[ACTIVATION_ORACLES[activation](series[:, t] @ W + b) for t in range(x.shape[2])] for series in x]
    return np.array(steps).transpose(0, 2, 1)


def _convolution(kernel, activation="tanh", mode="truncate", **settings):
    layer = Convolution1DLayer(n_out=4, kernel_size=kernel, activation=activation, convolution_mode=mode, **settings)
    return layer, partial(convolved, conf=window(kernel, mode=mode), activation=activation)


def _bidirectional(mode, *inside, tail=POOLED, **settings):
    layer, oracle = _convolution(*inside, **settings)
    case = LayerCase(mode, Bidirectional(layer, mode), SERIES, partial(both_ways, oracle=oracle, mode=mode), tail)
    return case._replace(draws=bool(settings))


def _bidirectional_last():
    layer, oracle = _convolution(2)
    both = partial(both_ways, oracle=partial(last_step, oracle=oracle), mode="concat")
    return LayerCase("of-last-steps", Bidirectional(LastTimeStep(layer)), SERIES, both)


def _last(variant, layer, oracle, draws=False):
    return LayerCase(variant, LastTimeStep(layer), SERIES, partial(last_step, oracle=oracle), draws=draws)


def _wrapped(variant, wrap, inside, tail=POOLED):
    layer, oracle = inside
    return LayerCase(variant, wrap(layer), SERIES, oracle, tail)


def _distributed(variant, activation, **settings):
    layer = TimeDistributed(DenseLayer(n_out=4, activation=activation, **settings))
    draws = bool(settings)
    return LayerCase(variant, layer, SERIES, partial(at_every_step, activation=activation), POOLED, draws=draws)


_INSIDE = _convolution(2)
_BOTH = partial(both_ways, oracle=_INSIDE[1], mode="concat")

WRAPPING_CASES: dict[str, list[LayerCase]] = {
    "bidirectional": [
        *(_bidirectional(mode, 3) for mode in JOINED),
        _bidirectional("mul", 2, "sigmoid", "causal")._replace(variant="mul-causal"),
        _bidirectional("add", 2, drop_out=0.7)._replace(variant="dropped"),
        _bidirectional_last(),
    ],
    "last_time_step": [
        _last("convolution", *_INSIDE),
        _last("dropped", *_convolution(2, drop_out=0.8), draws=True),
        _last("bidirectional", Bidirectional(_INSIDE[0]), _BOTH),
        _last("masked-zeros", MaskZeroLayer(_INSIDE[0]), _INSIDE[1]),
        _last(
            "every-step",
            TimeDistributed(DenseLayer(n_out=4, activation="sigmoid")),
            partial(at_every_step, activation="sigmoid"),
        ),
    ],
    "mask_zero": [
        _wrapped("convolution", MaskZeroLayer, _INSIDE),
        _wrapped("ones", partial(MaskZeroLayer, masking_value=1.0), _convolution(3, "sigmoid")),
    ],
    "time_distributed": [
        _distributed("tanh", "tanh"),
        _distributed("softmax", "softmax"),
        _distributed("dropped", "sigmoid", drop_out=0.7),
    ],
}
"""Name in LAYERS -> rows."""
