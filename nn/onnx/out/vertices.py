"""Vertices, but those of attention."""

from __future__ import annotations

from functools import reduce

from ...terms.data_formats import axes_inward, axes_outward
from .node_draft import NodeDraft

_LAST = 2**31 - 1
"""Behind the end of every axis."""


# ---- several inputs


def element_wise(vertex: NodeDraft) -> str:
    """ElementWiseVertex: Add, Sub, Mul, Max; an average is a sum divided by their number."""
    if len(vertex.inputs) == 1:
        return vertex.x
    op = str(vertex.conf.op)
    if op == "max":
        return vertex.node("Max", *vertex.inputs)
    operator = {"add": "Add", "average": "Add", "product": "Mul", "subtract": "Sub"}[op]
    total = reduce(lambda first, second: vertex.node(operator, first, second), vertex.inputs)
    return vertex.node("Div", total, float(len(vertex.inputs))) if op == "average" else total


def merge(vertex: NodeDraft) -> str:
    """MergeVertex: Concat."""
    if len(vertex.inputs) == 1:
        return vertex.x
    return vertex.node("Concat", *vertex.inputs, axis=merged_axis(vertex))


def merged_axis(vertex: NodeDraft) -> int:
    """Return the axis that a MergeVertex joins, of arrays with the channels first."""
    axis = int(vertex.conf.merge_axis)
    if axis > 1 or vertex.conf.data_format is not None:
        axis = axes_outward(vertex.conf.data_format, vertex.rank())[axis]
    return axis


def l2(vertex: NodeDraft) -> str:
    """L2Vertex: the length of the difference."""
    difference = vertex.node("Flatten", vertex.node("Sub", *vertex.inputs), axis=1)
    return vertex.draft.reduced("ReduceL2", difference, [1], True, f"{vertex.name}/ReduceL2")


def stack(vertex: NodeDraft) -> str:
    """StackVertex: Concat of the examples; series that are shorter get zeros behind them."""
    if len(vertex.inputs) == 1:
        return vertex.x
    inputs = vertex.inputs
    if vertex.rank() == 3:
        lengths = [vertex.draft.lengths(x, 2, 3, f"{vertex.name}/Shape") for x in inputs]
        longest = vertex.node("Max", *lengths)
        inputs = tuple(_padded(vertex, x, longest, length) for x, length in zip(inputs, lengths, strict=True))
    return vertex.node("Concat", *inputs, axis=0)


def stacked_examples(vertex: NodeDraft) -> str:
    """Return how many examples come out of a StackVertex."""
    return reduce(lambda first, second: vertex.node("Add", first, second), [count() for count in vertex.counts])


def _padded(vertex: NodeDraft, x: str, longest: str, length: str) -> str:
    pads = vertex.node("Concat", vertex.draft.ints(0, 0, 0, 0, 0), vertex.node("Sub", longest, length), axis=0)
    return vertex.node("Pad", x, pads)


# ---- one input


def unstack(vertex: NodeDraft) -> str:
    """UnstackVertex: Slice of the examples."""
    part = unstacked_examples(vertex, of_rows=True)
    first, stop = (
        vertex.node("Mul", part, vertex.draft.ints(number)) for number in (vertex.conf.from_, vertex.conf.from_ + 1)
    )
    return vertex.node("Slice", vertex.x, first, stop, vertex.draft.ints(0))


def unstacked_examples(vertex: NodeDraft, of_rows: bool = False) -> str:
    """Return how many examples come out of an UnstackVertex; `of_rows`: how many rows, which may be time steps."""
    count = vertex.draft.lengths(vertex.x, 0, 1, f"{vertex.name}/Shape") if of_rows else vertex.counts[0]()
    return vertex.node("Div", count, vertex.draft.ints(vertex.conf.stack_size))


def subset(vertex: NodeDraft) -> str:
    """SubsetVertex: Slice of what are channels in the arrays that users see with the channels first."""
    conf, axis = vertex.conf, 1
    if conf.data_format is not None:
        axis = axes_outward(conf.data_format, vertex.rank())[1]
    ints = vertex.draft.ints
    return vertex.node("Slice", vertex.x, ints(conf.from_), ints(conf.to + 1), ints(axis))


def scale(vertex: NodeDraft) -> str:
    """ScaleVertex: Mul."""
    return vertex.node("Mul", vertex.x, float(vertex.conf.scale_factor))


def shift(vertex: NodeDraft) -> str:
    """ShiftVertex: Add."""
    return vertex.node("Add", vertex.x, float(vertex.conf.shift_factor))


def l2_normalize(vertex: NodeDraft) -> str:
    """L2NormalizeVertex: x over its length, or over eps where that is longer."""
    axes = vertex.conf.axes_of(vertex.name, vertex.rank())
    norm = vertex.draft.reduced("ReduceL2", vertex.x, axes, True, f"{vertex.name}/ReduceL2")
    return vertex.node("Div", vertex.x, vertex.node("Max", norm, float(vertex.conf.eps)))


def pool_helper(vertex: NodeDraft) -> str:
    """PoolHelperVertex: Slice without the first row and the first column."""
    ints = vertex.draft.ints
    return vertex.node("Slice", vertex.x, ints(1, 1), ints(_LAST, _LAST), ints(2, 3))


def preprocessor(vertex: NodeDraft) -> str:
    """PreprocessorVertex: what it has inside."""
    from . import MISSING, PREPROCESSORS, writer

    inside = vertex.conf.preprocessor
    function = writer(PREPROCESSORS, inside)
    if function is None:
        kind = type(inside).__name__
        vertex.refuse(MISSING.get(kind, f"ONNX has nothing like {kind}"))
    return str(function(vertex.around(inside, {})))


def reshape(vertex: NodeDraft) -> str:
    """ReshapeVertex: Reshape, of axes in the order in which users see them; of order f with all axes turned round."""
    conf = vertex.conf
    rank, shape = vertex.rank(), list(conf.new_shape)
    before, behind = list(axes_outward(conf.data_format, rank)), list(axes_inward(conf.output_format, len(shape)))
    if conf.reshape_order == "f":
        before, behind, shape = before[::-1], [len(shape) - 1 - axis for axis in behind], shape[::-1]
    a = vertex.reshaped(_permuted(vertex, vertex.x, before), *shape)
    return _permuted(vertex, a, behind)


def reshaped_examples(vertex: NodeDraft) -> str:
    """Return how many examples come out of a ReshapeVertex."""
    size = vertex.conf.new_shape[0]
    return vertex.counts[0]() if size == -1 else vertex.draft.ints(size)


def _permuted(vertex: NodeDraft, x: str, axes: list[int]) -> str:
    return x if axes == sorted(axes) else vertex.node("Transpose", x, perm=axes)


# ---- time


def last_time_step(vertex: NodeDraft) -> str:
    """LastTimeStepVertex: the last step that counts by the mask of one of the network's inputs."""
    mask = _mask_of_input(vertex, vertex.conf.mask_array_input)
    if mask is None:
        return vertex.node("Gather", vertex.x, vertex.draft.integer(-1), axis=2)
    steps = _numbers(vertex, mask)
    counts = vertex.node("Cast", vertex.node("Greater", mask, 0.0), to=vertex.draft.word(vertex.draft.dtype))
    last = vertex.draft.reduced("ReduceMax", vertex.node("Mul", counts, steps), [1], True)
    here = vertex.node("Cast", vertex.node("Equal", steps, last), to=vertex.draft.word(vertex.draft.dtype))
    kept = vertex.node("Mul", vertex.x, vertex.node("Unsqueeze", here, vertex.draft.ints(1)))
    return vertex.draft.reduced("ReduceSum", kept, [2], False, f"{vertex.name}/ReduceSum")


def duplicate_to_time_series(vertex: NodeDraft) -> str:
    """DuplicateToTimeSeriesVertex: Expand to as many steps as one of the network's inputs has."""
    like = vertex.network_inputs[vertex.conf.input_name]
    steps = vertex.draft.lengths(like, 2, 3, f"{vertex.name}/Shape")
    shape = vertex.node("Concat", vertex.draft.ints(1, 1), steps, axis=0)
    return vertex.node("Expand", vertex.node("Unsqueeze", vertex.x, vertex.draft.ints(2)), shape)


def reverse_time_series(vertex: NodeDraft) -> str:
    """ReverseTimeSeriesVertex: Slice backwards; with a mask a product with a permutation of the steps that count."""
    ints, name = vertex.draft.ints, vertex.conf.mask_array_input
    mask = None if name is None else _mask_of_input(vertex, name)
    if mask is None:
        return vertex.node("Slice", vertex.x, ints(-1), ints(-_LAST), ints(2), ints(-1))
    to = vertex.draft.word(vertex.draft.dtype)
    counts = vertex.node("Cast", vertex.node("Greater", mask, 0.0), to=to)
    place = vertex.node("CumSum", counts, vertex.draft.integer(1))  # 1 for the first that counts, 2, ...
    total = vertex.draft.reduced("ReduceSum", counts, [1], True)
    both = vertex.node("Add", vertex.node("Unsqueeze", place, ints(2)), vertex.node("Unsqueeze", place, ints(1)))
    opposite = vertex.node("Equal", both, vertex.node("Unsqueeze", vertex.node("Add", total, 1.0), ints(2)))
    turn = vertex.node("Mul", vertex.node("Cast", opposite, to=to), vertex.node("Unsqueeze", counts, ints(2)))
    turn = vertex.node("Mul", turn, vertex.node("Unsqueeze", counts, ints(1)))
    return vertex.node("MatMul", vertex.x, turn)


def _mask_of_input(vertex: NodeDraft, name: str) -> str | None:
    """Return the mask ``[N, T]`` of one of the network's inputs, None where it has none."""
    return vertex.network_masks.get(name)


def _numbers(vertex: NodeDraft, mask: str) -> str:
    """Return the numbers 0, 1, ... of time steps, ``[T]``."""
    steps = vertex.node("Squeeze", vertex.draft.lengths(mask, 1, 2), vertex.draft.ints(0))
    numbers = vertex.node("Range", vertex.draft.integer(0), steps, vertex.draft.integer(1))
    return vertex.node("Cast", numbers, to=vertex.draft.word(vertex.draft.dtype))
