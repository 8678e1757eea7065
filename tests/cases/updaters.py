"""What every updater must compute: three steps by hand, an oracle in float64 written another way, the exam's rates.

A new updater gets a row in `CASES`; the tests are in tests/optimize/test_every_updater.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from optimize import (
    AdaBelief,
    AdaDelta,
    AdaGrad,
    Adam,
    AdaMax,
    AMSGrad,
    MapSchedule,
    Nadam,
    Nesterovs,
    NoOp,
    RmsProp,
    Sgd,
    StepSchedule,
    Updater,
)
from tests.cases import updater_oracles as oracles

Rows = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Hand:
    """Steps 0, 1 and 2, in the epoch of that number, by hand: gradients, what is subtracted, the state after all."""

    updater: Updater
    gradients: Rows
    updates: Rows
    state: dict[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class UpdaterCase:
    """All that is known of one updater.

    Parameters
    ----------
    defaults : dict
        From specs/dl4j.md section 6.1.
    hands : Hand
    oracle : callable (updater, gradients [t, n]) -> updates [t, n]
        Float64; iterations 0, 1, ..., all in epoch 0.
    exam : dict
        Function -> updater that minimises it; empty if `exempt`.
    exempt : str
        Why the updater does not sit the exam.
    in_pytorch : bool
        Whether PyTorch has it, so that tests/optimize/test_torch_formulas.py compares the formulas.
    """

    defaults: dict[str, float]
    hands: tuple[Hand, ...]
    oracle: Callable[[Any, np.ndarray], np.ndarray]
    exam: dict[str, Updater] = field(default_factory=dict)
    exempt: str = ""
    in_pytorch: bool = True


HALVED_AT_1 = MapSchedule("iteration", {0: 0.5, 1: 0.25})
HALVED_PER_EPOCH = StepSchedule("epoch", initial_value=0.8, decay_rate=0.5, step=1)
# Of beta1 = 0.5, beta2 = 0.75: sqrt(1 - beta2^(t + 1)) / (1 - beta1^(t + 1)) in steps 0, 1 and 2.
CORRECTION = (1.0, sqrt(7) / 3, sqrt(37) / 7)

CASES: dict[str, UpdaterCase] = {
    "adabelief": UpdaterCase(
        defaults={"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-14},
        hands=(
            Hand(
                # m = 1, -0.5, 0.75; (g - m)^2 = 1, 2.25, 1.5625; s = 0.5, 1.1875, 1.53125. Where g is 0, s is 0.25,
                # 0.4375, 0.578125.
                AdaBelief(0.1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0, 0.0], [-2.0, 0.0], [2.0, 0.0]],
                updates=[
                    [0.1 / (sqrt(0.5) + 0.25), 0.0],
                    [-0.05 * CORRECTION[1] / (sqrt(1.1875) + 0.25), 0.0],
                    [0.075 * CORRECTION[2] / (sqrt(1.53125) + 0.25), 0.0],
                ],
                state={"M": [0.75, 0.0], "S": [1.53125, 0.578125]},
            ),
            Hand(
                AdaBelief(HALVED_AT_1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [-2.0], [2.0]],
                updates=[
                    [0.5 / (sqrt(0.5) + 0.25)],
                    [-0.125 * CORRECTION[1] / (sqrt(1.1875) + 0.25)],
                    [0.1875 * CORRECTION[2] / (sqrt(1.53125) + 0.25)],
                ],
                state={"M": [0.75], "S": [1.53125]},
            ),
        ),
        oracle=oracles.adabelief_oracle,
        exam={"parabola": AdaBelief(0.3), "rosenbrock": AdaBelief(0.02)},
        in_pytorch=False,
    ),
    "adadelta": UpdaterCase(
        defaults={"rho": 0.95, "epsilon": 1e-6},
        hands=(
            Hand(
                # s = 1, 1.75, 5.3125; u^2 = 4 * 0.25 / 1.25 = 0.8, 4 * 0.45 / 2 = 0.9, 16 * 0.625 / 5.5625 = 160 / 89;
                # d = 0.2, 0.375, 0.28125 + 40 / 89. The other element: s = 0, 0, 0.25, and u^2 = 0.25 / 0.5.
                AdaDelta(rho=0.75, epsilon=0.25),
                gradients=[[2.0, 0.0], [-2.0, 0.0], [4.0, 1.0]],
                updates=[[sqrt(0.8), 0.0], [-sqrt(0.9), 0.0], [sqrt(160 / 89), sqrt(0.5)]],
                state={"msg": [5.3125, 0.25], "msdx": [0.28125 + 40 / 89, 0.125]},
            ),
        ),
        oracle=oracles.adadelta_oracle,
        exam={"parabola": AdaDelta(epsilon=1e-2), "rosenbrock": AdaDelta(epsilon=1e-9)},
    ),
    "adagrad": UpdaterCase(
        defaults={"learning_rate": 0.1, "epsilon": 1e-6},
        hands=(
            Hand(
                # h starts at 1e-6 whatever epsilon is.
                AdaGrad(0.5, epsilon=0.25),
                gradients=[[2.0, 0.0], [-3.0, 0.0], [6.0, 1e-3]],
                updates=[
                    [1.0 / (sqrt(4.000001) + 0.25), 0.0],
                    [-1.5 / (sqrt(13.000001) + 0.25), 0.0],
                    [3.0 / (sqrt(49.000001) + 0.25), 5e-4 / (sqrt(2e-6) + 0.25)],
                ],
                state={"H": [49.000001, 2e-6]},
            ),
            Hand(
                AdaGrad(HALVED_AT_1, epsilon=0.25),
                gradients=[[2.0], [-3.0], [6.0]],
                updates=[
                    [1.0 / (sqrt(4.000001) + 0.25)],
                    [-0.75 / (sqrt(13.000001) + 0.25)],
                    [1.5 / (sqrt(49.000001) + 0.25)],
                ],
                state={"H": [49.000001]},
            ),
        ),
        oracle=oracles.adagrad_oracle,
        exam={"parabola": AdaGrad(3.0), "rosenbrock": AdaGrad(0.3)},
    ),
    "adam": UpdaterCase(
        defaults={"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
        hands=(
            Hand(
                # Step 0: m = 1, v = 1, a = 0.1 * 0.5 / 0.5. Step 1: a = 0.1 * sqrt(7)/4 / 0.75, and for the elements
                # m = -0.5, v = 1.75 and m = 1.5, v = 1.75 and m = 0, v = 0 and m = 1, v = 1 (there g went 0, 2).
                # Step 2: m = 0.75, v = 2.3125 and m = 0.75, v = 1.3125 and m = 0, v = 0 and m = -0.5, v = 1.75.
                Adam(0.1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0, 2.0, 0.0, 0.0], [-2.0, 2.0, 0.0, 2.0], [2.0, 0.0, 0.0, -2.0]],
                updates=[
                    [0.08, 0.08, 0.0, 0.0],
                    [
                        -0.5 * (0.1 * sqrt(7) / 3) / (sqrt(7) / 2 + 0.25),
                        1.5 * (0.1 * sqrt(7) / 3) / (sqrt(7) / 2 + 0.25),
                        0.0,
                        (0.1 * sqrt(7) / 3) / 1.25,
                    ],
                    [
                        0.075 * CORRECTION[2] / (sqrt(2.3125) + 0.25),
                        0.075 * CORRECTION[2] / (sqrt(1.3125) + 0.25),
                        0.0,
                        -0.05 * CORRECTION[2] / (sqrt(1.75) + 0.25),
                    ],
                ],
                state={"M": [0.75, 0.75, 0.0, -0.5], "V": [2.3125, 1.3125, 0.0, 1.75]},
            ),
            Hand(
                # As the third element would be with rates 0.5, then 0.25: a = 0.25 * sqrt(7)/4 / 0.75 in step 1.
                Adam(HALVED_AT_1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [-2.0], [2.0]],
                updates=[
                    [0.4],
                    [-0.5 * (0.25 * sqrt(7) / 3) / (sqrt(7) / 2 + 0.25)],
                    [0.1875 * CORRECTION[2] / (sqrt(2.3125) + 0.25)],
                ],
                state={"M": [0.75], "V": [2.3125]},
            ),
            Hand(
                # A rate of 0 makes a = 0, and then a is epsilon instead.
                Adam(0.0, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [2.0], [0.0]],
                updates=[[0.25 / 1.25], [1.5 * 0.25 / (sqrt(7) / 2 + 0.25)], [0.1875 / (sqrt(1.3125) + 0.25)]],
                state={"M": [0.75], "V": [1.3125]},
            ),
            Hand(
                # beta1 = 1 makes a infinite, and then a is epsilon instead; m stays 0.
                Adam(0.1, beta1=1.0, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [2.0], [2.0]],
                updates=[[0.0], [0.0], [0.0]],
                state={"M": [0.0], "V": [2.3125]},
            ),
        ),
        oracle=oracles.adam_oracle,
        exam={"parabola": Adam(0.3), "rosenbrock": Adam(0.02)},
    ),
    "adamax": UpdaterCase(
        defaults={"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
        hands=(
            Hand(
                # m = 1, -0.5, 0.25; u = 2, max(1.5, 2), max(1.5, 1); a = 0.1 / 0.5, 0.1 / 0.75, 0.1 / 0.875.
                AdaMax(0.1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0, 0.0], [-2.0, 0.0], [1.0, 0.0]],
                updates=[[0.1, 0.0], [-0.1 / 3, 0.0], [2 / 105, 0.0]],
                state={"M": [0.25, 0.0], "U": [1.5, 0.0]},
            ),
            Hand(
                # As above with rates 0.5, 0.25, 0.25.
                AdaMax(HALVED_AT_1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [-2.0], [1.0]],
                updates=[[0.5], [-0.25 / 3], [5 / 105]],
                state={"M": [0.25], "U": [1.5]},
            ),
            Hand(
                # A rate of 0 makes a = 0, and then a is epsilon instead.
                AdaMax(0.0, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [-2.0], [1.0]],
                updates=[[0.125], [-0.0625], [0.25 / 6]],
                state={"M": [0.25], "U": [1.5]},
            ),
        ),
        oracle=oracles.adamax_oracle,
        exam={"parabola": AdaMax(0.3), "rosenbrock": AdaMax(0.02)},
    ),
    "amsgrad": UpdaterCase(
        defaults={"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
        hands=(
            Hand(
                # m = 1, 0.5, 1.25; v = 1, 0.75, 1.5625; h = 1, 1, 1.5625. The other: v = 0, 0.25, 0.1875.
                AMSGrad(0.1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0, 0.0], [0.0, 1.0], [2.0, 0.0]],
                updates=[
                    [0.08, 0.0],
                    [0.05 * CORRECTION[1] / 1.25, 0.05 * CORRECTION[1] / 0.75],
                    [0.125 * CORRECTION[2] / 1.5, 0.025 * CORRECTION[2] / 0.75],
                ],
                state={"M": [1.25, 0.25], "V": [1.5625, 0.1875], "VHat": [1.5625, 0.25]},
            ),
            Hand(
                AMSGrad(HALVED_AT_1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [0.0], [2.0]],
                updates=[[0.4], [0.125 * CORRECTION[1] / 1.25], [0.3125 * CORRECTION[2] / 1.5]],
                state={"M": [1.25], "V": [1.5625], "VHat": [1.5625]},
            ),
        ),
        oracle=oracles.amsgrad_oracle,
        exam={"parabola": AMSGrad(0.3), "rosenbrock": AMSGrad(0.02)},
    ),
    "nadam": UpdaterCase(
        defaults={"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
        hands=(
            Hand(
                # m = 1, -0.5, 0.75; v = 1, 1.75, 2.3125; 0.5 m + 0.5 g = 1.5, -1.25, 1.375; a = 0.2, 0.4 / 3, 0.8 / 7.
                Nadam(0.1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0, 0.0], [-2.0, 0.0], [2.0, 0.0]],
                updates=[
                    [0.24, 0.0],
                    [-0.5 / 3 / (sqrt(1.75) + 0.25), 0.0],
                    [1.1 / 7 / (sqrt(2.3125) + 0.25), 0.0],
                ],
                state={"M": [0.75, 0.0], "V": [2.3125, 0.0]},
            ),
            Hand(
                Nadam(HALVED_AT_1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [-2.0], [2.0]],
                updates=[[1.2], [-1.25 / 3 / (sqrt(1.75) + 0.25)], [2.75 / 7 / (sqrt(2.3125) + 0.25)]],
                state={"M": [0.75], "V": [2.3125]},
            ),
        ),
        oracle=oracles.nadam_oracle,
        exam={"parabola": Nadam(0.1), "rosenbrock": Nadam(0.005)},
    ),
    "nesterovs": UpdaterCase(
        defaults={"learning_rate": 0.1, "momentum": 0.9},
        hands=(
            Hand(
                # v = -0.1, then 0.9 * -0.1 - 0.2 = -0.29; updates 1.9 * 0.1, then -0.09 + 1.9 * 0.29. Step 2:
                # v = -0.261 - 0.1, -0.09 + 0.1, 0.81.
                Nesterovs(0.1, momentum=0.9),
                gradients=[[1.0, 0.0, -10.0], [2.0, 1.0, 0.0], [1.0, -1.0, 0.0]],
                updates=[[0.19, 0.0, -1.9], [0.461, 0.19, 0.9 - 1.9 * 0.9], [-0.261 + 1.9 * 0.361, -0.109, -0.729]],
                state={"V": [-0.361, 0.01, 0.81]},
            ),
            Hand(
                # Epoch 0: momentum 0.8, rate 0.5: v = -0.5, update 1.8 * 0.5. Epoch 1: momentum 0.4, rate 0.25:
                # v = -0.2 - 0.5 = -0.7, update -0.2 + 1.4 * 0.7. Epoch 2: momentum 0.2: v = -0.14 - 1, update
                # -0.14 + 1.2 * 1.14.
                Nesterovs(HALVED_AT_1, momentum=HALVED_PER_EPOCH),
                gradients=[[1.0], [2.0], [4.0]],
                updates=[[0.9], [0.78], [1.228]],
                state={"V": [-1.14]},
            ),
        ),
        oracle=oracles.nesterovs_oracle,
        exam={"parabola": Nesterovs(learning_rate=0.02), "rosenbrock": Nesterovs(learning_rate=2e-4)},
    ),
    "noop": UpdaterCase(
        defaults={},
        hands=(Hand(NoOp(), *2 * ([[1.5, -2.0], [0.0, 3.0], [-1.0, 0.5]],)),),
        oracle=lambda _, gradients: gradients,
        exempt="it subtracts the raw gradient, which has no rate that would make a step small enough",
        in_pytorch=False,
    ),
    "rmsprop": UpdaterCase(
        defaults={"learning_rate": 0.1, "rms_decay": 0.95, "epsilon": 1e-8},
        hands=(
            Hand(
                # v starts at epsilon: 0.25, then 0.1875 + 1, 0.890625 + 1, 1.41796875 + 4; where g is 0, 0.25 * 0.75^t.
                RmsProp(0.5, rms_decay=0.75, epsilon=0.25),
                gradients=[[2.0, 0.0], [-2.0, 0.0], [4.0, 0.0]],
                updates=[
                    [1.0 / (sqrt(1.1875) + 0.25), 0.0],
                    [-1.0 / (sqrt(1.890625) + 0.25), 0.0],
                    [2.0 / (sqrt(5.41796875) + 0.25), 0.0],
                ],
                state={"G": [5.41796875, 0.10546875]},
            ),
            Hand(
                RmsProp(HALVED_AT_1, rms_decay=0.75, epsilon=0.25),
                gradients=[[2.0], [-2.0], [4.0]],
                updates=[
                    [1.0 / (sqrt(1.1875) + 0.25)],
                    [-0.5 / (sqrt(1.890625) + 0.25)],
                    [1.0 / (sqrt(5.41796875) + 0.25)],
                ],
                state={"G": [5.41796875]},
            ),
        ),
        oracle=oracles.rmsprop_oracle,
        exam={"parabola": RmsProp(0.02), "rosenbrock": RmsProp(5e-4)},
    ),
    "sgd": UpdaterCase(
        defaults={"learning_rate": 1e-3},
        hands=(
            Hand(
                Sgd(0.5),
                gradients=[[1.0, -2.0, 0.0], [4.0, 0.5, 0.0], [-2.0, 1.0, 0.0]],
                updates=[[0.5, -1.0, 0.0], [2.0, 0.25, 0.0], [-1.0, 0.5, 0.0]],
            ),
            Hand(Sgd(HALVED_AT_1), gradients=[[1.0], [4.0], [2.0]], updates=[[0.5], [1.0], [0.5]]),
            Hand(Sgd(HALVED_PER_EPOCH), gradients=[[1.0], [4.0], [10.0]], updates=[[0.8], [1.6], [2.0]]),
        ),
        oracle=oracles.sgd_oracle,
        exam={"parabola": Sgd(0.1), "rosenbrock": Sgd(1e-3)},
    ),
}
"""Name in `optimize.updaters.UPDATERS` -> case, sorted."""
