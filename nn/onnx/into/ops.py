"""The nodes of an ONNX graph as plain records, and who reads what."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any


@dataclass(eq=False)
class Op:
    """A node of the file, or one that stands for several.

    Parameters
    ----------
    op : str
        Operator; one of another domain with that before it, ``com.microsoft::Gelu``.
    inputs, outputs : list of str
        Names of tensors, "" for those left out.
    attributes : dict of str -> object
        Numbers, texts, lists of them, TensorProtos and GraphProtos.
    name : str
        In the file; of unnamed nodes the operator and the number.
    """

    op: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)
    name: str = ""

    def attribute(self, name: str, default: Any = None) -> Any:
        """Return an attribute, or the default."""
        return self.attributes.get(name, default)

    def input(self, position: int) -> str:
        """Return the name of an input, "" where it is left out."""
        return self.inputs[position] if position < len(self.inputs) else ""

    @property
    def output(self) -> str:
        """The first output."""
        return self.outputs[0]


def ops_of(graph: Any, helper: Any) -> list[Op]:
    """Return the nodes of a GraphProto, in their order."""
    made = []
    for number, node in enumerate(graph.node):
        attributes = {one.name: _plain(helper.get_attribute_value(one)) for one in node.attribute}
        op = node.op_type if node.domain in ("", "ai.onnx") else f"{node.domain}::{node.op_type}"
        made.append(Op(op, list(node.input), list(node.output), attributes, node.name or f"{node.op_type}_{number}"))
    return made


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return value


class OpGraph:
    """Nodes in the order in which they run; names are those of the file.

    Parameters
    ----------
    ops : iterable of Op
    outputs : sequence of str
        Of the graph.
    """

    def __init__(self, ops: Iterable[Op], outputs: list[str]) -> None:
        self.ops, self.outputs = list(ops), list(outputs)
        self.index()

    def index(self) -> None:
        """Find writers and readers anew, after a change."""
        self._writers = {name: op for op in self.ops for name in op.outputs if name}
        self._readers: dict[str, list[Op]] = {}
        for op in self.ops:
            for name in dict.fromkeys(op.inputs):
                self._readers.setdefault(name, []).append(op)

    def writer(self, name: str) -> Op | None:
        """Return the node that writes a tensor; None for inputs and constants."""
        return self._writers.get(name)

    def readers(self, name: str) -> list[Op]:
        """Return the nodes that read a tensor."""
        return self._readers.get(name, [])

    def only_reader(self, name: str) -> Op | None:
        """Return the node that alone reads a tensor, which is no output of the graph."""
        readers = self.readers(name)
        return readers[0] if len(readers) == 1 and name not in self.outputs else None

    def rename(self, old: str, new: str) -> None:
        """Let whatever reads one tensor read another."""
        for op in self.readers(old):
            op.inputs = [new if name == old else name for name in op.inputs]
        self.outputs = [new if name == old else name for name in self.outputs]
        self._readers[new] = list(dict.fromkeys([*self.readers(new), *self._readers.pop(old, [])]))

    def prune(self) -> None:
        """Take out nodes that no output needs."""
        needed, kept = set(self.outputs), []
        for op in reversed(self.ops):
            if needed.intersection(op.outputs):
                kept.append(op)
                needed.update(op.inputs)
        self.ops = kept[::-1]
        self.index()
