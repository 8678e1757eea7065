"""Codecs of the values inside DL4J's configuration JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import fields
from typing import Any, NamedTuple

from nd import ChoiceError, ConfigurationError, FormatError
from nd.activations import ACTIVATIONS
from nd.losses import LOSSES
from optimize import L1Regularization, L2Regularization, Schedule
from optimize.schedules import SCHEDULES, FixedSchedule
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
                values[field.name] = data[key] if isinstance(data[key], bool) else _from_array_form(data[key])
                if isinstance(values[field.name], (str, tuple)) and field.name != "weights":
                    number(values[field.name])
        return found(**values)

    return Codec(encode, decode)


def _array_form(value: Any) -> Any:
    """Write a loss's weights as ND4J's text form of an array."""
    if isinstance(value, tuple):
        return {"dataType": "FLOAT", "shape": [1, len(value)], "data": list(value)}
    return value


def _from_array_form(value: Any) -> Any:
    from nd.serde import array_from_json

    if isinstance(value, (dict, list)):
        return tuple(float(v) for v in array_from_json(value).ravel())
    return value


def schedule_to_json(schedule: Schedule) -> Json:
    """Return a schedule as ND4J writes it."""
    out: Json = {"@class": _SCHEDULES + java_class(type(schedule))}
    for field in fields(schedule):  # type: ignore[arg-type]
        value = getattr(schedule, field.name)
        out[camel_case(field.name)] = str(value).upper() if field.name == "schedule_type" else value
    return out


def schedule_from_json(data: Json) -> Schedule:
    """Read a schedule."""
    found = choose("schedule", data, SCHEDULES.values())
    values = {field.name: data[camel_case(field.name)] for field in fields(found)}
    for key, value in values.items():
        for found_number in value.values() if key == "values" else [value] if key != "schedule_type" else []:
            number(found_number)
    if "schedule_type" in values:
        values["schedule_type"] = values["schedule_type"].lower()
    return found(**values)


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


def regularization_to_json(l1: Any, l2: Any) -> list[Json]:
    """Return the penalties as the list that DL4J writes."""
    out = []
    for key, found, coefficient in (("l1", L1Regularization, l1), ("l2", L2Regularization, l2)):
        if coefficient in (None, 0):
            continue
        schedule = coefficient if isinstance(coefficient, Schedule) else FixedSchedule(coefficient)
        out.append({"@class": _REGULARIZATION + java_class(found), key: schedule_to_json(schedule)})
    return out


def regularization_from_json(who: str, data: Any) -> tuple[Any, Any]:
    """Read a list of penalties as (l1, l2)."""
    found: dict[str, Any] = {"L1Regularization": None, "L2Regularization": None}
    for penalty in data or []:
        name = class_name("regularization", penalty)
        if name not in found:
            raise ConfigurationError(f"{who}: regularization {name!r} is not supported, only L1 and L2.")
        schedule = schedule_from_json(penalty[name[:2].lower()])
        found[name] = schedule.value if isinstance(schedule, FixedSchedule) else schedule
    return found["L1Regularization"], found["L2Regularization"]


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
WEIGHT_INIT = Codec(_init_to_json, _init_from_json)
PAIR = Codec(list, lambda value: tuple(value) if isinstance(value, list) else (value, value))
MODE = Codec(lambda mode: mode.capitalize(), lambda mode: str(mode).lower())
POOLING = Codec(lambda kind: kind.upper(), lambda kind: str(kind).lower())
