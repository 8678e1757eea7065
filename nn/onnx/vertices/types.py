"""The kind of activations that an operator makes of others: it is tried on one example."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING

import nd
from nd import ConfigurationError
from nd.checks import describe_shape

from ...terms.input_type import InputType
from ...vertices.merging import of_shape
from .operators import OPERATORS, computed
from .values import Value

if TYPE_CHECKING:
    from .vertex import OnnxVertex

_LENGTHS = (32, 33)
"""Of series whose length is not known: axes that differ with it have none either."""


def output_type(conf: OnnxVertex, label: str, input_types: Sequence[InputType]) -> InputType:
    """Return the type of what the operator makes of inputs of those types.

    Raises
    ------
    ConfigurationError
        It has no axis behind the first one, or more axes than layers take.
    """
    if all(None not in given.shape for given in input_types):
        shape: Sequence[int | None] = _tried(conf, label, input_types, 0)
    else:
        one, other = (_tried(conf, label, input_types, length) for length in _LENGTHS)
        shape = [size if size == again else None for size, again in zip(one, other, strict=True)]
    if not 2 <= len(shape) <= 5 or 0 in shape[1:]:
        raise ConfigurationError(
            f"{label}: activations must have 2 to 5 axes where the network knows the types of its inputs, got "
            f"{describe_shape(tuple(size or 0 for size in shape))}. Leave out the input types, and give layers n_in."
        )
    return of_shape(shape[1:])


def _tried(conf: OnnxVertex, label: str, input_types: Sequence[InputType], length: int) -> tuple[int, ...]:
    """Return the shape that comes of one example, of ones."""
    with nd.use_backend("numpy"):
        values = [
            Value(nd.ones((1, *(size or length for size in given.computed.shape)), dtype="float32"))
            for given in input_types
        ]
        call = conf.call(dict(zip(conf.positions_of_inputs(len(values)), values, strict=True)), "float32", label)
        if OPERATORS[conf.op].splits:  # a function of elements, which may have no value at 1
            given = [call[position] for position in range(call.count) if call.has(position)]
            return reduce(lambda x, y: x + y, given).shape
        return computed(call, conf.output).shape
