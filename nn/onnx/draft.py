"""An ONNX graph that is being written: its nodes, its constants and their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import nd
from nd.extras import optional
from nd.typing import HostArray

WORDS = {"float32": 1, "float64": 11, "int32": 6, "int64": 7, "bool": 9}
"""dtype -> TensorProto's number."""
FIRST_OPSET = 13
"""The oldest that is written. Before, Squeeze, ReduceSum and Softmax had other forms."""
_REDUCES_BY_INPUT = 18
"""Opset from which the axes of all reductions are an input."""
_SHAPES_OF_SOME = 15
"""Opset from which Shape gives the lengths of some of the axes."""

_MOST_OF_SHAPES = 64
"""Numbers of a constant from which shapes may follow."""

Step = Callable[[Sequence[str], Sequence[str]], tuple[Sequence[str], Sequence[str]]]
"""A time step: from states and what comes in to the states after it and what goes out."""


def is_small(tensor: Any) -> bool:
    """Tell whether a constant, a TensorProto, may be one from which shapes follow, not a parameter of any size."""
    return math.prod(tensor.dims) <= _MOST_OF_SHAPES


def onnx_package(who: str) -> ModuleType:
    """Import onnx; ConfigurationError where it is not installed."""
    return optional(who, "onnx", "onnx", "onnx")


class OnnxDraft:
    """Nodes and constants, each under a name of its own.

    Parameters
    ----------
    opset : int
        Of the operators that are written.
    dtype : str
        Of the network's arrays.

    Attributes
    ----------
    nodes : list of NodeProto
    tensors : dict of str -> TensorProto
        Constants and parameters.
    """

    def __init__(self, opset: int, dtype: str) -> None:
        self.opset, self.dtype = opset, dtype
        self.nodes: list[Any] = []
        self.tensors: dict[str, Any] = {}
        self._names: set[str] = set()
        self._constants: dict[tuple[Any, ...], str] = {}
        self._types: dict[str, Any] = {}
        self._inferred = 0
        self._onnx = onnx_package("save")
        self._helper = self._onnx.helper

    def name(self, wanted: str) -> str:
        """Return a name that nothing else has, the wanted one if it is free."""
        name, number = wanted, 2
        while name in self._names:
            name, number = f"{wanted}_{number}", number + 1
        self._names.add(name)
        return name

    def node(self, op: str, inputs: Sequence[str | float], name: str = "", **attributes: Any) -> str:
        """Add a node with one output; return that.

        Parameters
        ----------
        op : str
            Operator of ONNX's own domain.
        inputs : sequence of str or float
            Tensors; "" for optional ones that are not there, numbers for constants of the network's dtype.
        name : str
            Wanted for the output and the node; by default the operator.
        **attributes
            Those that are None are left out.
        """
        return self.nodes_of(op, inputs, 1, name, **attributes)[0]

    def nodes_of(
        self, op: str, inputs: Sequence[str | float], outputs: int, name: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node with several outputs; return them."""
        made = [self.name(f"{name or op}" if number == 0 else f"{name or op}_{number}") for number in range(outputs)]
        kept = {key: value for key, value in attributes.items() if value is not None}
        tensors = [given if isinstance(given, str) else self.number(given) for given in inputs]
        self.nodes.append(self._helper.make_node(op, tensors, made, name=made[0], **kept))
        return made

    def activated(self, activation: object, z: str, add: Callable[[], str]) -> str:
        """Add an activation function of z, which `add` does; a training step notes it, for the way back."""
        return add()

    def scan(
        self, step: Step, states: Sequence[str], series: Sequence[str], name: str, reverse: bool = False
    ) -> list[str]:
        """Add a Scan: nodes that run for every step of series, one after the other.

        Parameters
        ----------
        step : callable (states, steps) -> (states after it, outputs)
            Adds the nodes of a step; those may read tensors from outside of it.
        states : sequence of str
            At the start.
        series : sequence of str
            Tensors ``[T, ...]``, of which a step gets one row each.
        name : str
        reverse : bool
            Whether the last step comes first; outputs lie in the order of the series then, too.

        Returns
        -------
        list of str
            The states at the end, and the outputs ``[T, ...]``.
        """
        before, here = ([self.name(f"{name}/{kind}") for _ in many] for kind, many in (("s", states), ("x", series)))
        outer = self.nodes, self.tensors, self._constants
        self.nodes, self.tensors, self._constants = [], {}, {}  # what is inferred in a body knows its own constants
        after, outputs = step(before, here)
        ends = [self.node("Identity", [end], f"{name}/after") for end in (*after, *outputs)]
        ins, outs = (
            [self._helper.make_tensor_value_info(end, WORDS[self.dtype], None) for end in names]
            for names in ((*before, *here), ends)
        )
        body, ways = self._helper.make_graph(self.nodes, name, ins, outs, list(self.tensors.values())), {}
        self.nodes, self.tensors, self._constants = outer
        if reverse:
            ways = {"scan_input_directions": [1] * len(series), "scan_output_directions": [1] * len(outputs)}
        given = [*states, *series]
        return self.nodes_of("Scan", given, len(ends), name, body=body, num_scan_inputs=len(series), **ways)

    def word(self, dtype: str) -> int:
        """Return the number of a dtype, as Cast takes it."""
        return WORDS[dtype]

    # ---- operators whose form depends on the opset

    def reduced(self, op: str, x: str, axes: Sequence[int], keepdims: bool = False, name: str = "") -> str:
        """Add ReduceMean, ReduceMax, ReduceSum or the like over axes; return its output."""
        by_input = op == "ReduceSum" or self.opset >= _REDUCES_BY_INPUT
        inputs = [x, self.ints(*axes)] if by_input else [x]
        return self.node(op, inputs, name or op, axes=None if by_input else list(axes), keepdims=int(keepdims))

    def lengths(self, x: str, first: int, stop: int, name: str = "") -> str:
        """Return a vector of int64 with the lengths of axes first .. stop - 1 of a tensor."""
        if self.opset >= _SHAPES_OF_SOME:
            return self.node("Shape", [x], name or "Shape", start=first, end=stop)
        return self.node("Slice", [self.node("Shape", [x]), self.ints(first), self.ints(stop)], name or "Shape")

    def array(self, array: object, name: str = "constant") -> str:
        """Add a constant or parameter from an array of any backend, in its own dtype and shape; return its name."""
        host: HostArray = nd.to_host(array)  # type: ignore[arg-type]
        return self._tensor(str(host.dtype), host.shape, host.tobytes(), name)

    def ints(self, *values: int) -> str:
        """Return a constant vector of int64."""
        return self._shared("int64", (len(values),), values)

    def integer(self, value: int) -> str:
        """Return a constant scalar of int64."""
        return self._shared("int64", (), (value,))

    def number(self, value: float, dtype: str = "") -> str:
        """Return a constant scalar, by default of the network's dtype."""
        return self._shared(dtype or self.dtype, (), (value,))

    def numbers(self, values: Sequence[float], *shape: int) -> str:
        """Return a constant of the network's dtype with those numbers; a vector without a shape."""
        return self._shared(self.dtype, shape or (len(values),), tuple(values))

    # ---- names and ranks of what has been added

    def declare(self, tensor: str, shape: Sequence[int | str]) -> None:
        """Say the lengths of the axes of a graph's input, a name for one that is not known."""
        self._types[tensor] = self._helper.make_tensor_type_proto(WORDS[self.dtype], list(shape))

    def rename(self, tensor: str, wanted: str, first: int) -> str:
        """Give what one of the nodes from number `first` on makes another name, which no other nodes read; return it.

        A tensor that an earlier node makes, or an input of the graph, keeps its own.
        """
        makers = [node for node in self.nodes[first:] if tensor in node.output]
        if not makers or wanted in self._names:
            return tensor
        name = self.name(wanted)
        for node in self.nodes[first:]:
            for names in (node.input, node.output):
                names[:] = [name if one == tensor else one for one in names]
        return name

    def rank(self, tensor: str) -> int | None:
        """Return the number of axes of a tensor; None where nothing tells it."""
        for node in self.nodes[self._inferred :]:
            self._types |= self._types_behind(node)
        self._inferred = len(self.nodes)
        kind = self._types.get(tensor)
        if kind is None or not kind.tensor_type.HasField("shape"):
            return None
        return len(kind.tensor_type.shape.dim)

    def _types_behind(self, node: Any) -> dict[str, Any]:
        onnx = self._onnx
        read = {name: self.tensors[name] for name in node.input if name in self.tensors}
        kinds = {name: self._helper.make_tensor_type_proto(one.data_type, list(one.dims)) for name, one in read.items()}
        constants = {name: one for name, one in read.items() if is_small(one)}
        kinds |= {name: self._types[name] for name in node.input if name in self._types}
        schema = onnx.defs.get_schema(node.op_type, self.opset)
        opsets = [self._helper.make_opsetid("", self.opset)]
        try:
            return dict(onnx.shape_inference.infer_node_outputs(schema, node, kinds, constants, opset_imports=opsets))
        except (KeyError, onnx.shape_inference.InferenceError):  # nothing is known of one of its inputs
            return {}

    # ---- constants

    def _shared(self, dtype: str, shape: tuple[int, ...], values: tuple[float, ...]) -> str:
        key = (dtype, shape, tuple(map(repr, values)))
        if key not in self._constants:
            name = self.name("constant")
            self.tensors[name] = self._helper.make_tensor(name, WORDS[dtype], shape, list(values))
            self._constants[key] = name
        return self._constants[key]

    def _tensor(self, dtype: str, shape: tuple[int, ...], content: bytes, wanted: str) -> str:
        name = self.name(wanted)
        self.tensors[name] = self._helper.make_tensor(name, WORDS[dtype], shape, content, raw=True)
        return name
