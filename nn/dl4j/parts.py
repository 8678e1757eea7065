"""Methods of activations, losses, updaters, penalties and schedules that exist for Java's sake."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import nd
from nd.arguments import Natural, checked
from nd.checks import describe_shape
from nd.losses import LossMixtureDensity
from nd.random import Random
from nd.typing import Array
from optimize import Regularization, Schedule
from optimize.schedules import MapSchedule, as_schedule
from optimize.updaters import Nesterovs, Updater


def state_pointer(random: Random) -> Random:
    """Return the generator itself, which is not null: Java asks to choose DropOutInverted or its legacy twin."""
    return random


def num_params(activation: object) -> int:
    """Return 0: no activation of this library has parameters; PReLULayer has its own."""
    return 0


class MixtureDensityComponents(NamedTuple):
    """What a mixture density network says: weights, deviations, means."""

    alpha: Array
    sigma: Array
    mu: Array


@checked
def extract_components(loss: LossMixtureDensity, output: object) -> MixtureDensityComponents:
    """Return the components of outputs ``[N, (labels_width + 2) * mixtures]``.

    Returns
    -------
    alpha : array ``[N, mixtures]``
        Weights, which add up to 1.
    sigma : array ``[N, mixtures]``
        Standard deviations.
    mu : array ``[N, mixtures, labels_width]``
        Means.

    Raises
    ------
    ShapeError
        The outputs have another width.
    """
    output, count = nd.as_array(output), loss.mixtures
    width = (loss.labels_width + 2) * count
    if output.ndim != 2 or output.shape[1] != width:
        raise nd.ShapeError(f"extractComponents: output must be [N, {width}], got {describe_shape(output.shape)}.")
    column = (output.shape[0], 1)
    weights = nd.exp(output[:, :count] - nd.reshape(nd.max(output[:, :count], 1), column))
    means = nd.reshape(output[:, 2 * count :], (output.shape[0], count, loss.labels_width))
    return MixtureDensityComponents(
        weights / nd.reshape(nd.sum(weights, 1), column), nd.exp(output[:, count : 2 * count]), means
    )


@checked
def learning_rate(updater: Any, iteration: Natural | None = None, epoch: Natural = 0) -> Any:
    """Return the learning rate, a number or a schedule; with counts its value then; NaN of an updater that has none."""
    rate = getattr(updater, "learning_rate", math.nan)
    return rate if iteration is None else updater.at(rate, iteration, epoch)


def has_learning_rate(updater: Updater) -> bool:
    """Tell whether the updater has a learning rate."""
    return hasattr(updater, "learning_rate")


def learning_rate_schedule(updater: Any) -> Schedule | None:
    """Return the schedule of the learning rate, None for a number."""
    return updater.learning_rate if isinstance(updater.learning_rate, Schedule) else None


def momentum_schedule(updater: Nesterovs) -> Schedule | None:
    """Return the schedule of the momentum, None for a number."""
    return updater.momentum if isinstance(updater.momentum, Schedule) else None


@checked
def current_momentum(updater: Nesterovs, iteration: Natural, epoch: Natural) -> float:
    """Return the momentum at that point of the training."""
    return updater.at(updater.momentum, iteration, epoch)


@checked
def state_size(updater: Updater, parameters: Natural) -> int:
    """Return how many numbers the state of so many parameters has."""
    return len(updater.state_names) * parameters


def coefficient(penalty: Regularization) -> Schedule:
    """Return the coefficient of a penalty as a schedule, as Java has it."""
    return as_schedule(type(penalty).__name__, penalty.coefficient)


def all_keys_sorted(schedule: MapSchedule) -> list[int]:
    """Return the iterations or epochs from which another value holds."""
    return sorted(schedule.values)
