"""Nodes of a graph, one after the other."""

from __future__ import annotations

from typing import Any

from ..layers import ActivationLayer, SubsamplingLayer


class Nodes(dict[str, Any]):
    """Nodes by name, as `NeuralNetConfiguration.graph` takes them; every method returns the name of what it added."""

    def add(self, name: str, node: Any, *inputs: str) -> str:
        """Add a layer or a vertex behind others."""
        self[name] = (node, *inputs)
        return name

    def activation(self, name: str, activation: Any, below: str) -> str:
        """Add an activation alone."""
        return self.add(name, ActivationLayer(activation=activation), below)

    def pool(self, name: str, kind: str, kernel_size: int, below: str, **settings: Any) -> str:
        """Add a pooling; its stride is 2 where none is given."""
        return self.add(name, SubsamplingLayer(kind, kernel_size=kernel_size, **settings), below)
