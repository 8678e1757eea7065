"""The structure of a graph: names, inputs, outputs, circles, vertices that nothing reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import nd
from nd.checks import check_choice


def check_structure(
    inputs: Sequence[str],
    vertex_inputs: Mapping[str, Sequence[str]],
    outputs: Sequence[str],
    allow_disconnected: bool = False,
) -> None:
    """Raise ConfigurationError unless it is a graph that can be run; the message names the vertices.

    Parameters
    ----------
    inputs, outputs : sequence of str
        Of the network.
    vertex_inputs : mapping of str -> sequence of str
        Vertex -> names of what comes in.
    allow_disconnected : bool
        Allow vertices and inputs that nothing reads.

    Notes
    -----
    Source: DL4J ``ComputationGraphConfiguration.validate``. Differs: an input that is named twice is refused, and the
    whole circle is named.
    """
    if not inputs:
        raise nd.ConfigurationError("graph: a network needs at least one input, got none. Name them in inputs.")
    if not outputs:
        raise nd.ConfigurationError("graph: a network needs at least one output, got none. Name them in outputs.")
    _refuse_doubled("input", inputs)
    _refuse_doubled("output", outputs)
    for name in inputs:
        if name in vertex_inputs:
            raise nd.ConfigurationError(
                f"graph: every name must stand for one thing, got {name!r} for an input and for a vertex. Rename one."
            )
    known = dict.fromkeys((*inputs, *vertex_inputs))
    for name, sources in vertex_inputs.items():
        if not sources:
            raise nd.ConfigurationError(f"graph: vertex {name!r} must have inputs, got none. Name them behind it.")
        for source in sources:
            check_choice(f"graph: vertex {name!r}", "input", source, known)
    for name in outputs:
        check_choice("graph", "output", name, vertex_inputs)
    _refuse_circle(vertex_inputs)
    if not allow_disconnected:
        _refuse_unread(inputs, vertex_inputs, outputs)


def _refuse_doubled(kind: str, names: Sequence[str]) -> None:
    for name in names:
        if not isinstance(name, str) or not name:
            raise nd.ConfigurationError(f"graph: names of {kind}s must be texts, got {name!r}.")
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise nd.ConfigurationError(
            f"graph: every {kind} must be named once, got {doubled[0]!r} {names.count(doubled[0])} times."
        )


def _refuse_circle(vertex_inputs: Mapping[str, Sequence[str]]) -> None:
    done: set[str] = set()
    for first in vertex_inputs:
        path: dict[str, None] = {}
        ahead = [(first, iter(vertex_inputs[first]))] if first not in done else []
        while ahead:
            name, sources = ahead[-1]
            if len(path) < len(ahead):
                path[name] = None
            source = next((source for source in sources if source in vertex_inputs and source not in done), None)
            if source is None:
                done.add(path.popitem()[0])
                ahead.pop()
            elif source in path:
                names = list(path)
                circle = [*names[names.index(source) :], source]
                raise nd.ConfigurationError(
                    f"graph: no vertex may depend on itself, got the circle {' <- '.join(circle)}. Take an input away."
                )
            else:
                ahead.append((source, iter(vertex_inputs[source])))


def _refuse_unread(inputs: Sequence[str], vertex_inputs: Mapping[str, Sequence[str]], outputs: Sequence[str]) -> None:
    read = set(_all(vertex_inputs.values())) | set(outputs)
    unread = [name for name in (*inputs, *vertex_inputs) if name not in read]
    if unread:
        raise nd.ConfigurationError(
            f"graph: every input and vertex must be an output or be read by a vertex, got {unread}, which nothing "
            "reads. Take them away, name them in outputs, or set allow_disconnected=True."
        )


def _all(names: Iterable[Sequence[str]]) -> Iterable[str]:
    return (name for several in names for name in several)
