"""An ONNX file, run by onnxruntime; by ONNX's own reference implementation where that is not installed."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from types import ModuleType
from typing import Any

from nd import ConfigurationError, FormatError
from nd.extras import optional
from nd.typing import HostArray

from .sides import Results, Side

_Run = Callable[[dict[str, HostArray]], list[HostArray]]


class OnnxSide(Side):
    """A model of ONNX.

    Parameters
    ----------
    path : path
        Of a file that has been read within bounds: this library's reader has refused harmful ones.

    Notes
    -----
    Outputs are those of the file as it is. The values of other tensors are outputs of a copy in memory: a runtime
    fuses no nodes across these.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._onnx = optional("convert", "onnx", "onnx", "onnx")
        self._path = os.fspath(path)
        self._model = self._onnx.load(self._path)
        graph = self._model.graph
        constants = {tensor.name for tensor in graph.initializer}
        self._inputs = [value for value in graph.input if value.name not in constants]
        self._tensors = {name: name for node in graph.node for name in node.output if name}
        self._series = {node.output[0] for node in graph.node if node.op_type in ("GRU", "LSTM", "RNN")}
        of_nodes = {node.name: node.output[0] for node in graph.node if node.name and len(node.output) == 1}
        self._tensors = {**of_nodes, **self._tensors}
        self.names = frozenset(self._tensors)
        self._runtime = _onnxruntime()
        self.reader = f"onnxruntime {self._runtime.__version__}" if self._runtime else "onnx.reference"
        self.examples = self._examples()
        self._run_outputs = self._opened(self._path)  # now: the file may be the one that is written

    def run(self, xs: Sequence[HostArray], wanted: Collection[str]) -> Results:
        if len(xs) != len(self._inputs):
            raise ConfigurationError(
                f"convert: a proof must have an array for every input of {self._path}, {self.input_names}, got "
                f"{len(xs)}: nothing reads the others. Export the model without them."
            )
        given = zip(self._inputs, xs, strict=True)
        feeds = {value.name: x.astype(self._dtype(value)) for value, x in given}
        outputs = self._computed(self._run_outputs, feeds)
        names = [name for name in self._tensors if name in wanted]
        if not names:
            return Results(outputs, {})
        tensors = dict.fromkeys(tensor for _, tensor in self._named(names))
        values = dict(zip(tensors, self._computed(self._opened(self._with_outputs(tensors)), feeds), strict=True))
        return Results(outputs, {name: self._as_series(tensor, values[tensor]) for name, tensor in self._named(names)})

    def _named(self, names: Sequence[str]) -> list[tuple[str, str]]:
        return [(name, self._tensors[name]) for name in names]

    def _as_series(self, tensor: str, value: HostArray) -> HostArray:
        """Return what a recurrent operator gives, ``[T, directions, N, C]``, as ``[N, T, directions * C]``.

        Source: ONNX operators, LSTM: the output Y.
        """
        if tensor not in self._series or value.ndim != 4:
            return value
        series = value.transpose(2, 0, 1, 3)
        return series.reshape(*series.shape[:2], -1)

    def shape(self, number: int) -> list[int | None]:
        dims = self._inputs[number].type.tensor_type.shape.dim
        return [dim.dim_value if dim.HasField("dim_value") else None for dim in dims]

    def takes_indices(self, number: int) -> bool:
        """Tell whether an input is of integers."""
        return "int" in self._dtype(self._inputs[number])

    @property
    def input_names(self) -> list[str]:
        """Names of the inputs."""
        return [value.name for value in self._inputs]

    def _dtype(self, value: Any) -> str:
        return str(self._onnx.helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type))

    def _examples(self) -> int | None:
        firsts = [(self.shape(number) or [None])[0] for number in range(len(self._inputs))]
        return next((first for first in firsts if first is not None), None)

    def _with_outputs(self, tensors: Collection[str]) -> bytes:
        """Return a copy of the model that gives those tensors, and nothing else."""
        copy = self._onnx.ModelProto()
        copy.CopyFrom(self._model)
        del copy.graph.output[:]
        copy.graph.output.extend(self._onnx.ValueInfoProto(name=name) for name in tensors)
        content: bytes = copy.SerializeToString()
        return content

    def _opened(self, source: str | bytes) -> _Run:
        """Return a function that runs a model: a file, or bytes."""
        if self._runtime is None:
            reference = optional("convert", "onnx.reference", "onnx", "onnx")
            evaluator = self._guarded(lambda: reference.ReferenceEvaluator(source))
            return lambda feeds: evaluator.run(None, feeds)
        runtime, options = self._runtime, self._runtime.SessionOptions()
        options.log_severity_level = 3  # errors, which are raised too
        session = self._guarded(lambda: runtime.InferenceSession(source, options, providers=["CPUExecutionProvider"]))
        return lambda feeds: session.run(None, feeds)

    def _computed(self, run: _Run, feeds: dict[str, HostArray]) -> list[HostArray]:
        return self._guarded(lambda: run(feeds))

    def _guarded(self, function: Callable[[], Any]) -> Any:
        """Return what a function of the runtime returns; its errors, of many kinds, become one of ours."""
        try:
            return function()
        except Exception as error:
            raise FormatError(f"{self._path}: {self.reader} must run the model, got: {error}") from error


def _onnxruntime() -> ModuleType | None:
    try:
        import onnxruntime
    except ImportError:
        return None
    return onnxruntime
