"""Codecs of dropout, weight noise and constraints, inside DL4J's configuration JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, NamedTuple

from nd import ConfigurationError, FormatError
from optimize import Schedule
from optimize.constraints import CONSTRAINTS, LayerConstraint

from ..terms.dropout import DROPOUTS, AlphaDropout, Dropout, GaussianDropout, GaussianNoise, SpatialDropout
from ..terms.noise import read_from_file
from ..terms.weight_noise import WEIGHT_NOISES, DropConnect, WeightNoise
from .json_values import (
    DISTRIBUTION,
    PART_CODECS,
    Codec,
    Json,
    number,
    part_codec,
    schedule_from_json,
    schedule_to_json,
)

_PACKAGE = "org.deeplearning4j.nn.conf."


class _Number(NamedTuple):
    """Keys of a number that may follow a schedule; Java's constructors take some by another name."""

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
_CUDNN = {"helperAllowFallback": True}


def _number_to_json(noise: object, spelling: _Number) -> Json:
    value = getattr(noise, spelling.field)
    if isinstance(value, Schedule):
        return {spelling.key: "NaN", spelling.schedule_key: schedule_to_json(value)}
    return {spelling.key: value, spelling.schedule_key: None}


def _number_from_json(subject: str, data: Json, spelling: _Number) -> float | Schedule:
    given = [
        data[key] for key in (spelling.schedule_key, spelling.key, *spelling.other_keys) if data.get(key) is not None
    ]
    value = next((stored for stored in given if isinstance(stored, dict)), given[0] if given else None)
    if isinstance(value, dict):
        return schedule_from_json(value)
    try:
        return float(number(value))
    except FormatError as error:
        raise FormatError(f"configuration: {subject} must have a number {spelling.key!r}, got {value!r}.") from error


def _dropout_fields(dropout: object) -> Json:
    more = _ALPHA if isinstance(dropout, AlphaDropout) else _CUDNN if type(dropout) is Dropout else {}
    return {**_number_to_json(dropout, _NUMBERS[type(dropout)]), **more}


def _dropout_of(dropout_class: type, data: Json) -> object:
    for key, only in _ALPHA.items() if dropout_class is AlphaDropout else ():
        if data.get(key, only) != only:
            raise ConfigurationError(f"idropout: {key} {data[key]!r} is not supported, only {only}.")
    return dropout_class(_number_from_json(dropout_class.__name__, data, _NUMBERS[dropout_class]))


def _weight_noise_fields(noise: Any) -> Json:
    if isinstance(noise, DropConnect):
        return {**_number_to_json(noise, _NUMBERS[DropConnect]), "applyToBiases": noise.apply_to_biases}
    return {
        "additive": noise.additive,
        "applyToBias": noise.apply_to_biases,
        "distribution": DISTRIBUTION.encode(noise.distribution),
    }


def _weight_noise_of(noise_class: object, data: Json) -> object:
    if noise_class is WeightNoise:
        distribution = DISTRIBUTION.decode(data["distribution"])
        return WeightNoise(distribution, data.get("additive", True), data.get("applyToBias", False))
    return DropConnect(_number_from_json("DropConnect", data, _NUMBERS[DropConnect]), data.get("applyToBiases", False))


_CONSTRAINT_KEYS = {"max_norm": "maxNorm"}
"""Field -> key, where the two differ."""


def _constraint_fields(constraint: Any) -> Json:
    out: Json = {"dimensions": None}
    for field, value in vars(constraint).items():
        out[_CONSTRAINT_KEYS.get(field, field)] = list(value) if isinstance(value, tuple) else value
    return {**out, "epsilon": constraint.epsilon}


def _constraint_of(constraint_class: Any, data: Json) -> LayerConstraint:
    if data.get("epsilon", constraint_class.epsilon) != constraint_class.epsilon:
        only = constraint_class.epsilon
        raise ConfigurationError(f"constraint: epsilon {data['epsilon']!r} is not supported, only {only}.")
    names = [field.name for field in fields(constraint_class)]
    values = {name: data.get(_CONSTRAINT_KEYS.get(name, name)) for name in names}
    return constraint_class(**{name: value for name, value in values.items() if value is not None})


CONSTRAINT = part_codec(
    "constraint", "constraint", f"{_PACKAGE}constraint.", CONSTRAINTS.values(), _constraint_fields, _constraint_of
)


def _noise_codec(kind: str, subject: str, package: str, classes: Any, encode: Any, decode: Any) -> Codec:
    codec = part_codec(kind, subject, f"{_PACKAGE}{package}.", classes, encode, decode)

    def decode_noise(data: object) -> object:
        with read_from_file():
            return codec.decode(data)

    return codec._replace(decode=decode_noise)


DROPOUT = _noise_codec("dropout", "idropout", "dropout", DROPOUTS.values(), _dropout_fields, _dropout_of)
WEIGHT_NOISE = _noise_codec(
    "weight noise", "weightNoise", "weightnoise", WEIGHT_NOISES.values(), _weight_noise_fields, _weight_noise_of
)
PART_CODECS.update({"constraint": CONSTRAINT, "dropout": DROPOUT, "weight noise": WEIGHT_NOISE})
CONSTRAINTS_LIST = Codec(
    lambda constraints: [CONSTRAINT.encode(constraint) for constraint in constraints] if constraints else None,
    lambda data: tuple(CONSTRAINT.decode(constraint) for constraint in data) if data else None,
)
