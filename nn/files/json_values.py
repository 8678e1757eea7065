"""Codecs of the values inside DL4J's configuration JSON."""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterable
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from nd import ChoiceError, ConfigurationError, FormatError
from nd.activations import ACTIVATIONS
from nd.arguments import shown
from nd.checks import check_choice, suggestion
from nd.losses import LOSSES
from optimize import L1Regularization, L2Regularization, Regularization, Schedule, WeightDecay
from optimize.gradient_normalization import GRADIENT_NORMALIZATIONS
from optimize.schedules import SCHEDULES, CycleSchedule, RampSchedule, as_schedule
from optimize.updaters import UPDATERS

from ..conf.parts import KINDS, kind_of, registered, registered_as, unknown_part
from ..terms.distributions import DISTRIBUTIONS
from ..terms.java_form import Codec
from .lost_schedules import LostSchedule

if TYPE_CHECKING:
    from optimize.updaters.base import Updater


Json = dict[str, Any]

_ACTIVATIONS = "org.nd4j.linalg.activations.impl."
_LOSSES = "org.nd4j.linalg.lossfunctions.impl."
_UPDATERS = "org.nd4j.linalg.learning.config."
_SCHEDULES = "org.nd4j.linalg.schedule."
_REGULARIZATION = "org.nd4j.linalg.learning.regularization."
_DISTRIBUTIONS = "org.deeplearning4j.nn.conf.distribution."


def camel_case(name: str) -> str:
    """Turn ``learning_rate`` into ``learningRate``."""
    return re.sub(r"_([a-z0-9])", lambda letter: letter.group(1).upper(), name)


def number(value: Any) -> Any:
    """Return a number as it is; raise FormatError for anything else."""
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    raise FormatError(f"configuration: expected a number, got {value!r}.")


def class_name(subject: str, data: object) -> str:
    """Return the last part of an object's "@class"; raise FormatError if it has none."""
    java = data.get("@class", data.get("type")) if isinstance(data, dict) else None
    if not isinstance(java, str):
        raise FormatError(f"{subject}: expected an object with '@class', got {data!r}.")
    return java.rpartition(".")[2]


def java_class(part_class: type) -> str:
    """Return the name of Java's class: ours, but for activations that say it."""
    return getattr(part_class, "java_class", "") or part_class.__name__


def choose(subject: str, data: Json, classes: Iterable[type]) -> type:
    """Return the class that an object's "@class" names; raise ChoiceError if it is none of these."""
    by_class = {java_class(part_class): part_class for part_class in classes}
    name = class_name(subject, data)
    if name not in by_class:
        hint = suggestion("class", name, by_class)
        raise ChoiceError(f"{subject}: unknown class {name!r}.{hint} Make one of your own known with nn.register.")
    return by_class[name]


# ---- parts: those of the library, and those that users register


def part_codec(
    kind: str,
    subject: str,
    package: str,
    classes: Iterable[type],
    encode_known: Callable[[Any], Json],
    decode_known: Callable[[Any, Json], Any],
    tag: str = "@class",
) -> Codec:
    """Return the codec of one kind of part; None is None.

        Parameters
        ----------
        kind : str
            As in `parts.KINDS`.
    subject : str
            The field in the JSON, for messages.
        package : str
            Of Java's classes.
        classes : iterable of type
            The library's.
        encode_known : callable (part) -> fields
        decode_known : callable (class, fields) -> part
        tag : str
            Key of Java's name of the class.
    """
    library = set(classes)

    def encode(value: Any) -> Json | None:
        if value is None:
            return None
        if type(value) in library:
            return {tag: package + java_class(type(value)), **encode_known(value)}
        own = registered(kind, type(value))
        if own is None:
            raise unknown_part(kind, type(value))
        return {tag: own.java_class, **own_fields(value)}

    def decode(data: Any) -> Any:
        if data is None:
            return None
        own = registered_as(kind, class_name(subject, data))
        if own is not None:
            return of_own_fields(own.part_class, data)
        return decode_known(choose(subject, data, library), data)

    return Codec(encode, decode)


def own_fields(part: object) -> Json:
    """Return the fields of a part of a user's own, under their camelCase names."""
    who = type(part).__name__
    return {
        camel_case(field.name): own_codec(f"{who}.{field.name}").encode(getattr(part, field.name))
        for field in _fields_of(type(part))
    }


def of_own_fields(part_class: type, data: Json) -> Any:
    """Make a part of a user's own from its fields; those that are missing have their defaults."""
    values = {}
    for field in _fields_of(part_class):
        key = camel_case(field.name)
        if key in data:
            values[field.name] = own_codec(f"{part_class.__name__}.{field.name}").decode(data[key])
    return part_class(**values)


def _fields_of(part_class: type) -> list[Any]:
    return [field for field in fields(part_class) if field.init] if is_dataclass(part_class) else []


def own_codec(who: str) -> Codec:
    """Return the codec of a field of a user's own: None, bool, number, text, another part, tuples of those."""

    def encode(value: object) -> Any:
        if isinstance(value, (tuple, list)):
            return [encode(element) for element in value]
        if value is None or isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
            return value
        kind = kind_of(type(value))
        if kind is not None and kind.name in PART_CODECS:
            return PART_CODECS[kind.name].encode(value)
        raise ConfigurationError(
            f"to_json: {who} must be None, a number, text, a part of a network or a tuple of those to be written, got "
            f"{shown(value)}. Say how a layer's is written: register(..., form=LayerForm(...))."
        )

    def decode(value: object) -> object:
        if isinstance(value, dict):
            name = class_name(who, value)
            for kind in KINDS:  # nobody says which
                of_library = {java_class(part_class) for part_class in kind.library.values()}
                if kind.name in PART_CODECS and (name in of_library or registered_as(kind.name, name) is not None):
                    return PART_CODECS[kind.name].decode(value)
            raise ChoiceError(f"{who}: unknown class {name!r}. Make one of your own known with nn.register.")
        return tuple(decode(element) for element in value) if isinstance(value, list) else value

    return Codec(encode, decode)


def _by_fields(
    kind: str,
    subject: str,
    package: str,
    classes: Iterable[type],
    renamed: dict[str, str] | None = None,
    tag: str = "@class",
) -> Codec:
    """Codec of dataclasses whose fields are written one by one under their camelCase names."""
    to_java = renamed or {}

    def encode(value: Any) -> Json:
        out: Json = {}
        for field in fields(value):
            content = getattr(value, field.name)
            if isinstance(content, tuple):  # a loss's weights: ND4J's text form of an array
                kind = "FLOAT" if array("f", content).tolist() == list(content) else "DOUBLE"
                content = {"dataType": kind, "shape": [1, len(content)], "data": list(content)}
            if content is not None or package == _ACTIVATIONS:
                out[to_java.get(field.name, camel_case(field.name))] = content
        return out

    def decode(part_class: type, data: Json) -> object:
        values = {}
        for field in fields(part_class):
            key = to_java.get(field.name, camel_case(field.name))
            if data.get(key) is not None:
                values[field.name] = _from_array_form(field.name, data[key])
        return part_class(**values)

    return part_codec(kind, subject, package, classes, encode, decode, tag)


def _from_array_form(name: str, value: object) -> object:
    from nd.serde import array_from_json

    if isinstance(value, (dict, list)) or (name == "weights" and isinstance(value, str)):
        return tuple(float(v) for v in array_from_json(value).ravel())
    return value


def _schedule_fields(schedule: Any) -> Json:
    out = {}
    for field in fields(schedule):
        value = getattr(schedule, field.name)
        if isinstance(value, Schedule):
            value = schedule_to_json(value)
        out[camel_case(field.name)] = str(value).upper() if field.name == "schedule_type" else value
    if isinstance(schedule, CycleSchedule):  # Java's getters, which it does not read
        out |= {"increment": schedule.increment, "stepSize": schedule.step_size}
    return out


def _schedule_of(schedule_class: type, data: Json) -> Schedule:
    if schedule_class is RampSchedule and "baseSchedule" not in data:
        raise ConfigurationError(
            "RampSchedule: its baseSchedule and numIter are not in the file: Java writes neither, and cannot read it "
            "back. Load with strict=False, and set the updater."
        )
    names = [field.name for field in fields(schedule_class)]
    return schedule_class(**{name: _of_schedule(name, data[camel_case(name)]) for name in names})


def _of_schedule(name: str, value: Any) -> object:
    """Read a field of a schedule."""
    if name == "schedule_type":
        return value.lower()
    if name == "base_schedule":
        return schedule_from_json(value)
    return {int(key): content for key, content in value.items()} if name == "values" else value


SCHEDULE = part_codec("schedule", "schedule", _SCHEDULES, SCHEDULES.values(), _schedule_fields, _schedule_of)


def schedule_to_json(schedule: Schedule) -> Json:
    """Return a schedule as ND4J writes it."""
    return SCHEDULE.encode(schedule)


def schedule_from_json(data: Json) -> Schedule:
    """Read a schedule."""
    if data is None:
        raise FormatError("configuration: expected a schedule with '@class', got none.")
    return SCHEDULE.decode(data)


_SCHEDULED = {"learning_rate": "learningRateSchedule", "momentum": "momentumISchedule"}


def _updater_fields(updater: Updater) -> Json:
    out: Json = {}
    for field in fields(updater):
        value = getattr(updater, field.name)
        if isinstance(value, LostSchedule):
            out[camel_case(field.name)] = "NaN"
        elif isinstance(value, Schedule):
            out |= {camel_case(field.name): "NaN", _SCHEDULED[field.name]: schedule_to_json(value)}
        else:
            out[camel_case(field.name)] = value
    return out


def _updater_of(updater_class: type, data: Json) -> object:
    values: Json = {}
    for field in fields(updater_class):
        schedule = data.get(_SCHEDULED.get(field.name, ""))
        plain = data.get(camel_case(field.name))
        if schedule is not None:
            values[field.name] = schedule_from_json(schedule)
        elif plain is not None:
            values[field.name] = float(plain)
            if field.name in _SCHEDULED and math.isnan(values[field.name]):
                values[field.name] = LostSchedule(updater_class.__name__, field.name)
    return updater_class(**values)


def regularization_to_json(penalties: Iterable[Regularization]) -> list[Json]:
    """Return penalties as the list that DL4J writes."""
    out: list[Json] = []
    for penalty in penalties:
        coefficient = schedule_to_json(as_schedule("to_json", penalty.coefficient))
        coefficients: Json = {_PENALTIES[type(penalty).__name__][1]: coefficient}
        if isinstance(penalty, WeightDecay):
            coefficients["applyLR"] = penalty.apply_lr
        out.append({"@class": _REGULARIZATION + java_class(type(penalty)), **coefficients})
    return out


_PENALTIES: dict[str, tuple[type[Regularization], str]] = {
    "L1Regularization": (L1Regularization, "l1"), "L2Regularization": (L2Regularization, "l2"),
    "WeightDecay": (WeightDecay, "coeff"),
}  # fmt: skip
"""Java's class -> ours, Java's name of the coefficient."""


def regularization_from_json(who: str, data: Any) -> tuple[Regularization, ...]:
    """Read a list of penalties."""
    penalties: list[Regularization] = []
    for penalty in data or ():
        name = class_name("regularization", penalty)
        if name not in _PENALTIES:
            raise ConfigurationError(
                f"{who}: regularization {name!r} is not supported, only {', '.join(sorted(_PENALTIES))}."
            )
        kind, key = _PENALTIES[name]
        more = (penalty["applyLR"],) if kind is WeightDecay else ()
        penalties.append(kind(schedule_from_json(penalty[key]), *more))
    return tuple(penalties)


def _normalization_to_json(name: str | None) -> str:
    return "".join(part.capitalize() for part in (name or "none").split("_"))


def _normalization_from_json(name: str | None) -> str | None:
    if name is None:
        return None
    by_java = {_normalization_to_json(ours): ours for ours in GRADIENT_NORMALIZATIONS}
    return by_java[check_choice("configuration", "gradientNormalization", name, by_java)]


NUMBER = Codec(lambda value: value, number)
PLAIN = Codec(lambda value: value, lambda value: value)
ACTIVATION = _by_fields("activation", "activationFn", _ACTIVATIONS, ACTIVATIONS.values())
LOSS = _by_fields("loss", "lossFn", _LOSSES, LOSSES.values(), {"labels_width": "labelWidth"})
DISTRIBUTION = _by_fields("distribution", "distribution", _DISTRIBUTIONS, DISTRIBUTIONS.values(), tag="type")
UPDATER = part_codec("updater", "updater", _UPDATERS, UPDATERS.values(), _updater_fields, _updater_of)
NORMALIZATION = Codec(_normalization_to_json, _normalization_from_json)
PAIR = Codec(list, lambda value: tuple(value) if isinstance(value, list) else (value, value))
MODE = Codec(lambda mode: mode.capitalize(), lambda mode: str(mode).lower())
POOLING = Codec(lambda kind: kind.upper(), lambda kind: str(kind).lower())

PART_CODECS: dict[str, Codec] = {
    "activation": ACTIVATION,
    "distribution": DISTRIBUTION,
    "loss": LOSS,
    "schedule": SCHEDULE,
    "updater": UPDATER,
}
"""Kind of part -> codec; `noise_json` adds those of its kinds."""
