"""The order in which Deeplearning4j's ComputationGraph visits its vertices, which is that of their parameters."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from nd import FormatError
from nd.arguments import shown

_SMALLEST, _LOAD = 16, 0.75


def hash_set_order(numbers: Iterable[int]) -> list[int]:
    """Return integers in the order in which Java's ``HashSet<Integer>`` iterates over them, put in as they come.

    Parameters
    ----------
    numbers : iterable of int
        Non-negative, less than 2^31.

    Notes
    -----
    Buckets ``(v ^ (v >>> 16)) & (capacity - 1)`` in turn, in a bucket the order in which they came; the capacity starts
    at 16 and doubles when more than three quarters are taken. Source: ``java.util.HashMap``.

    Examples
    --------
    >>> hash_set_order([2, 1, 17])
    [1, 17, 2]
    """
    known = list(dict.fromkeys(numbers))
    capacity = _SMALLEST
    while len(known) > _LOAD * capacity:
        capacity *= 2
    return sorted(known, key=lambda number: (number ^ (number >> 16)) & (capacity - 1))


def topological_order(inputs: Sequence[str], vertex_inputs: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the names of inputs and vertices in Java's order.

    Parameters
    ----------
    inputs : sequence of str
        The network's, in their order.
    vertex_inputs : mapping of str -> sequence of str
        Vertex -> names of its inputs, in the order of the file.

    Raises
    ------
    FormatError
        A vertex has an input that does not exist, or the graph has a circle.

    Notes
    -----
    Kahn's algorithm with a queue; successors are visited in `hash_set_order` of their indices. Source: DL4J
    ``ComputationGraphConfiguration.topologicalOrdering``.
    """
    names = [*inputs, *vertex_inputs]
    index_of = {name: index for index, name in enumerate(names)}
    if len(index_of) != len(names):
        raise FormatError("configuration: expected every vertex once, got one that has an input's name.")
    before: list[set[int]] = [set() for _ in names]
    after: list[list[int]] = [[] for _ in names]
    for name, sources in vertex_inputs.items():
        for source in sources:
            if source not in index_of:
                raise FormatError(f"configuration: vertex {name!r} has an unknown input {str(source)[:100]!r}.")
            before[index_of[name]].add(index_of[source])
            after[index_of[source]].append(index_of[name])
    queue = deque(index for index, sources_left in enumerate(before) if not sources_left)
    order: list[str] = []
    while queue:
        current = queue.popleft()
        order.append(names[current])
        for following in hash_set_order(after[current]):
            before[following].discard(current)
            if not before[following]:
                queue.append(following)
    if len(order) < len(names):
        raise FormatError(f"configuration: expected a graph without circles, got one among {len(names) - len(order)}.")
    return order


def stored_order(
    document: Mapping[str, object], inputs: Sequence[str], vertices: Sequence[str], before: Mapping[str, Sequence[str]]
) -> list[str] | None:
    """Return the order that a configuration carries, by names, by indices or by both; None if it carries none.

    Parameters
    ----------
    document : dict
    inputs, vertices : sequence of str
        Their names, in the order of their indices.
    before : mapping of str -> sequence of str
        Vertex -> names of its inputs.

    Raises
    ------
    FormatError
        It is no order of these vertices, names and indices differ, or a vertex comes before an input of its own.
    """
    names = [*inputs, *vertices]
    by_index = _order_in(document, "topologicalOrder")
    if by_index is not None:
        valid = all(type(index) is int and 0 <= index < len(names) for index in by_index)
        by_index = [names[index] for index in by_index] if valid else []
    by_name = _order_in(document, "topologicalOrderStr")
    for key, order in (("topologicalOrderStr", by_name), ("topologicalOrder", by_index)):
        if order is not None and (not all(isinstance(name, str) for name in order) or sorted(order) != sorted(names)):
            raise FormatError(f"configuration: {key} must name each of {len(names)} vertices once.")
    if by_name is not None and by_index is not None and by_name != by_index:
        place = next(place for place, name in enumerate(by_name) if name != by_index[place])
        raise FormatError(
            "configuration: topologicalOrder and topologicalOrderStr must say one order, got "
            f"{by_index[place]!r} and {by_name[place]!r} at place {place}. Take one of them out."
        )
    order = by_name or by_index
    places = {name: place for place, name in enumerate(order or ())}
    for name in vertices if order else ():
        late = next((source for source in before.get(name, ()) if places.get(source, -1) > places[name]), None)
        if late is not None:
            raise FormatError(
                f"configuration: topologicalOrder must have every vertex behind its inputs, got {name!r} before its "
                f"input {late!r}. Take the order out: it follows from the inputs."
            )
    return order


def _order_in(document: Mapping[str, object], key: str) -> list[Any] | None:
    order = document.get(key)
    if order is not None and not isinstance(order, list):
        raise FormatError(f"configuration: {key} must be a list of vertices, got {shown(order)}.")
    return order or None
