"""Codecs of what training adds at random and of what it holds parameters to, inside DL4J's configuration JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

from nd import ConfigurationError, FormatError
from optimize import Schedule
from optimize.constraints import CONSTRAINTS, LayerConstraint

from .dropout import DROPOUTS, AlphaDropout, Dropout, GaussianDropout, GaussianNoise, SpatialDropout
from .json_values import DISTRIBUTION, Codec, Json, choose, number, schedule_from_json, schedule_to_json
from .weight_noise import WEIGHT_NOISES, DropConnect, WeightNoise

_PACKAGE = "org.deeplearning4j.nn.conf."


class _Number(NamedTuple):
    """How a number that may follow a schedule is spelled; Java's constructors take some by another name."""

    field: str
    key: str
    schedule_key: str
    other_keys: tuple[str, ...] = ()


_P = _Number("p", "p", "pschedule", ("pSchedule",))
_NUMBERS: dict[type, _Number] = {
    AlphaDropout: _P,
    DropConnect: _Number("p", "weightRetainProb", "weightRetainProbSchedule", ("weightRetainProbability",)),
    Dropout: _P,
    GaussianDropout: _Number("rate", "rate", "rateSchedule"),
    GaussianNoise: _Number("stddev", "stddev", "stddevSchedule"),
    SpatialDropout: _P,
}
_ALPHA = {"alpha": AlphaDropout.alpha, "lambda": AlphaDropout.lambda_}


def _number_to_json(noise: Any, spelling: _Number) -> Json:
    value = getattr(noise, spelling.field)
    if isinstance(value, Schedule):
        return {spelling.key: "NaN", spelling.schedule_key: schedule_to_json(value)}
    return {spelling.key: value, spelling.schedule_key: None}


def _number_from_json(what: str, data: Json, spelling: _Number) -> Any:
    given = [
        data[key] for key in (spelling.schedule_key, spelling.key, *spelling.other_keys) if data.get(key) is not None
    ]
    found = next((each for each in given if isinstance(each, dict)), given[0] if given else None)
    if isinstance(found, dict):
        return schedule_from_json(found)
    try:
        return float(number(found))
    except FormatError as error:
        raise FormatError(f"configuration: {what} must have a number {spelling.key!r}, got {found!r}.") from error


def _dropout_to_json(dropout: Any) -> Json | None:
    if dropout is None:
        return None
    found = next((each for each in type(dropout).__mro__ if each in DROPOUTS.values()), None)
    if found is None:
        raise ConfigurationError(
            f"to_json: DL4J has no {type(dropout).__name__}, only {', '.join(each.__name__ for each in _NUMBERS)}."
        )
    more = _ALPHA if found is AlphaDropout else {}
    return {"@class": f"{_PACKAGE}dropout.{found.__name__}", **_number_to_json(dropout, _NUMBERS[found]), **more}


def _dropout_from_json(data: Json | None) -> Any:
    if data is None:
        return None
    found = choose("idropout", data, DROPOUTS.values())
    if found is AlphaDropout:
        _refuse_others(data, _ALPHA)
    return found(_number_from_json(found.__name__, data, _NUMBERS[found]))


def _refuse_others(data: Json, only: Json) -> None:
    for key, value in only.items():
        if data.get(key, value) != value:
            raise ConfigurationError(f"idropout: {key} {data[key]!r} is not supported, only {value}.")


def _weight_noise_to_json(noise: Any) -> Json | None:
    if noise is None:
        return None
    if type(noise) is WeightNoise:
        content = {
            "additive": noise.additive,
            "applyToBias": noise.apply_to_biases,
            "distribution": DISTRIBUTION.encode(noise.distribution),
        }
    elif type(noise) is DropConnect:
        content = {**_number_to_json(noise, _NUMBERS[DropConnect]), "applyToBiases": noise.apply_to_biases}
    else:
        raise ConfigurationError(f"to_json: DL4J has no {type(noise).__name__}, only DropConnect and WeightNoise.")
    return {"@class": f"{_PACKAGE}weightnoise.{type(noise).__name__}", **content}


def _weight_noise_from_json(data: Json | None) -> Any:
    if data is None:
        return None
    found = choose("weightNoise", data, WEIGHT_NOISES.values())
    if found is WeightNoise:
        distribution = DISTRIBUTION.decode(data["distribution"])
        return WeightNoise(distribution, data.get("additive", True), data.get("applyToBias", False))
    return DropConnect(_number_from_json("DropConnect", data, _NUMBERS[DropConnect]), data.get("applyToBiases", False))


_CONSTRAINT_KEYS = {"max_norm": "maxNorm"}
"""Field -> key, where the two differ."""


def _constraint_to_json(constraint: LayerConstraint) -> Json:
    if type(constraint) not in CONSTRAINTS.values():
        names = ", ".join(each.__name__ for each in CONSTRAINTS.values())
        raise ConfigurationError(f"to_json: DL4J has no {type(constraint).__name__}, only {names}.")
    out: Json = {"@class": f"{_PACKAGE}constraint.{type(constraint).__name__}", "dimensions": None}
    for field, value in vars(constraint).items():
        out[_CONSTRAINT_KEYS.get(field, field)] = list(value) if isinstance(value, tuple) else value
    return {**out, "epsilon": constraint.epsilon}


def _constraint_from_json(data: Json) -> LayerConstraint:
    found = choose("constraint", data, CONSTRAINTS.values())
    if data.get("epsilon", found.epsilon) != found.epsilon:
        raise ConfigurationError(f"constraint: epsilon {data['epsilon']!r} is not supported, only {found.epsilon}.")
    names = [field.name for field in fields(found)]
    values = {name: data.get(_CONSTRAINT_KEYS.get(name, name)) for name in names}
    return found(**{name: value for name, value in values.items() if value is not None})


def _constraints_to_json(constraints: Any) -> list[Json] | None:
    return [_constraint_to_json(each) for each in constraints] if constraints else None


def _constraints_from_json(data: Any) -> Any:
    return tuple(_constraint_from_json(each) for each in data) if data else None


DROPOUT = Codec(_dropout_to_json, _dropout_from_json)
WEIGHT_NOISE = Codec(_weight_noise_to_json, _weight_noise_from_json)
CONSTRAINTS_LIST = Codec(_constraints_to_json, _constraints_from_json)
