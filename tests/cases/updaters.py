"""What every updater must compute: two steps by hand, an oracle in float64 written another way, the exam's rates.

A new updater gets a row in `CASES`; the tests are in tests/optimize/test_every_updater.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np

from optimize import Adam, MapSchedule, Nesterovs, NoOp, Sgd, StepSchedule, Updater

Rows = Sequence[Sequence[float]]


@dataclass(frozen=True)
class Hand:
    """Steps 0 and 1 of epochs 0 and 1, by hand: the gradients, what is subtracted, and the state after both."""

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
    """

    defaults: dict[str, float]
    hands: tuple[Hand, ...]
    oracle: Callable[[Any, np.ndarray], np.ndarray]
    exam: dict[str, Updater] = field(default_factory=dict)
    exempt: str = ""


def decayed_sum(terms, decay):
    """Row t is the sum over i <= t of decay^(t - i) * terms[i]."""
    return np.stack([sum(decay ** (t - i) * terms[i] for i in range(t + 1)) for t in range(len(terms))])


def rates_of(value, count):
    """Return the values of a number or a schedule at iterations 0 .. count - 1 as a column."""
    numbers = [value.value_at(t, 0) if hasattr(value, "value_at") else value for t in range(count)]
    return np.array(numbers, np.float64)[:, None]


def adam_oracle(updater, gradients):
    """Kingma and Ba's algorithm 1, with both corrections; DL4J's epsilon is added before the correction of v."""
    t = np.arange(1, len(gradients) + 1)[:, None]
    m_corrected = decayed_sum((1 - updater.beta1) * gradients, updater.beta1) / (1 - updater.beta1**t)
    v_shrink = 1 - updater.beta2**t
    v_corrected = decayed_sum((1 - updater.beta2) * gradients**2, updater.beta2) / v_shrink
    rates = rates_of(updater.learning_rate, len(gradients))
    return rates * m_corrected / (np.sqrt(v_corrected) + updater.epsilon / np.sqrt(v_shrink))


def nesterovs_oracle(updater, gradients):
    """Multiplied out: update = (1 + mu) lr g - mu^2 v_before."""
    steps = rates_of(updater.learning_rate, len(gradients)) * gradients
    momenta = rates_of(updater.momentum, len(gradients))
    updates, v = [], np.zeros_like(gradients[0])
    for step, mu in zip(steps, momenta, strict=True):
        updates.append((1 + mu) * step - mu * mu * v)
        v = mu * v - step
    return np.stack(updates)


def sgd_oracle(updater, gradients):
    return gradients * rates_of(updater.learning_rate, len(gradients))


HALVED_AT_1 = MapSchedule("iteration", {0: 0.5, 1: 0.25})
HALVED_PER_EPOCH = StepSchedule("epoch", initial_value=0.8, decay_rate=0.5, step=1)

CASES: dict[str, UpdaterCase] = {
    "adam": UpdaterCase(
        defaults={"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8},
        hands=(
            Hand(
                # Step 0: m = 1, v = 1, a = 0.1 * 0.5 / 0.5. Step 1: a = 0.1 * sqrt(7)/4 / 0.75, and for the elements
                # m = -0.5, v = 1.75 and m = 1.5, v = 1.75 and m = 0, v = 0 and m = 1, v = 1 (there g went 0, 2).
                Adam(0.1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0, 2.0, 0.0, 0.0], [-2.0, 2.0, 0.0, 2.0]],
                updates=[
                    [0.08, 0.08, 0.0, 0.0],
                    [
                        -0.5 * (0.1 * sqrt(7) / 3) / (sqrt(7) / 2 + 0.25),
                        1.5 * (0.1 * sqrt(7) / 3) / (sqrt(7) / 2 + 0.25),
                        0.0,
                        (0.1 * sqrt(7) / 3) / 1.25,
                    ],
                ],
                state={"M": [-0.5, 1.5, 0.0, 1.0], "V": [1.75, 1.75, 0.0, 1.0]},
            ),
            Hand(
                # As the third element would be with rates 0.5, then 0.25: a = 0.25 * sqrt(7)/4 / 0.75 in step 1.
                Adam(HALVED_AT_1, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [-2.0]],
                updates=[[0.4], [-0.5 * (0.25 * sqrt(7) / 3) / (sqrt(7) / 2 + 0.25)]],
                state={"M": [-0.5], "V": [1.75]},
            ),
            Hand(
                # A rate of 0 makes a = 0, and then a is epsilon instead.
                Adam(0.0, beta1=0.5, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [2.0]],
                updates=[[0.25 / 1.25], [1.5 * 0.25 / (sqrt(7) / 2 + 0.25)]],
                state={"M": [1.5], "V": [1.75]},
            ),
            Hand(
                # beta1 = 1 makes a infinite, and then a is epsilon instead; m stays 0.
                Adam(0.1, beta1=1.0, beta2=0.75, epsilon=0.25),
                gradients=[[2.0], [2.0]],
                updates=[[0.0], [0.0]],
                state={"M": [0.0], "V": [1.75]},
            ),
        ),
        oracle=adam_oracle,
        exam={"parabola": Adam(0.3), "rosenbrock": Adam(0.02)},
    ),
    "nesterovs": UpdaterCase(
        defaults={"learning_rate": 0.1, "momentum": 0.9},
        hands=(
            Hand(
                # v = -0.1, then 0.9 * -0.1 - 0.2 = -0.29; updates 1.9 * 0.1, then -0.09 + 1.9 * 0.29.
                Nesterovs(0.1, momentum=0.9),
                gradients=[[1.0, 0.0, -10.0], [2.0, 1.0, 0.0]],
                updates=[[0.19, 0.0, -1.9], [0.461, 0.19, 0.9 - 1.9 * 0.9]],
                state={"V": [-0.29, -0.1, 0.9]},
            ),
            Hand(
                # Epoch 0: momentum 0.8, rate 0.5: v = -0.5, update 1.8 * 0.5. Epoch 1: momentum 0.4, rate 0.25:
                # v = -0.2 - 0.5 = -0.7, update -0.2 + 1.4 * 0.7.
                Nesterovs(HALVED_AT_1, momentum=HALVED_PER_EPOCH),
                gradients=[[1.0], [2.0]],
                updates=[[0.9], [0.78]],
                state={"V": [-0.7]},
            ),
        ),
        oracle=nesterovs_oracle,
        exam={"parabola": Nesterovs(0.02), "rosenbrock": Nesterovs(2e-4)},
    ),
    "noop": UpdaterCase(
        defaults={},
        hands=(Hand(NoOp(), gradients=[[1.5, -2.0], [0.0, 3.0]], updates=[[1.5, -2.0], [0.0, 3.0]]),),
        oracle=lambda _, gradients: gradients,
        exempt="it subtracts the raw gradient, which has no rate that would make a step small enough",
    ),
    "sgd": UpdaterCase(
        defaults={"learning_rate": 1e-3},
        hands=(
            Hand(Sgd(0.5), gradients=[[1.0, -2.0, 0.0], [4.0, 0.5, 0.0]], updates=[[0.5, -1.0, 0.0], [2.0, 0.25, 0.0]]),
            Hand(Sgd(HALVED_AT_1), gradients=[[1.0], [4.0]], updates=[[0.5], [1.0]]),
            Hand(Sgd(HALVED_PER_EPOCH), gradients=[[1.0], [4.0]], updates=[[0.8], [1.6]]),
        ),
        oracle=sgd_oracle,
        exam={"parabola": Sgd(0.1), "rosenbrock": Sgd(1e-3)},
    ),
}
"""Name in `optimize.updaters.UPDATERS` -> case, sorted."""
