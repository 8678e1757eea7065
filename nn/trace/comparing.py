"""Where two traces of one network part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import nd
from nd.execution.seen_arrays import Parting, SeenArray, parting

from .rows import Row

if TYPE_CHECKING:
    from .trace import Trace


@dataclass(frozen=True)
class Difference:
    """The first place where two traces part.

    Attributes
    ----------
    phase, node, op : str
        The op is "activation", "epsilon", "gradients.W" or "updated.W" where layers are compared, not ops.
    number : int or None
        Of the op among `Trace.ops`; None where layers are compared.
    array : str
        Name of the output.
    index : tuple of int, or None
        Of the first element that differs; None where the arrays are beyond the budget of a trace, whose numbers are
        then not there: only that they differ is known.
    values : (float, float) or None
        Both numbers there.
    largest : float or None
        Largest difference of any element.
    count : int or None
        How many elements differ by more than the tolerance.
    """

    phase: str
    node: str
    op: str
    number: int | None
    array: str
    index: tuple[int, ...] | None
    values: tuple[float, float] | None
    largest: float | None
    count: int | None

    def __str__(self) -> str:
        which = "" if self.number is None else f"op {self.number}, "
        where = f"{which}{self.op} of {self.node or 'the step'} ({self.phase}), {self.array}"
        if self.index is None or self.values is None:
            return f"{where}: differs; its numbers are beyond the budget of a trace"
        first, second = self.values
        more = f"{self.count:,} elements differ, the largest difference is {self.largest:.3g}"
        return f"{where}{list(self.index)}: {first!r} and {second!r}; {more}"


def compare(first: Trace, second: Trace, tolerance: float) -> Difference | None:
    """Return where two traces part first; see `Trace.compare`."""
    if list(first.nodes) != list(second.nodes):
        raise nd.ConfigurationError(
            f"compare: both traces must be of the same network, got layers {', '.join(first.nodes)} and "
            f"{', '.join(second.nodes)}. Trace the same configuration twice."
        )
    _check_shapes(first, second)
    if same_ops(first, second):
        return _first_of_ops(first.ops, second.ops, tolerance)
    return _first_of_nodes(first, second, tolerance)


def _check_shapes(first: Trace, second: Trace) -> None:
    for name, node in first.nodes.items():
        others = dict(second.nodes[name].arrays())
        for key, seen in node.arrays():
            if key in others and others[key].shape != seen.shape:
                raise nd.ShapeError(
                    f"compare: both traces must be of the same network and as many examples, got {key} of {name!r} "
                    f"{list(seen.shape)} and {list(others[key].shape)}. Trace the same configuration on the same data."
                )


def same_ops(first: Trace, second: Trace) -> bool:
    """Tell whether two steps consist of the same ops on the same shapes."""
    return [_key(row) for row in first.ops] == [_key(row) for row in second.ops]


def _key(row: Row) -> tuple[Any, ...]:
    return row.kind, row.phase, row.node, row.op, [(seen.name, seen.shape) for seen in row.seen_outputs]


def _first_of_ops(first: list[Row], second: list[Row], tolerance: float) -> Difference | None:
    for number, (one, other) in enumerate(zip(first, second, strict=True)):
        for name, pair in _outputs(one, other):
            difference = _of_pair((one.phase, one.node, one.op, number, name), pair, tolerance)
            if difference is not None:
                return difference
    return None


def _outputs(one: Row, other: Row) -> Iterator[tuple[str, tuple[SeenArray, SeenArray]]]:
    for pair in zip(one.seen_outputs, other.seen_outputs, strict=True):
        yield pair[0].name, pair


def _first_of_nodes(first: Trace, second: Trace, tolerance: float) -> Difference | None:
    """Compare activations in their order, then epsilons and gradients in the order of the way back, then parameters."""
    names = list(first.nodes)
    stages = [(name, "forward", "activation") for name in names]
    stages += [(name, "backward", kind) for name in reversed(names) for kind in ("epsilon", "gradients")]
    stages += [(name, "update", "updated") for name in names]
    for name, phase, kind in stages:
        others = dict(second.nodes[name].arrays())
        for key, seen in first.nodes[name].arrays():
            if key.partition(".")[0] != kind or key not in others:
                continue
            difference = _of_pair((phase, name, key, None, key), (seen, others[key]), tolerance)
            if difference is not None:
                return difference
    return None


def _of_pair(
    where: tuple[str, str, str, int | None, str], pair: tuple[SeenArray, SeenArray], tolerance: float
) -> Difference | None:
    found = parting_of(pair, tolerance)
    if found is None:
        return None
    if isinstance(found, Parting):
        return Difference(*where, found.place, (found.first, found.second), found.largest, found.elements)
    return Difference(*where, None, None, None, None)


def parting_of(pair: tuple[SeenArray, SeenArray], tolerance: float) -> Parting | bool | None:
    """Return where two arrays part, None where they do not; True where they do, and nobody knows where."""
    first, second = pair
    if (first.dtype, first.content.digest) == (second.dtype, second.content.digest):
        return None
    if first.is_kept and second.is_kept:
        return parting(first.values, second.values, tolerance)
    if first.content.sample.shape == second.content.sample.shape:
        found = parting(first.content.sample, second.content.sample, tolerance)
        if found is not None:
            return found
    return True if _apart(first, second, tolerance) else None


def _apart(first: SeenArray, second: SeenArray, tolerance: float) -> bool:
    """Tell whether what is known of two arrays that are not kept differs by more than the tolerance."""
    if not tolerance:
        return first.dtype == second.dtype  # of others the digests say nothing
    one, other = first.content, second.content
    bound = tolerance * max(map(abs, (one.low, one.high, other.low, other.high)))
    pairs = ((one.low, other.low), (one.high, other.high), (one.mean, other.mean))
    return one.not_finite != other.not_finite or any(abs(a - b) > bound for a, b in pairs)
