"""Operators on elements: arithmetic, functions of one number, activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce

import nd
from nd.arrays import standard

from . import functions as f
from .call import Call
from .error_function import erf
from .values import Value


def unary(name: str) -> Callable[[Call], Value]:
    """Return the operator that is a function of one number."""
    function = erf if name == "erf" else getattr(f, name)
    return lambda call: function(call[0])


def add(call: Call) -> Value:
    """x + y."""
    return call[0] + call[1]


def sub(call: Call) -> Value:
    """x - y."""
    return call[0] - call[1]


def mul(call: Call) -> Value:
    """x * y."""
    return call[0] * call[1]


def div(call: Call) -> Value:
    """x / y."""
    return call[0] / call[1]


def neg(call: Call) -> Value:
    """-x."""
    return -call[0]


def reciprocal(call: Call) -> Value:
    """1 / x."""
    return 1.0 / call[0]


def pow(call: Call) -> Value:
    """x to the power of y."""
    exponent = call.constants.get(1)
    if exponent is not None and exponent.size == 1:
        return _raised(call[0], float(exponent.host().reshape(-1)[0]), call)
    return f.power(call[0], call[1])


def _raised(x: Value, exponent: float, call: Call) -> Value:
    if exponent == 2.0:
        return f.square(x)
    if exponent == 0.5:
        return f.sqrt(x)
    return f.power(x, call[1])


def mod(call: Call) -> Value:
    """The remainder, with the sign of y; with fmod = 1 with that of x."""
    x, y = call[0], call[1]
    whole = Value(standard.trunc(nd.divide(x.array, y.array)))
    rest = f.where(nd.equal(whole.array, 0.0), x, x - whole * y)  # 0 times infinity is no number
    if call.whole("fmod", 0):
        return rest
    return f.where(nd.greater(0.0, nd.multiply(nd.sign(rest.array), y.array)), rest + y, rest)


def sum_of(call: Call) -> Value:
    """The sum of all inputs."""
    return reduce(lambda x, y: x + y, call.inputs())


def mean_of(call: Call) -> Value:
    """The mean of all inputs."""
    return sum_of(call) * (1.0 / call.count)


def max_of(call: Call) -> Value:
    """The largest of all inputs."""
    return reduce(f.maximum, call.inputs())


def min_of(call: Call) -> Value:
    """The smallest of all inputs."""
    return reduce(f.minimum, call.inputs())


def clip(call: Call) -> Value:
    """x, held between two numbers."""
    x = call[0]
    for position, attribute, hold in ((1, "min", f.maximum), (2, "max", f.minimum)):
        if position in call.constants or not call.has(position):
            limit = call.real(position, attribute)
            x = x if limit is None else hold(x, limit)
        else:
            x = hold(x, call[position])
    return x


def identity(call: Call) -> Value:
    """x."""
    return call[0]


# ---- activations


def leaky_relu(call: Call) -> Value:
    """x where it is not negative, else alpha x."""
    return _bent(call[0], call[0] * call.number("alpha", 0.01))


def _bent(x: Value, below: Value) -> Value:
    return f.where(nd.greater_equal(x.array, 0.0), x, below)


def prelu(call: Call) -> Value:
    """x where it is not negative, else slope x."""
    return _bent(call[0], call[0] * call[1])


def elu(call: Call) -> Value:
    """x where it is positive, else alpha (e^x - 1)."""
    return _elu(call[0], call.number("alpha", 1.0))


def _elu(x: Value, alpha: float, scale: float = 1.0) -> Value:
    return f.where(nd.greater(x.array, 0.0), x, f.expm1(f.minimum(x, 0.0) * scale) * alpha)


def celu(call: Call) -> Value:
    """max(0, x) + min(0, alpha (e^(x/alpha) - 1))."""
    alpha = call.number("alpha", 1.0)
    return _elu(call[0], alpha, 1.0 / alpha)


def selu(call: Call) -> Value:
    """gamma times `elu`."""
    return _elu(call[0], call.number("alpha", 1.6732632423543772)) * call.number("gamma", 1.0507009873554805)


def gelu(call: Call) -> Value:
    """x times the normal distribution's share below x; as tanh, where the operator says so."""
    x = call[0]
    if call.text("approximate", "none") == "tanh":
        inner = (x + x * x * x * 0.044715) * math.sqrt(2.0 / math.pi)
        return x * 0.5 * (f.tanh(inner) + 1.0)
    return x * 0.5 * (erf(x * math.sqrt(0.5)) + 1.0)


def swish(call: Call) -> Value:
    """x times the sigmoid of alpha x."""
    x = call[0]
    return x * f.sigmoid(x * call.number("alpha", 1.0))


def softplus_of(x: Value) -> Value:
    """Return ln(1 + e^x), which does not overflow."""
    return f.maximum(x, 0.0) + f.log1p(f.exp(-f.absolute(x)))


def softplus(call: Call) -> Value:
    """ln(1 + e^x)."""
    return softplus_of(call[0])


def softsign(call: Call) -> Value:
    """x / (1 + |x|)."""
    return call[0] / (f.absolute(call[0]) + 1.0)


def mish(call: Call) -> Value:
    """x tanh(softplus(x))."""
    return call[0] * f.tanh(softplus_of(call[0]))


def hard_sigmoid_of(x: Value, alpha: float = 0.2, beta: float = 0.5) -> Value:
    """Return alpha x + beta, held in 0..1."""
    return f.minimum(f.maximum(x * alpha + beta, 0.0), 1.0)


def hard_sigmoid(call: Call) -> Value:
    """alpha x + beta, held in 0..1."""
    return hard_sigmoid_of(call[0], call.number("alpha", 0.2), call.number("beta", 0.5))


def hard_swish(call: Call) -> Value:
    """x times x/6 + 1/2, held in 0..1."""
    return call[0] * hard_sigmoid_of(call[0], 1.0 / 6.0, 0.5)


def thresholded_relu(call: Call) -> Value:
    """x where it is above alpha, else 0."""
    return f.where(nd.greater(call[0].array, call.number("alpha", 1.0)), call[0], 0.0)


def shrink(call: Call) -> Value:
    """x - bias above lambd, x + bias below -lambd, else 0."""
    x, lambd, bias = call[0], call.number("lambd", 0.5), call.number("bias", 0.0)
    low = nd.greater(-lambd, x.array)
    return f.where(nd.greater(x.array, lambd), x - bias, f.where(low, x + bias, 0.0))


def dropout(call: Call) -> list[Value]:
    """x: nothing is dropped outside of training; and where it was kept, everywhere."""
    if call.host(2, False):
        raise call.refuse("training_mode = true. Export it for inference")
    return [call[0], f.constant_like(1.0, call[0], call[0].shape)]


def swi_glu(call: Call) -> Value:
    """x times the sigmoid of alpha x, times y."""
    return swish(call) * call[1]
