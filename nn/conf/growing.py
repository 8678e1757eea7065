"""A graph of layers and vertices as it grows from the parts of another kind of network."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..vertices.scaling import ScaleVertex


class GrowingGraph:
    """Vertices, what comes into them, and their parameters.

    Attributes
    ----------
    inputs : dict of str -> object
        The network's inputs.
    nodes : dict of str -> (layer or vertex, input, ...)
        In the order in which they run.
    arrays : dict of str -> dict of str -> array
        Vertex -> its parameters, by their names there.
    """

    def __init__(self) -> None:
        self.inputs: dict[str, Any] = {}
        self.nodes: dict[str, tuple[Any, ...]] = {}
        self.arrays: dict[str, dict[str, Any]] = {}

    def add(self, wanted: str, conf: Any, inputs: Iterable[str], arrays: dict[str, Any] | None = None) -> str:
        """Add a vertex, under another name where that one is taken; return its name."""
        name, number = wanted, 1
        while name in self.nodes or name in self.inputs:
            number += 1
            name = f"{wanted}#{number}"
        names: list[str] = []
        for source in inputs:  # a vertex that reads another one twice is unknown to Java
            again = f"{name}/again{len(names)}"
            names.append(self.add(again, ScaleVertex(1.0), [source]) if source in names else source)
        self.nodes[name] = (conf, *names)
        if arrays:
            self.arrays[name] = arrays
        return name

    def above(self, outputs: Iterable[str]) -> set[str]:
        """Return the inputs and vertices that some vertices need, with them."""
        needed: set[str] = set()
        waiting = list(outputs)
        while waiting:
            name = waiting.pop()
            if name not in needed:
                needed.add(name)
                waiting += self.nodes[name][1:] if name in self.nodes else ()
        return needed
