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
    SimpleRnn,
    TimeDistributed,
)

from .base import TAIL, LayerCase, every
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


def _recurrent(**settings):
    return SimpleRnn(n_out=4, activation="tanh", **settings), step_by_step


def step_by_step(x, params):
    """A SimpleRnn with tanh."""
    W, RW, b = (params[name] for name in ("W", "RW", "b"))
    h, steps = np.zeros((len(x), len(RW))), []
    for t in range(x.shape[2]):
        h = np.tanh(x[:, :, t] @ W + h @ RW + b)
        steps.append(h)
    return np.stack(steps, axis=2)


def _convolution(kernel, activation="tanh", mode="truncate", **settings):
    layer = Convolution1DLayer(n_out=4, kernel_size=kernel, activation=activation, convolution_mode=mode, **settings)
    return layer, partial(convolved, conf=window(kernel, mode=mode), activation=activation)


def _bidirectional(variant, mode, inside, silences=True, **said):
    layer, oracle = inside
    both = partial(both_ways, oracle=oracle, mode=mode)
    return LayerCase(variant, Bidirectional(layer, mode), SERIES, both, POOLED, silences=silences, **said)


def _bidirectional_last():
    layer, oracle = _recurrent()
    both = partial(both_ways, oracle=partial(last_step, oracle=oracle), mode="concat")
    return LayerCase("of-last-steps", Bidirectional(LastTimeStep(layer)), SERIES, both, silences=True, ends_masks=True)


def _last(variant, layer, oracle, silences=True, **said):
    return LayerCase(variant, LastTimeStep(layer), SERIES, partial(last_step, oracle=oracle), silences=silences, **said)


def _wrapped(variant, wrap, inside, tail=POOLED):
    layer, oracle = inside
    return LayerCase(variant, wrap(layer), SERIES, oracle, tail)


def _distributed(variant, activation, **settings):
    layer = TimeDistributed(DenseLayer(n_out=4, activation=activation, **settings))
    draws = bool(settings)
    return LayerCase(variant, layer, SERIES, partial(at_every_step, activation=activation), POOLED, draws=draws)


_INSIDE, _RECURRENT = _convolution(2), _recurrent()
_BOTH = partial(both_ways, oracle=step_by_step, mode="concat")

WRAPPING_CASES: dict[str, list[LayerCase]] = {
    "bidirectional": [
        *(_bidirectional(mode, mode, _RECURRENT) for mode in JOINED),
        _bidirectional("mul-causal", "mul", _convolution(2, "sigmoid", "causal"), silences=False),
        _bidirectional("dropped", "add", _recurrent(drop_out=0.7), draws=True),
        _bidirectional_last(),
        _bidirectional(
            "of-both",
            "average",
            (Bidirectional(_RECURRENT[0], "mul"), partial(both_ways, oracle=step_by_step, mode="mul")),
        ),
    ],
    "last_time_step": every(
        [
            _last("recurrent", *_RECURRENT),
            _last("dropped", *_recurrent(drop_out=0.8), draws=True),
            _last("convolution", *_INSIDE, silences=False),
            _last("bidirectional", Bidirectional(_RECURRENT[0]), _BOTH),
            _last("masked-zeros", MaskZeroLayer(_RECURRENT[0]), step_by_step, silences=False),
            _last(
                "every-step",
                TimeDistributed(DenseLayer(n_out=4, activation="sigmoid")),
                partial(at_every_step, activation="sigmoid"),
            ),
        ],
        ends_masks=True,
    ),
    "mask_zero": every(
        [
            _wrapped("recurrent", MaskZeroLayer, _RECURRENT),
            _wrapped("ones", partial(MaskZeroLayer, masking_value=1.0), _INSIDE),
        ],
        ends_masks=True,
    ),
    "time_distributed": every(
        [
            _distributed("tanh", "tanh"),
            _distributed("softmax", "softmax"),
            _distributed("dropped", "sigmoid", drop_out=0.7),
        ],
        silences=True,
    ),
}
"""Name in LAYERS -> rows."""
