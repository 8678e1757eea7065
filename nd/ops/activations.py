"""The activation functions of `nd.activations` as ops: ``Op(x, z=None)``, the function's parameters as keywords."""

from __future__ import annotations

from typing import Any, ClassVar

from backends.base import Backend
from nd import activations
from nd.activations import Activation
from nd.arguments import checked

from .base import Array
from .transforms import Transform


class ActivationOp(Transform):
    """The value of an activation outside of training; its docstring has the formula.

    Parameters
    ----------
    x, z : array
        See `Op`.
    **parameters : float or bool
        Fields of the activation, for instance ``alpha``.
    """

    function: ClassVar[type[Activation]]
    way: Any = None
    """How a network computes it, from x and z."""

    @checked
    def __init__(self, x: Array, z: Array | None = None, **parameters: Any) -> None:
        super().__init__(x, z)
        self.activation = self.function(**parameters)

    def _compute(self, backend: Backend) -> Array:
        return self.activation.value(self.x, self.z) if self.way is None else self.way(self.x, self.z)


class Cube(ActivationOp):
    """x³; see `nd.activations.Cube`."""

    java_number = 6
    function = activations.Cube


class ELU(ActivationOp):
    """Exponential linear unit; see `nd.activations.ELU`."""

    function = activations.ELU


class GELU(ActivationOp):
    """Gaussian error linear unit; see `nd.activations.GELU`."""

    java_number = 53
    function = activations.GELU


class HardSigmoid(ActivationOp):
    """Piecewise linear sigmoid; see `nd.activations.HardSigmoid`."""

    java_number = 36
    function = activations.HardSigmoid


class HardTanh(ActivationOp):
    """Piecewise linear tanh; see `nd.activations.HardTanh`."""

    java_number = 33
    function = activations.HardTanh


class Identity(ActivationOp):
    """A copy of x."""

    function = activations.Identity

    def _compute(self, backend: Backend) -> Array:
        return backend.copy(self.x) if self.z is self.way is None else super()._compute(backend)


class LeakyReLU(ActivationOp):
    """Leaky rectified linear unit; see `nd.activations.LeakyReLU`."""

    java_number = 35
    function = activations.LeakyReLU


class Mish(ActivationOp):
    """x tanh(softplus x); see `nd.activations.Mish`."""

    java_number = 57
    function = activations.Mish


class RationalTanh(ActivationOp):
    """Rational approximation of tanh; see `nd.activations.RationalTanh`."""

    java_number = 37
    function = activations.RationalTanh


class RectifiedLinear(ActivationOp):
    """Rectified linear unit; see `nd.activations.ReLU`."""

    java_number = 39
    function = activations.ReLU


class RectifiedTanh(ActivationOp):
    """max(0, tanh x); see `nd.activations.RectifiedTanh`."""

    java_number = 38
    function = activations.RectifiedTanh


class Relu6(ActivationOp):
    """x, held in 0 .. 6; see `nd.activations.ReLU6`."""

    java_number = 40
    function = activations.ReLU6


class RReLU(ActivationOp):
    """Leaky rectified linear unit with the mean slope of `nd.activations.RReLU`."""

    function = activations.RReLU


class SELU(ActivationOp):
    """Scaled exponential linear unit; see `nd.activations.SELU`."""

    java_number = 42
    function = activations.SELU


class Sigmoid(ActivationOp):
    """1 / (1 + e⁻ˣ); see `nd.activations.Sigmoid`."""

    java_number = 26
    function = activations.Sigmoid


class SoftMax(ActivationOp):
    """Softmax along axis 1; see `nd.activations.Softmax`."""

    function = activations.Softmax


class SoftPlus(ActivationOp):
    """ln(1 + eˣ); see `nd.activations.SoftPlus`."""

    java_number = 28
    function = activations.SoftPlus


class SoftSign(ActivationOp):
    """x / (1 + |x|); see `nd.activations.SoftSign`."""

    java_number = 34
    function = activations.SoftSign


class Swish(ActivationOp):
    """x σ(x); see `nd.activations.Swish`."""

    java_number = 43
    function = activations.Swish


class Tanh(ActivationOp):
    """Hyperbolic tangent; see `nd.activations.Tanh`."""

    java_number = 29
    function = activations.Tanh


class ThresholdRelu(ActivationOp):
    """x above a threshold, else 0; see `nd.activations.ThresholdedReLU`."""

    function = activations.ThresholdedReLU
