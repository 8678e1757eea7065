"""A draft that remembers which nodes belong together, for the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

from nd.activations import Activation

from ..draft import OnnxDraft
from ..out.node_draft import NotInOnnx
from .slopes import SLOPES, back_through
from .tensors import Tensor

Back = Callable[[Tensor], dict[str, Tensor]]
"""dL/d(output) -> dL/d(input) by the names of the inputs."""


class Composite(NamedTuple):
    """Nodes that have one derivative together.

    Attributes
    ----------
    first, stop : int
        Places of its nodes in the draft.
    output : str
    back : callable
    """

    first: int
    stop: int
    output: str
    back: Back


class Unread:
    """A parameter that changes: a writer may ask for its shape, and not for its numbers.

    Attributes
    ----------
    shape : tuple of int
    ndim : int
    """

    def __init__(self, name: str, shape: Sequence[int]) -> None:
        self.name, self.shape, self.ndim = name, tuple(shape), len(shape)

    def __getattr__(self, attribute: str) -> NoReturn:
        self.refuse()

    def __getitem__(self, place: object) -> NoReturn:
        self.refuse()

    def refuse(self) -> NoReturn:
        """Raise NotInOnnx."""
        raise NotInOnnx(f"it is written with the numbers of {self.name} as they are now, not as they will be")


class TrainingDraft(OnnxDraft):
    """An `OnnxDraft` of a training step.

    Attributes
    ----------
    scope : str
        Beginning of the names of nodes that are given none.
    composites : list of Composite
        In the order of their nodes.
    activations : dict of str -> (Activation, Tensor)
        Output of an activation function -> that, and what it was computed from.
    """

    def __init__(self, opset: int, dtype: str) -> None:
        super().__init__(opset, dtype)
        self.scope = ""
        self.composites: list[Composite] = []
        self.activations: dict[str, tuple[Activation, Tensor]] = {}

    def tensor(self, name: str, dtype: str = "") -> Tensor:
        """Return a tensor by its name, by default of the network's dtype."""
        return Tensor(self, name, dtype or self.dtype)

    def rename(self, tensor: str, wanted: str, first: int) -> str:
        """Leave a tensor its name, by which the way back knows it."""
        return tensor

    def array(self, array: object, name: str = "constant") -> str:
        """Add a constant or parameter; refuse one that changes, of which a constant would be what it is now."""
        if isinstance(array, Unread):
            array.refuse()
        return super().array(array, name)

    def nodes_of(
        self, op: str, inputs: Sequence[str | float], outputs: int, name: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node with several outputs, named after the scope if nothing else is wanted; return them."""
        wanted = name or (f"{self.scope}/{op}" if self.scope else op)
        return super().nodes_of(op, inputs, outputs, wanted, **attributes)

    def composite(self, add: Callable[[], str], back: Callable[[str], Back]) -> str:
        """Add nodes that have one derivative together.

        Parameters
        ----------
        add : callable
            Adds them; returns their output.
        back : callable
            Of the output's name; returns the way back.
        """
        first = len(self.nodes)
        output = add()
        if len(self.nodes) > first:
            self.composites.append(Composite(first, len(self.nodes), output, back(output)))
        return output

    def activated(self, activation: Any, z: str, add: Callable[[], str]) -> str:
        """Add an activation function; its derivative is the library's own, at kinks too."""
        from_z = self.tensor(z)
        if type(activation).__name__ not in SLOPES:
            output = add()
        else:
            output = self.composite(add, lambda a: back_through(activation, from_z, self.tensor(a)))
        self.activations[output] = (activation, from_z)
        return output
