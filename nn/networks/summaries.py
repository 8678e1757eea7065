"""Summaries of networks: a table of their layers and vertices, and totals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nd import ConfigurationError

from ..conf.activation_memory import BYTES
from .tables import table

if TYPE_CHECKING:
    from ..conf.graph import ComputationGraphConfiguration
    from ..conf.multilayer import MultiLayerConfiguration
    from ..conf.nodes import NodeTypes
    from ..layers.base import LayerConf
    from ..terms.input_type import InputType
    from ..vertices.base import VertexConf

_MEMORY = ("activations", "weights", "parameters")
_OF_CHAINS = ("layer", "type", "in -> out", *_MEMORY)
_OF_GRAPHS = ("vertex", "type", "inputs", "in -> out", *_MEMORY)


def summary_of_chain(conf: MultiLayerConfiguration, input_types: Sequence[InputType] = ()) -> str:
    """Return a row for every layer, and totals; bytes as `summary_of_graph`."""
    rows, total, kept = [_OF_CHAINS], 0, _Bytes(0, 0)
    for index, (layer, types) in enumerate(zip(conf.layers, _node_types(conf, input_types), strict=True)):
        count, own = sum(spec.length for spec in layer.param_specs()), _bytes_of(types, conf.dtype)
        total, kept = total + count, kept.plus(own)
        flow = _sizes(layer) or "same -> same" if types is None else f"{types.inputs[0]!r} -> {types.output!r}"
        name = f"{index} {layer.name or ''}".strip()
        rows.append((name, type(layer).__name__, flow, own.text(), _memory_of(count, conf.dtype), f"{count:,}"))
    return _ended(rows, (3, 4, 5), [_memory(total, kept, conf.dtype), f"total parameters: {total:,}"])


def summary_of_graph(conf: ComputationGraphConfiguration, input_types: Sequence[InputType] = ()) -> str:
    """Return a row for every input and vertex, in the order in which they run, and totals.

    The bytes of activations are those of one example; where the length of series is not known, of one time step. Those
    of weights are those of the parameters alone: gradient and updater state have as many or more. Where an input's type
    is that of the output, it is not repeated.
    """
    rows = [_OF_GRAPHS]
    own_types = conf.network_input_types()
    for name, kind in zip(conf.inputs, own_types if all(own_types) else input_types or own_types, strict=True):
        rows.append((name, "input", "", "" if kind is None else f"{kind!r}", "", "", ""))
    totals, kept = _Parameters(0, 0, 0), _Bytes(0, 0)
    for node, types in zip(conf.nodes, _node_types(conf, input_types), strict=True):
        counts = _counted(node.conf)
        totals = _Parameters(*map(sum, zip(totals, counts, strict=True)))
        own = _bytes_of(types, conf.dtype)
        kept = kept.plus(own)
        flow = _sizes(node.conf) if types is None else _flow(types)
        sources, count = ", ".join(conf.vertex_inputs[node.name]), sum(counts)
        numbers = own.text(), _memory_of(count, conf.dtype), f"{count:,}"
        rows.append((node.name, type(node.conf).__name__, sources, flow, *numbers))
    ends = [_memory(sum(totals), kept, conf.dtype)]
    ends += [f"total parameters: {sum(totals):,}, trainable: {totals.trainable:,}, frozen: {totals.frozen:,}"]
    ends[1] += f", running statistics: {totals.running:,}" if totals.running else ""
    return _ended(rows, (4, 5, 6), ends)


class _Parameters(NamedTuple):
    """How many there are of each kind; what follows the minibatches is not trained."""

    trainable: int
    frozen: int
    running: int


class _Bytes(NamedTuple):
    """Of activations: of an example, and where the length of series is not known, of a time step."""

    of_example: int
    of_step: int

    def plus(self, other: _Bytes) -> _Bytes:
        """Return the sum of both."""
        return _Bytes(self.of_example + other.of_example, self.of_step + other.of_step)

    def text(self) -> str:
        """Return what stands in a row; nothing where no type is known."""
        return f"{self.of_step:,} B a step" if self.of_step else f"{self.of_example:,} B" if self.of_example else ""


def _counted(conf: LayerConf | VertexConf) -> _Parameters:
    specs = conf.param_specs()
    frozen = sum(spec.length for spec in specs if not spec.trainable)
    running = sum(spec.length for spec in specs if spec.trainable and spec.running)
    return _Parameters(sum(spec.length for spec in specs) - frozen - running, frozen, running)


def _bytes_of(types: NodeTypes | None, dtype: str) -> _Bytes:
    """Return those of the activations, of several outputs all."""
    kept = _Bytes(0, 0)
    for kind in () if types is None else types.outputs:
        size = BYTES[dtype] * math.prod(kind.sizes)
        kept = kept.plus(_Bytes(0, size) if None in kind.shape else _Bytes(size, 0))
    return kept


def _memory_of(parameters: int, dtype: str) -> str:
    return f"{BYTES[dtype] * parameters:,} B"


def _memory(parameters: int, kept: _Bytes, dtype: str) -> str:
    """Return a sentence on the memory of all of them."""
    text = f"memory: {BYTES[dtype] * parameters:,} bytes of parameters"
    if any(kept):
        text += f", {kept.of_example:,} bytes of activations for one example"
        text += f", and {kept.of_step:,} for each of its time steps" if kept.of_step else ""
    return text


def _node_types(
    conf: ComputationGraphConfiguration | MultiLayerConfiguration, input_types: Sequence[InputType]
) -> Sequence[NodeTypes | None]:
    """Return the types of every node, None for all where those of the inputs are neither known nor given.

    Raises
    ------
    ConfigurationError
        There are types for another number of inputs.
    """
    count = len(conf.input_names)
    if input_types and len(input_types) != count:
        raise ConfigurationError(f"summary: expected a type for each of {count} input(s), got {list(input_types)}.")
    given: Sequence[InputType | None] = input_types or [None] * count
    return conf.node_types(given) or [None] * len(conf.nodes)


def _sizes(conf: object) -> str:
    """Return what a layer with parameters knows without types."""
    n_in, n_out = (getattr(conf, name, None) for name in ("n_in", "n_out"))
    return "" if n_in is None else f"{n_in} -> {n_out}"


def _flow(types: NodeTypes) -> str:
    arriving = [f"{kind!r}" for kind in types.inputs]
    out = f"{types.output!r}"
    if set(arriving) == {out}:
        return out
    if len(arriving) > 1 and len(set(arriving)) == 1:
        return f"{len(arriving)} x {arriving[0]} -> {out}"
    return f"{', '.join(arriving)} -> {out}"


def _ended(rows: Sequence[Sequence[str]], right: Sequence[int], ends: Sequence[str]) -> str:
    text = table(rows, right)
    rule = text.splitlines()[1]
    return "\n".join([text, rule, *ends])
