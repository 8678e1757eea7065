"""PReLULayer: a rectifier that learns its slope below 0."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import nd
from nd.arguments import Count
from nd.checks import describe_shape
from nd.typing import Array

from ...terms.constraints import FIELDS, UNSET, placed_constraints
from ...terms.data_formats import arranged, computed, inward
from ...terms.distributions import Distribution
from ...terms.input_type import InputType
from ...terms.java_form import Codec, JavaForm
from ...terms.params import ParamSpec
from ..base import BaseLayerConf
from ..runtime import Context, LayerRuntime, Params

if TYPE_CHECKING:
    from ...conf.network import NeuralNetConfiguration


def _value(x: Array, alpha: Array, below: Array, a: Array) -> None:
    nd.minimum(x, 0.0, below)
    nd.maximum(x, 0.0, a)
    nd.addi(a, nd.multiply(below, alpha, below))


def _back(x: Array, alpha: Array, epsilon: Array, slope: Array, product: Array) -> None:
    """Turn epsilon into dL/dx, and write its contribution to the gradient of alpha."""
    nd.minimum(x, 0.0, product)
    nd.muli(product, epsilon)
    nd.greater_equal(x, 0.0, slope)
    nd.addi(slope, nd.multiply(nd.subtract(1.0, slope), alpha))
    nd.muli(epsilon, slope)


class PReLURuntime(LayerRuntime):
    """Forward and backward of a rectifier with a slope of its own for every element."""

    pure = splits = True
    noised = ()

    def setup(self) -> None:
        self._value, self._back = nd.elementwise(_value, scratch=(2,)), nd.elementwise(_back, scratch=(3,))
        self._shape = computed(self.conf._alpha_shape, self.conf.input_format)
        self._summed = (0, *(axis for axis, size in enumerate(self._shape, 1) if size == 1))

    def forward(self, x: Array, params: Params, ctx: Context) -> tuple[Array, Array]:
        if not ctx.activates:
            return x, x
        self._check(x)
        a = nd.buffer_like(x, ctx.buffer, "a")
        self._value(x, self._alpha(params), nd.buffer_like(x, ctx.buffer, "below"), a)
        return a, x

    def backward(self, epsilon: Array, cache: Array, params: Params, grads: Params, ctx: Context) -> Array | None:
        x, product = cache, nd.buffer_like(cache, ctx.buffer, "product")
        self._back(x, self._alpha(params), epsilon, nd.buffer_like(x, ctx.buffer, "below"), product)
        summed = nd.sum(product, self._summed, keepdims=True)
        nd.assign(self._alpha(grads), nd.reshape(summed, (1, *self._shape)))
        return epsilon if ctx.needs_epsilon else None

    def _alpha(self, params: Params) -> Array:
        """View the parameter as ``[1, C, ...]``."""
        return inward(params["W"][None, ...], self.conf.input_format)

    def _check(self, x: Array) -> None:
        if not nd.is_array(x):
            raise nd.DTypeError(f"{self.label}: expected an array, got {type(x).__name__}. Make one with nd.create.")
        expected = computed(self.conf._expected_shape, self.conf.input_format)
        fits = x.ndim == 1 + len(expected) and all(
            size in ("any", length) for size, length in zip(expected, x.shape[1:], strict=True)
        )
        if not fits:
            raise nd.ShapeError(
                f"{self.label}: expected input {describe_shape(('N', *expected))}, got {describe_shape(x.shape)}."
            )


_AXES = Codec(
    lambda value: None if value is None else list(value), lambda value: None if value is None else tuple(value)
)


@dataclass(frozen=True, kw_only=True)
class PReLULayer(BaseLayerConf):
    """Parametric rectifier: x where x >= 0, alpha * x below, with an alpha for every element of an example.

    Parameters
    ----------
    input_shape : sequence of int, optional
        Of one example; inferred when the network has an input type.
    shared_axes : int or sequence of int, optional
        Axes, 1 for the first one of an example, along which alpha is the same: ``(2, 3)`` gives every channel of an
        image one.
    input_format : str, optional
        Of input_shape: the network sets it to that of what comes in.
    weight_init : str or Distribution
        Start of alpha: 0 unless the layer is given another.
    drop_out : float or IDropout, optional
        Of the input, in training. A number is the probability to **retain**: 0.8 and ``Dropout(rate=0.2)`` drop 20 %.

    Raises
    ------
    ConfigurationError
        input_shape or shared_axes are no such integers.

    Notes
    -----
    Input and output ``[N, *input_shape]``. Vector: W, that is alpha, of input_shape with 1 for the shared axes, in f
    order. It is a weight, so the penalties on weights hold for it; weight noise does not, nor has the activation an
    effect. Fans for weight_init: the first axis, in and out. Source: DL4J ``PReLULayer``; He et al. 2015. Differs: Java
    never infers input_shape, and its fans are 0.

    Examples
    --------
    >>> PReLULayer(input_shape=(3, 8, 8), shared_axes=(2, 3)).param_shapes()
    {'W': (3, 1, 1)}
    """

    input_shape: Count | Sequence[Count] | None = None
    shared_axes: Count | Sequence[Count] | None = None
    input_format: str | None = field(default=None, repr=False, compare=False)
    weight_init: str | Distribution | None = "zero"
    runtime: ClassVar = PReLURuntime
    form: ClassVar[JavaForm] = BaseLayerConf.form.more(
        {"inputShape": ("input_shape", _AXES), "sharedAxes": ("shared_axes", _AXES)}, {"nin": 0, "nout": 0}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("input_shape", "shared_axes"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, int) else value or None)
        axes = len(self._shape)
        if axes and any(axis > axes for axis in self._shared):
            raise nd.ConfigurationError(
                f"PReLULayer: shared_axes must be axes 1..{axes} of {self.input_shape}, got {self.shared_axes}."
            )

    @property
    def _shape(self) -> tuple[int, ...]:
        return self.input_shape or ()  # type: ignore[return-value]

    @property
    def _shared(self) -> tuple[int, ...]:
        return self.shared_axes or ()  # type: ignore[return-value]

    @property
    def _expected_shape(self) -> tuple[int | str, ...]:
        """Of one example; ``"any"`` for an axis whose length does not matter."""
        return tuple("any" if axis in self._shared else size for axis, size in enumerate(self._shape, 1))

    @property
    def _alpha_shape(self) -> tuple[int, ...]:
        """Shape of alpha."""
        return tuple(1 if size == "any" else size for size in self._expected_shape)  # type: ignore[misc]

    def resolved(self, defaults: NeuralNetConfiguration, index: int) -> Self:
        if self.input_shape is not None:
            return super().resolved(defaults, index)
        names = ("constraints", *FIELDS)  # which wait for the shape: `with_inputs` places them
        source = self if any(getattr(self, name) is not None for name in names) else defaults
        waiting: Any = {name: getattr(source, name, None) for name in names}
        bare = replace(self, constraints=None, **UNSET)
        return replace(BaseLayerConf.resolved(bare, defaults, index), **waiting)

    def with_inputs(self, label: str, input_type: InputType) -> Self:
        sizes = arranged(input_type.shape, self.input_format)
        alpha_shape = tuple(1 if axis in self._shared else size for axis, size in enumerate(sizes, 1))
        if None in alpha_shape:
            raise nd.ConfigurationError(
                f"{label}: the length of {input_type!r} must be known, or alpha the same at every time step. Give "
                "InputType.recurrent the length, or set shared_axes=2."
            )
        if self.input_shape is None:
            shaped = replace(self, input_shape=tuple(1 if size is None else size for size in sizes))
            return replace(shaped, constraints=placed_constraints(label, shaped, shaped), **UNSET)
        if self._alpha_shape != alpha_shape:
            raise nd.ConfigurationError(
                f"{label}: input_shape must be {sizes}, that of what comes in, got {self.input_shape}. "
                "Leave input_shape out, or mend it."
            )
        return self

    def check(self, label: str) -> None:
        if self.input_shape is None:
            raise nd.ConfigurationError(f"{label}: input_shape is missing. Give it, or pass input_type to list(...).")

    def param_specs(self) -> tuple[ParamSpec, ...]:
        shape = self._alpha_shape
        fan = float(shape[0]) if shape else 0.0
        return (ParamSpec("W", shape, "f", fan_in=fan, fan_out=fan),) if math.prod(shape) and shape else ()
