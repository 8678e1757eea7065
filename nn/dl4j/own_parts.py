"""Activations, losses and dropouts that ported programs write themselves, with the methods that Java's have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import nd
from nd.activations import Activation
from nd.java_names import Pair
from nd.losses import Loss
from nd.typing import Array

from ..terms import dropout


def _missing(part: BaseActivationFunction | IDropout | ILossFunction, method: str) -> nd.ConfigurationError:
    """Return the error for a method that a part of a ported program needs and has not."""
    return nd.ConfigurationError(
        f"{type(part).__name__}: the class must have a method {method}, got none of that name. Write it as in Java."
    )


class ActivationOfJava:
    """Activation with Java's two methods, handed to a loss of a ported program."""

    def __init__(self, activation: Activation) -> None:
        self.activation = activation

    def getActivation(self, x: Array, training: bool = False) -> Array:
        """Return the activation of x."""
        return self.activation.value(x, training=training)

    def backprop(self, x: Array, epsilon: Array) -> Pair:
        """Return dL/dx for the activation of x and epsilon = dL/d(activation), and Java's second, None."""
        return Pair(self.activation.backprop(x, self.activation.value(x), epsilon))


@dataclass(frozen=True, kw_only=True)
class BaseActivationFunction(Activation):
    """An activation of a ported program's own: a subclass with ``getActivation(x, training)`` and
    ``backprop(x, epsilon)``, which returns dL/dx or a pair that begins with it.

    Notes
    -----
    Source: ND4J ``BaseActivationFunction``. Differs: `getActivation` must not write into x.
    """

    java_backprop: ClassVar[Any] = None

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if "backprop" in vars(cls):  # of Java's signature; the layers call another one
            cls.java_backprop = vars(cls)["backprop"]
            del cls.backprop

    def get_activation(self, x: Array, training: bool = False) -> Array:
        """Return the activation of x, a new array."""
        raise _missing(self, "getActivation(x, training)")

    def value(self, z: Array, out: Array | None = None, training: bool = False) -> Array:
        """Return `get_activation`, in `out` where one is given."""
        activated = self.get_activation(nd.copy(z), training)
        return activated if out is None else nd.assign(out, activated)

    def backprop(self, z: Array, a: Array, epsilon: Array | None = None, out: Array | None = None) -> Any:
        """Return the result of the program's own ``backprop(x, epsilon)``; itself for a call with these two."""
        if self.java_backprop is None:
            raise _missing(self, "backprop(x, epsilon)")
        if epsilon is None:
            return type(self).java_backprop(self, z, a)
        gradient = type(self).java_backprop(self, nd.copy(z), nd.copy(epsilon))
        gradient = gradient[0] if isinstance(gradient, tuple) else gradient
        return gradient if out is None else nd.assign(out, gradient)


@dataclass(frozen=True, kw_only=True)
class ILossFunction(Loss):
    """A loss of a ported program's own: a subclass with ``computeScoreArray`` and ``computeGradient``.

    Both get labels, the activation's input, an activation with ``getActivation`` and ``backprop``, and the mask.
    ``computeScore`` and ``computeGradientAndScore`` follow from them, or are written too.

    Notes
    -----
    Source: ND4J ``ILossFunction``.
    """

    needs_z: ClassVar[bool] = True

    def __init_subclass__(cls, **more: object) -> None:
        super().__init_subclass__(**more)
        if "scoreArray" in vars(cls):  # Java's losses have a private method of that name, which is not ours
            del cls.score_array

    def compute_score_array(self, labels: Array, z: Array, activation: object, mask: Array | None = None) -> Array:
        """Return the scores of the examples, ``[N]`` or ``[N, 1]``."""
        raise _missing(self, "computeScoreArray(labels, z, activation, mask)")

    def compute_gradient(self, labels: Array, z: Array, activation: object, mask: Array | None = None) -> Array:
        """Return dL/dz."""
        raise _missing(self, "computeGradient(labels, z, activation, mask)")

    def score_array(
        self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None
    ) -> Array:
        """Return `compute_score_array` as ``[N]``."""
        scores = self.compute_score_array(labels, nd.copy(z), ActivationOfJava(activation), mask)
        return nd.reshape(scores, (z.shape[0], -1))[:, 0]

    def score(self, labels: Array, z: Array, p: Array, activation: Activation, mask: Array | None = None) -> Array:
        """Return the sum of the scores of all examples."""
        return nd.sum(self.score_array(labels, z, p, activation, mask))

    def gradient(
        self,
        labels: Array,
        z: Array,
        p: Array,
        activation: Activation,
        mask: Array | None = None,
        out: Array | None = None,
    ) -> Array:
        """Return `compute_gradient`, in `out` where one is given."""
        gradient = self.compute_gradient(labels, nd.copy(z), ActivationOfJava(activation), mask)
        return gradient if out is None else nd.assign(out, gradient)


class IDropout(dropout.IDropout):
    """A dropout of a ported program's own: a subclass with ``applyDropout(x, result, iteration, epoch, workspaces)``
    and ``backprop(gradient_at_output, gradient_at_input, iteration, epoch)``, which return the second, filled in.

    Notes
    -----
    Source: DL4J ``IDropout``.
    """

    java_apply: ClassVar[Any] = None
    java_backprop: ClassVar[Any] = None

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        if "applyDropout" in vars(cls):  # of Java's signature; the layers call another one
            cls.java_apply = vars(cls)["applyDropout"]
            del cls.apply_dropout
        if "backprop" in vars(cls) and cls.java_apply is not None:
            cls.java_backprop = vars(cls)["backprop"]
            del cls.backprop

    @property
    def scheduled(self) -> bool:
        """Whether numbers change: Java's are iteration and epoch."""
        return self.java_apply is not None or super().scheduled

    def numbers(self, iteration: int, epoch: int) -> tuple[float, ...]:
        """Return Java's: both; those of a class that is written with our methods are its own."""
        return super().numbers(iteration, epoch) if self.java_apply is None else (float(iteration), float(epoch))

    def apply_dropout(self, x: Array, numbers: tuple[Any, ...], buffers: Any) -> tuple[Array, Any]:
        """Return the result of the program's own ``applyDropout``, and iteration and epoch for the way back."""
        if self.java_apply is None:
            raise _missing(self, "applyDropout(x, result, iteration, epoch, workspaces)")
        counts = tuple(int(nd.item(number)) for number in numbers)
        result = nd.create_uninitialized(*x.shape, dtype=nd.dtype_name(x))
        return type(self).java_apply(self, nd.copy(x), result, *counts, None), counts

    def backprop(self, epsilon: Array, kept: Any) -> Array:
        """Return the result of the program's own ``backprop``."""
        if self.java_backprop is None:
            raise _missing(self, "backprop(gradient_at_output, gradient_at_input, iteration, epoch)")
        result = nd.create_uninitialized(*epsilon.shape, dtype=nd.dtype_name(epsilon))
        return type(self).java_backprop(self, nd.copy(epsilon), result, *kept)
