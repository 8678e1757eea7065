"""The kind of activations that an operator makes of others: it is tried on one example, if that is small."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

import nd
from nd import ConfigurationError, ShapeError
from nd.checks import describe_shape

from ...terms.input_type import InputType
from ...vertices.merging import of_shape
from .bounds import elements_inside, elements_told, inferred_shape
from .operators import OPERATORS, computed
from .values import Value

if TYPE_CHECKING:
    from .vertex import OnnxVertex

MOST_TRIED = 1 << 22
"""Elements of one example up to which an operator is run for the shape that it makes."""
MOST_UNTOLD = 1 << 24
"""The same where ONNX's rules do not tell the shape."""
_LENGTHS = (32, 33)
"""Of series whose length is not known: axes that differ with it have none either."""


def output_type(conf: OnnxVertex, label: str, input_types: Sequence[InputType]) -> InputType:
    """Return the type of what the operator makes of inputs of those types.

    Raises
    ------
    ConfigurationError
        It has no axis behind the first one, more axes than layers take, or might have more elements than are tried.
    ShapeError
        The inputs do not fit the operator, or one another.
    """
    if all(None not in given.shape for given in input_types):
        shape: Sequence[int | None] = _shape(conf, label, input_types, 0)
    else:
        one, other = (_shape(conf, label, input_types, length) for length in _LENGTHS)
        shape = [size if size == again else None for size, again in zip(one, other, strict=True)]
    if not 2 <= len(shape) <= 5 or 0 in shape[1:]:
        raise ConfigurationError(
            f"{label}: activations must have 2 to 5 axes where the network knows the types of its inputs, got "
            f"{describe_shape(tuple(size or 0 for size in shape))}. Leave out the input types, and give layers n_in."
        )
    return of_shape(shape[1:])


def _shape(conf: OnnxVertex, label: str, input_types: Sequence[InputType], length: int) -> tuple[int, ...]:
    """Return the shape that comes of one example: learnt from the sizes alone where there would be many elements."""
    given = [(1, *(size or length for size in one.computed.shape)) for one in input_types]
    arriving = dict(zip(conf.positions_of_inputs(len(given)), given, strict=True))
    shapes = arriving | {position: one.shape for position, one in conf.constants.items() if one is not None}
    if OPERATORS[conf.op].splits:
        return _together(label, conf.op, list(shapes.values()))
    inferred = inferred_shape(conf, shapes)
    if inferred is not None and max(math.prod(inferred), elements_inside(conf, shapes)) > MOST_TRIED:
        return inferred
    if inferred is None and max(elements_told(conf, shapes), elements_inside(conf, arriving)) > MOST_UNTOLD:
        inputs = ", ".join(describe_shape(shape) for shape in given)
        raise ConfigurationError(
            f"{label}: {conf.op} must make at most {MOST_UNTOLD:,} elements of one example where the network knows "
            f"the types of its inputs, got inputs of {inputs}. Mend the sizes, or leave out the input types."
        )
    return _tried(conf, label, given)


def _together(label: str, op: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape of a function of the elements of arrays."""
    made: list[int] = []
    for sizes in zip_longest(*(reversed(shape) for shape in shapes), fillvalue=1):
        others = {size for size in sizes if size != 1}
        if len(others) > 1:
            told = ", ".join(describe_shape(shape) for shape in shapes)
            raise ShapeError(f"{label}: {op} must have inputs whose axes agree or are 1, got {told}. Mend the file.")
        made.append(others.pop() if others else 1)
    return tuple(reversed(made))


def _tried(conf: OnnxVertex, label: str, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """Return the shape that comes of ones."""
    with nd.use_backend("numpy"):
        values = [Value(nd.ones(shape, dtype="float32")) for shape in shapes]
        call = conf.call(dict(zip(conf.positions_of_inputs(len(values)), values, strict=True)), "float32", label)
        return computed(call, conf.output).shape
