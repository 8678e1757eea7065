"""StackVertex and UnstackVertex: what lies between them are layers that Keras calls once for each of the stacked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...terms.input_type import InputType, RecurrentType
from .draft import Value
from .node import NotInKeras

Parts = tuple[Value, ...]
"""What a node gives: one value, behind a StackVertex those of several examples, one behind the other."""
OTHER_EXAMPLES = "Keras has as many examples behind a layer as before it"


def in_parts(inputs: Sequence[Parts]) -> list[tuple[Value, ...]]:
    """Return what comes into a node part by part."""
    counts = {len(parts) for parts in inputs}
    if len(counts) > 1:
        raise NotInKeras(f"{OTHER_EXAMPLES}, and its inputs have several numbers of them")
    return list(zip(*inputs, strict=True))


def _stacked(conf: Any, inputs: Sequence[Parts], types: Sequence[InputType]) -> Parts:
    lengths = {kind.time_series_length for kind in types if isinstance(kind, RecurrentType)}
    if len(lengths) > 1:
        raise NotInKeras("no layer of Keras puts zeros behind series that are shorter than others")
    return tuple(value for parts in inputs for value in parts)


def _unstacked(conf: Any, inputs: Sequence[Parts], types: Sequence[InputType]) -> Parts:
    (parts,) = inputs
    count, rest = divmod(len(parts), int(conf.stack_size))
    if rest or not count or any(value.of_steps for value in parts):
        raise NotInKeras("Keras takes examples apart only where a StackVertex has put as many together")
    return parts[int(conf.from_) * count :][:count]


STACKS: Mapping[str, Callable[[Any, Sequence[Parts], Sequence[InputType]], Parts]] = {
    "StackVertex": _stacked,
    "UnstackVertex": _unstacked,
}
"""Class -> what its parts are, sorted."""
