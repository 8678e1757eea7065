"""The way back through activations as ops: ``Op(x, y, z=None)``, the function's parameters as keywords.

x is what the function was given, y is dL/da of its value a, z becomes dL/dx.

Source: org.nd4j.linalg.api.ops.impl.transforms.gradient.
"""

from __future__ import annotations

from typing import Any, ClassVar

from backends.base import Backend
from backends.errors import ShapeError, describe_shape
from nd import activations
from nd.activations import Activation
from nd.arguments import checked

from .base import Array, Op


class ActivationBp(Op):
    """dL/dx from dL/da of a = f(x).

    Parameters
    ----------
    x : array
        What the activation was given.
    y : array
        dL/da, of the shape of x.
    z : array, optional
        See `Op`; may be y.
    **parameters : float or bool
        Fields of the activation, for instance ``alpha``.

    Raises
    ------
    ShapeError
        y has not the shape of x.
    DTypeError
        y has not the dtype of x.
    """

    y: Array
    function: ClassVar[type[Activation]]
    way: Any = None

    @checked
    def __init__(self, x: Array, y: Array, z: Array | None = None, **parameters: Any) -> None:
        super().__init__(x, y, z)
        self.check_array("y", y)
        if tuple(y.shape) != tuple(x.shape):
            raise ShapeError(
                f"{self.who}: y must be {describe_shape(x.shape)} as x, got {describe_shape(y.shape)}. "
                "It is the gradient of the function's value."
            )
        self.check_same_dtype(x, y)
        self.activation = self.function(**parameters)

    def _compute(self, backend: Backend) -> Array:
        if self.way is not None:  # of a network, whose activation has been computed already
            return self.way(self.y, self.z)
        a = self.activation.value(self.x, backend.empty(self.x.shape, backend.dtype_name(self.x)))
        z = backend.copy(self.y)
        return self.activation.backprop(self.x, a, z, z)


class CubeBp(ActivationBp):
    """dL/dx of `nd.activations.Cube`."""

    function = activations.Cube


class EluBp(ActivationBp):
    """dL/dx of `nd.activations.ELU`."""

    function = activations.ELU


class GELUBp(ActivationBp):
    """dL/dx of `nd.activations.GELU`."""

    function = activations.GELU


class HardSigmoidBp(ActivationBp):
    """dL/dx of `nd.activations.HardSigmoid`."""

    function = activations.HardSigmoid


class HardTanhBp(ActivationBp):
    """dL/dx of `nd.activations.HardTanh`."""

    function = activations.HardTanh


class IdentityBp(ActivationBp):
    """dL/dx of `nd.activations.Identity`."""

    function = activations.Identity


class LeakyReLUBp(ActivationBp):
    """dL/dx of `nd.activations.LeakyReLU`."""

    function = activations.LeakyReLU


class MishBp(ActivationBp):
    """dL/dx of `nd.activations.Mish`."""

    function = activations.Mish


class RReLUBp(ActivationBp):
    """dL/dx of `nd.activations.RReLU`."""

    function = activations.RReLU


class RationalTanhBp(ActivationBp):
    """dL/dx of `nd.activations.RationalTanh`."""

    function = activations.RationalTanh


class RectifiedLinearBp(ActivationBp):
    """dL/dx of `nd.activations.ReLU`."""

    function = activations.ReLU


class RectifiedTanhBp(ActivationBp):
    """dL/dx of `nd.activations.RectifiedTanh`."""

    function = activations.RectifiedTanh


class Relu6Bp(ActivationBp):
    """dL/dx of `nd.activations.ReLU6`."""

    function = activations.ReLU6


class SeluBp(ActivationBp):
    """dL/dx of `nd.activations.SELU`."""

    function = activations.SELU


class SigmoidBp(ActivationBp):
    """dL/dx of `nd.activations.Sigmoid`."""

    function = activations.Sigmoid


class SoftPlusBp(ActivationBp):
    """dL/dx of `nd.activations.SoftPlus`."""

    function = activations.SoftPlus


class SoftSignBp(ActivationBp):
    """dL/dx of `nd.activations.SoftSign`."""

    function = activations.SoftSign


class SoftmaxBp(ActivationBp):
    """dL/dx of `nd.activations.Softmax`."""

    function = activations.Softmax


class SwishBp(ActivationBp):
    """dL/dx of `nd.activations.Swish`."""

    function = activations.Swish


class TanhBp(ActivationBp):
    """dL/dx of `nd.activations.Tanh`."""

    function = activations.Tanh


class ThresholdReluBp(ActivationBp):
    """dL/dx of `nd.activations.ThresholdedReLU`."""

    function = activations.ThresholdedReLU
