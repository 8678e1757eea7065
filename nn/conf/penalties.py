"""L1, L2 and weight decay as configurations give them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from nd import ConfigurationError
from optimize import L1Regularization, L2Regularization, Regularization, Schedule, WeightDecay
from optimize.builder import Builder

if TYPE_CHECKING:
    from .network import NeuralNetConfiguration

Penalty = float | Schedule | None
Decay = float | Schedule | WeightDecay | tuple[float | Schedule, bool] | None
RIVALS = {"l2": "weight_decay", "l2_bias": "weight_decay_bias"}
"""Fields of which one at most counts: both make weights smaller."""


def settle_penalties(conf: Any) -> None:
    """Turn weight decay into `WeightDecay`.

    Raises
    ------
    ConfigurationError
        L2 and weight decay are both given; DL4J's builder lets the later call remove the other.
    """
    who = type(conf).__name__
    for l2, decay in RIVALS.items():
        found = _as_weight_decay(f"{who}: {decay}", getattr(conf, decay))
        object.__setattr__(conf, decay, found)
        if _counts(getattr(conf, l2)) and _counts(found):
            raise ConfigurationError(f"{who}: give {l2} or {decay}, not both, got {getattr(conf, l2)!r} and {found!r}.")


def _as_weight_decay(who: str, value: Any) -> WeightDecay | None:
    if value is None or isinstance(value, WeightDecay):
        return value
    coefficient, apply_lr = value if isinstance(value, tuple) and len(value) == 2 else (value, True)
    if not isinstance(apply_lr, bool):
        raise ConfigurationError(
            f"{who}: expected a coefficient and whether to apply the learning rate, got {value!r}."
        )
    return WeightDecay(coefficient, apply_lr)


def _counts(value: Any) -> bool:
    return (value.coefficient if isinstance(value, WeightDecay) else value) not in (None, 0)


def without_rivals(layer: Any, defaults: NeuralNetConfiguration) -> NeuralNetConfiguration:
    """Return the defaults without L2 where the layer has weight decay of its own, and the reverse."""
    pairs = [*RIVALS.items(), *((decay, l2) for l2, decay in RIVALS.items())]
    taken = {other: None for own, other in pairs if _counts(getattr(layer, own))}
    return replace(defaults, **taken) if taken else defaults  # type: ignore[arg-type]


def regularization_of(l1: Penalty, l2: Penalty, weight_decay: Decay) -> tuple[Regularization, ...]:
    """Return the penalties that count, in the order in which they are applied."""
    penalties: list[Regularization] = []
    if l1 is not None and _counts(l1):
        penalties.append(L1Regularization(l1))
    if l2 is not None and _counts(l2):
        penalties.append(L2Regularization(l2))
    if isinstance(weight_decay, WeightDecay) and _counts(weight_decay):
        penalties.append(weight_decay)
    return tuple(penalties)


def _setter(field: str, rival: str) -> Callable[..., Builder]:
    def set_penalty(builder: Builder, *value: Any) -> Builder:
        builder._values[field] = given = value[0] if len(value) == 1 else value
        if _counts(given[0] if isinstance(given, tuple) else given):
            builder._values.pop(rival, None)
        return builder

    return set_penalty


PENALTY_VERBS = {
    **{l2: _setter(l2, decay) for l2, decay in RIVALS.items()},
    **{decay: _setter(decay, l2) for l2, decay in RIVALS.items()},
}
"""The Builder's calls, of which the later one counts, as in DL4J. ``.weightDecay(1e-4, False)`` sets apply_lr too."""
