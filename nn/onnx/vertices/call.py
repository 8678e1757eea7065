"""One computation of an operator: its inputs, attributes and constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape

from .constants import OnnxConstant
from .values import Value


class Call:
    """What an operator's function is given.

    Parameters
    ----------
    op : str
    attributes : mapping of str -> number, text, list, or OnnxConstant
    constants : mapping of int -> OnnxConstant or None
        Positions of inputs that are constants, None for those that are left out.
    values : mapping of int -> Value
        The other inputs, and constants that are parameters.
    opset : int
    dtype : str
        Of the network: constants of numbers are taken in it.
    label : str
        Named in errors.
    outputs : int
        How many the node has.
    """

    def __init__(
        self,
        op: str,
        attributes: Mapping[str, Any],
        constants: Mapping[int, OnnxConstant | None],
        values: Mapping[int, Value],
        opset: int,
        dtype: str,
        label: str,
        outputs: int = 1,
    ) -> None:
        self.op, self.attributes, self.constants, self.opset = op, attributes, constants, opset
        self.dtype, self.label, self.outputs = dtype, label, outputs
        self._values = dict(values)
        self.count = 1 + max([*self._values, *constants], default=-1)

    # ---- inputs

    def has(self, position: int) -> bool:
        """Tell whether an input is there."""
        return position in self._values or self.constants.get(position) is not None

    def __getitem__(self, position: int) -> Value:
        """Return an input; of a constant its numbers in the network's dtype."""
        if position not in self._values:
            given = self.constants.get(position)
            if given is None:
                raise ConfigurationError(f"{self.label}: {self.op} needs input {position}, got none. Give it.")
            self._values[position] = Value(given.array(self.dtype))
        return self._values[position]

    def get(self, position: int) -> Value | None:
        """Return an input, None where it is left out."""
        return self[position] if self.has(position) else None

    def inputs(self) -> list[Value]:
        """Return all inputs."""
        return [self[position] for position in range(self.count)]

    def host(self, position: int, default: Any = None) -> Any:
        """Return the numbers of an input that must be a constant, as Python's; `default` where it is left out."""
        if not self.has(position):
            return default
        given = self.constants.get(position)
        if given is None:
            raise ConfigurationError(
                f"{self.label}: input {position} of {self.op} must be a constant, got activations. Make it one in the "
                "file."
            )
        return given.values()

    def ints(self, position: int, attribute: str = "") -> list[int] | None:
        """Return whole numbers that are a constant input, or in older opsets an attribute; None where left out."""
        if self.has(position):
            given = self.host(position)
            return [int(number) for number in (given if isinstance(given, list) else [given])]
        return self.wholes(attribute) if attribute else None

    def real(self, position: int, attribute: str = "", default: float | None = None) -> float | None:
        """Return a number that is a constant input, or in older opsets an attribute."""
        if self.has(position):
            given = self.host(position)
            while isinstance(given, list):
                (given,) = given
            return float(given)
        given = self.attributes.get(attribute)
        return default if given is None else float(given)

    # ---- attributes

    def number(self, name: str, default: float) -> float:
        """Return a real attribute."""
        return float(self.attributes.get(name, default))

    def whole(self, name: str, default: int) -> int:
        """Return a whole attribute."""
        return int(self.attributes.get(name, default))

    def wholes(self, name: str) -> list[int] | None:
        """Return a list of whole numbers, None where it is left out."""
        given = self.attributes.get(name)
        return None if given is None else [int(number) for number in given]

    def numbers(self, name: str) -> list[float] | None:
        """Return a list of real numbers, None where it is left out."""
        given = self.attributes.get(name)
        return None if given is None else [float(number) for number in given]

    def text(self, name: str, default: str) -> str:
        """Return an attribute that is text."""
        given = self.attributes.get(name, default)
        return given.decode() if isinstance(given, bytes) else str(given)

    def texts(self, name: str) -> list[str] | None:
        """Return an attribute that is several texts."""
        given = self.attributes.get(name)
        return None if given is None else [one.decode() if isinstance(one, bytes) else str(one) for one in given]

    # ---- checks

    def axis(self, axis: int, ndim: int) -> int:
        """Return the number of an axis that may be counted from the end; raise ShapeError where there is none."""
        if not -ndim <= axis < ndim:
            raise ShapeError(
                f"{self.label}: axis must be in {-ndim}..{ndim - 1} for an input of {ndim} axes, got {axis}. Mend it."
            )
        return axis % ndim

    def axes(self, axes: Sequence[int], ndim: int) -> tuple[int, ...]:
        """Return several such axes."""
        return tuple(self.axis(axis, ndim) for axis in axes)

    def refuse(self, what: str) -> ConfigurationError:
        """Return the error of something that the operator is told and this library has not."""
        return ConfigurationError(f"{self.label}: {self.op} must be one that is supported, got {what}.")

    def misfit(self, what: str, shape: Sequence[int]) -> ShapeError:
        """Return the error of an input that does not fit."""
        return ShapeError(f"{self.label}: {self.op} needs {what}, got {describe_shape(shape)}. Reshape it.")
