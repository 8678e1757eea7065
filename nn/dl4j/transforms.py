"""Transforms: functions of every element, by Java's names."""

from __future__ import annotations

from typing import Any

import nd
from nd.activations import get_activation

Array = Any


def _activation(name: str) -> Any:
    def transform(x: Array, *copy: bool) -> Array:
        return get_activation(name).value(nd.as_array(x))

    return staticmethod(transform)


def _function(function: Any) -> Any:
    def transform(x: Array, *copy: bool) -> Array:
        return function(nd.as_array(x))

    return staticmethod(transform)


class Transforms:
    """New arrays from others, element by element. Source: ND4J ``Transforms``."""

    abs = _function(nd.absolute)
    elu = _activation("elu")
    exp = _function(nd.exp)
    hardTanh = _activation("hardtanh")
    leakyRelu = _activation("leakyrelu")
    log = _function(nd.log)
    relu = _activation("relu")
    sigmoid = _activation("sigmoid")
    sign = _function(nd.sign)
    softPlus = _activation("softplus")
    softmax = _activation("softmax")
    softsign = _activation("softsign")
    sqrt = _function(nd.sqrt)
    tanh = _activation("tanh")

    @staticmethod
    def pow(x: Array, exponent: Any, *copy: bool) -> Array:
        """Return x to a power."""
        return nd.power(nd.as_array(x), exponent)

    @staticmethod
    def max(x: Array, other: Any, *copy: bool) -> Array:
        """Return the larger of two elements."""
        return nd.maximum(nd.as_array(x), other)

    @staticmethod
    def min(x: Array, other: Any, *copy: bool) -> Array:
        """Return the smaller of two elements."""
        return nd.minimum(nd.as_array(x), other)
