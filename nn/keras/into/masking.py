"""Masks of Keras: which steps of series count, and series without those that do not.

Keras repeats state and output at a step that does not count. A recurrent layer sees the same where the steps that count
are moved to the beginning of the series, one after the other, and what it gives is taken from there for every step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ...onnx.vertices import OnnxVertex
from ...terms.data_formats import channels_last
from ...vertices import ElementWiseVertex
from .piece import Piece, Value

PASSED_ON = frozenset(
    {
        "Activation", "ActivityRegularization", "Add", "AlphaDropout", "Average", "BatchNormalization", "Bidirectional",
        "Concatenate", "Dense", "Dropout", "ELU", "GaussianDropout", "GaussianNoise", "GRU", "LSTM",
        "LayerNormalization", "LeakyReLU", "Maximum", "Minimum", "Multiply", "PReLU", "RNN", "ReLU", "Rescaling",
        "SimpleRNN", "Softmax", "SpatialDropout1D", "Subtract", "ThresholdedReLU", "TimeDistributed",
        "UnitNormalization",
    }
)  # fmt: skip
"""Classes behind which a mask of what comes in holds, where they give series."""
COMPUTED_WITH = frozenset({"AdditiveAttention", "Attention", "ConvLSTM2D"})
"""Classes whose numbers depend on a mask, and which leave it aside here."""


def masking(piece: Piece) -> Value:
    """Masking: zeros at the steps at which all numbers are one value, which do not count."""
    value, blank = piece.value, float(piece.get("mask_value", 0.0))
    piece.need(len(value.shape) == 2, f"an input of shape {value.shape}")
    mask = _counted(piece, value, blank)
    if not blank:
        return value._replace(mask=mask)
    axes = 1 if channels_last(value.data_format) else 2
    factors = piece.add(OnnxVertex("Unsqueeze", {}, {1: [axes]}), mask, part="factors")
    return value._replace(node=piece.add(ElementWiseVertex("product"), [value.node, factors]), mask=mask)


def _counted(piece: Piece, value: Value, blank: float) -> str:
    """Add the mask ``[N, T]``: 0 where all numbers of a step are one value, else 1."""
    equal = piece.add(OnnxVertex("Equal", {}, {1: blank}), value.node, part="mask/equal")
    axis = 1 if channels_last(value.data_format) else 2
    every = piece.add(OnnxVertex("ReduceMin", {"keepdims": 0}, {1: [axis]}), equal, part="mask/all")
    return _opposite(piece, every, "mask")


def _opposite(piece: Piece, node: str, part: str) -> str:
    return piece.add(OnnxVertex("Sub", {}, {0: 1.0}), node, part=part)


def mask_of_numbers(piece: Piece, value: Value) -> str:
    """Add the mask ``[N, T]`` of rows' numbers ``[N, T]``: 0 where they are 0, else 1."""
    equal = piece.add(OnnxVertex("Equal", {}, {1: 0.0}), value.node, part="mask/equal")
    return _opposite(piece, equal, "mask")


# ---- the operations that Keras 3 writes down for a Masking or an Embedding in a graph


def not_equal(piece: Piece) -> Value:
    """NotEqual: 1 where numbers are others than a constant, as a mask is made."""
    value, others = piece.opened(piece.value), piece.call.arguments.get("args") or [piece.call.arguments.get("x2")]
    number: Any = others[0] if len(others) == 1 else None
    piece.need(isinstance(number, (int, float)), f"a comparison with {others!r}")
    equal = piece.add(OnnxVertex("Equal", {}, {1: float(number)}), value.node, part="equal")
    return Value(_opposite(piece, equal, ""), value.shape, value.data_format)


def any_of(piece: Piece) -> Value:
    """Any: 1 where a number of the last axis is not 0, as a mask is made."""
    value = piece.value
    axis, rank = piece.get("axis", piece.call.arguments.get("axis", -1)), len(value.shape)
    axis = axis[0] if isinstance(axis, list) and len(axis) == 1 else axis
    piece.need(axis in (None, -1, rank) and rank == 2, f"axis={axis!r} of {rank + 1}")
    piece.need(not piece.get("keepdims", piece.call.arguments.get("keepdims")), "keepdims=True")
    place = 1 if channels_last(value.data_format) else 2
    return Value(piece.add(OnnxVertex("ReduceMax", {"keepdims": 0}, {1: [place]}), value.node), value.shape[:1])


# ---- which mask holds


def mask_for(piece: Piece) -> str | None:
    """Return the vertex of the mask ``[N, T]`` that holds for a call; None where all steps count."""
    given = piece.call.arguments.get("mask")
    if given is None:
        return piece.values[0].mask if piece.values else None
    piece.need(isinstance(given, str) and given in piece.known, f"mask={given!r}")
    return piece.known[given].node


def with_mask(piece: Piece, made: Value) -> Value:
    """Return what a call gives with the mask that holds behind it."""
    kind = piece.layer.class_name
    masks = list(dict.fromkeys(value.mask for value in piece.values if value.mask is not None))
    if kind in COMPUTED_WITH and (masks or piece.call.arguments.get("mask")):
        piece.refuse("its steps have a mask")
    if kind in ("Embedding", "Masking"):
        return made
    if kind not in PASSED_ON or len(made.shape) < 2 or not masks:
        return made._replace(mask=None)
    mask = masks[0]
    for number, other in enumerate(masks[1:]):
        mask = piece.add(OnnxVertex("Mul"), [mask, other], part=f"mask{number}")
    return made._replace(mask=mask)


def average_of_counted(piece: Piece, value: Value, mask: str) -> str:
    """Add the mean ``[N, C]`` of the steps that count."""
    equation = "nct,nt->nc" if channels_last(value.data_format) else "ntc,nt->nc"
    total = piece.add(OnnxVertex("Einsum", {"equation": equation}), [value.node, mask], part="sum")
    count = piece.add(OnnxVertex("ReduceSum", {"keepdims": 1}, {1: [1]}), mask, part="count")
    return piece.add(OnnxVertex("Div"), [total, count])


# ---- series without the steps that do not count


class Packing(NamedTuple):
    """The vertices that move the steps of series.

    Attributes
    ----------
    mask : str
        ``[N, T]``.
    places : str
        ``[N, T, T]``: 1 at [n, j, t] where step j of the packed series is what holds at step t.
    """

    mask: str
    places: str


def packing_of(piece: Piece, mask: str, steps: int | None, back: bool, part: str) -> Packing:
    """Add what says where steps go; `back` packs them from the last to the first."""
    count = piece.add(OnnxVertex("CumSum", {"reverse": int(back)}, {1: 1}), mask, part=f"{part}count")
    across = piece.add(OnnxVertex("Unsqueeze", {}, {1: [1]}), count, part=f"{part}across")
    if steps is not None:
        numbers: Any = [[[float(step)] for step in range(1, steps + 1)]]
        return Packing(mask, piece.add(OnnxVertex("Equal", {}, {1: numbers}), across, part=f"{part}places"))
    ones = piece.add(OnnxVertex("GreaterOrEqual", {}, {1: 0.0}), mask, part=f"{part}ones")
    number = piece.add(OnnxVertex("CumSum", {}, {1: 1}), ones, part=f"{part}numbers")
    down = piece.add(OnnxVertex("Unsqueeze", {}, {1: [2]}), number, part=f"{part}down")
    return Packing(mask, piece.add(OnnxVertex("Equal"), [across, down], part=f"{part}places"))


def packed(piece: Piece, packing: Packing, series: str, part: str) -> str:
    """Add series ``[N, C, T]`` whose steps that count come first; zeros follow."""
    conf = OnnxVertex("Einsum", {"equation": "nct,nt,njt->ncj"})
    return piece.add(conf, [series, *packing], part=f"{part}packed")


def unpacked(piece: Piece, packing: Packing, series: str, blank: bool, part: str) -> str:
    """Add, for every step, what a packed series ``[N, C, T]`` has there.

    Without a step that counts before it, and with `blank` wherever a step does not count, it is zeros.
    """
    sources: Sequence[str] = [series, *packing] if blank else [series, packing.places]
    equation = "ncj,nt,njt->nct" if blank else "ncj,njt->nct"
    return piece.add(OnnxVertex("Einsum", {"equation": equation}), sources, part=part)
