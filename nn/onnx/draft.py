"""An ONNX graph that is being written: its nodes, its constants and their names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

import nd
from nd.extras import optional
from nd.typing import HostArray

WORDS = {"float32": 1, "float64": 11, "int32": 6, "int64": 7, "bool": 9}
"""dtype -> TensorProto's number."""


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
        self._helper = optional("save", "onnx.helper", "onnx", "onnx")

    def name(self, wanted: str) -> str:
        """Return a name that nothing else has, the wanted one if it is free."""
        name, number = wanted, 2
        while name in self._names:
            name, number = f"{wanted}_{number}", number + 1
        self._names.add(name)
        return name

    def node(self, op: str, inputs: Sequence[str], name: str = "", **attributes: Any) -> str:
        """Add a node with one output; return that.

        Parameters
        ----------
        op : str
            Operator of ONNX's own domain.
        inputs : sequence of str
            Tensors; "" for optional ones that are not there.
        name : str
            Wanted for the output and the node; by default the operator.
        **attributes
            Those that are None are left out.
        """
        return self.nodes_of(op, inputs, 1, name, **attributes)[0]

    def nodes_of(self, op: str, inputs: Sequence[str], outputs: int, name: str = "", **attributes: Any) -> list[str]:
        """Add a node with several outputs; return them."""
        made = [self.name(f"{name or op}" if number == 0 else f"{name or op}_{number}") for number in range(outputs)]
        given = {key: value for key, value in attributes.items() if value is not None}
        self.nodes.append(self._helper.make_node(op, list(inputs), made, name=made[0], **given))
        return made

    def activated(self, activation: object, z: str, add: Callable[[], str]) -> str:
        """Add an activation function of z, which `add` does; a training step notes it, for the way back."""
        return add()

    def array(self, array: object, name: str = "constant") -> str:
        """Add a constant or parameter from an array of any backend, in its own dtype and shape; return its name."""
        host: HostArray = nd.to_host(array)  # type: ignore[arg-type]
        return self._tensor(str(host.dtype), host.shape, host.tobytes(), name)

    def ints(self, *values: int) -> str:
        """Return a constant vector of int64."""
        return self._shared("int64", (len(values),), values)

    def number(self, value: float, dtype: str = "") -> str:
        """Return a constant scalar, by default of the network's dtype."""
        return self._shared(dtype or self.dtype, (), (value,))

    def numbers(self, values: Sequence[float], *shape: int) -> str:
        """Return a constant of the network's dtype with those numbers; a vector without a shape."""
        return self._shared(self.dtype, shape or (len(values),), tuple(values))

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
