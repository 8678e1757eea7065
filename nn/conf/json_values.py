"""Codecs of the values inside DL4J's configuration JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any, NamedTuple

from nd import ChoiceError, ConfigurationError, FormatError
from nd.activations import ACTIVATIONS
from nd.checks import check_choice
from nd.losses import LOSSES
from optimize import Regularization, Schedule, WeightDecay
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from optimize.schedules import SCHEDULES, FixedSchedule, as_schedule
from optimize.updaters import UPDATERS

from .distributions import DISTRIBUTIONS, Distribution

Json = dict[str, Any]

_ACTIVATIONS = "org.nd4j.linalg.activations.impl."
_LOSSES = "org.nd4j.linalg.lossfunctions.impl."
_UPDATERS = "org.nd4j.linalg.learning.config."
_SCHEDULES = "org.nd4j.linalg.schedule."
_REGULARIZATION = "org.nd4j.linalg.learning.regularization."
_WEIGHTS = "org.deeplearning4j.nn.weights."
_DISTRIBUTIONS = "org.deeplearning4j.nn.conf.distribution."


class Codec(NamedTuple):
    """How one kind of value is written and read."""

    encode: Callable[[Any], Any]
    decode: Callable[[Any], Any]


def camel_case(name: str) -> str:
    """Turn ``learning_rate`` into ``learningRate``."""
    return re.sub(r"_([a-z0-9])", lambda letter: letter.group(1).upper(), name)


def number(value: Any) -> Any:
    """Return a number as it is; raise FormatError for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise FormatError(f"configuration: expected a number, got {value!r}.")


def class_name(what: str, data: Any) -> str:
    """Return the last part of an object's "@class"; raise FormatError if it has none."""
    java = data.get("@class", data.get("type")) if isinstance(data, dict) else None
    if not isinstance(java, str):
        raise FormatError(f"{what}: expected an object with '@class', got {data!r}.")
    return java.rpartition(".")[2]


def java_class(found: type) -> str:
    """Return the name of Java's class: ours, except for activations, which say it."""
    return getattr(found, "java_class", found.__name__)


def choose(what: str, data: Json, classes: Any) -> Any:
    """Return the class that an object's "@class" names; raise ChoiceError if it is none of these."""
    by_class = {java_class(found): found for found in classes}
    name = class_name(what, data)
    if name not in by_class:
        raise ChoiceError(f"{what}: unknown class {name!r}, expected one of {', '.join(sorted(by_class))}.")
    return by_class[name]


def _by_fields(what: str, package: str, classes: Any, renamed: dict[str, str] | None = None) -> Codec:
    """Codec of dataclasses whose fields are written one by one under their camelCase names."""
    to_java = renamed or {}

    def encode(value: Any) -> Json | None:
        if value is None:
            return None
        out: Json = {"@class": package + java_class(type(value))}
        for field in fields(value):
            content = getattr(value, field.name)
            if content is not None or package == _ACTIVATIONS:
                out[to_java.get(field.name, camel_case(field.name))] = _array_form(content)
        return out

    def decode(data: Any) -> Any:
        if data is None:
            return None
        found = choose(what, data, classes)
        values = {}
        for field in fields(found):
            key = to_java.get(field.name, camel_case(field.name))
            if data.get(key) is not None:
                values[field.name] = (
                    data[key] if isinstance(data[key], bool) else _from_array_form(field.name, data[key])
                )
                if isinstance(values[field.name], (str, tuple)) and field.name != "weights":
                    number(values[field.name])
        return found(**values)

    return Codec(encode, decode)


def _array_form(value: Any) -> Any:
    """Write a loss's weights as ND4J's text form of an array."""
    if isinstance(value, tuple):
        return {"dataType": "FLOAT", "shape": [1, len(value)], "data": list(value)}
    return value


def _from_array_form(name: str, value: Any) -> Any:
    from nd.serde import array_from_json

    if isinstance(value, (dict, list)) or (name == "weights" and isinstance(value, str)):
        return tuple(float(v) for v in array_from_json(value).ravel())
    return value


def schedule_to_json(schedule: Schedule) -> Json:
    """Return a schedule as ND4J writes it."""
    out: Json = {"@class": _SCHEDULES + java_class(type(schedule))}
    for field in fields(schedule):  # type: ignore[arg-type]
        value = getattr(schedule, field.name)
        if isinstance(value, Schedule):
            value = schedule_to_json(value)
        out[camel_case(field.name)] = str(value).upper() if field.name == "schedule_type" else value
    return out


def schedule_from_json(data: Json) -> Schedule:
    """Read a schedule."""
    found = choose("schedule", data, SCHEDULES.values())
    return found(**{field.name: _of_schedule(field.name, data[camel_case(field.name)]) for field in fields(found)})


def _of_schedule(name: str, value: Any) -> Any:
    """Read a field of a schedule."""
    if name == "schedule_type":
        return value.lower()
    if name == "base_schedule":
        return schedule_from_json(value)
    for found in value.values() if name == "values" else [value]:
        number(found)
    return value


_SCHEDULED = {"learning_rate": "learningRateSchedule", "momentum": "momentumISchedule"}


def _updater_to_json(updater: Any) -> Json | None:
    if updater is None:
        return None
    out: Json = {"@class": _UPDATERS + java_class(type(updater))}
    for field in fields(updater):
        value = getattr(updater, field.name)
        if isinstance(value, Schedule) and field.name not in _SCHEDULED:
            raise ConfigurationError(f"to_json: {type(updater).__name__}.{field.name} must be a number, got {value!r}.")
        if isinstance(value, Schedule):
            out[_SCHEDULED[field.name]] = schedule_to_json(value)
        else:
            out[camel_case(field.name)] = value
    return out


def _updater_from_json(data: Json | None) -> Any:
    if data is None:
        return None
    found = choose("updater", data, UPDATERS.values())
    values: Json = {}
    for field in fields(found):
        schedule = data.get(_SCHEDULED.get(field.name, ""))
        plain = data.get(camel_case(field.name))
        if schedule is not None:
            values[field.name] = schedule_from_json(schedule)
        elif plain is not None:
            values[field.name] = float(plain)
    return found(**values)


def regularization_to_json(penalties: Iterable[Regularization]) -> list[Json]:
    """Return penalties as the list that DL4J writes."""
    out: list[Json] = []
    for penalty in penalties:
        coefficient = as_schedule("to_json", penalty.coefficient)
        found: Json = {_PENALTIES[type(penalty).__name__][1]: schedule_to_json(coefficient)}
        if isinstance(penalty, WeightDecay):
            found["applyLR"] = penalty.apply_lr
        out.append({"@class": _REGULARIZATION + java_class(type(penalty)), **found})
    return out


_PENALTIES = {
    "L1Regularization": ("l1", "l1"), "L2Regularization": ("l2", "l2"), "WeightDecay": ("weight_decay", "coeff"),
}  # fmt: skip
"""Java's class -> our field of a layer, Java's name of the coefficient."""


def regularization_from_json(who: str, data: Any, bias: bool = False) -> Json:
    """Read a list of penalties as the fields of a layer."""
    found: Json = {}
    for penalty in data or []:
        name = class_name("regularization", penalty)
        if name not in _PENALTIES:
            raise ConfigurationError(
                f"{who}: regularization {name!r} is not supported, only {', '.join(sorted(_PENALTIES))}."
            )
        field, key = _PENALTIES[name]
        schedule = schedule_from_json(penalty[key])
        value: Any = schedule.value if isinstance(schedule, FixedSchedule) else schedule
        if name == "WeightDecay":
            value = WeightDecay(value, _flag("applyLR", penalty["applyLR"]))
        found[field + "_bias" * bias] = value
    return found


def _flag(key: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise FormatError(f"configuration: {key} must be true or false, got {value!r}.")
    return value


def _normalization_to_json(name: str | None) -> str:
    return "".join(part.capitalize() for part in (name or "none").split("_"))


def _normalization_from_json(name: str | None) -> str | None:
    if name is None:
        return None
    by_java = {_normalization_to_json(ours): ours for ours in GRADIENT_NORMALIZATIONS}
    return by_java[check_choice("configuration", "gradientNormalization", name, by_java)]


_INIT_CLASSES = {
    "identity": "WeightInitIdentity", "lecun_normal": "WeightInitLecunNormal",
    "lecun_uniform": "WeightInitLecunUniform", "normal": "WeightInitNormal", "relu": "WeightInitRelu",
    "relu_uniform": "WeightInitReluUniform", "sigmoid_uniform": "WeightInitSigmoidUniform",
    "uniform": "WeightInitUniform", "var_scaling_normal_fan_avg": "WeightInitVarScalingNormalFanAvg",
    "var_scaling_normal_fan_in": "WeightInitVarScalingNormalFanIn",
    "var_scaling_normal_fan_out": "WeightInitVarScalingNormalFanOut",
    "var_scaling_uniform_fan_avg": "WeightInitVarScalingUniformFanAvg",
    "var_scaling_uniform_fan_in": "WeightInitVarScalingUniformFanIn",
    "var_scaling_uniform_fan_out": "WeightInitVarScalingUniformFanOut", "xavier": "WeightInitXavier",
    "xavier_fan_in": "WeightInitXavierFanIn", "xavier_legacy": "WeightInitXavierLegacy",
    "xavier_uniform": "WeightInitXavierUniform",
}  # fmt: skip


def _init_to_json(init: Any) -> Json | None:
    if init is None:
        return None
    if isinstance(init, Distribution):
        return {"@class": _WEIGHTS + "WeightInitDistribution", "distribution": DISTRIBUTION.encode(init)}
    if init in ("zero", "ones"):
        return {"@class": _WEIGHTS + "WeightInitConstant", "constant": 1.0 if init == "ones" else 0.0}
    return {"@class": _WEIGHTS + _INIT_CLASSES[init]}


def _init_from_json(data: Json | None) -> Any:
    if data is None:
        return None
    name = class_name("weightInitFn", data)
    if name == "WeightInitDistribution":
        return DISTRIBUTION.decode(data["distribution"])
    if name == "WeightInitConstant":
        constant = float(data.get("constant", 0.0))
        return {0.0: "zero", 1.0: "ones"}.get(constant) or DISTRIBUTIONS["constant"](constant)  # type: ignore[call-arg]
    by_class = {java: ours for ours, java in _INIT_CLASSES.items()}
    if name not in by_class:
        raise ChoiceError(f"weightInitFn: unknown class {name!r}, expected one of {', '.join(sorted(by_class))}.")
    return by_class[name]


NUMBER = Codec(lambda value: value, number)
PLAIN = Codec(lambda value: value, lambda value: value)
ACTIVATION = _by_fields("activationFn", _ACTIVATIONS, ACTIVATIONS.values())
LOSS = _by_fields("lossFn", _LOSSES, set(LOSSES.values()), {"labels_width": "labelWidth"})
DISTRIBUTION = _by_fields("distribution", _DISTRIBUTIONS, DISTRIBUTIONS.values())
UPDATER = Codec(_updater_to_json, _updater_from_json)
NORMALIZATION = Codec(_normalization_to_json, _normalization_from_json)
WEIGHT_INIT = Codec(_init_to_json, _init_from_json)
PAIR = Codec(list, lambda value: tuple(value) if isinstance(value, list) else (value, value))
MODE = Codec(lambda mode: mode.capitalize(), lambda mode: str(mode).lower())
POOLING = Codec(lambda kind: kind.upper(), lambda kind: str(kind).lower())
