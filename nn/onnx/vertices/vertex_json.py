"""Attributes and constants of operators in a model's JSON, both ways."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any

from nd import FormatError

from ...terms.java_form import Codec
from .constants import DTYPES, OnnxConstant

Json = dict[str, Any]


def _constant_to_json(constant: OnnxConstant | None) -> Json | None:
    if constant is None:
        return None
    content = None if constant.content is None else base64.b64encode(constant.content).decode()
    return {"dtype": constant.dtype, "shape": list(constant.shape), "content": content}


def _constant_from_json(data: Any) -> OnnxConstant | None:
    if data is None:
        return None
    dtype, shape, content = (data.get(key) for key in ("dtype", "shape", "content"))
    if dtype not in DTYPES or not isinstance(shape, list) or not isinstance(content, (str, type(None))):
        raise FormatError(f"configuration: a constant must have dtype, shape and content, got {str(data)[:200]}.")
    try:
        given = None if content is None else base64.b64decode(content, validate=True)
        return OnnxConstant(dtype, tuple(shape), given)
    except binascii.Error as error:
        raise FormatError(f"configuration: content must be base64, got {str(content)[:40]!r}.") from error


def _value_to_json(value: Any) -> Any:
    if isinstance(value, OnnxConstant):
        return _constant_to_json(value)
    if isinstance(value, tuple):
        return [_value_to_json(one) for one in value]
    return {"number": repr(value)} if isinstance(value, float) and not math.isfinite(value) else value


def _value_from_json(data: Any) -> Any:
    if isinstance(data, list):
        return tuple(_value_from_json(one) for one in data)
    if not isinstance(data, dict):
        return data
    return float(str(data["number"])) if data.get("number") in ("inf", "-inf", "nan") else _constant_from_json(data)


def _mapping(data: Any) -> Mapping[str, Any]:
    if not isinstance(data, dict):
        raise FormatError(f"configuration: attributes and constants must be objects, got {str(data)[:200]}.")
    return data


def _positions(data: Any) -> dict[int, OnnxConstant | None]:
    try:
        return {int(position): _constant_from_json(one) for position, one in _mapping(data).items()}
    except (AttributeError, ValueError) as error:
        raise FormatError(f"configuration: constants must be objects by position, got {str(data)[:200]}.") from error


ATTRIBUTES = Codec(
    lambda attributes: {name: _value_to_json(value) for name, value in attributes.items()},
    lambda data: {name: _value_from_json(value) for name, value in _mapping(data).items()},
)
CONSTANTS = Codec(
    lambda constants: {str(position): _constant_to_json(one) for position, one in constants.items()}, _positions
)
