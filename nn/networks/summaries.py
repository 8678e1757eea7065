"""Summaries of networks: a table of their layers and vertices, and totals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from nd import ConfigurationError

from .tables import table

if TYPE_CHECKING:
    from ..conf.graph import ComputationGraphConfiguration
    from ..conf.multilayer import MultiLayerConfiguration
    from ..conf.nodes import NodeTypes
    from ..layers.base import LayerConf
    from ..terms.input_type import InputType
    from ..vertices.base import VertexConf

_OF_CHAINS = ("layer", "type", "in -> out", "parameters")
_OF_GRAPHS = ("vertex", "type", "inputs", "in -> out", "activations", "parameters")


def summary_of_chain(conf: MultiLayerConfiguration, input_types: Sequence[InputType] = ()) -> str:
    """Return a row for every layer, and the total number of parameters."""
    rows, total = [_OF_CHAINS], 0
    for index, (layer, types) in enumerate(zip(conf.layers, _node_types(conf, input_types), strict=True)):
        count = sum(spec.length for spec in layer.param_specs())
        total += count
        flow = _sizes(layer) or "same -> same" if types is None else f"{types.inputs[0]!r} -> {types.output!r}"
        rows.append((f"{index} {layer.name or ''}".strip(), type(layer).__name__, flow, f"{count:,}"))
    return _ended(rows, (3,), [f"total parameters: {total:,}"])


def summary_of_graph(conf: ComputationGraphConfiguration, input_types: Sequence[InputType] = ()) -> str:
    """Return a row for every input and vertex, in the order in which they run, and totals.

    The bytes of activations are those of one example; where the length of series is not known, of one time step. Where
    an input's type is that of the output, it is not repeated.
    """
    rows = [_OF_GRAPHS]
    own_types = conf.network_input_types()
    for name, kind in zip(conf.inputs, own_types if all(own_types) else input_types or own_types, strict=True):
        rows.append((name, "input", "", "" if kind is None else f"{kind!r}", "", ""))
    totals, kept = _Parameters(0, 0, 0), _Bytes(0, 0)
    for node, types in zip(conf.nodes, _node_types(conf, input_types), strict=True):
        counts = _counted(node.conf)
        totals = _Parameters(*map(sum, zip(totals, counts, strict=True)))
        flow, size = _sizes(node.conf), ""
        if types is not None:
            own = _bytes_of(types.output, conf.dtype)
            kept = _Bytes(*map(sum, zip(kept, own, strict=True)))
            flow, size = _flow(types), f"{own.of_step:,} B a step" if own.of_step else f"{own.of_example:,} B"
        sources = ", ".join(conf.vertex_inputs[node.name])
        rows.append((node.name, type(node.conf).__name__, sources, flow, size, f"{sum(counts):,}"))
    ends = [f"total parameters: {sum(totals):,}, trainable: {totals.trainable:,}, frozen: {totals.frozen:,}"]
    ends[0] += f", running statistics: {totals.running:,}" if totals.running else ""
    if any(kept):
        steps = f", and {kept.of_step:,} bytes for each of its time steps" if kept.of_step else ""
        ends.append(f"activations of one example: {kept.of_example:,} bytes{steps}")
    return _ended(rows, (4, 5), ends)


class _Parameters(NamedTuple):
    """How many there are of each kind; what follows the minibatches is not trained."""

    trainable: int
    frozen: int
    running: int


class _Bytes(NamedTuple):
    """Of activations: of an example, and where the length of series is not known, of a time step."""

    of_example: int
    of_step: int


def _counted(conf: LayerConf | VertexConf) -> _Parameters:
    specs = conf.param_specs()
    frozen = sum(spec.length for spec in specs if not spec.trainable)
    running = sum(spec.length for spec in specs if spec.trainable and spec.running)
    return _Parameters(sum(spec.length for spec in specs) - frozen - running, frozen, running)


def _bytes_of(kind: InputType, dtype: str) -> _Bytes:
    size = (8 if dtype == "float64" else 4) * math.prod(kind.sizes)
    return _Bytes(0, size) if None in kind.shape else _Bytes(size, 0)


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
