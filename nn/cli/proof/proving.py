"""Running two models on the same inputs, and comparing what they compute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import permutations

from nd import ConfigurationError
from nd.checks import describe_shape
from nd.typing import HostArray

from .differences import Difference, difference, has_numbers
from .sides import Results, Side

OUTPUT, LAYER = "output", "layer"
_MOST_AXES = 5  # of values that are turned


@dataclass(frozen=True)
class Compared:
    """What both models name, and how far they are apart there.

    Attributes
    ----------
    name : str
    kind : str
        ``"output"`` or ``"layer"``.
    shape : tuple of int
        With the most examples.
    difference : Difference or None
        None where the shapes are not the same.
    others_shape : tuple of int
    """

    name: str
    kind: str
    shape: tuple[int, ...]
    difference: Difference | None
    others_shape: tuple[int, ...]

    def is_within(self, tolerance: float) -> bool:
        """Tell whether the difference is small enough; layers of other shapes are not compared, outputs must be."""
        if self.difference is None:
            return self.kind == LAYER
        return self.difference.relative <= tolerance

    def joined(self, other: Compared) -> Compared:
        """Return what holds for both runs."""
        if self.difference is None or other.difference is None:
            return self if self.difference is None else other
        return replace(self, difference=self.difference.joined(other.difference))


@dataclass(frozen=True)
class Proof:
    """Two models that were run on the same inputs.

    Attributes
    ----------
    rows : tuple of Compared
        Layers in the order of the first model, then the outputs.
    readers : pair of str
        What ran them.
    examples : tuple of int
        Numbers of examples of the runs.
    tolerance : float
        Relative to the largest number of a layer.
    unnamed : tuple of str
        Layers of the first model that the second one does not name.
    """

    rows: tuple[Compared, ...]
    readers: tuple[str, str]
    examples: tuple[int, ...]
    tolerance: float
    unnamed: tuple[str, ...]

    @property
    def beyond(self) -> tuple[Compared, ...]:
        """What is apart by more than the tolerance."""
        return tuple(row for row in self.rows if not row.is_within(self.tolerance))


def prove(
    first: Side, second: Side, outputs: Sequence[str], runs: Sequence[Sequence[HostArray]], tolerance: float
) -> Proof:
    """Run both models on all inputs; return how far they are apart.

    Parameters
    ----------
    first, second : Side
        The model that was converted, and the one that came of it.
    outputs : sequence of str
        Names of the outputs.
    runs : sequence of sequence of host array
        Arrays of all inputs, for every run.
    tolerance : float
        Relative to the largest number of a layer.

    Raises
    ------
    ConfigurationError
        There is nothing that both models name, or an output has no finite number in any run.
    """
    both = first.names & second.names
    rows: dict[tuple[str, str], Compared] = {}
    empty = set(outputs)
    for xs in runs:
        one, other = first.run(xs, both), second.run(xs, both)
        given = zip(outputs, one.outputs, strict=True) if one.outputs else one.named.items()
        empty.difference_update(name for name, array in given if has_numbers(array))
        for row in [*_layers(one, other, set(outputs)), *_outputs(one, other, outputs)]:
            key = row.kind, row.name
            rows[key] = rows[key].joined(row) if key in rows else row
    if not any(row.difference is not None or row.kind == OUTPUT for row in rows.values()):
        raise ConfigurationError("convert: both models must have something in common to compare, got nothing.")
    if empty.intersection(name for kind, name in rows if kind == OUTPUT):
        raise ConfigurationError(
            f"convert: a proof must have finite numbers in every output, got none in {', '.join(sorted(empty))}. Give "
            "other inputs: --proof-inputs FILE.npz."
        )
    return Proof(
        tuple(sorted(rows.values(), key=lambda row: row.kind == OUTPUT)),
        (first.reader, second.reader),
        tuple(xs[0].shape[0] for xs in runs),
        tolerance,
        tuple(sorted(first.names - second.names)),
    )


def _layers(one: Results, other: Results, outputs: set[str]) -> Iterator[Compared]:
    for name, expected in one.named.items():
        if name in other.named and not (name in outputs and one.outputs and other.outputs):
            yield _compared(name, LAYER, expected, other.named[name])


def _outputs(one: Results, other: Results, names: Sequence[str]) -> Iterator[Compared]:
    """Compare outputs at the same places; those that one model has by their names alone stand among the layers."""
    if one.outputs and other.outputs:
        for name, expected, got in zip(names, one.outputs, other.outputs, strict=True):
            yield _compared(name, OUTPUT, expected, got)


def _compared(name: str, kind: str, expected: HostArray, got: HostArray) -> Compared:
    forms = _orders(got, expected.shape) if kind == LAYER else [got] if got.shape == expected.shape else []
    differences = [difference(expected, form.reshape(expected.shape)) for form in forms]
    best = min(differences, key=lambda one: one.absolute, default=None)
    return Compared(name, kind, tuple(expected.shape), best, tuple(got.shape))


def _orders(array: HostArray, shape: Sequence[int]) -> list[HostArray]:
    """Return an array in all orders of its axes that have a shape, but for axes of one element.

    Inner values lie in other orders in other kinds of files: which one it is shows by the numbers.
    """
    wanted = [size for size in shape if size != 1]
    bare = array.reshape([size for size in array.shape if size != 1])
    if bare.ndim > _MOST_AXES:
        return [bare] if list(bare.shape) == wanted else []
    orders = permutations(range(bare.ndim))
    return [bare.transpose(order) for order in orders if [bare.shape[axis] for axis in order] == wanted]


def shapes_of(row: Compared) -> str:
    """Return the shapes of what could not be compared, in words."""
    return f"{describe_shape(row.shape)} and {describe_shape(row.others_shape)}"
