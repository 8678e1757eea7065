"""Activations of Keras that Deeplearning4j has not, or has in another form: value and derivative."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import nd
from nd.activations import Activation
from nd.activations.base import pick, sigmoid
from nd.arrays import standard
from nd.checks import check_choice
from nd.typing import Array

from ...conf.parts import register
from ...onnx.vertices.error_function import error_function


class _Formula(NamedTuple):
    value: Callable[[Array], Array]
    slope: Callable[[Array, Array], Array]
    """Of x and its value."""


def _inside(x: Array, low: float, high: float, slope: float = 1.0) -> Array:
    """Return `slope` between two limits, ends excluded, else 0."""
    within = nd.multiply(pick(nd.greater(x, low), x, 1.0, 0.0), pick(nd.greater(high, x), x, 1.0, 0.0))
    return nd.multiply(nd.astype(within, nd.dtype_name(x)), slope)


def _held(x: Array, low: float, high: float) -> Array:
    return nd.minimum(nd.maximum(x, low), high)


def _hard_sigmoid(x: Array) -> Array:
    return nd.multiply(_held(nd.add(x, 3.0), 0.0, 6.0), 1.0 / 6.0)


def _hard_silu_slope(x: Array, a: Array) -> Array:
    return nd.add(_hard_sigmoid(x), nd.multiply(x, _inside(x, -3.0, 3.0, 1.0 / 6.0)))


def _gelu(x: Array) -> Array:
    return nd.multiply(nd.multiply(x, 0.5), nd.add(error_function(nd.multiply(x, math.sqrt(0.5))), 1.0))


def _gelu_slope(x: Array, a: Array) -> Array:
    share = nd.multiply(nd.add(error_function(nd.multiply(x, math.sqrt(0.5))), 1.0), 0.5)
    density = nd.multiply(nd.exp(nd.multiply(nd.square(x), -0.5)), 1.0 / math.sqrt(2.0 * math.pi))
    return nd.add(share, nd.multiply(x, density))


_TANH_SCALE = math.sqrt(2.0 / math.pi)


def _gelu_inner(x: Array) -> Array:
    """Return the tanh in the approximation of GELU."""
    return nd.tanh(nd.multiply(nd.add(x, nd.multiply(nd.multiply(nd.square(x), x), 0.044715)), _TANH_SCALE))


def _gelu_tanh(x: Array) -> Array:
    return nd.multiply(nd.multiply(x, 0.5), nd.add(_gelu_inner(x), 1.0))


def _gelu_tanh_slope(x: Array, a: Array) -> Array:
    t = _gelu_inner(x)
    steepness = nd.multiply(nd.add(nd.multiply(nd.square(x), 3.0 * 0.044715), 1.0), _TANH_SCALE)
    bend = nd.multiply(nd.multiply(nd.multiply(x, 0.5), nd.subtract(1.0, nd.square(t))), steepness)
    return nd.add(nd.multiply(nd.add(t, 1.0), 0.5), bend)


def log_sigmoid(x: Array) -> Array:
    """Return ln(1 / (1 + e^-x)), which does not overflow."""
    return nd.subtract(nd.minimum(x, 0.0), standard.log1p(nd.exp(nd.multiply(nd.absolute(x), -1.0))))


def _soft_shrink(x: Array) -> Array:
    return nd.add(nd.maximum(nd.subtract(x, 0.5), 0.0), nd.minimum(nd.add(x, 0.5), 0.0))


def _beyond(x: Array, a: Array | None = None) -> Array:
    """Return 1 where \\|x\\| is above a half, else 0."""
    return pick(nd.greater(nd.absolute(x), 0.5), x, 1.0, 0.0)


def _sparse_plus(x: Array) -> Array:
    inside = nd.multiply(nd.square(nd.add(_held(x, -1.0, 1.0), 1.0)), 0.25)
    return nd.add(inside, nd.maximum(nd.subtract(x, 1.0), 0.0))


def _squareplus(x: Array) -> Array:
    return nd.multiply(nd.add(x, nd.sqrt(nd.add(nd.square(x), 4.0))), 0.5)


def _squareplus_slope(x: Array, a: Array) -> Array:
    return nd.multiply(nd.add(nd.divide(x, nd.sqrt(nd.add(nd.square(x), 4.0))), 1.0), 0.5)


def _sparse_sigmoid(x: Array, a: Array | None = None) -> Array:
    return nd.multiply(nd.add(_held(x, -1.0, 1.0), 1.0), 0.5)


def log_softmax(x: Array) -> Array:
    """Return the logarithm of the softmax along the last axis."""
    shifted = nd.subtract(x, nd.max(x, x.ndim - 1, True))
    return nd.subtract(shifted, nd.log(nd.sum(nd.exp(shifted), x.ndim - 1, True)))


_FORMULAS: Mapping[str, _Formula] = {
    "exponential": _Formula(nd.exp, lambda x, a: nd.multiply(a, 1.0)),
    "gelu": _Formula(_gelu, _gelu_slope),
    "gelu_tanh": _Formula(_gelu_tanh, _gelu_tanh_slope),
    "hard_shrink": _Formula(lambda x: nd.multiply(x, _beyond(x)), _beyond),
    "hard_sigmoid": _Formula(_hard_sigmoid, lambda x, a: _inside(x, -3.0, 3.0, 1.0 / 6.0)),
    "hard_silu": _Formula(lambda x: nd.multiply(x, _hard_sigmoid(x)), _hard_silu_slope),
    "log_sigmoid": _Formula(log_sigmoid, lambda x, a: sigmoid(nd.multiply(x, -1.0))),
    "log_softmax": _Formula(log_softmax, lambda x, a: nd.exp(a)),
    "soft_shrink": _Formula(_soft_shrink, _beyond),
    "sparse_plus": _Formula(_sparse_plus, _sparse_sigmoid),
    "sparse_sigmoid": _Formula(_sparse_sigmoid, lambda x, a: _inside(x, -1.0, 1.0, 0.5)),
    "squareplus": _Formula(_squareplus, _squareplus_slope),
    "tanh_shrink": _Formula(lambda x: nd.subtract(x, nd.tanh(x)), lambda x, a: nd.square(nd.tanh(x))),
}
FUNCTIONS = tuple(_FORMULAS)
"""Names of the functions."""


@register
@dataclass(frozen=True, kw_only=True)
class KerasActivation(Activation):
    """An activation of Keras 3 that Deeplearning4j's classes do not say.

    Parameters
    ----------
    name : str
        ``"exponential"``: e^x. ``"gelu"``: x Φ(x), exact; ``"gelu_tanh"``: its approximation by tanh.
        ``"hard_sigmoid"``: x / 6 + 0.5, held in 0 .. 1; ``"hard_silu"``: x times that. ``"log_sigmoid"``,
        ``"log_softmax"``: logarithms, the latter along the last axis. ``"hard_shrink"``: x where \\|x\\| > 0.5, else
        0; ``"soft_shrink"``: x brought nearer to 0 by 0.5. ``"sparse_plus"``, ``"sparse_sigmoid"``, ``"squareplus"``
        and ``"tanh_shrink"``.

    Raises
    ------
    ChoiceError
        There is none of that name.

    Notes
    -----
    Java cannot open files with it. At kinks the slope is 0 or 1, not a half. Source: Keras 3, keras.activations.

    Examples
    --------
    >>> import nd
    >>> KerasActivation(name="hard_sigmoid").value(nd.create([[-4.0, 0.0, 1.5]])).tolist()
    [[0.0, 0.5, 0.75]]
    """

    pure = splits = True
    name: str = field(kw_only=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("KerasActivation", "function", self.name, FUNCTIONS)

    @property
    def over_rows(self) -> bool:  # type: ignore[override]
        """Whether the numbers along the last axis depend on one another."""
        return self.name == "log_softmax"

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        result = _FORMULAS[self.name].value(z)
        return result if out is None else nd.assign(out, result)

    def slope(self, z: Array, a: Array) -> Array:
        return _FORMULAS[self.name].slope(z, a)

    def backprop(self, z: Array, a: Array, epsilon: Array | None = None, out: Array | None = None) -> Any:
        """Return dL/dz, as `Activation.backprop`."""
        if epsilon is None or not self.over_rows:
            return super().backprop(z, a, epsilon, out)  # type: ignore[arg-type]
        t = nd.multiply(nd.exp(a), nd.sum(epsilon, z.ndim - 1, True))
        return nd.subtract(epsilon, t, out)
