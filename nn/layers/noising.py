"""Noise at work: on a layer's input, and what stands in for its parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar

import nd
from nd.java_names import JavaNames

from ..conf.dropout import IDropout
from ..conf.noise import NumbersInForce
from ..conf.weight_noise import IWeightNoise
from ..params import ParamSpec

Array = Any


class Noising:
    """Draws what stands in for the parameters of a layer.

    Parameters
    ----------
    noise : IWeightNoise
    numbers : NumbersInForce
        Of the noise.
    specs : tuple of ParamSpec
        Of all parameters of the layer.
    """

    def __init__(self, noise: IWeightNoise, numbers: NumbersInForce, specs: tuple[ParamSpec, ...]) -> None:
        self.noise, self.numbers = noise, numbers
        self.specs = [spec for spec in specs if spec.is_weight or (spec.bias and noise.apply_to_biases)]

    def draw(self, params: dict[str, Array], buffers: Callable[..., Array]) -> dict[str, Array]:
        """Return name -> parameter, noised where it is, in the memory order of the parameter."""
        noised = dict(params)
        for spec in self.specs:
            out = nd.reshape_view(buffers(f"noised_{spec.name}", (spec.length,)), spec.shape, spec.order)
            noised[spec.name] = self.noise._get_in_order(params[spec.name], self.numbers.values, out, spec.order)
        return noised


class NoisyRuntime(JavaNames):
    """What a layer at work does at random in training, and nothing outside of it."""

    conf: Any
    dtype: str
    params: dict[str, Array]
    buffers: Callable[..., Array]
    takes_weight_noise: ClassVar[bool] = True
    """Whether weight noise has an effect, as it has in Java on most layers."""

    @cached_property
    def dropout(self) -> IDropout | None:
        """Dropout of the input, None when there is none or it keeps everything."""
        configured = self.conf.drop_out
        return None if configured is None or configured.does_nothing else configured

    def drop_input(self, x: Array, training: bool) -> tuple[Array, Array | None]:
        """Apply dropout to the input; also return what `undropped` needs."""
        if not training or self.dropout is None:
            return x, None
        return self.dropout.apply_dropout(x, self.drop_numbers.values, self.buffers)

    def undropped(self, epsilon: Array | None, kept: Array | None) -> Array | None:
        """Take a gradient back through the dropout of the input; `kept` is from `drop_input`."""
        return epsilon if kept is None or epsilon is None else self.dropout.backprop(epsilon, kept)  # type: ignore[union-attr]

    @cached_property
    def drop_numbers(self) -> NumbersInForce:
        """What dropout multiplies and compares with."""
        return NumbersInForce(self.conf.drop_out, self.dtype)

    @cached_property
    def noising(self) -> Noising | None:
        """Weight noise at work, None when there is none."""
        noise, specs = getattr(self.conf, "weight_noise", None), self.conf.param_specs()
        if noise is None or not specs or not self.takes_weight_noise:
            return None
        return Noising(noise, NumbersInForce(noise, self.dtype), specs)

    def weights(self, training: bool) -> dict[str, Array]:
        """Return name -> parameter as a forward pass and its backprop use it; after `drop_input`, which draws first."""
        if not training or self.noising is None:
            return self.params
        return self.noising.draw(self.params, self.buffers)

    def scheduled_numbers(self) -> list[NumbersInForce]:
        """Return the numbers of this layer's noise that follow schedules."""
        found = [] if self.dropout is None else [self.drop_numbers]
        found += [] if self.noising is None else [self.noising.numbers]
        return [numbers for numbers in found if numbers.scheduled]
