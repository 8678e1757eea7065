"""Shared by activations, users' own too: formulas, the interface, and an activation at work."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, overload

from backends.errors import DTypeError, ShapeError
from nd.arguments import Checked, argument_rules, converted, shown
from nd.arrays import standard
from nd.arrays.arithmetic import addi
from nd.execution.workers import elementwise
from nd.java_enums import Name, NameHolder, name_the_others
from nd.java_names import Pair
from nd.part import Part, into, refuse_returned, undefined
from nd.state import explained, state
from nd.typing import Array

from . import ACTIVATIONS

Way = Callable[[Array, Any], Array]
_EXP_LIMIT = {"float32": 88.0, "float64": 709.0}
VALUE, BACKPROP = "value(z, out, training)", "backprop(z, a, epsilon, out)"  # of activations, in errors


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


def exp_limit(x: Array) -> float:
    """Return the largest number of x's dtype whose exponential is finite."""
    return _EXP_LIMIT[state.backend.dtype_name(x)]


def sigmoid(x: Array, out: Array | None = None) -> Array:
    """Return 1 / (1 + exp(-x)), the exponent held below overflow."""
    backend = state.backend
    t = backend.multiply(x, -1.0, out)
    backend.minimum(t, exp_limit(x), t)
    backend.exp(t, t)
    backend.add(t, 1.0, t)
    return backend.divide(1.0, t, t)


def relu(x: Array, out: Array | None = None) -> Array:
    """Return max(0, x), in one pass where the backend has one."""
    return state.backend.relu(x, out)


def relu_back(a: Array, epsilon: Array, out: Array | None = None) -> Array:
    """Return epsilon where a = relu(x) is greater than 0, else 0."""
    return state.backend.relu_back(a, epsilon, out)


def softmax(x: Array, out: Array | None = None, bias: Array | None = None) -> Array:
    """Return eˣ / Σ eˣ along the last axis, of x + bias where there is one, with a shape that broadcasts."""
    return state.backend.softmax(x, x.ndim - 1, out, bias)


def _is_condition(slope: Array, z: Array) -> bool:
    """Tell whether a slope of 0 and 1 is a comparison, with which arrays may be multiplied."""
    backend = state.backend
    return backend.multiplies_bool and backend.dtype_name(slope) == "bool" and slope.shape == z.shape


def _check_pair(who: str, z: Any, epsilon: Any) -> None:
    """Raise DTypeError or ShapeError unless both are arrays of one dtype and shape."""
    backend = state.backend
    for name, x in (("z", z), ("epsilon", epsilon)):
        if not backend.is_array(x):
            raise DTypeError(f"{who}: {name} must be an array, got {shown(x)}. Make it with nd.create.")
    if tuple(epsilon.shape) != tuple(z.shape):
        raise ShapeError(f"{who}: epsilon must be {list(z.shape)}, as z is, got {list(epsilon.shape)}.")
    of_z, found = backend.dtype_name(z), backend.dtype_name(epsilon)
    if found != of_z:
        raise DTypeError(f"{who}: epsilon must be {of_z}, as z is, got {found}. Make it with nd.create.")


def _check_training(activation: object, *arguments: object, **named: object) -> None:
    """Refuse a `training` of an activation's `value` that is neither True nor False."""
    training = arguments[2] if len(arguments) > 2 else named.get("training", False)
    if type(training) is not bool:
        of_annotation = argument_rules(Activation.value)[0]["training"]
        converted(f"{type(activation).__name__}.value", "training", of_annotation[0], training, of_annotation[1])


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

    An activation is a subclass with `value` and `slope`, the library's as one of your own; where elements of a row
    depend on one another, with `value` and `backprop`. Its declarations, see `Part`, let steps be recorded and split.

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
    """Name of the class in org.nd4j.linalg.activations.impl; "" where Java has none, which goes by its own name."""
    draws: ClassVar[bool] = False
    """Whether training draws random numbers for it: it is run as it is written then, every time."""
    over_rows: ClassVar[bool] = False
    """Whether the numbers along the last axis depend on one another."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "value" in vars(cls):
            cls.value = explained(vars(cls)["value"], _check_training, of_part=True)  # type: ignore[method-assign]

    @property
    def overwrites(self) -> bool:
        """Whether `backprop` reads only `a`, so that `a` may be computed in the memory of z and passed as z too.

        A class whose slope is a formula of `a` alone says ``overwrites = True``.
        """
        return False

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        """Return the activation of z, of any shape, in `out` when given; `out` may be z itself.

        `training` matters to those alone that draw.
        """
        undefined(self, "value(z, out=None, training=False)", "the activation of z")

    def get_activation(self, x: Array, training: bool = False) -> Array:
        """Return the activation of x, a new array, as Java's ``getActivation``."""
        return self.value(x, training=training)

    def value_of_sum(self, z: Array, b: Array, out: Array) -> Array:
        """Add b, of a shape that broadcasts, to z; return the activation of it in `out`, which may be z itself."""
        return self.value(state.backend.add(z, b, z), out)

    @overload
    def backprop(self, z: Array, a: Array, /) -> Pair: ...

    @overload
    def backprop(self, z: Array, a: Array, epsilon: Array, out: Array | None = None) -> Array: ...

    def backprop(self, z: Array, a: Array, epsilon: Array | None = None, out: Array | None = None) -> Any:
        """Return dL/dz for a = value(z) and epsilon = dL/da; neither z nor a is modified.

        `out` is epsilon itself or shares memory with none of the inputs. ``backprop(z, epsilon)``, Java's call, is a
        pair of dL/dz and None.
        """
        if epsilon is None:
            return self._backprop_pair(z, a)
        backend, slope = state.backend, self.slope(z, a)
        sound = backend.fits(slope, z) or isinstance(slope, (int, float))
        if not sound and not (backend.is_array(slope) and _is_condition(slope, z)):
            refuse_returned(f"{type(self).__name__}: slope(z, a)", slope, z)
        return backend.multiply(epsilon, slope, out)

    def _backprop_pair(self, z: Array, epsilon: Array) -> Pair:
        """Return a pair of dL/dz for epsilon = dL/da, and None, Java's gradient of an activation's parameters."""
        _check_pair(f"{type(self).__name__}.backprop", z, epsilon)
        return Pair(self.backprop(z, self.value(z), epsilon))

    def slope(self, z: Array, a: Array) -> Array:
        """Return da/dz, a new array of z's shape, or one number for all of it."""
        undefined(self, "slope(z, a)", "the derivative da/dz", "Write it in the class, or backprop in its place.")


name_the_others(Activation, ActivationName, ACTIVATIONS)


def _stored(activation: Activation, method: str, result: Array, out: Array) -> Array:
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
        self._compiled = self.fixed and state.backend.compiles
        self._value = elementwise(lambda z, a: _stored(activation, VALUE, activation.value(z, a), a))
        self._biased = elementwise(lambda z, b, a: _stored(activation, VALUE, activation.value_of_sum(z, b, a), a))
        self._back = elementwise(lambda z, a, e: _stored(activation, BACKPROP, activation.backprop(z, a, e, e), e))
        self._back_to = elementwise(
            lambda z, a, e, b: _stored(activation, BACKPROP, activation.backprop(z, a, e, b), b)
        )

    def value(self, z: Array, a: Array, training: bool, b: Array | None = None, *, told: bool = False) -> Array:
        """Add b, of a shape that broadcasts, to z; write the activation of it into `a`, which may be z; return a.

        `told` says that who listens has been told already.
        """
        activation = self.activation
        if not told and state.backend.reports:
            return self._heard_value(z, a, training, b)
        if self._compiled:
            if b is None:
                self._value(z, a)
            else:
                self._biased(z, b, a)
            return a
        if self.fixed:
            value = activation.value(z, a) if b is None else activation.value_of_sum(z, b, a)
        else:
            value = activation.value(z if b is None else addi(z, b), a, training)
        return _stored(activation, VALUE, value, a)

    def _heard_value(self, z: Array, a: Array, training: bool, b: Array | None) -> Array:
        """Do the same as one op; an addition that is a pass of its own is an op of its own."""
        activation = self.activation
        apart = not self.fixed or type(activation).value_of_sum is Activation.value_of_sum
        if b is not None and apart and not self._compiled:
            z, b = addi(z, b), None

        def way(z: Array, a: Array) -> Array:
            return self.value(z, a, training, b, told=True)

        return state.backend.computed("activation", _first_two, z, a, activation, training, b, way)

    def backprop(self, z: Array, a: Array, epsilon: Array, out: Array | None = None, *, told: bool = False) -> Array:
        """Turn ``epsilon = dL/da`` into dL/dz, in its memory or in `out`, which no other array lies in; return it."""
        below = epsilon if out is None else out
        if not told and state.backend.reports:
            return self._heard_backprop(z, a, epsilon, below)
        if not self._compiled:
            return _stored(self.activation, BACKPROP, self.activation.backprop(z, a, epsilon, below), below)
        if below is epsilon:
            self._back(z, a, epsilon)
        else:
            self._back_to(z, a, epsilon, below)
        return below

    def _heard_backprop(self, z: Array, a: Array, epsilon: Array, below: Array) -> Array:
        def way(epsilon: Array, below: Array) -> Array:
            return self.backprop(z, a, epsilon, below, told=True)

        return state.backend.computed("activation_gradient", _gradient, z, a, epsilon, below, self.activation, way)


def _first_two(z: Array, a: Array | None, *others: Any) -> Array:
    return others[-1](z, a)


def _gradient(z: Array, a: Array, epsilon: Array, out: Array | None, activation: Activation, way: Way) -> Array:
    return way(epsilon, out)


def value_of(activation: Activation, z: Array, out: Array | None = None) -> Array:
    """Return ``activation.value(z, out)``, which hooks hear as one op."""
    if not state.backend.reports:
        return activation.value(z, out)

    def way(z: Array, out: Array | None) -> Array:
        return activation.value(z, out)

    return state.backend.computed("activation", _first_two, z, out, activation, False, None, way)


def back_through(activation: Activation, z: Array, a: Array, epsilon: Array, out: Array | None = None) -> Array:
    """Return ``activation.backprop(z, a, epsilon, out)``, which hooks hear as one op."""
    if not state.backend.reports:
        return activation.backprop(z, a, epsilon, out)

    def way(epsilon: Array, out: Array | None) -> Array:
        return activation.backprop(z, a, epsilon, out)

    return state.backend.computed("activation_gradient", _gradient, z, a, epsilon, out, activation, way)
