"""A model with its models within it as one row of calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from nd import FormatError
from nd.arguments import shown

from ..model import InputSpec, KerasCall, KerasLayer, Weight
from .structure import INPUT, Entry, Part, Ref, Use

Weights = Mapping[Entry, tuple[Weight, ...]]
_MOST_CALLS = 100_000
_MOST_DEPTH = 32
_OPEN = (None, -1)


class Flattening:
    """The calls of a model, as they are found.

    Parameters
    ----------
    weights : mapping of Entry -> tuple of Weight, or None
        None where only the configuration was read.

    Attributes
    ----------
    calls : list of KerasCall
    inputs : dict of str -> InputSpec
    outputs : tuple of str
    """

    def __init__(self, part: Part, weights: Weights | None) -> None:
        self.calls: list[KerasCall] = []
        self.inputs: dict[str, InputSpec] = {}
        self._weights = weights
        self._layers: dict[Entry, KerasLayer] = {}
        self._uses: dict[Entry, int] = {}
        given = [self._input(_entry_of(part, ref)) for ref in part.inputs]
        self.outputs = tuple(self._run(part, given, "", trainable=True))

    def _input(self, entry: Entry) -> str:
        if entry.class_name != INPUT:
            raise FormatError(f"input {entry.name!r} must be an InputLayer, got {entry.class_name}.")
        shape = entry.config.get("batch_shape")
        if not isinstance(shape, list) or not all(size in _OPEN or type(size) is int for size in shape) or not shape:
            raise FormatError(
                f"input {entry.name!r}: expected a batch_shape, got {str(shape)[:100]}. A model that Keras has not "
                "built yet has no shapes: call it once, and save it again."
            )
        dtype = entry.config.get("dtype")
        sizes = tuple(None if size in _OPEN else size for size in shape[1:])
        self.inputs[entry.name] = InputSpec(sizes, dtype if isinstance(dtype, str) else "float32")
        return entry.name

    def _run(self, part: Part, given: Sequence[str], prefix: str, *, trainable: bool, depth: int = 0) -> list[str]:
        """Add the calls of a model that is called with some values; return its outputs."""
        if depth > _MOST_DEPTH:
            raise FormatError(f"models must lie in one another at most {_MOST_DEPTH} deep, got {prefix!r}.")
        if len(given) != len(part.inputs):
            raise FormatError(f"model {prefix[:-1]!r} must be called with {len(part.inputs)} inputs, got {len(given)}.")
        values: dict[Ref, str] = {}
        for ref, name in zip(part.inputs, given, strict=True):
            values[Ref(ref.layer)] = name
        whole = {*(ref.layer for ref in part.inputs), *(entry.name for entry in part.entries if entry.inner)}
        for entry, number in _order(part):
            use = entry.uses[number]
            value = partial(_value, values, who=entry.name, models=whole)
            inputs = [value(ref) for ref in use.inputs]
            if entry.inner is None:
                self._call(entry, inputs, _resolved(use.arguments, value), prefix, trainable)
                base = self.calls[-1].name
                values[Ref(entry.name, number)] = base
                continue
            down = trainable and entry.trainable
            outputs = self._run(entry.inner, inputs, f"{prefix}{entry.name}/", trainable=down, depth=depth + 1)
            for at, output in enumerate(outputs):
                values[Ref(entry.name, number, at)] = output
        return [_value(values, ref, prefix or "the model", whole) for ref in part.outputs]

    def _call(self, entry: Entry, inputs: list[str], arguments: dict[str, Any], prefix: str, trainable: bool) -> None:
        if len(self.calls) >= _MOST_CALLS:
            raise FormatError(f"a model must call its layers at most {_MOST_CALLS:,} times, got more.")
        if not inputs:
            raise FormatError(f"layer {entry.name!r} must be called with something, got no inputs.")
        number = self._uses[entry] = self._uses.get(entry, 0) + 1
        name = f"{prefix}{entry.name}" + (f"#{number}" if number > 1 else "")
        if entry not in self._layers:
            weights = None if self._weights is None else self._weights.get(entry, ())
            self._layers[entry] = KerasLayer(
                entry.class_name, f"{prefix}{entry.name}", entry.config, weights, trainable and entry.trainable
            )
        self.calls.append(KerasCall(name, self._layers[entry], tuple(inputs), arguments))


def _entry_of(part: Part, ref: Ref) -> Entry:
    for entry in part.entries:
        if entry.name == ref.layer:
            return entry
    raise FormatError(f"expected a layer {ref.layer!r}, got {shown([entry.name for entry in part.entries])}.")


def _value(values: Mapping[Ref, str], ref: Ref, who: str, models: Collection[str]) -> str:
    """Return the name of what a reference means; further outputs of a layer are ``"lstm:1"``.

    Parameters
    ----------
    models : collection of str
        Inputs and models in the model, of which all outputs are among the values.
    """
    if ref in values:
        return values[ref]
    first = ref._replace(output=0)
    if first in values and ref.layer not in models:
        return f"{values[first]}:{ref.output}"
    raise FormatError(
        f"{who!r} must take outputs of layers of the model, got output {ref.output} of use {ref.use} of {ref.layer!r}."
    )


def _resolved(arguments: Any, value: Callable[[Ref], str]) -> Any:
    """Return arguments of a call with names in the place of references."""
    if isinstance(arguments, Ref):
        return value(arguments)
    if isinstance(arguments, Mapping):
        return {name: _resolved(one, value) for name, one in arguments.items()}
    if isinstance(arguments, (list, tuple)):
        return [_resolved(one, value) for one in arguments]
    return arguments


def _order(part: Part) -> list[tuple[Entry, int]]:
    """Return the uses of a model's layers in an order in which they can run, near that of the file."""
    by_name = {entry.name: entry for entry in part.entries}
    given = {ref.layer for ref in part.inputs}
    order: list[tuple[Entry, int]] = []
    states: dict[tuple[str, int], bool] = {}  # False: waits for its inputs
    for entry in part.entries:
        for number in range(len(entry.uses)):
            stack = [(entry.name, number)]
            while stack:
                name, use = stack[-1]
                if states.get((name, use)) or name in given:
                    stack.pop()
                    continue
                waiting = [key for key in _sources(by_name, name, use) if not states.get(key) and key[0] not in given]
                if any(key in states for key in waiting):
                    raise FormatError(f"layers must not wait for one another, got {name!r} in a circle.")
                states[name, use] = not waiting
                if waiting:
                    stack += waiting
                else:
                    order.append((by_name[name], use))
                    stack.pop()
    return order


def _sources(by_name: Mapping[str, Entry], name: str, use: int) -> list[tuple[str, int]]:
    """Return the uses of layers that one needs, each once."""
    entry = by_name[name]
    if use >= len(entry.uses):
        raise FormatError(f"use {use} of layer {name!r} must be one of its {len(entry.uses)}, got none.")
    keys = dict.fromkeys((ref.layer, ref.use) for ref in _refs_of(entry.uses[use]))
    for layer, _ in keys:
        if layer not in by_name:
            raise FormatError(f"layer {name!r} must take the outputs of layers of the model, got {layer!r}.")
    return list(keys)


def _refs_of(use: Use) -> list[Ref]:
    found = list(use.inputs)
    stack: list[Any] = list(use.arguments.values())
    while stack:
        value = stack.pop()
        if isinstance(value, Ref):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            stack += value
        elif isinstance(value, Mapping):
            stack += value.values()
    return found
