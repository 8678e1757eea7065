"""What is known of a graph's tensors before it runs: constants, folded ones too, and the sizes of all others.

Sizes that a file leaves open, the batch size as a rule, are filled in twice, with two numbers each. What is the same
both times does not depend on them. So the chains of Shape, Gather and Concat that exporters write are constants whose
numbers say where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nd import ConfigurationError
from nd.extras import optional
from nd.typing import HostArray

from ..reading import OnnxFile
from .ops import Op, ops_of
from .scans import shapes_behind

Size = tuple[int, ...]
"""A length of an axis, once for every filling-in."""

EXAMPLES, OTHERS = (7, 11), ((64, 96), (128, 160), (192, 224), (256, 288), (320, 352))
_DRAWING = frozenset({"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"})
_DRAWING |= frozenset({"RandomUniformLike", "Dropout"})
_OF_ELEMENTS = frozenset({"Celu", "Clip", "Elu", "Gelu", "HardSigmoid", "HardSwish", "LeakyRelu", "Mish", "PRelu"})
_OF_ELEMENTS |= frozenset({"Relu", "Selu", "Sigmoid", "Softplus", "Softsign", "Tanh", "ThresholdedRelu"})
"""Operators that keep the shape of their first input."""
_SHRINKING = frozenset({"Compress", "Constant", "NonZero", "Unique"})
"""Operators behind which there are about as many numbers as before, whatever their shape."""
_VIEWS = frozenset({"Flatten", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
_MOST_FOLDED = 1 << 20  # elements, unless what goes in has as many
_MOST_FOLDED_TOGETHER = 1 << 24  # the same of all nodes, where the file has fewer than a quarter of them
_MOST_STEPS = 1 << 12  # of windows in a node that is folded: what these need is not in the size of its output
_WINDOWS = ("dilations", "kernel_shape", "output_padding", "pads", "sampling_ratio", "strides")
_MOST_SIZES = 1 << 16  # elements of a vector that is read as sizes, places or channels
_MOST_TOLD = 1 << 10  # elements of constants that tell shapes


class Filling:
    """Shapes of all tensors, and what is constant, for one filling-in of the open sizes.

    Parameters
    ----------
    known : Known
    shapes : dict of str -> tuple of int
        Of the graph's inputs.
    """

    def __init__(self, known: Known, shapes: dict[str, tuple[int, ...]]) -> None:
        self.known, self.shapes = known, dict(shapes)
        self.constants: dict[str, HostArray] = {}
        self._onnx = optional("load", "onnx", "onnx", "onnx")
        self._types: dict[str, Any] = {}
        for name, kind in known.input_kinds.items():
            self._types[name] = self._onnx.helper.make_tensor_type_proto(kind, shapes[name])

    def follow(self, op: Op, node: Any) -> None:
        """Fold a node, or find the shapes of its outputs."""
        if op.op == "Shape" and op.inputs[0] in self.shapes:
            start, end = op.attribute("start", 0), op.attribute("end")
            self._set(op.output, self._ints(list(self.shapes[op.inputs[0]])[start:end]))
            return
        inputs = [name for name in op.inputs if name]
        types = self._inferred(op, node, inputs)
        if op.op == "Scan":
            for name, shape in shapes_behind(op, self.known.file.opset, self._type_of).items():
                self._types[name] = self._onnx.helper.make_tensor_type_proto(self.kind(op.inputs[-1]), shape)
                self.shapes[name] = shape
        foldable = "::" not in op.op and op.op not in _DRAWING and all(map(self.is_constant, inputs))
        if foldable and not any(type(value).__name__ == "GraphProto" for value in op.attributes.values()):
            self._fold(op, node, inputs, types)

    def is_constant(self, name: str) -> bool:
        """Tell whether a tensor is known with its numbers."""
        return name in self.constants or name in self.known.tensors or name in self.known.fixed

    def array(self, name: str) -> HostArray:
        """Return a constant."""
        return self.constants[name] if name in self.constants else self.known.fixed_array(name)

    def shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a tensor, None where it is not known."""
        if name in self.constants:
            return tuple(self.constants[name].shape)
        return self.shapes[name] if name in self.shapes else self.known.fixed_shape(name)

    def kind(self, name: str) -> int | None:
        """Return the number of a tensor's type; None where it is not known."""
        kind = self._type_of(name) if name else None
        return kind.tensor_type.elem_type if kind is not None else None

    def _set(self, name: str, array: HostArray) -> None:
        self.constants[name] = array

    def _ints(self, values: Sequence[int]) -> HostArray:
        helper = self._onnx.helper
        made: HostArray = self._onnx.numpy_helper.to_array(helper.make_tensor("", 7, [len(values)], list(values)))
        return made

    def _type_of(self, name: str) -> Any:
        if name in self._types:
            return self._types[name]
        if name in self.constants or name in self.known.fixed:
            array = self.array(name)
            kind = self._onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
            return self._onnx.helper.make_tensor_type_proto(kind, array.shape)
        tensor = self.known.tensors.get(name)
        return tensor and self._onnx.helper.make_tensor_type_proto(tensor.data_type, tensor.dims)

    def _inferred(self, op: Op, node: Any, inputs: Sequence[str]) -> dict[str, Any]:
        """Return the types of a node's outputs, and keep them."""
        defs, version = self._onnx.defs, self.known.file.opsets
        faults = (defs.SchemaError, self._onnx.shape_inference.InferenceError, self._onnx.checker.ValidationError)
        domain = node.domain if node.domain != "ai.onnx" else ""
        types = {name: self._type_of(name) for name in inputs}
        if any(kind is None for kind in types.values()):
            return {}
        told = {name: self._told(name) for name in inputs if self.is_constant(name) and self.count(name) <= _MOST_TOLD}
        try:
            schema = defs.get_schema(node.op_type, version.get(domain, 1), domain)
            imports = [self._onnx.helper.make_opsetid(*one) for one in version.items()]
            found: dict[str, Any] = self._onnx.shape_inference.infer_node_outputs(
                schema, node, types, told, opset_imports=imports, ir_version=self.known.file.model.ir_version
            )
        except (*faults, RuntimeError):
            return {}
        for name, kind in found.items():
            self._types[name] = kind
            dims = kind.tensor_type.shape.dim
            if kind.tensor_type.HasField("shape") and all(dim.HasField("dim_value") for dim in dims):
                self.shapes[name] = tuple(dim.dim_value for dim in dims)
        return found

    def count(self, name: str) -> int:
        """Return the number of a tensor's elements, 1 where its shape is not known."""
        return math.prod(self.shape(name) or ())

    def _told(self, name: str) -> Any:
        if name in self.known.tensors:
            return self.known.tensors[name]
        return self._onnx.numpy_helper.from_array(self.array(name))

    def _fold(self, op: Op, node: Any, inputs: Sequence[str], types: dict[str, Any]) -> None:
        fixed = all(name in self.known.tensors or name in self.known.fixed for name in inputs)
        if fixed and op.output in self.known.fixed:
            return
        outputs = [name for name in op.outputs if name]
        if op.op not in _SHRINKING and any(name not in self.shapes for name in outputs):
            return
        going = sum(math.prod(self.shapes.get(name, ())) for name in outputs)
        if op.op != "Constant" and (any(name not in types for name in outputs) or self._is_much(op, inputs, going)):
            return
        results = self._computed(op, node, inputs)
        for name, value in zip(op.outputs, results, strict=False):
            if name and hasattr(value, "dtype"):
                (self.known.fixed if fixed else self.constants)[name] = value

    def _is_much(self, op: Op, inputs: Sequence[str], going: int) -> bool:
        """Tell whether folding a node needs more memory than the file gives reason for."""
        windows = [op.attribute(name) for name in _WINDOWS if name != "pads" or op.op != "Pad"]
        sizes = [size for given in windows for size in (given if isinstance(given, (list, tuple)) else [given])]
        if any(isinstance(size, (int, float)) and abs(size) > _MOST_STEPS for size in sizes):
            return True
        if going > max(_MOST_FOLDED, 2 * min(sum(map(self.count, inputs)), self.known.in_file)):
            return True
        if op.op not in _VIEWS and op.op != "Transpose":
            self.known.folded += going
        return self.known.folded > self.known.most_folded

    def _computed(self, op: Op, node: Any, inputs: Sequence[str]) -> Sequence[Any]:
        if op.op == "Constant" and "value" in op.attributes:
            return [self.known.file.array(op.attributes["value"])]
        if op.op in _VIEWS and op.output in self.shapes:
            return [self.array(inputs[0]).reshape(self.shapes[op.output])]
        if op.op == "Transpose":
            perm = op.attribute("perm")
            return [self.array(inputs[0]).transpose(perm) if perm else self.array(inputs[0]).transpose()]
        reference = optional("load", "onnx.reference", "onnx", "onnx")
        try:
            run = reference.ReferenceEvaluator(node, opsets=dict(self.known.file.opsets)).run
            results: Sequence[Any] = run(None, {name: self.array(name) for name in inputs})
        except Exception:  # what the reference cannot compute stays a node
            return []
        return results


class Known:
    """What is known of a graph's tensors.

    Parameters
    ----------
    file : OnnxFile

    Attributes
    ----------
    ops : list of Op
        Without those that were folded.
    inputs : dict of str -> tuple of Size
        Shapes of the graph's inputs that are no parameters.
    in_file, folded, most_folded : int
        Elements of the file's constants, and those that folding has made of them and may make.
    """

    def __init__(self, file: OnnxFile) -> None:
        self.file, graph = file, file.graph
        self._onnx = optional("load", "onnx", "onnx", "onnx")
        self.tensors = {tensor.name: tensor for tensor in graph.initializer}
        self.fixed: dict[str, HostArray] = {}
        self.in_file, self.folded = _elements_of(graph), 0
        self.most_folded = max(_MOST_FOLDED_TOGETHER, 4 * self.in_file)
        given = [value for value in graph.input if value.name not in self.tensors]
        self.input_kinds = {value.name: value.type.tensor_type.elem_type for value in given}
        self.inputs = _sizes_of(file.name, given)
        fillings = [
            Filling(self, {name: tuple(size[at] for size in shape) for name, shape in self.inputs.items()})
            for at in range(len(EXAMPLES))
        ]
        self._fillings = fillings
        self.ops: list[Op] = []
        self._follow(graph)

    def _follow(self, graph: Any) -> None:
        """Follow a graph's nodes, and the branches of those whose condition is known."""
        for op, node in zip(ops_of(graph, self._onnx.helper), graph.node, strict=True):
            condition = self.uniform(op.inputs[0]) if op.op == "If" else None
            if condition is not None:
                branch = op.attributes["then_branch" if condition else "else_branch"]
                self.tensors |= {tensor.name: tensor for tensor in branch.initializer}
                self._follow(branch)
                for value, name in zip(branch.output, op.outputs, strict=True):
                    self._take(self._onnx.helper.make_node("Identity", [value.name], [name], name=f"{op.name}/{name}"))
                continue
            self._take(node, op)

    def _take(self, node: Any, op: Op | None = None) -> None:
        """Follow a node, and keep it unless it was folded."""
        op = op or Op(node.op_type, list(node.input), list(node.output), {}, node.name)
        for filling in self._fillings:
            filling.follow(op, node)
        if not all(self.is_constant(name) for name in op.outputs if name):
            self.ops.append(op)

    def is_constant(self, name: str) -> bool:
        """Tell whether a tensor is known with its numbers, which may depend on open sizes."""
        return all(filling.is_constant(name) for filling in self._fillings)

    def shape(self, name: str) -> tuple[Size, ...] | None:
        """Return the shape of a tensor; None where it is not known."""
        shapes = [filling.shape(name) for filling in self._fillings]
        if any(shape is None for shape in shapes) or len({len(shape or ()) for shape in shapes}) > 1:
            return None
        return tuple(zip(*shapes, strict=True))

    def kind(self, name: str) -> int | None:
        """Return TensorProto's number of a tensor's type; None where it is not known."""
        return self._fillings[0].kind(name)

    def set_shape(self, name: str, shape: Sequence[Size]) -> None:
        """Say the shape of a tensor that a change has made."""
        for at, filling in enumerate(self._fillings):
            filling.shapes[name] = tuple(size[at] for size in shape)

    def array(self, name: str) -> HostArray | None:
        """Return a constant whose numbers depend on no open size; None for anything else."""
        if not name or not self.is_constant(name):
            return None
        if name in self.tensors or name in self.fixed:
            return self.fixed_array(name)
        first, *others = (filling.array(name) for filling in self._fillings)
        same = all(first.shape == other.shape and bool((first == other).all()) for other in others)
        return first if same else None

    def alike(self, name: str) -> HostArray | None:
        """Return a constant with a length of 1 for the axes of open size, along which all its numbers are the same.

        None for anything else. It stands for the constant wherever other inputs have those axes, too.
        """
        if not name or not self.is_constant(name):
            return None
        sizes = self.shape(name)
        if sizes is None:
            return None
        cuts = tuple(slice(None) if min(size) == max(size) else slice(0, 1) for size in sizes)
        arrays = [filling.array(name) for filling in self._fillings]
        cut = arrays[0][cuts]
        return cut if all(bool((array == cut).all()) for array in arrays) else None

    def is_settled(self, name: str) -> bool:
        """Tell whether a tensor is a constant whose numbers depend on no open size; large ones are not read for it."""
        return name in self.tensors or name in self.fixed or self.array(name) is not None

    def read(self, name: str) -> HostArray:
        """Return a constant that is known to be one."""
        array = self.array(name)
        if array is None:
            raise ConfigurationError(f"{self.file.name}: {name!r} must be a constant, got a tensor that is computed.")
        return array

    def add(self, name: str, array: HostArray) -> None:
        """Add a constant under a name of its own."""
        self.fixed[name] = array

    def sizes(self, name: str) -> list[Size] | None:
        """Return a constant vector of integers, for every filling-in; None for anything else, and for long ones."""
        if not name or not self.is_constant(name) or max(self._counts(name)) > _MOST_SIZES:
            return None
        arrays = [filling.array(name).reshape(-1).tolist() for filling in self._fillings]
        if len({len(array) for array in arrays}) > 1 or any(number != number // 1 for one in arrays for number in one):
            return None  # also where a mask says infinity
        return [tuple(int(value) for value in values) for values in zip(*arrays, strict=True)]

    def _counts(self, name: str) -> list[int]:
        return [filling.count(name) for filling in self._fillings]

    def uniform(self, name: str) -> float | None:
        """Return the number that all elements of a constant are; None for anything else."""
        if not name or not self.is_constant(name):
            return None
        values: set[float] = set()
        for filling in self._fillings:
            array = filling.array(name)
            if array.size == 0 or not bool((array == array.reshape(-1)[0]).all()):
                return None
            values.add(float(array.reshape(-1)[0]))
        return values.pop() if len(values) == 1 else None

    def fixed_array(self, name: str) -> HostArray:
        """Return a constant of the file, or one that was folded from such."""
        return self.fixed[name] if name in self.fixed else self.file.array(self.tensors[name])

    def fixed_shape(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of such a constant; None for anything else."""
        if name in self.fixed:
            return tuple(self.fixed[name].shape)
        return tuple(self.tensors[name].dims) if name in self.tensors else None


def _elements_of(graph: Any) -> int:
    """Return how many elements the constants of a graph have together."""
    given = [attribute.t for node in graph.node if node.op_type == "Constant" for attribute in node.attribute]
    return sum(math.prod(tensor.dims) for tensor in (*graph.initializer, *given))


def _sizes_of(who: str, inputs: Sequence[Any]) -> dict[str, tuple[Size, ...]]:
    """Return the shapes of inputs, with two numbers for every size that is open."""
    named: dict[str, Size] = {}
    shapes: dict[str, tuple[Size, ...]] = {}
    for value in inputs:
        kind = value.type.tensor_type
        if not kind.HasField("shape"):
            raise ConfigurationError(
                f"{who}: every input must have a number of axes, got {value.name!r} without. Export it with a shape."
            )
        sizes = []
        for axis, dim in enumerate(kind.shape.dim):
            if dim.HasField("dim_value") and dim.dim_value > 0:
                sizes.append((dim.dim_value,) * len(EXAMPLES))
                continue
            name = dim.dim_param or (f"{value.name} {axis}" if axis else "")
            if name not in named:
                others = len([size for size in named.values() if size != EXAMPLES])
                named[name] = EXAMPLES if axis == 0 else OTHERS[others % len(OTHERS)]
            sizes.append(named[name])
        shapes[value.name] = tuple(sizes)
    return shapes
