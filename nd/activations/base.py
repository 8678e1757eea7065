"""Shared by activations: the interface, two formulas, and an activation at work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from nd.arguments import Checked
from nd.arrays import standard
from nd.arrays.arithmetic import addi
from nd.execution.workers import elementwise
from nd.explaining import explained, settled
from nd.java_enums import Name, NameHolder
from nd.part import Part, into, refuse_returned, undefined
from nd.state import state
from nd.typing import Array

VALUE, BACKPROP = "value(z, out, training)", "backprop(z, a, epsilon, out)"  # of activations, in errors
EXP_LIMIT = {"float32": 88.0, "float64": 709.0}  # the largest argument whose exponential is finite


def pick(condition: Array, like: Array, high: float, low: float) -> Array:
    """Return `high` where the condition holds, else `low`, as a factor for `like`; much faster than where."""
    backend = state.backend
    if backend.multiplies_bool and (high, low) == (1.0, 0.0):
        return condition
    chosen = standard.astype(condition, like.dtype)
    if low == 0.0:
        return chosen if high == 1.0 else backend.multiply(chosen, high, chosen)
    rest = backend.subtract(1.0, chosen)
    backend.multiply(rest, low, rest)
    backend.multiply(chosen, high, chosen)
    return backend.add(chosen, rest, chosen)


def _is_condition(slope: Array, z: Array) -> bool:
    """Tell whether a slope of 0 and 1 is a comparison, with which arrays may be multiplied."""
    backend = state.backend
    return backend.multiplies_bool and backend.dtype_name(slope) == "bool" and slope.shape == z.shape


def sigmoid(x: Array, out: Array | None = None) -> Array:
    """Return 1 / (1 + exp(-x)), the exponent held below overflow."""
    backend = state.backend
    t = backend.multiply(x, -1.0, out)
    backend.minimum(t, EXP_LIMIT[backend.dtype_name(x)], t)
    backend.exp(t, t)
    backend.add(t, 1.0, t)
    return backend.divide(1.0, t, t)


class ActivationName(Name):
    """A name of an activation."""

    def get_activation_function(self) -> Activation:
        """Return the function."""
        from . import get_activation

        return get_activation(self)


@dataclass(frozen=True, kw_only=True)
class Activation(Part, Checked, metaclass=NameHolder):
    """A function of every element (of every row, for softmax) and its derivative.

    The class has the names of the library's own too, texts that go wherever an activation goes: ``Activation.RELU``.

    One of your own is a subclass with `value` and `slope`; where elements of a row depend on one another, with `value`
    and `backprop`. Its declarations, see `Part`, let steps be recorded and split.

    Examples
    --------
    >>> import nd
    >>> class Gaussian(Activation):
    ...     def value(self, z, out=None, training=False):
    ...         return nd.exp(-nd.square(z), out)
    ...
    ...     def slope(self, z, a):
    ...         return -2.0 * z * a
    >>> z = nd.create([[0.0, 1.0]])
    >>> Gaussian().backprop(z, Gaussian().value(z), nd.ones(1, 2)).round(3).tolist()
    [[-0.0, -0.7360000014305115]]
    """

    CUBE = ActivationName("cube")
    ELU = ActivationName("elu")
    GELU = ActivationName("gelu")
    HARDSIGMOID = ActivationName("hardsigmoid")
    HARDTANH = ActivationName("hardtanh")
    IDENTITY = ActivationName("identity")
    LEAKYRELU = ActivationName("leakyrelu")
    MISH = ActivationName("mish")
    RATIONALTANH = ActivationName("rationaltanh")
    RECTIFIEDTANH = ActivationName("rectifiedtanh")
    RELU = ActivationName("relu")
    RELU6 = ActivationName("relu6")
    RRELU = ActivationName("rrelu")
    SELU = ActivationName("selu")
    SIGMOID = ActivationName("sigmoid")
    SOFTMAX = ActivationName("softmax")
    SOFTPLUS = ActivationName("softplus")
    SOFTSIGN = ActivationName("softsign")
    SWISH = ActivationName("swish")
    TANH = ActivationName("tanh")
    THRESHOLDEDRELU = ActivationName("thresholdedrelu")

    java_class: ClassVar[str] = ""
    """Name of the class in org.nd4j.linalg.activations.impl."""
    draws: ClassVar[bool] = False
    """Whether training draws random numbers for it."""
    over_rows: ClassVar[bool] = False
    """Whether the numbers along the last axis depend on one another."""
    _from_value: ClassVar[bool] = False

    @property
    def overwrites(self) -> bool:
        """Whether `backprop` reads only `a`, so that `a` may be computed in the memory of z and passed as z too."""
        return self._from_value

    @explained
    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        """Return the activation of z, of any shape, in `out` when given; `out` may be z itself.

        `training` matters to RReLU alone.
        """
        if type(training) is not bool:
            settled(Activation.value, training=training)
        return self._value(z, out)

    def get_activation(self, x: Array, training: bool = False) -> Array:
        """Return the activation of x, a new array, as Java's ``getActivation``."""
        return self.value(x, training=training)

    def value_of_sum(self, z: Array, b: Array, out: Array) -> Array:
        """Add b, of a shape that broadcasts, to z; return the activation of it in `out`, which may be z itself."""
        return self.value(state.backend.add(z, b, z), out)

    def backprop(self, z: Array, a: Array, epsilon: Array, out: Array | None = None) -> Array:
        """Return dL/dz for a = value(z) and epsilon = dL/da; neither z nor a is modified.

        `out` is epsilon itself or shares memory with none of the inputs.
        """
        backend, slope = state.backend, self.slope(z, a)
        sound = backend.fits(slope, z) or isinstance(slope, (int, float))
        if not sound and not (backend.is_array(slope) and _is_condition(slope, z)):
            refuse_returned(f"{type(self).__name__}: slope(z, a)", slope, z)
        return backend.multiply(epsilon, slope, out)

    def _value(self, z: Array, out: Array | None) -> Array:
        undefined(self, "value(z, out=None, training=False)", "the activation of z")

    def slope(self, z: Array, a: Array) -> Array:
        """Return da/dz, a new array of z's shape, or one number for all of it."""
        undefined(self, "slope(z, a)", "the derivative da/dz", "Write it in the class, or backprop in its place.")


def _stored(activation: Activation, method: str, result: Any, out: Array) -> Array:
    """Return `out`, with the result in it that an own activation may have put elsewhere."""
    return out if result is out else into(activation, method, result, out)


class Activating:
    """A layer's activation forward and back, in one pass where the backend compiles formulas.

    Parameters
    ----------
    activation : Activation
        One that is not pure, and one that draws random numbers, is run as it is written every time.

    Attributes
    ----------
    fixed : bool
        Whether it is another kind, which may be part of a formula that is compiled once.
    """

    def __init__(self, activation: Activation) -> None:
        self.activation = activation
        # A compiled formula would repeat a decision, or a draw, of the first time.
        self.fixed = activation.pure and not activation.draws
        self._value = elementwise(lambda z, a: _stored(activation, VALUE, activation.value(z, a), a))
        self._biased = elementwise(lambda z, b, a: _stored(activation, VALUE, activation.value_of_sum(z, b, a), a))
        self._back = elementwise(lambda z, a, e: _stored(activation, BACKPROP, activation.backprop(z, a, e, e), e))
        self._back_to = elementwise(
            lambda z, a, e, b: _stored(activation, BACKPROP, activation.backprop(z, a, e, b), b)
        )

    def value(self, z: Array, a: Array, training: bool, b: Array | None = None) -> Array:
        """Add b, of a shape that broadcasts, to z; write the activation of it into `a`, which may be z; return a."""
        if not self.fixed:
            value = self.activation.value(z if b is None else addi(z, b), a, training)
            return _stored(self.activation, VALUE, value, a)
        if b is None:
            self._value(z, a)
        else:
            self._biased(z, b, a)
        return a

    def backprop(self, z: Array, a: Array, epsilon: Array, out: Array | None = None) -> Array:
        """Turn ``epsilon = dL/da`` into dL/dz, in its memory or in `out`, which no other array lies in; return it."""
        below = epsilon if out is None else out
        if not self.fixed:
            return _stored(self.activation, BACKPROP, self.activation.backprop(z, a, epsilon, below), below)
        if out is None:
            self._back(z, a, epsilon)
        else:
            self._back_to(z, a, epsilon, out)
        return below
