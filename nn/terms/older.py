"""What the Builders of Deeplearning4j 0.9 set by calls of their own: rates, decay policies, penalties, drop connect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

import nd
from nd.arguments import Checked, Natural, NonNegative, Positive
from nd.checks import check_choice
from nd.java_enums import JavaEnum
from optimize import (
    ExponentialSchedule,
    InverseSchedule,
    MapSchedule,
    PolySchedule,
    Schedule,
    SigmoidSchedule,
    StepSchedule,
    Updater,
)
from optimize.builder import Builder

from .dropout import Dropout
from .penalties import PENALTIES, PENALTY_VERBS
from .weight_noise import DropConnect
from .weights import WEIGHT_INIT_VERBS

Conf = TypeVar("Conf", bound=Any)
Rate = float | Schedule


class LearningRatePolicy(JavaEnum):
    """Ways in which 0.9 lets a learning rate change with the iterations."""

    NONE = "none"
    EXPONENTIAL = "exponential"
    INVERSE = "inverse"
    POLY = "poly"
    SCHEDULE = "schedule"
    SCORE = "score"
    SIGMOID = "sigmoid"
    STEP = "step"
    TORCH_STEP = "torchstep"


_REFUSED = {
    "score": "Add a ReduceLearningRateOnPlateau to the listeners: it lowers the rate where the score stays.",
    "torchstep": "Take Step: 0.9.1 multiplies where the iteration divides lrPolicySteps, not every so many steps.",
}
"""Policy -> what to do instead."""
_FALLING = ("exponential", "inverse", "step")
"""Policies whose formulas give no rates where the decay rate is negative; that of Sigmoid then falls."""
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "exponential": ("decay_rate",),
    "inverse": ("decay_rate", "power"),
    "poly": ("power",),
    "schedule": ("learning_rate_schedule",),
    "sigmoid": ("decay_rate", "steps"),
    "step": ("decay_rate", "steps"),
}  # fmt: skip
"""Policy -> settings that it must have; but for the decay rate, others are refused beside it."""
_CALLS = {
    "decay_rate": "lrPolicyDecayRate", "learning_rate_schedule": "learningRateSchedule", "power": "lrPolicyPower",
    "steps": "lrPolicySteps",
}  # fmt: skip
"""Constant of a policy -> the Builder's call."""
_OTHER_CALLS = {
    "bias_learning_rate": "biasLearningRate", "learning_rate": "learningRate", "use_drop_connect": "useDropConnect",
}  # fmt: skip
"""The same of settings that belong to no policy."""


@dataclass(frozen=True, kw_only=True)
class OlderSettings(Checked):
    """Settings of a Builder of 0.9, of a network or of a layer, until the layers have taken them over.

    Parameters
    ----------
    use_regularization : bool
        False: no L1 and L2, whatever layers and network say.
    use_drop_connect : bool
        Take what `drop_out` says as the probability to retain a weight, in the place of an input.
    learning_rate, bias_learning_rate : float, optional
        Of a layer, and of biases.
    learning_rate_schedule : dict of int -> float, optional
        Rates from these iterations on.
    policy : LearningRatePolicy
    decay_rate, steps, power : float, optional
        Constants of the policy.
    iterations : int
        Over which `poly` falls to 0.
    settled : bool
        Whether the network's own updaters, penalties and noise follow it already.

    Notes
    -----
    Source: DL4J 0.9.1 ``NeuralNetConfiguration.Builder``, ``UpdaterBlock.applyLrDecayPolicy``. Differs: rates follow
    the formulas that 0.9.1 documents; 0.9.1 applies them to the rate of the iteration before, so that they compound.
    A bias has its own learning rate with every updater; in 0.9.1 with Nesterovs and with policies alone. Penalties are
    those of 1.0. The policy Score is refused.
    """

    use_regularization: bool = True
    use_drop_connect: bool = False
    learning_rate: NonNegative | None = None
    bias_learning_rate: NonNegative | None = None
    learning_rate_schedule: Mapping[Natural, NonNegative] | None = None
    policy: str = "none"
    decay_rate: float | None = None
    steps: Positive | None = None
    power: float | None = None
    iterations: int = 1
    settled: bool = field(default=False, repr=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        known = [*LearningRatePolicy]
        name = check_choice("learningRateDecayPolicy", "policy", str(self.policy).lower().replace("_", ""), known)
        object.__setattr__(self, "policy", name)

    def check(self) -> None:
        """Raise ConfigurationError unless a network's policy has what it needs, and nothing else is set."""
        if self.policy in _REFUSED:
            raise nd.ConfigurationError(
                f"learningRateDecayPolicy: the policy must be one that iterations decide, got {self.policy!r}. "
                f"{_REFUSED[self.policy]}"
            )
        needed = _NEEDS.get(self.policy, ())
        for name, call in _CALLS.items():
            given = getattr(self, name) is not None
            if given and name not in needed and name != "decay_rate":
                uses = " or ".join(policy.capitalize() for policy, needs in _NEEDS.items() if name in needs)
                raise nd.ConfigurationError(
                    f"{call}: it must have a policy that uses it, got {self.policy!r}. "
                    f"Call learningRateDecayPolicy with {uses}."
                )
            if name in needed and not given:
                raise nd.ConfigurationError(f"learningRateDecayPolicy: {self.policy!r} must have {call}, got none.")
        if self.policy in _FALLING and (self.decay_rate or 0.0) < 0.0:
            raise nd.ConfigurationError(
                f"lrPolicyDecayRate: with the policy {self.policy!r} it must be 0 or more, got {self.decay_rate:g}. "
                "Rates would become negative."
            )
        if self.policy == "poly" and self.iterations < 2:
            raise nd.ConfigurationError(
                "learningRateDecayPolicy: 'poly' must have iterations to fall in, got iterations(1), after which the "
                "rate is 0. Give the updater a PolySchedule."
            )

    def decayed(self, rate: Rate, schedule: Mapping[int, float] | None = None) -> Rate:
        """Return a rate that follows the policy; raise ConfigurationError where it is a schedule already."""
        if self.policy == "none":
            return rate
        if isinstance(rate, Schedule):
            raise nd.ConfigurationError(
                f"learningRateDecayPolicy: the learning rate must be a number, got {rate!r}. Leave one of both out."
            )
        by: Any = "iteration"
        decay, steps, power = self.decay_rate or 0.0, self.steps or 1.0, self.power or 0.0
        policies: dict[str, Callable[[], Schedule]] = {
            "exponential": lambda: ExponentialSchedule(by, rate, decay),
            "inverse": lambda: InverseSchedule(by, rate, decay, power),
            "poly": lambda: PolySchedule(by, rate, power, self.iterations),
            "schedule": lambda: MapSchedule(by, {0: rate, **(schedule or self.learning_rate_schedule or {})}),
            "sigmoid": lambda: SigmoidSchedule(by, rate, decay, int(steps)),
            "step": lambda: StepSchedule(by, rate, decay, steps),
        }
        return policies[self.policy]()


def with_rate(updater: Updater, change: Callable[[Any], Rate]) -> Updater:
    """Return an updater with its learning rate changed, itself where it has none."""
    if all(one.name != "learning_rate" for one in fields(updater)):
        return updater
    rate: Any = {"learning_rate": change(updater.learning_rate)}  # type: ignore[attr-defined]
    return replace(updater, **rate)


def _connected(conf: Any) -> dict[str, Any]:
    """Return dropout of inputs as noise on weights, where a configuration has the one and may have the other."""
    drop = conf.drop_out if isinstance(conf.drop_out, Dropout) or not conf.drop_out else Dropout(conf.drop_out)
    if type(drop) is not Dropout or conf.weight_noise is not None:
        return {}
    return {"drop_out": None, "weight_noise": DropConnect(drop.p)}


def _unpenalised(conf: Any) -> dict[str, None]:
    listed = ("regularization", "regularization_bias")
    return dict.fromkeys(name for name in (*PENALTIES[:4], *listed) if getattr(conf, name) is not None)


def settle_network(conf: Any) -> None:
    """Change a network's own updaters, penalties and noise, from which its layers take theirs.

    Raises
    ------
    ConfigurationError
        The policy lacks something, or is refused.
    """
    older: OlderSettings = replace(conf.older, iterations=conf.iterations)
    older.check()
    changes: dict[str, Any] = {"older": replace(older, settled=True)}
    if older.bias_learning_rate is not None:
        changes["bias_updater"] = _of_biases(conf.bias_updater or conf.updater, older, older.bias_learning_rate)
    elif conf.bias_updater is not None:
        changes["bias_updater"] = with_rate(conf.bias_updater, older.decayed)
    changes["updater"] = with_rate(conf.updater, older.decayed)
    changes |= _connected(conf) if older.use_drop_connect else {}
    changes |= {} if older.use_regularization else _unpenalised(conf)
    for name, value in changes.items():
        object.__setattr__(conf, name, value)


def _of_biases(updater: Updater, older: OlderSettings, rate: float, schedule: Any = None) -> Updater:
    return with_rate(updater, lambda _: older.decayed(rate, schedule))


def settled_layer(layer: Conf, defaults: Any) -> Conf:
    """Return a layer that has taken over its own settings of 0.9, and the network's that concern what it says itself.

    Raises
    ------
    ConfigurationError
        It has a schedule without a policy that uses it, or beside a rate that is a schedule already.
    """
    if layer.older is None and defaults.older is None:
        return layer
    own, common = layer.older or OlderSettings(), defaults.older or OlderSettings()
    schedule = own.learning_rate_schedule
    if schedule is not None and common.policy != "schedule":
        raise nd.ConfigurationError(
            f"learningRateSchedule: the network must have the policy Schedule, got {common.policy!r}. "
            "Call learningRateDecayPolicy."
        )
    changes: dict[str, Any] = {"older": None}
    updater, start = layer.updater or defaults.updater, own.learning_rate
    changed = layer.updater is not None or start is not None or schedule is not None
    if changed:
        start = _start_of(defaults.updater) if start is None and layer.updater is None else start
        updater = with_rate(updater, lambda rate: common.decayed(rate if start is None else start, schedule))
        changes["updater"] = updater
    bias = own.bias_learning_rate if own.bias_learning_rate is not None else common.bias_learning_rate
    if bias is not None and (changed or own.bias_learning_rate is not None):
        changes["bias_updater"] = _of_biases(layer.bias_updater or updater, common, bias, schedule)
    changes |= _connected(layer) if common.use_drop_connect else {}
    changes |= {} if common.use_regularization else _unpenalised(layer)
    return replace(layer, **changes)


def _start_of(updater: Any) -> float | None:
    """Return the rate that an updater begins with."""
    rate = getattr(updater, "learning_rate", None)
    return rate.value_at(0, 0) if isinstance(rate, Schedule) else rate


# ---- calls of Builders


def _older_verb(setting: str) -> Callable[..., Builder]:
    def put(builder: Builder, value: object) -> Builder:
        given, call = builder.given.get("older") or OlderSettings(), {**_CALLS, **_OTHER_CALLS}.get(setting)
        try:
            builder.given["older"] = replace(given, **{setting: value})
        except nd.ArgumentError as error:  # in the words of who wrote the call
            raise nd.ArgumentError(str(error).replace(f"OlderSettings: {setting}", f"{call}: it")) from None
        return builder

    return put


def _regularization_verb(builder: Builder, *penalties: Any) -> Builder:
    """Switch L1 and L2 on and off, as 0.9 does, or set the list of all penalties, as 1.0."""
    if len(penalties) == 1 and isinstance(penalties[0], bool):
        return _older_verb("use_regularization")(builder, penalties[0])
    builder.given["regularization"] = penalties[0] if len(penalties) == 1 else penalties
    return builder


def _score_verb(builder: Builder, rate: object) -> Builder:
    raise nd.ConfigurationError(
        f"learningRateScoreBasedDecayRate: the policy Score must not be asked for, got {rate!r}. {_REFUSED['score']}"
    )


_COMMON = ("bias_learning_rate", "learning_rate_schedule")
VERBS_OF_LAYERS: dict[str, Callable[..., Builder]] = {
    **{name: _older_verb(name) for name in ("learning_rate", *_COMMON)}, **PENALTY_VERBS, **WEIGHT_INIT_VERBS
}  # fmt: skip
"""Calls of a layer's Builder, 0.9's and others, that do more than set a field."""
VERBS_OF_NETWORKS: dict[str, Callable[..., Builder]] = {
    **{name: _older_verb(name) for name in (*_COMMON, "use_drop_connect")},
    "learning_rate_decay_policy": _older_verb("policy"),
    "learning_rate_score_based_decay_rate": _score_verb,
    "lr_policy_decay_rate": _older_verb("decay_rate"),
    "lr_policy_power": _older_verb("power"),
    "lr_policy_steps": _older_verb("steps"),
    "regularization": _regularization_verb,
    **PENALTY_VERBS,
    **WEIGHT_INIT_VERBS,
}
"""The same of a network's Builder."""
