"""Units of recurrent layers: as weights of ONNX's own operators, and as the operators of one time step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from nd.typing import HostArray

from ..draft import Step
from .functions import activated, normal
from .node_draft import NodeDraft

Params = Mapping[str, HostArray]


class Cell:
    """Units of one kind."""

    op: ClassVar[str]
    """ONNX's own operator."""
    usual: ClassVar[tuple[str, ...]]
    """Activations that it has unless others are given."""
    states: ClassVar[int]
    passes_masks: ClassVar[bool] = False
    """Whether a mask goes past the units, but for layers that say `masks_steps`."""

    def activations(self, conf: Any) -> Sequence[Any]:
        """Return the activations, in the operator's order."""
        raise NotImplementedError

    def is_operators(self, conf: Any) -> bool:
        """Tell whether the operator has such units, their activations apart."""
        return True

    def width(self, params: Params) -> int:
        """Return the number of units."""
        return int(params["RW"].shape[0])

    def operator_weights(self, sides: Sequence[Params]) -> dict[str, list[HostArray]]:
        """Return the operator's weights, an array ``[1, ...]`` for each direction, by name."""
        raise NotImplementedError

    def of_input(self, layer: NodeDraft, x: str) -> str:
        """Add what a step has of its input, for all steps of ``x [T, N, C]``."""
        return layer.node("Add", layer.node("MatMul", x, layer.param("W")), layer.param("b", shape=(-1,)))

    def step(self, layer: NodeDraft) -> Step:
        """Return what adds a time step: of states ``[N, units]``, of what came of the input, perhaps of a mask."""
        raise NotImplementedError


class LstmCell(Cell):
    """Units of LSTM and GravesLSTM; see these for the formulas.

    Notes
    -----
    Our columns are candidate, forget, output, input; ONNX's rows the reverse of that, and so are the peepholes.
    """

    op, usual, states, passes_masks = "LSTM", ("Sigmoid", "Tanh", "Tanh"), 2, True

    def activations(self, conf: Any) -> Sequence[Any]:
        return conf.gate_activation, conf.activation, conf.activation

    def operator_weights(self, sides: Sequence[Params]) -> dict[str, list[HostArray]]:
        weights: dict[str, list[HostArray]] = {"W": [], "R": [], "B": []}
        for params in sides:
            width, blank = self.width(params), params["b"] * 0
            of_output = params["RW"][:, : 4 * width]
            weights["W"].append(_by_gates(params["W"], width))
            weights["R"].append(_by_gates(of_output, width))
            weights["B"].append(_pair(_by_gates(params["b"], width), blank))
            if params["RW"].shape[1] > 4 * width:
                peepholes = params["RW"][:, 4 * width :].transpose()[::-1].reshape(1, -1)
                weights.setdefault("P", []).append(peepholes)
        return weights

    def step(self, layer: NodeDraft) -> Step:
        draft, width = layer.draft, self.width(layer.params)
        columns = layer.params["RW"]
        RW = draft.array(columns[:, : 4 * width], f"{layer.name}/RW")
        peepholes = [
            draft.array(columns[:, k].reshape(-1), f"{layer.name}/peephole") for k in range(4 * width, columns.shape[1])
        ]

        def add(before: Sequence[str], here: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
            h, c = before
            sums = layer.node("Add", here[0], layer.node("MatMul", h, RW))
            z = draft.nodes_of("Split", [sums, draft.ints(*[width] * 4)], 4, f"{layer.name}/Split", axis=1)
            after = self._memory(layer, z, c, peepholes)
            opened = _gate(layer, _looks(layer, z[2], after, peepholes[1:2]))
            out = layer.node("Mul", opened, _squashed(layer, after))
            out, after = (layer.node("Mul", each, *here[1:]) if here[1:] else each for each in (out, after))
            return (out, after), (out,)

        return add

    def _memory(self, layer: NodeDraft, z: Sequence[str], c: str, peepholes: Sequence[str]) -> str:
        """Add the memory after the step, from sums by gates and the memory before."""
        kept = layer.node("Mul", _gate(layer, _looks(layer, z[1], c, peepholes[:1])), c)
        entered = layer.node("Mul", _gate(layer, _looks(layer, z[3], c, peepholes[2:])), _squashed(layer, z[0]))
        return layer.node("Add", kept, entered)


class SimpleCell(Cell):
    """Units of SimpleRnn."""

    op, usual, states = "RNN", ("Tanh",), 1

    def activations(self, conf: Any) -> Sequence[Any]:
        return (conf.activation,)

    def is_operators(self, conf: Any) -> bool:
        return not conf.has_layer_norm

    def operator_weights(self, sides: Sequence[Params]) -> dict[str, list[HostArray]]:
        return {
            "W": [params["W"].transpose()[None] for params in sides],
            "R": [params["RW"].transpose()[None] for params in sides],
            "B": [_pair(params["b"], params["b"] * 0) for params in sides],
        }

    def of_input(self, layer: NodeDraft, x: str) -> str:
        if not layer.conf.has_layer_norm:
            return super().of_input(layer, x)
        product = normal(layer, layer.node("MatMul", x, layer.param("W")), self._gain(layer, 0))
        return layer.node("Add", product, layer.param("b", shape=(-1,)))

    def step(self, layer: NodeDraft) -> Step:
        RW = layer.param("RW")
        gain = self._gain(layer, 1) if layer.conf.has_layer_norm else None

        def add(before: Sequence[str], here: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
            product = layer.node("MatMul", before[0], RW)
            product = product if gain is None else normal(layer, product, gain)
            out = _squashed(layer, layer.node("Add", here[0], product))
            out = layer.node("Mul", out, *here[1:]) if here[1:] else out
            return (out,), (out,)

        return add

    def _gain(self, layer: NodeDraft, number: int) -> str:
        return layer.draft.array(layer.params["g"].reshape(2, -1)[number], f"{layer.name}/g")


CELLS: Mapping[str, Cell] = {
    "GravesBidirectionalLSTM": LstmCell(),
    "GravesLSTM": LstmCell(),
    "LSTM": LstmCell(),
    "SimpleRnn": SimpleCell(),
}
"""Class of a layer -> its units, sorted."""


def _by_gates(weights: HostArray, width: int) -> HostArray:
    """Return weights ``[n, 4 H]`` as ``[1, 4 H, n]``, gates in ONNX's order."""
    rows = weights.transpose().reshape(4, width, -1)[::-1]
    return rows.reshape(1, 4 * width, -1)


def _pair(of_input: HostArray, of_output: HostArray) -> HostArray:
    """Return the biases of both products, one behind the other, ``[1, 2 n]``."""
    pair = of_output.reshape(1, 1, -1).repeat(2, 1)
    pair[0, 0] = of_input.reshape(-1)
    return pair.reshape(1, -1)


def _gate(layer: NodeDraft, z: str) -> str:
    return activated(layer.draft, layer.conf.gate_activation, z, layer.name)


def _squashed(layer: NodeDraft, z: str) -> str:
    return activated(layer.draft, layer.conf.activation, z, layer.name)


def _looks(layer: NodeDraft, z: str, c: str, peephole: Sequence[str]) -> str:
    """Add what a gate sees of the memory, where there are peepholes."""
    return layer.node("Add", z, layer.node("Mul", c, *peephole)) if peephole else z
