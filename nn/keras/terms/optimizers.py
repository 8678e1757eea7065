"""Optimizers and learning rate schedules of Keras, and our updaters and schedules."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from optimize import Schedule, Updater, WeightDecay
from optimize.schedules import (
    CosineSchedule,
    ExponentialSchedule,
    FixedSchedule,
    InverseSchedule,
    MapSchedule,
    PolySchedule,
    StepSchedule,
)
from optimize.updaters import AdaDelta, AdaGrad, Adam, AdaMax, AMSGrad, Nadam, Nesterovs, RmsProp, Sgd

from .malformed import or_none

Rate = float | Schedule
Config = Mapping[str, Any]


class OptimizerReading(NamedTuple):
    """An optimizer as it was read.

    Attributes
    ----------
    updater : Updater or None
        None where none of ours says it.
    settings : dict of str -> object
        Others of a network's configuration: weight decay, the clipping of gradients.
    warnings : tuple of str
        What differs from Keras in training.
    """

    updater: Updater | None
    settings: dict[str, Any]
    warnings: tuple[str, ...]


def optimizer_of(given: Any) -> OptimizerReading:
    """Return the updater that a configuration of Keras means.

    Parameters
    ----------
    given : str or mapping
        ``"adam"``, ``{"class_name": "Adam", "config": {"learning_rate": 0.001, ...}}``.

    Notes
    -----
    SGD without momentum, with Nesterov's momentum, Adam, AdamW and AMSGrad take Keras' steps. Of these ours differ, and
    a warning says so: SGD with plain momentum becomes Nesterov's. RMSprop and Adagrad have epsilon under the root, and
    start from other sums of squares; RMSprop has neither momentum nor mean. Adadelta has a learning rate, 1 here.
    Adamax adds epsilon. Nadam becomes Adam, as ours does not correct v: its first steps are many times as large.
    Gradients are clipped before penalties are added, in Keras after that. Source: Keras,
    keras.optimizers; KerasOptimizerUtils.
    """
    return _optimizer_of(given) or OptimizerReading(None, {}, (f"optimizer {given!r}",))


@or_none
def _optimizer_of(given: Any) -> OptimizerReading:
    name = str(given.get("class_name") if isinstance(given, Mapping) else given)
    config: Config = (given.get("config") or {}) if isinstance(given, Mapping) else {}
    key = name.rpartition(">")[2].lower()
    if key not in _READERS:
        return OptimizerReading(None, {}, (f"optimizer {name}",))
    default, reader = _READERS[key]
    rate, warnings = _rate_of(config, default)
    updater, differences = reader(config, rate)
    settings, others = _settings_of(config, key)
    warnings += [f"{name}: {why}" for why in (*differences, *others)]
    return OptimizerReading(updater, settings, tuple(warnings))


# ---- learning rates


def _rate_of(config: Config, default: float) -> tuple[Rate, list[str]]:
    given = config.get("learning_rate", config.get("lr", default))
    if isinstance(given, Mapping):
        schedule = schedule_of(given)
        if schedule is not None:
            return schedule, []
        first = given.get("config", {}).get("initial_learning_rate", default)
        rate = float(first) if isinstance(first, (int, float)) else default
        return rate, [f"learning rate schedule {given.get('class_name')}: the rate stays {rate}"]
    if not isinstance(given, (int, float)):
        return default, [f"learning rate {given!r}: {default} is taken"]
    decay = float(config.get("decay") or 0.0)
    rate = _shortest(float(given))
    return (InverseSchedule("iteration", rate, decay, 1.0) if decay else rate), []


def _shortest(rate: float) -> float:
    """Return the number that was meant by one that has been through float32, which Keras' files hold."""
    return float(f"{rate:.7g}")


@or_none
def schedule_of(given: Config) -> Schedule | None:
    """Return the schedule that a configuration of Keras means; None where ours cannot say it.

    Parameters
    ----------
    given : mapping
        ``{"class_name": "ExponentialDecay", "config": {...}}``.

    Notes
    -----
    Steps are iterations. Source: Keras, keras.optimizers.schedules.
    """
    config = given.get("config") or {}
    reader = _SCHEDULES.get(str(given.get("class_name")))
    return None if reader is None else reader(config)


def _exponential(config: Config) -> Schedule | None:
    start, rate, steps = config["initial_learning_rate"], config["decay_rate"], config["decay_steps"]
    if config.get("staircase"):
        return StepSchedule("iteration", float(start), float(rate), float(steps))
    return ExponentialSchedule("iteration", float(start), float(rate) ** (1.0 / float(steps)))


def _inverse(config: Config) -> Schedule | None:
    if config.get("staircase"):
        return None
    gamma = float(config["decay_rate"]) / float(config["decay_steps"])
    return InverseSchedule("iteration", float(config["initial_learning_rate"]), gamma, 1.0)


def _piecewise(config: Config) -> Schedule | None:
    firsts = [0, *(math.floor(boundary) + 1 for boundary in config["boundaries"])]
    values = [float(value) for value in config["values"]]
    return MapSchedule("iteration", dict(zip(firsts, values, strict=True)))


def _polynomial(config: Config) -> Schedule | None:
    if config.get("cycle") or config.get("end_learning_rate", 0.0001):
        return None
    start, power = float(config["initial_learning_rate"]), float(config.get("power", 1.0))
    return PolySchedule("iteration", start, power, int(config["decay_steps"]))


def _cosine(config: Config) -> Schedule | None:
    if config.get("warmup_target") is not None:
        return None
    start = float(config["initial_learning_rate"])
    return CosineSchedule("iteration", start, int(config["decay_steps"]), start * float(config.get("alpha", 0.0)))


_SCHEDULES: Mapping[str, Callable[[Config], Schedule | None]] = {
    "CosineDecay": _cosine,
    "ExponentialDecay": _exponential,
    "InverseTimeDecay": _inverse,
    "PiecewiseConstantDecay": _piecewise,
    "PolynomialDecay": _polynomial,
}


# ---- optimizers

Read = tuple[Updater, tuple[str, ...]]


def _number(config: Config, name: str, default: float) -> float:
    value = config.get(name, default)
    return float(default if value is None else value)


def _sgd(config: Config, rate: Rate) -> Read:
    momentum = _number(config, "momentum", 0.0)
    if not momentum:
        return Sgd(rate), ()
    plain = () if config.get("nesterov") else ("its momentum is Nesterov's here",)
    return Nesterovs(rate, momentum), plain


def _betas(config: Config) -> tuple[float, float, float]:
    return _number(config, "beta_1", 0.9), _number(config, "beta_2", 0.999), _number(config, "epsilon", 1e-7)


def _adam(config: Config, rate: Rate) -> Read:
    return (AMSGrad if config.get("amsgrad") else Adam)(rate, *_betas(config)), ()


def _adamax(config: Config, rate: Rate) -> Read:
    return AdaMax(rate, *_betas(config)), ("its epsilon is not added to the largest gradient",)


def _nadam(config: Config, rate: Rate) -> Read:
    return Adam(rate, *_betas(config)), ("it is Adam here, as the first steps of Nadam are many times Keras'",)


def _rmsprop(config: Config, rate: Rate) -> Read:
    differences = ["epsilon is added to the root, and the mean of squares starts at epsilon"]
    differences += [f"{name}={config[name]!r} is left out" for name in ("momentum", "centered") if config.get(name)]
    updater = RmsProp(rate, _number(config, "rho", 0.9), _number(config, "epsilon", 1e-7))
    return updater, tuple(differences)


def _adagrad(config: Config, rate: Rate) -> Read:
    return AdaGrad(rate, _number(config, "epsilon", 1e-7)), ("the sum of squares starts at 1e-6",)


def _adadelta(config: Config, rate: Rate) -> Read:
    differences = () if rate == 1.0 else ("its learning rate is 1 here",)
    return AdaDelta(_number(config, "rho", 0.95), _number(config, "epsilon", 1e-7)), differences


_READERS: Mapping[str, tuple[float, Callable[[Config, Rate], Read]]] = {
    "adadelta": (0.001, _adadelta),
    "adagrad": (0.001, _adagrad),
    "adam": (0.001, _adam),
    "adamax": (0.001, _adamax),
    "adamw": (0.001, _adam),
    "nadam": (0.001, _nadam),
    "rmsprop": (0.001, _rmsprop),
    "sgd": (0.01, _sgd),
}
"""Class in small letters -> the learning rate where nothing says it, and what reads it."""


def _settings_of(config: Config, key: str) -> tuple[dict[str, Any], list[str]]:
    """Return the settings of a network that all optimizers may have, and what is left out."""
    settings: dict[str, Any] = {}
    decay = config.get("weight_decay", 0.004 if key == "adamw" else None)
    if decay:
        settings |= dict.fromkeys(("weight_decay", "weight_decay_bias"), WeightDecay(float(decay)))
    for name, ours in (("clipnorm", "clip_l2_per_param_type"), ("clipvalue", "clip_element_wise_absolute_value")):
        if config.get(name):
            settings["gradient_normalization"] = ours
            settings["gradient_normalization_threshold"] = float(config[name])
    unsaid = ("global_clipnorm", "use_ema", "gradient_accumulation_steps")
    return settings, [f"{name}={config[name]!r} is left out" for name in unsaid if config.get(name)]


# ---- the way back


def keras_of(updater: Updater, weight_decay: float | None = None) -> dict[str, Any] | None:
    """Return Keras 3's optimizer for an updater; None where it has none.

    Parameters
    ----------
    updater : Updater
    weight_decay : float, optional
        AdamW's, of all parameters.

    Notes
    -----
    The differences are those of `optimizer_of`; a schedule that Keras cannot say is its first value.
    """
    rate = keras_rate_of(getattr(updater, "learning_rate", 1.0))
    config: dict[str, Any] = {"learning_rate": rate, "weight_decay": weight_decay}
    kind = type(updater)
    class_name = _CLASSES.get(kind)
    if class_name is None:
        return None
    if isinstance(updater, Nesterovs):
        config |= {"momentum": updater.at(updater.momentum, 0, 0), "nesterov": True}
    for name, ours in _SETTINGS:
        if hasattr(updater, ours):
            config[name] = getattr(updater, ours)
    if kind is AMSGrad:
        config["amsgrad"] = True
    if kind is AdaGrad:
        config["initial_accumulator_value"] = 1e-6
    return {"module": "keras.optimizers", "class_name": class_name, "config": config, "registered_name": None}


_SETTINGS = (
    ("beta_1", "beta1"), ("beta_2", "beta2"), ("epsilon", "epsilon"), ("rho", "rho"), ("rho", "rms_decay"),
)  # fmt: skip
"""Keras' names of settings, and ours."""
_CLASSES: Mapping[type, str] = {
    AMSGrad: "Adam",
    AdaDelta: "Adadelta",
    AdaGrad: "Adagrad",
    AdaMax: "Adamax",
    Adam: "Adam",
    Nadam: "Nadam",
    Nesterovs: "SGD",
    RmsProp: "RMSprop",
    Sgd: "SGD",
}


def keras_rate_of(rate: Rate) -> Any:
    """Return a learning rate as Keras 3 has it in a configuration: a number, or a schedule of iterations."""
    if not isinstance(rate, Schedule):
        return float(rate)
    first = rate.value_at(0, 0)
    if isinstance(rate, FixedSchedule) or str(getattr(rate, "schedule_type", "")) != "iteration":
        return first
    if isinstance(rate, (StepSchedule, ExponentialSchedule)):
        is_step = isinstance(rate, StepSchedule)
        factor, steps = (rate.decay_rate, rate.step) if isinstance(rate, StepSchedule) else (rate.gamma, 1)
        return _schedule("ExponentialDecay", first, decay_rate=factor, decay_steps=steps, staircase=is_step)
    if isinstance(rate, InverseSchedule) and rate.power == 1.0:
        return _schedule("InverseTimeDecay", first, decay_rate=rate.gamma, decay_steps=1, staircase=False)
    if isinstance(rate, PolySchedule):
        settings = {"power": rate.power, "decay_steps": rate.max_iter}
        return _schedule("PolynomialDecay", first, end_learning_rate=0.0, cycle=False, **settings)
    if isinstance(rate, CosineSchedule) and first:
        return _schedule("CosineDecay", first, decay_steps=rate.max_iter, alpha=rate.final_value / first)
    if isinstance(rate, MapSchedule):
        config = {"boundaries": [key - 1 for key in rate.values if key], "values": list(rate.values.values())}
        return {**_schedule("PiecewiseConstantDecay", first), "config": config}
    return first


def _schedule(class_name: str, first: float, **config: Any) -> dict[str, Any]:
    return {
        "module": "keras.optimizers.schedules",
        "class_name": class_name,
        "config": {"initial_learning_rate": first, **config},
        "registered_name": None,
    }


__all__ = ["OptimizerReading", "keras_of", "keras_rate_of", "optimizer_of", "schedule_of"]
