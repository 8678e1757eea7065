"""L1, L2 and weight decay as configurations give them, and which updater a parameter has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from nd import ConfigurationError
from nd.arguments import NonNegative
from optimize import L1Regularization, L2Regularization, Regularization, Schedule, Updater, WeightDecay
from optimize.builder import Builder

Defaults = TypeVar("Defaults", bound=Any)
Penalty = NonNegative | Schedule | None
Decay = NonNegative | Schedule | WeightDecay | tuple[NonNegative | Schedule, bool] | None
RIVALS = {"l2": "weight_decay", "l2_bias": "weight_decay_bias"}
"""Fields of which one at most counts: both make weights smaller."""
PENALTIES = ("l1", "l1_bias", "l2", "l2_bias", "weight_decay", "weight_decay_bias")
_KINDS: dict[str, type[Regularization]] = {
    "l1": L1Regularization, "l2": L2Regularization, "weight_decay": WeightDecay,
}  # fmt: skip
"""Field -> penalty, in the order in which they are applied."""


class WithUpdaters:
    """Shared by configurations of what has parameters: layers and vertices."""

    updater: str | Updater | None
    bias_updater: str | Updater | None

    def updater_of(self, bias: bool) -> Updater:
        """Return the updater of weights, or of biases."""
        return self.bias_updater if bias and self.bias_updater else self.updater  # type: ignore[return-value]


def settle_penalties(conf: object) -> None:
    """Turn weight decay into `WeightDecay`, schedules that never change into their numbers, plain lists into fields.

    Raises
    ------
    ConfigurationError
        L2 and weight decay are both given, or a list and one of the penalties; DL4J's builder lets the later call
        remove the other.
    """
    who = type(conf).__name__
    for suffix in ("", "_bias"):
        _settle_list(who, conf, suffix)
    for name in PENALTIES[:4]:
        if isinstance(getattr(conf, name), Schedule):
            object.__setattr__(conf, name, L1Regularization(getattr(conf, name)).coefficient)
    for l2, decay in RIVALS.items():
        decayed = getattr(conf, decay)
        if decayed is not None and not isinstance(decayed, WeightDecay):
            decayed = WeightDecay(*decayed) if isinstance(decayed, tuple) else WeightDecay(decayed)
        object.__setattr__(conf, decay, decayed)
        if _counts(getattr(conf, l2)) and _counts(decayed):
            raise ConfigurationError(
                f"{who}: give {l2} or {decay}, not both, got {getattr(conf, l2)!r} and {decayed!r}."
            )


def _settle_list(who: str, conf: object, suffix: str) -> None:
    """Turn a list of penalties into `l1`, `l2` and `weight_decay`, where these can say the same."""
    penalties = getattr(conf, f"regularization{suffix}")
    if penalties is None:
        return
    given = [f"{name}{suffix}" for name in _KINDS if _counts(getattr(conf, f"{name}{suffix}"))]
    if given:
        raise ConfigurationError(
            f"{who}: regularization{suffix} must be all penalties, got {', '.join(given)} beside it. "
            "Put all into the list."
        )
    kinds = [type(penalty) for penalty in penalties]
    in_order = [kind for kind in _KINDS.values() if kind in kinds]
    plain = kinds == in_order and not {L2Regularization, WeightDecay} <= set(kinds)
    object.__setattr__(conf, f"regularization{suffix}", None if plain else tuple(penalties))
    for name, kind in _KINDS.items() if plain else ():
        value = next((penalty for penalty in penalties if type(penalty) is kind), None)
        content = value if value is None or kind is WeightDecay else value.coefficient
        object.__setattr__(conf, f"{name}{suffix}", content)


def _counts(value: object) -> bool:
    return (value.coefficient if isinstance(value, WeightDecay) else value) not in (None, 0)


def without_effect(layer: object) -> dict[str, Any]:
    """Return None for the penalties of a layer that are 0."""
    return {name: None for name in PENALTIES if not _counts(getattr(layer, name))}


def without_rivals(layer: object, defaults: Defaults) -> Defaults:
    """Return the defaults without L2 where the layer has weight decay of its own, and the reverse; a list is alone."""
    pairs = [*RIVALS.items(), *((decay, l2) for l2, decay in RIVALS.items())]
    taken = {other: None for own, other in pairs if _counts(getattr(layer, own))}
    for suffix in ("", "_bias"):
        if getattr(layer, f"regularization{suffix}") is not None:
            taken |= dict.fromkeys(f"{name}{suffix}" for name in _KINDS)
        elif any(_counts(getattr(layer, f"{name}{suffix}")) for name in _KINDS):
            taken[f"regularization{suffix}"] = None
    return replace(defaults, **taken) if taken else defaults


def regularization_of(layer: object, suffix: str) -> tuple[Regularization, ...]:
    """Return the penalties on weights (suffix ""), or on biases ("_bias"), in the order in which they are applied."""
    listed = getattr(layer, f"regularization{suffix}")
    if listed is not None:
        return tuple(listed)
    given = [(kind, getattr(layer, f"{name}{suffix}")) for name, kind in _KINDS.items()]
    return tuple(value if isinstance(value, kind) else kind(value) for kind, value in given if _counts(value))


def _setter(field: str, rival: str) -> Callable[..., Builder]:
    def set_penalty(builder: Builder, *value: object) -> Builder:
        builder.given[field] = given = value[0] if len(value) == 1 else value
        if _counts(given[0] if isinstance(given, tuple) else given):
            builder.given.pop(rival, None)
        return builder

    return set_penalty


PENALTY_VERBS = {
    **{l2: _setter(l2, decay) for l2, decay in RIVALS.items()},
    **{decay: _setter(decay, l2) for l2, decay in RIVALS.items()},
}
"""The Builder's calls, of which the later one counts, as in DL4J. ``.weightDecay(1e-4, False)`` sets apply_lr too."""
