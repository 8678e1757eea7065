"""A node that gradients go back through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from nd.extras import optional

from ...draft import OnnxDraft
from ...out.node_draft import NotInOnnx
from ..tensors import Tensor

Shape = Sequence[int | None]


class NodeBack:
    """What a derivative is given.

    Parameters
    ----------
    draft : TrainingDraft
    node : NodeProto
    epsilons : sequence of Tensor or None
        dL/d(output) of every output.
    shapes : mapping of str -> sequence of int or None
    reached : set of str
        Tensors whose gradients are needed.

    Attributes
    ----------
    attributes : dict of str
        Of the node.
    """

    def __init__(
        self,
        draft: OnnxDraft,
        node: Any,
        epsilons: Sequence[Tensor | None],
        shapes: Mapping[str, Shape],
        reached: AbstractSet[str],
    ) -> None:
        self.draft, self.node, self.epsilons = draft, node, epsilons
        self._shapes, self._reached = shapes, reached
        helper = optional("save", "onnx.helper", "onnx", "onnx")
        self.attributes: dict[str, Any] = {each.name: helper.get_attribute_value(each) for each in node.attribute}

    @property
    def epsilon(self) -> Tensor:
        """dL/d(output) of the first output."""
        if self.epsilons[0] is None:
            raise NotInOnnx("only another output of it is used")
        return self.epsilons[0]

    @property
    def x(self) -> Tensor:
        """The first input."""
        return self.input(0)

    @property
    def y(self) -> Tensor:
        """The first output."""
        return Tensor(self.draft, self.node.output[0], self.draft.dtype)

    def input(self, number: int) -> Tensor:
        """Return an input."""
        return Tensor(self.draft, self.node.input[number], self.draft.dtype)

    def inputs(self) -> list[Tensor]:
        """Return all inputs."""
        return [self.input(number) for number in range(len(self.node.input))]

    def has(self, number: int) -> bool:
        """Tell whether an optional input is there."""
        return len(self.node.input) > number and bool(self.node.input[number])

    def needs(self, number: int) -> bool:
        """Tell whether the gradient of an input is needed."""
        return self.has(number) and self.node.input[number] in self._reached

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute of the node, or its default."""
        return self.attributes.get(name, default)

    def shape(self, tensor: Tensor) -> Shape:
        """Return the sizes of a tensor, None for those that are not known; NotInOnnx where not even their number is."""
        if tensor.name not in self._shapes:
            raise NotInOnnx("the sizes of its input are not known. Give input_types")
        return self._shapes[tensor.name]

    def repeated(self) -> Tensor:
        """Return how many numbers of the first input one of the output stands for, as a number of their dtype."""
        sizes = [tensor.op("Size", dtype="int64") for tensor in (self.x, self.y)]
        return sizes[0].op("Div", sizes[1]).cast(self.x.dtype)

    def sizes(self, tensor: Tensor, first: int = 0) -> list[int]:
        """Return the sizes of a tensor from one axis on; NotInOnnx where one is not known."""
        sizes = [size for size in self.shape(tensor)[first:] if size is not None]
        if len(sizes) != len(self.shape(tensor)) - first:
            raise NotInOnnx("the sizes of its input are not known. Give input_types")
        return sizes

    def constant(self, number: int) -> Any:
        """Return an input that is a constant as numbers, or a list of them; NotInOnnx where it is none."""
        tensor = self.draft.tensors.get(self.node.input[number])
        if tensor is None or self.needs(number):
            raise NotInOnnx(f"its input {number} is no constant")
        return optional("save", "onnx.numpy_helper", "onnx", "onnx").to_array(tensor).tolist()

    def fitted(self, gradient: Tensor, number: int) -> Tensor:
        """Return the gradient of an input that was repeated: summed over what it was repeated along."""
        given, made = list(self.shape(self.input(number))), list(self.shape(self.y))
        missing = len(made) - len(given)
        gradient = gradient.sum(range(missing)) if missing else gradient
        axes = [axis for axis, size in enumerate(given) if size == 1 and made[missing + axis] != 1]
        return gradient.sum(axes, keepdims=True) if axes else gradient

    def axis(self, axis: int, tensor: Tensor) -> int:
        """Return the number of an axis from the first on."""
        return axis % len(self.shape(tensor))
