"""Reverse-mode differentiation of a draft: from the last node to the first, by a table of operators' derivatives."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..out.node_draft import NotInOnnx
from .derivatives import STOPS, derivative_of
from .derivatives.node_back import NodeBack, Shape
from .draft import Composite, TrainingDraft
from .tensors import Tensor


class Differentiation:
    """The way back through the nodes that a draft has now.

    Parameters
    ----------
    draft : TrainingDraft
    shapes : mapping of str -> sequence of int or None
        Of the tensors, as far as they are known.
    wanted : iterable of str
        Tensors whose gradients are asked for.

    Attributes
    ----------
    refused : dict of str
        Operators without a derivative -> the first node's name.
    """

    def __init__(self, draft: TrainingDraft, shapes: Mapping[str, Shape], wanted: Iterable[str]) -> None:
        self.draft, self.shapes = draft, shapes
        self.nodes = list(draft.nodes)
        self.refused: dict[str, str] = {}
        self._reached = set(wanted)
        for node in self.nodes:
            if node.op_type not in STOPS and self._reached.intersection(node.input):
                self._reached.update(node.output)
        self._gradients: dict[str, Tensor] = {}
        self._composites = {each.stop - 1: each for each in draft.composites}

    def reaches(self, tensor: str) -> bool:
        """Tell whether a tensor depends on one that is wanted."""
        return tensor in self._reached

    def gradients(self, seeds: Mapping[str, Tensor], wanted: Sequence[str]) -> dict[str, Tensor]:
        """Return dL/d(tensor) of those that are wanted, without those that L does not depend on.

        Parameters
        ----------
        seeds : mapping of str -> Tensor
            dL/d(tensor) where the loss looks at one.
        wanted : sequence of str
            Among those of the constructor.
        """
        for name, gradient in seeds.items():
            self._add(name, gradient)
        place = len(self.nodes) - 1
        while place >= 0:
            composite = self._composites.get(place)
            if composite is None:
                self._through_node(self.nodes[place])
                place -= 1
            else:
                self._through(composite)
                place = composite.first - 1
        return {name: self._gradients[name] for name in wanted if name in self._gradients}

    def _through(self, composite: Composite) -> None:
        epsilon = self._gradients.pop(composite.output, None)
        if epsilon is not None:
            self.draft.scope = f"gradient/{composite.output}"
            for name, gradient in composite.back(epsilon).items():
                if name in self._reached:
                    self._add(name, gradient)

    def _through_node(self, node: Any) -> None:
        epsilons = [self._gradients.pop(name, None) for name in node.output]
        if not self._reached.intersection(node.input) or all(epsilon is None for epsilon in epsilons):
            return
        self.draft.scope = f"gradient/{node.output[0]}"
        try:
            back = NodeBack(self.draft, node, epsilons, self.shapes, self._reached)
            below = derivative_of(node.op_type)(back)
        except NotInOnnx as error:
            self.refused.setdefault(node.op_type, f"{node.name}: {error}")
            return
        for name, gradient in zip(node.input, below, strict=False):
            if gradient is not None and name in self._reached:
                self._add(name, gradient)

    def _add(self, name: str, gradient: Tensor) -> None:
        known = self._gradients.get(name)
        self._gradients[name] = gradient if known is None else known + gradient
