"""The update of a training step: gradients are divided, normalised, penalised, and make new parameters and states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from optimize import L1Regularization, L2Regularization, Regularization, Updater, WeightDecay
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS, SMALLEST_NORM

from ..out.node_draft import NotInOnnx
from .schedules import check_schedules
from .tensors import Tensor
from .updaters import Updating

PENALTIES: tuple[type[Regularization], ...] = (L1Regularization, L2Regularization, WeightDecay)


class Parameter(NamedTuple):
    """A parameter that changes, and what changes it.

    Attributes
    ----------
    key : str
        Its name in the network's table, and in the graph.
    number : int
        Of its node.
    tensor : Tensor
    updater : Updater
    states : tuple of Tensor
    penalties : tuple of Regularization
    divided : bool
        Whether its gradient is a sum over examples.
    """

    key: str
    number: int
    tensor: Tensor
    updater: Updater
    states: tuple[Tensor, ...]
    penalties: tuple[Regularization, ...]
    divided: bool


def check_penalties(penalties: Sequence[Regularization]) -> None:
    """Raise NotInOnnx where a penalty, or its schedule, is none of the library's."""
    for penalty in penalties:
        if type(penalty) not in PENALTIES:
            raise NotInOnnx(f"the penalty {type(penalty).__name__} has no form as operators here")
        check_schedules(penalty)


def penalty_score(at: Updating, parameter: Parameter) -> Tensor | None:
    """Return the sum of the penalties on a parameter, a scalar; None without one."""
    total: Tensor | None = None
    for penalty in parameter.penalties:
        coefficient = at.number(penalty.coefficient)
        if isinstance(penalty, L1Regularization):
            score = coefficient * parameter.tensor.abs().sum()
        else:
            score = 0.5 * coefficient * parameter.tensor.square().sum()
        total = score if total is None else total + score
    return total


def updated(at: Updating, parameter: Parameter, gradient: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return a parameter and its states after an update by a gradient that is divided and normalised."""
    for penalty in parameter.penalties:
        if not penalty.post_updater:
            gradient = gradient + _penalty_gradient(at, penalty, parameter)
    update, states = at.update(parameter.updater, gradient, parameter.states)
    for penalty in parameter.penalties:
        if penalty.post_updater:
            update = update + _penalty_gradient(at, penalty, parameter)
    return parameter.tensor - update, states


def _penalty_gradient(at: Updating, penalty: Any, parameter: Parameter) -> Tensor:
    if isinstance(penalty, L1Regularization):
        return at.number(penalty.coefficient) * parameter.tensor.sign()
    coefficient = at.counters.value(penalty.coefficient)
    if isinstance(penalty, WeightDecay) and penalty.apply_lr:
        coefficient = coefficient * at.counters.value(getattr(parameter.updater, "learning_rate", 1.0))
    return at.cast(coefficient) * parameter.tensor


def normalised(name: str, threshold: float, gradients: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the gradients of a layer's parameters, normalised by a way of `optimize.gradient_normalization`."""
    chosen = GRADIENT_NORMALIZATIONS[name]
    if chosen is None or not gradients:
        return dict(gradients)
    if not chosen.needs_square:
        return {key: gradient.clip(-threshold, threshold) for key, gradient in gradients.items()}
    squares = {key: gradient.square().sum() for key, gradient in gradients.items()}
    if chosen.per_layer:
        first, *others = squares.values()
        total = first.op("Sum", *others) if others else first
        squares = dict.fromkeys(squares, total)
    factors = {key: _factor(name, threshold, square.sqrt()) for key, square in squares.items()}
    return {key: gradient * factors[key] for key, gradient in gradients.items()}


def _factor(name: str, threshold: float, norm: Tensor) -> Tensor:
    if name.startswith("clip"):
        return threshold / norm.op("Max", threshold)
    return 1.0 / norm.where("Greater", 0.0, norm, SMALLEST_NORM)
